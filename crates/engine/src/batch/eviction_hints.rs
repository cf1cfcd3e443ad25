//! What an eviction policy can do ahead.

/// The part of an eviction policy that exists for speed alone and changes no decision. It is called ahead, so
/// that a policy over millions of entries can fetch the memory that it will touch; [`batch`](crate::batch)
/// explains when. A policy that has nothing to fetch says `impl EvictionHints for … {}`, and is only slower.
pub trait EvictionHints {
    /// Shows `see` up to `count` entries that are likely to leave next, without deciding. What they hold is
    /// then fetched ahead.
    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(u32)) {
        let _ = (count, see);
    }

    /// An entry with this key will come or leave soon.
    fn prefetch(&self, key: u64) {
        let _ = key;
    }

    /// Entry `id` will be asked for soon.
    fn prefetch_entry(&self, id: u32) {
        let _ = id;
    }

    /// The same of an entry that was hinted at before, now for what moves when it is asked for. Only studies
    /// of eviction alone have the time to ask for that.
    fn prefetch_around(&self, id: u32) {
        let _ = id;
    }
}

impl<E: EvictionHints + ?Sized> EvictionHints for Box<E> {
    fn likely_victims(&self, count: usize, see: &mut dyn FnMut(u32)) {
        (**self).likely_victims(count, see);
    }

    fn prefetch(&self, key: u64) {
        (**self).prefetch(key);
    }

    fn prefetch_entry(&self, id: u32) {
        (**self).prefetch_entry(id);
    }

    fn prefetch_around(&self, id: u32) {
        (**self).prefetch_around(id);
    }
}
