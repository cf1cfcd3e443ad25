//! Room that is kept on the disk so that a full one can still be told what to delete.

use std::io;
use std::sync::Arc;

use super::Store;
use crate::disk::Disk;

const FILE: &str = "reserve";
/// Enough for the records of some twenty thousand deletions, and for the index to take note.
const BYTES: usize = 1 << 20;

impl Store {
    /// Takes the room if it is not taken yet. If there is none, there will be after a deletion.
    pub(super) fn keep_reserve(&mut self) {
        let disk = Arc::clone(&self.storage.disk);
        let taking = move || {
            let is_taken = take(&disk).is_ok();
            if !is_taken {
                give_up(&disk);
            }
            is_taken
        };
        self.storage.has_reserve = self.on_disk(taking).unwrap_or(false);
    }
}

fn take(disk: &Arc<dyn Disk>) -> io::Result<()> {
    let file = disk.open(FILE, true)?;
    if file.allocated()? < BYTES as u64 {
        // Bytes that are written take room, zeros too.
        file.write_at(0, &vec![0; BYTES])?;
        file.sync()?;
    }
    Ok(())
}

/// Gives the room to whoever needs it most.
pub(super) fn give_up(disk: &Arc<dyn Disk>) {
    let _ = disk.remove(FILE);
}
