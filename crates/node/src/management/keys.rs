//! Commands by keys that the operator trusts, each for some of the modules.
//!
//! These certificates are trusted as they are: nothing has to be fetched while somebody waits, and a node
//! that has just started, without routes, can be managed. Keys that they have certified are the matter of
//! [`Delegation`](super::Delegation).

use std::sync::Arc;

use management::{Command, CommandScope};
use packet::ndn::{KeyLocator, SignatureType};
use packet::registry::UnknownWord;
use packet::{Data, Name, NameRef};
use trust::certificate::names::{identity_of, is_certificate_name, key_of};
use trust::{Certificate, UnixTime};

use super::signer::RouteSigner;
use super::{KeyRejection, RevocationList, SignedCommand, VerifyCommand};

/// What a trusted key may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Privileges {
    modules: Vec<String>,
    own_names: bool,
}

/// Words for what keys may do: the modules of the protocol, and routes of neighbours.
pub const MODULES: [&str; 6] = ["faces", "fib", "cs", "strategy-choice", "rib", LOCALHOP];

/// Registering routes from another host.
const LOCALHOP: &str = "localhop";

impl Privileges {
    /// Those that `words` name.
    ///
    /// # Errors
    /// The first word that is not in [`MODULES`].
    pub fn of(words: &[String]) -> Result<Self, UnknownWord> {
        match words.iter().find(|word| !MODULES.contains(&word.as_str())) {
            Some(unknown) => Err(UnknownWord::new("module", unknown, MODULES)),
            None => Ok(Privileges { modules: words.to_vec(), own_names: false }),
        }
    }

    /// The same, but routes only for names below the identity of whoever asks for them.
    #[must_use]
    pub fn for_own_names(self) -> Self {
        Privileges { own_names: true, ..self }
    }

    /// Whether what this word stands for is among them.
    pub(super) fn include(&self, wanted: &str) -> bool {
        self.modules.iter().any(|word| word == wanted)
    }
}

/// The word for what a command of this scope does.
pub(super) fn word_of(command: Command, scope: CommandScope) -> &'static str {
    if scope == CommandScope::Localhop { LOCALHOP } else { command.words().0 }
}

/// The keys an operator trusts.
#[derive(Debug)]
pub struct TrustedKeys {
    keys: Vec<(Certificate, Privileges)>,
    revocations: Arc<RevocationList>,
}

impl TrustedKeys {
    /// These certificates, each with what it may be used for.
    pub fn new(keys: Vec<(Certificate, Privileges)>) -> Self {
        TrustedKeys { keys, revocations: Arc::default() }
    }

    /// The same, but for those that these records revoke.
    #[must_use]
    pub fn with_revocations(self, revocations: Arc<RevocationList>) -> Self {
        TrustedKeys { revocations, ..self }
    }

    /// Whether the certificate counts at this time, and nobody who may has revoked it.
    fn check_counts(&self, now: UnixTime, certificate: &Certificate) -> Result<(), KeyRejection> {
        if !certificate.validity().contains(now) {
            return Err(not_valid_now(certificate));
        }
        match self.record_against(certificate) {
            Some(record) => Err(KeyRejection::Revoked { certificate: certificate.name().to_name(), record }),
            None => Ok(()),
        }
    }

    /// The record by which the certificate is revoked.
    fn record_against(&self, certificate: &Certificate) -> Option<Name> {
        let issuer = certificate.signer().and_then(key_of);
        let issuer = self.keys.iter().find(|(other, _)| Some(other.key_name()) == issuer);
        let records = self.revocations.current();
        let record = records.find(certificate, issuer.map(|(issuer, _)| issuer))?;
        Some(record.data().name().to_name())
    }

    /// The certificates with this name, or of the key with this name.
    fn find<'a>(&'a self, name: NameRef<'a>) -> impl Iterator<Item = &'a (Certificate, Privileges)> {
        let is_certificate = is_certificate_name(name);
        self.keys.iter().filter(move |(certificate, _)| {
            if is_certificate { certificate.name() == name } else { certificate.key_name() == name }
        })
    }
}

impl VerifyCommand for TrustedKeys {
    fn knows(&self, key: NameRef<'_>) -> bool {
        self.find(key).next().is_some()
    }

    fn verify_command(&self, now: UnixTime, signed: SignedCommand<'_>) -> Result<(), KeyRejection> {
        let SignedCommand { command, scope, key, signature } = signed;
        let (module, _) = command.words();
        let mut rejection = KeyRejection::Unknown(key.to_name());
        for (certificate, privileges) in self.find(key) {
            if let Err(does_not_count) = self.check_counts(now, certificate) {
                rejection = does_not_count;
            } else if !privileges.include(word_of(command, scope)) {
                rejection = not_privileged(certificate, Some(module));
            } else {
                let signature_type: SignatureType = signature.info.signature_type;
                match certificate.verifier().verify(signature_type, &signature.signed, signature.value) {
                    Ok(()) => return Ok(()),
                    Err(error) => rejection = error.into(),
                }
            }
        }
        Err(rejection)
    }

    /// A key that is named here is bound as it says here; one that others have certified, as they are.
    fn verify_owner(
        &self,
        command: Command,
        scope: CommandScope,
        key: NameRef<'_>,
        prefix: NameRef<'_>,
    ) -> Result<(), KeyRejection> {
        let Some(identity) = identity_of(key) else { return Err(KeyRejection::Unknown(key.to_name())) };
        if identity.is_prefix_of(prefix) {
            return Ok(());
        }
        let is_known = self.knows(key);
        let certifies = |certificate: &Certificate| certificate.identity().is_prefix_of(identity);
        let is_key = |certificate: &Certificate| certificate.name() == key || certificate.key_name() == key;
        let mut concerned = self.keys.iter().filter(|(certificate, privileges)| {
            let counts = if is_known { is_key(certificate) } else { certifies(certificate) };
            counts && privileges.include(word_of(command, scope))
        });
        if concerned.any(|(_, privileges)| !privileges.own_names) {
            return Ok(());
        }
        Err(KeyRejection::NotOwner(identity.to_name()))
    }

    /// Of a key that has several certificates here all must be revoked.
    fn has_revoked(&self, signer: &RouteSigner) -> bool {
        let is_revoked = |certificate: &Certificate| self.record_against(certificate).is_some();
        match &signer.certificate {
            Some(certificate) => is_revoked(certificate),
            None => {
                let mut known = self.find(signer.key.as_ref()).peekable();
                known.peek().is_some() && known.all(|(certificate, _)| is_revoked(certificate))
            }
        }
    }

    /// The announcement must be signed by a trusted key that may make routes, and whose identity is a prefix
    /// of what is announced.
    fn verify_announcement(
        &self,
        now: UnixTime,
        scope: CommandScope,
        announcement: &Data,
    ) -> Result<(), KeyRejection> {
        let info = announcement.ndn().and_then(|view| view.signature_info());
        let Some(KeyLocator::Name(key)) = info.and_then(|info| info.key_locator) else {
            return Err(KeyRejection::NoKeyName);
        };
        let mut rejection = KeyRejection::Unknown(key.to_name());
        for (certificate, privileges) in self.find(key) {
            if let Err(does_not_count) = self.check_counts(now, certificate) {
                rejection = does_not_count;
            } else if !privileges.include(word_of(Command::RibAnnounce, scope)) {
                rejection = not_privileged(certificate, None);
            } else if !certificate.identity().is_prefix_of(announcement.name()) {
                rejection = KeyRejection::NotOwner(certificate.identity().to_name());
            } else {
                match certificate.verifier().verify_data(announcement) {
                    Ok(()) => return Ok(()),
                    Err(error) => rejection = error.into(),
                }
            }
        }
        Err(rejection)
    }
}

fn not_valid_now(certificate: &Certificate) -> KeyRejection {
    KeyRejection::NotValidNow { certificate: certificate.name().to_name(), validity: certificate.validity() }
}

fn not_privileged(certificate: &Certificate, module: Option<&'static str>) -> KeyRejection {
    KeyRejection::NotPrivileged { certificate: certificate.name().to_name(), module }
}
