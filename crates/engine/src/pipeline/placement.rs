//! Keeping some of the Data that passes and not all of it.

use packet::Data;
use packet::time::Instant;

use super::answers::DataMatches;
use super::arrived_data::{ArrivedData, DataName};
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::tables::content_store::placement::CachePlacement;
use crate::tables::content_store::{ContentStoreConfig, IncomingData};

impl Engine {
    /// Data in the content store.
    pub fn cached_count(&self) -> u32 {
        self.tables.store.len()
    }

    /// Takes Data into the content store if this is where a copy of it is to be left; false if no store of
    /// this node may keep it, because its object is distrusted.
    #[cold]
    #[inline(never)]
    pub(super) fn place_copy(
        &mut self,
        ArrivedData { now, from, name, .. }: ArrivedData<'_>,
        data: &Data,
        found: &DataMatches,
    ) -> bool {
        if !self.is_to_be_kept(now, from, data) {
            return false;
        }
        let config = self.tables.store.config;
        if !config.admit {
            return true;
        }
        let asker = match config.placement {
            CachePlacement::FairShare => self.admitted_for(now, name, found),
            _ => None,
        };
        let is_placed_here = match config.placement {
            CachePlacement::Everywhere | CachePlacement::LeaveCopyDown => true,
            CachePlacement::Probability(probability) => probability.is_met(self.random.next_u64()),
            CachePlacement::FairShare => asker.is_some(),
            CachePlacement::LocalConsumers => found.matches.iter().any(|id| {
                let entry = self.tables.pending.get(id);
                entry.is_some_and(|entry| {
                    entry.in_records.iter().any(|record| self.faces.is_local(record.face))
                })
            }),
        };
        if is_placed_here {
            let incoming = IncomingData::at(now, data, name.kept(), found.known);
            self.tables.store.insert(&mut self.tables.index, incoming);
            if let Some(face) = asker {
                self.tables.note_owner(data, name.kept().hash, face);
            }
            self.sample(data, from);
        } else {
            self.tables.store.counters.passed_on += 1;
        }
        true
    }

    /// The face because of which Data of this name may be kept: the first that has asked for it.
    fn admitted_for(&mut self, now: Instant, name: DataName<'_>, found: &DataMatches) -> Option<FaceId> {
        let asking = found.matches.iter().filter_map(|id| self.tables.pending.get(id));
        let face = asking.flat_map(|entry| &entry.in_records).map(|record| record.face).next()?;
        let store = &mut self.tables.store;
        // A budget of bytes may leave less room than that of entries: then it is what is there.
        let room = if store.counters.evictions > 0 { store.len() } else { store.config.max_entries };
        let hash = name.kept().hash;
        store.shares.admit(now, (hash, face), room, self.random.next_u64()).then_some(face)
    }

    /// Changes budget and behaviour of the content store.
    pub fn configure_content_store(&mut self, config: ContentStoreConfig) {
        self.tables.store.configure(&mut self.tables.index, config);
        self.tables.strategies.for_each_mut(|instance| {
            instance.watches_data = instance.strategy.watches_data() || config.placement.marks_data();
        });
    }
}
