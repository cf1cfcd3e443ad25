//! Passing on a sample of what the content store takes in to the thread that verifies it.

use engine::Sample;
use packet::{ccnx, ndn};

use crate::plane::DataPlane;
use crate::transport::ring::RingSender;

/// What the data plane reaches the thread by.
pub(crate) struct SamplesEnd(RingSender<Sample>);

/// Bytes of the largest Data that a face of either dialect reads.
const LARGEST_BYTES: usize = if ndn::tlv::MAX_PACKET_BYTES > ccnx::MAX_MESSAGE_BYTES {
    ndn::tlv::MAX_PACKET_BYTES
} else {
    ccnx::MAX_MESSAGE_BYTES
};

impl DataPlane {
    /// Has a sample of what is kept go to `samples`.
    pub(crate) fn sample_to(&mut self, config: engine::SamplingConfig, samples: RingSender<Sample>) {
        self.engine.set_sampling(Some(config));
        self.services.verification = Some(Box::new(SamplesEnd(samples)));
    }

    /// Passes on what the engine has taken aside. What finds no room waits in the engine, up to its limit.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass_on_samples(&mut self) {
        let Some(SamplesEnd(samples)) = self.services.verification.as_deref_mut() else { return };
        let mut has_any = false;
        while samples.has_room_for(LARGEST_BYTES)
            && let Some(sample) = self.engine.poll_sample()
        {
            let bytes = sample.data.wire().len();
            // There is room, so it can only be that the thread is gone: the node is ending.
            has_any |= samples.push(sample, bytes).is_ok();
        }
        if has_any {
            samples.wake();
        }
    }
}
