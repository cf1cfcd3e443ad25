//! A queue that is looked at when a packet leaves: controlled delay, after RFC 8289.

use std::collections::VecDeque;

use link::Transmission;
use packet::time::{Duration, Instant};

use super::{CoDel, CoDelAction, Queue, QueueLength};
use crate::arena::PacketId;
use crate::occupancy::Level;

/// A packet that waits: its number, its size, and since when.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    id: PacketId,
    size_bytes: u32,
    since: Instant,
}

/// A transmitter behind a queue under CoDel.
#[derive(Debug)]
pub(crate) struct Managed {
    transmission: Transmission,
    pub(crate) max_packets: u32,
    pub(crate) max_bytes: u64,
    pub(crate) mark_above_bytes: u64,
    codel: CoDel,
    queue: VecDeque<QueuedPacket>,
    bytes: u64,
    /// The packet that is being sent.
    pub(crate) sending: Option<PacketId>,
    /// When the time in the queue will have been too long for a whole interval.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    /// How many wait, integrated.
    level: Level,
}

/// What left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// This packet is to be sent now.
    Send { id: PacketId, size_bytes: u32, marked: bool },
    /// This one is dropped; ask again.
    Drop { id: PacketId },
}

impl Managed {
    pub(crate) fn new(rate_bits_per_second: u64, queue: &Queue, codel: CoDel) -> Self {
        Managed {
            transmission: Transmission::new(rate_bits_per_second),
            max_packets: queue.max_packets,
            max_bytes: queue.max_bytes,
            mark_above_bytes: queue.mark_above_bytes.unwrap_or(u64::MAX),
            codel,
            queue: VecDeque::new(),
            bytes: 0,
            sending: None,
            first_above: None,
            dropping: false,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            level: Level::default(),
        }
    }

    /// How long the packet takes to be sent that leaves the queue now.
    pub(crate) fn sending_time(&mut self, size_bytes: u32) -> Duration {
        self.transmission.next(size_bytes)
    }

    /// Lets a packet join: whether it is to be marked, or `None` if there is no room.
    pub(crate) fn join(&mut self, now: Instant, id: PacketId, size_bytes: u32) -> Option<bool> {
        let full = self.queue.len() as u64 >= u64::from(self.max_packets)
            || self.bytes + u64::from(size_bytes) > self.max_bytes;
        if full {
            return None;
        }
        let marked = self.bytes > self.mark_above_bytes;
        self.queue.push_back(QueuedPacket { id, size_bytes, since: now });
        self.bytes += u64::from(size_bytes);
        self.level.note(now, self.queue.len() as u32);
        Some(marked)
    }

    pub(crate) fn for_each_packet(&mut self, action: impl FnMut(&mut PacketId)) {
        let waiting = self.queue.iter_mut().map(|waiting| &mut waiting.id);
        waiting.chain(&mut self.sending).for_each(action);
    }

    pub(crate) fn length(&self) -> QueueLength {
        QueueLength { packets: self.queue.len() as u64, bytes: self.bytes }
    }

    /// Packets that waited, times nanoseconds, up to now.
    pub(crate) fn waited_ns(&self, now: Instant) -> u128 {
        self.level.area(now)
    }

    /// Empties the queue; gives what waited.
    pub(crate) fn clear(&mut self, now: Instant) -> Vec<PacketId> {
        self.level.note(now, 0);
        self.bytes = 0;
        self.dropping = false;
        self.first_above = None;
        self.transmission.rest();
        self.queue.drain(..).map(|waiting| waiting.id).chain(self.sending.take()).collect()
    }

    /// The next packet that leaves, and how.
    pub(crate) fn poll_departure(&mut self, now: Instant) -> Option<Departure> {
        let (first, too_long) = self.take_first(now)?;
        let mut chosen = false;
        if self.dropping {
            if !too_long {
                self.dropping = false;
            } else if now >= self.drop_next {
                self.count += 1;
                self.drop_next = self.law(self.drop_next);
                chosen = true;
            }
        } else if too_long {
            self.dropping = true;
            // A queue that was bad a moment ago is treated as if it had not got better.
            let delta = self.count - self.last_count;
            let recent = now.saturating_since(self.drop_next) < self.codel.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.law(now);
            self.last_count = self.count;
            chosen = true;
        }
        Some(match (chosen, self.codel.action) {
            (true, CoDelAction::Drop) => Departure::Drop { id: first.id },
            _ => Departure::Send { id: first.id, size_bytes: first.size_bytes, marked: chosen },
        })
    }

    fn take_first(&mut self, now: Instant) -> Option<(QueuedPacket, bool)> {
        let Some(first) = self.queue.pop_front() else {
            self.first_above = None;
            self.dropping = false;
            self.transmission.rest();
            return None;
        };
        self.bytes -= u64::from(first.size_bytes);
        self.level.note(now, self.queue.len() as u32);
        let short = now.saturating_since(first.since) < self.codel.target
            || self.bytes <= u64::from(MAX_PACKET_BYTES);
        if short {
            self.first_above = None;
            return Some((first, false));
        }
        let limit = *self.first_above.get_or_insert(now + self.codel.interval);
        Some((first, now >= limit))
    }

    /// When to choose the next one: ever sooner, with the square root of their number.
    fn law(&self, from: Instant) -> Instant {
        let nanos = self.codel.interval.as_nanos() as f64 / f64::from(self.count.max(1)).sqrt();
        from + Duration::from_nanos(nanos as u64)
    }
}

/// The largest packet that RFC 8289 calls an MTU: a queue that holds no more is never too long.
const MAX_PACKET_BYTES: u32 = 1514;

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers a packet of 1,250 bytes every `gap` to a link of 10 Mbit/s (1 ms each) for so long; gives how
    /// many were dropped and how long the queue was in the end.
    fn overload(gap_micros: u64, millis: u64, action: CoDelAction) -> (u64, u64, u64) {
        let codel = CoDel { action, ..CoDel::RFC_8289 };
        let mut managed = Managed::new(10_000_000, &Queue::packets(10_000), codel);
        let (mut dropped, mut marked, mut free_at) = (0, 0, Instant::ZERO);
        for step in 0..millis * 1000 / gap_micros {
            let now = Instant::from_nanos(step * gap_micros * 1000);
            while free_at <= now && managed.length().packets > 0 {
                match managed.poll_departure(free_at) {
                    Some(Departure::Send { marked: mark, .. }) => {
                        free_at += Duration::from_millis(1);
                        marked += u64::from(mark);
                    }
                    Some(Departure::Drop { .. }) => dropped += 1,
                    None => {}
                }
            }
            free_at = free_at.max(now);
            managed.join(now, PacketId(0), 1250);
        }
        (dropped, marked, managed.length().packets)
    }

    #[test]
    fn a_link_that_keeps_up_drops_nothing() {
        assert_eq!(overload(1000, 5000, CoDelAction::Drop).0, 0);
    }

    #[test]
    fn a_link_that_does_not_keep_up_drops_ever_more() {
        // A tenth too much: without drops 500 packets would wait after 5 s.
        let (dropped, _, waiting) = overload(909, 5000, CoDelAction::Drop);
        assert!(dropped > 300 && waiting < 250, "{dropped} dropped, {waiting} wait");
        let (dropped, marked, waiting) = overload(909, 5000, CoDelAction::Mark);
        assert!(dropped == 0 && marked > 300 && waiting > 400, "{marked} marked, {waiting} wait");
    }
}
