//! Waiting for the disk without keeping those waiting who only want to know what is where.

use std::io;

use super::Store;
use crate::volume::{Entry, WrittenRecord};

/// Work for the disk: writing, syncing, punching. It touches nothing of the store in memory.
pub type DiskJob = Box<dyn FnOnce() + Send>;

/// Has the disk's work done by somebody else, and answers questions meanwhile.
pub trait DiskExecutor: Send + std::fmt::Debug {
    /// Returns when `job` has been done. Until then `store` stays as it is, and may be asked.
    fn execute(&mut self, store: &Store, job: DiskJob);
}

impl Store {
    /// Hands the disk's work over to somebody from now on; with `None` the store does it itself.
    pub fn set_disk_executor(&mut self, disk_executor: Option<Box<dyn DiskExecutor>>) {
        self.storage.disk_executor = disk_executor;
    }

    /// Does something with the disk that may take long.
    ///
    /// # Errors
    /// Whoever was to do it has failed.
    pub(super) fn on_disk<T: Send + 'static>(
        &mut self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let Some(mut disk_executor) = self.storage.disk_executor.take() else { return Ok(job()) };
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let job = move || {
            // It has room for one.
            let _ = tell.send(job());
        };
        disk_executor.execute(self, Box::new(job));
        self.storage.disk_executor = Some(disk_executor);
        told.try_recv().map_err(|_| io::Error::other("the disk's thread has failed"))
    }

    /// Writes records to the end of the log and syncs it. When this returns they are all durable; when it
    /// fails none of them is there.
    pub(super) fn append<'a>(
        &mut self,
        entries: impl Iterator<Item = Entry<'a>>,
    ) -> io::Result<Vec<WrittenRecord>> {
        if let Some(opening) = self.volumes.roll(self.config.volume_bytes) {
            let (number, file) = self.on_disk(move || opening.open())??;
            self.volumes.add_active(number, file);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let prepared = self.volumes.prepare(&self.format, entries, &mut buffer)?;
        let (file, start) = prepared.place();
        let (buffer, written) = self.on_disk(move || {
            let written = file.write_at(start, &buffer).and_then(|()| file.sync());
            (buffer, written)
        })?;
        self.buffer = buffer;
        let written = self.volumes.finish(prepared, written)?;
        self.unindexed.log_bytes += self.buffer.len() as u64;
        Ok(written)
    }
}
