//! One file in which deleted objects become holes: what the store does, without names, log and recovery.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::{Phase, Reclaim, ReclaimError};
use crate::disk::{Disk, DiskFile};
use crate::extent::{Extents, Location, RecordPlace, UNIT_BYTES};
use crate::space::VolumeSpace;

/// Holes of a step.
const HOLES: usize = 16;

/// A segment that is not committed yet.
#[derive(Debug)]
struct UncommittedSegment {
    object: u64,
    segment: u32,
    place: RecordPlace,
    stride_units: u32,
}

/// The layout.
#[derive(Debug)]
pub struct PunchHoles {
    file: Arc<dyn DiskFile>,
    space: VolumeSpace,
    objects: BTreeMap<u64, Extents>,
    waiting: Vec<u8>,
    /// What is in `waiting`.
    open: Vec<UncommittedSegment>,
    holes: VecDeque<Range<u64>>,
}

impl PunchHoles {
    /// An empty one on this disk.
    ///
    /// # Errors
    /// What the disk says.
    pub fn new(disk: &Arc<dyn Disk>) -> Result<Self, ReclaimError> {
        let file = disk.open("payload", true)?;
        disk.sync_folder()?;
        Ok(PunchHoles {
            file,
            space: VolumeSpace::default(),
            objects: BTreeMap::new(),
            waiting: Vec::new(),
            open: Vec::new(),
            holes: VecDeque::new(),
        })
    }
}

impl Reclaim for PunchHoles {
    fn insert(&mut self, object: u64, segment: u32, wire: &[u8]) -> Result<(), ReclaimError> {
        // Length first: places of one run are all of one size.
        let record = (wire.len() + 4) as u64;
        let stride = (record + UNIT_BYTES / 2).div_ceil(UNIT_BYTES) as u32;
        let offset = self.space.len_bytes() + self.waiting.len() as u64;
        let place = RecordPlace { volume: 0, unit: (offset / UNIT_BYTES) as u32, len_bytes: record as u32 };
        self.waiting.extend_from_slice(&(wire.len() as u32).to_le_bytes());
        self.waiting.extend_from_slice(wire);
        let len = self.waiting.len() - (record as usize) + (stride as usize * UNIT_BYTES as usize);
        self.waiting.resize(len, 0);
        self.open.push(UncommittedSegment { object, segment, place, stride_units: stride });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), ReclaimError> {
        let start = self.space.len_bytes();
        self.file.write_at(start, &self.waiting)?;
        self.file.sync()?;
        self.space.append(start..start + self.waiting.len() as u64);
        self.waiting.clear();
        for UncommittedSegment { object, segment, place, stride_units } in std::mem::take(&mut self.open) {
            let mut freed = Vec::new();
            // Every record fills its place here.
            let location = Location { place, stride_units, continues: true };
            self.objects.entry(object).or_default().insert(segment, location, &mut freed);
            self.holes.extend(freed.into_iter().map(|run| self.space.free(run.range())));
        }
        Ok(())
    }

    fn read(&self, object: u64, segment: u32) -> Result<Option<Vec<u8>>, ReclaimError> {
        let place = self.objects.get(&object).and_then(|extents| extents.find(segment));
        let Some(place) = place else { return Ok(None) };
        let mut bytes = vec![0; place.len_bytes as usize];
        self.file.read_at(place.offset(), &mut bytes)?;
        let len = bytes.first_chunk().map_or(0, |len| u32::from_le_bytes(*len) as usize);
        Ok(bytes.get(4..4 + len).map(<[u8]>::to_vec))
    }

    fn begin_deletion(&mut self, objects: &[u64]) -> Result<(), ReclaimError> {
        for extents in objects.iter().filter_map(|object| self.objects.remove(object)) {
            for run in extents.iter() {
                self.holes.push_back(self.space.free(run.range()));
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<Phase, ReclaimError> {
        if self.holes.is_empty() {
            return Ok(Phase::Idle);
        }
        for hole in self.holes.drain(..self.holes.len().min(HOLES)) {
            self.file.punch_hole(hole)?;
        }
        Ok(Phase::CleanUp)
    }

    fn disk_bytes(&self) -> Result<u64, ReclaimError> {
        Ok(self.file.allocated()?)
    }
}
