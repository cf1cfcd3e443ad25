//! What the engine wants sent, and what it wants known.

use packet::time::Duration;
use packet::{Buffer, Data, Interest, LinkHeader, NackReason, Name};

use crate::face::FaceId;

/// A packet to send by a face.
#[derive(Clone, Debug)]
pub struct Transmit {
    /// The face.
    pub face: FaceId,
    /// The packet. Its bytes are shared with whoever else holds it.
    pub packet: Outgoing,
    /// What travels with it over the link.
    pub header: LinkHeader,
}

/// A network packet on its way out.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// An Interest.
    Interest(Interest),
    /// Data.
    Data(Data),
    /// An Interest that goes back to where it came from.
    Nack(Interest, NackReason),
}

/// Something the owner may want to act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Data brought an announcement: its prefix can be reached by this face. The owner checks the announcement and adds the
    /// route if it believes it.
    RouteAnnounced {
        /// Where the Data came from.
        face: FaceId,
        /// The prefix announcement, a whole Data.
        announcement: Buffer,
    },
    /// A route that was learned does not lead on any more.
    RouteFailed {
        /// Where the Nack came from.
        face: FaceId,
        /// The name that could not be reached.
        name: Name,
    },
    /// The strategy under this name could not do its work for want of room for measurements.
    MeasurementsFull {
        /// The name that was not measured.
        name: Name,
        /// How long measurements are kept without use.
        lifetime: Duration,
    },
}
