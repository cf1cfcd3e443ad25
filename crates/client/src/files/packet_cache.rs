//! Packets that were dear to make, for those who ask for them again soon.

use std::collections::{BTreeMap, VecDeque};

use packet::Data;

/// Bytes of packets that are kept where each costs a signature with a key: what is on its way at any time.
/// What is asked for later comes from content stores.
pub(super) const CACHE_BYTES: usize = 4 << 20;

/// Packets of one object by segment, the latest made, up to a number of bytes.
#[derive(Debug)]
pub(super) struct PacketCache {
    packets: BTreeMap<u64, Data>,
    /// The oldest first.
    order: VecDeque<u64>,
    bytes: usize,
    max_bytes: usize,
}

impl PacketCache {
    /// Keeps packets of `max_bytes` together; with 0 none.
    pub(super) fn new(max_bytes: usize) -> Self {
        PacketCache { packets: BTreeMap::new(), order: VecDeque::new(), bytes: 0, max_bytes }
    }

    pub(super) fn get(&self, segment: u64) -> Option<Data> {
        self.packets.get(&segment).cloned()
    }

    /// Keeps the packet of a segment that it does not have.
    pub(super) fn keep(&mut self, segment: u64, data: &Data) {
        let size = data.wire().len();
        if size > self.max_bytes {
            return;
        }
        // The oldest go first, and before the next is made: its memory is used again then.
        while self.bytes + 2 * size > self.max_bytes {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.packets.remove(&oldest).map_or(0, |data| data.wire().len());
        }
        self.bytes += size;
        self.packets.insert(segment, data.clone());
        self.order.push_back(segment);
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::DataBuilder;

    use super::*;

    fn packet(bytes: usize) -> Data {
        DataBuilder::new("/a".parse().unwrap()).content(vec![0; bytes]).build_with_digest().unwrap()
    }

    #[test]
    fn the_latest_packets_are_kept_and_never_more_bytes_than_allowed() {
        let (packet, mut cache) = (packet(1000), PacketCache::new(10_000));
        for segment in 0..100 {
            cache.keep(segment, &packet);
            assert!(cache.bytes <= 10_000 && cache.packets.len() == cache.order.len());
            assert_eq!(cache.get(segment).unwrap().wire(), packet.wire());
        }
        let kept: Vec<u64> = (0..100).filter(|segment| cache.get(*segment).is_some()).collect();
        assert_eq!(kept, (92..100).collect::<Vec<_>>(), "room for one more is made beforehand");
    }

    #[test]
    fn a_packet_larger_than_the_cache_pushes_nothing_out() {
        let mut cache = PacketCache::new(2500);
        cache.keep(1, &packet(1000));
        cache.keep(2, &packet(4000));
        assert!(cache.get(1).is_some() && cache.get(2).is_none());
        let mut none = PacketCache::new(0);
        none.keep(1, &packet(1));
        assert!(none.get(1).is_none());
    }
}
