//! How much the store takes, and what it does at each limit.

packet::drop_reasons! {
    /// Why the store did not take a packet, or gave one up.
    pub enum Rejection {
        /// The objects take as many bytes as they may, and eviction found nothing that may go.
        BytesFull = "bytes-full",
        /// There are as many objects as there may be, and eviction found nothing that may go.
        ObjectsFull = "objects-full",
        /// The object has as many segments as an object may have.
        SegmentsFull = "segments-full",
        /// There are as many objects below one prefix as there may be.
        PrefixFull = "prefix-full",
        /// As many packets as may wait for the disk wait for it already.
        TooManyOpen = "too-many-open",
        /// The packet is larger than a record may be.
        PacketTooLarge = "packet-too-large",
        /// The name is longer than a name in the index may be.
        NameTooLong = "name-too-long",
        /// The file system has no room.
        DiskFull = "disk-full",
        /// The file system failed.
        DiskFailed = "disk-failed",
        /// A deletion is going on that takes nothing in meanwhile.
        Deleting = "deleting",
        /// What lay on the disk was not what had been written; the object was dropped.
        Corrupt = "corrupt",
    }

    /// How often each reason occurred.
    pub struct RejectionCounters;
}

/// The limits of a store.
///
/// At the limits on bytes and objects the eviction policy makes room, if there is one; otherwise, and at all
/// other limits, new packets are refused and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all records. A soft limit: an object that was begun may be completed.
    pub max_bytes: u64,
    /// Objects. A soft limit where there is a policy.
    pub max_objects: u32,
    /// Segments of one object.
    pub max_segments: u32,
    /// Objects below one prefix of [`prefix_components`](Self::prefix_components) components.
    pub max_objects_of_prefix: u32,
    /// How long the prefixes are whose objects are counted.
    pub prefix_components: usize,
    /// Packets that were inserted and not committed yet.
    pub max_open_packets: usize,
    /// Bytes of these.
    pub max_open_bytes: u64,
}

impl Limits {
    /// The longest name of an object, in canonical bytes.
    pub const MAX_NAME_BYTES: usize = 8192;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_bytes: 8 << 30,
            max_objects: 1 << 20,
            max_segments: 1 << 24,
            max_objects_of_prefix: u32::MAX,
            prefix_components: 1,
            max_open_packets: 1 << 16,
            max_open_bytes: 64 << 20,
        }
    }
}
