//! [`Ccnd`] behind its inner face: Interests come to it by that, requests for the status page by a ring.

use std::net::SocketAddr;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Instant as StdInstant;

use engine::{FaceId, NextHop};
use packet::time::Instant;
use packet::{Data, Interest, Packet, hex};
use system::Clock;
use trust::ccnx::CcnxSigner;

use super::requester::{Neighbours, Requester};
use super::{Ccnd, DIALECT, load_or_make_key};
use crate::config::CcnxConfig;
use crate::control::NodeControl as _;
use crate::inner_service::{InnerService, ServiceThread, open_face};
use crate::origin::Owner;
use crate::plane::StatusRequest;
use crate::remote_control::RemoteControl;
use crate::transport::inner::{InnerFace, InnerLimits, InnerPacket};
use crate::transport::ring::{RingEnded, RingLimits, RingReceiver, Signal, ring};

/// Requests for the status page that may wait.
const STATUS_REQUESTS: usize = 16;
/// What may wait for the service: signing an answer takes a millisecond, so that more would wait in vain.
const LIMITS: InnerLimits = InnerLimits { packets: 1024, bytes: 4 << 20 };

/// [`Ccnd`] and what it is reached by.
pub(crate) struct CcndService {
    clock: Clock,
    remote: RemoteControl,
    requests: RingReceiver<StatusRequest>,
    ccnd: Ccnd,
    neighbours: Neighbours,
}

impl CcndService {
    /// Starts it if the configuration asks for it: its prefixes lead to it when this returns.
    pub(crate) fn start_if_enabled(
        config: &CcnxConfig,
        clock: Clock,
        remote: &RemoteControl,
    ) -> std::io::Result<Option<ServiceThread>> {
        if !config.enabled {
            return Ok(None);
        }
        let signer = load_or_make_key(config.key_file.as_deref())?;
        let listens_at = config.tcp.first().copied();
        Self::start(signer, clock, remote.clone(), listens_at, config.max_registrations).map(Some)
    }

    fn start(
        signer: CcnxSigner,
        clock: Clock,
        mut remote: RemoteControl,
        listens_at: Option<SocketAddr>,
        max_registrations: usize,
    ) -> std::io::Result<ServiceThread> {
        let face = open_face(&mut remote, "ccnd", DIALECT, LIMITS)?;
        let now = clock.both();
        let ccnd = Ccnd::new(signer, listens_at, max_registrations, now);
        let ccnd = ccnd.map_err(std::io::Error::other)?;
        for prefix in ccnd.prefixes() {
            let hop = NextHop { face: face.id(), cost: 0 };
            remote.add_next_hop(DIALECT, &prefix, hop, None).map_err(std::io::Error::other)?;
        }
        let limits = RingLimits { items: STATUS_REQUESTS, bytes: usize::MAX };
        let (sender, requests) = ring(limits, Signal::new()?, Signal::new()?);
        remote.call(move |plane| plane.control.pass_status_requests_to(sender));
        tracing::info!("CCNDID is {}", hex::encode_upper(ccnd.id()));
        let neighbours = Neighbours::new(StdInstant::now());
        ServiceThread::start("ccnd", clock, face, CcndService { clock, remote, requests, ccnd, neighbours })
    }

    fn answer(&mut self, interest: &Interest, application: Option<FaceId>) -> Option<Data> {
        self.ccnd.handle_interest(self.clock.both(), &mut self.remote, interest, application)
    }

    fn answer_ping(&mut self, interest: &Interest, who: Owner) -> Option<Data> {
        let began = StdInstant::now();
        if !self.neighbours.pings.has_any(began, who) {
            self.ccnd.refuse_ping();
            return None;
        }
        let answer = self.answer(interest, None);
        self.neighbours.pings.spend(who, began, StdInstant::now());
        answer
    }

    fn show_status(&mut self, request: &StatusRequest) {
        let began = StdInstant::now();
        let has_time = request.neighbour.is_none_or(|who| self.neighbours.pages.has_any(began, who));
        let page = match has_time {
            true => self.ccnd.status_page(self.clock.both(), &mut self.remote, &request.request),
            false => self.ccnd.refuse_page(),
        };
        if let Some(who) = request.neighbour.filter(|_| has_time) {
            self.neighbours.pages.spend(who, began, StdInstant::now());
        }
        self.remote.publish_counters("ccnd", self.ccnd.counters());
        let face = request.face;
        self.remote.post(Box::new(move |plane| plane.answer_status_request(face, &page)));
    }
}

impl InnerService for CcndService {
    fn take_other(&mut self) -> Result<bool, RingEnded> {
        let Some((request, _)) = self.requests.pop()? else { return Ok(false) };
        self.show_status(&request);
        Ok(true)
    }

    fn handle_packet(&mut self, face: &mut InnerFace, packet: InnerPacket) {
        let Some(from) = packet.incoming_face() else { return };
        let Packet::Interest(interest) = packet.packet else { return };
        // Nobody waits behind a face that is gone.
        let Some(requester) = self.neighbours.requester(from, &self.remote) else { return };
        let answer = match requester {
            Requester::Application(face) => self.answer(&interest, Some(face)),
            Requester::Neighbour(who) if self.ccnd.is_ping(&interest) => self.answer_ping(&interest, who),
            Requester::Neighbour(_) => self.answer(&interest, None),
        };
        self.remote.publish_counters("ccnd", self.ccnd.counters());
        if let Some(data) = answer {
            // That the face is gone is seen where there is nothing more to hear.
            let _ = face.send_in_time(InnerPacket::data(data));
        }
    }

    fn proceed(&mut self, _face: &mut InnerFace) {
        let now = self.clock.now();
        if self.ccnd.next_deadline() <= now {
            self.ccnd.handle_timeout(now, &mut self.remote);
        }
    }

    fn other(&self) -> Option<BorrowedFd<'_>> {
        Some(self.requests.as_fd())
    }

    fn next_deadline(&self, _now: Instant) -> Instant {
        self.ccnd.next_deadline()
    }
}
