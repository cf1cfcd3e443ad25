//! Objects that are asked for and are in memory: a thread of the data plane finds and reads their packets by
//! itself, without a question to anybody.
//!
//! The store thread shows an object here when it has read a packet of it without waiting for the disk. The
//! first packet that cannot be read so takes the object out again, and the question goes to the store thread
//! as others do. Whatever changes an object's places takes it out, too, before the change: see
//! [`Catalogue`](crate::catalogue::Catalogue). The table holds a bounded number of objects; the one that was
//! shown first makes room.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use packet::time::Duration;
use packet::{Data, Dialect, Interest, NameHash, PrefixHashes, SpareBuffer, UnixTime};
use smallvec::SmallVec;

use crate::disk::DiskFile;
use crate::extent::Extents;
use crate::key::{SegmentForm, segment_of};
use crate::located::{Located, is_answer};
use crate::object::ObjectId;
use crate::record::Format;

/// Objects that are shown at once.
const MAX_OBJECTS: usize = 1024;
/// An object in more pieces is left to the store thread: what is shown is a copy.
const MAX_RUNS: usize = 64;
/// An object of fewer packets is asked for too seldom to be shown.
const MIN_SEGMENTS: u64 = 4;
/// For so long an object is left to the store thread after a read would have had to wait: to find that out
/// starts the read, which takes the caller some microseconds, and half a millisecond at times.
const PAUSE: Duration = Duration::from_secs(1);
/// Requests that may wait until the store thread tells the policy of them; further ones are only counted.
const MAX_REQUESTS: usize = 8192;

/// An object that is shown.
#[derive(Clone, Debug)]
pub(crate) struct HotObject {
    pub(crate) id: ObjectId,
    pub(crate) number: u64,
    pub(crate) form: SegmentForm,
    pub(crate) extents: Extents,
    /// The volumes that it lies in.
    pub(crate) files: SmallVec<[(u32, Arc<dyn DiskFile>); 1]>,
    pub(crate) format: Format,
}

impl HotObject {
    fn locate(&self, segment: u32) -> Option<Located> {
        let place = self.extents.find(segment)?;
        let (_, file) = self.files.iter().find(|(volume, _)| *volume == place.volume)?;
        Some(Located {
            id: self.id,
            segment,
            place,
            object: self.number,
            file: Arc::clone(file),
            format: self.format.clone(),
        })
    }
}

/// A packet that was served from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) id: ObjectId,
    pub(crate) object: u64,
    pub(crate) segment: u32,
}

/// The table. Shared between the store, which changes it, and those who ask.
#[derive(Debug, Default)]
pub(crate) struct HotObjects {
    table: RwLock<Table>,
    /// What was served, for the store thread to tell the policy.
    requests: Mutex<Vec<Request>>,
    /// Served as well, but not told one by one.
    untold: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    /// By the hash of their names under the data plane's key.
    by_name: BTreeMap<NameHash, HotObject>,
    names: BTreeMap<ObjectId, NameHash>,
    /// The one that was shown first stands first. Some may have left.
    order: VecDeque<ObjectId>,
    /// Objects that were not in memory, and until when they are not shown again.
    resting: BTreeMap<ObjectId, UnixTime>,
}

impl HotObjects {
    /// Whether an object that lies so is worth a place.
    pub(crate) fn is_worth_it(extents: &Extents) -> bool {
        extents.run_count() <= MAX_RUNS && extents.segment_count() >= MIN_SEGMENTS
    }

    /// Whether this object is to be shown, of which a packet was in memory.
    pub(crate) fn wants(&self, now: UnixTime, id: ObjectId) -> bool {
        self.table.read().is_ok_and(|table| {
            !table.names.contains_key(&id) && table.resting.get(&id).is_none_or(|&until| until <= now)
        })
    }

    /// Shows an object.
    pub(crate) fn show(&self, name: NameHash, object: HotObject) {
        if let Ok(mut table) = self.table.write() {
            table.hide(object.id);
            table.resting.remove(&object.id);
            while table.order.len() >= MAX_OBJECTS
                && let Some(first) = table.order.pop_front()
            {
                table.hide(first);
            }
            table.order.push_back(object.id);
            table.names.insert(object.id, name);
            // Of two objects with one name the one that was asked for last is shown.
            if let Some(other) = table.by_name.insert(name, object) {
                table.names.remove(&other.id);
            }
        }
    }

    /// The object is about to change, or to leave.
    pub(crate) fn hide(&self, id: ObjectId) {
        // Most objects are not here, and a writer turns readers away.
        if self.table.read().is_ok_and(|table| table.names.contains_key(&id))
            && let Ok(mut table) = self.table.write()
        {
            table.hide(id);
        }
    }

    /// Reads the packet that an Interest of NDN asks for by its whole name, if its object is shown and the
    /// packet is in memory. `spare` gives memory for it, or nothing. Never waits.
    pub(crate) fn read(
        &self,
        now: UnixTime,
        interest: &Interest,
        hashes: &PrefixHashes,
        spare: impl FnOnce(usize) -> Option<SpareBuffer>,
    ) -> Option<(Data, UnixTime)> {
        if interest.dialect() != Dialect::Ndn {
            return None;
        }
        let (form, segment) = segment_of(Dialect::Ndn, interest.name().last()?)?;
        let object = hashes.prefix(hashes.component_count().checked_sub(1)?)?;
        let located = {
            let table = self.table.try_read().ok()?;
            table.by_name.get(&object).filter(|shown| shown.form == form)?.locate(segment)?
        };
        let Some((data, arrival)) = located.read_in_memory(spare) else {
            // Where somebody else has the table, the next packet comes here again.
            if let Ok(mut table) = self.table.try_write() {
                table.rest(now, located.id);
            }
            return None;
        };
        if !is_answer(now, interest, &data, arrival) {
            return None;
        }
        self.note(Request { id: located.id, object: located.object, segment });
        Some((data, arrival))
    }

    fn note(&self, request: Request) {
        match self.requests.try_lock() {
            Ok(mut requests) if requests.len() < MAX_REQUESTS => requests.push(request),
            _ => drop(self.untold.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// Bytes of memory held, about. What is shown of an object is a copy.
    pub(crate) fn footprint_bytes(&self) -> usize {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let shown = table.by_name.values().map(|object| {
            let files = if object.files.spilled() { object.files.capacity() } else { 0 };
            object.extents.heap_bytes() + files * size_of::<(u32, Arc<dyn DiskFile>)>()
        });
        let in_trees = table.by_name.len() * (size_of::<NameHash>() + size_of::<HotObject>())
            + table.names.len() * size_of::<(ObjectId, NameHash)>()
            + table.resting.len() * size_of::<(ObjectId, UnixTime)>();
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).capacity();
        // Nodes of a balanced tree are at least half full, and two thirds on average.
        shown.sum::<usize>()
            + in_trees * 3 / 2
            + table.order.capacity() * size_of::<ObjectId>()
            + requests * size_of::<Request>()
    }

    /// Whether so much was served that the store thread should be told.
    pub(crate) fn has_many_requests(&self) -> bool {
        self.requests.try_lock().is_ok_and(|requests| requests.len() >= MAX_REQUESTS / 2)
    }

    /// What was served since the last call, in order, and how much more. The list that is given, empty, takes
    /// its place.
    pub(crate) fn take_requests(&self, instead: Vec<Request>) -> (Vec<Request>, u64) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::replace(&mut *requests, instead), self.untold.swap(0, Ordering::Relaxed))
    }
}

impl Table {
    fn rest(&mut self, now: UnixTime, id: ObjectId) {
        self.hide(id);
        if self.resting.len() >= MAX_OBJECTS {
            self.resting.retain(|_, until| *until > now);
        }
        if self.resting.len() < MAX_OBJECTS {
            self.resting.insert(id, now.after(PAUSE));
        }
    }

    fn hide(&mut self, id: ObjectId) {
        if let Some(name) = self.names.remove(&id) {
            self.by_name.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(id: ObjectId) -> HotObject {
        HotObject {
            id,
            number: u64::from(id),
            form: SegmentForm::Typed,
            extents: Extents::default(),
            files: SmallVec::new(),
            format: Format::new([1, 2]),
        }
    }

    #[test]
    fn an_object_that_was_not_in_memory_rests_for_a_second() {
        let (hot, now) = (HotObjects::default(), UnixTime::from_millis(5000));
        assert!(hot.wants(now, 7));
        hot.show(NameHash(7), object(7));
        assert!(!hot.wants(now, 7), "it is shown already");
        hot.table.write().unwrap().rest(now, 7);
        assert!(!hot.wants(now.after(Duration::from_millis(999)), 7));
        assert!(hot.wants(now.after(PAUSE), 7));
        hot.show(NameHash(7), object(7));
        hot.hide(7);
        assert!(hot.wants(now, 7), "who was only changed need not rest");
    }

    #[test]
    fn whatever_comes_and_goes_no_more_are_kept_than_may_be() {
        let (hot, now) = (HotObjects::default(), UnixTime::from_millis(5000));
        let most = MAX_OBJECTS as u32;
        for id in 0..3 * most {
            hot.show(NameHash(u64::from(id)), object(id));
            match id % 3 {
                0 => hot.hide(id),
                1 => hot.table.write().unwrap().rest(now, id),
                _ => {}
            }
            let table = hot.table.read().unwrap();
            let counts = [table.by_name.len(), table.names.len(), table.order.len(), table.resting.len()];
            assert!(counts.iter().all(|&count| count <= MAX_OBJECTS), "{counts:?}");
        }
        let each = size_of::<HotObject>() + size_of::<NameHash>();
        assert!(hot.footprint_bytes() > hot.table.read().unwrap().by_name.len() * each);
        // Of two with one name the last is shown, and the first can be again.
        hot.show(NameHash(1), object(1));
        hot.show(NameHash(1), object(2));
        assert!(hot.wants(now.after(PAUSE), 1) && !hot.wants(now.after(PAUSE), 2));
    }
}
