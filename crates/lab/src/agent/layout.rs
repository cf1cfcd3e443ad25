//! How the files of a content are cut into segments, and numbered: all of the first file, then all of the
//! next.

use std::sync::Arc;

use packet::random::Random;

use crate::experiment::plan::ContentPlan;

/// The stream of a content's randomness that decides sizes.
const OF_SIZES: u64 = 0x7369_7a65;

/// Files of a content, and their segments.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    count: u32,
    segment_bytes: u64,
    sizes: Sizes,
}

#[derive(Debug, Clone)]
enum Sizes {
    Equal(u64),
    /// The size of each file, and the number of its first segment; behind them the number of all.
    Each(Arc<[u64]>, Arc<[u64]>),
}

fn cut(size: u64, segment_bytes: u64) -> u64 {
    size.div_ceil(segment_bytes).max(1)
}

impl Layout {
    /// The files of a content whose randomness is `seed`.
    pub(super) fn new(plan: &ContentPlan, seed: u64) -> Self {
        let segment_bytes = u64::from(plan.segment_bytes).max(1);
        let sizes = match &plan.sizes {
            None => Sizes::Equal(plan.size_bytes),
            Some(sizes) => {
                let sizes = sizes.of_files(plan.count, &mut Random::derive(seed, OF_SIZES));
                let mut first = vec![0];
                let mut next = 0u64;
                for size in &sizes {
                    next = next.saturating_add(cut(*size, segment_bytes));
                    first.push(next);
                }
                Sizes::Each(sizes.into(), first.into())
            }
        };
        Layout { count: plan.count, segment_bytes, sizes }
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The bytes of a file; none where there is no such file.
    pub(super) fn size(&self, file: u32) -> u64 {
        match &self.sizes {
            Sizes::Equal(size) => *size,
            Sizes::Each(sizes, _) => sizes.get(file as usize).copied().unwrap_or(0),
        }
    }

    /// How many segments a file has.
    pub(super) fn segments(&self, file: u32) -> u64 {
        cut(self.size(file), self.segment_bytes)
    }

    /// How many segments all files have.
    pub(super) fn items(&self) -> u64 {
        match &self.sizes {
            Sizes::Equal(size) => cut(*size, self.segment_bytes).saturating_mul(self.count.into()),
            Sizes::Each(_, first) => first.last().copied().unwrap_or(0),
        }
    }

    /// The number of a segment among those of all files.
    pub(super) fn item(&self, file: u32, segment: u64) -> u64 {
        let first = match &self.sizes {
            Sizes::Equal(size) => cut(*size, self.segment_bytes).saturating_mul(file.into()),
            Sizes::Each(_, first) => first.get(file as usize).copied().unwrap_or(0),
        };
        first.saturating_add(segment)
    }

    /// The file and segment of that number.
    pub(super) fn place(&self, item: u64) -> Option<(u32, u64)> {
        let (file, segment) = match &self.sizes {
            Sizes::Equal(size) => {
                let segments = cut(*size, self.segment_bytes);
                (u32::try_from(item / segments).ok()?, item % segments)
            }
            Sizes::Each(_, first) => {
                let file = first.partition_point(|first| *first <= item).checked_sub(1)?;
                (u32::try_from(file).ok()?, item - first.get(file)?)
            }
        };
        (file < self.count).then_some((file, segment))
    }

    /// Where the bytes of a segment begin in its file, and how many they are.
    pub(super) fn bytes(&self, file: u32, segment: u64) -> (u64, u64) {
        let start = segment.saturating_mul(self.segment_bytes);
        (start, self.size(file).saturating_sub(start).min(self.segment_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::plan::{NodeIndex, SizesPlan};

    #[test]
    fn every_segment_of_files_that_differ_has_a_number_of_its_own() {
        for sizes in [None, Some(SizesPlan::List(vec![1, 4096, 4097, 20_000].into()))] {
            let plan = ContentPlan {
                name: "f".into(),
                prefix: "/f".into(),
                at: NodeIndex(0),
                count: 6,
                size_bytes: 9_000,
                sizes,
                segment_bytes: 4096,
                freshness_ns: 1,
                signed: None,
            };
            let layout = Layout::new(&plan, 7);
            let mut expected = 0;
            for file in 0..6 {
                let mut bytes = 0;
                for segment in 0..layout.segments(file) {
                    assert_eq!(layout.item(file, segment), expected);
                    assert_eq!(layout.place(expected), Some((file, segment)));
                    expected += 1;
                    bytes += layout.bytes(file, segment).1;
                }
                assert_eq!(bytes, layout.size(file));
            }
            assert_eq!((layout.items(), layout.place(expected)), (expected, None));
        }
    }
}
