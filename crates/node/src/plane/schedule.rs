//! When the data plane works, and on what.

use std::collections::BTreeSet;

use engine::FaceId;
use packet::time::Instant;
use rustix::event::epoll;

use super::busy_poll::Waking;
use super::turn::Turn;
use super::watchdog::Watchdog;

/// What decides when the data plane wakes, and how its time is shared out.
pub(super) struct Schedule {
    /// When faces want attention, soonest first. An entry counts only if it is its face's alarm.
    pub(super) alarms: BTreeSet<(Instant, FaceId)>,
    /// What each source took of this turn.
    pub(super) turn: Turn,
    /// What is ready and comes after all else that is.
    pub(super) put_off: Vec<epoll::Event>,
    pub(super) waking: Waking,
    /// Looks for sources that are ready again and again and bring nothing.
    pub(super) watchdog: Watchdog,
    /// When the log next says that a path carries frames of another size.
    pub(super) next_path_mtu_told: Instant,
}

impl Schedule {
    pub(super) fn new(now: Instant) -> Self {
        Schedule {
            alarms: BTreeSet::new(),
            turn: Turn::default(),
            put_off: Vec::new(),
            waking: Waking::new(now),
            watchdog: Watchdog::default(),
            next_path_mtu_told: now,
        }
    }
}
