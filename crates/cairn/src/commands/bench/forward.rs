//! `cairn bench forward`.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use node::load::{
    Shape, StreamExchange, StreamSocket, UdpExchange, UdpExchangeConfig, UdpPing, udp_producer,
};
use thiserror::Error;

use super::process::{Forwarder, stay_on};
use super::report;
use super::subjects::{Stage, Subject, Wiring, find_ndnd, free_tcp_port, free_udp_port};
use super::{ForwardArguments, Part};

/// Why nothing was measured.
#[derive(Debug, Error)]
pub(super) enum BenchError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("{subject} forwarded nothing within {seconds} seconds")]
    Silent { subject: &'static str, seconds: u64 },
}

/// One line of the result.
pub(super) struct Row {
    pub(super) part: &'static str,
    pub(super) subject: &'static str,
    /// What, how much, and in which unit.
    pub(super) values: Vec<(&'static str, f64, &'static str)>,
}

/// How long a forwarder may take until the first packet comes through.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// Exchanges before each measurement, so that tables have grown and processors have woken up.
const WARM_UP: Duration = Duration::from_millis(700);

struct Bench<'a> {
    arguments: &'a ForwardArguments,
    stage: Stage,
    rows: Vec<Row>,
}

pub(super) fn run(arguments: &ForwardArguments) -> Result<(), BenchError> {
    let directory = std::env::temp_dir().join(format!("cairn-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let (forwarder_cpu, load_cpu) = match arguments.cpus[..] {
        [forwarder, load] => (forwarder, load),
        _ => (0, 1),
    };
    let prefix = shape(arguments, 0).prefix().map_err(io::Error::other)?.to_string();
    let stage = Stage { directory: directory.clone(), forwarder_cpu, load_cpu, prefix };
    let mut bench = Bench { arguments, stage, rows: Vec::new() };
    let outcome = stay_on(load_cpu).map_err(BenchError::from).and_then(|()| bench.measure());
    let _ = std::fs::remove_dir_all(directory);
    if arguments.json {
        report::print_json(&bench.rows);
    } else {
        report::print_table(&bench.rows);
    }
    outcome
}

fn shape(arguments: &ForwardArguments, payload_bytes: usize) -> Shape {
    Shape { name_bytes: arguments.name_bytes, payload_bytes }
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)
}

impl Bench<'_> {
    fn measure(&mut self) -> Result<(), BenchError> {
        let mut subjects = vec![Subject::Relay, Subject::Cairn];
        if !self.arguments.no_ndnd {
            subjects.extend(self.arguments.ndnd.clone().or_else(find_ndnd).map(Subject::Ndnd));
        }
        subjects.extend(self.arguments.command.clone().map(Subject::Command));
        for subject in &subjects {
            self.measure_subject(subject)?;
        }
        self.rows.sort_by_key(|row| PARTS.iter().position(|part| *part == row.part));
        self.compare();
        Ok(())
    }

    fn wants(&self, part: Part) -> bool {
        self.arguments.only.is_empty() || self.arguments.only.contains(&part)
    }

    fn measure_subject(&mut self, subject: &Subject) -> Result<(), BenchError> {
        let window = self.arguments.window;
        if self.wants(Part::Udp) {
            self.udp(UDP, subject, 1000, window, 0)?;
        }
        if self.wants(Part::UdpLarge) {
            self.udp(UDP_LARGE, subject, 8000, window.min(128), 0)?;
        }
        let caches = !matches!(subject, Subject::Relay);
        if self.wants(Part::UdpCached) && caches {
            self.udp(UDP_CACHED, subject, 1000, window, 512)?;
        }
        if self.wants(Part::Tcp) {
            self.stream(TCP, subject, &self.tcp_wiring()?)?;
        }
        if self.wants(Part::Unix) {
            let (listen, producer) =
                (self.stage.directory.join("forwarder.sock"), self.stage.directory.join("producer.sock"));
            self.stream(UNIX, subject, &Wiring::Unix { listen, producer })?;
        }
        if self.wants(Part::Latency) {
            self.latency(subject)?;
        }
        if self.wants(Part::Pending) && caches {
            self.pending(subject)?;
        }
        if self.wants(Part::Start) && caches {
            self.start(subject)?;
        }
        Ok(())
    }

    fn tcp_wiring(&self) -> io::Result<Wiring> {
        Ok(Wiring::Tcp { listen: loopback(free_tcp_port()?), producer: loopback(free_tcp_port()?) })
    }

    /// Exchanges over UDP: cost and rate.
    fn udp(
        &mut self,
        part: &'static str,
        subject: &Subject,
        payload_bytes: usize,
        window: u64,
        catalogue: u64,
    ) -> Result<(), BenchError> {
        let listen = loopback(free_udp_port()?);
        let shape = shape(self.arguments, payload_bytes);
        let config = UdpExchangeConfig { forwarder: listen, window: 1, catalogue, shape };
        let mut exchange = UdpExchange::new(config, loopback(0), loopback(0))?;
        let wiring = Wiring::Udp { listen, producer: exchange.producer_address()? };
        if !subject.speaks(&wiring) {
            return Ok(());
        }
        let mut forwarder = subject.start(&wiring, &self.stage)?;
        let deadline = Instant::now() + START_PATIENCE;
        while exchange.report().data == 0 {
            silent_if_late(subject, deadline, &mut forwarder)?;
            exchange.run(Duration::from_millis(50))?;
        }
        exchange.set_window(window);
        exchange.run(WARM_UP)?;
        let (before, cpu) = (exchange.report(), forwarder.cpu_time());
        exchange.run(Duration::from_secs_f64(self.arguments.seconds))?;
        let (done, cpu) = (exchange.report() - before, forwarder.cpu_time() - cpu);
        self.note(part, subject, done, cpu, &forwarder);
        Ok(())
    }

    fn note(
        &mut self,
        part: &'static str,
        subject: &Subject,
        done: node::load::Report,
        cpu: Duration,
        forwarder: &Forwarder,
    ) {
        let exchanges = done.data.max(1) as f64;
        self.rows.push(Row {
            part,
            subject: subject.name(),
            values: vec![
                ("cost", cpu.as_secs_f64() / exchanges * 1e6, " us"),
                ("per CPU second", exchanges / cpu.as_secs_f64().max(1e-9), ""),
                ("per second", done.data as f64 / done.seconds, ""),
                ("core used", cpu.as_secs_f64() / done.seconds * 100.0, " %"),
                ("lost", done.lost as f64 / done.interests.max(1) as f64 * 100.0, " %"),
                ("resident", forwarder.resident_bytes() as f64 / 1e6, " MB"),
            ],
        });
    }

    /// Exchanges over connections.
    fn stream(&mut self, part: &'static str, subject: &Subject, wiring: &Wiring) -> Result<(), BenchError> {
        if !subject.speaks(wiring) {
            return Ok(());
        }
        let connections = Connections::listen(wiring)?;
        let mut forwarder = subject.start(wiring, &self.stage)?;
        let deadline = Instant::now() + START_PATIENCE;
        let producer = connections
            .accept(deadline)
            .ok_or(BenchError::Silent { subject: subject.name(), seconds: START_PATIENCE.as_secs() })?;
        let consumer = loop {
            silent_if_late(subject, deadline, &mut forwarder)?;
            match connect(wiring) {
                Ok(consumer) => break consumer,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let shape = shape(self.arguments, 1000);
        let mut exchange = StreamExchange::new(consumer, producer, shape, self.arguments.window, 0)?;
        while exchange.report().data == 0 {
            silent_if_late(subject, deadline, &mut forwarder)?;
            exchange.run(Duration::from_millis(50))?;
        }
        exchange.run(WARM_UP)?;
        let (before, cpu) = (exchange.report(), forwarder.cpu_time());
        exchange.run(Duration::from_secs_f64(self.arguments.seconds))?;
        let (done, cpu) = (exchange.report() - before, forwarder.cpu_time() - cpu);
        self.note(part, subject, done, cpu, &forwarder);
        connections.remove();
        Ok(())
    }

    /// Pings through a forwarder with nothing else to do, beside pings without one.
    fn latency(&mut self, subject: &Subject) -> Result<(), BenchError> {
        let shape = shape(self.arguments, 1000);
        let listen = loopback(free_udp_port()?);
        let producer = Producer::start(shape)?;
        let wiring = Wiring::Udp { listen, producer: producer.address };
        if !subject.speaks(&wiring) {
            return Ok(());
        }
        let mut forwarder = subject.start(&wiring, &self.stage)?;
        let mut ping = UdpPing::new(loopback(0), listen, shape, 0)?;
        await_ping(subject, &mut ping, &mut forwarder)?;
        let mut direct = UdpPing::new(loopback(0), producer.address, shape, 1 << 32)?;
        let pause = Duration::from_millis(2);
        let count = (self.arguments.seconds * 200.0) as usize;
        let (through, without) = (ping.series(count, pause), direct.series(count, pause));
        // Half of what the round trip takes longer: each way passes the forwarder once.
        let added = |part| (through.quantile(part) as f64 - without.quantile(0.5) as f64) / 2000.0;
        self.rows.push(Row {
            part: LATENCY,
            subject: subject.name(),
            values: vec![
                ("added one way p50", added(0.5), " us"),
                ("p99", added(0.99), " us"),
                ("round trip p50", through.quantile(0.5) as f64 / 1000.0, " us"),
                ("p99", through.quantile(0.99) as f64 / 1000.0, " us"),
                ("without p50", without.quantile(0.5) as f64 / 1000.0, " us"),
                ("lost", through.lost as f64, ""),
            ],
        });
        Ok(())
    }

    /// Interests for content that does not exist on one face, and pings on another.
    fn pending(&mut self, subject: &Subject) -> Result<(), BenchError> {
        let shape = shape(self.arguments, 1000);
        let listen = loopback(free_udp_port()?);
        let producer = Producer::start(shape)?;
        let wiring = Wiring::Udp { listen, producer: producer.address };
        if !subject.speaks(&wiring) {
            return Ok(());
        }
        let mut forwarder = subject.start(&wiring, &self.stage)?;
        let mut ping = UdpPing::new(loopback(0), listen, shape, 1 << 32)?;
        await_ping(subject, &mut ping, &mut forwarder)?;
        let pause = Duration::from_millis(2);
        let count = (self.arguments.seconds * 300.0) as usize;
        let idle = ping.series(count, pause);
        let cpu = forwarder.cpu_time();
        producer.silence_below.store(true, Ordering::Relaxed);
        let stop = Arc::new(AtomicBool::new(false));
        let flood = {
            let stop = stop.clone();
            std::thread::spawn(move || flood(listen, shape, &stop))
        };
        // Until as many are pending as there will be.
        std::thread::sleep(Duration::from_millis(4500));
        let flooded = ping.series(count, pause);
        let resident = forwarder.resident_bytes();
        stop.store(true, Ordering::Relaxed);
        let sent = flood.join().map_err(|_| io::Error::other("the flood ended early"))??;
        let cpu = forwarder.cpu_time() - cpu;
        self.rows.push(Row {
            part: PENDING,
            subject: subject.name(),
            values: vec![
                ("resident", resident as f64 / 1e6, " MB"),
                ("ping p50", flooded.quantile(0.5) as f64 / 1000.0, " us"),
                ("p99", flooded.quantile(0.99) as f64 / 1000.0, " us"),
                ("idle p99", idle.quantile(0.99) as f64 / 1000.0, " us"),
                ("p99 against idle", flooded.quantile(0.99) as f64 / idle.quantile(0.99).max(1) as f64, "x"),
                ("pings lost", flooded.lost as f64, ""),
                ("cost of an Interest", cpu.as_secs_f64() / sent.max(1) as f64 * 1e6, " us"),
            ],
        });
        Ok(())
    }

    /// From the start of the process to the first packet that comes through.
    fn start(&mut self, subject: &Subject) -> Result<(), BenchError> {
        let shape = shape(self.arguments, 1000);
        let listen = loopback(free_udp_port()?);
        let producer = Producer::start(shape)?;
        let wiring = Wiring::Udp { listen, producer: producer.address };
        if !subject.speaks(&wiring) {
            return Ok(());
        }
        let started = Instant::now();
        let mut forwarder = subject.start(&wiring, &self.stage)?;
        let socket = UdpSocket::bind(loopback(0))?;
        socket.connect(listen)?;
        drop(socket);
        let mut ping = UdpPing::new(loopback(0), listen, shape, 0)?;
        await_ping(subject, &mut ping, &mut forwarder)?;
        let values = vec![("first packet after", started.elapsed().as_secs_f64() * 1000.0, " ms")];
        self.rows.push(Row { part: START, subject: subject.name(), values });
        Ok(())
    }

    /// Adds to each cost what it is relative to the relay and to ndnd in the same part.
    fn compare(&mut self) {
        let cost = |rows: &[Row], part: &str, subject: &str| {
            let row = rows.iter().find(|row| row.part == part && row.subject == subject)?;
            row.values.iter().find(|(what, _, _)| *what == "cost").map(|(_, value, _)| *value)
        };
        for index in 0..self.rows.len() {
            let Some(row) = self.rows.get(index) else { continue };
            let Some(own) = cost(&self.rows, row.part, row.subject) else { continue };
            let relay = cost(&self.rows, row.part, "bare relay").filter(|_| row.subject != "bare relay");
            let ndnd = cost(&self.rows, row.part, "ndnd").filter(|_| row.subject != "ndnd");
            let Some(row) = self.rows.get_mut(index) else { continue };
            row.values.extend(relay.map(|relay| ("against relay", own / relay, "x")));
            row.values.extend(ndnd.map(|ndnd| ("cheaper than ndnd", ndnd / own, "x")));
        }
    }
}

const UDP: &str = "UDP, 1 kB of payload";
const UDP_LARGE: &str = "UDP, 8 kB of payload";
const UDP_CACHED: &str = "UDP, cache hits of 1 kB";
const TCP: &str = "TCP, 1 kB of payload";
const UNIX: &str = "unix sockets, 1 kB of payload";
const LATENCY: &str = "latency at low load";
const PENDING: &str = "150,000 pending Interests on one face, pings on another";
const START: &str = "start";
const PARTS: [&str; 8] = [UDP, UDP_LARGE, UDP_CACHED, TCP, UNIX, LATENCY, PENDING, START];

fn silent_if_late(subject: &Subject, deadline: Instant, forwarder: &mut Forwarder) -> Result<(), BenchError> {
    if Instant::now() > deadline || forwarder.has_ended() {
        return Err(BenchError::Silent { subject: subject.name(), seconds: START_PATIENCE.as_secs() });
    }
    Ok(())
}

fn await_ping(subject: &Subject, ping: &mut UdpPing, forwarder: &mut Forwarder) -> Result<(), BenchError> {
    let deadline = Instant::now() + START_PATIENCE;
    while ping.ping().is_none() {
        silent_if_late(subject, deadline, forwarder)?;
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}

/// Keeps 150,000 Interests pending, which live for four seconds each; gives how many were sent.
fn flood(forwarder: SocketAddr, shape: Shape, stop: &AtomicBool) -> io::Result<u64> {
    const PENDING: f64 = 150_000.0;
    const LIFETIME_SECONDS: f64 = 4.0;
    let config = UdpExchangeConfig { forwarder, window: u64::MAX, catalogue: 0, shape };
    let mut exchange = UdpExchange::new(config, loopback(0), loopback(0))?;
    let (started, mut sent) = (Instant::now(), 0);
    while !stop.load(Ordering::Relaxed) {
        let due = (started.elapsed().as_secs_f64() * PENDING / LIFETIME_SECONDS) as u64;
        while sent < due {
            sent += exchange.ask_once()?;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(sent)
}

/// A producer on a thread of its own; it ends when dropped.
struct Producer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    /// Whether Interests of the flood, which have small numbers, stay without an answer.
    silence_below: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<io::Result<()>>>,
}

impl Producer {
    fn start(shape: Shape) -> io::Result<Self> {
        let socket = UdpSocket::bind(loopback(0))?;
        let address = socket.local_addr()?;
        let (stop, silence_below) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let thread = {
            let (stop, silence) = (stop.clone(), silence_below.clone());
            std::thread::spawn(move || udp_producer(&socket, shape, &stop, &silence))
        };
        Ok(Producer { address, stop, silence_below, thread: Some(thread) })
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

/// Where the producer's side of a stream exchange listens.
enum Connections {
    Tcp(TcpListener),
    Unix(UnixListener, Vec<PathBuf>),
}

impl Connections {
    fn listen(wiring: &Wiring) -> io::Result<Self> {
        let connections = match wiring {
            Wiring::Udp { .. } => return Err(io::ErrorKind::Unsupported.into()),
            Wiring::Tcp { producer, .. } => Connections::Tcp(TcpListener::bind(producer)?),
            Wiring::Unix { listen, producer } => {
                let paths = vec![listen.clone(), producer.clone()];
                Connections::Unix(UnixListener::bind(producer)?, paths)
            }
        };
        match &connections {
            Connections::Tcp(listener) => listener.set_nonblocking(true)?,
            Connections::Unix(listener, _) => listener.set_nonblocking(true)?,
        }
        Ok(connections)
    }

    fn accept(&self, deadline: Instant) -> Option<StreamSocket> {
        while Instant::now() < deadline {
            let accepted = match self {
                Connections::Tcp(listener) => listener.accept().map(|(socket, _)| StreamSocket::Tcp(socket)),
                Connections::Unix(listener, _) => {
                    listener.accept().map(|(socket, _)| StreamSocket::Unix(socket))
                }
            };
            match accepted {
                Ok(socket) => return Some(socket),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        None
    }

    fn remove(self) {
        if let Connections::Unix(listener, paths) = self {
            drop(listener);
            for path in paths {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn connect(wiring: &Wiring) -> io::Result<StreamSocket> {
    match wiring {
        Wiring::Udp { .. } => Err(io::ErrorKind::Unsupported.into()),
        Wiring::Tcp { listen, .. } => TcpStream::connect(listen).map(StreamSocket::Tcp),
        Wiring::Unix { listen, .. } => UnixStream::connect(listen).map(StreamSocket::Unix),
    }
}
