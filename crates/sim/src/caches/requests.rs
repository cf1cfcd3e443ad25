//! The requests of a study.

use packet::random::{Random, Zipf};

use crate::arena::ObjectId;

/// Requests drawn at once: the tables of the catalogue and of the caches are large, and what is fetched of
/// them for one request need not wait for another.
pub(super) const BATCH: usize = 128;

/// Requests that a study makes: those that warm the caches up, and those that count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requests<'a> {
    pub(super) catalogue: &'a Zipf,
    pub(super) warm_up: u64,
    pub(super) counted: u64,
}

/// Objects that are asked for one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch<'a>(&'a [u32]);

impl<'a> Batch<'a> {
    #[inline(always)]
    pub(super) fn objects(self) -> impl Iterator<Item = ObjectId> + Clone + 'a {
        self.0.iter().copied().map(ObjectId)
    }
}

/// Draws `requests` and hands them out in batches, with what is drawn by chance beside them.
#[inline(always)]
pub(super) fn in_batches(
    catalogue: &Zipf,
    requests: u64,
    random: &mut Random,
    mut each: impl FnMut(Batch<'_>, &mut Random),
) {
    let mut left = requests;
    let mut drawn = [0u32; BATCH];
    while left > 0 {
        let count = left.min(BATCH as u64) as usize;
        left -= count as u64;
        let drawn = &mut drawn[..count];
        catalogue.draw_all(random, drawn);
        each(Batch(drawn), random);
    }
}
