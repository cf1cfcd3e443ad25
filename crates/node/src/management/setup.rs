//! Management as a configuration wants it.

use std::path::Path;
use std::sync::Arc;

use formats::printable::printable_path;
use thiserror::Error;
use trust::Certificate;
use trust::files::{CertificateFileError, certificates_in};

use super::keys::{Privileges, TrustedKeys};
use super::{CommandAuthority, Delegation, ManagementConfig, RevocationList};
use crate::config::{AuthorizeSection, Config, ConfigError};
use crate::sys::random_words;

impl ManagementConfig {
    /// Reads what the configuration says about management, and the certificates that it names.
    ///
    /// # Errors
    /// A certificate that cannot be read, or a module that does not exist.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let section = &config.management;
        // All of them, whomever they concern: a file that is missing is a mistake.
        config.authorize.iter().try_for_each(|section| trusted_key(section).map(drop))?;
        let revocations = RevocationList::of_section(section)?;
        let authority = |is_for_neighbours: bool| {
            // A key for neighbours only says nothing about the applications of this host.
            let concerned = config.authorize.iter().filter(|section| {
                section.modules.iter().any(|module| (module == "localhop") == is_for_neighbours)
            });
            let keys: Vec<_> = concerned.map(trusted_key).collect::<Result<_, _>>()?;
            Ok::<_, ConfigError>(match keys.is_empty() {
                true => CommandAuthority::Anyone,
                false => {
                    let keys = TrustedKeys::new(keys).with_revocations(Arc::clone(&revocations));
                    CommandAuthority::of_keys(Box::new(keys))
                }
            })
        };
        let delegating = config.authorize.iter().filter(|section| section.delegates);
        let delegating: Vec<_> = delegating.map(trusted_key).collect::<Result<_, _>>()?;
        let [seed] = random_words()
            .map_err(|error| ConfigError::new(format!("the system gives no random numbers: {error}")))?;
        Ok(ManagementConfig {
            delegation: Delegation::new(&delegating, seed).with_revocations(Arc::clone(&revocations)),
            localhost: authority(false)?,
            revocations: Arc::clone(&revocations),
            localhop: if section.localhop { Some(authority(true)?) } else { None },
            max_routes: section.max_routes,
            max_route_bytes: section.max_route_bytes,
            max_prefixes: usize::try_from(config.tables.max_prefixes).unwrap_or(usize::MAX),
            state_file: section.state_file.clone(),
            ..Default::default()
        })
    }
}

fn trusted_key(section: &AuthorizeSection) -> Result<(Certificate, Privileges), ConfigError> {
    let path = &section.certificate;
    let certificate = read_certificate(path)
        .map_err(|problem| ConfigError::new(format!("authorize: {}: {problem}", printable_path(path))))?;
    if section.modules.is_empty() {
        let shown = printable_path(path);
        return Err(ConfigError::new(format!(
            "authorize: {shown}: its modules are none, so it could command nothing; leave modules out for \
             all that are local"
        )));
    }
    let privileges = Privileges::of(&section.modules)
        .map_err(|unknown| ConfigError::new(format!("authorize: {unknown}")))?;
    let privileges = if section.own_names { privileges.for_own_names() } else { privileges };
    Ok((certificate, privileges))
}

/// The largest file with a certificate that is read.
const MAX_CERTIFICATE_BYTES: u64 = 1 << 20;

/// Why a file gives no certificate.
#[derive(Debug, Error)]
pub(crate) enum CertificateReadError {
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error(transparent)]
    File(#[from] CertificateFileError),
}

/// The first certificate in a file, in which nothing else may be but certificates.
pub(crate) fn read_certificate(path: &Path) -> Result<Certificate, CertificateReadError> {
    let file = trust::whole_file::read(path, MAX_CERTIFICATE_BYTES)?;
    let first = certificates_in(&file)?.into_iter().next();
    Ok(first.ok_or(CertificateFileError::Empty)?)
}

#[cfg(test)]
mod tests {
    use packet::Component;
    use trust::certificate::{names, self_signed};
    use trust::{KeyKind, PrivateKey, UnixTime, ValidityPeriod};

    use super::*;

    #[test]
    fn a_key_for_neighbours_only_leaves_local_applications_as_they_are() {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let key_name = names::key_name(&"/hub".parse().unwrap(), Component::generic(b"1")).unwrap();
        let validity =
            ValidityPeriod { not_before: UnixTime::from_secs(1), not_after: UnixTime::from_secs(9) };
        let certificate =
            self_signed(&key, &key_name, names::SELF, UnixTime::from_secs(1), validity).unwrap();
        let folder = testkit::folder::TestFolder::new("setup");
        let path = folder.join("hub.cert");
        std::fs::write(&path, certificate.data().wire()).unwrap();
        let read = |modules: &str| {
            let head = "[management]\nlocalhop = true\n[[authorize]]\n";
            let text = format!("{head}certificate = {path:?}\nmodules = [{modules}]\n");
            let read = ManagementConfig::read(&Config::read(&text).unwrap()).unwrap();
            let is_open = |authority: &CommandAuthority| matches!(authority, CommandAuthority::Anyone);
            (is_open(&read.localhost), read.localhop.as_ref().is_some_and(is_open))
        };
        assert_eq!(read("\"localhop\""), (true, false));
        assert_eq!(read("\"rib\""), (false, true));
        assert_eq!(read("\"rib\", \"localhop\""), (false, false));
        let nothing = format!("[[authorize]]\ncertificate = {path:?}\nmodules = []\n");
        let refused = ManagementConfig::read(&Config::read(&nothing).unwrap());
        assert!(refused.is_err_and(|error| error.problem.contains("modules are none")));
        let missing = "[[authorize]]\ncertificate = \"none\"\nmodules = [\"localhop\"]\n";
        assert!(ManagementConfig::read(&Config::read(missing).unwrap()).is_err());
    }
}
