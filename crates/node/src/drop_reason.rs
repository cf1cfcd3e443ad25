//! Why a face or the node let a frame go: one list for counters, logs, metrics, status output and
//! documentation.

packet::drop_reasons! {
    /// Why a transport, or the node around its faces, dropped a frame or a connection.
    #[non_exhaustive]
    pub enum DropReason {
        /// To be sent: the peer reads too slowly and as much waits for it as may; or the queue in front of an
        /// impairment's rate is full.
        SendQueueFull = "send-queue-full",
        /// To be sent: the face is not connected at present.
        FaceDown = "face-down",
        /// To be sent: the system refused the frame.
        SocketError = "socket-error",
        /// To be sent: the frame is larger than the system sends on this path.
        TooLargeForPath = "too-large-for-path",
        /// Received: a stream that is no sequence of frames, or has a frame that is too large; the connection
        /// was closed.
        BrokenStream = "broken-stream",
        /// Received: a stream that stopped in the middle of a frame for too long; the connection was closed.
        StalledStream = "stalled-stream",
        /// Received: a frame that is not worth a face, from a peer that has none.
        UnknownPeer = "unknown-peer",
        /// Received: a frame or a connection from a stranger while there are as many faces made on demand as
        /// there may be.
        TooManyFaces = "too-many-faces",
        /// Received: a frame or a connection from a stranger whose address has as many faces made on demand
        /// as one may have.
        AddressShare = "address-share",
        /// A face made on demand was closed so that somebody else gets its place: it was idle, or its address
        /// had most of them.
        GaveWay = "gave-way",
        /// Received: a connection that the system could not give a descriptor for.
        OutOfDescriptors = "out-of-descriptors",
        /// Received: an Ethernet frame larger than the interface was said to take.
        Truncated = "truncated",
        /// Received: an Ethernet frame with the tag of another VLAN than the interface's own.
        OtherNetwork = "other-network",
        /// Received: frames on an interface that came faster than they were read; counted once for each time.
        RingOverrun = "ring-overrun",
        /// Received: a packet that breaks a rule of its format, in a frame that is good; or the rest of a
        /// datagram that is no message.
        MalformedPacket = "malformed-packet",
        /// Received: a well-formed element of CCNx that is no message, or stands where it may not.
        UnknownPacketType = "unknown-packet-type",
        /// Not received: a datagram that is missing among those that were, by the numbers in them (CCNx).
        LostDatagram = "lost-datagram",
        /// To be sent: a Nack to a face of CCNx, which has none.
        NackToCcnx = "nack-to-ccnx",
        /// To be sent: the packet is larger than the link takes.
        PacketTooLarge = "packet-too-large",
        /// Something that management should know, while it has more to do than may wait.
        ManagementBusy = "management-busy",
        /// A tap on the face, such as an impairment, lost the frame. The simulator's links use the same word.
        Loss = "loss",
        /// A tap delayed the frame, and as many are delayed as may be.
        TooManyDelayed = "too-many-delayed",
    }

    /// A counter for every [`DropReason`].
    pub struct DropCounters;
}
