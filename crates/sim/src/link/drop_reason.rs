//! Why packets end on a link: one list for counters, traces and documentation.

packet::drop_reasons! {
    /// Why a link, or the processor of a node, dropped a packet. What engines drop is counted by their own
    /// [`engine::DropReason`].
    pub enum LinkDropReason {
        /// The queue in front of the link held as many packets, or bytes, as it may.
        SendQueueFull = "send-queue-full",
        /// CoDel chose the packet.
        Codel = "codel",
        /// The packet was lost under way.
        Loss = "loss",
        /// The link was down.
        FaceDown = "face-down",
        /// The processor's queue was full.
        ProcessorQueueFull = "processor-queue-full",
        /// The face that the packet was for is gone.
        UnknownFace = "unknown-face",
        /// The link service refused or lost the packet; its own counters say why.
        LinkService = "link-service",
        /// What a tap made of the packet is none.
        MalformedPacket = "malformed-packet",
    }

    /// A counter for every [`LinkDropReason`].
    pub struct LinkDropCounters;
}
