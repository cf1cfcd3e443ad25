//! The thread around [`Ccnd`]: Interests come to it by an inner face, requests for the status page by a ring.

use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::thread::JoinHandle;
use std::time::Instant as StdInstant;

use engine::{FaceId, NextHop};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, Packet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use trust::ccnx::CcnxSigner;

use super::strangers::{Asker, Strangers};
use super::{Ccnd, DIALECT, load_or_make_key};
use crate::clock::Clock;
use crate::config::CcnxConfig;
use crate::control::{CreateInnerFace, NodeControl};
use crate::plane::{Owner, StatusRequest};
use crate::remote_control::RemoteControl;
use crate::transport::inner::{InnerFace, InnerLimits, InnerPacket};
use crate::transport::ring::{RingLimits, RingReceiver, Signal, ring};

/// Requests for the status page that may wait.
const STATUS_REQUESTS: usize = 16;
/// What may wait for the service: signing an answer takes a millisecond, so that more would wait in vain.
const LIMITS: InnerLimits = InnerLimits { packets: 1024, bytes: 4 << 20 };

/// The service; it ends with the data plane.
pub(crate) struct CcndService {
    thread: Option<JoinHandle<()>>,
}

struct Loop {
    clock: Clock,
    remote: RemoteControl,
    face: InnerFace,
    requests: RingReceiver<StatusRequest>,
    ccnd: Ccnd,
    strangers: Strangers,
}

impl CcndService {
    /// Starts it if the configuration asks for it: its prefixes lead to it when this returns.
    pub(crate) fn start_if_enabled(
        config: &CcnxConfig,
        clock: Clock,
        remote: &RemoteControl,
    ) -> std::io::Result<Option<Self>> {
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
    ) -> std::io::Result<Self> {
        let purpose = "ccnd".parse().map_err(std::io::Error::other)?;
        let face = CreateInnerFace { purpose, dialect: DIALECT, limits: LIMITS };
        let face = remote.create_inner_face(face).map_err(std::io::Error::other)?;
        let now = clock.both();
        let ccnd = Ccnd::new(signer, listens_at, max_registrations, now);
        let ccnd = ccnd.map_err(std::io::Error::other)?;
        for prefix in ccnd.prefixes() {
            let hop = NextHop { face: face.id(), cost: 0 };
            remote.add_next_hop(DIALECT, &prefix, hop, None).map_err(std::io::Error::other)?;
        }
        let limits = RingLimits { items: STATUS_REQUESTS, bytes: usize::MAX };
        let (sender, requests) = ring(limits, Signal::new()?, Signal::new()?);
        remote.call(move |plane| plane.pass_status_requests_to(sender));
        let id: String = ccnd.id().iter().map(|byte| format!("{byte:02X}")).collect();
        tracing::info!("CCNDID is {id}");
        let strangers = Strangers::new(StdInstant::now());
        let service = Loop { clock, remote, face, requests, ccnd, strangers };
        let thread = std::thread::Builder::new().name("ccnd".to_owned()).spawn(move || {
            crate::start::threads::go_behind_the_data_plane();
            service.run();
        })?;
        Ok(CcndService { thread: Some(thread) })
    }
}

/// Waits until it has ended, which it does with the data plane.
impl Drop for CcndService {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Loop {
    fn run(mut self) {
        loop {
            let Ok(packet) = self.face.recv() else { return };
            let request = self.requests.pop().ok().flatten().map(|(request, _)| request);
            let has_worked = packet.is_some() || request.is_some();
            if let Some(packet) = packet {
                self.handle_packet(packet);
            }
            if let Some(request) = request {
                self.show_status(&request);
            }
            let now = self.clock.now();
            if self.ccnd.next_deadline() <= now {
                self.ccnd.handle_timeout(now, &mut self.remote);
            }
            if !has_worked {
                self.wait();
            }
        }
    }

    fn handle_packet(&mut self, InnerPacket { packet, header, .. }: InnerPacket) {
        let Packet::Interest(interest) = packet else { return };
        let from = header.incoming_face.and_then(|face| u32::try_from(face).ok()).map(FaceId);
        let Some(from) = from else { return };
        // Nobody waits behind a face that is gone.
        let Some(asker) = self.strangers.asker(from, &self.remote) else { return };
        let answer = match asker {
            Asker::Application(face) => self.answer(&interest, Some(face)),
            Asker::Stranger(who) if self.ccnd.is_ping(&interest) => self.answer_ping(&interest, who),
            Asker::Stranger(_) => self.answer(&interest, None),
        };
        self.remote.publish_counters("ccnd", self.ccnd.counters());
        if let Some(data) = answer {
            // That the face is gone is seen where there is nothing more to hear.
            let _ = self.face.send_in_time(InnerPacket::data(data));
        }
    }

    fn answer(&mut self, interest: &Interest, application: Option<FaceId>) -> Option<Data> {
        self.ccnd.handle_interest(self.clock.both(), &mut self.remote, interest, application)
    }

    fn answer_ping(&mut self, interest: &Interest, who: Owner) -> Option<Data> {
        let began = StdInstant::now();
        if !self.strangers.pings.has_any(began, who) {
            self.ccnd.refuse_ping();
            return None;
        }
        let answer = self.answer(interest, None);
        self.strangers.pings.spend(who, began, StdInstant::now());
        answer
    }

    fn show_status(&mut self, request: &StatusRequest) {
        let began = StdInstant::now();
        let has_time = request.stranger.is_none_or(|who| self.strangers.pages.has_any(began, who));
        let page = match has_time {
            true => self.ccnd.status_page(self.clock.both(), &mut self.remote, &request.request),
            false => self.ccnd.refuse_page(),
        };
        if let Some(who) = request.stranger.filter(|_| has_time) {
            self.strangers.pages.spend(who, began, StdInstant::now());
        }
        self.remote.publish_counters("ccnd", self.ccnd.counters());
        let face = request.face;
        self.remote.post(Box::new(move |plane| plane.answer_status_request(face, &page)));
    }

    fn wait(&self) {
        let deadline = self.ccnd.next_deadline();
        let timeout = (deadline != Instant::NEVER).then(|| {
            let left = deadline.saturating_since(self.clock.now()).max(Duration::from_millis(1)).as_nanos();
            Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 }
        });
        let mut descriptors = [
            PollFd::new(&self.requests, PollFlags::IN),
            PollFd::from_borrowed_fd(self.face.as_fd(), PollFlags::IN),
        ];
        // Whatever came of it, there is a look at all.
        let _ = poll(&mut descriptors, timeout.as_ref());
    }
}
