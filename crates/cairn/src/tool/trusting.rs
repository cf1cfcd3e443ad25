//! Whom a tool trusts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use client::Clock;
use flow::verify::{AnchoredVerifier, IntegrityVerifier, ManifestVerifier, PublisherVerifier, Verifier};
use formats::printable::printable_path;
use packet::random::Random;
use trust::files::{add_revocations, certificates_in};
use trust::policy::{Policy, Rules};
use trust::{Certificate, PublicKey, Revocations, Validator, ValidatorLimits};

use super::ToolError;

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
        let Some((policy, anchors)) = self.policy_and_anchors()? else { return Ok(None) };
        let random = Random::from_seed(Clock::seed());
        let mut validator = Validator::new(policy, anchors, ValidatorLimits::default(), random);
        validator.set_revocations(revocations(&self.revocations)?);
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

    /// What verifies a fetch: by the anchors if there are any, and by a manifest if asked to.
    pub(crate) fn verifier(&self, manifest: bool) -> Result<Box<dyn Verifier>, ToolError> {
        let verifier: Box<dyn Verifier> = match self.validator()? {
            Some(validator) => Box::new(AnchoredVerifier::new(validator)),
            None => Box::new(IntegrityVerifier::new()),
        };
        Ok(if manifest { Box::new(ManifestVerifier::new(verifier, Clock::seed())) } else { verifier })
    }
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
