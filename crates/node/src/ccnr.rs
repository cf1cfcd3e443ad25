//! A repository of the node for clients of CCNx, as ccnr is one: an application behind an inner face.
//!
//! What is stored the data plane answers with; what nobody has an answer for, commands above all, comes here.
//! The repositories are in `crate::repository`.

use std::io::Error as IoError;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Arc, PoisonError};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use engine::FaceId;
use packet::ccnx::management::{ForwardingEntry, ForwardingFlags, StatusResponse, Verb};
use packet::ccnx::{InterestFields, Ticks};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, Name, Packet};
use repo::ccnr::{Ccnr, CcnrConfig, CcnrDriver, InterestOrigin, NamespaceChange, Outgoing};
use repo::service::ServiceHandle;
use system::Clock;
use trust::SignError;
use trust::ccnx::{CcndRequest, CcnxSigner};

use crate::ccnd::{Neighbours, Requester, load_or_make_key};
use crate::config::CcnxConfig;
use crate::inner_service::{InnerService, ServiceThread, open_face};
use crate::remote_control::RemoteControl;
use crate::repository::Repositories;
use crate::repository::status::SharedCounters;
use crate::start_error::StartError;
use crate::time_budget::NeighbourBudgets;
use crate::transport::inner::{InnerFace, InnerLimits, InnerPacket};
use crate::transport::ring::Signal;

/// What may wait for it.
const LIMITS: InnerLimits = InnerLimits { packets: 1024, bytes: 8 << 20 };
/// How long the node may take to register a prefix.
const TIMEOUT: StdDuration = StdDuration::from_secs(10);
/// What an answer to a neighbour costs, about: a signature.
const COST: StdDuration = StdDuration::from_millis(2);
/// How long nothing may happen before it is looked whether something has.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Has clients of CCNx reach those repositories that are for them; to be called once all else is there. Each
/// is served until its thread is dropped.
///
/// # Errors
/// The prefixes cannot be registered.
pub(crate) fn serve(
    repositories: &Repositories,
    config: &CcnxConfig,
    clock: Clock,
    remote: &RemoteControl,
) -> Result<Vec<ServiceThread>, StartError> {
    let mut threads = Vec::new();
    for (section, service, counters) in repositories.each() {
        let Some(ccnr) = section.ccnr()? else { continue };
        let signer = load_or_make_key(config.key_file.as_deref())?;
        threads.push(CcnrService::start(ccnr, signer, service, clock, remote.clone(), counters.clone())?);
    }
    Ok(threads)
}

/// The repository's protocol and what it is reached by.
struct CcnrService {
    clock: Clock,
    remote: RemoteControl,
    signer: CcnxSigner,
    driver: CcnrDriver,
    /// Raised when the store has said something.
    told: Arc<Signal>,
    neighbours: Neighbours,
    time: NeighbourBudgets,
    counters: SharedCounters,
}

impl CcnrService {
    /// Starts it: its prefixes lead to it when this returns. It has the node's key.
    fn start(
        config: CcnrConfig,
        signer: CcnxSigner,
        service: ServiceHandle,
        clock: Clock,
        mut remote: RemoteControl,
        counters: SharedCounters,
    ) -> std::io::Result<ServiceThread> {
        let mut face = open_face(&mut remote, "ccnr", Dialect::Ccnx, LIMITS)?;
        let ccnr = Ccnr::new(clock.both(), signer.clone(), config).map_err(IoError::other)?;
        let prefixes = ccnr.prefixes().map_err(IoError::other)?;
        let began = StdInstant::now();
        let told = Signal::new()?;
        let raised = Arc::clone(&told);
        let service = CcnrService {
            clock,
            remote,
            signer,
            driver: CcnrDriver::new(ccnr, service, Arc::new(move || raised.raise())),
            told,
            neighbours: Neighbours::new(began),
            time: NeighbourBudgets::new(began),
            counters,
        };
        for prefix in prefixes {
            service.register(&mut face, &prefix)?;
        }
        ServiceThread::start("ccnr", clock, face, service)
    }
}

impl InnerService for CcnrService {
    fn handle_packet(&mut self, _face: &mut InnerFace, packet: InnerPacket) {
        let from = packet.incoming_face();
        let interest = match packet.packet {
            Packet::Interest(interest) => interest,
            Packet::Data(data) => return self.driver.handle_data(self.clock.both(), &data),
            Packet::Nack(..) => return,
        };
        // Nobody waits behind a face that is gone.
        let Some(requester) = from.and_then(|from| self.neighbours.requester(from, &self.remote)) else {
            return;
        };
        let origin = match requester {
            Requester::Application(_) => InterestOrigin::Host,
            Requester::Neighbour(who) => {
                let began = StdInstant::now();
                if !self.time.has_any(began, who) {
                    return self.driver.refuse_interest();
                }
                self.time.spend(who, began, began + COST);
                InterestOrigin::Elsewhere
            }
        };
        self.driver.handle_interest(self.clock.both(), &interest, origin);
    }

    fn proceed(&mut self, face: &mut InnerFace) {
        self.told.lower();
        self.driver.turn(self.clock.both());
        while let Some(outgoing) = self.driver.poll_outgoing() {
            self.carry_out(face, outgoing);
        }
        *self.counters.0.lock().unwrap_or_else(PoisonError::into_inner) = *self.driver.counters();
    }

    fn other(&self) -> Option<BorrowedFd<'_>> {
        Some(self.told.as_fd())
    }

    fn next_deadline(&self, now: Instant) -> Instant {
        self.driver.next_deadline().min(now + CHECK_INTERVAL)
    }
}

impl CcnrService {
    fn carry_out(&mut self, face: &mut InnerFace, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Interest(interest) => send(face, InnerPacket::interest(interest)),
            Outgoing::Data(data) => send(face, InnerPacket::data(data)),
            Outgoing::Namespaces(change) => self.change_namespaces(face, change),
            Outgoing::Fetched { object, stored, is_complete } => {
                tracing::debug!(%object, stored, is_complete, "an object of CCNx was fetched");
            }
        }
    }

    /// A policy names other prefixes.
    fn change_namespaces(&mut self, face: &mut InnerFace, change: NamespaceChange) {
        let added = change.added.into_iter().map(|name| (Verb::SelfReg, name));
        for (verb, name) in added.chain(change.removed.into_iter().map(|name| (Verb::Unreg, name))) {
            match self.request(face.id(), verb, &name) {
                Ok(request) => send(face, InnerPacket::interest(request)),
                Err(error) => tracing::warn!(%name, %error, "a prefix of the policy is not registered"),
            }
        }
    }

    /// Has a prefix lead here, and waits until it does.
    fn register(&self, face: &mut InnerFace, prefix: &Name) -> std::io::Result<()> {
        let refused = || {
            let why = format!("the repository cannot register {prefix} for clients of CCNx");
            IoError::other(why)
        };
        let request = self.request(face.id(), Verb::SelfReg, prefix).map_err(IoError::other)?;
        send(face, InnerPacket::interest(request.clone()));
        let until = StdInstant::now() + TIMEOUT;
        while StdInstant::now() < until {
            let received = face.recv().map_err(IoError::other)?;
            match received.map(|received| received.packet) {
                Some(Packet::Data(answer)) if answer.name() == request.name() => {
                    return if is_refusal(&answer) { Err(refused()) } else { Ok(()) };
                }
                // Clients that are too early ask again.
                Some(_) => {}
                None => drop(face.wait(Some(StdDuration::from_millis(100)))),
            }
        }
        Err(refused())
    }

    /// The request by which applications register prefixes.
    fn request(&self, face: FaceId, verb: Verb, prefix: &Name) -> Result<Interest, SignError> {
        let entry = ForwardingEntry {
            face_id: Some(face.0),
            flags: Some(ForwardingFlags::default()),
            ..ForwardingEntry::new(prefix)
        };
        let time = Ticks::from(self.clock.unix());
        let (request, fields) = (CcndRequest::Prefix(verb, entry), InterestFields::default());
        self.signer.ccnd_request(self.signer.publisher(), request, time, fields)
    }
}

/// That the face is gone is seen where there is nothing more to hear.
fn send(face: &mut InnerFace, packet: InnerPacket) {
    let _ = face.send_in_time(packet);
}

/// Whether it says no, or nothing that can be read.
fn is_refusal(answer: &Data) -> bool {
    answer.ccnx().is_none_or(|object| StatusResponse::of_refused(&object).is_some())
}
