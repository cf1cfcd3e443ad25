//! All workloads and all content of one agent, whoever drives them: a process on a real socket, or a
//! simulated node.

use std::io;

use flow::source::{Generator, Reply, Server, ServerConfig, Source, SourceError};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name};
use trust::Signer;

use super::activity::{Activity, Log};
use super::arrivals::Arrivals;
use super::download::{self, DownloadConfig, Downloads};
use super::error::{self, JobError};
use super::flood::{self, Flood, FloodConfig};
use super::job::Job;
use super::packets::AgentSigner;
use super::ping::{self, PingConfig, Pings};
use super::prefixes::PrefixLog;
use super::producer::Files;
use super::registration::{self, Registration};
use super::revocations::{KnownRecords, PublishedList, RevocationWatch};
use super::served::ServedLog;
use super::signatures::Signatures;
use super::traffic::{Traffic, TrafficConfig, TrafficSource};
use crate::experiment::plan::{self, EarlierKey, Response, Workload};
use crate::order::Simultaneous;

/// What an agent serves.
#[derive(Debug)]
pub(crate) struct Served {
    prefixes: Vec<Name>,
    /// For each of its files their content's place in the plan.
    contents: Vec<usize>,
    /// Of revoked keys.
    lists: Vec<PublishedList>,
    server: Server<ServedSources>,
    log: ServedLog,
    prefixes_answered: PrefixLog,
}

/// Files of its own, those of others that it answers for with bytes of its own, and what answers whatever
/// else is asked below the prefixes for that.
type ServedSources = (Vec<Files>, (Vec<ForgedFiles>, Generator<AgentSigner>));

/// The stream of a workload's randomness that decides when which file is fetched.
const ARRIVALS: u64 = 0x6172_7269;
const PONG: &[u8] = b"pong";

impl Served {
    pub(crate) fn new(job: &Job) -> Result<Self, JobError> {
        let (mut contents, mut files, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for (place, content) in job.contents.iter().enumerate().filter(|(_, content)| content.at == job.at) {
            contents.push(place);
            files.push(Files::new(content, place, job.seed, job.dialect)?);
            lists.extend(PublishedList::of(content, job.seed)?);
        }
        let (taken, forged) = taken(job)?;
        let mut answers = Vec::new();
        for prefix in &job.answers {
            answers.push(error::name(prefix)?);
        }
        let prefixes = files.iter().map(|files| files.prefix().clone()).chain(answers.iter().cloned());
        let prefixes = prefixes.chain(lists.iter().map(|list| list.name().clone())).chain(taken).collect();
        // They are all alike: the seed decides nothing.
        let pongs = Generator::new(answers, AgentSigner(job.dialect), 0).with_content(PONG.to_vec());
        let prefixes_answered = PrefixLog::new(job)?;
        let sources = (files, (forged, pongs));
        let server = Server::new(sources, ServerConfig::default(), Instant::ZERO);
        Ok(Served { prefixes, contents, lists, server, log: ServedLog::default(), prefixes_answered })
    }

    pub(crate) fn prefixes(&self) -> Vec<Name> {
        self.prefixes.clone()
    }

    /// The Data for an Interest. What cannot be made is as little an answer as what is not there.
    pub(crate) fn answer(&mut self, now: Instant, interest: &Interest) -> Option<Data> {
        if let Some(data) = self.lists.iter_mut().find_map(|list| list.answer(now, interest)) {
            return Some(data);
        }
        let Ok(Reply::Data(data)) = self.server.handle_interest(now, interest) else { return None };
        let (files, _) = self.server.source();
        let found = self.contents.iter().zip(files).find_map(|(content, files)| {
            let (file, segment) = files.place(data.name())?;
            Some((*content, file, segment))
        });
        if let Some(segment) = found {
            self.log.note(now, segment, data.content().len());
        }
        self.prefixes_answered.note(interest.name(), |counts| counts.answered += 1);
        Some(data)
    }

    /// Data that it has given.
    pub(crate) fn data_count(&self) -> u64 {
        self.server.counters().data
    }
}

/// Files of somebody else's content that an attacker makes up.
#[derive(Debug)]
struct ForgedFiles {
    files: Files,
    /// A key that is not the owner's, or was stolen.
    signer: Option<Signer>,
}

impl Source for ForgedFiles {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let forgery = self.files.forgery(interest, self.signer.as_ref());
        Ok(forgery.map_or(Reply::NotMine, Reply::Data))
    }
}

/// Prefixes of others that an attacker at this node takes Interests for, and the files that it forges.
fn taken(job: &Job) -> Result<(Vec<Name>, Vec<ForgedFiles>), JobError> {
    let (mut prefixes, mut forged) = (Vec::new(), Vec::new());
    for workload in &job.workloads {
        let plan::Activity::Register(registration) = &workload.does else { continue };
        if registration.answers == Response::Content || registration.attempts == 0 {
            continue;
        }
        let prefix = error::name(&registration.prefix)?;
        if registration.answers == Response::Forged {
            for (place, content) in job.contents.iter().enumerate() {
                let files = Files::new(content, place, job.seed, job.dialect)?;
                if prefix.as_ref().is_prefix_of(files.prefix().as_ref()) {
                    let signer = match content.signed {
                        Some(_) => registration::signer(registration, job.seed)?,
                        None => None,
                    };
                    forged.push(ForgedFiles { files, signer });
                }
            }
        }
        prefixes.push(prefix);
    }
    Ok((prefixes, forged))
}

impl Served {
    /// Writes down what was sent, if there is content, and what was answered by prefix.
    pub(crate) fn finish(&self, job: &Job) -> io::Result<()> {
        self.prefixes_answered.write_answered(job)?;
        if self.contents.is_empty() { Ok(()) } else { self.log.write(&job.folder, &job.node) }
    }
}

/// What an agent does.
pub(crate) struct Activities {
    list: Vec<Box<dyn Activity>>,
    /// Whose turn it is to send, so that none waits for the others to have nothing to say.
    turn: usize,
    /// When which of them sent last.
    sent: Option<(Instant, usize)>,
    has_met: bool,
    prefixes: PrefixLog,
}

impl Activities {
    /// None yet.
    pub(crate) fn none() -> Self {
        Activities { list: Vec::new(), turn: 0, sent: None, has_met: false, prefixes: PrefixLog::default() }
    }

    /// Those of a job, whose times count from `epoch_ns`.
    pub(crate) fn new(job: &Job, epoch_ns: u64) -> Result<Self, JobError> {
        let mut list: Vec<Box<dyn Activity>> = Vec::new();
        for (number, workload) in job.workloads.iter().enumerate() {
            let known = KnownRecords::default();
            list.push(activity(job, number, workload, epoch_ns, &known)?);
            if let Some(content) = watched(job, workload) {
                let seeds = (job.seed, (job.at.0 << 16) | number);
                list.push(Box::new(RevocationWatch::new(content, known, seeds, epoch_ns)?));
            }
        }
        Ok(Activities { list, prefixes: PrefixLog::new(job)?, ..Activities::none() })
    }

    /// The same in another order, for what several do at one instant.
    pub(crate) fn arranged(mut self, order: Simultaneous, job: &Job) -> Self {
        order.arrange(&mut self.list, job.seed, job.at.0);
        self
    }

    /// Have two of them sent at one instant, so that one had to be the first? What else they do at one
    /// instant is each one's own.
    pub(crate) fn have_met(&self) -> bool {
        self.has_met
    }

    /// True when the Data was wanted by any.
    pub(crate) fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        // Each is told, also when one before it wanted the Data: it answers an Interest of each.
        let wanted = self.list.iter_mut().map(|one| u64::from(one.receive_data(now, data))).sum::<u64>();
        if wanted > 0 {
            self.prefixes.note(data.name(), |counts| counts.satisfied += wanted);
        }
        wanted > 0
    }

    pub(crate) fn receive_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) {
        self.prefixes.note(interest.name(), |counts| counts.nacks += 1);
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
                self.has_met |= self.sent.is_some_and(|(at, other)| at == now && other != place);
                self.sent = Some((now, place));
                self.prefixes.note(interest.name(), |counts| counts.sent += 1);
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

    pub(crate) fn finish(&mut self, job: &Job, now: Instant) -> io::Result<()> {
        self.prefixes.write_asked(job)?;
        self.list.iter_mut().try_for_each(|one| one.finish(now))
    }
}

/// The state machine of a workload.
fn activity(
    job: &Job,
    number: usize,
    workload: &Workload,
    epoch_ns: u64,
    known: &KnownRecords,
) -> Result<Box<dyn Activity>, JobError> {
    let seed = Random::derive(job.seed, ((job.at.0 as u64) << 32) | number as u64).next_u64();
    let (start, stop) = (Instant::from_nanos(workload.start_ns), Instant::from_nanos(workload.stop_ns));
    let log = |kind: &str, head: &[&str]| {
        let file = format!("{kind}-{}.csv", workload.name);
        let log = Log::create(&job.folder, &file, head, epoch_ns);
        log.map_err(|source| JobError::Log { file, source })
    };
    let files = |place: usize| files_of(job, workload, place);
    Ok(match &workload.does {
        plan::Activity::Download { content, .. } => {
            let config = download_config(workload, job, files(*content)?, seed, (epoch_ns, known))?;
            Box::new(Downloads::new(config, log("transfers", &download::HEAD)?)?)
        }
        plan::Activity::Register(wanted) => {
            let log = log("registration", &registration::HEAD)?;
            Box::new(Registration::new(wanted, start, job.seed, seed, log)?)
        }
        plan::Activity::Flood { prefix, burst, every_ns, until, lifetime_ns, refresh_ns } => {
            let config = FloodConfig {
                prefix: error::name(prefix)?,
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
                prefix: error::name(prefix)?,
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
        plan::Activity::Traffic { content, workload, trace, lifetime_ns } => {
            let config = TrafficConfig {
                files: files(*content)?,
                start,
                stop,
                asks: TrafficSource::of(workload, trace.as_ref())?,
                lifetime: Duration::from_nanos(*lifetime_ns),
                seed,
            };
            let traffic = Traffic::new(config, log("traffic", &ping::HEAD)?);
            Box::new(traffic.map_err(|source| JobError::Spec { spec: workload.clone(), source })?)
        }
        plan::Activity::Load { .. } | plan::Activity::Consume(_) | plan::Activity::Program(_) => {
            return Err(JobError::NotForAgents(workload.name.clone()));
        }
    })
}

/// The files of the content at that place of the plan, which a workload asks for.
fn files_of(job: &Job, workload: &Workload, place: usize) -> Result<Files, JobError> {
    let missing = || JobError::NoContent { workload: workload.name.clone(), content: place };
    Files::new(job.contents.get(place).ok_or_else(missing)?, place, job.seed, job.dialect)
}

/// How a download finds out who has made its segments, if the owner signs them.
fn signatures(
    job: &Job,
    content: usize,
    (epoch_ns, known): (u64, &KnownRecords),
) -> Result<Option<Signatures>, JobError> {
    let signed = job.contents.get(content).filter(|content| content.signed.is_some());
    Ok(signed.map(|content| Signatures::of(content, job.seed, epoch_ns, known.clone())).transpose()?)
}

/// The content whose owner's list a workload has to fetch, because it verifies.
fn watched<'a>(job: &'a Job, workload: &Workload) -> Option<&'a plan::ContentPlan> {
    let plan::Activity::Download { content, verify: true, .. } = &workload.does else { return None };
    job.contents.get(*content).filter(|content| matches!(content.signed, Some(EarlierKey::Published(_))))
}

/// What a workload that downloads works with.
fn download_config(
    workload: &Workload,
    job: &Job,
    files: Files,
    seed: u64,
    checking: (u64, &KnownRecords),
) -> Result<DownloadConfig, JobError> {
    let plan::Activity::Download { content, per_second, count, at_once, arrivals, .. } = &workload.does
    else {
        return Err(JobError::NotForAgents(workload.name.clone()));
    };
    let plan::Activity::Download { controller, window, lifetime_ns, verify, .. } = &workload.does else {
        return Err(JobError::NotForAgents(workload.name.clone()));
    };
    let (start, stop) = (Instant::from_nanos(workload.start_ns), Instant::from_nanos(workload.stop_ns));
    let arrivals = match arrivals {
        Some(plan) => {
            // Who says when it stops says that the rest is not meant.
            let is_stopped = workload.stop_ns < job.duration_ns;
            let ordered = plan.ordered(*count).filter(|_| !is_stopped);
            let seed = Random::derive(seed, ARRIVALS).next_u64();
            Arrivals::drawn(plan, start, stop, files.count(), seed, ordered)?
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
        verify: *verify,
        signatures: if *verify { signatures(job, *content, checking)? } else { None },
        seed,
    })
}
