//! What pings tell: latency at low load, latency beside a flood, and the time to the first packet.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use node::load::{Shape, UdpExchange, UdpExchangeConfig, UdpPing, udp_producer};

use super::Part;
use super::ports::free_udp_port;
use super::process::Forwarder;
use super::subjects::{Subject, Wiring};
use super::workbench::{Bench, BenchError, Row, START_TIMEOUT, loopback, shape, silent_if_late};

impl Bench<'_> {
    /// Pings through a forwarder with nothing else to do, beside pings without one.
    pub(super) fn latency(&mut self, part: Part, subject: &Subject) -> Result<(), BenchError> {
        let Some(Testbed { shape, listen, producer, mut forwarder }) = self.set_up(subject)? else {
            return Ok(());
        };
        let mut ping = UdpPing::new(loopback(0), listen, shape, 0)?;
        await_ping(subject, &mut ping, &mut forwarder)?;
        let mut direct = UdpPing::new(loopback(0), producer.address, shape, 1 << 32)?;
        let pause = Duration::from_millis(2);
        let count = (self.arguments.duration.as_secs_f64() * 200.0) as usize;
        let (through, without) = (ping.series(count, pause), direct.series(count, pause));
        // Half of what the round trip takes longer: each way passes the forwarder once.
        let added = |quantile| (through.quantile(quantile) as f64 - without.quantile(0.5) as f64) / 2000.0;
        self.rows.push(Row {
            part: part.title(),
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

    /// Pings through three forwarders one behind the other, with nothing else to do.
    pub(super) fn latency_in_a_row(&mut self, part: Part, subject: &Subject) -> Result<(), BenchError> {
        let shape = shape(self.arguments, self.stage.dialect, 1000);
        let producer = Producer::start(shape)?;
        let mut forwarders = Vec::new();
        let mut next = producer.address;
        for _ in 0..IN_A_ROW {
            let wiring = Wiring::Udp { listen: loopback(free_udp_port()?), producer: next };
            let Wiring::Udp { listen, .. } = wiring else { return Ok(()) };
            if !subject.speaks(&wiring) {
                return Ok(());
            }
            forwarders.push(subject.start(&wiring, &self.stage)?);
            next = listen;
        }
        let mut ping = UdpPing::new(loopback(0), next, shape, 0)?;
        if let Some(first) = forwarders.last_mut() {
            await_ping(subject, &mut ping, first)?;
        }
        let count = (self.arguments.duration.as_secs_f64() * 200.0) as usize;
        let cpu_time = || forwarders.iter().map(Forwarder::cpu_time).sum::<Duration>();
        let before = cpu_time();
        let found = ping.series(count, Duration::from_millis(5));
        let passed = (count * IN_A_ROW) as f64;
        let cpu_micros = (cpu_time() - before).as_secs_f64() * 1e6 / passed;
        let micros = |quantile| found.quantile(quantile) as f64 / 1000.0;
        self.rows.push(Row {
            part: part.title(),
            subject: subject.name(),
            values: vec![
                ("round trip least", micros(0.0), " us"),
                ("p50", micros(0.5), " us"),
                ("p99", micros(0.99), " us"),
                ("most", micros(1.0), " us"),
                ("CPU each", cpu_micros, " us"),
                ("pings", count as f64, ""),
                ("lost", found.lost as f64, ""),
            ],
        });
        Ok(())
    }

    /// Interests for content that does not exist on one face, and pings on another.
    pub(super) fn pending(&mut self, subject: &Subject) -> Result<(), BenchError> {
        let Some(Testbed { shape, listen, producer, mut forwarder }) = self.set_up(subject)? else {
            return Ok(());
        };
        let mut ping = UdpPing::new(loopback(0), listen, shape, 1 << 32)?;
        await_ping(subject, &mut ping, &mut forwarder)?;
        let pause = Duration::from_millis(2);
        let count = (self.arguments.duration.as_secs_f64() * 300.0) as usize;
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
            part: Part::Pending.title(),
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
    pub(super) fn start(&mut self, subject: &Subject) -> Result<(), BenchError> {
        let started = Instant::now();
        let Some(mut testbed) = self.set_up(subject)? else { return Ok(()) };
        let mut ping = UdpPing::new(loopback(0), testbed.listen, testbed.shape, 0)?;
        await_ping(subject, &mut ping, &mut testbed.forwarder)?;
        let values = vec![("first packet after", started.elapsed().as_secs_f64() * 1000.0, " ms")];
        self.rows.push(Row { part: Part::Start.title(), subject: subject.name(), values });
        Ok(())
    }

    /// Starts a producer and a forwarder before it; `None` if the forwarder does not speak UDP.
    fn set_up(&self, subject: &Subject) -> Result<Option<Testbed>, BenchError> {
        let shape = shape(self.arguments, self.stage.dialect, 1000);
        let listen = loopback(free_udp_port()?);
        let producer = Producer::start(shape)?;
        let wiring = Wiring::Udp { listen, producer: producer.address };
        if !subject.speaks(&wiring) {
            return Ok(None);
        }
        let forwarder = subject.start(&wiring, &self.stage)?;
        Ok(Some(Testbed { shape, listen, producer, forwarder }))
    }
}

/// As the paper's pings pass: the node of who asks, one between, and the node of who answers.
const IN_A_ROW: usize = 3;

/// A forwarder and the producer behind it.
struct Testbed {
    shape: Shape,
    listen: SocketAddr,
    producer: Producer,
    forwarder: Forwarder,
}

fn await_ping(subject: &Subject, ping: &mut UdpPing, forwarder: &mut Forwarder) -> Result<(), BenchError> {
    let deadline = Instant::now() + START_TIMEOUT;
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
