//! Load for measuring a forwarder: an endless consumer and producer that cost as little as possible, and a
//! relay with the same system calls and no tables, which is the least that forwarding can cost.
//!
//! Nothing here is part of a node. `cairn bench forward` is made of it.

mod exchange;
mod packets;
mod ping;
mod relay;
mod stream;

pub use exchange::{UdpExchange, UdpExchangeConfig};
pub use packets::Shape;
pub use ping::{PingReport, UdpPing, udp_producer};
pub use relay::{relay_streams, relay_udp};
pub use stream::StreamExchange;

pub use crate::transport::stream_socket::StreamSocket;

/// What came of an exchange of packets for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadReport {
    /// Interests sent by the consumer.
    pub interests: u64,
    /// Data that came back to the consumer.
    pub data: u64,
    /// Interests that reached the producer.
    pub answered: u64,
    /// Interests counted as lost because nothing came back for a while.
    pub lost: u64,
    /// How long it took.
    pub seconds: f64,
}

impl std::ops::Sub for LoadReport {
    type Output = LoadReport;

    /// What happened between two reports.
    fn sub(self, earlier: LoadReport) -> LoadReport {
        LoadReport {
            interests: self.interests - earlier.interests,
            data: self.data - earlier.data,
            answered: self.answered - earlier.answered,
            lost: self.lost - earlier.lost,
            seconds: self.seconds - earlier.seconds,
        }
    }
}
