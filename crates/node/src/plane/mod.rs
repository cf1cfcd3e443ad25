//! The data plane: one thread that owns the engine, the faces and their sockets.
//!
//! A turn waits until something is readable or due, reads from each readable socket a bounded share, hands the decoded packets to
//! the engine in batches, and writes what comes out of it, collected by face. Nothing in a turn blocks but the wait, and
//! nothing grows with what a peer sends but by the limits of the configuration.

mod alarms;
mod channels;
mod faces;
mod impaired;
mod interfaces;
mod limits;
mod operations;
mod own_sockets;
mod partials;
mod receive;
mod send;
mod shortage;
mod strangers;
mod taps;
mod vigil;
mod visitors;
mod watchdog;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use engine::{Engine, EngineConfig, FaceConfig, FaceId};
use packet::random::Random;
use packet::time::{Duration, Instant};
use rustix::event::epoll;

use crate::clock::Clock;
use crate::codec::Arrivals;
use crate::control::{FaceEvent, FaceState, INTERNAL_FACE};
use crate::drop_reason::{DropCounters, DropReason};
use crate::face::{Faces, Traffic, Transport};
use crate::sys::datagrams;
use crate::transport::Channels;
use crate::transport::ethernet::EthernetChannel;
use crate::transport::train::Outbox;

pub(crate) use channels::Listener;
pub(crate) use faces::Settings;
pub(crate) use impaired::Impaired;
pub(crate) use strangers::Origin;
pub(crate) use taps::{TapMaker, Taps};

/// Something that another thread wants done by the data plane.
pub(crate) type Task = Box<dyn FnOnce(&mut DataPlane) + Send>;

/// What the data plane tells the control thread.
pub(crate) enum Message {
    /// An Interest for the node itself, and the face it came by.
    Interest(packet::Interest, FaceId),
    /// What the node itself asked for.
    Data(packet::Data),
    /// What the node itself asked for came back.
    Nack(packet::Interest, packet::NackReason),
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
    epoll: OwnedFd,
    waker: Arc<OwnedFd>,
    tasks: Receiver<Task>,
    messages: SyncSender<Message>,
    /// Face events that the control thread had no room for.
    late_events: std::collections::VecDeque<FaceEvent>,
    pub(crate) faces: Faces,
    next_face: u32,
    on_demand_faces: usize,
    datagram_strangers: strangers::Strangers,
    stream_strangers: strangers::Strangers,
    /// When faces that can go are next searched for.
    next_search: Instant,
    /// What waits for peers to read, over all faces.
    queued_bytes: usize,
    /// What incomplete packets take, over all faces.
    partials: partials::Partials,
    waiting: partials::Partials,
    /// How often a stream was not read for a while because its reader was slow.
    holds: u64,
    channels: Channels,
    ethernet: Vec<EthernetChannel>,
    pub(crate) listeners: Vec<Listener>,
    arrivals: Arrivals,
    receiver: Option<Box<datagrams::Receiver>>,
    /// Where streams are read into.
    scratch: Vec<u8>,
    /// Faces that have something to finish in this turn.
    touched: Vec<FaceId>,
    outboxes: Vec<Outbox>,
    /// When faces want attention, soonest first. An entry counts only if it is its face's alarm.
    alarms: std::collections::BTreeSet<(Instant, FaceId)>,
    random: Random,
    /// What faces that are gone did, and what belonged to no face.
    pub(crate) past: Traffic,
    pub(crate) drops: DropCounters,
    pub(crate) past_packets: [[u64; 3]; 2],
    past_link_drops: std::collections::BTreeMap<&'static str, u64>,
    /// Taps for faces that are yet to come.
    tap_makers: Vec<(u64, TapMaker)>,
    next_tap: u64,
    delayed: taps::Delayed,
    stopping: bool,
    last_work: Instant,
    vigil: vigil::Vigil,
    rhythm: vigil::Rhythm,
    /// The wait for what comes next in a rhythm.
    lull: vigil::Vigil,
    /// Whether an Interest has been sent on in this turn.
    asked: bool,
    shortage: shortage::Shortage,
    watchdog: watchdog::Watchdog,
    interfaces: interfaces::InterfaceWatch,
    /// Whether the last wait brought something.
    had_events: bool,
}

/// What another thread needs to reach the data plane.
pub(crate) struct Ends {
    pub(crate) tasks: Receiver<Task>,
    pub(crate) waker: Arc<OwnedFd>,
    pub(crate) messages: SyncSender<Message>,
}

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
        let mut engine = Engine::new(engine).map_err(std::io::Error::other)?;
        let now = clock.now();
        engine.add_face(now, INTERNAL_FACE, FaceConfig::local()).map_err(std::io::Error::other)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &*ends.waker, Token::Waker.to_data(), epoll::EventFlags::IN)?;
        Ok(DataPlane {
            clock,
            now,
            engine,
            settings,
            epoll,
            waker: ends.waker,
            tasks: ends.tasks,
            messages: ends.messages,
            late_events: Default::default(),
            faces: Faces::default(),
            next_face: FaceId::LAST_RESERVED.0 + 1,
            on_demand_faces: 0,
            datagram_strangers: Default::default(),
            stream_strangers: Default::default(),
            next_search: now,
            queued_bytes: 0,
            partials: Default::default(),
            waiting: Default::default(),
            holds: 0,
            channels: Channels::default(),
            ethernet: Vec::new(),
            listeners: Vec::new(),
            arrivals: Arrivals::new(),
            receiver: Some(Box::new(datagrams::Receiver::new())),
            scratch: vec![0; SCRATCH_BYTES],
            touched: Vec::new(),
            outboxes: Vec::new(),
            alarms: Default::default(),
            random,
            past: Traffic::default(),
            drops: DropCounters::default(),
            past_packets: [[0; 3]; 2],
            past_link_drops: Default::default(),
            tap_makers: Vec::new(),
            next_tap: 1,
            delayed: taps::Delayed::default(),
            stopping: false,
            last_work: now,
            vigil: vigil::Vigil::default(),
            rhythm: Default::default(),
            lull: vigil::Vigil::default(),
            asked: false,
            shortage: shortage::Shortage::new(),
            watchdog: watchdog::Watchdog::default(),
            interfaces: interfaces::InterfaceWatch::default(),
            had_events: false,
        })
    }

    /// Works until it is told to stop.
    pub(crate) fn run(&mut self) {
        let mut events = Vec::with_capacity(64);
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
        let timeout = self.timeout();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        self.turn(events);
        Ok(())
    }

    /// Does everything that is ready, each source its share.
    fn turn(&mut self, events: &[epoll::Event]) {
        self.now = self.clock.now();
        self.had_events = !events.is_empty();
        if self.had_events {
            self.rhythm.arrived(self.now.saturating_since(self.last_work));
            self.last_work = self.now;
            self.vigil.arrived();
            self.lull.arrived();
        }
        for event in events {
            let flags = event.flags;
            let token = Token::of(event.data);
            let has_worked = match token {
                Token::Waker => self.carry_out_tasks(),
                Token::Datagrams(channel) => self.handle_datagrams(channel, flags),
                Token::Ethernet(channel) => self.handle_ethernet(channel, flags),
                Token::Listener(listener) => self.accept(listener, flags),
                Token::Face(face) => self.handle_stream(face, flags),
                Token::Interfaces => self.handle_interfaces(),
            };
            if has_worked {
                self.watchdog.worked(token);
            } else {
                self.note_idle(token);
            }
        }
        if self.engine.next_deadline() <= self.now {
            self.engine.advance(self.now);
            self.send_all();
        }
        self.release_delayed();
        self.ring_alarms();
        self.end_shortage();
        self.end_rests();
        self.check_interfaces();
        self.finish_touched();
        self.pass_on_events();
        if std::mem::take(&mut self.asked) && self.engine.pending_count() <= vigil::FEW_PENDING {
            self.vigil.begin(self.now, self.settings.answer_poll);
        }
    }

    /// How long to sleep; `None` for ever.
    fn timeout(&mut self) -> Option<rustix::event::Timespec> {
        let deadline =
            self.engine.next_deadline().min(self.alarms.first().map_or(Instant::NEVER, |(when, _)| *when));
        let deadline = deadline.min(self.delayed.next_deadline()).min(self.shortage.next_deadline());
        let deadline = deadline.min(self.watchdog.next_deadline()).min(self.interfaces.next_deadline());
        let deadline = if self.late_events.is_empty() {
            deadline
        } else {
            deadline.min(self.now + Duration::from_millis(10))
        };
        if self.had_events && self.settings.answer_poll > Duration::ZERO {
            self.lull.begin(self.now, self.rhythm.pause());
        }
        let is_awake = self.settings.busy_poll > Duration::ZERO || self.vigil.is_on() || self.lull.is_on();
        if deadline == Instant::NEVER && !is_awake {
            return None;
        }
        let now = self.clock.now();
        let busy_until = self.last_work + self.settings.busy_poll;
        let nanos = if busy_until > now || self.vigil.is_held(now) || self.lull.is_held(now) {
            0
        } else {
            let nanos = deadline.saturating_since(now).as_nanos().min(3_600_000_000_000);
            if nanos > 0 {
                self.watchdog.in_time();
                nanos
            } else {
                self.watchdog.overdue(self.had_events).as_nanos()
            }
        };
        let (tv_sec, tv_nsec) = ((nanos / 1_000_000_000) as i64, (nanos % 1_000_000_000) as i64);
        Some(rustix::event::Timespec { tv_sec, tv_nsec })
    }

    fn carry_out_tasks(&mut self) -> bool {
        let mut count = [0; 8];
        let was_woken = rustix::io::read(&*self.waker, &mut count).is_ok();
        for _ in 0..TASKS_PER_TURN {
            let Ok(task) = self.tasks.try_recv() else { return was_woken };
            task(self);
            self.send_all();
        }
        // There may be more: come back after everybody else had a turn.
        let _ = rustix::io::write(&*self.waker, &1u64.to_ne_bytes());
        true
    }

    /// The socket that a token stands for, and what is asked about it.
    fn source_of(&self, token: Token) -> Option<(BorrowedFd<'_>, epoll::EventFlags)> {
        let flags = |waits: bool| {
            if waits { epoll::EventFlags::IN | epoll::EventFlags::OUT } else { epoll::EventFlags::IN }
        };
        Some(match token {
            Token::Waker => (self.waker.as_fd(), flags(false)),
            Token::Datagrams(number) => {
                let channel = self.channels.get(number)?;
                (channel.socket.as_fd(), flags(channel.is_waiting()))
            }
            Token::Ethernet(number) => (self.ethernet.get(number)?.ring.as_fd(), flags(false)),
            Token::Listener(number) => (self.listeners.get(number)?.as_fd(), flags(false)),
            Token::Interfaces => (self.interfaces.monitor()?, flags(false)),
            Token::Face(id) => {
                let face = self.faces.get(&id)?;
                let Transport::Stream(port) = &face.transport else { return None };
                let stream = port.stream.as_ref()?;
                let connecting = face.state == FaceState::Down;
                (stream.socket.as_fd(), if connecting { flags(true) } else { stream.flags() })
            }
        })
    }

    /// Ends the loop after this turn.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    /// Tells the control thread; what it has no time for is dropped and counted.
    pub(crate) fn tell(&mut self, message: Message) {
        match self.messages.try_send(message) {
            Ok(()) => {}
            Err(
                TrySendError::Full(Message::Face(event)) | TrySendError::Disconnected(Message::Face(event)),
            ) => {
                if self.late_events.len() < MAX_LATE_EVENTS {
                    self.late_events.push_back(*event);
                } else {
                    self.drops.count(DropReason::ManagementBusy);
                }
            }
            Err(_) => self.drops.count(DropReason::ManagementBusy),
        }
    }

    /// Tells the control thread of routes of the configuration; gives them back if it has no time.
    pub(crate) fn tell_of_routes(
        &mut self,
        routes: Vec<(packet::Name, engine::NextHop)>,
    ) -> Option<Vec<(packet::Name, engine::NextHop)>> {
        match self.messages.try_send(Message::Configured(routes)) {
            Err(TrySendError::Full(Message::Configured(routes))) => Some(routes),
            _ => None,
        }
    }

    fn tell_of_face(&mut self, event: FaceEvent) {
        if self.late_events.is_empty() || self.late_events.len() >= MAX_LATE_EVENTS {
            self.tell(Message::Face(Box::new(event)));
        } else {
            self.late_events.push_back(event);
        }
    }

    fn pass_on_events(&mut self) {
        while let Some(event) = self.late_events.pop_front() {
            let before = self.late_events.len();
            if let Err(TrySendError::Full(Message::Face(event))) =
                self.messages.try_send(Message::Face(Box::new(event)))
            {
                self.late_events.push_front(*event);
                debug_assert_eq!(self.late_events.len(), before + 1);
                break;
            }
        }
        // After a flood the room for all that waited is given back.
        if self.late_events.is_empty() && self.late_events.capacity() > FEW_LATE_EVENTS {
            self.late_events = Default::default();
        }
        while let Some(event) = self.engine.poll_event() {
            self.tell(Message::Engine(event));
        }
    }

    fn watch(&self, source: impl AsFd, token: Token, flags: epoll::EventFlags) -> std::io::Result<()> {
        Ok(epoll::add(&self.epoll, source, token.to_data(), flags)?)
    }
}
