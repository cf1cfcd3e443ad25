//! Insertion and deletion in service, beside raw writing and the paper's way to delete.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::{Data, Dialect, Name, NameHasher, PrefixHashes};
use repo::disk::{Disk, DiskFile, RealDisk};
use repo::eviction::DeletionRule;
use repo::reclaim::{CopyAndSwap, Phase, Reclaim, ServiceDuringDeletion};
use repo::service::{Reply, Service, ServiceConfig, ServiceHandle};
use repo::{Limits, Selection, Store, StoreConfig, StoreKeys};

use super::{Bound, Row, SEGMENT_BYTES, SEGMENTS, Stage};
use crate::tool::ToolError;
use crate::tool::histogram::Histogram;

/// The folder of the store, which the router opens afterwards.
pub(super) const STORE: &str = "store";
/// Bytes of packets whose insertion is timed, and which are also written raw.
const TIMED_BYTES: u64 = 256 << 20;
/// Objects of one turn, inserted and written raw: some 32 MB.
const TURN_OBJECTS: usize = 8;
/// Raw writing is synced as often.
const SYNC_BYTES: usize = 1 << 20;
/// How long it is read before something is deleted.
const BEFORE: Duration = Duration::from_secs(2);
/// Pages of the B-tree that copy and swap may keep.
const TREE_CACHE_BYTES: usize = 64 << 20;

type Answers = Receiver<(u64, bool)>;

/// Fills a store, deletes a quarter of it while it is read, and asks its filter for what is not there.
pub(super) fn measure(stage: &Stage, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    let hasher = NameHasher::new(keys());
    let (service, answers) = start(stage, &hasher)?;
    insert(stage, &service, rows)?;
    delete(&service, answers, stage.objects, rows)?;
    stage.progress.set_message("misses");
    miss(&service, &hasher, rows)?;
    let stats = service.call(|store, _| store.stats()).ok_or_else(gone)?;
    let bytes = stats.memory_bytes as f64 / stats.segments.max(1) as f64;
    rows.push(Row::new("memory of a stored segment", bytes, "B", Bound::AtMost(40.0)));
    service.stop().map(drop).ok_or_else(gone)
}

fn keys() -> [u64; 2] {
    let mut random = Random::from_seed(client::Clock::seed());
    [random.next_u64(), random.next_u64()]
}

fn gone() -> ToolError {
    ToolError::other("the repository's thread has failed")
}

fn start(stage: &Stage, hasher: &NameHasher) -> Result<(Service, Answers), ToolError> {
    let path = stage.folder.path(STORE);
    let disk = RealDisk::open(&path).map_err(ToolError::file(path))?;
    let config = StoreConfig {
        limits: Limits { max_bytes: u64::MAX, ..Limits::default() },
        deletion: DeletionRule { threshold_bytes: u64::MAX, ratio: 0.0 },
        ..StoreConfig::default()
    };
    let keys = StoreKeys { records: keys(), names: hasher.clone() };
    let (store, _) = Store::open(Arc::new(disk), config, keys).map_err(ToolError::other)?;
    let (tell, answers) = channel();
    let answered = Arc::new(move |replies: &mut Vec<Reply>| {
        for reply in replies.drain(..) {
            let _ = tell.send((reply.question, reply.found.is_some()));
        }
    });
    Ok((Service::start(store, ServiceConfig::default(), answered)?, answers))
}

fn packet(object: u64, segment: u64) -> Result<Data, ToolError> {
    let mut content = vec![object as u8; SEGMENT_BYTES as usize];
    if let Some(first) = content.first_chunk_mut() {
        *first = segment.to_le_bytes();
    }
    let name: Name = Stage::name(object, segment).parse().map_err(ToolError::other)?;
    Ok(DataBuilder::new(name).content(content).build_with_digest()?)
}

/// Inserts packets, and returns when all are durable.
fn insert_all(
    service: &ServiceHandle,
    packets: impl Iterator<Item = Result<Data, ToolError>>,
) -> Result<(), ToolError> {
    let (tell, told) = channel();
    let (mut sent, stored) = (0, Arc::new(AtomicU64::new(0)));
    for packet in packets {
        let (tell, stored) = (tell.clone(), Arc::clone(&stored));
        // To be woken for each packet would be measured, too: only refusals are told, and the last sender
        // that goes ends the waiting.
        let done = move |result| match result {
            Ok(()) => {
                stored.fetch_add(1, Ordering::Relaxed);
            }
            Err(refusal) => {
                let _ = tell.send(refusal);
            }
        };
        service.insert_and_notify(packet?, done).map_err(ToolError::other)?;
        sent += 1;
    }
    drop(tell);
    if let Some(refusal) = told.iter().next() {
        return Err(ToolError::other(refusal));
    }
    if stored.load(Ordering::Relaxed) == sent { Ok(()) } else { Err(gone()) }
}

/// Times the first packets, and writes the same bytes raw, in turns: what memory and disk have to give
/// changes within a second. Then stores the others.
fn insert(stage: &Stage, service: &Service, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    let timed = (TIMED_BYTES / (SEGMENTS * SEGMENT_BYTES)).min(stage.objects);
    let all_of = |object| (0..SEGMENTS).map(move |segment| packet(object, segment));
    stage.progress.set_message("durable insertion, and raw writing");
    let mut raw = RawFile::create(stage)?;
    let (mut bytes, mut took) = (0, Duration::ZERO);
    for (turn, first) in (0..timed).step_by(TURN_OBJECTS).enumerate() {
        let objects = first..timed.min(first + TURN_OBJECTS as u64);
        let packets = objects.flat_map(all_of).collect::<Result<Vec<_>, _>>()?;
        // Who comes second finds the packets in the processor's cache, as far as they fit.
        if turn % 2 == 0 {
            raw.write(&packets)?;
        }
        let began = Instant::now();
        insert_all(&service.handle(), packets.iter().cloned().map(Ok))?;
        took += began.elapsed();
        if turn % 2 == 1 {
            raw.write(&packets)?;
        }
        bytes += packets.iter().map(|packet| packet.wire().len()).sum::<usize>();
    }
    let raw = raw.remove()?;
    let rate = |took: Duration| bytes as f64 / took.as_secs_f64() / 1e6;
    rows.push(Row::new("raw writing, a sync for each MiB", rate(raw), "MB/s", Bound::Nothing));
    rows.push(Row::new("insertion, acknowledged when durable", rate(took), "MB/s", Bound::Nothing));
    let part = rate(took) / rate(raw) * 100.0;
    rows.push(Row::new("of what raw writing reaches", part, "%", Bound::AtLeast(60.0)));
    stage.progress.set_message("filling");
    insert_all(&service.handle(), (timed..stage.objects).flat_map(all_of))
}

/// A file that packets are written to one behind the other.
struct RawFile {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    chunk: Vec<u8>,
    offset: u64,
    took: Duration,
}

impl RawFile {
    fn create(stage: &Stage) -> Result<Self, ToolError> {
        let path = stage.folder.path("raw");
        let disk = RealDisk::open(&path).map_err(ToolError::file(&path))?;
        let file = disk.open("raw", true)?;
        let chunk = Vec::with_capacity(2 * SYNC_BYTES);
        Ok(RawFile { path, file, chunk, offset: 0, took: Duration::ZERO })
    }

    /// Only writing and syncing count, and not to put packets side by side.
    fn write(&mut self, packets: &[Data]) -> Result<(), ToolError> {
        for packet in packets {
            self.chunk.extend_from_slice(packet.wire());
            if self.chunk.len() >= SYNC_BYTES {
                self.flush()?;
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), ToolError> {
        let began = Instant::now();
        self.file.write_at(self.offset, &self.chunk)?;
        self.file.sync()?;
        self.took += began.elapsed();
        self.offset += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// How long writing took.
    fn remove(self) -> Result<Duration, ToolError> {
        drop(self.file);
        std::fs::remove_dir_all(&self.path).map_err(ToolError::file(self.path))?;
        Ok(self.took)
    }
}

/// Reads segments that stay, one at a time.
struct Reader {
    service: ServiceHandle,
    answers: Answers,
    random: Random,
    objects: u64,
    asked: u64,
}

impl Reader {
    fn read(&mut self, goes_on: impl Fn() -> bool) -> Result<Histogram, ToolError> {
        let mut times = Histogram::new();
        while goes_on() {
            let object = self.random.below(self.objects / 4) * 4;
            let name: Name =
                Stage::name(object, self.random.below(SEGMENTS)).parse().map_err(ToolError::other)?;
            let interest = InterestBuilder::new(name).build()?;
            self.asked += 1;
            let began = Instant::now();
            self.service.ask(self.asked, interest).map_err(ToolError::other)?;
            let (_, is_found) = self.answers.recv().map_err(|_| gone())?;
            let took = began.elapsed();
            if !is_found {
                return Err(ToolError::other("a stored packet was not found"));
            }
            times.add(packet::time::Duration::from_nanos(took.as_nanos() as u64));
        }
        Ok(times)
    }
}

/// Deletes a quarter while the rest is read.
fn delete(service: &Service, answers: Answers, objects: u64, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    let handle = service.handle();
    let random = Random::from_seed(7);
    let mut reader = Reader { service: service.handle(), answers, random, objects, asked: 0 };
    let began = Instant::now();
    let before = reader.read(|| began.elapsed() < BEFORE)?;
    let is_over = AtomicBool::new(false);
    let (DeletionTimes { acknowledged, given_back }, during) = std::thread::scope(|scope| {
        let deleter = scope.spawn(|| {
            let times = delete_and_wait(&handle);
            is_over.store(true, Ordering::Relaxed);
            times
        });
        let during = reader.read(|| !is_over.load(Ordering::Relaxed));
        let times = deleter.join().map_err(|_| gone())??;
        Ok::<_, ToolError>((times, during?))
    })?;
    let millis = |duration: packet::time::Duration| duration.as_nanos() as f64 / 1e6;
    let (p99_before, p99) = (millis(before.quantile(0.99)), millis(during.quantile(0.99)));
    let most = Bound::AtMost;
    rows.push(Row::new("a quarter deleted in service: acknowledged", acknowledged, "s", Bound::Nothing));
    rows.push(Row::new("a quarter deleted in service: room given back", given_back, "s", most(2.0)));
    rows.push(Row::new("reads before: 99 %", p99_before, "ms", Bound::Nothing));
    rows.push(Row::new("reads meanwhile: 99 %", p99, "ms", Bound::Nothing));
    rows.push(Row::new("reads meanwhile: 99 % of that before", p99 / p99_before, "times", most(3.0)));
    rows.push(Row::new("reads meanwhile: slowest", millis(during.quantile(1.0)), "ms", most(50.0)));
    rows.push(Row::new("reads meanwhile", during.count() as f64, "packets", Bound::Nothing));
    Ok(())
}

/// How many seconds a deletion takes.
struct DeletionTimes {
    /// Until it is acknowledged.
    acknowledged: f64,
    /// Until its room is given back.
    given_back: f64,
}

fn delete_and_wait(service: &ServiceHandle) -> Result<DeletionTimes, ToolError> {
    let began = Instant::now();
    let selection = Selection::Prefix(Dialect::Ndn, "/gone".parse().map_err(ToolError::other)?);
    let deleted = service.call(move |store, now| store.delete(now, &selection)).ok_or_else(gone)?;
    deleted.map_err(ToolError::other)?;
    let acknowledged = began.elapsed().as_secs_f64();
    while service.call(|store, _| store.stats().pending_punches).ok_or_else(gone)? > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(DeletionTimes { acknowledged, given_back: began.elapsed().as_secs_f64() })
}

/// What it costs the data plane that nothing is here.
fn miss(service: &Service, hasher: &NameHasher, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    const NAMES: u64 = 1024;
    const ROUNDS: u64 = 1000;
    let mut asked = Vec::new();
    for number in 0..NAMES {
        let name: Name = format!("/kept/{number}/v=2/seg=0").parse().map_err(ToolError::other)?;
        let hashes: PrefixHashes = hasher.hash(Dialect::Ndn, name.components());
        asked.push((InterestBuilder::new(name).build()?, hashes));
    }
    let filter = service.filter();
    let began = Instant::now();
    let mut held = 0_u64;
    for _ in 0..ROUNDS {
        let asked = std::hint::black_box(&asked);
        held += asked.iter().filter(|(interest, hashes)| filter.may_answer(interest, hashes)).count() as u64;
    }
    let nanos = began.elapsed().as_nanos() as f64 / (NAMES * ROUNDS) as f64;
    if held > 0 {
        return Err(ToolError::other("the filter affirms what is not there"));
    }
    rows.push(Row::new("a miss, without a read", nanos, "ns", Bound::AtMost(100.0)));
    Ok(())
}

/// Deletes objects of a layout; seconds of sorting, of copying, and of all the rest.
pub(in crate::commands::bench) fn delete_in_parts(
    layout: &mut dyn Reclaim,
    going: &[u64],
) -> Result<[f64; 3], ToolError> {
    let mut began = Instant::now();
    let mut parts = [0.0; 3];
    layout.begin_deletion(going).map_err(ToolError::other)?;
    // To find what goes is part of bringing the index up to date.
    let mut phase = Phase::CleanUp;
    loop {
        let took = began.elapsed().as_secs_f64();
        let [sort, copy, clean_up] = &mut parts;
        match phase {
            Phase::Sort => *sort += took,
            Phase::Copy => *copy += took,
            Phase::CleanUp => *clean_up += took,
            Phase::Idle => return Ok(parts),
        }
        began = Instant::now();
        phase = layout.step().map_err(ToolError::other)?;
    }
}

/// Deletes the same quarter of the same packets as the paper does: sort, copy, clean up.
pub(super) fn measure_copy_and_swap(stage: &Stage, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    stage.progress.set_message("copy and swap");
    // Its room is needed.
    let path = stage.folder.path(STORE);
    std::fs::remove_dir_all(&path).map_err(ToolError::file(path))?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(stage.folder.path("swap"))?);
    let mut layout =
        CopyAndSwap::new(&disk, ServiceDuringDeletion::Stop, TREE_CACHE_BYTES).map_err(ToolError::other)?;
    let sample = packet(0, 0)?;
    for object in 0..stage.objects {
        for segment in 0..SEGMENTS {
            layout.insert(object, segment as u32, sample.wire()).map_err(ToolError::other)?;
        }
        layout.commit().map_err(ToolError::other)?;
    }
    let going: Vec<u64> = (0..stage.objects).filter(|&object| Stage::goes(object)).collect();
    let parts = delete_in_parts(&mut layout, &going)?;
    let seconds: f64 = parts.iter().sum();
    rows.push(Row::new("the same quarter by copy and swap", seconds, "s", Bound::Nothing));
    let ours = rows.iter().find(|row| row.what.ends_with("room given back")).map(|row| row.measured);
    if let Some(ours) = ours {
        let what = "copy and swap, of what ours takes";
        rows.push(Row::new(what, seconds / ours, "times", Bound::AtLeast(10.0)));
    }
    Ok(())
}
