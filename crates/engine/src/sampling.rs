//! Data that is taken aside so that somebody can verify it.
//!
//! A router cannot verify every Data at the rate at which it forwards. It can verify a random sample of what
//! it keeps. The engine verifies nothing: it keeps and sends on the Data at once, and gives a sample of it
//! out as values ([`Engine::poll_sample`]). Whoever verifies says what is refused ([`Engine::refuse_sample`])
//! and what nobody can judge ([`Engine::drop_sample`]).
//! That Data leaves the content store, and for a while nothing of the same object is kept that comes by the
//! same face: other objects behind that face are kept as before, or a forger could turn a neighbour's cache
//! off with forgeries of its own.

use std::collections::{BTreeMap, VecDeque};

use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Name, NameHash, NameRef};

use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::tables::content_store::placement::CacheProbability;

/// What is sampled, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingConfig {
    /// How much of the Data that is kept.
    pub share: CacheProbability,
    /// Only Data of NDN under these prefixes: those for which there are rules.
    pub prefixes: Vec<Name>,
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

/// What became of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplingCounters {
    /// Data taken aside.
    pub taken: u64,
    /// Samples that were not taken because too many waited.
    pub crowded: u64,
    /// Samples that were refused.
    pub refused: u64,
    /// Samples of which nobody could say whether they are to be believed.
    pub undecided: u64,
    /// Data that was not kept because its object is distrusted.
    pub kept_out: u64,
    /// Objects that are trusted again before their time, because there was no room for more.
    pub forgotten: u64,
}

impl SamplingCounters {
    /// All of them, each under the word that metrics and status have for it.
    pub fn numbers(&self) -> [(&'static str, u64); 6] {
        [
            ("taken", self.taken),
            ("crowded", self.crowded),
            ("refused", self.refused),
            ("undecided", self.undecided),
            ("kept-out", self.kept_out),
            ("forgotten", self.forgotten),
        ]
    }
}

/// Objects that are distrusted at once; at the limit the one whose time is over first goes.
const MAX_DISTRUSTED: usize = 1024;

/// An object as it comes by a face.
type Suspect = (FaceId, NameHash);

/// The sampling of an engine.
#[derive(Debug)]
pub(crate) struct Sampling {
    config: SamplingConfig,
    waiting: VecDeque<Sample>,
    distrusted: BTreeMap<Suspect, Instant>,
    /// When all of them are trusted again.
    calm_at: Instant,
    counters: SamplingCounters,
}

impl Sampling {
    fn new(config: SamplingConfig) -> Self {
        let counters = SamplingCounters::default();
        Sampling {
            config,
            waiting: VecDeque::new(),
            distrusted: BTreeMap::new(),
            calm_at: Instant::ZERO,
            counters,
        }
    }

    fn is_distrusted(&self, now: Instant, suspect: Suspect) -> bool {
        self.distrusted.get(&suspect).is_some_and(|until| *until > now)
    }

    fn distrust(&mut self, now: Instant, suspect: Suspect) {
        self.distrusted.retain(|_, until| *until > now);
        if self.distrusted.len() >= MAX_DISTRUSTED && !self.distrusted.contains_key(&suspect) {
            let first = self.distrusted.iter().min_by_key(|(_, until)| **until).map(|(suspect, _)| *suspect);
            first.and_then(|first| self.distrusted.remove(&first));
            self.counters.forgotten += 1;
        }
        let until = now + self.config.distrust;
        self.calm_at = self.calm_at.max(until);
        self.distrusted.insert(suspect, until);
    }

    fn concerns(&self, data: &Data) -> bool {
        let is_below = |prefix: &Name| prefix.as_ref().is_prefix_of(data.name());
        data.dialect() == Dialect::Ndn && self.config.prefixes.iter().any(is_below)
    }

    fn take(&mut self, drawn: u64, data: &Data, face: FaceId) {
        if !self.config.share.is_met(drawn) || !self.concerns(data) {
            return;
        }
        if self.waiting.len() >= self.config.max_waiting {
            self.counters.crowded += 1;
            return;
        }
        self.counters.taken += 1;
        self.waiting.push_back(Sample { data: data.clone(), face });
    }
}

impl Engine {
    /// Has a sample of the Data that is kept taken aside, or ends that; what waits is forgotten.
    pub fn set_sampling(&mut self, config: Option<SamplingConfig>) {
        self.sampling = config.map(|config| Box::new(Sampling::new(config)));
        self.tables.store.set_watched(self.sampling.is_some());
    }

    /// The next Data to verify.
    pub fn poll_sample(&mut self) -> Option<Sample> {
        self.sampling.as_mut()?.waiting.pop_front()
    }

    /// A sample did not stand the test: it leaves the content store, and nothing more of its object that
    /// comes by its face is kept for [`SamplingConfig::distrust`].
    pub fn refuse_sample(&mut self, now: Instant, sample: &Sample) {
        let object = self.object_of(sample.data.name());
        let Some(sampling) = self.sampling.as_mut() else { return };
        sampling.counters.refused += 1;
        sampling.distrust(now, (sample.face, object));
        self.tables.store.remove_packet(&mut self.tables.index, &self.hasher, &sample.data);
    }

    /// Nobody can say whether a sample is what it claims to be: it leaves the content store, and nothing more
    /// follows.
    pub fn drop_sample(&mut self, sample: &Sample) {
        let Some(sampling) = self.sampling.as_mut() else { return };
        sampling.counters.undecided += 1;
        self.tables.store.remove_packet(&mut self.tables.index, &self.hasher, &sample.data);
    }

    /// What became of samples; `None` without sampling.
    pub fn sampling_counters(&self) -> Option<&SamplingCounters> {
        self.sampling.as_ref().map(|sampling| &sampling.counters)
    }

    /// Whether Data that came by `face` may be kept.
    pub(crate) fn is_to_be_kept(&mut self, now: Instant, face: FaceId, data: &Data) -> bool {
        let is_calm = self.sampling.as_ref().is_none_or(|sampling| sampling.calm_at <= now);
        if is_calm {
            return true;
        }
        let suspect = (face, self.object_of(data.name()));
        match self.sampling.as_mut() {
            Some(sampling) if sampling.is_distrusted(now, suspect) => {
                sampling.counters.kept_out += 1;
                false
            }
            _ => true,
        }
    }

    /// Takes Data aside that is kept now, perhaps.
    pub(crate) fn sample(&mut self, data: &Data, face: FaceId) {
        if let Some(sampling) = self.sampling.as_mut() {
            sampling.take(self.random.next_u64(), data, face);
        }
    }

    /// Hash of the object that a Data belongs to: all of its name but the last component.
    fn object_of(&self, name: NameRef<'_>) -> NameHash {
        let object = name.prefix(name.component_count().saturating_sub(1));
        self.hasher.hash(Dialect::Ndn, object.components()).whole()
    }
}
