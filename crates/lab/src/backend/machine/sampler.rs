//! Asks a forwarder for its counters and the kernel for its processor time and memory, at fixed moments.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ::management::{FaceScope, FaceStatus, GeneralStatus};
use client::ClientError;
use packet::PacketCounts;
use system::proc_files;

use super::cgroup::Group;
use super::processes::with_children;
use super::questions::OwnQuestions;
use crate::driver::Manager;
use crate::order::Event;
use crate::order::sample::{self, Answer, Carried, Load, LogOf};
use crate::sampling::moment;
use crate::wall_clock::epoch_ns;

/// How long is waited for an answer. A forwarder that is worn out answers late, and just then its numbers are
/// wanted.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The remote end of the face of a forwarder's management.
const MANAGEMENT: &str = "internal://";

/// What is sampled.
#[derive(Debug)]
pub(crate) struct SamplerConfig {
    pub(crate) node: String,
    /// The forwarder's process; another after it was started anew, and 0 where there is none.
    pub(crate) pid: Arc<AtomicU32>,
    /// Processes that serve beside it.
    pub(crate) servers: Vec<u32>,
    /// Where the forwarder is asked; nothing where there is none.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) file: PathBuf,
    /// Can the forwarder be told to forget what it said? Some say nothing to what they do not know, and are
    /// waited for in vain. Those that can are Cairn's.
    pub(crate) erases: bool,
    pub(crate) every: Duration,
    /// When the run began, by the calendar: what events count their seconds from.
    pub(crate) start_ns: u64,
    /// The forwarder's control group, which knows how long its share kept it from running.
    pub(crate) group: Option<Group>,
}

/// A sampler that runs.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<(u64, u64)>>,
}

impl Sampler {
    pub(crate) fn start(config: SamplerConfig) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = std::thread::Builder::new()
            .name(format!("sample {}", config.node))
            .spawn(move || sample(&config, &seen))?;
        Ok(Sampler { stop, thread })
    }

    /// Ends it and says how many samples there were, and how many without an answer.
    pub(crate) fn stop(self) -> io::Result<(u64, u64)> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the sampler's thread panicked")))
    }
}

/// Time in nanoseconds that the processes of a node had the processor, that they could have run and had it
/// not, and that their group had used up its share.
fn processor_ns(pids: &[u32], group: Option<&Group>) -> Option<[u64; 3]> {
    let mut total = [0, 0, group.and_then(Group::throttled_ns).unwrap_or(0)];
    for pid in pids {
        // A server's helper may have ended since; a forwarder that has ended is the end of the run.
        let [used, waited] = proc_files::processor_ns(*pid).unwrap_or_default();
        total[0] += used;
        total[1] += waited;
    }
    (!pids.is_empty()).then_some(total)
}

/// The forwarder and the servers, with what these have started.
fn processes_of(config: &SamplerConfig) -> Vec<u32> {
    let forwarder = config.pid.load(Ordering::Relaxed);
    let mut pids = with_children(config.servers.iter().copied());
    pids.extend((forwarder > 0).then_some(forwarder));
    pids
}

/// The kernel counts processor time by its ticks, and a group may run until the next one beyond its share.
const TICK_NS: f64 = 10e6;

/// Of the time in which a group was throttled, what its share can have denied one that ran for so long, on so
/// many processors; the kernel sums over them. Whoever ran for less than its share and stood still waited for
/// something else.
fn denied_ns(throttled: u64, ran: u64, limit: Option<[u64; 2]>, processors: usize) -> u64 {
    let Some([quota, period]) = limit.map(|limit| limit.map(|ns| ns as f64)) else { return throttled };
    let pause = ((period - quota) / quota).max(0.0);
    let most = ((ran as f64 + TICK_NS) * pause + period) * processors as f64;
    throttled.min(most as u64)
}

/// What [`processor_ns`] rose by between two looks, in percent of the time that passed: used, waited,
/// throttled. A thread whose group is throttled waits in the eyes of the kernel, but not for a processor that
/// somebody else has.
fn percent_of_a_core(
    last: Option<(Instant, [u64; 3])>,
    seen: Option<[u64; 3]>,
    now: Instant,
    limit: Option<[u64; 2]>,
) -> [f64; 3] {
    let (Some((at, before)), Some(seen)) = (last, seen) else { return [0.0; 3] };
    let passed = now.saturating_duration_since(at).as_secs_f64().max(1e-9);
    let rose = |place: usize| {
        let number = |list: &[u64; 3]| list.get(place).copied().unwrap_or(0);
        number(&seen).saturating_sub(number(&before))
    };
    let (ran, waited, throttled) = (rose(0), rose(1), rose(2));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let denied = denied_ns(throttled, ran, limit, processors);
    [ran, waited.saturating_sub(denied), throttled]
        .map(|ns| Duration::from_nanos(ns).as_secs_f64() / passed * 100.0)
}

/// Who asks a forwarder, and knows what it has asked.
struct Poller<'a> {
    config: &'a SamplerConfig,
    manager: Option<Manager>,
    /// A forwarder that cannot erase is asked once, and its answers are what they are.
    erases: bool,
    own: OwnQuestions,
}

impl<'a> Poller<'a> {
    fn new(config: &'a SamplerConfig) -> Self {
        let mut poller =
            Poller { config, manager: None, erases: config.erases, own: OwnQuestions::default() };
        // Of others nobody knows what they count.
        if config.erases
            && let Ok(store) = poller.ask(Manager::content_store)
        {
            poller.own.begin_with(store);
        }
        poller
    }

    /// One question.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Manager) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let answer = self.ask_for(question);
        if matches!(answer, Ok(_) | Err(ClientError::Refused { .. })) {
            self.own.got_answer();
        }
        answer
    }

    /// One question whose answer is not yet among what was answered.
    fn ask_for<T>(
        &mut self,
        question: impl FnOnce(&mut Manager) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let manager = match &mut self.manager {
            Some(manager) => manager,
            none => {
                let socket = self.config.socket.as_deref().unwrap_or(Path::new(""));
                let opened = Manager::open(socket, TIMEOUT)?;
                self.own.connected();
                none.insert(opened)
            }
        };
        self.own.ask();
        question(manager)
    }

    /// Has the last answer erased, where the forwarder does that. False where it gave no answer.
    fn forget(&mut self) -> bool {
        if !self.erases {
            return true;
        }
        match self.ask(Manager::forget_status) {
            Ok(()) => true,
            Err(ClientError::Refused { .. }) => {
                self.erases = false;
                true
            }
            Err(_) => false,
        }
    }

    /// What the forwarder says of itself, without what it was asked; where there is none, that there is
    /// nothing.
    fn status(&mut self) -> Option<GeneralStatus> {
        if self.config.socket.is_none() {
            return Some(GeneralStatus::default());
        }
        let status = if self.forget() { self.ask_for(Manager::status).ok() } else { None };
        let Some(status) = status else {
            // A new connection, so that a late answer is not taken for the next one.
            self.manager = None;
            return None;
        };
        let without = if self.config.erases { self.own.taken_off(&status) } else { status };
        self.own.got_answer();
        Some(without)
    }

    /// Writes down what the content store has done, if the forwarder tells.
    fn tell_store(&mut self) -> io::Result<()> {
        let Ok(store) = self.ask(Manager::content_store) else { return Ok(()) };
        let (hits, misses) = match self.config.erases {
            true => self.own.taken_off_store(store),
            false => (store.hits, store.misses),
        };
        let place = self.config.file.with_file_name(sample::store_file(&self.config.node));
        fs::write(place, sample::store(hits, misses))
    }

    /// Writes down what its faces have carried.
    fn tell_faces(&mut self) -> io::Result<()> {
        if self.config.erases && self.ask(Manager::forget_status).is_err() {
            return Ok(());
        }
        let (Ok(status), Ok(faces)) = (self.ask(Manager::status), self.ask(Manager::faces)) else {
            return Ok(());
        };
        let place = self.config.file.with_file_name(sample::faces_file(&self.config.node));
        fs::write(place, carried(&status, &faces).table())
    }
}

fn sample(config: &SamplerConfig, stop: &AtomicBool) -> io::Result<(u64, u64)> {
    let mut file = BufWriter::new(File::create(&config.file)?);
    file.write_all(sample::head(LogOf::Process).as_bytes())?;
    let mut poller = Poller::new(config);
    let (mut samples, mut invalid) = (0, 0);
    let mut last: Option<(Instant, [u64; 3])> = None;
    let mut before: Option<(Instant, GeneralStatus)> = None;
    let begin = Instant::now();
    let (mut due, mut period) = (begin, 0);
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now < due {
            // Short naps, so that a stop is heard soon.
            std::thread::sleep((due - now).min(Duration::from_millis(50)));
            continue;
        }
        while due <= now {
            period += 1;
            due = begin + moment(period, config.every);
        }
        let status = poller.status();
        invalid += u64::from(status.is_none());
        // All of a line is of the moment of the answer.
        let (now, time_ns) = (Instant::now(), epoch_ns());
        let pids = processes_of(config);
        let busy = processor_ns(&pids, config.group.as_ref());
        let memory = pids.iter().filter_map(|pid| proc_files::memory_bytes(*pid)).sum();
        let limit = config.group.as_ref().and_then(Group::limit_ns);
        let processor = percent_of_a_core(last, busy, now, limit);
        last = busy.map(|busy| (now, busy));
        // After a late answer not at once again: what is used in an instant says nothing of a share.
        due = due.max(now + config.every / 2);
        samples += 1;
        let answer = status.as_ref().map(|status| {
            let before = before.as_ref().map(|(at, before)| (now.saturating_duration_since(*at), before));
            answer(status, before)
        });
        let [cpu, waited, throttled] = processor;
        let load = Load { cpu, memory_bytes: memory, waited, throttled, busy: None };
        file.write_all(sample::line(time_ns, answer.as_ref(), &load).as_bytes())?;
        // For whoever watches from another terminal.
        file.flush()?;
        Event::Sample {
            node: config.node.clone(),
            seconds: Duration::from_nanos(time_ns.saturating_sub(config.start_ns)).as_secs_f64(),
            pending: status.as_ref().map(|status| status.pit_entries),
            cpu_percent: processor[0],
            memory_bytes: memory,
        }
        .say();
        if let Some(status) = status {
            before = Some((now, status));
        }
    }
    file.flush()?;
    if poller.manager.is_some() {
        poller.tell_store()?;
        poller.tell_faces()?;
    }
    Ok((samples, invalid))
}

/// The faces of applications may be gone by now; what they got is what was sent and went to nobody else.
fn carried(status: &GeneralStatus, faces: &[FaceStatus]) -> Carried {
    let of_links = faces.iter().filter(|face| face.scope == FaceScope::NonLocal).map(|face| face.packets);
    let sum = |count: fn(&PacketCounts) -> u64| of_links.clone().map(|packets| count(&packets)).sum::<u64>();
    let managing = faces.iter().find(|face| face.uri == MANAGEMENT).map_or(0, |face| face.packets.in_data);
    // The answer that is `status` is in what management had sent when the faces were listed, and not in
    // itself.
    let managing = managing.saturating_sub(1);
    let to_others = sum(|packets| packets.out_data) + managing;
    Carried {
        link_packets: sum(PacketCounts::received),
        link_data: sum(|packets| packets.in_data),
        application_data: status.packets.out_data.saturating_sub(to_others),
        nacks_sent: status.packets.out_nacks,
    }
}

/// What a forwarder said, and what it said before and how long ago that was.
fn answer(status: &GeneralStatus, before: Option<(Duration, &GeneralStatus)>) -> Answer {
    let per_second = |now: fn(&GeneralStatus) -> u64| {
        before.map_or(0.0, |(passed, before)| {
            now(status).saturating_sub(now(before)) as f64 / passed.as_secs_f64().max(1e-9)
        })
    };
    Answer {
        names: status.name_tree_entries,
        pending: status.pit_entries,
        propagated: per_second(|status| status.packets.out_interests),
        noted: per_second(|status| status.packets.in_interests.saturating_sub(status.packets.out_interests)),
        cached: status.cs_entries,
        in_interests: status.packets.in_interests,
        out_interests: status.packets.out_interests,
        in_data: status.packets.in_data,
        out_data: status.packets.out_data,
        in_nacks: status.packets.in_nacks,
        out_nacks: status.packets.out_nacks,
        satisfied: status.satisfied_interests,
        unsatisfied: status.unsatisfied_interests,
    }
}

#[cfg(test)]
mod tests {
    use ::management::{FaceFlags, FacePersistency, LinkType};

    use super::*;

    #[test]
    fn what_applications_got_is_what_was_sent_and_went_neither_to_neighbours_nor_came_from_management() {
        let face = |uri: &str, scope, packets| FaceStatus {
            face_id: 1,
            uri: uri.to_owned(),
            local_uri: String::new(),
            expiration_period_ms: None,
            scope,
            persistency: FacePersistency::Permanent,
            link_type: LinkType::PointToPoint,
            base_congestion_marking_interval_ns: None,
            default_congestion_threshold_bytes: None,
            mtu_bytes: None,
            packets,
            in_bytes: 0,
            out_bytes: 0,
            flags: FaceFlags::default(),
        };
        let counts = |in_interests, in_data, in_nacks, out_data| PacketCounts {
            in_interests,
            in_data,
            in_nacks,
            out_data,
            ..PacketCounts::default()
        };
        let faces = [
            face("internal://", FaceScope::Local, counts(0, 41, 0, 0)),
            face("udp4://192.0.2.1:6363", FaceScope::NonLocal, counts(10, 90, 2, 7)),
            face("udp4://192.0.2.2:6363", FaceScope::NonLocal, counts(1, 3, 0, 4)),
            face("fd://9", FaceScope::Local, counts(500, 0, 0, 60)),
        ];
        let packets = PacketCounts { out_data: 151, out_nacks: 5, ..PacketCounts::default() };
        let status = GeneralStatus { packets, ..GeneralStatus::default() };
        let expected = Carried { link_packets: 106, link_data: 93, application_data: 100, nacks_sent: 5 };
        assert_eq!(carried(&status, &faces), expected);
    }

    #[test]
    fn what_a_share_denies_is_not_waiting_for_a_processor() {
        let now = Instant::now();
        let before = Some((now, [0, 0, 0]));
        let second = now + Duration::from_secs(1);
        // A tenth of a core: 100 ms of work, 850 ms without a processor, of which the share took 800.
        let seen = Some([100_000_000, 850_000_000, 800_000_000]);
        let found = percent_of_a_core(before, seen, second, None).map(|percent| percent.round());
        assert_eq!(found, [10.0, 5.0, 80.0]);
    }

    #[test]
    fn a_share_denies_nobody_more_than_what_it_ran_for_brings() {
        let millis = |ms: u64| ms * 1_000_000;
        let tenth = Some([millis(1), millis(10)]);
        // All that it may run for is used up, and two processors are counted.
        assert_eq!(denied_ns(millis(900), millis(100), tenth, 1), millis(900));
        assert_eq!(denied_ns(millis(1800), millis(100), tenth, 2), millis(1800));
        // It ran for 5 of 110 ms: it waited for somebody else.
        assert_eq!(denied_ns(millis(1790), millis(5), tenth, 2), 2 * millis(15 * 9 + 10));
        assert_eq!(denied_ns(millis(900), 0, None, 2), millis(900), "nobody knows its share");
    }
}
