//! Wake-ups in which there was nothing to do.
//!
//! The system says that a socket is ready, and then nothing can be read, written or accepted there: once is
//! chance, again and again is an error that nobody clears, and would take a whole processor for ever. Such a
//! socket is left alone for a moment, which doubles each time up to a few seconds, until there is something
//! to do again. A deadline that is past and stays past is treated alike.

use std::collections::HashMap;

use packet::DoublingWait;
use packet::time::{Duration, Instant};
use rustix::event::epoll;

use crate::plane::{DataPlane, Token};

/// Wake-ups without work, one after another, after which a socket rests.
const MAX_IN_A_ROW: u32 = 100;
/// Turns for a deadline, one after another, that leave it in the past.
const MAX_OVERDUE_IN_A_ROW: u32 = 10_000;
const FIRST_BACK_OFF: Duration = Duration::from_millis(10);
const MAX_BACK_OFF: Duration = Duration::from_secs(10);
/// How long the data plane sleeps in spite of a deadline that stays past.
const OVERDUE_INTERVAL: Duration = Duration::from_millis(1);

/// What is known about sockets that wake the data plane for nothing.
#[derive(Debug, Default)]
pub(in crate::plane) struct Watchdog {
    idle_sources: HashMap<Token, IdleSource>,
    /// Turns in a row that did nothing about a deadline in the past.
    overdue: u32,
    idle_wakeups: u64,
    rests: u64,
}

#[derive(Debug)]
struct IdleSource {
    in_a_row: u32,
    next_rest: DoublingWait,
    /// When it is watched again, if it rests.
    rests_until: Option<Instant>,
}

impl Watchdog {
    /// Wake-ups so far in which nothing was read, written, accepted or due.
    pub(in crate::plane) fn idle_wakeups(&self) -> u64 {
        self.idle_wakeups
    }

    /// How often a socket was left alone for a while because of them.
    pub(in crate::plane) fn rests(&self) -> u64 {
        self.rests
    }

    /// A socket woke the data plane and there was something to do.
    #[inline]
    pub(in crate::plane) fn worked(&mut self, token: Token) {
        if !self.idle_sources.is_empty() {
            self.idle_sources.remove(&token);
        }
    }

    /// A socket woke the data plane for nothing. How long it is to rest, if it is.
    #[cold]
    pub(in crate::plane) fn idled(&mut self, token: Token, now: Instant) -> Option<Duration> {
        self.idle_wakeups += 1;
        let fresh = || IdleSource {
            in_a_row: 0,
            next_rest: DoublingWait::new(FIRST_BACK_OFF, MAX_BACK_OFF),
            rests_until: None,
        };
        let source = self.idle_sources.entry(token).or_insert_with(fresh);
        source.in_a_row += 1;
        if source.in_a_row < MAX_IN_A_ROW {
            return None;
        }
        // It is not forgotten: the next time once is enough.
        source.in_a_row = MAX_IN_A_ROW - 1;
        let rest = source.next_rest.take();
        source.rests_until = Some(now + rest);
        self.rests += 1;
        Some(rest)
    }

    /// When the next socket is to be watched again.
    pub(in crate::plane) fn next_deadline(&self) -> Instant {
        self.idle_sources.values().filter_map(|source| source.rests_until).min().unwrap_or(Instant::NEVER)
    }

    /// Sockets that have rested long enough.
    fn rested(&mut self, now: Instant) -> Vec<Token> {
        let due =
            self.idle_sources.iter_mut().filter(|(_, source)| source.rests_until.is_some_and(|at| at <= now));
        due.map(|(token, source)| {
            source.rests_until = None;
            *token
        })
        .collect()
    }

    /// How long to sleep when a deadline is past; `had_events` says that the last turn had other work.
    pub(in crate::plane) fn overdue(&mut self, had_events: bool) -> Duration {
        self.overdue = if had_events { 0 } else { self.overdue.saturating_add(1) };
        if self.overdue < MAX_OVERDUE_IN_A_ROW {
            return Duration::ZERO;
        }
        self.idle_wakeups += 1;
        OVERDUE_INTERVAL
    }

    /// Deadlines lie in the future again.
    pub(in crate::plane) fn in_time(&mut self) {
        self.overdue = 0;
    }

    /// A socket was put in the place of another: nothing is held against it.
    pub(in crate::plane) fn trust_anew(&mut self, token: Token) {
        self.worked(token);
    }
}

impl DataPlane {
    /// A socket was said to be ready, and there was nothing to do.
    #[cold]
    pub(in crate::plane) fn note_idle(&mut self, token: Token) {
        let Some(rest) = self.schedule.watchdog.idled(token, self.now) else { return };
        let seconds = rest.as_secs_f64();
        tracing::warn!(?token, seconds, "a socket wakes the node for nothing and is left alone for a while");
        if let Some((socket, _)) = self.source_of(token) {
            // One that is not watched has been left alone already.
            let _ = epoll::delete(&self.sockets.epoll, socket);
        }
    }

    /// Watches sockets again that have rested.
    pub(in crate::plane) fn end_rests(&mut self) {
        if self.schedule.watchdog.next_deadline() > self.now {
            return;
        }
        for token in self.schedule.watchdog.rested(self.now) {
            let Some((socket, flags)) = self.source_of(token) else {
                self.schedule.watchdog.worked(token);
                continue;
            };
            // A socket that was made anew meanwhile is watched already.
            let _ = epoll::add(&self.sockets.epoll, socket, token.to_data(), flags);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET: Token = Token::Listener(1);

    #[test]
    fn a_socket_that_wakes_for_nothing_again_and_again_rests_ever_longer() {
        let mut watchdog = Watchdog::default();
        let mut now = Instant::from_nanos(0);
        for _ in 1..MAX_IN_A_ROW {
            assert_eq!(watchdog.idled(SOCKET, now), None);
        }
        let mut expected = FIRST_BACK_OFF;
        for _ in 0..20 {
            assert_eq!(watchdog.idled(SOCKET, now), Some(expected));
            assert_eq!(watchdog.next_deadline(), now + expected);
            assert_eq!(watchdog.rested(now), []);
            now += expected;
            assert_eq!(watchdog.rested(now), [SOCKET]);
            expected = (expected * 2).min(MAX_BACK_OFF);
        }
        assert_eq!((watchdog.rests(), watchdog.idle_wakeups()), (20, u64::from(MAX_IN_A_ROW) + 19));
    }

    #[test]
    fn work_in_between_clears_a_socket() {
        let mut watchdog = Watchdog::default();
        let now = Instant::from_nanos(0);
        for _ in 0..10 {
            for _ in 1..MAX_IN_A_ROW {
                assert_eq!(watchdog.idled(SOCKET, now), None);
            }
            watchdog.worked(SOCKET);
        }
        assert_eq!((watchdog.rests(), watchdog.next_deadline()), (0, Instant::NEVER));
    }

    #[test]
    fn a_deadline_that_stays_past_is_slept_on_in_the_end_and_one_with_other_work_is_not() {
        let mut watchdog = Watchdog::default();
        let slept =
            (0..2 * MAX_OVERDUE_IN_A_ROW).filter(|_| watchdog.overdue(false) > Duration::ZERO).count();
        assert_eq!(slept, MAX_OVERDUE_IN_A_ROW as usize + 1);
        watchdog.in_time();
        assert!(
            (0..2 * MAX_OVERDUE_IN_A_ROW).all(|number| watchdog.overdue(number % 2 == 0) == Duration::ZERO)
        );
    }
}
