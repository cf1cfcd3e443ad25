//! A data plane without a thread, for tests: it works only when it is told to.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use packet::Dialect;
use system::Clock;

use crate::config::Config;
use crate::control::{CreateFace, FaceChanges, FacePersistency, FaceUri};
use crate::plane::{DataPlane, Ends, Message, Task};
use crate::start::{self, CheckedConfig};
use crate::transport::ring::{RingLimits, RingReceiver, Signal, ring};

pub(super) struct Bench {
    pub(super) plane: DataPlane,
    pub(super) here: std::net::SocketAddr,
    _messages: RingReceiver<Message>,
    _tasks: std::sync::mpsc::SyncSender<Task>,
}

/// A data plane that works only when it is told to, with a small receive buffer.
pub(super) fn bench() -> Bench {
    let mut config = Config::default();
    config.udp.listen = vec!["127.0.0.1:0".parse().unwrap()];
    config.udp.receive_buffer_bytes = 200_000;
    (config.tcp.listen, config.websocket.listen) = (Vec::new(), Vec::new());
    config.unix.listen = Some(Vec::new());
    let checked = CheckedConfig::read(&config).unwrap();
    let prepared = start::prepare(&config, &checked).unwrap().0;
    let (tasks_in, tasks) = sync_channel(1);
    let limits = RingLimits { items: 1 << 16, bytes: usize::MAX };
    let (messages, messages_out) = ring(limits, Signal::new().unwrap(), Signal::new().unwrap());
    let flags = rustix::event::EventfdFlags::NONBLOCK;
    let waker = Arc::new(rustix::event::eventfd(0, flags).unwrap());
    let plane = start::data_plane(Clock::start(), prepared, Ends { tasks, waker, messages }).unwrap();
    let here = match plane.sockets.channel_uris().first() {
        Some(FaceUri::Udp(address)) => *address,
        other => panic!("{other:?}"),
    };
    Bench { plane, here, _messages: messages_out, _tasks: tasks_in }
}

impl Bench {
    /// Turns until there is nothing to read any more.
    pub(super) fn work(&mut self) {
        let mut events = Vec::with_capacity(64);
        // So that a turn does not wait.
        self.plane.settings.polling.busy = packet::time::Duration::from_secs(60);
        self.plane.schedule.waking.last_work = self.plane.clock.now();
        loop {
            self.plane.step(&mut events).unwrap();
            if events.is_empty() {
                return;
            }
        }
    }

    pub(super) fn neighbour(&mut self) -> (UdpSocket, engine::FaceId) {
        let socket = peer();
        let request = CreateFace {
            remote: FaceUri::Udp(socket.local_addr().unwrap()),
            local: None,
            persistency: FacePersistency::Permanent,
            changes: FaceChanges::default(),
            dialect: Dialect::Ndn,
        };
        let face = self.plane.create_face(&request).unwrap().id;
        (socket, face)
    }

    pub(super) fn in_frames(&self, face: engine::FaceId) -> u64 {
        self.plane.faces.get(&face).unwrap().counters.traffic.in_frames
    }
}

pub(super) fn peer() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}
