//! What was refused, and whom it came from: for whoever looks for the forger.

use formats::printable::printable;
use std::fmt;

use flow::RefusedPacket;
use flow::verified::RequestKind;
use flow::verify::VerificationError;
use packet::ndn::KeyLocator;
use packet::{AnyName, Dialect, Name};
use trust::validator::ValidationError;

/// The face that forwarders tell of for what comes out of their content store.
const STORE: u64 = 254;

/// What is known of a packet that a verifier refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPacketInfo {
    /// Whether it is a packet of the object, or what was to vouch for one: a certificate, a packet of a
    /// manifest.
    pub kind: RequestKind,
    /// Its name.
    pub name: AnyName,
    /// Its implicit digest, which tells it from every other packet of that name.
    pub digest: [u8; 32],
    /// Who it says has signed it.
    pub signer: Option<ClaimedSigner>,
    /// The forwarder's face that it came by, if the forwarder tells: it does on this host, where local
    /// fields are on.
    pub incoming_face: Option<u64>,
    /// By which face the packet came that it was to vouch for.
    pub vouches_for_face: Option<u64>,
    /// Why it was refused.
    pub error: VerificationError,
}

/// Who a packet says has signed it; nothing has shown that it is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimedSigner {
    /// The name of a key or a certificate, in NDN.
    Name(Name),
    /// The digest of a key; in CCNx the publisher's.
    KeyDigest(Vec<u8>),
}

/// Whether a forwarder has told of a face that leads to somebody.
pub(crate) fn is_neighbour(face: Option<u64>) -> bool {
    face.is_some_and(|face| face != STORE)
}

impl fmt::Display for ClaimedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClaimedSigner::Name(name) => name.fmt(f),
            ClaimedSigner::KeyDigest(digest) => f.write_str(&packet::hex::encode(digest)),
        }
    }
}

impl RefusedPacketInfo {
    /// Whether the forwarder tells which neighbour or application it came from.
    pub fn is_traced(&self) -> bool {
        is_neighbour(self.incoming_face)
    }

    /// What would have to vouch for it and could not be had, if that is why it was refused: nothing speaks
    /// against the packet then.
    pub fn missing_proof(&self) -> Option<AnyName> {
        match &self.error {
            VerificationError::NotTrusted(ValidationError::NotFetched { name, .. }) => Some(name.clone()),
            VerificationError::ManifestNack { name, .. } | VerificationError::ManifestTimeout(name) => {
                Some(AnyName::new(Dialect::Ndn, name.clone()))
            }
            _ => None,
        }
    }

    /// Describes a packet.
    pub(crate) fn new(kind: RequestKind, refused: RefusedPacket) -> Self {
        let RefusedPacket { data, incoming_face, error } = refused;
        let locator = data.ndn().and_then(|view| view.signature_info()).and_then(|info| info.key_locator);
        let signer = locator.map(|locator| match locator {
            KeyLocator::Name(name) => ClaimedSigner::Name(name.to_name()),
            KeyLocator::Digest(digest) => ClaimedSigner::KeyDigest(digest.to_vec()),
        });
        let publisher = || data.ccnx_publisher().map(|key| ClaimedSigner::KeyDigest(key.to_vec()));
        let (name, digest) = (data.any_name(), data.implicit_digest());
        let signer = signer.or_else(publisher);
        RefusedPacketInfo { kind, name, digest, signer, incoming_face, vouches_for_face: None, error }
    }
}

impl fmt::Display for RefusedPacketInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        let digest = packet::hex::encode(&self.digest);
        match self.name.dialect {
            Dialect::Ndn => write!(f, "/sha256digest={digest}")?,
            Dialect::Ccnx => write!(f, " (SHA-256 {digest})")?,
        }
        match &self.signer {
            Some(signer) => write!(f, ", which says it is signed by {signer}")?,
            None => f.write_str(", which names no signer")?,
        }
        match self.incoming_face {
            Some(STORE) => f.write_str(", out of the forwarder's content store")?,
            Some(face) => write!(f, ", from face {face}")?,
            None => {}
        }
        write!(f, ": {}", printable(&self.error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use packet::Data;

    use super::*;

    #[test]
    fn a_refused_object_of_ccnx_is_shown_with_its_own_kind_of_name_and_its_publisher() {
        let vectors = testkit::vectors::load("ccnx");
        let vector = vectors.iter().find(|vector| vector.name.contains("content-header-of-a-file")).unwrap();
        let data = Data::decode_ccnx(vector.bytes.clone().into()).unwrap();
        let refused = RefusedPacket { data, incoming_face: None, error: "no trust anchor".into() };
        let shown = RefusedPacketInfo::new(RequestKind::Object, refused).to_string();
        let (digest, publisher) = (vector.get("implicit-digest").unwrap(), vector.get("publisher").unwrap());
        let expected = format!(
            "ccnx:/ndn.example/file/s8300/=FD06B09736C683/%C1.META.M/.header/=FD06B09736C6D5/=00 \
             (SHA-256 {digest}), which says it is signed by {publisher}: no trust anchor"
        );
        assert_eq!(shown, expected);
    }
}
