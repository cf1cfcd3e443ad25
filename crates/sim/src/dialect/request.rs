//! What a consumer asks for.

use packet::time::Duration;
use packet::{Data, LinkHeader, Name};

/// A name to ask for, and how long to go on asking.
#[derive(Clone, Debug)]
pub struct Request {
    /// The name.
    pub name: Name,
    /// Whether a longer name will do (NDN; in CCNx it always does).
    pub can_be_prefix: bool,
    /// Whether Data that is not fresh will not do (NDN).
    pub must_be_fresh: bool,
    /// How long to wait for an answer before asking again. Default 1 s.
    pub lifetime: Duration,
    /// How often to ask at most. Default 1.
    pub attempts: u32,
    /// How long to wait after a Nack before asking again. Default 50 ms.
    pub nack_delay: Duration,
    /// Forwarding hint (NDN).
    pub forwarding_hint: Vec<Name>,
    /// HopLimit (NDN).
    pub hop_limit: Option<u8>,
    /// What goes with the Interest to the engine of the node.
    pub header: LinkHeader,
}

impl Request {
    /// Asks once for exactly this name.
    pub fn new(name: Name) -> Self {
        Request {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            lifetime: Duration::from_secs(1),
            attempts: 1,
            nack_delay: Duration::from_millis(50),
            forwarding_hint: Vec::new(),
            hop_limit: None,
            header: LinkHeader::default(),
        }
    }

    /// The same, asking so often at most.
    pub fn attempts(self, attempts: u32) -> Self {
        Request { attempts, ..self }
    }

    /// The same with another lifetime.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        Request { lifetime, ..self }
    }

    /// Whether Data has a name that was asked for.
    pub(crate) fn is_answered_by(&self, data: &Data) -> bool {
        let (name, longer) =
            (self.name.as_ref(), self.can_be_prefix || data.dialect().always_asks_by_prefix());
        name == data.name() || longer && name.is_prefix_of(data.name())
    }
}
