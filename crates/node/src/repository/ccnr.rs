//! A repository of the node for clients of CCNx, as ccnr is one: an application behind an inner face.
//!
//! What is stored the data plane answers with; what nobody has an answer for, commands above all, comes here.

use std::io::Error as IoError;
use std::os::fd::AsFd as _;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use engine::FaceId;
use flow::verify::Now;
use packet::ccnx::management::{ForwardingEntry, ForwardingFlags};
use packet::ccnx::{ContentKind, InterestFields, Scope, Ticks};
use packet::time::Duration;
use packet::{Component, Data, Dialect, Interest, Name, Packet, UnixTime};
use repo::ccnr::{Ccnr, CcnrConfig, CcnrDriver, Origin, Outgoing};
use repo::service::ServiceHandle;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use trust::ccnx::CcnxSigner;

use super::status::SharedCounters;
use crate::ccnd::{Asker, Strangers};
use crate::clock::Clock;
use crate::control::{CreateInnerFace, NodeControl as _};
use crate::remote_control::RemoteControl;
use crate::share_of_time::StrangersTime;
use crate::transport::inner::{InnerFace, InnerLimits, InnerPacket};
use crate::transport::ring::Signal;

/// What may wait for it.
const LIMITS: InnerLimits = InnerLimits { packets: 1024, bytes: 8 << 20 };
/// How long the node may take to register a prefix.
const PATIENCE: StdDuration = StdDuration::from_secs(10);
/// What an answer to a stranger costs, about: a signature.
const COST: StdDuration = StdDuration::from_millis(2);
/// How long nothing may happen before it is looked whether something has.
const LOOK: Duration = Duration::from_secs(5);

/// The service; it ends with the data plane.
pub(super) struct CcnrService {
    thread: Option<JoinHandle<()>>,
}

struct Loop {
    clock: Clock,
    remote: RemoteControl,
    face: InnerFace,
    signer: CcnxSigner,
    driver: CcnrDriver,
    /// Raised when the store has said something.
    told: Arc<Signal>,
    namespaces: Vec<Name>,
    strangers: Strangers,
    time: StrangersTime,
    counters: SharedCounters,
}

impl CcnrService {
    /// Starts it: its prefixes lead to it when this returns. It has the node's key.
    pub(super) fn start(
        config: CcnrConfig,
        (signer, service): (CcnxSigner, ServiceHandle),
        (clock, mut remote): (Clock, RemoteControl),
        counters: SharedCounters,
    ) -> std::io::Result<Self> {
        let purpose = "ccnr".parse().map_err(IoError::other)?;
        let face = CreateInnerFace { purpose, dialect: Dialect::Ccnx, limits: LIMITS };
        let face = remote.create_inner_face(face).map_err(IoError::other)?;
        let namespaces = config.namespaces.clone();
        let ccnr = Ccnr::new(now(clock), signer.clone(), config).map_err(IoError::other)?;
        let prefixes = ccnr.prefixes().map_err(IoError::other)?;
        let began = StdInstant::now();
        let told = Signal::new()?;
        let raised = Arc::clone(&told);
        let mut service = Loop {
            clock,
            remote,
            face,
            signer,
            driver: CcnrDriver::new(ccnr, service, Arc::new(move || raised.raise())),
            told,
            namespaces,
            strangers: Strangers::new(began),
            time: StrangersTime::new(began),
            counters,
        };
        for prefix in prefixes {
            service.register(&prefix)?;
        }
        let thread = std::thread::Builder::new().name("ccnr".to_owned()).spawn(move || {
            crate::start::threads::go_behind_the_data_plane();
            service.run();
        })?;
        Ok(CcnrService { thread: Some(thread) })
    }
}

/// Waits until it has ended, which it does with the data plane.
impl Drop for CcnrService {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn now(clock: Clock) -> Now {
    let both = clock.both();
    Now { instant: both.monotonic, unix: UnixTime::from_millis(both.unix_millis) }
}

impl Loop {
    fn run(mut self) {
        loop {
            self.told.lower();
            let Ok(packet) = self.face.recv() else { return };
            let has_worked = packet.is_some();
            if let Some(packet) = packet {
                self.handle_packet(packet);
            }
            self.driver.turn(now(self.clock));
            while let Some(outgoing) = self.driver.poll_outgoing() {
                self.carry_out(outgoing);
            }
            if !has_worked {
                *self.counters.0.lock().unwrap_or_else(PoisonError::into_inner) = *self.driver.counters();
                self.wait();
            }
        }
    }

    fn handle_packet(&mut self, InnerPacket { packet, header, .. }: InnerPacket) {
        let interest = match packet {
            Packet::Interest(interest) => interest,
            Packet::Data(data) => return self.driver.handle_data(now(self.clock), &data),
            Packet::Nack(..) => return,
        };
        let from = header.incoming_face.and_then(|face| u32::try_from(face).ok()).map(FaceId);
        // Nobody waits behind a face that is gone.
        let Some(asker) = from.and_then(|from| self.strangers.asker(from, &self.remote)) else { return };
        let origin = match asker {
            Asker::Application(_) => Origin::Host,
            Asker::Stranger(who) => {
                let began = StdInstant::now();
                if !self.time.has_any(began, who) {
                    return self.driver.refuse_interest();
                }
                self.time.spend(who, began, began + COST);
                Origin::Elsewhere
            }
        };
        self.driver.handle_interest(now(self.clock), &interest, origin);
    }

    fn carry_out(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Interest(interest) => self.send(InnerPacket::interest(interest)),
            Outgoing::Data(data) => self.send(InnerPacket::data(data)),
            Outgoing::Namespaces(namespaces) => self.take_namespaces(namespaces),
            Outgoing::Fetched { object, stored, is_complete } => {
                tracing::debug!(%object, stored, is_complete, "an object of CCNx was fetched");
            }
        }
    }

    /// That the face is gone is seen where there is nothing more to hear.
    fn send(&mut self, packet: InnerPacket) {
        let _ = self.face.send_in_time(packet);
    }

    /// A policy names other prefixes.
    fn take_namespaces(&mut self, namespaces: Vec<Name>) {
        let old = std::mem::replace(&mut self.namespaces, namespaces);
        let is_new = |name: &&Name| !old.contains(name);
        let added: Vec<Name> = self.namespaces.iter().filter(is_new).cloned().collect();
        let removed = old.iter().filter(|name| !self.namespaces.contains(name)).cloned();
        let requests = added.into_iter().map(|name| ("selfreg", name));
        for (verb, name) in requests.chain(removed.map(|name| ("unreg", name))).collect::<Vec<_>>() {
            match self.request(verb, &name) {
                Ok(request) => self.send(InnerPacket::interest(request)),
                Err(error) => tracing::warn!(%name, %error, "a prefix of the policy is not registered"),
            }
        }
    }

    /// Has a prefix lead here, and waits until it does.
    fn register(&mut self, prefix: &Name) -> std::io::Result<()> {
        let refused = || {
            let why = format!("the repository cannot register {prefix} for clients of CCNx");
            IoError::other(why)
        };
        let request = self.request("selfreg", prefix)?;
        self.send(InnerPacket::interest(request.clone()));
        let until = StdInstant::now() + PATIENCE;
        while StdInstant::now() < until {
            let received = self.face.recv().map_err(IoError::other)?;
            match received.map(|received| received.packet) {
                Some(Packet::Data(answer)) if answer.name() == request.name() => {
                    return if is_refusal(&answer) { Err(refused()) } else { Ok(()) };
                }
                // Clients that are too early ask again.
                Some(_) => {}
                None => drop(self.face.wait(Some(StdDuration::from_millis(100)))),
            }
        }
        Err(refused())
    }

    /// The request by which applications register prefixes.
    fn request(&self, verb: &'static str, prefix: &Name) -> std::io::Result<Interest> {
        let id = self.signer.publisher();
        let entry = ForwardingEntry {
            action: Some(verb),
            ccnd_id: Some(id),
            face_id: Some(self.face.id().0),
            flags: Some(ForwardingFlags::ACTIVE.with(ForwardingFlags::CHILD_INHERIT)),
            ..ForwardingEntry::new(prefix)
        };
        let content = entry.encode().map_err(IoError::other)?;
        let time = Ticks::from(now(self.clock).unix);
        let object = self.signer.sign(&Name::root(), &content, time, |info| info).map_err(IoError::other)?;
        let components: [&[u8]; 4] = [b"ccnx", id, verb.as_bytes(), &object];
        let name = Name::from_components(components.map(Component::generic)).map_err(IoError::other)?;
        let fields = InterestFields { scope: Some(Scope::HOST), ..InterestFields::default() };
        Interest::decode_ccnx(fields.encode(&name).map_err(IoError::other)?.into()).map_err(IoError::other)
    }

    fn wait(&self) {
        let at = self.clock.now();
        let deadline = self.driver.next_deadline().min(at + LOOK);
        let left = deadline.saturating_since(at).max(Duration::from_millis(1)).as_nanos();
        let timeout =
            Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
        // Whatever came of it, there is a look at all.
        let descriptors = [self.face.as_fd(), self.told.as_fd()];
        let mut descriptors = descriptors.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let _ = poll(&mut descriptors, Some(&timeout));
    }
}

fn is_refusal(answer: &Data) -> bool {
    answer.ccnx().is_some_and(|object| object.kind() == ContentKind::Nack)
}
