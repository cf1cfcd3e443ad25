//! No command is carried out twice, whatever clocks do.

use std::collections::{BTreeMap, BTreeSet};

use management::CommandSignature;
use packet::time::{Duration, Instant};
use packet::{Name, NameRef, Now};

use super::authorization_error::CommandTimeError;

/// Refuses commands that were given before.
///
/// The time in a signature must be near to now, later than the start of the node, and later than what is
/// remembered of its key. Times ahead of now count one by one and not as the last one, so that a clock that
/// was ahead and is put right locks nobody out. When the node's own clock is put back, what is remembered
/// lies in the future: then only the very times that were used are refused.
///
/// At the limit the key that was not used for longest is forgotten, and its last time counts for all keys of
/// which nothing is remembered.
#[derive(Clone, Debug, Default)]
pub struct ReplayGuard {
    pub(super) keys: BTreeMap<Name, History>,
    /// For keys of which nothing is remembered: times up to this are those of commands from before, beside
    /// all from before the start.
    min_ms: u64,
    /// When the node started, by the clock that is never put right.
    started: Option<Instant>,
    /// When the clock was looked at last, and what it said.
    seen: Option<Now>,
    /// Up to then, by the clock as it goes since it was put back, it had not been: a command that says so was
    /// given before, by the clock of then.
    put_back_ms: u64,
    /// Times of commands that the node before carried out, whoever gave them: refused one by one.
    carried_out_ms: BTreeSet<u64>,
    /// The latest time in a command that was carried out.
    latest_ms: u64,
    /// When to look whether the clock was put back behind that; never long after the last command.
    look_at: Option<Instant>,
    /// When the last command was carried out.
    used: Instant,
}

/// Times in commands that were carried out, as they outlive the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandTimes {
    /// All up to this count as carried out.
    pub(super) until_ms: u64,
    /// These, too.
    pub(super) times_ms: BTreeSet<u64>,
}

impl CommandTimes {
    /// Notes one more; of more than there is room for, the rest counts from the earliest on. False if it is
    /// known.
    pub(super) fn insert(&mut self, time_ms: u64) -> bool {
        let is_new = time_ms > self.until_ms && self.times_ms.insert(time_ms);
        while self.times_ms.len() > ReplayGuard::MAX_RECENT {
            self.until_ms = self.until_ms.max(self.times_ms.pop_first().unwrap_or(0));
        }
        is_new
    }
}

/// What is remembered of a key.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// All times up to this are refused.
    until_ms: u64,
    /// All times up to this are refused, and not known one by one.
    floor_ms: u64,
    /// The latest times that were used.
    recent_ms: BTreeSet<u64>,
    used: Instant,
}

impl ReplayGuard {
    /// How old a command may be, in milliseconds.
    pub const GRACE_MS: u64 = 120_000;
    /// How far ahead of now the time in a command may be, in milliseconds.
    pub const AHEAD_MS: u64 = 10_000;
    /// Keys remembered.
    pub const MAX_KEYS: usize = 1000;
    /// Times remembered of each one by one.
    pub const MAX_RECENT: usize = 64;
    /// How long a key is remembered that is not used.
    pub const KEY_LIFETIME: Duration = Duration::from_secs(3600);

    /// How often it is looked whether the clock was put back, while commands are as recent as they may be
    /// old; and for as long as a key is remembered.
    const CHECK_INTERVAL: Duration = Duration::from_secs(1);
    const LATER_INTERVAL: Duration = Duration::from_secs(30);
    /// A clock that goes back by less is corrected, and not put back.
    const STEP_MS: u64 = 1000;

    /// The node starts now: commands from before have been carried out, or not, by the one before it, which
    /// wrote down `before`.
    pub(super) fn start(&mut self, now: Now, before: &CommandTimes) {
        self.started = Some(now.instant);
        self.seen = Some(now);
        self.carried_out_ms.clone_from(&before.times_ms);
        let last_ms = before.until_ms;
        if last_ms > now.unix.as_millis().saturating_add(Self::AHEAD_MS) {
            let seconds = (last_ms - now.unix.as_millis()) / 1000;
            tracing::warn!(
                "the clock is {seconds} s behind the latest command that was carried out before: until it is \
                 put right, signed commands may be refused"
            );
        }
        let last_ms = last_ms.min(now.unix.as_millis().saturating_add(Self::AHEAD_MS));
        self.min_ms = self.min_ms.max(last_ms);
    }

    /// Gives the time in a command that is new.
    pub(super) fn check(
        &mut self,
        now: Now,
        key: NameRef<'_>,
        signature: &CommandSignature<'_>,
    ) -> Result<u64, CommandTimeError> {
        self.look_at_clock(now);
        let time_ms = signature.time_ms.ok_or(CommandTimeError::Missing)?;
        if now.unix.as_millis().saturating_sub(time_ms) > Self::GRACE_MS {
            return Err(CommandTimeError::TooOld);
        }
        if time_ms.saturating_sub(now.unix.as_millis()) > Self::AHEAD_MS {
            return Err(CommandTimeError::TooFarAhead);
        }
        if self.carried_out_ms.contains(&time_ms) {
            return Err(CommandTimeError::CarriedOutBefore);
        }
        // The clock was put back since the start.
        if self.min_ms > now.unix.as_millis().saturating_add(Self::AHEAD_MS) {
            self.min_ms = now.unix.as_millis();
        }
        let begin_ms = self.begin_ms(now);
        let history = self.keys.get_mut(&key.to_name());
        let history =
            history.filter(|history| now.instant.saturating_since(history.used) <= Self::KEY_LIFETIME);
        let Some(history) = history else {
            let min_ms = self.min_ms.max(begin_ms);
            return match time_ms <= min_ms {
                true => Err(CommandTimeError::BeforeStart),
                false => Ok(time_ms),
            };
        };
        history.catch_up(now, begin_ms);
        if time_ms <= history.until_ms || history.recent_ms.contains(&time_ms) {
            return Err(CommandTimeError::NotLater);
        }
        Ok(time_ms)
    }

    /// The times that were used and lie ahead of now: those of clocks that are ahead, and all since a clock
    /// that was ahead has been put back.
    pub(super) fn times_ahead(&self, now: Now) -> Vec<u64> {
        if self.latest_ms <= now.unix.as_millis() {
            return Vec::new();
        }
        let ahead = now.unix.as_millis().saturating_add(1);
        self.keys.values().flat_map(|history| history.recent_ms.range(ahead..).copied()).collect()
    }

    /// When to look at the clock again.
    pub(super) fn look_at(&self) -> Instant {
        self.look_at.unwrap_or(Instant::NEVER)
    }

    /// The clock was looked at.
    pub(super) fn note_look(&mut self, now: Now) {
        self.look_at_clock(now);
        let since = now.instant.saturating_since(self.used);
        let is_recent = since <= Duration::from_millis(Self::GRACE_MS);
        let interval = if is_recent { Self::CHECK_INTERVAL } else { Self::LATER_INTERVAL };
        self.look_at = (since <= Self::KEY_LIFETIME).then(|| now.instant + interval);
    }

    /// Notes whether the clock was put back since it was looked at last.
    fn look_at_clock(&mut self, now: Now) {
        let seen = self.seen.filter(|seen| seen.instant <= now.instant);
        if let Some(seen) = seen {
            let since_ms = now.instant.saturating_since(seen.instant).as_millis();
            let expected_ms = seen.unix.as_millis().saturating_add(since_ms);
            if now.unix.as_millis().saturating_add(Self::STEP_MS) < expected_ms {
                self.put_back_ms = now.unix.as_millis().saturating_sub(since_ms);
            }
        }
        if seen.is_some() || self.seen.is_none() {
            self.seen = Some(now);
        }
    }

    /// No command counts that is from before: from before the start, or from before the clock was put back.
    fn begin_ms(&self, now: Now) -> u64 {
        self.start_ms(now).max(self.put_back_ms.min(now.unix.as_millis()))
    }

    /// When the node started, by the clock as it goes now: one that was wrong then and has been put right is
    /// believed only now.
    fn start_ms(&self, now: Now) -> u64 {
        self.started.map_or(0, |started| {
            now.unix.as_millis().saturating_sub(now.instant.saturating_since(started).as_millis())
        })
    }

    pub(super) fn remember(&mut self, now: Now, key: NameRef<'_>, time_ms: u64) {
        let key = key.to_name();
        if !self.keys.contains_key(&key) && self.keys.len() >= Self::MAX_KEYS {
            let oldest = self.keys.iter().min_by_key(|(_, history)| history.used).map(|(key, _)| key.clone());
            if let Some(forgotten) = oldest.and_then(|oldest| self.keys.remove(&oldest)) {
                let last_ms = forgotten.recent_ms.last().copied().unwrap_or(0).max(forgotten.until_ms);
                self.min_ms = self.min_ms.max(last_ms.min(now.unix.as_millis()));
            }
        }
        let begin_ms = self.begin_ms(now);
        let until_ms = self.min_ms.max(begin_ms);
        let history = self.keys.entry(key).or_insert_with(|| History {
            until_ms,
            floor_ms: self.min_ms,
            recent_ms: BTreeSet::new(),
            used: now.instant,
        });
        self.latest_ms = self.latest_ms.max(time_ms);
        self.used = now.instant;
        self.look_at = Some(now.instant + Self::CHECK_INTERVAL);
        history.used = now.instant;
        history.recent_ms.insert(time_ms);
        history.catch_up(now, begin_ms);
    }
}

impl History {
    /// What was ahead and is no more counts as the last time.
    fn catch_up(&mut self, now: Now, begin_ms: u64) {
        // The clock was put back: what was used since is known one by one.
        if self.floor_ms > now.unix.as_millis().saturating_add(ReplayGuard::AHEAD_MS) {
            self.floor_ms = now.unix.as_millis();
        }
        if self.until_ms > now.unix.as_millis() {
            self.until_ms = self.floor_ms.max(begin_ms);
        }
        let past = self.recent_ms.range(..=now.unix.as_millis()).next_back().copied();
        self.until_ms = self.until_ms.max(past.unwrap_or(0));
        while self.recent_ms.len() > ReplayGuard::MAX_RECENT {
            // Of more than there is room for, the rest counts from the earliest on.
            self.floor_ms = self.floor_ms.max(self.recent_ms.pop_first().unwrap_or(0));
        }
        self.until_ms = self.until_ms.max(self.floor_ms);
    }
}
