//! Management behind its inner face: the application is given what the data plane says and what comes by the
//! face, and what it answers is sent.

use std::os::fd::{AsFd as _, BorrowedFd};

use packet::time::Instant;
use packet::{CachePolicy, LinkHeader, Now, Packet};
use system::Clock;

use crate::control::{ControlApplication, MANAGEMENT_FACE, shown};
use crate::inner_service::InnerService;
use crate::plane::Message;
use crate::remote_control::RemoteControl;
use crate::sys::threads::EndNotifier;
use crate::transport::inner::{InnerFace, InnerPacket};
use crate::transport::ring::{RingEnded, RingReceiver};

/// An application, and what it is reached by. It has been started.
pub(crate) struct ControlService {
    pub(crate) clock: Clock,
    pub(crate) remote: RemoteControl,
    pub(crate) application: Box<dyn ControlApplication>,
    /// What happens in the node.
    pub(crate) messages: RingReceiver<Message>,
    /// Tells of the end of the thread.
    pub(crate) _end: EndNotifier,
}

impl InnerService for ControlService {
    // What happens meanwhile counts until the plane has ended, too.
    const OUTLIVES_FACE: bool = true;

    fn take_other(&mut self) -> Result<bool, RingEnded> {
        let Some((message, _)) = self.messages.pop()? else { return Ok(false) };
        self.handle(self.clock.both(), message);
        Ok(true)
    }

    fn handle_packet(&mut self, _face: &mut InnerFace, packet: InnerPacket) {
        let from = packet.incoming_face().unwrap_or(MANAGEMENT_FACE);
        let (application, node, now) = (&mut self.application, &mut self.remote, self.clock.both());
        match packet.packet {
            Packet::Interest(interest) => application.handle_interest(now, node, &interest, from),
            Packet::Data(data) => application.handle_data(now, node, &data),
            Packet::Nack(interest, reason) => application.handle_nack(now, node, &interest, reason),
        }
    }

    fn proceed(&mut self, face: &mut InnerFace) {
        let now = self.clock.both();
        if self.application.next_deadline() <= now.instant {
            self.application.handle_timeout(now, &mut self.remote);
        }
        self.send(face);
        self.remote.publish_counters("management", self.application.counters());
    }

    fn other(&self) -> Option<BorrowedFd<'_>> {
        Some(self.messages.as_fd())
    }

    fn next_deadline(&self, _now: Instant) -> Instant {
        self.application.next_deadline()
    }

    fn has_background_work(&self) -> bool {
        self.application.has_background_work()
    }

    fn do_background_work(&mut self) {
        self.application.do_background_work(self.clock.both(), &mut self.remote);
    }
}

impl ControlService {
    fn handle(&mut self, now: Now, message: Message) {
        let (application, node) = (&mut self.application, &mut self.remote);
        match message {
            Message::Face(event) => application.handle_face_event(now, node, &shown::event(*event)),
            Message::Engine(event) => application.handle_engine_event(now, node, &event),
            Message::Configured(routes) => application.handle_configured_routes(now, node, &routes),
        }
    }

    fn send(&mut self, face: &mut InnerFace) {
        // That the face is gone is seen where there is nothing more to hear.
        while let Some(question) = self.application.poll_interest() {
            let next_hop_face = question.next_hop.map(|face| u64::from(face.0));
            let header = LinkHeader { next_hop_face, ..LinkHeader::NONE };
            let _ = face.send_in_time(InnerPacket { header, ..InnerPacket::interest(question.interest) });
        }
        while let Some(data) = self.application.poll_data() {
            let header = LinkHeader { cache_policy: Some(CachePolicy::NoCache), ..LinkHeader::NONE };
            // What management tells unasked, in case somebody waits for it, is no mistake of anybody's.
            let packet = InnerPacket { header, is_offer: true, ..InnerPacket::data(data) };
            let _ = face.send_in_time(packet);
        }
    }
}
