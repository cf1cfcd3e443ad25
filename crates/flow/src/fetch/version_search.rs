//! The search for the latest version of a name in CCNx, by excluding those that are known.

use packet::ccnx::{Exclude, ExcludeEntry, markers};
use packet::time::{Duration, Instant};
use packet::{Dialect, Name, NameRef};

use super::config::FetchConfig;

/// The version before all others, and the one behind them.
const FIRST: &[u8] = &[0xfd, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff];
const BEHIND_ALL: &[u8] = &[0xfe, 0, 0, 0, 0, 0, 0];
/// What stands behind the first segment, and before whatever else is right below a name without version.
const NO_SEGMENT: &[u8] = &[0x01];

/// How long a later version is waited for at least: what is known may come from the next cache, and what is
/// later from far away.
const MIN_WAIT: Duration = Duration::from_millis(100);
/// How often it is asked for: where several producers have a name, forwarders may ask another one the second
/// time.
pub(super) const LATER_ATTEMPTS: u32 = 2;
/// How many answers of a search are looked at. Whoever answers with ever later versions, or with what is
/// refused, does not keep it from its end.
const MAX_ANSWERS: u32 = 64;

/// The search for the latest version of a name. It is over when nobody has a later one than the latest that
/// came.
#[derive(Clone, Debug, Default)]
pub(super) struct VersionSearch {
    best: Option<Name>,
    /// What came right below the name in packets that were refused, in order: at most [`MAX_ANSWERS`].
    refused: Vec<Vec<u8>>,
    /// Answers so far.
    answers: u32,
    asked_at: Option<Instant>,
    /// The longest that an answer has taken.
    slowest: Duration,
}

impl VersionSearch {
    /// The search, where the latest version is found so and not by asking for metadata.
    pub(super) fn of(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Ndn => None,
            Dialect::Ccnx => Some(VersionSearch::default()),
        }
    }

    /// Something was asked for.
    pub(super) fn handle_asked(&mut self, now: Instant) {
        self.asked_at = Some(now);
    }

    /// How long the answer to what is asked for now may take.
    pub(super) fn answer_timeout(&self, config: &FetchConfig) -> Duration {
        match self.best {
            Some(_) => (self.slowest * 4).max(MIN_WAIT).min(config.discovery_timeout),
            None => config.discovery_timeout,
        }
    }

    /// What came, if it has a version below `prefix`; says whether that is the latest so far, and nothing if
    /// there is none and what came may be the object itself.
    pub(super) fn handle_answer(&mut self, now: Instant, prefix: &Name, name: NameRef<'_>) -> Option<bool> {
        let count = prefix.as_ref().component_count();
        let version = |name: NameRef<'_>| markers::parse_version(name.components().nth(count)?.value);
        self.answers += 1;
        let best = self.best.as_ref().and_then(|best| version(best.as_ref()));
        let Some(found) = version(name) else { return best.map(|_| false) };
        // An answer to a question of before.
        if best.is_some_and(|best| found.count() <= best.count()) {
            return Some(false);
        }
        let took = self.asked_at.map_or(Duration::ZERO, |asked| now.saturating_since(asked));
        self.slowest = self.slowest.max(took);
        self.best = Some(name.prefix(count + 1).to_name());
        Some(true)
    }

    /// The latest version that came.
    pub(super) fn best(&self) -> Option<&Name> {
        self.best.as_ref()
    }

    /// What came was refused, and is excluded from now on; says whether it was not before.
    pub(super) fn handle_refusal(&mut self, prefix: &Name, name: NameRef<'_>) -> bool {
        self.answers += 1;
        let below = name.components().nth(prefix.as_ref().component_count());
        let Some(value) = below.map(|below| below.value) else { return false };
        match self.refused.binary_search_by(|refused| in_order(refused).cmp(&in_order(value))) {
            Err(place) if self.refused.len() < MAX_ANSWERS as usize => {
                self.refused.insert(place, value.to_vec());
                true
            }
            _ => false,
        }
    }

    /// Whether no further answer is looked at.
    pub(super) fn is_exhausted(&self) -> bool {
        self.answers >= MAX_ANSWERS
    }

    /// Excludes the versions up to the latest that is known, and those that were refused. As CCNx's own
    /// library does, the first question lets segments without a version answer.
    pub(super) fn exclude(&self) -> Exclude {
        let low = self.best.as_ref().and_then(|best| best.as_ref().last()).map_or(FIRST, |low| low.value);
        let refused = |is_in: &dyn Fn(&[u8]) -> bool| {
            let values = self.refused.iter().map(Vec::as_slice).filter(|value| is_in(value));
            values.map(ExcludeEntry::Component).collect::<Vec<_>>()
        };
        let is_before = |value: &[u8], other: &[u8]| in_order(value) < in_order(other);
        let mut entries = Vec::new();
        if self.best.is_none() {
            entries.extend(refused(&|value| is_before(value, NO_SEGMENT)));
            entries.push(ExcludeEntry::Component(NO_SEGMENT));
        }
        entries.extend([ExcludeEntry::Any, ExcludeEntry::Component(low)]);
        entries.extend(refused(&|value| is_before(low, value) && is_before(value, BEHIND_ALL)));
        entries.extend([ExcludeEntry::Component(BEHIND_ALL), ExcludeEntry::Any]);
        let mut exclude = Exclude::default();
        for entry in entries {
            // They are in order: a version lies between the two.
            let _ = exclude.push(entry);
        }
        exclude
    }
}

/// Components are in order by their lengths first.
fn in_order(value: &[u8]) -> (usize, &[u8]) {
    (value.len(), value)
}
