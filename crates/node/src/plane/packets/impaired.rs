//! Links that are bad on purpose: an impairment as a tap of a face.

use engine::FaceId;
use link::{Direction, FrameTap, Impairment, ImpairmentConfig, TapVerdict};
use packet::time::Instant;

use crate::config::ImpairedDirection;
use crate::plane::DataPlane;

/// Both directions of a bad link, each with randomness of its own.
#[derive(Debug)]
pub(crate) struct Impaired {
    incoming: Option<Impairment>,
    outgoing: Option<Impairment>,
}

impl Impaired {
    pub(crate) fn new(config: &ImpairmentConfig, direction: ImpairedDirection, seed: u64) -> Self {
        let one = |wanted: ImpairedDirection, number: u64| {
            let is_wanted = direction == ImpairedDirection::Both || direction == wanted;
            is_wanted.then(|| Impairment::new(config.clone(), seed.wrapping_mul(2).wrapping_add(number)))
        };
        Impaired { incoming: one(ImpairedDirection::In, 0), outgoing: one(ImpairedDirection::Out, 1) }
    }
}

impl FrameTap for Impaired {
    fn on_frame(&mut self, now: Instant, direction: Direction, frame: &mut Vec<u8>) -> TapVerdict {
        let way = match direction {
            Direction::In => &mut self.incoming,
            Direction::Out => &mut self.outgoing,
        };
        way.as_mut().map_or(TapVerdict::Pass, |way| way.on_frame(now, direction, frame))
    }
}

impl DataPlane {
    /// Makes the link of a face bad, in place of how bad it was made before; `None` mends it.
    pub(crate) fn impair(&mut self, id: FaceId, impairment: Option<Impaired>) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        if let Some(before) = face.tapping.impaired.take() {
            face.tapping.taps.retain(|(number, _)| *number != before);
        }
        let Some(impairment) = impairment else { return };
        // Behind those that watch: they see what the face sends and what came over the wire.
        let number = self.tapping.add(&mut self.faces, id, Box::new(impairment));
        if let Some(face) = self.faces.get_mut(&id) {
            face.tapping.impaired = number;
        }
    }
}
