//! People with keys and certificates, for tests of the crates above as well.
#![allow(dead_code, reason = "not every test has a use for all of it")]

use cairn_trust::certificate::{Issue, names, self_signed};
use cairn_trust::{Certificate, KeyKind, PrivateKey, Signer, UnixTime, ValidityPeriod};
use packet::{Component, Name};

/// When everything happens.
pub(crate) const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);
pub(crate) const ALWAYS: ValidityPeriod =
    ValidityPeriod { not_before: UnixTime::from_secs(0), not_after: UnixTime::END };

pub(crate) fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

/// Somebody with a key and a certificate of it.
#[derive(Clone)]
pub(crate) struct Party {
    pub(crate) key: PrivateKey,
    pub(crate) certificate: Certificate,
}

impl Party {
    pub(crate) fn anchor(key_uri: &str) -> Party {
        Party::anchor_for(key_uri, ALWAYS)
    }

    pub(crate) fn anchor_for(key_uri: &str, validity: ValidityPeriod) -> Party {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let certificate = self_signed(&key, &name(key_uri), names::SELF, NOW, validity).unwrap();
        Party { key, certificate }
    }

    /// Somebody whose new key this one certifies.
    pub(crate) fn issue(&self, key_uri: &str, validity: ValidityPeriod) -> Party {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let certificate = self.certify(&key, key_uri, 1, validity);
        Party { key, certificate }
    }

    pub(crate) fn certify(
        &self,
        key: &PrivateKey,
        key_uri: &str,
        version: u64,
        validity: ValidityPeriod,
    ) -> Certificate {
        let issue = Issue { issuer_id: Component::generic(b"lab"), version, validity };
        issue.certify(&name(key_uri), &key.public_key().unwrap(), &self.signer()).unwrap()
    }

    pub(crate) fn signer(&self) -> Signer {
        Signer::new(self.key.clone(), self.certificate.name().to_name())
    }
}

/// The certificates of a root and of Alice, whose key it certifies, and what signs with that key.
pub(crate) fn root_and_alice() -> (Certificate, Certificate, Signer) {
    let root = Party::anchor("/lab/KEY/0");
    let alice = root.issue("/lab/alice/KEY/1", ALWAYS);
    let signer = alice.signer();
    (root.certificate, alice.certificate, signer)
}
