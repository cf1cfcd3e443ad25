//! The store: packets go in, are durable when they are acknowledged, and answer Interests until their object
//! is deleted.

mod ccnx_order;
mod children;
mod cold;
mod delete;
mod disk_executor;
mod insert;
mod lookup;
mod maintenance;
mod recover;
mod reserve;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;

use packet::{AnyName, Component, Data, NameHasher, PrefixHashes};

use crate::catalogue::Catalogue;
use crate::disk::{Disk, FolderLock};
use crate::eviction::{DeletionRule, ObjectEviction};
use crate::extent::{Extent, Location};
use crate::filter::Filter;
use crate::index::{Checkpoint, Index, IndexError};
use crate::key::{Key, ObjectName, segment_of};
use crate::layout::Layout;
use crate::limits::{Limits, Rejection, RejectionCounters};
pub use crate::located::{Located, ReadError, is_answer};
use crate::object::{Object, ObjectId};
use crate::record::Format;
use crate::volume::{LogPosition, VolumeRange, Volumes};
use packet::UnixTime;

pub use children::Children;
pub use delete::{Deleted, Selection};
use disk_executor::OBJECTS_AT_ONCE;
pub use disk_executor::{DiskExecutor, DiskJob};
pub use insert::{CommitError, InsertionId};
pub(crate) use lookup::is_outdated;
pub use lookup::{Answer, Preference, metadata_packet};
pub use maintenance::PendingMaintenance;
pub use recover::Recovery;

/// How a store behaves.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// Who uses the folder, for whoever else wants to.
    pub holder: String,
    /// A volume that has reached so many bytes is sealed; 32 GiB at most.
    pub volume_bytes: u64,
    /// How much is taken.
    pub limits: Limits,
    /// When objects are evicted, if there is a policy.
    pub deletion: DeletionRule,
    /// After so many bytes of log the index is brought up to date.
    pub checkpoint_bytes: u64,
    /// And after so many objects have changed, or so many records were written: that is what opening has to
    /// do again after a crash.
    pub checkpoint_objects: usize,
    /// See there.
    pub checkpoint_records: u64,
    /// Sealed volumes of which less than this share is alive are compacted.
    pub compact_below: f64,
    /// How fast volumes are compacted, in bytes of records a second.
    pub compact_bytes_per_second: u64,
    /// Which of several objects below a prefix answers.
    pub preference: Preference,
    /// Whether the store itself answers questions for metadata.
    pub answers_metadata: bool,
}

impl Default for StoreConfig {
    fn default() -> Self {
        let limits = Limits::default();
        StoreConfig {
            holder: "cairn".to_owned(),
            volume_bytes: 1 << 30,
            limits,
            deletion: DeletionRule { threshold_bytes: limits.max_bytes, ratio: 0.25 },
            checkpoint_bytes: 256 << 20,
            checkpoint_objects: 1 << 16,
            checkpoint_records: 1 << 18,
            compact_below: 0.25,
            compact_bytes_per_second: 16 << 20,
            preference: Preference::Newest,
            answers_metadata: true,
        }
    }
}

/// The secret keys of a store. Their owner draws them from the system's random source.
#[derive(Clone, Debug)]
pub struct StoreKeys {
    /// For records of a store that is new; one that exists has its own.
    pub records: [u64; 2],
    /// Under which the filter's prefixes are hashed: that of the data plane, so that it can ask with what it
    /// has hashed.
    pub names: NameHasher,
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("{0}")]
    InUse(#[source] io::Error),
    /// Some of its volumes live in a cold tier, which was not given with the folder.
    #[error("volumes of it live in a cold tier: open it with `repository.cold` as before")]
    Cold,
    /// Another version of this program has written it, in a format that this one does not know.
    #[error("its volumes are of format {found}, which this version does not know: open it with a newer one")]
    Version {
        /// What the last volume says.
        found: u32,
    },
    /// The file system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The index can be neither read nor made anew.
    #[error("{0}")]
    Index(#[from] IndexError),
}

/// Something that the owner should tell somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// What lay on the disk was not what had been written. The object is gone and must be got anew.
    Corrupt(AnyName),
}

/// What a store has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounters {
    /// Packets that are durable.
    pub insertions: u64,
    /// Packets that were there already, byte by byte.
    pub duplicates: u64,
    /// Commits, each with one sync.
    pub commits: u64,
    /// Interests answered with a packet.
    pub hits: u64,
    /// Of these, packets of which the policy was not told, because too many were served at once.
    pub untold_hits: u64,
    /// Interests not answered.
    pub misses: u64,
    /// Packets read that were not the answer after all.
    pub vain_reads: u64,
    /// Objects deleted by somebody's wish.
    pub deletions: u64,
    /// Objects deleted for want of room.
    pub evictions: u64,
    /// Holes punched.
    pub punches: u64,
    /// Bytes copied out of volumes that were mostly holes.
    pub compacted_bytes: u64,
    /// Volumes removed.
    pub volumes_removed: u64,
    /// Checkpoints of the index.
    pub checkpoints: u64,
}

/// How much a store holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Objects.
    pub objects: u64,
    /// Segments of all objects.
    pub segments: u64,
    /// Runs of segments.
    pub runs: u64,
    /// Bytes of records of all objects.
    pub bytes: u64,
    /// Packets that wait for the next commit.
    pub open_packets: u64,
    /// Bytes of these.
    pub open_bytes: u64,
    /// Volumes.
    pub volumes: u64,
    /// Bytes that volumes take on the disk once all holes are punched.
    pub disk_bytes: u64,
    /// Volumes that live elsewhere.
    pub cold_volumes: u64,
    /// Bytes of these.
    pub cold_bytes: u64,
    /// Holes that are to be punched.
    pub pending_punches: u64,
    /// Bytes of memory that catalogue, filter, policy and the copies for the data plane take, about.
    pub memory_bytes: u64,
}

const MAX_EVENTS: usize = 1024;

/// The store.
///
/// Its owner calls [`insert`](Store::insert) and [`commit`](Store::commit), [`answer`](Store::answer),
/// [`delete`](Store::delete) as they come, and [`maintain`](Store::maintain) often: it evicts, punches holes,
/// compacts and brings the index up to date, a bounded amount each time.
#[derive(Debug)]
pub struct Store {
    config: StoreConfig,
    key: [u64; 2],
    names: NameHasher,
    format: Format,
    volumes: Volumes,
    index: Index,
    objects: Objects,
    open: insert::Open,
    /// Where what is written next is laid out; empty.
    layout: Layout,
    unindexed: Unindexed,
    reclaiming: Reclaiming,
    history: History,
    /// Dropped last: nobody else may open the folder before the index is closed.
    storage: Storage,
}

/// Where the volumes lie, and who works there.
#[derive(Debug)]
struct Storage {
    disk: Arc<dyn Disk>,
    /// Whether the room is kept that a full disk needs for deleting.
    has_reserve: bool,
    /// Who works with the disk while the store goes on.
    disk_executor: Option<Box<dyn DiskExecutor>>,
    cold: Option<cold::ColdTier>,
    /// Keeps other processes out.
    _lock: Box<dyn FolderLock>,
}

/// The objects that are held, in every form in which they are looked for: what one of them changes, all of
/// it is told.
#[derive(Debug)]
struct Objects {
    catalogue: Catalogue,
    filter: Arc<Filter>,
    eviction: Option<Box<dyn ObjectEviction>>,
    /// Bytes of all records of objects.
    bytes: u64,
    /// The number of the next one that is new.
    next_object: u64,
}

/// What came of a segment that was put in its place.
struct PutSegment {
    /// Where it lay before.
    freed: Vec<Extent>,
    /// What the records of its object take now.
    bytes: u64,
}

impl Objects {
    /// Notes where a segment lies now; `None` if there is no such object.
    fn put(&mut self, id: ObjectId, segment: u32, location: Location) -> Option<PutSegment> {
        let object = self.catalogue.get_mut(id)?;
        let mut freed = Vec::new();
        let grown = object.extents.insert(segment, location, &mut freed);
        let lost: u64 = freed.iter().map(Extent::bytes).sum();
        for bytes in [&mut object.bytes, &mut self.bytes] {
            *bytes = (*bytes + grown).saturating_sub(lost);
        }
        Some(PutSegment { freed, bytes: object.bytes })
    }
}

/// What differs from the index.
#[derive(Debug)]
struct Unindexed {
    /// Up to where in the log the index says everything.
    since: LogPosition,
    /// Bytes of the log behind that, and records.
    log_bytes: u64,
    log_records: u64,
    dirty: BTreeSet<ObjectId>,
    gone: Vec<Key>,
    /// Where records lie that belong to no object and say what the index does not say yet.
    notices: Vec<VolumeRange>,
}

/// Space that is on its way back to the file system.
#[derive(Debug, Default)]
struct Reclaiming {
    /// Holes that are to be punched.
    punches: VecDeque<VolumeRange>,
    /// Volumes with holes that the file system may forget again.
    punched: BTreeSet<u32>,
    /// Volumes without anything alive; removed after the next checkpoint.
    emptied: Vec<u32>,
    compaction: maintenance::Compaction,
}

/// What has happened.
#[derive(Debug, Default)]
struct History {
    counters: StoreCounters,
    rejections: RejectionCounters,
    /// Not polled yet.
    events: VecDeque<Event>,
}

impl Store {
    /// What it has done.
    pub fn counters(&self) -> &StoreCounters {
        &self.history.counters
    }

    /// What it has refused or given up, by reason.
    pub fn rejections(&self) -> &RejectionCounters {
        &self.history.rejections
    }

    /// What says "not here" to whoever asks, from any thread.
    pub fn filter(&self) -> &Arc<Filter> {
        &self.objects.filter
    }

    /// All objects.
    pub fn catalogue(&self) -> &Catalogue {
        &self.objects.catalogue
    }

    /// Bytes of all records of objects.
    pub fn bytes(&self) -> u64 {
        self.objects.bytes
    }

    /// Bytes of the packets that wait for the next commit.
    pub fn open_bytes(&self) -> u64 {
        self.open.bytes()
    }

    /// Something that happened, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.history.events.pop_front()
    }

    /// How much it holds. Looks at all objects.
    pub fn stats(&self) -> StoreStats {
        self.stats_in_pieces(|_| {})
    }

    /// The same, with something done now and then that others wait for.
    pub(crate) fn stats_in_pieces(&self, mut between: impl FnMut(&Store)) -> StoreStats {
        let mut stats = StoreStats {
            objects: self.objects.catalogue.len() as u64,
            bytes: self.objects.bytes,
            open_packets: self.open.len() as u64,
            open_bytes: self.open.bytes(),
            pending_punches: self.reclaiming.punches.len() as u64,
            ..StoreStats::default()
        };
        // What a balanced tree needs for an entry of sixteen and four bytes, and the counts beside a shared
        // key.
        let tree_bytes = 34 + 2 * size_of::<usize>();
        for (count, (_, object)) in self.objects.catalogue.iter().enumerate() {
            if count % OBJECTS_AT_ONCE == OBJECTS_AT_ONCE - 1 {
                between(self);
            }
            stats.segments += object.extents.segment_count();
            stats.runs += object.extents.run_count() as u64;
            let own =
                size_of::<Option<Object>>() + tree_bytes + object.key.len() + object.extents.heap_bytes();
            stats.memory_bytes += own as u64;
        }
        stats.memory_bytes += self.objects.filter.footprint_bytes() as u64;
        stats.memory_bytes += self.objects.catalogue.hot().footprint_bytes() as u64;
        stats.memory_bytes +=
            self.objects.eviction.as_ref().map_or(0, |policy| policy.footprint_bytes() as u64);
        for (_, volume) in self.volumes.iter() {
            stats.volumes += 1;
            if volume.file.is_remote() {
                stats.cold_volumes += 1;
                stats.cold_bytes += volume.space.len_bytes();
            } else {
                stats.disk_bytes += volume.space.disk_bytes();
            }
        }
        stats
    }

    /// Hands the objects to a policy that decides from now on who leaves.
    pub fn set_eviction(&mut self, mut policy: Box<dyn ObjectEviction>) {
        // The older a number, the longer its object has been here.
        let by_age: BTreeMap<u64, ObjectId> =
            self.objects.catalogue.iter().map(|(id, object)| (object.number, id)).collect();
        for id in by_age.into_values() {
            if let Some(object) = self.objects.catalogue.get(id) {
                policy.include(id, self.hashes(object).whole().0, object.bytes);
            }
        }
        self.objects.eviction = Some(policy);
    }

    /// Under what the filter's prefixes and the objects that are shown to others are hashed.
    pub(crate) fn name_hasher(&self) -> &NameHasher {
        &self.names
    }

    fn hashes(&self, object: &Object) -> PrefixHashes {
        object.name().map_or_else(PrefixHashes::default, |object| self.name_hashes(&object))
    }

    fn name_hashes(&self, object: &ObjectName<'_>) -> PrefixHashes {
        self.names.hash(object.dialect, object.name.components())
    }

    fn tell(&mut self, event: Event) {
        if self.history.events.len() == MAX_EVENTS {
            self.history.events.pop_front();
        }
        self.history.events.push_back(event);
    }

    fn checkpoint_now(&self) -> Checkpoint {
        let LogPosition { volume, offset } = self.volumes.end();
        Checkpoint { key: self.key, volume, offset, next_object: self.objects.next_object }
    }
}

/// What an object learns from one of its packets.
fn learn(object: &mut Object, data: &Data, arrival: UnixTime) {
    object.fresh_until = object.fresh_until.max(arrival.after(data.freshness()));
    let last = match data.ccnx() {
        None => data.final_block(),
        Some(view) => view.final_block_id().map(Component::generic),
    };
    if let Some((_, last)) = last.and_then(|last| segment_of(data.dialect(), last)) {
        object.final_segment = Some(last);
    }
}

fn rejection_of(error: &io::Error) -> Rejection {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Rejection::DiskFull,
        _ => Rejection::DiskFailed,
    }
}

#[cfg(test)]
mod opening_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod waiting_tests;
