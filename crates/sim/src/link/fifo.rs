//! First in, first out, at a fixed rate: when a packet leaves is known when it enters, so nothing need happen
//! in between.

use std::collections::VecDeque;

use link::Transmission;
use packet::time::{Duration, Instant};

use super::{Queue, QueueLength};

/// A transmitter with a drop-tail queue in front.
#[derive(Debug)]
pub(crate) struct Fifo {
    transmission: Transmission,
    /// How long it takes to send what a full token bucket lets go at once: packets leave so much before a
    /// transmitter without one would have sent them, and at once where that is past.
    ahead: Duration,
    max_packets: u32,
    max_bytes: u64,
    mark_above_bytes: u64,
    /// When a transmitter without a bucket would have sent all it was given.
    busy_until: Instant,
    /// Packets that wait: when each will begin to be sent, and its size. Those whose time has come are
    /// forgotten lazily.
    waiting: VecDeque<(Instant, u32)>,
    waiting_bytes: u64,
    /// How long all that has joined waits in all, in nanoseconds.
    waited_ns: u128,
}

/// What becomes of a packet that joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admission {
    /// When its last bit is sent.
    pub(crate) departs: Instant,
    /// Whether it found the queue too long.
    pub(crate) marked: bool,
}

impl Fifo {
    pub(crate) fn new(rate_bits_per_second: u64, bucket_bytes: u32, queue: &Queue) -> Self {
        Fifo {
            transmission: Transmission::new(rate_bits_per_second),
            ahead: Transmission::new(rate_bits_per_second).next(bucket_bytes),
            max_packets: queue.max_packets,
            max_bytes: queue.max_bytes,
            mark_above_bytes: queue.mark_above_bytes.unwrap_or(u64::MAX),
            busy_until: Instant::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waited_ns: 0,
        }
    }

    /// Changes the rate for packets that join from now on.
    pub(crate) fn reconfigure(&mut self, rate_bits_per_second: u64, bucket_bytes: u32, queue: &Queue) {
        let (busy_until, waiting) = (self.busy_until, std::mem::take(&mut self.waiting));
        let (waiting_bytes, waited_ns) = (self.waiting_bytes, self.waited_ns);
        *self = Fifo {
            busy_until,
            waiting,
            waiting_bytes,
            waited_ns,
            ..Fifo::new(rate_bits_per_second, bucket_bytes, queue)
        };
    }

    /// `None` if there is no room.
    #[inline(always)]
    pub(crate) fn offer(&mut self, now: Instant, size_bytes: u32) -> Option<Admission> {
        let busy = self.busy_until.saturating_since(now);
        let mut marked = false;
        if busy > self.ahead {
            self.forget_sent(now);
            let full = self.waiting.len() as u64 >= u64::from(self.max_packets)
                || self.waiting_bytes + u64::from(size_bytes) > self.max_bytes;
            if full {
                return None;
            }
            marked = self.waiting_bytes > self.mark_above_bytes;
            let wait = busy.saturating_sub(self.ahead);
            self.waiting.push_back((now + wait, size_bytes));
            self.waited_ns += u128::from(wait.as_nanos());
            self.waiting_bytes += u64::from(size_bytes);
        }
        if busy == Duration::ZERO {
            self.transmission.rest();
        }
        let busy = busy + self.transmission.next(size_bytes);
        self.busy_until = now + busy;
        Some(Admission { departs: now + busy.saturating_sub(self.ahead), marked })
    }

    pub(crate) fn length(&mut self, now: Instant) -> QueueLength {
        self.forget_sent(now);
        QueueLength { packets: self.waiting.len() as u64, bytes: self.waiting_bytes }
    }

    /// Packets that waited, times nanoseconds, up to now.
    pub(crate) fn waited_ns(&self, now: Instant) -> u128 {
        let still = self.waiting.iter().map(|(begins, _)| begins.saturating_since(now).as_nanos());
        self.waited_ns - still.map(u128::from).sum::<u128>()
    }

    pub(crate) fn clear(&mut self, now: Instant) {
        self.waited_ns = self.waited_ns(now);
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.busy_until = Instant::ZERO;
    }

    fn forget_sent(&mut self, now: Instant) {
        while let Some(&(begins, size_bytes)) = self.waiting.front()
            && begins <= now
        {
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(size_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_one_after_the_other_and_who_finds_no_room_is_refused() {
        // One byte takes a microsecond.
        let mut fifo = Fifo::new(8_000_000, 0, &Queue::packets(2));
        let now = Instant::ZERO;
        let departs = |admission: Option<Admission>| admission.map(|a| a.departs.as_nanos());
        assert_eq!(departs(fifo.offer(now, 10)), Some(10_000));
        assert_eq!(departs(fifo.offer(now, 20)), Some(30_000));
        assert_eq!(departs(fifo.offer(now, 5)), Some(35_000));
        assert_eq!(fifo.offer(now, 1), None, "one is being sent, and two wait");
        assert_eq!(fifo.length(now), QueueLength { packets: 2, bytes: 25 });
        // The first has left, the second is being sent, and one waits.
        let later = Instant::from_nanos(10_000);
        assert_eq!(fifo.length(later), QueueLength { packets: 1, bytes: 5 });
        assert_eq!(departs(fifo.offer(later, 1)), Some(36_000));
        assert_eq!(departs(fifo.offer(Instant::from_nanos(40_000), 1)), Some(41_000));
    }

    #[test]
    fn a_full_bucket_lets_packets_go_at_once_and_an_empty_one_keeps_the_rate() {
        // One byte takes a microsecond, and the bucket holds 30 of them.
        let mut fifo = Fifo::new(8_000_000, 30, &Queue::packets(2));
        let departs = |fifo: &mut Fifo, at_us: u64, bytes| {
            let now = Instant::from_nanos(at_us * 1000);
            fifo.offer(now, bytes).map(|admission| admission.departs.as_nanos() / 1000)
        };
        assert_eq!(departs(&mut fifo, 100, 20), Some(100), "a full bucket");
        assert_eq!(departs(&mut fifo, 100, 20), Some(110), "ten bytes are missing");
        assert_eq!(departs(&mut fifo, 100, 20), Some(130));
        assert_eq!(departs(&mut fifo, 100, 20), Some(150));
        assert_eq!(departs(&mut fifo, 100, 20), None, "one is at the bucket, and two wait");
        // The bucket has got ten bytes since the last has left.
        assert_eq!(departs(&mut fifo, 160, 20), Some(170));
        assert_eq!(departs(&mut fifo, 1000, 40), Some(1010), "it holds no more than 30");
    }

    #[test]
    fn what_waited_is_known_at_every_moment_and_what_is_lost_waits_no_more() {
        // One byte takes a microsecond: the second waits for 10 µs and the third for 30.
        let mut fifo = Fifo::new(8_000_000, 0, &Queue::packets(2));
        for bytes in [10, 20, 5] {
            fifo.offer(Instant::ZERO, bytes);
        }
        let waited_us = |fifo: &Fifo, at_us: u64| fifo.waited_ns(Instant::from_nanos(at_us * 1000)) / 1000;
        assert_eq!([0, 5, 10, 20, 30, 99].map(|at| waited_us(&fifo, at)), [0, 10, 20, 30, 40, 40]);
        fifo.clear(Instant::from_nanos(20_000));
        assert_eq!(waited_us(&fifo, 99), 30);
    }

    #[test]
    fn marks_are_given_while_more_than_the_threshold_waits() {
        let queue = Queue::bytes(100).mark_above(20);
        let mut fifo = Fifo::new(8_000_000, 0, &queue);
        let marks: Vec<_> =
            (0..8).map(|_| fifo.offer(Instant::ZERO, 15).map(|admission| admission.marked)).collect();
        // The first is being sent; then 0, 15, 30, 45, 60, 75 bytes wait before each, and the eighth does not
        // fit.
        let expected = [false, false, false, true, true, true, true];
        assert_eq!(marks[..7], expected.map(Some));
        assert_eq!(marks[7], None);
    }
}
