//! The control thread: gives the application what the data plane says and what comes by its face, and sends
//! what the application answers.

use std::os::fd::AsFd as _;

use engine::FaceId;
use packet::time::Instant;
use packet::{CachePolicy, LinkHeader, Packet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::background::{BackgroundShare, Next};
use super::{ControlApplication, MANAGEMENT_FACE, Now, shown};
use crate::clock::Clock;
use crate::plane::Message;
use crate::remote_control::RemoteControl;
use crate::transport::inner::{InnerFace, InnerPacket};
use crate::transport::ring::{Ended, RingReceiver};

/// An application, and what it is reached by.
pub(crate) struct ControlLoop {
    pub(crate) clock: Clock,
    pub(crate) remote: RemoteControl,
    pub(crate) application: Box<dyn ControlApplication>,
    /// What happens in the node.
    pub(crate) messages: RingReceiver<Message>,
    /// What is asked and answered.
    pub(crate) face: InnerFace,
}

impl ControlLoop {
    /// Works until the data plane has ended and all that it said has been passed on. The application has been
    /// started before.
    pub(crate) fn run(mut self) {
        let mut background = BackgroundShare::default();
        loop {
            self.send();
            self.remote.publish_counters("management", self.application.counters());
            let Ok(has_worked) = self.take_one() else { return };
            let has_more = self.application.has_background_work();
            match background.next(has_worked, has_more) {
                Next::Background => self.application.do_background_work(self.clock.both(), &mut self.remote),
                Next::Wait => self.wait(),
                Next::LookAgain => {}
            }
            let now = self.clock.both();
            if self.application.next_deadline() <= now.monotonic {
                self.application.handle_timeout(now, &mut self.remote);
            }
        }
    }

    /// Passes on what there is, one thing of each kind; false if there is nothing.
    fn take_one(&mut self) -> Result<bool, Ended> {
        let message = self.messages.pop()?;
        // That the face is gone is no end: what happens meanwhile counts until the plane has ended, too.
        let packet = self.face.recv().ok().flatten();
        let has_worked = message.is_some() || packet.is_some();
        if let Some((message, _)) = message {
            self.handle(self.clock.both(), message);
        }
        if let Some(packet) = packet {
            self.handle_packet(self.clock.both(), packet);
        }
        Ok(has_worked)
    }

    fn wait(&self) {
        let deadline = self.application.next_deadline();
        let timeout = (deadline != Instant::NEVER).then(|| {
            let nanos = deadline.saturating_since(self.clock.now()).as_nanos();
            Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
        });
        let mut descriptors = [
            PollFd::new(&self.messages, PollFlags::IN),
            PollFd::from_borrowed_fd(self.face.as_fd(), PollFlags::IN),
        ];
        // Whatever came of it, there is a look at all.
        let _ = poll(&mut descriptors, timeout.as_ref());
    }

    fn handle(&mut self, now: Now, message: Message) {
        let (application, node) = (&mut self.application, &mut self.remote);
        match message {
            Message::Face(event) => application.handle_face_event(now, node, &shown::event(*event)),
            Message::Engine(event) => application.handle_engine_event(now, node, &event),
            Message::Configured(routes) => application.handle_configured_routes(now, node, &routes),
        }
    }

    fn handle_packet(&mut self, now: Now, InnerPacket { packet, header, .. }: InnerPacket) {
        let (application, node) = (&mut self.application, &mut self.remote);
        match packet {
            Packet::Interest(interest) => {
                let from = header.incoming_face.and_then(|face| u32::try_from(face).ok());
                application.handle_interest(now, node, &interest, from.map_or(MANAGEMENT_FACE, FaceId));
            }
            Packet::Data(data) => application.handle_data(now, node, &data),
            Packet::Nack(interest, reason) => application.handle_nack(now, node, &interest, reason),
        }
    }

    fn send(&mut self) {
        // That the face is gone is seen where there is nothing more to hear.
        while let Some(question) = self.application.poll_question() {
            let next_hop_face = question.next_hop.map(|face| u64::from(face.0));
            let header = LinkHeader { next_hop_face, ..LinkHeader::NONE };
            let _ =
                self.face.send_in_time(InnerPacket { header, ..InnerPacket::interest(question.interest) });
        }
        while let Some(data) = self.application.poll_data() {
            let header = LinkHeader { cache_policy: Some(CachePolicy::NoCache), ..LinkHeader::NONE };
            // What management tells unasked, in case somebody waits for it, is no mistake of anybody's.
            let packet = InnerPacket { header, is_offer: true, ..InnerPacket::data(data) };
            let _ = self.face.send_in_time(packet);
        }
    }
}
