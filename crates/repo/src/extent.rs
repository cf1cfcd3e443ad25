//! Where the segments of one object lie: runs of segments in places of equal size, one after the other in a
//! volume.
//!
//! An object that was stored in order is one run of 28 bytes, however many segments it has.

use smallvec::SmallVec;

/// Volumes are addressed in units of so many bytes.
pub const UNIT_BYTES: u64 = 16;

/// Where one record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordPlace {
    /// Number of the volume.
    pub volume: u32,
    /// Where in the volume, in units.
    pub unit: u32,
    /// Bytes that the record may take there: exactly those of the last record of a run, the size of a place
    /// otherwise.
    pub len_bytes: u32,
}

impl RecordPlace {
    /// The first byte.
    pub fn offset(&self) -> u64 {
        u64::from(self.unit) * UNIT_BYTES
    }

    /// The byte behind the last one, at the end of its unit.
    pub fn end(&self) -> u64 {
        self.offset() + u64::from(self.len_bytes).next_multiple_of(UNIT_BYTES)
    }
}

/// Where a record was put, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Where.
    pub place: RecordPlace,
    /// The size of a place of its run, in units.
    pub stride_units: u32,
    /// Whether nothing lies between this record and the one before it in its run. That it lies where the run
    /// would go on is not enough: there may be another record in the rest of the last place.
    pub continues: bool,
}

/// A run: segment `first + i` lies at `unit + i × stride_units`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of the volume.
    pub volume: u32,
    /// Where the first record lies, in units.
    pub unit: u32,
    /// From one record to the next, in units.
    pub stride_units: u32,
    /// Bytes of the last record.
    pub last_bytes: u32,
    /// The first segment.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

impl Extent {
    /// Of one record, in a place of its own.
    pub fn single(segment: u32, place: RecordPlace, stride_units: u32) -> Self {
        let RecordPlace { volume, unit, len_bytes } = place;
        Extent { volume, unit, stride_units, last_bytes: len_bytes, first: segment, count: 1 }
    }

    /// The segment behind the last one.
    pub fn end(&self) -> u64 {
        u64::from(self.first) + u64::from(self.count)
    }

    /// Where `segment` lies, if it is in this run.
    pub fn place(&self, segment: u32) -> Option<RecordPlace> {
        let index = segment.checked_sub(self.first).filter(|&index| index < self.count)?;
        let is_last = index + 1 == self.count;
        let len_bytes = if is_last { self.last_bytes } else { self.stride_bytes() };
        Some(RecordPlace { volume: self.volume, unit: self.unit + index * self.stride_units, len_bytes })
    }

    /// Where the record that continues this run would lie.
    pub fn next_unit(&self) -> Option<u32> {
        self.count.checked_mul(self.stride_units)?.checked_add(self.unit)
    }

    /// The bytes of its volume that it takes, units that were begun as a whole.
    pub fn range(&self) -> std::ops::Range<u64> {
        let start = u64::from(self.unit) * UNIT_BYTES;
        let before_last = u64::from(self.count.saturating_sub(1)) * u64::from(self.stride_bytes());
        start..start + before_last + u64::from(self.last_bytes).next_multiple_of(UNIT_BYTES)
    }

    /// How many bytes of its volume that are.
    pub fn bytes(&self) -> u64 {
        let range = self.range();
        range.end - range.start
    }

    fn stride_bytes(&self) -> u32 {
        self.stride_units * UNIT_BYTES as u32
    }

    /// The part of it with `count` segments from `first` on; these must be in it.
    fn part(&self, first: u32, count: u32) -> Extent {
        let is_end = u64::from(first) + u64::from(count) == self.end();
        Extent {
            unit: self.unit + (first - self.first) * self.stride_units,
            last_bytes: if is_end { self.last_bytes } else { self.stride_bytes() },
            first,
            count,
            ..*self
        }
    }
}

/// All runs of one object, by segment. They never overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    runs: SmallVec<[Extent; 1]>,
}

impl Extents {
    /// The runs, lowest segment first.
    pub fn iter(&self) -> impl Iterator<Item = &Extent> {
        self.runs.iter()
    }

    /// How many runs there are.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// True if there is no segment.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many segments there are.
    pub fn segment_count(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.count)).sum()
    }

    /// The lowest segment.
    pub fn first_segment(&self) -> Option<u32> {
        self.runs.first().map(|run| run.first)
    }

    /// The highest segment.
    pub fn last_segment(&self) -> Option<u32> {
        self.runs.last().map(|run| run.first + (run.count - 1))
    }

    /// The lowest segment that is not below `segment`.
    pub fn next_segment(&self, segment: u32) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.end() <= segment.into());
        self.runs.get(at).map(|run| run.first.max(segment))
    }

    /// The highest segment below `segment`.
    pub fn segment_before(&self, segment: u32) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.first < segment);
        let run = self.runs.get(at.checked_sub(1)?)?;
        Some((segment - 1).min(run.first + (run.count - 1)))
    }

    /// Where `segment` lies.
    pub fn find(&self, segment: u32) -> Option<RecordPlace> {
        let at = self.runs.partition_point(|run| run.end() <= segment.into());
        self.runs.get(at)?.place(segment)
    }

    /// The run that `segment` would continue, if there is one.
    pub fn run_before(&self, segment: u32) -> Option<&Extent> {
        let at = self.runs.partition_point(|run| run.end() <= segment.into());
        self.runs.get(at.checked_sub(1)?).filter(|run| run.end() == segment.into())
    }

    /// Puts `segment` at `location`; what lay elsewhere under this number is given to `freed`. If the
    /// location continues the run before it, that takes it, otherwise there is a new run. Returns by how many
    /// bytes the runs have grown, what was freed not counted.
    pub fn insert(&mut self, segment: u32, location: Location, freed: &mut Vec<Extent>) -> u64 {
        let Location { place, stride_units, continues } = location;
        if self.find(segment).is_some() {
            self.remove(segment, segment, freed);
        }
        let at = self.runs.partition_point(|run| run.end() <= segment.into());
        if let Some(before) = at.checked_sub(1).and_then(|at| self.runs.get_mut(at))
            && continues
            && before.end() == u64::from(segment)
            && before.volume == place.volume
            && before.next_unit() == Some(place.unit)
            && before.last_bytes <= before.stride_bytes()
        {
            let end = before.range().end;
            before.count += 1;
            before.last_bytes = place.len_bytes;
            return before.range().end - end;
        }
        self.runs.insert(at, Extent::single(segment, place, stride_units));
        place.end() - place.offset()
    }

    /// Takes the segments from `first` to `last` out; what they took is given to `freed`.
    pub fn remove(&mut self, first: u32, last: u32, freed: &mut Vec<Extent>) {
        let start = self.runs.partition_point(|run| run.end() <= first.into());
        let touched = self.runs.iter().skip(start).take_while(|run| run.first <= last).count();
        let mut kept: SmallVec<[Extent; 2]> = SmallVec::new();
        for run in self.runs.iter().skip(start).take(touched) {
            let from = run.first.max(first);
            let to = run.end().min(u64::from(last) + 1);
            if run.first < from {
                kept.push(run.part(run.first, from - run.first));
            }
            freed.push(run.part(from, (to - u64::from(from)) as u32));
            if to < run.end() {
                kept.push(run.part(to as u32, (run.end() - to) as u32));
            }
        }
        let rest = self.runs.split_off_at(start + touched);
        self.runs.truncate(start);
        self.runs.extend(kept);
        self.runs.extend(rest);
        self.runs.shrink_to_fit();
    }

    /// Puts a run behind all others, as when they are read from the index; false if it does not belong there.
    pub fn push(&mut self, run: Extent) -> bool {
        let is_behind = self.runs.last().is_none_or(|last| last.end() <= run.first.into());
        let is_sound = run.count > 0 && run.stride_units > 0 && run.end() <= u64::from(u32::MAX);
        if is_behind && is_sound {
            self.runs.push(run);
        }
        is_behind && is_sound
    }

    /// Bytes of memory beside the structure itself.
    pub fn heap_bytes(&self) -> usize {
        if self.runs.spilled() { self.runs.capacity() * size_of::<Extent>() } else { 0 }
    }
}

trait SplitOffAt {
    fn split_off_at(&self, at: usize) -> SmallVec<[Extent; 2]>;
}

impl SplitOffAt for SmallVec<[Extent; 1]> {
    fn split_off_at(&self, at: usize) -> SmallVec<[Extent; 2]> {
        self.iter().skip(at).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;
    use std::collections::BTreeMap;

    fn place(volume: u32, unit: u32, len_bytes: u32) -> RecordPlace {
        RecordPlace { volume, unit, len_bytes }
    }

    #[test]
    fn segments_stored_in_order_are_one_run() {
        let mut extents = Extents::default();
        let mut freed = Vec::new();
        for segment in 0..1000 {
            let len = if segment == 999 { 100 } else { 8000 };
            let place = place(1, 4 + segment * 510, len);
            extents.insert(segment, Location { place, stride_units: 510, continues: true }, &mut freed);
        }
        assert_eq!((extents.run_count(), extents.segment_count(), freed.len()), (1, 1000, 0));
        assert_eq!(extents.find(998), Some(place(1, 4 + 998 * 510, 8160)));
        assert_eq!(extents.find(999), Some(place(1, 4 + 999 * 510, 100)));
        assert_eq!(extents.find(1000), None);
        assert_eq!(extents.iter().next().unwrap().range(), 64..64 + 999 * 8160 + 112);
        assert_eq!(extents.heap_bytes(), 0);
    }

    #[test]
    fn a_record_that_lies_by_chance_where_a_run_would_go_on_does_not_continue_it() {
        let mut extents = Extents::default();
        let mut freed = Vec::new();
        let mut put = |segment, place, continues| {
            extents.insert(segment, Location { place, stride_units: 44, continues }, &mut freed);
        };
        put(0, place(5, 125, 700), false);
        // Short: another object's record lies in the rest of its place.
        put(1, place(5, 169, 170), true);
        put(2, place(5, 213, 170), false);
        extents.remove(1, 1, &mut freed);
        assert_eq!(freed[0].range(), 169 * 16..180 * 16);
    }

    #[test]
    fn runs_hold_what_a_map_holds_whatever_comes_and_goes() {
        for seed in 0..200 {
            let mut random = Random::from_seed(seed);
            let (mut extents, mut model) = (Extents::default(), BTreeMap::new());
            let (mut unit, mut live) = (4u32, 0u64);
            for _ in 0..200 {
                let (segment, mut freed) = (random.below(40) as u32, Vec::new());
                match random.below(8) {
                    0 => {
                        let last = segment + random.below(10) as u32;
                        extents.remove(segment, last, &mut freed);
                        model.retain(|&number, _| number < segment || number > last);
                    }
                    _ => {
                        let segment = if random.chance(0.7) {
                            extents.last_segment().map_or(0, |s| s + 1)
                        } else {
                            segment
                        };
                        let stride = extents.run_before(segment).map_or(10, |run| run.stride_units);
                        let short = random.chance(0.1);
                        let place = place(1, unit, if short { 100 } else { 160 });
                        unit += 10;
                        extents.insert(
                            segment,
                            Location { place, stride_units: stride, continues: true },
                            &mut freed,
                        );
                        model.insert(segment, place);
                        live += 1;
                    }
                }
                live -= freed.iter().map(|run| u64::from(run.count)).sum::<u64>();
                assert_eq!(live, extents.segment_count());
                for (&segment, &place) in &model {
                    let found = extents.find(segment).unwrap();
                    assert_eq!((found.volume, found.unit), (place.volume, place.unit), "seed {seed}");
                    assert!(found.len_bytes >= place.len_bytes);
                }
                assert_eq!(extents.segment_count(), model.len() as u64);
                assert_eq!(extents.next_segment(7), model.range(7..).next().map(|(&segment, _)| segment));
            }
        }
    }
}
