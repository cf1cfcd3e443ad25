//! How much may be on its way to a neighbour: what its socket holds, and what the path does.

use packet::time::Duration;

/// Kernel memory that a datagram takes in the queue of a socket: its bytes with headers, rounded up as Linux rounds them,
/// and what is kept about it. The smallest is charged as a frame of 1,500 bytes, because other receivers, such as rings of
/// packet sockets, count slots.
pub(crate) fn charge(frame_len: usize) -> u64 {
    let block = (frame_len + 448).max(SMALLEST_BLOCK).checked_next_power_of_two().unwrap_or(frame_len);
    (block + 256) as u64
}

const SMALLEST_BLOCK: usize = 2048;
/// What the smallest frame is charged with.
pub(crate) const SLOT_BYTES: u64 = 2304;

/// A window that keeps a queue of about the target in front of the neighbour and no more, in the manner of TCP Vegas.
///
/// Positions count what was charged since the beginning. Whatever was sent before a frame that has been answered has left
/// the neighbour's queue, or was lost; either way it is there no longer.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    limit: u64,
    /// What may stand in the neighbour's queue.
    target: u64,
    sent: u64,
    gone: u64,
    /// When this position is gone, a round trip has passed.
    round_end: u64,
    /// Whether something had to wait in this round.
    was_full: bool,
    /// Losses before this position have been answered for.
    recovered: u64,
    shortest: Option<Duration>,
    shortest_in_round: Option<Duration>,
    slow_start: bool,
}

/// The window starts with, and seldom falls below, these parts of the target.
const START: (u64, u64) = (3, 4);
const FLOOR: (u64, u64) = (3, 8);
/// The largest window.
const MAX_BYTES: u64 = 64 << 20;

impl Window {
    pub(crate) fn new(target: u64) -> Self {
        Window {
            limit: part(target, START),
            target,
            sent: 0,
            gone: 0,
            round_end: 0,
            was_full: false,
            recovered: 0,
            shortest: None,
            shortest_in_round: None,
            slow_start: true,
        }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Learns how much the neighbour's queue takes.
    pub(crate) fn set_target(&mut self, target: u64) {
        if self.target != target {
            self.target = target;
            self.limit = part(target, START).max(self.limit.min(target));
        }
    }

    pub(crate) fn outstanding(&self) -> u64 {
        self.sent - self.gone
    }

    /// Whether so much more may leave. A frame may always go when nothing is on its way, however large it is.
    pub(crate) fn admits(&mut self, charge: u64) -> bool {
        let admitted = self.outstanding() == 0 || self.outstanding() + charge <= self.limit;
        self.was_full |= !admitted;
        admitted
    }

    /// Notes that so much leaves; gives its position.
    pub(crate) fn note_sent(&mut self, charge: u64) -> u64 {
        self.sent += charge;
        self.sent
    }

    /// Notes that what was sent up to `position` has been taken. The time is that between sending and the answer.
    pub(crate) fn note_gone(&mut self, position: u64, round_trip: Option<Duration>) {
        if let Some(sample) = round_trip {
            self.shortest = Some(self.shortest.map_or(sample, |shortest| shortest.min(sample)));
            let in_round = self.shortest_in_round;
            self.shortest_in_round = Some(in_round.map_or(sample, |shortest| shortest.min(sample)));
        }
        self.gone = self.gone.max(position.min(self.sent));
        if self.gone >= self.round_end && self.shortest_in_round.is_some() {
            self.end_round();
        }
    }

    /// Notes that something sent up to `position` was lost. Everything that was on its way by then counts as one loss.
    pub(crate) fn note_lost(&mut self, position: u64) {
        self.gone = self.gone.max(position.min(self.sent));
        if position > self.recovered {
            self.recovered = self.sent;
            self.slow_start = false;
            self.limit = (self.limit * 7 / 10).max(part(self.target, FLOOR)).max(SLOT_BYTES);
        }
    }

    /// Nothing was sent for so long that nothing waits there any more.
    pub(crate) fn settle(&mut self) {
        self.gone = self.sent;
    }

    /// The path may have become another one.
    pub(crate) fn forget_round_trips(&mut self) {
        (self.shortest, self.shortest_in_round) = (None, None);
    }

    fn end_round(&mut self) {
        let (was_full, in_round) = (std::mem::take(&mut self.was_full), self.shortest_in_round.take());
        self.round_end = self.sent;
        let (Some(shortest), Some(in_round), true) = (self.shortest, in_round, was_full) else { return };
        let (shortest, in_round) = (shortest.as_nanos().max(1), in_round.as_nanos().max(1));
        // So much of the window is explained by the length of the path; the rest waits in queues.
        let on_path = u128::from(self.limit) * u128::from(shortest) / u128::from(in_round);
        let on_path = u64::try_from(on_path).unwrap_or(self.limit).min(self.limit);
        let queued = self.limit - on_path;
        if queued > self.target {
            self.slow_start = false;
            self.limit = on_path + self.target;
        } else if queued < self.target / 2 {
            let more = if self.slow_start { self.limit } else { self.target / 8 };
            // Never so far that the growth alone could fill what is left of the neighbour's queue.
            self.limit += more.min(self.target - queued);
        } else {
            self.slow_start = false;
        }
        self.limit = self.limit.clamp(part(self.target, FLOOR).max(SLOT_BYTES), MAX_BYTES.max(self.target));
    }
}

fn part(whole: u64, (numerator, denominator): (u64, u64)) -> u64 {
    whole / denominator * numerator
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: u64 = 64 * SLOT_BYTES;

    #[test]
    fn frames_are_charged_what_linux_charges() {
        assert_eq!([60, 1400, 1600, 1601, 8800].map(charge), [2304, 2304, 2304, 4352, 16_640]);
    }

    /// Sends whatever is admitted, and has it all taken after the path's delay and the neighbour's work.
    fn rounds(window: &mut Window, count: u32, path: Duration, service: Duration) {
        for _ in 0..count {
            let mut sent = 0;
            while window.admits(SLOT_BYTES) {
                window.note_sent(SLOT_BYTES);
                sent += 1;
            }
            let end = window.sent;
            window.note_gone(end, Some(path.max(service * sent)));
        }
    }

    #[test]
    fn a_neighbour_nearby_never_gets_more_than_the_target_at_once() {
        let mut window = Window::new(TARGET);
        window.note_gone(0, Some(Duration::from_micros(100)));
        for _ in 0..100 {
            rounds(&mut window, 1, Duration::from_micros(50), Duration::from_micros(90));
            assert!(window.limit() <= TARGET, "{}", window.limit() / SLOT_BYTES);
        }
        assert!(window.limit() >= TARGET / 2);
    }

    #[test]
    fn a_long_path_is_filled() {
        let mut window = Window::new(TARGET);
        let (path, service) = (Duration::from_millis(50), Duration::from_micros(10));
        rounds(&mut window, 200, path, service);
        // 50 ms of 10 µs are 5,000 frames.
        assert!(window.limit() > 4500 * SLOT_BYTES, "{}", window.limit() / SLOT_BYTES);
        assert!(window.limit() < 5200 * SLOT_BYTES, "{}", window.limit() / SLOT_BYTES);
    }

    #[test]
    fn losses_of_one_flight_make_the_window_smaller_once_and_never_close_it() {
        let mut window = Window::new(TARGET);
        while window.admits(SLOT_BYTES) {
            window.note_sent(SLOT_BYTES);
        }
        let before = window.limit();
        for position in 1..20 {
            window.note_lost(position * SLOT_BYTES);
        }
        assert_eq!(window.limit(), before * 7 / 10);
        for _ in 0..100 {
            let position = window.note_sent(SLOT_BYTES);
            window.note_lost(position);
        }
        assert_eq!(window.limit(), TARGET / 8 * 3);
        assert_eq!(window.outstanding(), 0);
    }
}
