//! What was refused, and whom it came from: for whoever looks for the forger.

use formats::printable::printable;
use std::fmt;

use packet::name::name_in_dialect;
use packet::ndn::KeyLocator;
use packet::{Data, Dialect, Name};

/// The face that forwarders tell of for what comes out of their content store.
const STORE: u64 = 254;

/// A packet that a verifier refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its dialect, in which its name is shown.
    pub dialect: Dialect,
    /// Its name.
    pub name: Name,
    /// Its implicit digest, which tells it from every other packet of that name.
    pub digest: [u8; 32],
    /// Who it says has signed it: a name, or the digest of a key.
    pub key_locator: Option<String>,
    /// The forwarder's face that it came by, if the forwarder tells: it does on this host, where local
    /// fields are on.
    pub incoming_face: Option<u64>,
    /// Why it was refused.
    pub problem: String,
}

impl Refused {
    /// Whether the forwarder tells which neighbour or application it came from.
    pub fn is_traced(&self) -> bool {
        self.incoming_face.is_some_and(|face| face != STORE)
    }

    /// Describes a packet.
    pub fn new(data: &Data, incoming_face: Option<u64>, problem: &str) -> Self {
        let locator = data.ndn().and_then(|view| view.signature_info()).and_then(|info| info.key_locator);
        let key_locator = locator.map(|locator| match locator {
            KeyLocator::Name(name) => name.to_string(),
            KeyLocator::Digest(digest) => packet::hex::encode(digest),
        });
        let key_locator = key_locator.or_else(|| data.ccnx_publisher().map(|key| packet::hex::encode(key)));
        let (name, digest) = (data.name().to_name(), data.implicit_digest());
        Refused {
            dialect: data.dialect(),
            name,
            digest,
            key_locator,
            incoming_face,
            problem: printable(problem),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_in_dialect(self.dialect, self.name.as_ref()))?;
        let digest = packet::hex::encode(&self.digest);
        match self.dialect {
            Dialect::Ndn => write!(f, "/sha256digest={digest}")?,
            Dialect::Ccnx => write!(f, " (SHA-256 {digest})")?,
        }
        match &self.key_locator {
            Some(locator) => write!(f, ", which says it is signed by {locator}")?,
            None => f.write_str(", which names no signer")?,
        }
        match self.incoming_face {
            Some(STORE) => f.write_str(", out of the forwarder's content store")?,
            Some(face) => write!(f, ", from face {face}")?,
            None => {}
        }
        write!(f, ": {}", self.problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_object_of_ccnx_is_shown_with_its_own_kind_of_name_and_its_publisher() {
        let vectors = testkit::vectors::load("ccnx");
        let vector = vectors.iter().find(|vector| vector.name.contains("content-header-of-a-file")).unwrap();
        let data = Data::decode_ccnx(vector.bytes.clone().into()).unwrap();
        let shown = Refused::new(&data, None, "no trust anchor").to_string();
        let (digest, publisher) = (vector.get("implicit-digest").unwrap(), vector.get("publisher").unwrap());
        let expected = format!(
            "ccnx:/ndn.example/file/s8300/=FD06B09736C683/%C1.META.M/.header/=FD06B09736C6D5/=00 \
             (SHA-256 {digest}), which says it is signed by {publisher}: no trust anchor"
        );
        assert_eq!(shown, expected);
    }
}
