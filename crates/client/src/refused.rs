//! What was refused, and whom it came from: for whoever looks for the forger.

use formats::printable::printable;
use std::fmt;

use packet::ndn::KeyLocator;
use packet::{Data, Name};

/// The face that forwarders tell of for what comes out of their content store.
const STORE: u64 = 254;

/// A packet that a verifier refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name.
    pub name: Name,
    /// Its implicit digest, which tells it from every other packet of that name.
    pub digest: [u8; 32],
    /// Who it says has signed it.
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
        let (name, digest) = (data.name().to_name(), data.implicit_digest());
        Refused { name, digest, key_locator, incoming_face, problem: printable(problem) }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/sha256digest={}", self.name, packet::hex::encode(&self.digest))?;
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
