//! Which frames a path carries: datagram packetization layer path MTU discovery (RFC 8899).
//!
//! The configured MTU is believed at first. As soon as frames above the base leave, a probe of that size asks
//! whether it arrives. If three do not and one of the base size does, large datagrams vanish on the way: the
//! MTU falls to the base and is searched for from there. If not even the base arrives, the same is done from
//! the least size that every path carries. A neighbour that answers no probe at all tells nothing, and
//! nothing changes.

use packet::time::{Duration, Instant};

/// A size that nearly every path carries, in fragments or whole (RFC 8899, section 5.1.2).
pub(crate) const BASE_BYTES: usize = 1200;
/// What every path of IPv4 carries: 576 bytes, less the headers of IP and UDP (RFC 791, section 3.1).
const MIN_BYTES: usize = 548;
/// Probes of one size before it counts as lost.
const MAX_PROBES: u32 = 3;
/// The search ends when it is known to so many bytes.
const RESOLUTION_BYTES: usize = 32;
/// How often the MTU in use is probed while large frames leave: for as long a path that has come to carry
/// less swallows what is larger.
const CONFIRM_INTERVAL: Duration = Duration::from_secs(2);
/// How long a smaller MTU is kept before a larger one is tried.
const RAISE_INTERVAL: Duration = Duration::from_secs(600);
/// How long a neighbour that answers nothing is left alone.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// Probes go on while the latest large frame is no older.
const IN_USE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(crate) struct PathMtu {
    /// What the transport and the operator allow.
    top: usize,
    /// What is used.
    current: usize,
    phase: Phase,
    /// Unanswered probes of the size at hand.
    unanswered: u32,
    in_flight: bool,
    next_probe: Instant,
    raise_at: Instant,
    last_large: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Probes what is in use.
    Confirm,
    /// What is in use got no answer; probes the base.
    Base,
    /// The base got no answer either; probes the least.
    Least,
    /// Between a size that arrives and one that does not.
    Search { arrives: usize, lost: usize },
    /// Probes the top, after a long time with less.
    Raise,
}

impl PathMtu {
    pub(crate) fn new(top: usize) -> Self {
        PathMtu {
            top,
            current: top,
            phase: Phase::Confirm,
            unanswered: 0,
            in_flight: false,
            next_probe: Instant::ZERO,
            raise_at: Instant::NEVER,
            last_large: None,
        }
    }

    /// The largest frame to send.
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// What the configuration allows.
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// When a probe is next due while large frames leave; never where none is, or while one is under way.
    pub(crate) fn next_probe(&self) -> Instant {
        if self.in_flight || self.top <= BASE_BYTES { Instant::NEVER } else { self.next_probe }
    }

    /// Notes that a frame leaves.
    pub(crate) fn note_sent(&mut self, now: Instant, frame_len: usize) {
        // What was cut because the path takes no more counts, too.
        if frame_len > BASE_BYTES || (self.current < self.top && frame_len + 100 > self.current) {
            self.last_large = Some(now);
        }
    }

    /// The size of a probe that should leave now.
    pub(crate) fn wants_probe(&mut self, now: Instant) -> Option<usize> {
        let in_use = self.last_large.is_some_and(|last| now.saturating_since(last) <= IN_USE);
        if self.in_flight || !in_use || now < self.next_probe || self.top <= BASE_BYTES {
            return None;
        }
        if self.phase == Phase::Confirm && self.raise_at <= now {
            self.phase = Phase::Raise;
        }
        Some(match self.phase {
            Phase::Confirm => self.current,
            Phase::Base => BASE_BYTES,
            Phase::Least => MIN_BYTES,
            Phase::Search { arrives, lost } => arrives.midpoint(lost),
            Phase::Raise => self.top,
        })
    }

    /// Notes that the probe has left.
    pub(crate) fn note_probe(&mut self) {
        self.in_flight = true;
    }

    /// The probe has been answered. True if the MTU has changed.
    pub(crate) fn handle_answer(&mut self, now: Instant, size: usize) -> bool {
        self.in_flight = false;
        self.unanswered = 0;
        let before = self.current;
        match self.phase {
            Phase::Confirm => self.next_probe = now + CONFIRM_INTERVAL,
            Phase::Base => self.search_from(now, BASE_BYTES, self.current),
            Phase::Least => self.search_from(now, MIN_BYTES, self.current.min(BASE_BYTES)),
            Phase::Search { lost, .. } => {
                self.current = size.min(self.top);
                self.phase = Phase::Search { arrives: self.current, lost };
                self.search_on(now);
            }
            Phase::Raise => {
                self.current = self.top;
                self.rest(now, Instant::NEVER);
            }
        }
        self.current != before
    }

    /// The probe has not been answered in time. True if the MTU has changed.
    pub(crate) fn handle_silence(&mut self, now: Instant, size: usize) -> bool {
        self.in_flight = false;
        self.unanswered += 1;
        if self.unanswered < MAX_PROBES {
            return false;
        }
        self.unanswered = 0;
        match self.phase {
            // There is nothing to fall back to.
            Phase::Confirm if self.current <= MIN_BYTES => self.next_probe = now + RETRY_INTERVAL,
            Phase::Confirm if self.current <= BASE_BYTES => self.phase = Phase::Least,
            Phase::Confirm => self.phase = Phase::Base,
            Phase::Base => self.phase = Phase::Least,
            Phase::Least => {
                self.phase = Phase::Confirm;
                self.next_probe = now + RETRY_INTERVAL;
            }
            Phase::Search { arrives, .. } => {
                self.phase = Phase::Search { arrives, lost: size };
                self.search_on(now);
            }
            Phase::Raise => self.rest(now, now + RAISE_INTERVAL),
        }
        false
    }

    /// So much arrives and `lost` does not: it is used, and more is looked for.
    fn search_from(&mut self, now: Instant, arrives: usize, lost: usize) {
        self.phase = Phase::Search { arrives, lost };
        self.current = arrives;
        self.search_on(now);
    }

    fn search_on(&mut self, now: Instant) {
        if let Phase::Search { arrives, lost } = self.phase
            && lost <= arrives + RESOLUTION_BYTES
        {
            self.rest(now, now + RAISE_INTERVAL);
        }
    }

    fn rest(&mut self, now: Instant, raise_at: Instant) {
        self.phase = Phase::Confirm;
        self.raise_at = raise_at;
        self.next_probe = now + CONFIRM_INTERVAL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes of a path that carries so much, until it rests; gives how many there were.
    fn explore(mtu: &mut PathMtu, now: &mut Instant, carries: usize) -> u32 {
        let mut probes = 0;
        mtu.note_sent(*now, 8800);
        while let Some(size) = mtu.wants_probe(*now) {
            mtu.note_probe();
            probes += 1;
            *now += Duration::from_millis(200);
            mtu.note_sent(*now, 8800);
            if size <= carries {
                mtu.handle_answer(*now, size);
            } else {
                mtu.handle_silence(*now, size);
            }
            assert!(probes < 100, "no end of probes");
        }
        probes
    }

    #[test]
    fn whatever_the_path_carries_is_found_and_a_path_that_carries_all_costs_one_probe() {
        for carries in [548, 600, 972, 1199, 1200, 1280, 1400, 1472, 1500, 4000, 8799] {
            let (mut mtu, mut now) = (PathMtu::new(8800), Instant::from_secs(1));
            let probes = explore(&mut mtu, &mut now, carries);
            assert!(
                mtu.current() <= carries && mtu.current() + 32 >= carries,
                "{carries}: {}",
                mtu.current()
            );
            assert!(probes < 40, "{probes} probes for {carries}");
        }
        let (mut mtu, mut now) = (PathMtu::new(8800), Instant::from_secs(1));
        assert_eq!(explore(&mut mtu, &mut now, 8800), 1);
        assert_eq!(mtu.current(), 8800);
    }

    #[test]
    fn a_neighbour_that_answers_nothing_changes_nothing_and_is_left_alone_for_a_minute() {
        let (mut mtu, mut now) = (PathMtu::new(8800), Instant::from_secs(1));
        assert_eq!(explore(&mut mtu, &mut now, 0), 3 * MAX_PROBES);
        assert_eq!(mtu.current(), 8800);
        now += Duration::from_secs(59);
        assert_eq!(explore(&mut mtu, &mut now, 0), 0);
        now += Duration::from_secs(1);
        assert_eq!(explore(&mut mtu, &mut now, 0), 3 * MAX_PROBES);
    }

    #[test]
    fn the_mtu_rises_again_when_the_path_has_become_better_and_falls_when_it_has_become_worse() {
        let (mut mtu, mut now) = (PathMtu::new(8800), Instant::from_secs(1));
        explore(&mut mtu, &mut now, 1400);
        let fallen = mtu.current();
        now += RAISE_INTERVAL.saturating_sub(Duration::from_secs(60));
        explore(&mut mtu, &mut now, 8800);
        assert_eq!(mtu.current(), fallen);
        now += Duration::from_secs(120);
        explore(&mut mtu, &mut now, 8800);
        assert_eq!(mtu.current(), 8800);
        now += CONFIRM_INTERVAL;
        explore(&mut mtu, &mut now, 1300);
        assert!(mtu.current() <= 1300);
        now += CONFIRM_INTERVAL;
        explore(&mut mtu, &mut now, 600);
        assert!((MIN_BYTES..=600).contains(&mtu.current()), "{}", mtu.current());
    }

    #[test]
    fn small_frames_cause_no_probes() {
        let mut mtu = PathMtu::new(8800);
        mtu.note_sent(Instant::from_secs(1), BASE_BYTES);
        assert_eq!(mtu.wants_probe(Instant::from_secs(1)), None);
    }
}
