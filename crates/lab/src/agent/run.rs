//! The agent's loop: connect, offer what is served, say that all is ready, wait for the start, work, write down.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::{Duration as StdDuration, Instant as StdInstant, SystemTime, UNIX_EPOCH};

use ::management::{Command, ControlParameters};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Interest, Name, PitToken};

use super::activity::{Activity, Log};
use super::connection::{Connection, Incoming};
use super::download::{self, DownloadConfig, Downloads};
use super::flood::{self, Flood, FloodConfig};
use super::job::Job;
use super::management::{ManagementError, command_interest};
use super::ping::{self, PingConfig, Pings};
use super::producer::{Files, pong};
use super::traffic::{Traffic, TrafficConfig};
use crate::experiment::plan::{self, Workload};

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
    served: Vec<Files>,
    answered: Vec<Name>,
    activities: Vec<Box<dyn Activity>>,
    /// The run's start, once it is known.
    start: Option<(StdInstant, u64)>,
    said_idle: bool,
    served_count: u64,
    unmatched: u64,
}

/// Does the job written in the file `job`, from "ready" to the end of the run. The start, in nanoseconds since the epoch,
/// is read from standard input; "ready", "idle" and "done" are written to standard output.
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
    agent.work(&receiver).map_err(io)?;
    say(&format!("done served={} unmatched={}", agent.served_count, agent.unmatched)).map_err(io)
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

impl Agent {
    fn new(job: Job, connection: Connection) -> Result<Self, AgentError> {
        let wrong = |message: String| AgentError::Workload(job.node.clone(), message);
        let mut served = Vec::new();
        for (place, content) in job.contents.iter().enumerate().filter(|(_, content)| content.at == job.at) {
            served.push(Files::new(content, place, job.seed).map_err(wrong)?);
        }
        let mut answered = Vec::new();
        for prefix in &job.answers {
            answered.push(prefix.parse().map_err(|error| wrong(format!("{prefix}: {error}")))?);
        }
        Ok(Agent {
            connection,
            served,
            answered,
            activities: Vec::new(),
            start: None,
            said_idle: false,
            served_count: 0,
            unmatched: 0,
            job,
        })
    }

    /// Asks the forwarder for everything that is served here.
    fn register(&mut self) -> Result<(), AgentError> {
        let node = self.job.node.clone();
        let mut prefixes: Vec<Name> = self.served.iter().map(|files| files.prefix().clone()).collect();
        prefixes.extend(self.answered.iter().cloned());
        let mut random = Random::derive(self.job.seed, 0x5eed ^ self.job.at as u64);
        for name in prefixes {
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
            while let Some(incoming) = self.connection.next()? {
                let Incoming::Data(data) = incoming else { continue };
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
            if self.start.is_some() && now.as_nanos() >= self.job.duration_ns {
                break;
            }
            let busy = self.step(now)?;
            self.connection.flush()?;
            if self.start.is_some() && !self.said_idle && self.activities.iter().all(|one| one.is_complete())
            {
                self.said_idle = true;
                say("idle")?;
            }
            if !busy {
                self.connection.wait(self.next_wake())?;
            }
            self.connection.receive()?;
        }
        let now = self.now();
        for activity in &mut self.activities {
            activity.finish(now)?;
        }
        Ok(())
    }

    fn now(&self) -> Instant {
        let since = |(at, _): (StdInstant, u64)| StdInstant::now().saturating_duration_since(at);
        let passed = self.start.map_or(StdDuration::ZERO, since);
        Instant::from_nanos(u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX))
    }

    fn next_wake(&self) -> StdInstant {
        let Some((start, _)) = self.start else { return StdInstant::now() + StdDuration::from_millis(5) };
        let next = self.activities.iter().map(|one| one.next_deadline()).min().unwrap_or(Instant::NEVER);
        start + StdDuration::from_nanos(next.as_nanos().min(self.job.duration_ns))
    }

    /// Takes what came and sends what is due. True when there is more to do at once.
    fn step(&mut self, now: Instant) -> io::Result<bool> {
        while let Some(incoming) = self.connection.next()? {
            match incoming {
                Incoming::Interest(interest, token) => self.answer(&interest, &token),
                Incoming::Data(data) => {
                    let mine = self
                        .activities
                        .iter_mut()
                        .fold(false, |any, one| one.receive_data(now, &data) || any);
                    self.unmatched += u64::from(!mine);
                }
                Incoming::Nack(interest, reason) => {
                    for activity in &mut self.activities {
                        activity.receive_nack(now, &interest, reason);
                    }
                }
            }
        }
        let mut busy = false;
        for activity in &mut self.activities {
            activity.handle_timeout(now);
            for _ in 0..BATCH {
                if self.connection.is_congested() {
                    break;
                }
                let Some(interest) = activity.poll_transmit(now) else { break };
                self.connection.send_interest(&interest);
                busy = true;
            }
        }
        Ok(busy && !self.connection.is_congested())
    }

    fn answer(&mut self, interest: &Interest, token: &PitToken) {
        let data = self.served.iter().find_map(|files| files.answer(interest)).or_else(|| {
            let asked = interest.name();
            self.answered.iter().any(|prefix| prefix.as_ref().is_prefix_of(asked)).then(|| pong(interest))?
        });
        if let Some(data) = data {
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
        for (number, workload) in self.job.workloads.iter().enumerate() {
            let activity = activity(&self.job, number, workload, epoch_ns).map_err(io::Error::other)?;
            self.activities.push(activity);
        }
        Ok(())
    }
}

/// The state machine of a workload.
fn activity(
    job: &Job,
    number: usize,
    workload: &Workload,
    epoch_ns: u64,
) -> Result<Box<dyn Activity>, String> {
    let seed = Random::derive(job.seed, ((job.at as u64) << 32) | number as u64).next_u64();
    let (start, stop) = (Instant::from_nanos(workload.start_ns), Instant::from_nanos(workload.stop_ns));
    let log = |kind: &str, head: &str| {
        let name = format!("{kind}-{}.csv", workload.name);
        Log::create(&job.folder, &name, head, epoch_ns).map_err(|error| format!("{name}: {error}"))
    };
    let files = |place: usize| {
        let content = job.contents.get(place).ok_or("there is no such content")?;
        Files::new(content, place, job.seed)
    };
    let name = |prefix: &str| prefix.parse::<Name>().map_err(|error| format!("{prefix}: {error}"));
    Ok(match &workload.does {
        plan::Activity::Download { content, per_second, count, at_once, controller, window, lifetime_ns } => {
            let config = DownloadConfig {
                files: files(*content)?,
                start,
                per_second: *per_second,
                count: *count,
                at_once: at_once.unwrap_or(u32::MAX),
                controller: *controller,
                window: *window,
                lifetime: Duration::from_nanos(*lifetime_ns),
                seed,
            };
            Box::new(Downloads::new(config, log("transfers", download::HEAD)?)?)
        }
        plan::Activity::Flood { prefix, burst, every_ns, until, lifetime_ns, refresh_ns } => {
            let config = FloodConfig {
                prefix: name(prefix)?,
                start,
                stop,
                burst: *burst,
                every: Duration::from_nanos(*every_ns),
                until: *until,
                lifetime: Duration::from_nanos(*lifetime_ns),
                refresh: refresh_ns.map(Duration::from_nanos),
                seed,
            };
            Box::new(Flood::new(config, log("flood", flood::HEAD)?))
        }
        plan::Activity::Ping { prefix, every_ns, count, lifetime_ns, .. } => {
            let config = PingConfig {
                prefix: name(prefix)?,
                start,
                stop,
                every: Duration::from_nanos(*every_ns),
                count: *count,
                lifetime: Duration::from_nanos(*lifetime_ns),
                seed,
            };
            Box::new(Pings::new(config, log("pings", ping::HEAD)?))
        }
        plan::Activity::Traffic { content, per_second, pattern, poisson, lifetime_ns } => {
            let config = TrafficConfig {
                files: files(*content)?,
                start,
                stop,
                per_second: *per_second,
                pattern: *pattern,
                poisson: *poisson,
                lifetime: Duration::from_nanos(*lifetime_ns),
                seed,
            };
            Box::new(Traffic::new(config, log("traffic", ping::HEAD)?))
        }
        plan::Activity::Load { .. } => return Err("a load is no client".to_owned()),
    })
}
