//! Why a frame or a packet went no further: one list for both link protocols.
//!
//! Counter, log line, trace, status output and documentation use the words of this list.

packet::drop_reasons! {
    /// Why a link service dropped a frame, a packet or a note it kept about one.
    #[non_exhaustive]
    pub enum DropReason {
        /// Received: the frame breaks a rule of its link protocol.
        MalformedFrame = "malformed-frame",
        /// Received or to be sent: neither an Interest nor a Data.
        UnknownPacketType = "unknown-packet-type",
        /// Received or to be sent: the packet, or the fragments of one, are not exactly the one element they
        /// announce.
        MalformedPacket = "malformed-packet",
        /// Received or to be sent: the packet is larger than the limit.
        PacketTooLarge = "packet-too-large",
        /// Received: a fragment, on a link on which reassembly is off.
        ReassemblyDisabled = "reassembly-disabled",
        /// Received: FragIndex is not smaller than FragCount.
        FragIndexOutOfRange = "frag-index-out-of-range",
        /// Received: FragCount exceeds the limit.
        TooManyFragments = "too-many-fragments",
        /// Received: a fragment without a Sequence, which belongs nowhere.
        MissingSequence = "missing-sequence",
        /// Received: FragCount differs from what an earlier fragment of the same packet said.
        FragCountMismatch = "frag-count-mismatch",
        /// Received: a fragment that is neither the last nor as long as the others (NDNLP v1).
        FragmentSizeMismatch = "fragment-size-mismatch",
        /// Received: a fragment that had already arrived.
        DuplicateFragment = "duplicate-fragment",
        /// Received: a frame whose Sequence arrived a short while ago.
        DuplicateFrame = "duplicate-frame",
        /// Received: a packet of which no further fragment came in time.
        PartialExpired = "partial-expired",
        /// Received: an incomplete packet that had to make room for a newer one.
        PartialEvicted = "partial-evicted",
        /// Received: NextHopFaceId on a link on which local fields are off.
        LocalFieldsDisabled = "local-fields-disabled",
        /// Received or to be sent: a field that the kind of packet it comes with may not have.
        FieldNotAllowed = "field-not-allowed",
        /// Received or to be sent: a Nack on a link with more than two ends.
        NackOnMultiAccess = "nack-on-multi-access",
        /// Received: a parity frame that is malformed, or does not give the frame that it names.
        BadParity = "bad-parity",
        /// Received: the owner has not taken the packets delivered before.
        DeliveryQueueFull = "delivery-queue-full",
        /// Received: more frames await acknowledgement than the queue holds; the peer will send this one
        /// again.
        AckQueueFull = "ack-queue-full",
        /// To be sent: the packet exceeds the MTU and fragmentation is off.
        OverMtu = "over-mtu",
        /// To be sent: the MTU has no room for the header fields and at least one byte of the packet.
        NoRoomInMtu = "no-room-in-mtu",
        /// To be sent: the packet would need more fragments than the limit.
        FragmentLimit = "fragment-limit",
        /// To be sent: the owner has not taken the frames of the packets before.
        SendQueueFull = "send-queue-full",
        /// Sent: a frame that was not acknowledged after all retries; with it the whole packet is given up.
        RetriesExhausted = "retries-exhausted",
        /// Sent: a frame that was forgotten, because too many others await acknowledgement. It may have
        /// arrived.
        SentStoreFull = "sent-store-full",
        /// Received: a Sequence was forgotten early, because too many others came; if its frame is repeated,
        /// nobody will notice.
        RecentSequencesFull = "recent-sequences-full",
        /// A packet that was on its way out or incomplete when the link's parameters were changed.
        Reconfigured = "reconfigured",
    }

    /// How often each [`DropReason`] occurred.
    pub struct DropCounters;
}
