//! Requests for ccnd's status page, which come by the port that CCNx itself uses.
//!
//! The data plane recognises them, passes them on to whoever knows the answer, and ends the connection when
//! that has been sent. Whoever asks and does not read loses the connection as one that stops in the middle of
//! a frame does.

use engine::FaceId;

use crate::control::FaceUri;
use crate::drop_reason::DropReason;
use crate::face::{Face, Transport};
use crate::origin::Owner;
use crate::plane::DataPlane;
use crate::transport::ring::RingSender;

/// A request for the status page.
#[derive(Debug)]
pub(crate) struct StatusRequest {
    /// The connection that it came by.
    pub(crate) face: FaceId,
    /// Who asks, if that is nobody on this host.
    pub(crate) neighbour: Option<Owner>,
    /// Its first bytes: method and target.
    pub(crate) request: Vec<u8>,
}

/// What neighbours are told while others take all the time that there is for them.
pub(crate) const BUSY: &str =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
/// Neighbours that may wait for a page, or read one, at once: half of what may wait.
const MAX_NEIGHBOURS: usize = 8;
/// Of these, those of one address.
const MAX_OF_AN_ADDRESS: usize = 2;

/// Requests on their way, and the neighbours who wait for an answer or read it.
#[derive(Default)]
pub(in crate::plane) struct StatusRequests {
    /// Where requests go, if there is somebody who answers.
    pub(in crate::plane) sender: Option<RingSender<StatusRequest>>,
    neighbours: Vec<(FaceId, Owner)>,
}

impl StatusRequests {
    /// Whether there is a place for one more neighbour, who has it then.
    fn admit(&mut self, face: FaceId, neighbour: Owner) -> bool {
        let own = self.neighbours.iter().filter(|(_, other)| *other == neighbour).count();
        let has_place = own < MAX_OF_AN_ADDRESS && self.neighbours.len() < MAX_NEIGHBOURS;
        if has_place {
            self.neighbours.push((face, neighbour));
        }
        has_place
    }

    /// A face is gone that has asked.
    pub(in crate::plane) fn forget(&mut self, face: FaceId) {
        self.neighbours.retain(|(other, _)| *other != face);
    }

    fn pass_on(&mut self, request: StatusRequest) -> bool {
        let Some(sender) = &mut self.sender else { return false };
        let is_passed_on = sender.push(request, 0).is_ok();
        sender.wake();
        is_passed_on
    }
}

impl DataPlane {
    /// A connection begins with a request instead of messages.
    #[cold]
    pub(in crate::plane) fn ask_for_status(&mut self, id: FaceId, request: Vec<u8>) {
        let is_by_tcp = |face: &Face| matches!(face.remote, FaceUri::Tcp(_));
        let is_hidden =
            !self.settings.ccnx.status_page && self.faces.get(&id).is_some_and(|face| is_by_tcp(face));
        let neighbour = self.faces.neighbour_behind(id).flatten();
        let has_place =
            is_hidden || neighbour.is_none_or(|neighbour| self.control.status_requests.admit(id, neighbour));
        let is_asked = !is_hidden
            && has_place
            && self.control.status_requests.pass_on(StatusRequest { face: id, neighbour, request });
        let Some(face) = self.faces.get_mut(&id) else { return };
        if !is_asked {
            face.counters.drops.count(DropReason::ManagementBusy);
        }
        if !is_asked && has_place {
            self.control.status_requests.forget(id);
            return self.handle_stream_end(id, "asked for the status page, which nobody can give now");
        }
        if let Transport::Stream(port) = &mut face.transport {
            port.ends_when_sent = true;
            port.incomplete_since = Some(self.now);
        }
        self.renew_alarm(id);
        if !has_place {
            self.answer_status_request(id, BUSY.as_bytes());
        }
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
    pub(in crate::plane) fn end_if_all_is_sent(&mut self, id: FaceId) {
        let Some(face) = self.faces.get(&id) else { return };
        if let Transport::Stream(port) = &face.transport
            && port.ends_when_sent
            && face.counters.traffic.out_bytes > 0
            && port.stream.as_ref().is_some_and(|stream| stream.queued_bytes() == 0)
        {
            self.handle_stream_end(id, "its request for the status page was answered");
        }
    }

    /// What follows a request, such as the rest of its header, is read and means nothing. Whether there was
    /// anything.
    #[cold]
    pub(in crate::plane) fn discard_rest(&mut self, id: FaceId) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Origin;

    fn address(number: u32) -> Owner {
        Owner::Origin(Origin::Address(system::AddressPrefix::V4(number)))
    }

    #[test]
    fn strangers_have_half_of_the_places_and_one_address_two_of_them_until_the_connection_is_gone() {
        let mut requests = StatusRequests::default();
        let admitted = |requests: &mut StatusRequests, number| {
            (0..20u32).filter(|face| requests.admit(FaceId(number * 100 + face), address(number))).count()
        };
        assert_eq!((0..5).map(|number| admitted(&mut requests, number)).collect::<Vec<_>>(), [2, 2, 2, 2, 0]);
        requests.forget(FaceId(1));
        requests.forget(FaceId(2));
        assert_eq!([4, 0].map(|number| admitted(&mut requests, number)), [1, 0]);
    }
}
