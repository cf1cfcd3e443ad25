//! A node in this process, an honest producer behind it, and the demands that are made on it after each
//! attack.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cairn_node::config::Config;
use cairn_node::control::{FaceSnapshot, FaceUri, NodeControl as _};
use cairn_node::management::{ManagementConfig, NfdManagement};
use cairn_node::{DropReason, Node};
use management::{Command, CommandScope, ControlParameters, ControlResponse, Dataset, discovery_interest};
use packet::Name;
use packet::ndn::{DataBuilder, InterestBuilder};
use testkit::folder::TestFolder;

use crate::peer::{Listener, Peer, interest};

/// How long anything may take that takes no time on a machine with nothing else to do.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A node to be attacked.
pub(crate) struct Victim {
    pub(crate) node: Node,
    pub(crate) unix: Listener,
    pub(crate) tcp: Listener,
    pub(crate) udp: Listener,
    pub(crate) websocket: Listener,
    directory: TestFolder,
    producer: Option<Producer>,
}

impl Victim {
    pub(crate) fn start() -> Self {
        Victim::with(|_| {})
    }

    /// A node with the default configuration but for its addresses and what `change` does. An honest producer
    /// serves `/honest` over its unix socket.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let directory = TestFolder::numbered("hostile");
        let path = directory.join("nfd.sock");
        let loopback = "127.0.0.1:0".parse().unwrap();
        let mut config = Config::default();
        config.udp.listen = vec![loopback];
        config.tcp.listen = vec![loopback];
        config.unix.listen = Some(vec![path.clone()]);
        config.websocket.listen = vec![loopback];
        config.metrics.listen = Some(loopback);
        change(&mut config);
        let management = NfdManagement::new(ManagementConfig::read(&config).unwrap());
        let node = Node::start(&config, Box::new(management)).unwrap();
        let (mut udp, mut tcp, mut websocket) = (None, None, None);
        for uri in node.control().channels() {
            match uri {
                FaceUri::Udp(address) if !address.ip().is_multicast() => udp = Some(Listener::Udp(address)),
                FaceUri::Tcp(address) => tcp = Some(Listener::Tcp(address)),
                FaceUri::WebSocket(address) => websocket = Some(Listener::WebSocket(address)),
                _ => {}
            }
        }
        let unix = Listener::Unix(path);
        let producer = Some(Producer::start(&unix));
        let (udp, tcp, websocket) = (udp.unwrap(), tcp.unwrap(), websocket.unwrap());
        Victim { node, unix, tcp, udp, websocket, directory, producer }
    }

    /// Demands that the node answers over every kind of socket, and manages itself.
    pub(crate) fn assert_serves(&self) {
        for place in [&self.unix, &self.tcp, &self.udp, &self.websocket] {
            self.assert_serves_at(place);
        }
        self.assert_manages();
    }

    pub(crate) fn assert_serves_at(&self, place: &Listener) {
        let deadline = Instant::now() + SOON;
        let mut peer = connect(place, deadline);
        let answer = peer.ask(&interest(&fresh_name("/honest")), deadline);
        assert!(answer.is_some(), "nothing came back over {place:?} within {SOON:?}");
    }

    /// Demands that management answers a question and a command.
    pub(crate) fn assert_manages(&self) {
        let deadline = Instant::now() + SOON;
        let mut peer = connect(&self.unix, deadline);
        let question = discovery_interest(Dataset::StatusGeneral.name().unwrap());
        assert!(peer.ask(&question, deadline).is_some(), "no status within {SOON:?}");
        let response = register(&mut peer, &fresh_name("/registered"), deadline);
        assert!(response.is_ok(), "a registration was refused: {response:?}");
    }

    pub(crate) fn faces(&self) -> Vec<FaceSnapshot> {
        self.node.control().faces()
    }

    /// How often a transport dropped something for this reason, over all faces and past ones.
    pub(crate) fn drops(&self, reason: DropReason) -> u64 {
        self.counted(&format!("cairn_drops_total{{layer=\"transport\",reason=\"{}\"}}", reason.as_str()))
    }

    /// What the metrics say about a series.
    pub(crate) fn counted(&self, series: &str) -> u64 {
        let page = self.metrics();
        let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        let Some(value) = line else { panic!("the metrics have no {series}:\n{page}") };
        value.trim().parse::<f64>().unwrap() as u64
    }

    pub(crate) fn metrics(&self) -> String {
        let mut connection = TcpStream::connect(self.node.metrics_address().unwrap()).unwrap();
        connection.set_read_timeout(Some(SOON)).unwrap();
        connection.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut page = String::new();
        connection.read_to_string(&mut page).unwrap();
        page
    }

    /// Where things of this victim may be put.
    pub(crate) fn directory(&self) -> &std::path::Path {
        &self.directory
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.producer = None;
        self.node.shut_down();
    }
}

/// Connects, again and again if a flood stands before the door.
pub(crate) fn connect(place: &Listener, deadline: Instant) -> Peer {
    loop {
        match Peer::connect(place) {
            Ok(peer) => return peer,
            Err(error) => assert!(Instant::now() < deadline, "no connection to {place:?}: {error}"),
        }
        std::thread::yield_now();
    }
}

/// Waits until `holds` does.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {SOON:?}");
        std::thread::yield_now();
    }
}

/// A name under `prefix` that was never used before.
pub(crate) fn fresh_name(prefix: &str) -> Name {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}/{number}").parse().unwrap()
}

/// Gives a command and waits for what comes back.
pub(crate) fn command(
    peer: &mut Peer,
    command: Command,
    parameters: &ControlParameters,
    deadline: Instant,
) -> Option<ControlResponse> {
    let interest = command_interest(command, parameters);
    let answer = peer.ask(&interest, deadline)?;
    ControlResponse::decode(answer.content()).ok()
}

/// The Interest that gives a command. Each is another, so that none is answered by the answer to one before.
pub(crate) fn command_interest(command: Command, parameters: &ControlParameters) -> InterestBuilder {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let interest = command.interest(CommandScope::Localhost, parameters).unwrap();
    interest.application_parameters(number.to_be_bytes().to_vec())
}

/// Registers a prefix to the connection that the command comes by.
pub(crate) fn register(peer: &mut Peer, prefix: &Name, deadline: Instant) -> ControlResponse {
    let parameters = ControlParameters { name: Some(prefix.clone()), ..Default::default() };
    let response = command(peer, Command::RibRegister, &parameters, deadline);
    response.unwrap_or_else(|| panic!("no answer to the registration of {prefix}"))
}

/// Answers everything under `/honest` over the unix socket.
struct Producer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Producer {
    fn start(unix: &Listener) -> Self {
        let mut peer = connect(unix, Instant::now() + SOON);
        let response = register(&mut peer, &"/honest".parse().unwrap(), Instant::now() + SOON);
        assert!(response.is_ok(), "{response:?}");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let Some(asked) = peer.receive_interest(Instant::now() + Duration::from_millis(50)) else {
                    continue;
                };
                let data = DataBuilder::new(asked.name().to_name()).content(vec![7; 64]);
                let _ = peer.send(data.build_with_digest().unwrap().wire());
            }
        });
        Producer { stop, thread: Some(thread) }
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
