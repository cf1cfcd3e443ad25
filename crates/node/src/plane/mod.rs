//! The data plane: one thread that owns the engine, the faces and their sockets.
//!
//! A turn waits until something is readable or due, reads from each readable socket a bounded share, hands
//! the decoded packets to the engine in batches, and writes what comes out of it, collected by face. Nothing
//! in a turn blocks but the wait, and nothing grows with what a peer sends but by the limits of the
//! configuration.
//!
//! - `scheduling`: what it waits for, and when it stays awake.
//! - `packets`: a packet's way from a socket through taps and codec to the engine, and out again.
//! - `faces`: how they come and go, and what one may have beside the others. `sockets`: where peers come in.
//!   `interfaces`: those that Ethernet and multicast use, and what happens to them.
//! - `requests`: what control and other threads ask. `second_store`: lookups to repositories.

#[cfg(test)]
mod bench;
mod faces;
mod interfaces;
mod packets;
mod requests;
mod scheduling;
mod second_store;
mod sockets;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use engine::batch::Arrivals;
use engine::{Engine, EngineConfig, FaceId};
use packet::PacketCounts;
use packet::random::Random;
use packet::time::{Duration, Instant};
use rustix::event::epoll;
use system::Clock;

use self::packets::fair_turn::ChargedTo;
use self::scheduling::sleep::{Sleep, sleep};
use crate::control::{FaceEvent, MANAGEMENT_FACE};
use crate::drop_reason::{DropCounters, DropReason};
use crate::face::{Face, Faces, Traffic};
use crate::settings::Settings;
use crate::sys::datagrams;
use crate::transport::ring::{Refused, RingSender};
use crate::transport::train::Outbox;

pub(crate) use faces::counts::FACES_AT_ONCE;
pub(crate) use interfaces::configured::ConfiguredInterfaces;
pub(crate) use interfaces::patterns::Selection;
pub(crate) use packets::impaired::Impaired;
pub(crate) use packets::taps::TapMaker;
pub(crate) use requests::status_page::{BUSY, StatusRequest};
pub(crate) use requests::tables;
pub(crate) use sockets::channels::Listener;

/// Something that another thread wants done by the data plane.
pub(crate) type Task = Box<dyn FnOnce(&mut DataPlane) + Send>;

/// What the data plane tells the control thread.
pub(crate) enum Message {
    /// Something happened to a face.
    Face(Box<FaceEvent>),
    /// Something that the engine wants known.
    Engine(engine::Event),
    /// Routes of the configuration.
    Configured(Vec<(packet::Name, engine::NextHop)>),
}

/// What epoll says is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Token {
    Waker,
    Datagrams(usize),
    /// A socket for IP alone.
    Ip(usize),
    Ethernet(usize),
    Listener(usize),
    Face(FaceId),
    /// What the system tells about interfaces.
    Interfaces,
}

impl Token {
    fn to_data(self) -> epoll::EventData {
        let (kind, number) = match self {
            Token::Waker => (0, 0),
            Token::Datagrams(number) => (1, number as u64),
            Token::Listener(number) => (2, number as u64),
            Token::Face(face) => (3, u64::from(face.0)),
            Token::Ethernet(number) => (4, number as u64),
            Token::Interfaces => (5, 0),
            Token::Ip(number) => (6, number as u64),
        };
        epoll::EventData::new_u64(kind << 56 | number)
    }

    fn of(data: epoll::EventData) -> Token {
        let number = data.u64() & ((1 << 56) - 1);
        match data.u64() >> 56 {
            1 => Token::Datagrams(number as usize),
            2 => Token::Listener(number as usize),
            3 => Token::Face(FaceId(number as u32)),
            4 => Token::Ethernet(number as usize),
            5 => Token::Interfaces,
            6 => Token::Ip(number as usize),
            _ => Token::Waker,
        }
    }
}

/// The data plane. All of it lives on one thread.
pub(crate) struct DataPlane {
    pub(crate) clock: Clock,
    pub(crate) now: Instant,
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    pub(crate) faces: Faces,
    pub(crate) sockets: sockets::Sockets,
    pub(crate) control: ControlEnd,
    occupancy: faces::limits::Occupancy,
    batch: Batch,
    schedule: scheduling::schedule::Schedule,
    gone_counters: GoneCounters,
    pub(crate) tapping: packets::taps::Tapping,
    interfaces: interfaces::InterfaceWatch,
    services: requests::services::Services,
    random: Random,
    stopping: bool,
}

/// What joins the data plane to other threads.
pub(crate) struct ControlEnd {
    waker: Arc<OwnedFd>,
    tasks: Receiver<Task>,
    messages: RingSender<Message>,
    /// Requests for the status page, and who waits for one.
    status_requests: requests::status_page::StatusRequests,
    /// Face events that the control thread had no room for.
    late_events: std::collections::VecDeque<FaceEvent>,
}

impl ControlEnd {
    fn send_message(&mut self, message: Message) -> Result<(), Refused<Message>> {
        // What a message takes is bounded by what it tells of; their number counts.
        self.messages.push(message, 0)?;
        self.messages.wake();
        Ok(())
    }

    /// Tells the control thread of routes of the configuration; gives them back if it has no time.
    pub(crate) fn tell_of_routes(
        &mut self,
        routes: Vec<(packet::Name, engine::NextHop)>,
    ) -> Option<Vec<(packet::Name, engine::NextHop)>> {
        match self.send_message(Message::Configured(routes)) {
            Err(Refused::Full(Message::Configured(routes))) => Some(routes),
            _ => None,
        }
    }

    /// Has requests for the status page go to the other end of a ring.
    pub(crate) fn pass_status_requests_to(&mut self, sender: RingSender<StatusRequest>) {
        self.status_requests.sender = Some(sender);
    }
}

/// What one turn moves, and the memory for it.
struct Batch {
    /// Packets for the engine.
    arrivals: Arrivals,
    /// Faces that have something to finish in this turn.
    touched: Vec<FaceId>,
    /// Lent to faces that have frames to send.
    outboxes: Vec<Outbox>,
    /// What datagrams are received with.
    receiver: Option<Box<datagrams::Receiver>>,
    /// Where streams are read into.
    scratch: Vec<u8>,
}

impl Batch {
    fn new() -> Self {
        Batch {
            arrivals: Arrivals::new(MANAGEMENT_FACE),
            touched: Vec::new(),
            outboxes: Vec::new(),
            receiver: Some(Box::new(datagrams::Receiver::new())),
            scratch: vec![0; SCRATCH_BYTES],
        }
    }

    /// Notes that a face has something to finish in this turn.
    #[inline]
    fn touch(&mut self, face: &mut Face) {
        if !face.activity.touched {
            face.activity.touched = true;
            self.touched.push(face.id);
        }
    }
}

/// What faces that are gone did, and what belonged to no face.
#[derive(Default)]
struct GoneCounters {
    traffic: Traffic,
    drops: DropCounters,
    packets: PacketCounts,
    parity: link::v2::ParityCounters,
    link_drops: std::collections::BTreeMap<&'static str, u64>,
}

impl GoneCounters {
    /// Keeps what a face counted.
    fn absorb(&mut self, traffic: &Traffic, drops: &DropCounters, packets: PacketCounts) {
        self.traffic.in_frames += traffic.in_frames;
        self.traffic.in_bytes += traffic.in_bytes;
        self.traffic.out_frames += traffic.out_frames;
        self.traffic.out_bytes += traffic.out_bytes;
        self.drops.absorb(drops);
        self.packets += packets;
    }
}

/// What another thread needs to reach the data plane.
pub(crate) struct Ends {
    pub(crate) tasks: Receiver<Task>,
    pub(crate) waker: Arc<OwnedFd>,
    pub(crate) messages: RingSender<Message>,
}

/// Sockets looked after in one turn.
const EVENTS_PER_TURN: usize = 256;
/// Tasks carried out in one turn.
const TASKS_PER_TURN: usize = 32;
/// Face events kept for a busy control thread.
const MAX_LATE_EVENTS: usize = 1 << 16;
/// Room for face events that is kept when none waits.
const FEW_LATE_EVENTS: usize = 1 << 10;
/// Bytes read from a stream at once, with what was left of the read before.
const SCRATCH_BYTES: usize = 256 << 10;

impl DataPlane {
    pub(crate) fn new(
        clock: Clock,
        engine: EngineConfig,
        settings: Settings,
        ends: Ends,
    ) -> std::io::Result<Self> {
        let random = Random::from_seed(engine.seed ^ 0x6e6f_6465);
        let engine = Engine::new(engine).map_err(std::io::Error::other)?;
        let now = clock.now();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &*ends.waker, Token::Waker.to_data(), epoll::EventFlags::IN)?;
        Ok(DataPlane {
            clock,
            now,
            engine,
            settings,
            faces: Faces::default(),
            sockets: sockets::Sockets::new(epoll),
            control: ControlEnd {
                waker: ends.waker,
                tasks: ends.tasks,
                messages: ends.messages,
                status_requests: Default::default(),
                late_events: Default::default(),
            },
            occupancy: faces::limits::Occupancy::new(now),
            batch: Batch::new(),
            schedule: scheduling::schedule::Schedule::new(now),
            gone_counters: GoneCounters::default(),
            tapping: packets::taps::Tapping::default(),
            interfaces: interfaces::InterfaceWatch::default(),
            services: requests::services::Services::default(),
            random,
            stopping: false,
        })
    }

    /// Works until it is told to stop.
    pub(crate) fn run(&mut self) {
        let mut events = Vec::with_capacity(EVENTS_PER_TURN);
        while !self.stopping {
            if let Err(error) = self.step(&mut events) {
                tracing::error!(%error, "waiting for sockets failed; the data plane ends");
                return;
            }
        }
        for face in self.faces.keys().copied().collect::<Vec<_>>() {
            self.destroy_face(face, "the node is shutting down");
        }
    }

    /// Waits, and does what there is to do then.
    fn step(&mut self, events: &mut Vec<epoll::Event>) -> rustix::io::Result<()> {
        events.clear();
        let how_long = self.how_long_to_sleep();
        match sleep(&self.sockets.epoll, events, how_long) {
            Ok(()) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        self.turn(events);
        Ok(())
    }

    /// Does everything that is ready, each source its share.
    fn turn(&mut self, events: &[epoll::Event]) {
        self.now = self.clock.now();
        self.schedule.waking.had_events = !events.is_empty();
        self.schedule.waking.packets = 0;
        if self.schedule.waking.had_events {
            self.schedule
                .waking
                .arrival_gaps
                .arrived(self.now.saturating_since(self.schedule.waking.last_work));
            self.schedule.waking.last_work = self.now;
            self.schedule.waking.busy_poll.arrived();
            self.schedule.waking.arrival_poll.arrived();
        }
        let (later, first) = events.split_at(self.schedule.turn.begin(events.len()));
        let mut put_off = std::mem::take(&mut self.schedule.put_off);
        for event in first.iter().chain(later) {
            if self.schedule.turn.has_heavy() && self.comes_last(Token::of(event.data)) {
                put_off.push(*event);
            } else {
                self.handle(event);
            }
        }
        if !put_off.is_empty() {
            // What the others brought about does not wait for these.
            self.finish_touched();
            put_off.drain(..).for_each(|event| self.handle(&event));
        }
        self.schedule.put_off = put_off;
        if self.engine.next_deadline() <= self.now {
            self.engine.advance(self.now);
            self.send_all();
        }
        self.release_delayed();
        self.ring_alarms();
        self.sockets.listen_again(self.now);
        self.end_rests();
        self.check_interfaces();
        self.finish_touched();
        self.pass_on_events();
        if self.services.verification.is_some() {
            self.pass_on_samples();
        }
        if std::mem::take(&mut self.schedule.waking.asked)
            && self.engine.pending_count() <= scheduling::busy_poll::FEW_PENDING
        {
            self.schedule.waking.busy_poll.begin(self.now, self.settings.polling.answer);
        }
    }

    /// Does what one socket is ready for.
    fn handle(&mut self, event: &epoll::Event) {
        let flags = event.flags;
        let token = Token::of(event.data);
        let has_worked = match token {
            Token::Waker => self.carry_out_tasks(),
            Token::Datagrams(channel) => self.handle_datagrams(channel, flags),
            Token::Ip(channel) => self.handle_ip(channel, flags),
            Token::Ethernet(channel) => self.handle_ethernet(channel, flags),
            Token::Listener(listener) => self.accept(listener, flags),
            Token::Face(face) => self.handle_face(face, flags),
            Token::Interfaces => self.handle_interfaces(),
        };
        if has_worked {
            self.schedule.watchdog.worked(token);
        } else {
            self.note_idle(token);
        }
    }

    /// Whether what came by a socket waits for what came by others, because whoever is behind it used up the
    /// share of the turn before.
    #[cold]
    fn comes_last(&self, token: Token) -> bool {
        let source = match token {
            Token::Datagrams(number) | Token::Ip(number) => Some(self.source_of_datagrams(number)),
            Token::Ethernet(number) => Some(ChargedTo::Ethernet(number)),
            Token::Listener(number) => Some(ChargedTo::Listener(number)),
            Token::Face(face) => {
                self.faces.get(&face).and_then(|face| face.origin_now()).map(ChargedTo::Origin)
            }
            Token::Waker | Token::Interfaces => None,
        };
        source.is_some_and(|source| self.schedule.turn.comes_last(source))
    }

    /// Deadlines of frames that are held back, and of faces with trains or acknowledgements to send, are
    /// exact.
    fn how_long_to_sleep(&mut self) -> Sleep {
        let alarm = self.schedule.alarms.first().map_or(Instant::NEVER, |(when, _)| *when);
        let exact = self.tapping.delayed.next_deadline().min(alarm);
        let rough = self.engine.next_deadline().min(self.sockets.descriptors.next_deadline());
        let rough = rough.min(self.schedule.watchdog.next_deadline()).min(self.interfaces.next_deadline());
        let late_event = self.now + Duration::from_millis(10);
        let rough = if self.control.late_events.is_empty() { rough } else { rough.min(late_event) };
        if self.schedule.waking.had_events && self.settings.polling.answer > Duration::ZERO {
            let length = self.schedule.waking.arrival_gaps.poll_time(self.schedule.waking.packets);
            self.schedule.waking.arrival_poll.begin(self.now, length);
        }
        let is_awake = self.settings.polling.busy > Duration::ZERO
            || self.schedule.waking.busy_poll.is_on()
            || self.schedule.waking.arrival_poll.is_on();
        let deadline = exact.min(rough);
        if deadline == Instant::NEVER && !is_awake {
            return Sleep::Forever;
        }
        let now = self.clock.now();
        let busy_until = self.schedule.waking.last_work + self.settings.polling.busy;
        if busy_until > now
            || self.schedule.waking.busy_poll.is_held(now)
            || self.schedule.waking.arrival_poll.is_held(now)
        {
            return Sleep::Roughly(Duration::ZERO);
        }
        if deadline > now {
            self.schedule.watchdog.in_time();
            return Sleep::until(now, exact, rough.min(now + Duration::from_secs(3600)));
        }
        Sleep::Roughly(self.schedule.watchdog.overdue(self.schedule.waking.had_events))
    }

    fn carry_out_tasks(&mut self) -> bool {
        let mut count = [0; 8];
        let was_woken = rustix::io::read(&*self.control.waker, &mut count).is_ok();
        self.take_repository_answers();
        for _ in 0..TASKS_PER_TURN {
            let Ok(task) = self.control.tasks.try_recv() else { return was_woken };
            task(self);
            self.send_all();
        }
        // There may be more: come back after everybody else had a turn.
        let _ = rustix::io::write(&*self.control.waker, &1u64.to_ne_bytes());
        true
    }

    /// The socket that a token stands for, and what is asked about it.
    fn source_of(&self, token: Token) -> Option<(BorrowedFd<'_>, epoll::EventFlags)> {
        let flags = |waits: bool| {
            if waits { epoll::EventFlags::IN | epoll::EventFlags::OUT } else { epoll::EventFlags::IN }
        };
        Some(match token {
            Token::Waker => (self.control.waker.as_fd(), flags(false)),
            Token::Datagrams(number) | Token::Ip(number) => {
                let channel = self.sockets.channels.get(number)?;
                (channel.socket.as_fd(), flags(channel.is_waiting()))
            }
            Token::Ethernet(number) => (self.sockets.ethernet.get(number)?.ring.as_fd(), flags(false)),
            Token::Listener(number) => (self.sockets.listeners.get(number)?.as_fd(), flags(false)),
            Token::Interfaces => (self.interfaces.monitor()?, flags(false)),
            Token::Face(id) => {
                let face = self.faces.get(&id)?;
                face.transport.source(face.state)?
            }
        })
    }

    /// Ends the loop after this turn.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    /// Tells the control thread; what it has no time for is dropped and counted.
    pub(crate) fn tell(&mut self, message: Message) {
        match self.control.send_message(message) {
            Ok(()) => {}
            Err(Refused::Full(Message::Face(event)) | Refused::Closed(Message::Face(event))) => {
                if self.control.late_events.len() < MAX_LATE_EVENTS {
                    self.control.late_events.push_back(*event);
                } else {
                    self.gone_counters.drops.add(DropReason::ManagementBusy, 1);
                }
            }
            Err(_) => self.gone_counters.drops.add(DropReason::ManagementBusy, 1),
        }
    }

    fn tell_of_face(&mut self, event: FaceEvent) {
        if self.control.late_events.is_empty() || self.control.late_events.len() >= MAX_LATE_EVENTS {
            self.tell(Message::Face(Box::new(event)));
        } else {
            self.control.late_events.push_back(event);
        }
    }

    fn pass_on_events(&mut self) {
        while let Some(event) = self.control.late_events.pop_front() {
            let before = self.control.late_events.len();
            if let Err(Refused::Full(Message::Face(event))) =
                self.control.send_message(Message::Face(Box::new(event)))
            {
                self.control.late_events.push_front(*event);
                debug_assert_eq!(self.control.late_events.len(), before + 1);
                break;
            }
        }
        // After a flood the room for all that waited is given back.
        if self.control.late_events.is_empty() && self.control.late_events.capacity() > FEW_LATE_EVENTS {
            self.control.late_events = Default::default();
        }
        while let Some(event) = self.engine.poll_event() {
            self.tell(Message::Engine(event));
        }
    }
}
