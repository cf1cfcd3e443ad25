//! Requests for ccnd's status page, which come by the port that CCNx itself uses.
//!
//! The data plane recognises them, passes them on to whoever knows the answer, and ends the connection when
//! that has been sent. Whoever asks and does not read loses the connection as one that stops in the middle of
//! a frame does.

use engine::FaceId;

use super::DataPlane;
use crate::control::FaceUri;
use crate::drop_reason::DropReason;
use crate::face::{Face, Transport};
use crate::transport::ring::RingSender;

/// A request for the status page.
#[derive(Debug)]
pub(crate) struct StatusRequest {
    /// The connection that it came by.
    pub(crate) face: FaceId,
    /// Its first bytes: method and target.
    pub(crate) request: Vec<u8>,
}

impl DataPlane {
    /// Has requests for the status page go to the other end of a ring.
    pub(crate) fn pass_status_requests_to(&mut self, sender: RingSender<StatusRequest>) {
        self.control.status_requests = Some(sender);
    }

    /// A connection begins with a request instead of messages.
    #[cold]
    pub(super) fn ask_for_status(&mut self, id: FaceId, request: Vec<u8>) {
        let is_by_tcp = |face: &Face| matches!(face.remote, FaceUri::Tcp(_));
        let is_hidden =
            !self.settings.ccnx.status_page && self.faces.get(&id).is_some_and(|face| is_by_tcp(face));
        let asked = match &mut self.control.status_requests {
            Some(sender) if !is_hidden => {
                let asked = sender.push(StatusRequest { face: id, request }, 0).is_ok();
                sender.wake();
                asked
            }
            _ => false,
        };
        let Some(face) = self.faces.get_mut(&id) else { return };
        if !asked {
            face.drops.count(DropReason::ManagementBusy);
            return self.handle_stream_end(id, "asked for the status page, which nobody can give now");
        }
        if let Transport::Stream(port) = &mut face.transport {
            port.ends_when_sent = true;
            port.incomplete_since = Some(self.now);
        }
        self.renew_alarm(id);
    }

    /// Answers a request, and ends the connection when that is sent.
    pub(crate) fn answer_status_request(&mut self, id: FaceId, answer: &[u8]) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        let Transport::Stream(port) = &mut face.transport else { return };
        let Some(stream) = port.stream.as_mut().filter(|_| port.ends_when_sent) else { return };
        stream.queue().push_raw(answer);
        self.handle_writable(id);
    }

    /// Ends a connection that was only waiting for its answer to be sent.
    #[cold]
    pub(super) fn end_if_all_is_sent(&mut self, id: FaceId) {
        let Some(face) = self.faces.get(&id) else { return };
        if let Transport::Stream(port) = &face.transport
            && port.ends_when_sent
            && face.traffic.out_bytes > 0
            && port.stream.as_ref().is_some_and(|stream| stream.queued_bytes() == 0)
        {
            self.handle_stream_end(id, "its request for the status page was answered");
        }
    }

    /// What follows a request, such as the rest of its header, is read and means nothing. Whether there was
    /// anything.
    #[cold]
    pub(super) fn discard_rest(&mut self, id: FaceId) -> bool {
        let Some(face) = self.faces.get_mut(&id) else { return false };
        let Transport::Stream(port) = &mut face.transport else { return false };
        let Some(stream) = &mut port.stream else { return false };
        match stream.read(&mut self.batch.scratch, usize::MAX) {
            crate::transport::stream::ReadOutcome::Nothing => false,
            crate::transport::stream::ReadOutcome::Bytes(_) => true,
            crate::transport::stream::ReadOutcome::Closed => {
                self.handle_stream_end(id, "closed by the peer");
                true
            }
        }
    }
}
