//! What a client tells its application.

use std::sync::Arc;

use flow::source::SourceError;
use packet::time::Duration;
use packet::{Data, Interest, LinkHeader, NackReason, Name};

use crate::pending::RequestId;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// An Interest of ours was answered.
    Data {
        /// Which.
        id: RequestId,
        /// The answer.
        data: Data,
        /// What its last hop tells.
        header: LinkHeader,
        /// How long it took.
        round_trip: Duration,
    },
    /// An Interest of ours came back.
    Nack {
        /// Which.
        id: RequestId,
        /// Why.
        reason: NackReason,
        /// What its last hop tells.
        header: LinkHeader,
        /// How long it took.
        round_trip: Duration,
    },
    /// An Interest of ours was given up.
    Timeout {
        /// Which.
        id: RequestId,
    },
    /// Somebody asks for what we registered.
    Interest {
        /// The Interest.
        interest: Interest,
        /// To be given back with the answer.
        header: LinkHeader,
    },
    /// A source cannot go on, and answers no more.
    SourceFailed {
        /// What it was [attached](crate::Client::attach) to.
        prefix: Name,
        /// Why.
        error: Arc<SourceError>,
    },
}
