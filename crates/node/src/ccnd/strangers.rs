//! Who asks: an application on this host, which may ask for anything, or a stranger, for whom there is only
//! so much time.

use std::collections::BTreeMap;
use std::time::Instant;

use engine::FaceId;

use crate::origin::Owner;
use crate::remote_control::RemoteControl;
use crate::share_of_time::StrangersTime;

/// Faces of strangers that are remembered, so that the data plane is not asked about each of their packets.
const MAX_KNOWN: usize = 4096;

/// Who asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// An application on this host.
    Application(FaceId),
    Stranger(Owner),
}

/// What strangers have had.
#[derive(Debug)]
pub(crate) struct Strangers {
    /// A face of a stranger stays one, and its number is never given out again.
    known: BTreeMap<FaceId, Owner>,
    pub(super) pings: StrangersTime,
    pub(super) pages: StrangersTime,
}

impl Strangers {
    pub(crate) fn new(now: Instant) -> Self {
        Strangers { known: BTreeMap::new(), pings: StrangersTime::new(now), pages: StrangersTime::new(now) }
    }

    /// Who asks by a face; `None` if it is gone.
    pub(crate) fn asker(&mut self, face: FaceId, node: &RemoteControl) -> Option<Asker> {
        if let Some(owner) = self.known.get(&face) {
            return Some(Asker::Stranger(*owner));
        }
        let stranger = node.call(move |plane| plane.stranger_behind(face)).flatten()?;
        let Some(owner) = stranger else { return Some(Asker::Application(face)) };
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(face, owner);
        Some(Asker::Stranger(owner))
    }
}
