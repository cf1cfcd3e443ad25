//! The agent's loop: connect, offer what is served, say that all is ready, wait for the start, work, write
//! down.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use client::{Client, ClientError, Connection, Remote, RetryPolicy, WhenGone};
use formats::csv;
use packet::time::{Duration, Instant};
use packet::{Dialect, Interest, LinkHeader, Packet};
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey};

use super::error::JobError;
use super::job::Job;
use super::standstill::{MAX_WAIT, Standstill};
use super::workloads::{Activities, Served};
use crate::analysis::AGAIN;

/// How long a forwarder may take to be there.
const TIMEOUT: StdDuration = StdDuration::from_secs(20);
/// How long it may take to answer a registration, and how often it is asked.
const REGISTRATION: RetryPolicy = RetryPolicy { timeout: Duration::from_secs(5), attempts: 4 };
/// Interests sent before the connection is looked at again.
const BATCH: usize = 64;
/// Packets taken before it is looked at what is due.
const MAX_TAKEN: usize = 1024;

/// Why an agent gave up.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The forwarder, or a file.
    #[error("agent of `{node}`: {source}")]
    Work {
        /// The node.
        node: String,
        /// What failed.
        source: Box<WorkError>,
    },
    /// The job is not there, or is no job.
    #[error("the agent's job {} cannot be read: {source}", .file.display())]
    Unreadable {
        /// Its file.
        file: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// What it asks for.
    #[error("agent of `{node}`: {source}")]
    Job {
        /// The node.
        node: String,
        /// What makes no sense.
        source: JobError,
    },
}

/// What keeps an agent from its work.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A file, or who started the agent.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The forwarder.
    #[error(transparent)]
    Forwarder(#[from] ClientError),
}

struct Agent {
    job: Job,
    client: Client,
    served: Served,
    activities: Activities,
    /// The run's start, once it is known.
    start: Option<(StdInstant, u64)>,
    standstill: Standstill,
    said_idle: bool,
    unmatched: u64,
    /// Where Interests are written down that ask again.
    again: Option<csv::Writer<File>>,
}

/// Does the job written in the file `job`, from "ready" to the end of the run. The start, in nanoseconds
/// since the epoch, is read from standard input; "ready", "idle" and "done" are written to standard output.
///
/// # Errors
///
/// When the job cannot be read, or the forwarder cannot be worked with.
pub fn run(job: &Path) -> Result<(), AgentError> {
    let unreadable = |source| AgentError::Unreadable { file: job.to_owned(), source };
    let text = std::fs::read_to_string(job).map_err(unreadable)?;
    let job: Job = serde_json::from_str(&text).map_err(|error| unreadable(error.into()))?;
    let node = job.node.clone();
    let failed = |source| AgentError::Work { node: node.clone(), source: Box::new(source) };
    let client = connect(&job).map_err(failed)?;
    let mut agent = Agent::new(job, client)?;
    agent.register().map_err(|error| failed(error.into()))?;
    say("ready").map_err(|error| failed(error.into()))?;
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The end of the input ends the agent, as the word "stop" does.
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line.trim().parse::<u64>().ok()).is_err() {
                return;
            }
        }
        let _ = sender.send(None);
    });
    let worked = agent.work(&receiver);
    let now = agent.now();
    // Also when the forwarder went away: what was seen until then is kept.
    let written = agent.note_again().and_then(|()| agent.activities.finish(&agent.job, now));
    let written = written.and_then(|()| agent.served.finish(&agent.job));
    let written = written.and_then(|()| agent.standstill.write(&agent.job.folder, &agent.job.node));
    worked.and(written.map_err(WorkError::from)).map_err(failed)?;
    let done = say(&format!("done served={} unmatched={}", agent.served.data_count(), agent.unmatched));
    done.map_err(|error| failed(error.into()))
}

/// Connects to a forwarder that may still be starting.
fn connect(job: &Job) -> Result<Client, WorkError> {
    let deadline = StdInstant::now() + TIMEOUT;
    let mut client = loop {
        match Connection::open_in(job.dialect, &Remote::Unix(job.socket.clone())) {
            Ok(connection) => break Client::over(connection),
            Err(error) if StdInstant::now() >= deadline => return Err(error.into()),
            Err(_) => std::thread::sleep(StdDuration::from_millis(10)),
        }
    };
    client.when_gone(WhenGone::Fail);
    client.set_retry_policy(REGISTRATION);
    if job.dialect == Dialect::Ccnx {
        // Requests to a forwarder of CCNx are signed, by a key that need not be known.
        let key = PrivateKey::generate(KeyKind::Rsa).map_err(io::Error::other)?;
        client.sign_requests_with(CcnxSigner::new(key).map_err(io::Error::other)?);
    }
    Ok(client)
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

impl Agent {
    fn new(job: Job, client: Client) -> Result<Self, AgentError> {
        let served =
            Served::new(&job).map_err(|source| AgentError::Job { node: job.node.clone(), source })?;
        Ok(Agent {
            client,
            served,
            activities: Activities::none(),
            start: None,
            standstill: Standstill::default(),
            said_idle: false,
            unmatched: 0,
            again: None,
            job,
        })
    }

    /// Asks the forwarder for everything that is served here.
    fn register(&mut self) -> Result<(), ClientError> {
        self.served.prefixes().iter().try_for_each(|prefix| self.client.register(prefix))
    }

    /// Serves, and from the start on works, until the run is over.
    fn work(&mut self, orders: &std::sync::mpsc::Receiver<Option<u64>>) -> Result<(), WorkError> {
        loop {
            match orders.try_recv() {
                Ok(Some(epoch_ns)) => self.begin(epoch_ns)?,
                Ok(None) => break,
                Err(_) => {}
            }
            let now = self.now();
            if self.start.is_some() {
                self.standstill.turn(StdInstant::now());
            }
            if self.start.is_some() && now.as_nanos() >= self.job.duration_ns {
                break;
            }
            let busy = self.step();
            let busy = self.connected_again(busy)?;
            if self.start.is_some() && !self.said_idle && self.activities.is_complete() {
                self.said_idle = true;
                say("idle")?;
            }
            if !busy {
                let wake = self.next_wake();
                self.standstill.rest(StdInstant::now(), wake);
                let waited = self.wait(wake);
                self.connected_again(waited)?;
            }
        }
        Ok(())
    }

    /// What was done, or nothing after the forwarder was killed and started anew, as the experiment wants:
    /// what was on the way to it is lost.
    fn connected_again<T: Default>(&mut self, done: Result<T, WorkError>) -> Result<T, WorkError> {
        match done {
            Err(WorkError::Forwarder(error)) if self.job.reconnects && error.is_outage() => {
                self.client = connect(&self.job)?;
                self.register()?;
                Ok(T::default())
            }
            other => other,
        }
    }

    /// Writes down which Interests asked again, so that captures can tell them from those of others for the
    /// same names.
    fn note_again(&mut self) -> io::Result<()> {
        let list = self.activities.take_again();
        let Some(file) = &mut self.again else { return Ok(()) };
        for (name, nonce) in &list {
            file.field(nonce)?;
            file.field(name)?;
            file.end_row()?;
        }
        // The file is small, and complete whenever the agent ends.
        if list.is_empty() { Ok(()) } else { file.flush() }
    }

    fn now(&self) -> Instant {
        let since = |(at, _): (StdInstant, u64)| StdInstant::now().saturating_duration_since(at);
        let passed = self.start.map_or(StdDuration::ZERO, since);
        Instant::from_nanos(u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX))
    }

    fn next_wake(&self) -> StdInstant {
        let Some((start, _)) = self.start else { return StdInstant::now() + StdDuration::from_millis(5) };
        let next = self.activities.next_deadline();
        start + StdDuration::from_nanos(next.as_nanos().min(self.job.duration_ns))
    }

    /// Takes what came and sends what is due. True when there is more to do at once.
    fn step(&mut self) -> Result<bool, WorkError> {
        let mut taken = 0;
        while taken < MAX_TAKEN {
            let connection = self.client.connection_mut();
            let Some((packet, header)) = connection.receive(connection.now())? else { break };
            // Not before it was there: a process that waited for a processor would see it come too early.
            self.take(self.now(), packet, &header)?;
            taken += 1;
        }
        let now = self.now();
        self.activities.handle_timeout(now);
        let mut sent = 0;
        while sent < BATCH && self.client.connection().has_room() {
            let Some(interest) = self.activities.poll_transmit(now) else { break };
            self.client.connection_mut().send_interest(&interest)?;
            sent += 1;
        }
        self.note_again()?;
        let may_send = sent > 0 && self.client.connection().has_room();
        Ok(taken == MAX_TAKEN || may_send)
    }

    /// Waits until a packet has come, and takes it, or until `wake`.
    fn wait(&mut self, wake: StdInstant) -> Result<(), WorkError> {
        let left = wake.saturating_duration_since(StdInstant::now()).min(MAX_WAIT);
        let left = Duration::from_nanos(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        let connection = self.client.connection_mut();
        match connection.receive(connection.now() + left)? {
            Some((packet, header)) => self.take(self.now(), packet, &header),
            None => Ok(()),
        }
    }

    fn take(&mut self, now: Instant, packet: Packet, header: &LinkHeader) -> Result<(), WorkError> {
        match packet {
            Packet::Interest(interest) => self.answer(&interest, header)?,
            Packet::Data(data) => {
                self.unmatched += u64::from(!self.activities.receive_data(now, &data));
                self.client.connection_mut().recycle(data);
            }
            Packet::Nack(interest, reason) => self.activities.receive_nack(now, &interest, reason),
        }
        Ok(())
    }

    fn answer(&mut self, interest: &Interest, header: &LinkHeader) -> Result<(), WorkError> {
        let Some(data) = self.served.answer(self.now(), interest) else { return Ok(()) };
        let connection = self.client.connection_mut();
        let waits = !connection.has_room();
        connection.send_data(&data, header)?;
        if waits {
            self.standstill.held_up(StdInstant::now());
        }
        Ok(())
    }

    /// Notes the start and makes the workloads.
    fn begin(&mut self, epoch_ns: u64) -> io::Result<()> {
        let ahead = StdDuration::from_nanos(epoch_ns.saturating_sub(crate::wall_clock::epoch_ns()));
        self.start = Some((StdInstant::now() + ahead, epoch_ns));
        std::thread::sleep(ahead);
        // What was waited for the start is no standstill.
        self.standstill = Standstill::default();
        self.activities = Activities::new(&self.job, epoch_ns).map_err(io::Error::other)?;
        let name = format!("{AGAIN}{}.csv", self.job.node);
        let mut file = csv::Writer::new(File::create(self.job.folder.join(name))?);
        file.row(["nonce", "name"])?;
        self.again = Some(file);
        Ok(())
    }
}
