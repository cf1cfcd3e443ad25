//! What a link service tells about itself.

packet::counters! {
    /// What was done with parity frames, which let receivers rebuild others.
    pub struct ParityCounters {
        /// Parity frames sent.
        pub sent = "parity-sent",
        /// Parity frames received.
        pub received = "parity-received",
        /// Frames rebuilt by them.
        pub rebuilt = "rebuilt",
        /// Parity frames of which nothing was rebuilt, for more than one frame was missing.
        pub not_rebuilt = "not-rebuilt",
    }
}

/// What a link service has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received, good or bad.
    pub frames_in: u64,
    /// Frames handed to the transport.
    pub frames_out: u64,
    /// Network packets delivered.
    pub packets_in: u64,
    /// Network packets accepted for sending.
    pub packets_out: u64,
    /// Fragments among the frames received.
    pub fragments_in: u64,
    /// Fragments among the frames sent for the first time.
    pub fragments_out: u64,
    /// Packets put together from fragments.
    pub reassembled: u64,
    /// Frames received that carried no packet.
    pub idle_in: u64,
    /// Frames sent that carried no packet.
    pub idle_out: u64,
    /// Acks received for transmissions that waited for one.
    pub acks_in: u64,
    /// Acks sent.
    pub acks_out: u64,
    /// Frames sent again.
    pub retransmissions: u64,
    /// Packets marked because the send queue was too long.
    pub congestion_marks_out: u64,
    /// Echoes and probes of the path that were asked of the neighbour.
    pub echoes_out: u64,
    /// Echoes that came back, by whatever way.
    pub echoes_in: u64,
    /// What was done with parity frames.
    pub parity: ParityCounters,
    /// Frames that had to wait because the neighbour could not have taken them.
    pub held_back: u64,
}

/// What a link service holds at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Packets of which fragments are missing.
    pub partial_packets: usize,
    /// Bytes of memory charged for them.
    pub partial_bytes: usize,
    /// Packets to be sent or acknowledged.
    pub outgoing_packets: usize,
    /// Bytes of them.
    pub outgoing_bytes: usize,
    /// Packets that wait until the neighbour can take them.
    pub waiting_packets: usize,
    /// Transmissions from the oldest that waits for an Ack to the latest.
    pub unacknowledged_frames: usize,
    /// Acks to be sent.
    pub pending_acks: usize,
    /// Deliveries the owner has not taken.
    pub deliveries: usize,
}
