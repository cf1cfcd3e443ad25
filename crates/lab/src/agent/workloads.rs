//! All workloads and all content of one agent, whoever drives them: a process on a real socket, or a
//! simulated node.

use std::io;

use flow::source::{Generator, Reply, Source, SourceError};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name};
use trust::Signer;

use super::activity::{Activity, Log};
use super::arrivals::Arrivals;
use super::download::{self, DownloadConfig, Downloads};
use super::flood::{self, Flood, FloodConfig};
use super::job::Job;
use super::packets::{self, Object};
use super::ping::{self, PingConfig, Pings};
use super::producer::Files;
use super::served::ServedLog;
use super::traffic::{Traffic, TrafficConfig};
use crate::experiment::plan::{self, Dialect, Workload};

/// What an agent serves.
#[derive(Debug)]
pub(crate) struct Served {
    prefixes: Vec<Name>,
    /// Files by their content's place in the plan.
    files: Vec<(usize, Files)>,
    /// Answers whatever else is asked below the prefixes for that.
    pongs: Pongs,
    log: ServedLog,
}

/// Answers pings.
#[derive(Debug)]
enum Pongs {
    Ndn(Generator),
    Ccnx(Vec<Name>),
}

impl Source for Pongs {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        match self {
            Pongs::Ndn(generator) => generator.answer(interest),
            Pongs::Ccnx(prefixes) => {
                let is_mine = |prefix: &Name| prefix.as_ref().is_prefix_of(interest.name());
                let name = prefixes.iter().any(is_mine).then(|| interest.name().to_name());
                let object = name.and_then(|name| {
                    let pong = Object { name: &name, content: PONG, freshness: Duration::ZERO, last: None };
                    packets::data(Dialect::Ccnx, &pong)
                });
                Ok(object.map_or(Reply::NotMine, Reply::Data))
            }
        }
    }
}

/// The stream of a workload's randomness that decides when which file is fetched.
const ARRIVALS: u64 = 0x6172_7269;
const PONG: &[u8] = b"pong";

impl Served {
    pub(crate) fn new(job: &Job) -> Result<Self, String> {
        let mut files = Vec::new();
        for (place, content) in job.contents.iter().enumerate().filter(|(_, content)| content.at == job.at) {
            files.push((place, Files::new(content, place, job.seed, job.dialect)?));
        }
        let mut answers = Vec::new();
        for prefix in &job.answers {
            answers.push(prefix.parse().map_err(|error| format!("{prefix}: {error}"))?);
        }
        let prefixes = files.iter().map(|(_, files)| files.prefix().clone()).chain(answers.iter().cloned());
        let prefixes = prefixes.collect();
        // They are all alike: the seed decides nothing.
        let pongs = match job.dialect {
            Dialect::Ndn => {
                Pongs::Ndn(Generator::new(answers, Signer::digest(), 0).with_content(PONG.to_vec()))
            }
            Dialect::Ccnx => Pongs::Ccnx(answers),
        };
        Ok(Served { prefixes, files, pongs, log: ServedLog::default() })
    }

    pub(crate) fn prefixes(&self) -> Vec<Name> {
        self.prefixes.clone()
    }

    pub(crate) fn answer(&mut self, now: Instant, interest: &Interest) -> Option<Data> {
        for (content, files) in &self.files {
            if let Some((segment, data)) = files.data(interest) {
                self.log.note(now, *content, segment, data.content().len());
                return Some(data);
            }
        }
        match self.pongs.answer(interest) {
            Ok(Reply::Data(data)) => Some(data),
            // What cannot be made is as little an answer as what is not there.
            Ok(Reply::Nack(_) | Reply::Silence | Reply::NotMine) | Err(_) => None,
        }
    }
}

impl Served {
    /// Writes down what was sent, if there is content.
    pub(crate) fn finish(&self, job: &Job) -> io::Result<()> {
        if self.files.is_empty() { Ok(()) } else { self.log.write(&job.folder, &job.node) }
    }
}

/// What an agent does.
pub(crate) struct Activities {
    list: Vec<Box<dyn Activity>>,
    /// Whose turn it is to send, so that none waits for the others to have nothing to say.
    turn: usize,
}

impl Activities {
    /// None yet.
    pub(crate) fn none() -> Self {
        Activities { list: Vec::new(), turn: 0 }
    }

    /// Those of a job, whose times count from `epoch_ns`.
    pub(crate) fn new(job: &Job, epoch_ns: u64) -> Result<Self, String> {
        let list: Result<_, String> = job
            .workloads
            .iter()
            .enumerate()
            .map(|(number, workload)| activity(job, number, workload, epoch_ns))
            .collect();
        Ok(Activities { list: list?, turn: 0 })
    }

    /// True when the Data was wanted by any.
    pub(crate) fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        {
            // Each is told, also when one before it wanted the Data.
            let mut any = false;
            for one in &mut self.list {
                any |= one.receive_data(now, data);
            }
            any
        }
    }

    pub(crate) fn receive_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) {
        for one in &mut self.list {
            one.receive_nack(now, interest, reason);
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        for one in &mut self.list {
            one.handle_timeout(now);
        }
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        for step in 0..self.list.len() {
            let place = (self.turn + step) % self.list.len();
            if let Some(interest) = self.list.get_mut(place).and_then(|one| one.poll_transmit(now)) {
                self.turn = place + 1;
                return Some(interest);
            }
        }
        None
    }

    /// Interests that ask once more for what the same transfer has asked for, since the last call.
    pub(crate) fn take_again(&mut self) -> Vec<(Name, u32)> {
        self.list.iter_mut().flat_map(|one| one.take_again()).collect()
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        self.list.iter().map(|one| one.next_deadline()).min().unwrap_or(Instant::NEVER)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.list.iter().all(|one| one.is_complete())
    }

    pub(crate) fn finish(&mut self, now: Instant) -> io::Result<()> {
        self.list.iter_mut().try_for_each(|one| one.finish(now))
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
    let log = |kind: &str, head: &[&str]| {
        let name = format!("{kind}-{}.csv", workload.name);
        Log::create(&job.folder, &name, head, epoch_ns).map_err(|error| format!("{name}: {error}"))
    };
    let files = |place: usize| {
        let content = job.contents.get(place).ok_or("there is no such content")?;
        Files::new(content, place, job.seed, job.dialect)
    };
    let name = |prefix: &str| prefix.parse::<Name>().map_err(|error| format!("{prefix}: {error}"));
    Ok(match &workload.does {
        plan::Activity::Download { content, .. } => {
            let config = download_config(workload, files(*content)?, seed)?;
            Box::new(Downloads::new(config, log("transfers", &download::HEAD)?)?)
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
                dialect: job.dialect,
            };
            Box::new(Flood::new(config, log("flood", &flood::HEAD)?))
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
                dialect: job.dialect,
            };
            Box::new(Pings::new(config, log("pings", &ping::HEAD)?))
        }
        plan::Activity::Traffic { content, workload, lifetime_ns } => {
            let config = TrafficConfig {
                files: files(*content)?,
                start,
                stop,
                workload: workload.parse().map_err(|error: flow::SpecError| error.to_string())?,
                lifetime: Duration::from_nanos(*lifetime_ns),
                seed,
            };
            let traffic = Traffic::new(config, log("traffic", &ping::HEAD)?);
            Box::new(traffic.map_err(|error| error.to_string())?)
        }
        plan::Activity::Load { .. } | plan::Activity::Consume(_) | plan::Activity::Program(_) => {
            return Err(format!("{} is no client", workload.name));
        }
    })
}

/// What a workload that downloads works with.
fn download_config(workload: &Workload, files: Files, seed: u64) -> Result<DownloadConfig, String> {
    let plan::Activity::Download { per_second, count, at_once, arrivals, .. } = &workload.does else {
        return Err(format!("{} is no download", workload.name));
    };
    let plan::Activity::Download { controller, window, lifetime_ns, .. } = &workload.does else {
        return Err(format!("{} is no download", workload.name));
    };
    let (start, stop) = (Instant::from_nanos(workload.start_ns), Instant::from_nanos(workload.stop_ns));
    let arrivals = match arrivals {
        Some(plan) => {
            Arrivals::drawn(plan, (start, stop), files.count(), Random::derive(seed, ARRIVALS).next_u64())?
        }
        None => Arrivals::Evenly { start, per_second: *per_second, files: files.count() },
    };
    Ok(DownloadConfig {
        files,
        arrivals,
        count: *count,
        at_once: at_once.unwrap_or(u32::MAX),
        controller: controller.clone(),
        window: *window,
        lifetime: Duration::from_nanos(*lifetime_ns),
        seed,
    })
}
