//! Data that is taken aside so that somebody can verify it.
//!
//! A router cannot verify every Data at the rate at which it forwards. It can verify a random sample of what
//! it keeps. The engine verifies nothing: it keeps and sends on the Data at once, and gives a sample of it
//! out as values ([`poll_sample`]). Whoever verifies says what is refused ([`refuse_sample`])
//! and what nobody can judge ([`drop_sample`]).
//! That Data leaves the content store, and for a while nothing of the same object is kept that comes by the
//! same face: other objects behind that face are kept as before, or a forger could turn a neighbour's cache
//! off with forgeries of its own.
//!
//! [`poll_sample`]: crate::Engine::poll_sample
//! [`refuse_sample`]: crate::Engine::refuse_sample
//! [`drop_sample`]: crate::Engine::drop_sample

use std::collections::{BTreeMap, VecDeque};

use packet::time::{Duration, Instant};
use packet::{AnyName, Data, NameHash};

use crate::face_id::FaceId;
use crate::tables::content_store::placement::CacheProbability;

/// What is sampled, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingConfig {
    /// How much of the Data that is kept.
    pub share: CacheProbability,
    /// Only Data under these prefixes, each of its dialect: those for which there are rules.
    pub prefixes: Vec<AnyName>,
    /// Samples that may wait to be polled; more are not taken.
    pub max_waiting: usize,
    /// For how long nothing of a refused object is kept.
    pub distrust: Duration,
}

/// Data to verify.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The packet.
    pub data: Data,
    /// The face that it came by.
    pub face: FaceId,
}

packet::counters! {
    /// What became of samples.
    pub struct SamplingCounters {
        /// Data taken aside.
        pub taken = "taken",
        /// Samples that were not taken because too many waited.
        pub queue_full = "queue-full",
        /// Samples that were refused.
        pub refused = "refused",
        /// Samples of which nobody could say whether they are to be believed.
        pub undecided = "undecided",
        /// Data that was not kept because its object is distrusted.
        pub kept_out = "kept-out",
        /// Objects that are trusted again before their time, because there was no room for more.
        pub forgotten = "forgotten",
    }
}

/// Objects that are distrusted at once; at the limit the one whose time is over first goes.
const MAX_DISTRUSTED: usize = 1024;

/// An object as it comes by a face.
pub(crate) type SampledObject = (FaceId, NameHash);

/// The sampling of an engine.
#[derive(Debug)]
pub(crate) struct Sampling {
    config: SamplingConfig,
    waiting: VecDeque<Sample>,
    distrusted: BTreeMap<SampledObject, Instant>,
    /// When all of them are trusted again.
    calm_at: Instant,
    counters: SamplingCounters,
}

impl Sampling {
    pub(crate) fn new(config: SamplingConfig) -> Self {
        let counters = SamplingCounters::default();
        Sampling {
            config,
            waiting: VecDeque::new(),
            distrusted: BTreeMap::new(),
            calm_at: Instant::ZERO,
            counters,
        }
    }

    fn is_distrusted(&self, now: Instant, object: SampledObject) -> bool {
        self.distrusted.get(&object).is_some_and(|until| *until > now)
    }

    /// The next Data to verify.
    pub(crate) fn poll(&mut self) -> Option<Sample> {
        self.waiting.pop_front()
    }

    pub(crate) fn counters(&self) -> &SamplingCounters {
        &self.counters
    }

    /// Whether no object is distrusted any more.
    pub(crate) fn is_calm(&self, now: Instant) -> bool {
        self.calm_at <= now
    }

    /// Whether nothing of an object is kept now, which is counted.
    pub(crate) fn keeps_out(&mut self, now: Instant, object: SampledObject) -> bool {
        let is_kept_out = self.is_distrusted(now, object);
        self.counters.kept_out += u64::from(is_kept_out);
        is_kept_out
    }

    /// A sample of this object was refused.
    pub(crate) fn refuse(&mut self, now: Instant, object: SampledObject) {
        self.counters.refused += 1;
        self.distrust(now, object);
    }

    /// Nobody could judge a sample.
    pub(crate) fn count_undecided(&mut self) {
        self.counters.undecided += 1;
    }

    fn distrust(&mut self, now: Instant, object: SampledObject) {
        self.distrusted.retain(|_, until| *until > now);
        if self.distrusted.len() >= MAX_DISTRUSTED && !self.distrusted.contains_key(&object) {
            let first = self.distrusted.iter().min_by_key(|(_, until)| **until).map(|(object, _)| *object);
            first.and_then(|first| self.distrusted.remove(&first));
            self.counters.forgotten += 1;
        }
        let until = now + self.config.distrust;
        self.calm_at = self.calm_at.max(until);
        self.distrusted.insert(object, until);
    }

    fn concerns(&self, data: &Data) -> bool {
        self.config
            .prefixes
            .iter()
            .any(|prefix| prefix.dialect == data.dialect() && prefix.name.as_ref().is_prefix_of(data.name()))
    }

    /// Takes Data aside if `drawn`, a random number, falls into the share, and if there is room.
    pub(crate) fn take(&mut self, drawn: u64, data: &Data, face: FaceId) {
        if !self.config.share.is_met(drawn) || !self.concerns(data) {
            return;
        }
        if self.waiting.len() >= self.config.max_waiting {
            self.counters.queue_full += 1;
            return;
        }
        self.counters.taken += 1;
        self.waiting.push_back(Sample { data: data.clone(), face });
    }
}
