//! Why packets end here: one list for counters, logs, traces, status output and documentation.

packet::drop_reasons! {
    /// Why a packet was dropped.
    pub enum DropReason {
        /// The packet came from, or would leave by, a face that does not exist.
        UnknownFace = "unknown-face",
        /// The face speaks the other dialect.
        WrongDialect = "wrong-dialect",
        /// The Interest's HopLimit was zero on arrival.
        HopLimitZero = "hop-limit-zero",
        /// The name's scope does not allow the packet to cross this face.
        Scope = "scope",
        /// An Interest with this name and nonce is pending or was seen lately.
        DuplicateNonce = "duplicate-nonce",
        /// The Interest was sent again too soon.
        RetransmissionSuppressed = "retransmission-suppressed",
        /// The face sends more Interests a second than it may.
        InterestRate = "interest-rate",
        /// The face has as many pending Interests as one face may have.
        FacePendingLimit = "face-pending-limit",
        /// The table of pending Interests is full, and this face holds its fair share.
        PendingTableFull = "pending-table-full",
        /// A pending Interest made room for one of a face that holds less than its fair share.
        PendingEvicted = "pending-evicted",
        /// Too many Interests that differ only in their selectors are pending under one name.
        TooManyVariants = "too-many-variants",
        /// The strategy found no face to send the Interest to.
        NoNextHop = "no-next-hop",
        /// The strategy's rate limit towards the next hop is exhausted.
        UpstreamRate = "upstream-rate",
        /// As many Interests as may wait already wait for their turn to bring Data back to this face.
        ShaperFull = "shaper-full",
        /// The Interest asked for a next hop that does not exist.
        NextHopGone = "next-hop-gone",
        /// No pending Interest matches the Data.
        Unsolicited = "unsolicited",
        /// Interests for the Data are pending, but none was sent to the face that it came by.
        NotAsked = "not-asked",
        /// No pending Interest was sent to this face with the Nack's nonce.
        UnexpectedNack = "unexpected-nack",
        /// Nacks are only meant for point-to-point links.
        NackOnMultiAccess = "nack-on-multi-access",
        /// The Interest could not be given a field that forwarders must add without exceeding the size limit.
        NoRoomForField = "no-room-for-field",
        /// The strategy learned no route that would let the Data travel back.
        NoAnnouncement = "no-announcement",
    }

    /// A counter for every [`DropReason`].
    pub struct DropCounters;
}
