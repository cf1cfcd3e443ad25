//! What the configuration says about verification, understood.

use std::path::Path;
use std::sync::Arc;

use engine::{CacheProbability, SamplingConfig};
use formats::printable::printable_path;
use packet::time::Duration;
use packet::{AnyName, Dialect};
use trust::policy::{Policy, Rules};
use trust::{Certificate, PublicKey};

use crate::config::{Config, ConfigError, VerificationConfig};
use crate::management::{RevocationList, read_certificate};

/// The largest file with rules that is read.
const MAX_RULES_BYTES: u64 = 1 << 20;
/// The largest file with a publisher's key that is read.
const MAX_KEY_BYTES: u64 = 1 << 16;
/// Most samples that may wait.
const MAX_WAITING: usize = 4096;
/// The longest distrust, in seconds: an hour.
const MAX_DISTRUST_SECS: u64 = 3600;

/// Whom to believe.
#[derive(Clone, Debug)]
pub(crate) struct Trusted {
    pub(super) policy: Policy,
    pub(super) anchors: Vec<Certificate>,
    /// Of CCNx.
    pub(super) publishers: Vec<PublicKey>,
    pub(super) revocations: Arc<RevocationList>,
}

/// What is sampled, and whom to believe; `None` if nothing is verified.
///
/// # Errors
/// A value that makes no sense, or a file that cannot be read.
pub(crate) fn read(config: &Config) -> Result<Option<(SamplingConfig, Trusted)>, ConfigError> {
    let section = &config.verification;
    let mut sampling = sampling(section)?;
    let publishers = section.publishers.iter().map(|path| publisher(path)).collect::<Result<Vec<_>, _>>()?;
    check_publishers(&sampling, &publishers)?;
    let mut anchors = Vec::new();
    for path in &section.anchors {
        anchors.push(anchor(path)?);
    }
    let mut policy = Policy::Hierarchical;
    if let Some(path) = &section.rules {
        let rules = rules(path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        for file in rules.anchors() {
            anchors.push(anchor(&folder.join(file))?);
        }
        policy = Policy::Rules(rules);
    }
    if anchors.is_empty() {
        if section.rules.is_some() {
            return Err(wrong("there is no trust anchor: name one in anchors or in the rules"));
        }
        if publishers.is_empty() {
            return Ok(None);
        }
        if let Some(name) = sampling.prefixes.iter().find(|name| !name.is_of_ccnx()) {
            return Err(wrong(format_args!("nobody can verify {name}: name a trust anchor in anchors")));
        }
    }
    if sampling.prefixes.iter().all(AnyName::is_of_ccnx)
        && section.prefixes.as_ref().is_none_or(|named| !named.is_empty())
    {
        let identities = anchors.iter().map(|anchor| anchor.identity().to_name());
        sampling.prefixes.extend(identities.map(|name| AnyName::new(Dialect::Ndn, name)));
    }
    let revocations = RevocationList::of_section(&config.management)?;
    Ok(Some((sampling, Trusted { policy, anchors, publishers, revocations })))
}

fn sampling(section: &VerificationConfig) -> Result<SamplingConfig, ConfigError> {
    let share = CacheProbability::new(section.share)
        .ok_or_else(|| wrong(format_args!("share is a number from 0 to 1, and not {}", section.share)))?;
    if !(1..=MAX_WAITING).contains(&section.max_waiting) {
        return Err(wrong(format_args!("max_waiting is a number from 1 to {MAX_WAITING}")));
    }
    if section.distrust_secs > MAX_DISTRUST_SECS {
        return Err(wrong(format_args!("distrust_secs is {MAX_DISTRUST_SECS} at most")));
    }
    let prefixes = section.prefixes.iter().flatten().map(|prefix| {
        prefix.parse::<AnyName>().map_err(|error| wrong(format_args!("prefixes: {prefix}: {error}")))
    });
    Ok(SamplingConfig {
        share,
        prefixes: prefixes.collect::<Result<_, _>>()?,
        max_waiting: section.max_waiting,
        distrust: Duration::from_secs(section.distrust_secs),
    })
}

/// Publishers and prefixes of CCNx go together: without the one nothing is sampled, without the other nobody
/// would be believed.
fn check_publishers(sampling: &SamplingConfig, publishers: &[PublicKey]) -> Result<(), ConfigError> {
    match (sampling.prefixes.iter().any(AnyName::is_of_ccnx), publishers.is_empty()) {
        (true, true) => Err(wrong("prefixes of CCNx need publishers, who may sign below them")),
        (false, false) => Err(wrong("publishers need prefixes of CCNx, below which they may sign")),
        _ => Ok(()),
    }
}

fn publisher(path: &Path) -> Result<PublicKey, ConfigError> {
    let problem =
        |problem: &dyn std::fmt::Display| wrong(format_args!("{}: {problem}", printable_path(path)));
    let bytes = trust::whole_file::read(path, MAX_KEY_BYTES).map_err(|error| problem(&error))?;
    trust::ccnx::publisher_key(&bytes).map_err(|error| problem(&error))
}

fn anchor(path: &Path) -> Result<Certificate, ConfigError> {
    read_certificate(path).map_err(|problem| wrong(format_args!("{}: {problem}", printable_path(path))))
}

fn rules(path: &Path) -> Result<Rules, ConfigError> {
    let problem =
        |problem: &dyn std::fmt::Display| wrong(format_args!("{}: {problem}", printable_path(path)));
    let bytes = trust::whole_file::read(path, MAX_RULES_BYTES).map_err(|error| problem(&error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| problem(&error))?;
    Rules::parse(text).map_err(|error| problem(&error))
}

fn wrong(problem: impl std::fmt::Display) -> ConfigError {
    ConfigError::new(format!("verification: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        read(&Config::read(text).unwrap()).map_or_else(|error| error.problem, |_| "none".to_owned())
    }

    #[test]
    fn without_an_anchor_nothing_is_verified_and_what_makes_no_sense_is_refused_all_the_same() {
        assert!(read(&Config::default()).unwrap().is_none());
        for (text, expected) in [
            ("share = 1.5", "share is a number from 0 to 1, and not 1.5"),
            ("share = nan", "share is a number"),
            ("max_waiting = 0", "max_waiting is a number from 1 to 4096"),
            ("distrust_secs = 99999999999", "distrust_secs is 3600 at most"),
            ("anchors = [\"/none\"]", "/none: "),
            ("rules = \"/none\"", "/none: "),
            ("anchors = [\"/dev/zero\"]", "/dev/zero: "),
            ("publishers = [\"/none\"]", "/none: "),
            ("prefixes = [\"ccnx:/song\"]", "prefixes of CCNx need publishers"),
        ] {
            let found = problem(&format!("[verification]\n{text}\n"));
            assert!(found.starts_with("verification: ") && found.contains(expected), "{text}: {found}");
        }
    }
}
