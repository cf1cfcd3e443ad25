//! Whom a tool trusts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use client::{Client, Clock, FetchFailure, Trust};
use flow::naming::version_number;
use flow::verify::{AnchoredVerifier, IntegrityVerifier, ManifestVerifier, PublisherVerifier, Verifier};
use formats::printable::printable_path;
use packet::Name;
use packet::random::Random;
use packet::time::Duration;
use trust::files::{add_published_revocations, add_revocations, certificates_in};
use trust::policy::{Policy, Rules};
use trust::{Certificate, PublicKey, Revocations, UnixTime, Validator, ValidatorLimits};

use super::ToolError;
use super::units::duration;

/// Whom to trust.
#[derive(Clone, Debug, Args)]
pub(crate) struct TrustArguments {
    /// A file with a certificate that is trusted without proof (base64, PEM or plain). May be given several
    /// times. Every packet must then lead up to one of them.
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    pub(crate) anchor: Vec<PathBuf>,
    /// A file with rules: who may sign what. It may name anchors too. Without it an identity may sign what
    /// lies under its own name.
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    pub(crate) rules: Option<PathBuf>,
    /// A file with records of revoked keys and certificates, as `cairn cert revoke` writes them. May be given
    /// several times. What they revoke is not trusted, not even an anchor.
    #[arg(long, value_name = "FILE", help_heading = "Trust")]
    pub(crate) revocations: Vec<PathBuf>,
}

impl TrustArguments {
    /// Whether anybody is trusted at all.
    pub(crate) fn is_given(&self) -> bool {
        !self.anchor.is_empty() || self.rules.is_some()
    }

    /// Checks packets against the anchors and rules; `None` if there are none.
    pub(crate) fn validator(&self) -> Result<Option<Validator>, ToolError> {
        self.validator_that_knows(revocations(&self.revocations)?)
    }

    /// The same, with these records of revoked keys.
    pub(crate) fn validator_that_knows(
        &self,
        revoked: Arc<Revocations>,
    ) -> Result<Option<Validator>, ToolError> {
        let Some((policy, anchors)) = self.policy_and_anchors()? else { return Ok(None) };
        let random = Random::from_seed(Clock::seed());
        let mut validator = Validator::new(policy, anchors, ValidatorLimits::default(), random);
        validator.set_revocations(revoked);
        Ok(Some(validator))
    }

    /// Who may sign what, and the certificates that are trusted without proof; `None` if there are none.
    pub(crate) fn policy_and_anchors(&self) -> Result<Option<(Policy, Vec<Certificate>)>, ToolError> {
        if !self.is_given() {
            return Ok(None);
        }
        let mut anchors = Vec::new();
        for path in &self.anchor {
            anchors.extend(certificates(path)?);
        }
        let mut policy = Policy::Hierarchical;
        if let Some(path) = &self.rules {
            let text = super::files::read_text(path).map_err(ToolError::file(path))?;
            let rules = Rules::parse(&text).map_err(|error| wrong(path, &error))?;
            let folder = path.parent().unwrap_or(Path::new("."));
            for file in rules.anchors() {
                anchors.extend(certificates(&folder.join(file))?);
            }
            policy = Policy::Rules(rules);
        }
        if anchors.is_empty() {
            return Err(ToolError::other(
                "there is no trust anchor: give one with --anchor, or name one in the rules",
            ));
        }
        Ok(Some((policy, anchors)))
    }

    /// What verifies objects of CCNx: signatures always, and if there are anchors, nobody else's count.
    pub(crate) fn publisher_verifier(&self) -> Result<PublisherVerifier, ToolError> {
        Ok(PublisherVerifier::new(self.publishers()?, Clock::seed()))
    }

    /// The publishers of CCNx that are trusted. An anchor is a file with a public key (DER), or with the
    /// object that holds one.
    pub(crate) fn publishers(&self) -> Result<Vec<PublicKey>, ToolError> {
        if self.rules.is_some() {
            return Err(ToolError::other("--rules speak of names of NDN's keys; for CCNx give --anchor"));
        }
        if !self.revocations.is_empty() {
            let what = "--revocations are records of NDN's certificates; in CCNx no key is revoked";
            return Err(ToolError::other(what));
        }
        let mut anchors = Vec::new();
        for path in &self.anchor {
            let bytes = super::input(Some(path))?;
            let key = trust::ccnx::publisher_key(&bytes);
            anchors.push(key.map_err(|error| wrong(path, &error))?);
        }
        Ok(anchors)
    }

    /// What verifies a fetch: by the anchors if there are any, and by a manifest if asked to. `revoked` are
    /// records of revoked keys.
    pub(crate) fn verifier(
        &self,
        manifest: bool,
        revoked: &Arc<Revocations>,
    ) -> Result<Box<dyn Verifier>, ToolError> {
        let verifier: Box<dyn Verifier> = match self.validator_that_knows(Arc::clone(revoked))? {
            Some(validator) => Box::new(AnchoredVerifier::new(validator)),
            None => Box::new(IntegrityVerifier::new()),
        };
        Ok(if manifest { Box::new(ManifestVerifier::new(verifier, Clock::seed())) } else { verifier })
    }
}

/// Lists of revoked keys that are fetched before anything is believed.
#[derive(Clone, Debug, Args)]
pub(crate) struct RevocationListArguments {
    /// The name of a list of revoked keys, as `cairn cert publish-revocations` publishes it. It is fetched
    /// and verified first, by the same anchors and rules; if that fails nothing is believed. May be given
    /// several times.
    #[arg(long, value_name = "NAME", help_heading = "Trust")]
    pub(crate) revocations_from: Vec<Name>,
    /// How long ago such a list may have been made.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        default_value = "1h",
        help_heading = "Trust"
    )]
    pub(crate) revocations_max_age: Duration,
}

impl RevocationListArguments {
    /// All records that are known: those in files, and what the lists say. In words why nothing is to be
    /// believed, if a list cannot be had.
    pub(crate) fn records(
        &self,
        client: &mut Client,
        trust: &TrustArguments,
    ) -> Result<Result<Arc<Revocations>, String>, ToolError> {
        let known = revocations(&trust.revocations)?;
        if self.revocations_from.is_empty() {
            return Ok(Ok(known));
        }
        let mut records = (*known).clone();
        for name in &self.revocations_from {
            let validator = trust.validator_that_knows(Arc::clone(&known))?.ok_or_else(|| {
                ToolError::other("--revocations-from: nothing is verified without --anchor or --rules")
            })?;
            let refused = |why: &dyn std::fmt::Display| {
                Ok(Err(format!("the list of revoked keys {name} could not be had, so no key counts: {why}")))
            };
            let list = match fetch_list(client, name, validator)? {
                Ok(list) => list,
                Err(why) => return refused(&why),
            };
            let age = client.connection().clock().unix().as_millis().saturating_sub(list.made.as_millis());
            if age > self.revocations_max_age.as_millis() {
                return refused(&format_args!("it was made at {}", list.made));
            }
            if let Err(error) = add_published_revocations(&list.bytes, name.as_ref(), &mut records) {
                return refused(&error);
            }
        }
        Ok(Ok(Arc::new(records)))
    }
}

/// A list of revoked keys, verified.
pub(crate) struct PublishedList {
    pub(crate) bytes: Vec<u8>,
    pub(crate) made: UnixTime,
}

/// The largest list that is fetched.
const MAX_LIST_BYTES: u64 = 4 << 20;

/// Fetches the list `name`, believing whom `validator` believes; in words why it cannot be had.
pub(crate) fn fetch_list(
    client: &mut Client,
    name: &Name,
    validator: Validator,
) -> Result<Result<PublishedList, String>, ToolError> {
    let version = |name: &Name| name.as_ref().last().and_then(version_number);
    if version(name).is_some() {
        return Err(ToolError::other(format!("{name}: a list is fetched without its version, the latest")));
    }
    let verifier = Trust::verifier(Box::new(AnchoredVerifier::new(validator)));
    Ok(match client.get(name, verifier).at_most(MAX_LIST_BYTES).into_memory() {
        Ok((bytes, fetched)) => match version(&fetched.name) {
            Some(made) => Ok(PublishedList { bytes, made: UnixTime::from_millis(made) }),
            None => Err("it has no version that says when it was made".to_owned()),
        },
        Err(FetchFailure::Client(error)) => return Err(error.into()),
        Err(failure) => Err(failure.to_string()),
    })
}

/// The records in files.
pub(crate) fn revocations(files: &[PathBuf]) -> Result<Arc<Revocations>, ToolError> {
    let mut records = Revocations::default();
    for path in files {
        let bytes = super::input(Some(path))?;
        add_revocations(&bytes, &mut records).map_err(|error| wrong(path, &error))?;
    }
    Ok(Arc::new(records))
}

/// The certificates in a file.
pub(crate) fn certificates(path: &Path) -> Result<Vec<Certificate>, ToolError> {
    let bytes = super::input(Some(path))?;
    certificates_in(&bytes).map_err(|error| wrong(path, &error))
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> ToolError {
    ToolError::other(format!("{}: {error}", printable_path(path)))
}
