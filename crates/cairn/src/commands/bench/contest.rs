//! Exchanges through several forwarders in turn, a little at a time, so that whatever else the machine does
//! meets all of them alike.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use node::load::{LoadReport, StreamExchange, UdpExchange, UdpExchangeConfig};

use super::Part;
use super::cable;
use super::connections::{Connections, connect};
use super::ports::{free_tcp_port, free_udp_port};
use super::process::Forwarder;
use super::subjects::{Subject, Wiring};
use super::workbench::{Bench, BenchError, Row, START_TIMEOUT, loopback, shape, silent_if_late};

/// What is exchanged.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) payload_bytes: usize,
    /// Interests on their way at once.
    pub(super) window: u64,
    /// Different names; 0 for a new one each time.
    pub(super) catalogue: u64,
}

/// What packets travel by.
#[derive(Clone, Copy)]
pub(super) enum Transport {
    Udp,
    Tcp,
    Unix,
}

/// Exchanges before the first round, so that content stores are full and every page of them has been touched:
/// as many as this, and on until so many more take no memory.
const WARM_UP_EXCHANGES: u64 = 300_000;
/// … but no longer than this.
const WARM_UP: Duration = Duration::from_secs(15);
/// Interests on their way meanwhile, at least. Trains of so few are copied into the store packet by packet,
/// as single packets are, so that it is full of the same pieces of memory as in rounds of a small window.
const WARM_UP_WINDOW: u64 = 16;
/// Exchanges before each round, so that processors have woken up and caches hold what is in use.
const RUN_UP: Duration = Duration::from_millis(50);

impl Bench<'_> {
    /// Exchanges through each of the subjects, in rounds, and notes the medians.
    pub(super) fn contest(
        &mut self,
        part: Part,
        subjects: &[Subject],
        transport: Transport,
        load: Load,
    ) -> Result<(), BenchError> {
        let mut trials = Vec::new();
        for subject in subjects {
            self.progress.set_message(format!("{}: {} warms up", part.title(), subject.name()));
            match self.start_trial(subject, transport, load) {
                Ok(trial) => trials.extend(trial),
                Err(BenchError::Silent { seconds, .. }) => self.note_silent(part, subject, seconds as f64),
                Err(error) => return Err(error),
            }
        }
        let rounds = self.arguments.rounds.max(1);
        let span = Duration::from_secs_f64(self.arguments.duration.as_secs_f64() / f64::from(rounds));
        for round in 1..=rounds {
            for trial in &mut trials {
                let name = trial.subject.name();
                self.progress.set_message(format!("{}: {name}, round {round} of {rounds}", part.title()));
                trial.round(span)?;
            }
        }
        for stalled in trials.extract_if(.., |trial| trial.stalled()) {
            self.note_silent(part, stalled.subject, span.as_secs_f64());
        }
        let against = |name: &str| trials.iter().find(|trial| trial.subject.name() == name);
        let (relay, ndnd) = (against("bare relay"), against("ndnd"));
        for trial in &trials {
            let mut values = trial.values();
            let others = relay.filter(|relay| !std::ptr::eq(*relay, trial));
            values.extend(others.map(|relay| ("against relay", trial.times(relay), "x")));
            let others = ndnd.filter(|ndnd| !std::ptr::eq(*ndnd, trial));
            values.extend(others.map(|ndnd| ("cheaper than ndnd", ndnd.times(trial), "x")));
            self.rows.push(Row { part: part.title(), subject: trial.subject.name(), values });
        }
        Ok(())
    }

    /// Starts a forwarder and exchanges until it is warm; `None` if it does not speak over this transport.
    fn start_trial<'s>(
        &self,
        subject: &'s Subject,
        transport: Transport,
        load: Load,
    ) -> Result<Option<Trial<'s>>, BenchError> {
        let trial = match transport {
            Transport::Udp => self.start_udp(subject, load)?,
            Transport::Tcp => {
                let wiring =
                    Wiring::Tcp { listen: loopback(free_tcp_port()?), producer: loopback(free_tcp_port()?) };
                self.start_stream(subject, &wiring, load)?
            }
            Transport::Unix => {
                let path = |end| {
                    self.stage.directory.join(format!("{}-{end}.sock", subject.name().replace(' ', "-")))
                };
                let wiring = Wiring::Unix { listen: path("forwarder"), producer: path("producer") };
                self.start_stream(subject, &wiring, load)?
            }
        };
        let Some(mut trial) = trial else { return Ok(None) };
        trial.warm_up(load.window)?;
        Ok(Some(trial))
    }

    fn start_udp<'s>(&self, subject: &'s Subject, load: Load) -> Result<Option<Trial<'s>>, BenchError> {
        let (near, far) = match &self.stage.namespace {
            Some(_) => (cable::LOAD, cable::FORWARDER),
            None => (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
        };
        let listen = SocketAddr::new(far.into(), free_udp_port()?);
        let shape = shape(self.arguments, self.stage.dialect, load.payload_bytes);
        let config = UdpExchangeConfig { forwarder: listen, window: 1, catalogue: load.catalogue, shape };
        let any = SocketAddr::new(near.into(), 0);
        let mut exchange = UdpExchange::new(config, any, any)?;
        let wiring = Wiring::Udp { listen, producer: exchange.producer_address()? };
        if !subject.speaks(&wiring) {
            return Ok(None);
        }
        let mut forwarder = subject.start(&wiring, &self.stage)?;
        let deadline = Instant::now() + START_TIMEOUT;
        while exchange.report().data == 0 {
            silent_if_late(subject, deadline, &mut forwarder)?;
            exchange.run(Duration::from_millis(50))?;
        }
        Ok(Some(Trial::new(subject, forwarder, Exchange::Udp(Box::new(exchange)))))
    }

    fn start_stream<'s>(
        &self,
        subject: &'s Subject,
        wiring: &Wiring,
        load: Load,
    ) -> Result<Option<Trial<'s>>, BenchError> {
        if !subject.speaks(wiring) {
            return Ok(None);
        }
        let connections = Connections::listen(wiring)?;
        let mut forwarder = subject.start(wiring, &self.stage)?;
        let deadline = Instant::now() + START_TIMEOUT;
        let producer = connections
            .accept(deadline)
            .ok_or(BenchError::Silent { subject: subject.name(), seconds: START_TIMEOUT.as_secs() })?;
        let consumer = loop {
            silent_if_late(subject, deadline, &mut forwarder)?;
            match connect(wiring) {
                Ok(consumer) => break consumer,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let shape = shape(self.arguments, self.stage.dialect, load.payload_bytes);
        let mut exchange = StreamExchange::new(consumer, producer, shape, load.window, load.catalogue)?;
        while exchange.report().data == 0 {
            silent_if_late(subject, deadline, &mut forwarder)?;
            exchange.run(Duration::from_millis(50))?;
        }
        Ok(Some(Trial::new(subject, forwarder, Exchange::Stream(Box::new(exchange), connections))))
    }
}

/// A forwarder under load.
struct Trial<'s> {
    subject: &'s Subject,
    exchange: Exchange,
    forwarder: Forwarder,
    rounds: Vec<Round>,
}

/// What came of one round.
struct Round {
    done: LoadReport,
    cpu: Duration,
}

enum Exchange {
    Udp(Box<UdpExchange>),
    /// With what keeps the producer's address.
    Stream(
        Box<StreamExchange>,
        #[expect(dead_code, reason = "removes the sockets' files when dropped")] Connections,
    ),
}

impl Exchange {
    fn run(&mut self, span: Duration) -> io::Result<()> {
        match self {
            Exchange::Udp(exchange) => exchange.run(span),
            Exchange::Stream(exchange, _) => exchange.run(span),
        }
    }

    fn set_window(&mut self, window: u64) {
        match self {
            Exchange::Udp(exchange) => exchange.set_window(window),
            Exchange::Stream(exchange, _) => exchange.set_window(window),
        }
    }

    /// Ends what is on its way, before a pause. What is lost on UDP is noticed by the exchange itself.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Exchange::Udp(_) => Ok(()),
            Exchange::Stream(exchange, _) => exchange.finish(RUN_UP),
        }
    }

    fn report(&self) -> LoadReport {
        match self {
            Exchange::Udp(exchange) => exchange.report(),
            Exchange::Stream(exchange, _) => exchange.report(),
        }
    }
}

impl Round {
    /// Processor time of the forwarder for one exchange.
    fn cost_us(&self) -> f64 {
        self.cpu.as_secs_f64() / self.done.data.max(1) as f64 * 1e6
    }
}

impl<'s> Trial<'s> {
    fn new(subject: &'s Subject, forwarder: Forwarder, exchange: Exchange) -> Self {
        Trial { subject, exchange, forwarder, rounds: Vec::new() }
    }

    /// Exchanges until the forwarder takes no more memory: a page costs more when it is touched first than
    /// all of the exchange.
    fn warm_up(&mut self, window: u64) -> io::Result<()> {
        self.exchange.set_window(window.max(WARM_UP_WINDOW));
        let deadline = Instant::now() + WARM_UP;
        let mut resident = 0;
        loop {
            let before = std::mem::replace(&mut resident, self.forwarder.resident_bytes());
            if resident <= before + before / 100 || Instant::now() >= deadline {
                break;
            }
            let enough = self.exchange.report().data + WARM_UP_EXCHANGES;
            while self.exchange.report().data < enough && Instant::now() < deadline {
                self.exchange.run(RUN_UP)?;
            }
        }
        self.exchange.set_window(window);
        // Over UDP the wider window drains while the first round runs up.
        self.exchange.finish()
    }

    fn round(&mut self, span: Duration) -> io::Result<()> {
        self.exchange.run(RUN_UP)?;
        let (before, cpu) = (self.exchange.report(), self.forwarder.cpu_time());
        self.exchange.run(span)?;
        let (done, cpu) = (self.exchange.report() - before, self.forwarder.cpu_time() - cpu);
        self.rounds.push(Round { done, cpu });
        self.exchange.finish()
    }

    /// Whether nothing came through in one of the rounds, which would make its cost mean nothing.
    fn stalled(&self) -> bool {
        self.rounds.iter().any(|round| round.done.data == 0)
    }

    /// How many times the cost of another's this one's is: the median over rounds.
    fn times(&self, other: &Trial<'_>) -> f64 {
        median(
            self.rounds
                .iter()
                .zip(&other.rounds)
                .map(|(own, other)| own.cost_us() / other.cost_us().max(1e-9)),
        )
    }

    fn values(&self) -> Vec<(&'static str, f64, &'static str)> {
        let over = |value: fn(&Round) -> f64| median(self.rounds.iter().map(value));
        let total = |value: fn(&Round) -> u64| self.rounds.iter().map(value).sum::<u64>() as f64;
        let lost = total(|round| round.done.lost) / total(|round| round.done.interests).max(1.0);
        vec![
            ("cost", over(Round::cost_us), " us"),
            ("per CPU second", over(|round| 1e6 / round.cost_us().max(1e-9)), ""),
            ("per second", over(|round| round.done.data as f64 / round.done.seconds), ""),
            ("core used", over(|round| round.cpu.as_secs_f64() / round.done.seconds * 100.0), " %"),
            ("lost", lost * 100.0, " %"),
            ("resident", self.forwarder.resident_bytes() as f64 / 1e6, " MB"),
        ]
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    packet::median(&mut values.collect::<Vec<f64>>())
}
