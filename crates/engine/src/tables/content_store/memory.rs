//! What kept packets take of memory, their own or one that they share.
//!
//! Packets that arrived in one piece may stay in it, which spares a copy of each; and then all of it stays
//! for as long as one of them does. The store pays for all of it, too, and gets it back with the last of
//! them.

use packet::{Buffer, MemoryId};

use super::super::chunked::Slab;

/// The memory that kept packets share.
#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    accounts: Slab<Account>,
    /// The memory that the last packet came to: the next one is probably its neighbour.
    open: Option<Open>,
}

/// A piece of memory. There may be two for the same piece, which is paid for twice then.
#[derive(Debug)]
struct Account {
    packets: u32,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    memory: MemoryId,
    account: u32,
    /// Up to where it has been paid for, and what is left of it.
    paid_end: usize,
    left_bytes: u64,
}

/// Who paid for the memory of a kept packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryOwner(u32);

impl MemoryOwner {
    /// The packet itself, which has it to itself.
    pub(super) const ITSELF: MemoryOwner = MemoryOwner(u32::MAX);
}

impl SharedMemory {
    /// Whether any packet is kept in shared memory.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.accounts.len() > 0
    }

    /// Counts a packet that is to be kept; gives how many bytes more are taken now. A piece of memory is paid
    /// for as its packets come, each with what lies between it and the one before; what is behind the
    /// last, when another piece follows.
    #[inline(always)]
    pub(super) fn pay(&mut self, wire: &Buffer) -> (MemoryOwner, u64) {
        if wire.is_small_part() {
            self.pay_for_part(wire)
        } else {
            (MemoryOwner::ITSELF, wire.footprint_bytes() as u64)
        }
    }

    #[inline(never)]
    fn pay_for_part(&mut self, wire: &Buffer) -> (MemoryOwner, u64) {
        let end = wire.memory_range().end;
        if let Some(open) = &mut self.open
            && open.memory == wire.memory()
            && let Some(account) = self.accounts.get_mut(open.account)
        {
            let bytes = end.saturating_sub(open.paid_end) as u64;
            open.paid_end = open.paid_end.max(end);
            open.left_bytes = open.left_bytes.saturating_sub(bytes);
            account.packets += 1;
            account.bytes += bytes;
            return (MemoryOwner(open.account), bytes);
        }
        let rest = self.close();
        let bytes = end as u64;
        let account = self.accounts.insert(Account { packets: 1, bytes });
        let left_bytes = (wire.footprint_bytes() as u64).saturating_sub(bytes);
        self.open = Some(Open { memory: wire.memory(), account, paid_end: end, left_bytes });
        (MemoryOwner(account), bytes + rest)
    }

    /// Counts a packet out that is no longer kept; gives how many bytes fewer are taken now.
    #[inline]
    pub(super) fn give_back(&mut self, paid_by: MemoryOwner, wire: &Buffer) -> u64 {
        if paid_by == MemoryOwner::ITSELF {
            return wire.footprint_bytes() as u64;
        }
        let Some(account) = self.accounts.get_mut(paid_by.0) else { return 0 };
        account.packets -= 1;
        if account.packets > 0 {
            return 0;
        }
        let bytes = account.bytes;
        self.accounts.remove(paid_by.0);
        // The memory may be another's soon.
        self.open = self.open.filter(|open| open.account != paid_by.0);
        bytes
    }

    /// Pays for what has not been paid for of the memory that packets have come to last.
    fn close(&mut self) -> u64 {
        let Some(open) = self.open.take() else { return 0 };
        let Some(account) = self.accounts.get_mut(open.account) else { return 0 };
        account.bytes += open.left_bytes;
        open.left_bytes
    }

    /// Bytes of memory held for keeping the accounts.
    pub(super) fn footprint_bytes(&self) -> usize {
        self.accounts.footprint_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: u64 = 16;

    fn packets(memory: &Buffer, count: usize) -> Vec<Buffer> {
        let each = memory.len() / count;
        (0..count).map(|number| memory.slice(number * each..(number + 1) * each).unwrap()).collect()
    }

    fn memory(bytes: usize) -> Buffer {
        Buffer::from(vec![0; bytes])
    }

    #[test]
    fn shared_memory_is_paid_for_as_packets_come_and_given_back_with_the_last() {
        let mut shared = SharedMemory::default();
        let pieces = packets(&memory(1000), 10);
        let paid: Vec<_> = pieces.iter().map(|piece| shared.pay(piece)).collect();
        assert!(paid.iter().all(|&(by, bytes)| by == paid[0].0 && bytes == 100));
        let own = memory(50);
        assert_eq!(shared.pay(&own), (MemoryOwner::ITSELF, 50 + COUNTS));
        let returned: Vec<_> =
            pieces.iter().zip(&paid).map(|(piece, &(by, _))| shared.give_back(by, piece)).collect();
        assert_eq!(returned, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1000]);
        assert_eq!(shared.give_back(MemoryOwner::ITSELF, &own), 50 + COUNTS);
        assert!(!shared.is_used());
    }

    #[test]
    fn one_packet_that_stays_pays_for_all_that_stays_with_it() {
        let mut shared = SharedMemory::default();
        let (first, second) = (memory(1000), memory(1000));
        let one = packets(&first, 10)[3].clone();
        let (by, bytes) = shared.pay(&one);
        assert_eq!(bytes, 400, "what lies before it");
        let (_, bytes) = shared.pay(&packets(&second, 10)[0]);
        assert_eq!(bytes, 100 + 600 + COUNTS, "and what lies behind it, as soon as that is known");
        assert_eq!(shared.give_back(by, &one), 1000 + COUNTS);
    }

    #[test]
    fn what_is_paid_comes_back_in_whatever_order_packets_come_and_go() {
        let mut random = packet::random::Random::from_seed(5);
        let mut shared = SharedMemory::default();
        let (mut kept, mut paid, mut pinned) = (Vec::new(), 0, Vec::<Buffer>::new());
        for _ in 0..200 {
            pinned.push(memory(1000));
            let mut pieces: Vec<_> =
                pinned.iter().rev().take(3).flat_map(|memory| packets(memory, 10)).collect();
            for _ in 0..random.next_u32() % 12 {
                let piece = pieces.swap_remove(random.next_u32() as usize % pieces.len());
                let (by, bytes) = shared.pay(&piece);
                paid += bytes;
                kept.push((by, piece));
            }
            for _ in 0..random.next_u32() % 10 {
                if !kept.is_empty() {
                    let (by, piece) = kept.swap_remove(random.next_u32() as usize % kept.len());
                    paid -= shared.give_back(by, &piece);
                }
            }
            let memories: std::collections::HashSet<_> =
                kept.iter().map(|(_, piece)| piece.memory()).collect();
            // The piece that is open may not be paid for to its end yet.
            assert!(
                paid + 1000 + COUNTS >= memories.len() as u64 * (1000 + COUNTS),
                "less than is held is paid for"
            );
        }
        for (by, piece) in kept {
            paid -= shared.give_back(by, &piece);
        }
        assert_eq!(paid, 0);
    }
}
