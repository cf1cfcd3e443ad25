//! What tests and fuzz targets look at beside what an owner may: all that the tables hold.

use packet::{Data, Interest};

use crate::engine::Engine;

impl Engine {
    /// All Data kept, in no particular order.
    pub fn cached_data(&self) -> impl Iterator<Item = &Data> {
        self.tables.store.iter().map(|entry| &entry.data)
    }

    /// All pending Interests, in no particular order.
    pub fn pending_interests(&self) -> impl Iterator<Item = &Interest> {
        self.tables.pending.iter().map(|entry| &entry.interest)
    }
}
