//! Which volumes leave the folder when there is too much in it.

use super::Store;
use crate::cold::VolumeMigrator;

/// Who moves volumes out, and when.
#[derive(Debug)]
pub(super) struct ColdTier {
    migrator: Box<dyn VolumeMigrator>,
    hot_bytes: u64,
}

impl Store {
    /// Sealed volumes are handed to `migrator`, the oldest first, for as long as those in the folder take
    /// more than `hot_bytes`.
    pub fn set_cold_tier(&mut self, migrator: Box<dyn VolumeMigrator>, hot_bytes: u64) {
        self.storage.cold = Some(ColdTier { migrator, hot_bytes });
    }

    pub(super) fn migrate_one(&mut self) {
        let Some(mut cold) = self.storage.cold.take() else { return };
        if cold.migrator.is_idle()
            && let Some(volume) = self.volume_to_migrate(cold.hot_bytes)
        {
            cold.migrator.begin(volume);
        }
        self.storage.cold = Some(cold);
    }

    /// The oldest volume that may leave, if one should.
    pub fn volume_to_migrate(&self, hot_bytes: u64) -> Option<u32> {
        let here = || self.volumes.iter().filter(|(_, volume)| !volume.file.is_remote());
        let bytes: u64 = here().map(|(_, volume)| volume.space.disk_bytes()).sum();
        if bytes <= hot_bytes {
            return None;
        }
        let may_leave = here().filter(|(number, volume)| {
            // Opening reads nothing before the checkpoint.
            *number < self.unindexed.since.volume
                && Some(*number) != self.volumes.active()
                && Some(*number) != self.reclaiming.compaction.volume
                // What is mostly holes is compacted.
                && !volume.space.is_mostly_holes(self.config.compact_below)
        });
        may_leave.map(|(number, _)| number).next()
    }
}
