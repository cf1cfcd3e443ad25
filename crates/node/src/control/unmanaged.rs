//! A node that nobody manages.

use engine::FaceId;
use packet::time::Instant;
use packet::{Data, Interest, Now};

use super::{ControlApplication, FaceEvent, NodeControl};

/// Does nothing: the node keeps the faces and routes of its configuration. For relays, tests and benchmarks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmanaged;

impl ControlApplication for Unmanaged {
    fn start(&mut self, _now: Now, _node: &mut dyn NodeControl) {}

    fn handle_interest(
        &mut self,
        _now: Now,
        _node: &mut dyn NodeControl,
        _interest: &Interest,
        _from: FaceId,
    ) {
    }

    fn handle_face_event(&mut self, _now: Now, _node: &mut dyn NodeControl, _event: &FaceEvent) {}

    fn handle_engine_event(&mut self, _now: Now, _node: &mut dyn NodeControl, _event: &engine::Event) {}

    fn handle_timeout(&mut self, _now: Now, _node: &mut dyn NodeControl) {}

    fn poll_data(&mut self) -> Option<Data> {
        None
    }

    fn next_deadline(&self) -> Instant {
        Instant::NEVER
    }
}
