//! The agent's loop: connect, offer what is served, say that all is ready, wait for the start, work, write
//! down.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration as StdDuration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use ::management::{Command, ControlParameters};
use packet::random::Random;
use packet::time::Instant;
use packet::{Interest, Packet, PitToken};

use super::connection::Connection;
use super::job::Job;
use super::management::{ManagementError, command_interest};
use super::standstill::Standstill;
use super::workloads::{Activities, Served};
use crate::analysis::AGAIN;

/// How long a forwarder may take to be there, and to answer a registration.
const PATIENCE: StdDuration = StdDuration::from_secs(20);
/// Interests sent before the connection is looked at again.
const BATCH: usize = 64;

/// Why an agent gave up.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The connection, or a file.
    #[error("agent of `{node}`: {source}")]
    Io {
        /// The node.
        node: String,
        /// What failed.
        source: io::Error,
    },
    /// The job makes no sense.
    #[error("the agent's job {} cannot be read: {}", .0.display(), .1)]
    Job(PathBuf, String),
    /// A prefix could not be registered.
    #[error("agent of `{node}`: {source}")]
    Registration {
        /// The node.
        node: String,
        /// What the forwarder said.
        source: ManagementError,
    },
    /// A workload makes no sense.
    #[error("agent of `{0}`: {1}")]
    Workload(String, String),
}

struct Agent {
    job: Job,
    connection: Connection,
    served: Served,
    activities: Activities,
    /// The run's start, once it is known.
    start: Option<(StdInstant, u64)>,
    standstill: Standstill,
    said_idle: bool,
    served_count: u64,
    unmatched: u64,
    /// Where Interests are written down that ask again.
    again: Option<BufWriter<File>>,
}

/// Does the job written in the file `job`, from "ready" to the end of the run. The start, in nanoseconds
/// since the epoch, is read from standard input; "ready", "idle" and "done" are written to standard output.
///
/// # Errors
///
/// When the job cannot be read, or the forwarder cannot be worked with.
pub fn run(job: &std::path::Path) -> Result<(), AgentError> {
    let text =
        std::fs::read_to_string(job).map_err(|error| AgentError::Job(job.to_owned(), error.to_string()))?;
    let job: Job =
        serde_json::from_str(&text).map_err(|error| AgentError::Job(job.to_owned(), error.to_string()))?;
    let node = job.node.clone();
    let io = |source| AgentError::Io { node: node.clone(), source };
    let connection = Connection::open(&job.socket, StdInstant::now() + PATIENCE).map_err(io)?;
    let mut agent = Agent::new(job, connection)?;
    agent.register()?;
    say("ready").map_err(io)?;
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
    let written = agent.note_again().and_then(|()| agent.activities.finish(now));
    let written = written.and_then(|()| agent.standstill.write(&agent.job.folder, &agent.job.node));
    worked.and(written).map_err(io)?;
    say(&format!("done served={} unmatched={}", agent.served_count, agent.unmatched)).map_err(io)
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

impl Agent {
    fn new(job: Job, connection: Connection) -> Result<Self, AgentError> {
        let served = Served::new(&job).map_err(|message| AgentError::Workload(job.node.clone(), message))?;
        Ok(Agent {
            connection,
            served,
            activities: Activities::none(),
            start: None,
            standstill: Standstill::default(),
            said_idle: false,
            served_count: 0,
            unmatched: 0,
            again: None,
            job,
        })
    }

    /// Asks the forwarder for everything that is served here.
    fn register(&mut self) -> Result<(), AgentError> {
        let node = self.job.node.clone();
        let mut random = Random::derive(self.job.seed, 0x5eed ^ self.job.at as u64);
        for name in self.served.prefixes() {
            let parameters = ControlParameters { name: Some(name.clone()), ..ControlParameters::default() };
            let failed = |source| AgentError::Registration { node: node.clone(), source };
            let shown = format!("rib/register {}", name.as_ref());
            let interest = command_interest(Command::RibRegister, &parameters, &mut random)
                .map_err(|error| failed(ManagementError::Malformed(shown.clone(), error)))?;
            self.connection.send_interest(&interest);
            let deadline = StdInstant::now() + PATIENCE;
            if !self.registered(&interest, deadline).map_err(failed)? {
                return Err(failed(ManagementError::Timeout(shown)));
            }
        }
        Ok(())
    }

    fn registered(&mut self, asked: &Interest, deadline: StdInstant) -> Result<bool, ManagementError> {
        while StdInstant::now() < deadline {
            self.connection.flush()?;
            self.connection.wait(deadline)?;
            self.connection.receive()?;
            while let Some((packet, _)) = self.connection.next_packet()? {
                let Packet::Data(data) = packet else { continue };
                if !asked.name().is_prefix_of(data.name()) {
                    continue;
                }
                let response = ::management::ControlResponse::decode(data.content()).map_err(|error| {
                    ManagementError::Malformed("rib/register".to_owned(), error.to_string())
                })?;
                if response.is_ok() {
                    return Ok(true);
                }
                let what = "rib/register".to_owned();
                return Err(ManagementError::Refused {
                    what,
                    code: response.code.number(),
                    text: response.text,
                });
            }
        }
        Ok(false)
    }

    /// Serves, and from the start on works, until the run is over.
    fn work(&mut self, orders: &std::sync::mpsc::Receiver<Option<u64>>) -> io::Result<()> {
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
            let busy = self.step(now)?;
            self.connection.flush()?;
            if self.start.is_some() && !self.said_idle && self.activities.is_complete() {
                self.said_idle = true;
                say("idle")?;
            }
            if !busy {
                let wake = self.next_wake();
                self.standstill.rest(StdInstant::now(), wake);
                self.connection.wait(wake)?;
            }
            self.connection.receive()?;
        }
        Ok(())
    }

    /// Writes down which Interests asked again, so that captures can tell them from those of others for the
    /// same names.
    fn note_again(&mut self) -> io::Result<()> {
        let list = self.activities.take_again();
        let Some(file) = &mut self.again else { return Ok(()) };
        list.iter().try_for_each(|(name, nonce)| writeln!(file, "{nonce},{}", name.as_ref()))?;
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
    fn step(&mut self, now: Instant) -> io::Result<bool> {
        while let Some((packet, token)) = self.connection.next_packet()? {
            match packet {
                Packet::Interest(interest) => self.answer(&interest, &token),
                Packet::Data(data) => {
                    self.unmatched += u64::from(!self.activities.receive_data(now, &data));
                }
                Packet::Nack(interest, reason) => self.activities.receive_nack(now, &interest, reason),
            }
        }
        self.activities.handle_timeout(now);
        let mut busy = false;
        for _ in 0..BATCH {
            if self.connection.is_congested() {
                break;
            }
            let Some(interest) = self.activities.poll_transmit(now) else { break };
            self.connection.send_interest(&interest);
            busy = true;
        }
        self.note_again()?;
        Ok(busy && !self.connection.is_congested())
    }

    fn answer(&mut self, interest: &Interest, token: &PitToken) {
        if let Some(data) = self.served.answer(interest) {
            self.connection.send_data(&data, token);
            self.served_count += 1;
        }
    }

    /// Notes the start and makes the workloads.
    fn begin(&mut self, epoch_ns: u64) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ahead = StdDuration::from_nanos(epoch_ns).saturating_sub(now);
        self.start = Some((StdInstant::now() + ahead, epoch_ns));
        std::thread::sleep(ahead);
        // What was waited for the start is no standstill.
        self.standstill = Standstill::default();
        self.activities = Activities::new(&self.job, epoch_ns).map_err(io::Error::other)?;
        let name = format!("{AGAIN}{}.csv", self.job.node);
        let mut file = BufWriter::new(File::create(self.job.folder.join(name))?);
        writeln!(file, "nonce,name")?;
        self.again = Some(file);
        Ok(())
    }
}
