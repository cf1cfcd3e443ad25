//! How much of this machine strangers may use through a gateway.

use std::time::Duration;

/// Limits of the side that speaks HTTP. `docs/limits.md` says what happens at each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Requests that fetch at once; others wait for their turn.
    pub fetches: usize,
    /// Questions for the forwarder's state at once, which the page at `/` asks; more are refused.
    pub looks: usize,
    /// How long requests wait for their turn to fetch.
    pub turn: Duration,
    /// Bytes of packets that one fetch keeps for a slow client.
    pub buffer_bytes: usize,
    /// Bytes of the head of a request: its line and its headers.
    pub head_bytes: usize,
    /// Headers of a request.
    pub headers: usize,
    /// How long a client may take for the head of a request, and be idle before it.
    pub head_time: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub stall: Duration,
    /// How long the first bytes of an object may take.
    pub first_bytes: Duration,
    /// How long nothing more of an object may come while its client waits.
    pub drought: Duration,
    /// Bytes of what lies in a folder.
    pub listing_bytes: u64,
    /// How long requests may take that are under way when the gateway is to end.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 2048,
            fetches: 64,
            looks: 8,
            turn: Duration::from_secs(10),
            buffer_bytes: 1 << 20,
            head_bytes: 16 << 10,
            headers: 64,
            head_time: Duration::from_secs(60),
            stall: Duration::from_secs(120),
            first_bytes: Duration::from_secs(30),
            drought: Duration::from_secs(30),
            listing_bytes: 4 << 20,
            end: Duration::from_secs(5),
        }
    }
}
