//! Taking Data aside, and what follows from the verdict about it.

use packet::time::Instant;
use packet::{Data, NameHash, NameHasher};

use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::sampling::{Sample, Sampling, SamplingConfig, SamplingCounters};

impl Engine {
    /// Has a sample of the Data that is kept taken aside, or ends that; what waits is forgotten.
    pub fn set_sampling(&mut self, config: Option<SamplingConfig>) {
        self.sampling = config.map(|config| Box::new(Sampling::new(config)));
        self.tables.store.set_watched(self.sampling.is_some());
    }

    /// The next Data to verify.
    pub fn poll_sample(&mut self) -> Option<Sample> {
        self.sampling.as_mut()?.poll()
    }

    /// A sample did not stand the test: it leaves the content store, and nothing more of its object that
    /// comes by its face is kept for [`SamplingConfig::distrust`].
    pub fn refuse_sample(&mut self, now: Instant, sample: &Sample) {
        let object = object_of(&self.hasher, &sample.data);
        let Some(sampling) = self.sampling.as_mut() else { return };
        sampling.refuse(now, (sample.face, object));
        self.tables.store.remove_packet(&mut self.tables.index, &self.hasher, &sample.data);
    }

    /// Nobody can say whether a sample is what it claims to be: it leaves the content store, and nothing more
    /// follows.
    pub fn drop_sample(&mut self, sample: &Sample) {
        let Some(sampling) = self.sampling.as_mut() else { return };
        sampling.count_undecided();
        self.tables.store.remove_packet(&mut self.tables.index, &self.hasher, &sample.data);
    }

    /// What became of samples; `None` without sampling.
    pub fn sampling_counters(&self) -> Option<&SamplingCounters> {
        self.sampling.as_deref().map(Sampling::counters)
    }

    /// Whether Data that came by `face` may be kept.
    pub(crate) fn is_to_be_kept(&mut self, now: Instant, face: FaceId, data: &Data) -> bool {
        let is_calm = self.sampling.as_ref().is_none_or(|sampling| sampling.is_calm(now));
        if is_calm {
            return true;
        }
        let suspect = (face, object_of(&self.hasher, data));
        self.sampling.as_mut().is_none_or(|sampling| !sampling.keeps_out(now, suspect))
    }

    /// Takes Data aside that is kept now, perhaps.
    pub(crate) fn sample(&mut self, data: &Data, face: FaceId) {
        if let Some(sampling) = self.sampling.as_mut() {
            sampling.take(self.random.next_u64(), data, face);
        }
    }
}

/// Hash of the object that a Data belongs to: all of its name but the last component.
fn object_of(hasher: &NameHasher, data: &Data) -> NameHash {
    let name = data.name();
    let object = name.prefix(name.component_count().saturating_sub(1));
    hasher.hash(data.dialect(), object.components()).whole()
}
