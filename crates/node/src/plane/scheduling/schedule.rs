//! When the data plane works, and on what.

use std::collections::BTreeSet;

use engine::FaceId;
use packet::time::Instant;
use rustix::event::epoll;

use crate::plane::packets::fair_turn::Turn;
use crate::plane::scheduling::busy_poll::Waking;
use crate::plane::scheduling::watchdog::Watchdog;

/// What decides when the data plane wakes, and how its time is shared out.
pub(in crate::plane) struct Schedule {
    /// When faces want attention, soonest first. An entry counts only if it is its face's alarm.
    pub(in crate::plane) alarms: BTreeSet<(Instant, FaceId)>,
    /// What each source took of this turn.
    pub(in crate::plane) turn: Turn,
    /// What is ready and comes after all else that is.
    pub(in crate::plane) put_off: Vec<epoll::Event>,
    pub(in crate::plane) waking: Waking,
    /// Looks for sources that are ready again and again and bring nothing.
    pub(in crate::plane) watchdog: Watchdog,
    /// When the log next says that a path carries frames of another size.
    pub(in crate::plane) next_path_mtu_told: Instant,
}

impl Schedule {
    pub(in crate::plane) fn new(now: Instant) -> Self {
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
