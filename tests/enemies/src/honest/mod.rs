//! People who only want their packets: they ask at a steady rate, repeat nothing, and write down what came
//! of it.

mod consumer;
mod line;
mod newcomer;
mod producer;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::figures::Figures;

pub(crate) use consumer::{Habits, consume};
pub(crate) use line::Line;
pub(crate) use newcomer::{Protocol, first_answer};
pub(crate) use producer::{produce, produce_store};

/// What honest people ask for, with a number below.
pub(crate) const LOCAL: &str = "/honest/local";
/// What the neighbour asks for.
pub(crate) const REMOTE: &str = "/honest/remote";
/// What newcomers ask for.
pub(crate) const NEW: &str = "/honest/new";
/// What the producers answer to.
pub(crate) const HONEST: &str = "/honest";
/// Content of which there is much, for whoever wants to fill the store.
pub(crate) const STORE: &str = "/store";
/// A prefix with a route to a neighbour who never answers.
pub(crate) const SILENT: &str = "/silent";

/// How the content of a good answer starts; the number follows.
pub(crate) const SEAL: &[u8] = b"honest answer to ";

/// What is going on, so that each exchange counts where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Nothing that counts.
    Pause = 0,
    /// Before the attack.
    Quiet = 1,
    /// During it.
    Attack = 2,
    /// When the attacker has been away for a while.
    After = 3,
}

impl Phase {
    const ALL: [Phase; 4] = [Phase::Pause, Phase::Quiet, Phase::Attack, Phase::After];
}

/// The phase that there is now, for all threads.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU8);

impl Clock {
    pub(crate) fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Phase {
        let number = usize::from(self.0.load(Ordering::Relaxed));
        Phase::ALL.get(number).copied().unwrap_or(Phase::Pause)
    }
}

/// Which numbers honest people will ask for next. Names are guessable, and the attacker is given the best
/// guess there is.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    local: AtomicU64,
    remote: AtomicU64,
}

impl Numbers {
    fn of(&self, prefix: &str) -> &AtomicU64 {
        if prefix == LOCAL { &self.local } else { &self.remote }
    }

    /// The number to be asked for now.
    fn take(&self, prefix: &str) -> u64 {
        self.of(prefix).fetch_add(1, Ordering::Relaxed)
    }

    /// The number that will be asked for next.
    pub(crate) fn next(&self, prefix: &str) -> u64 {
        self.of(prefix).load(Ordering::Relaxed)
    }
}

/// What a consumer has written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book(Arc<Mutex<BTreeMap<Phase, Figures>>>);

impl Book {
    fn write(&self, phase: Phase, entry: impl FnOnce(&mut Figures)) {
        let mut pages = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        entry(pages.entry(phase).or_default());
    }

    pub(crate) fn read(&self, phase: Phase) -> Figures {
        let pages = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        pages.get(&phase).cloned().unwrap_or_default()
    }
}
