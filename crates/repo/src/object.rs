//! What is known of a stored object.

use packet::UnixTime;

use crate::extent::Extents;
use crate::key::{Key, ObjectName};

/// One object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Dialect, name, form.
    pub key: Key,
    /// Its number, never used again.
    pub number: u64,
    /// Where its segments lie.
    pub extents: Extents,
    /// Bytes of its records.
    pub bytes: u64,
    /// The segment that its packets say is the last one.
    pub final_segment: Option<u32>,
    /// When the last of its packets stops being fresh.
    pub fresh_until: UnixTime,
    /// Never evicted.
    pub pinned: bool,
}

impl Object {
    /// An object without segments.
    pub fn new(key: Key, number: u64) -> Self {
        Object {
            key,
            number,
            extents: Extents::default(),
            bytes: 0,
            final_segment: None,
            fresh_until: UnixTime::ZERO,
            pinned: false,
        }
    }

    /// Its name; `None` if the key is none, which only a damaged index can hold.
    pub fn name(&self) -> Option<ObjectName<'_>> {
        ObjectName::from_key(&self.key)
    }

    /// Whether all segments up to the last one are here.
    pub fn is_complete(&self) -> bool {
        self.final_segment.is_some_and(|last| {
            self.extents.first_segment() == Some(0) && self.extents.segment_count() > u64::from(last)
        })
    }
}

/// An object's place in the catalogue. Used again after the object has left.
pub type ObjectId = u32;
