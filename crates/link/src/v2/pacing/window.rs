//! How much may be on its way to a neighbour: what its socket holds, and what the path does.

use packet::time::{Duration, Instant};

/// Kernel memory that a datagram takes in the queue of a socket: its bytes with headers, rounded up as Linux
/// rounds them, and what is kept about it. The smallest is charged as a frame of 1,500 bytes, because other
/// receivers, such as rings of packet sockets, count slots.
pub(crate) fn charge(frame_len: usize) -> u64 {
    let block = (frame_len + 448).max(SMALLEST_BLOCK).checked_next_power_of_two().unwrap_or(frame_len);
    (block + 256) as u64
}

const SMALLEST_BLOCK: usize = 2048;
/// What the smallest frame is charged with.
pub(crate) const SLOT_BYTES: u64 = 2304;

/// A window that keeps a queue of about the target in front of the neighbour and no more.
///
/// Positions count what was charged since the beginning. Whatever was sent before a frame that has been
/// answered has left the neighbour's queue, or was lost; either way it is there no longer.
///
/// A queue and a long path look alike, and the shortest round trip may have been one through a queue. So the
/// window grows by small steps, while round trips are even, and stays larger only if so much more arrives:
/// then the path was what took the time. When round trips get longer by more than the target explains, it
/// shrinks, as TCP Vegas' does.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    limit: u64,
    /// What may stand in the neighbour's queue.
    target: u64,
    sent: u64,
    gone: u64,
    /// The largest frame of late.
    largest: u64,
    round: Round,
    /// Losses before this position have been answered for.
    recovered: u64,
    shortest: Option<Duration>,
    /// Rounds in a row with even round trips.
    even_rounds: u32,
    trial: Option<Trial>,
    /// Rounds until the next trial.
    hold: u32,
    /// A trial of a target more has shown that the path is long, and nothing was lost since: the window
    /// grows without more trials.
    opening: Option<Opening>,
    /// Bytes in a second that arrived in the round before.
    last_rate: f64,
    /// How long its round trip was.
    last_round_trip: Duration,
}

/// What has happened since the last round trip ended.
#[derive(Clone, Debug, Default)]
struct Round {
    /// When this position is gone, it ends.
    end: u64,
    began_at: Instant,
    gone_before: u64,
    /// Whether something had to wait.
    was_full: bool,
    shortest: Option<Duration>,
}

/// A larger window, and what the smaller one brought.
#[derive(Clone, Copy, Debug)]
struct Trial {
    limit_before: u64,
    /// Bytes in a second.
    rate_before: f64,
    round_trip_before: Duration,
    rounds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Grows,
    /// For a round in which answers come to what left before.
    Waits,
}

/// The window starts with, and seldom falls below, these parts of the target.
const START_EIGHTHS: u64 = 7;
const FLOOR_EIGHTHS: u64 = 3;
/// The largest window, and the largest target, whatever a neighbour says of its socket.
const MAX_BYTES: u64 = 64 << 20;
/// A window grows by this part of itself at a time.
const STEP: u64 = 8;
/// Rounds that a trial takes, and that are waited for after one that failed.
const TRIAL_ROUNDS: u32 = 3;
const HOLD_ROUNDS: u32 = 16;

impl Window {
    pub(crate) fn new(target: u64) -> Self {
        let target = target.clamp(2 * SLOT_BYTES, MAX_BYTES);
        Window {
            limit: eighths(target, START_EIGHTHS),
            target,
            sent: 0,
            gone: 0,
            largest: 0,
            round: Round::default(),
            recovered: 0,
            shortest: None,
            even_rounds: 0,
            trial: None,
            hold: 0,
            opening: None,
            last_rate: 0.0,
            last_round_trip: Duration::ZERO,
        }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// What may stand in the neighbour's queue.
    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// Learns how much the neighbour's queue takes.
    pub(crate) fn set_target(&mut self, target: u64) {
        let target = target.clamp(2 * SLOT_BYTES, MAX_BYTES);
        if self.target != target {
            self.target = target;
            self.limit = eighths(target, START_EIGHTHS).max(self.limit.min(target));
            self.trial = None;
        }
    }

    pub(crate) fn outstanding(&self) -> u64 {
        self.sent - self.gone
    }

    /// Whether so much more may leave. A frame may always go when nothing is on its way, however large it is.
    pub(crate) fn admits(&mut self, charge: u64) -> bool {
        let admitted = self.outstanding() == 0 || self.outstanding() + charge <= self.limit;
        self.round.was_full |= !admitted;
        admitted
    }

    /// Notes that so much leaves; gives its position.
    pub(crate) fn note_sent(&mut self, charge: u64) -> u64 {
        self.sent += charge;
        self.largest = charge.max(self.largest / 64 * 63);
        self.sent
    }

    /// Notes that what was sent up to `position` has been taken. The time is that between sending and the
    /// answer.
    pub(crate) fn note_gone(&mut self, now: Instant, position: u64, round_trip: Option<Duration>) {
        self.gone = self.gone.max(position.min(self.sent));
        if let Some(sample) = round_trip {
            // A base that was too long makes the rounds before it worthless.
            if self.shortest.is_none_or(|shortest| sample * 10 < shortest * 9) {
                self.even_rounds = 0;
            }
            self.shortest = Some(self.shortest.map_or(sample, |shortest| shortest.min(sample)));
            let in_round = self.round.shortest;
            self.round.shortest = Some(in_round.map_or(sample, |shortest| shortest.min(sample)));
        }
        if self.gone >= self.round.end && self.round.shortest.is_some() {
            self.end_round(now);
        }
    }

    /// Notes that something sent up to `position` was lost. Everything that was on its way by then counts as
    /// one loss.
    pub(crate) fn note_lost(&mut self, position: u64) {
        self.gone = self.gone.max(position.min(self.sent));
        if position > self.recovered {
            self.recovered = self.sent;
            self.opening = None;
            let before = self.trial.take().map_or(self.limit, |trial| trial.limit_before);
            self.hold = HOLD_ROUNDS;
            self.set_limit(before / 10 * 7);
        }
    }

    /// Nothing was sent for so long that nothing waits there any more.
    pub(crate) fn settle(&mut self) {
        self.gone = self.sent;
    }

    /// The path may have become another one.
    pub(crate) fn forget_round_trips(&mut self) {
        (self.shortest, self.round.shortest, self.even_rounds) = (None, None, 0);
        self.opening = None;
    }

    fn set_limit(&mut self, limit: u64) {
        let floor = eighths(self.target, FLOOR_EIGHTHS).max(SLOT_BYTES);
        self.limit = limit.clamp(floor, MAX_BYTES);
    }

    fn end_round(&mut self, now: Instant) {
        let next = Round { end: self.sent, began_at: now, gone_before: self.gone, ..Round::default() };
        let round = std::mem::replace(&mut self.round, next);
        let (Some(shortest), Some(in_round)) = (self.shortest, round.shortest) else { return };
        if !round.was_full {
            self.even_rounds = 0;
            return;
        }
        let elapsed = now.saturating_since(round.began_at).as_secs_f64().max(1e-9);
        // Over two rounds, for what arrives in one may be counted in the next.
        let this_rate = (self.gone - round.gone_before) as f64 / elapsed;
        let last_rate = std::mem::replace(&mut self.last_rate, this_rate);
        let rate = if last_rate > 0.0 { (this_rate + last_rate) / 2.0 } else { this_rate };
        // So much of the window is explained by the length of the path; the rest waits in queues.
        let on_path = (self.limit as f64 * shortest.as_secs_f64() / in_round.as_secs_f64().max(1e-9)) as u64;
        let queued = self.limit.saturating_sub(on_path);
        if queued > self.target {
            self.trial = None;
            self.opening = None;
            return self.set_limit(on_path + self.target);
        }
        let last = std::mem::replace(&mut self.last_round_trip, in_round);
        let is_even = in_round * 4 <= last * 5 && last * 4 <= in_round * 5;
        self.even_rounds = if is_even { self.even_rounds + 1 } else { 0 };
        if self.opening.is_some() {
            return self.open(queued);
        }
        self.try_more(rate, queued, in_round);
    }

    /// The base is that of a long path, so a queue shows, but not before what left after the last step has
    /// been answered. A window that is a target larger than the path needs puts no more than that into
    /// the queue.
    fn open(&mut self, queued: u64) {
        if queued > self.target / 4 {
            (self.opening, self.hold) = (None, HOLD_ROUNDS);
            return;
        }
        self.opening = match self.opening {
            Some(Opening::Waits) => Some(Opening::Grows),
            _ => {
                self.set_limit(self.limit + self.target / 4 * 3);
                Some(Opening::Waits)
            }
        };
    }

    fn try_more(&mut self, rate: f64, queued: u64, round_trip: Duration) {
        // Where few frames fill the window, less than two would not show.
        let mut step = (self.limit / STEP).max(self.largest).min(self.target / 4);
        if let Some(trial) = &mut self.trial {
            trial.rounds += 1;
            if trial.rounds < TRIAL_ROUNDS {
                return;
            }
            let growth = self.limit as f64 / trial.limit_before.max(1) as f64 - 1.0;
            if rate < trial.rate_before * (1.0 + growth * 0.4) {
                (self.limit, self.hold) = (trial.limit_before, HOLD_ROUNDS);
                self.trial = None;
                return;
            }
            let is_flat = round_trip * 20 <= trial.round_trip_before * 21;
            let was_large = self.limit - trial.limit_before >= self.target / 10 * 9;
            self.trial = None;
            // More arrived, and no later: all of this is on the path, and there is room for as much as the
            // queue takes.
            if is_flat && was_large {
                return self.open(queued);
            }
            if is_flat {
                step = step.max(self.target);
            }
        }
        self.hold = self.hold.saturating_sub(1);
        if self.hold > 0 || self.even_rounds < 2 || queued > self.target / 2 {
            return;
        }
        self.trial = Some(Trial {
            limit_before: self.limit,
            rate_before: rate,
            round_trip_before: round_trip,
            rounds: 0,
        });
        self.set_limit(self.limit + step);
    }
}

fn eighths(whole: u64, count: u64) -> u64 {
    whole / 8 * count
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
    fn rounds(window: &mut Window, now: &mut Instant, count: u32, path: Duration, service: Duration) {
        for _ in 0..count {
            let mut sent = 0;
            while window.admits(SLOT_BYTES) {
                window.note_sent(SLOT_BYTES);
                sent += 1;
            }
            let (end, round_trip) = (window.sent, path.max(service * sent));
            *now += round_trip;
            window.note_gone(*now, end, Some(round_trip));
        }
    }

    #[test]
    fn a_neighbour_nearby_never_gets_more_than_its_socket_holds_though_the_base_was_measured_in_a_queue() {
        let (mut window, mut now) = (Window::new(TARGET), Instant::from_secs(1));
        for _ in 0..1000 {
            rounds(&mut window, &mut now, 1, Duration::from_micros(50), Duration::from_micros(90));
            assert!(window.limit() <= TARGET, "{}", window.limit() / SLOT_BYTES);
        }
        assert!(window.limit() >= TARGET / 2);
    }

    #[test]
    fn a_long_path_is_filled() {
        let (mut window, mut now) = (Window::new(TARGET), Instant::from_secs(1));
        let (path, service) = (Duration::from_millis(50), Duration::from_micros(10));
        rounds(&mut window, &mut now, 300, path, service);
        // 50 ms of 10 µs are 5,000 frames.
        assert!(window.limit() > 4000 * SLOT_BYTES, "{}", window.limit() / SLOT_BYTES);
        assert!(window.limit() < 6500 * SLOT_BYTES, "{}", window.limit() / SLOT_BYTES);
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
        assert_eq!(window.limit(), before / 10 * 7);
        for _ in 0..100 {
            let position = window.note_sent(SLOT_BYTES);
            window.note_lost(position);
        }
        assert!(window.limit() >= TARGET / 8 * 3);
        assert_eq!(window.outstanding(), 0);
    }
}
