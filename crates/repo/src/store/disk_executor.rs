//! Waiting for the disk without keeping those waiting who only want to know what is where.

use std::io;

use super::Store;
use crate::object::{Object, ObjectId};
use crate::volume::{Entry, WrittenRecord};

/// Work for the disk: writing, syncing, punching. It touches nothing of the store in memory.
pub type DiskJob = Box<dyn FnOnce() + Send>;

/// Has the disk's work done by somebody else, and answers questions meanwhile.
pub trait DiskExecutor: Send + std::fmt::Debug {
    /// Returns when `job` has been done. Until then `store` stays as it is, and may be asked.
    fn execute(&mut self, store: &Store, job: DiskJob);

    /// Answers the questions that have come. Called now and then in what takes long without the disk.
    fn answer_waiting(&mut self, store: &Store);
}

/// Objects that are looked at, or changed, before those are answered who ask meanwhile.
pub(crate) const OBJECTS_AT_ONCE: usize = 1024;

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

    /// Has those answered who ask.
    pub(super) fn answer_waiting(&mut self) {
        if let Some(mut disk_executor) = self.storage.disk_executor.take() {
            disk_executor.answer_waiting(self);
            self.storage.disk_executor = Some(disk_executor);
        }
    }

    /// Looks at all objects, of which there may be a million; who asks meanwhile is answered.
    pub(super) fn look_at_all(&mut self, mut look: impl FnMut(ObjectId, &Object)) {
        let mut disk_executor = self.storage.disk_executor.take();
        for (count, (id, object)) in self.objects.catalogue.iter().enumerate() {
            if count % OBJECTS_AT_ONCE == OBJECTS_AT_ONCE - 1
                && let Some(disk_executor) = &mut disk_executor
            {
                disk_executor.answer_waiting(self);
            }
            look(id, object);
        }
        self.storage.disk_executor = disk_executor;
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
        let mut layout = std::mem::take(&mut self.layout);
        let prepared = self.volumes.prepare(&self.format, entries, &mut layout)?;
        let len_bytes = layout.len_bytes();
        let (file, start) = prepared.place();
        let (layout, written) = self.on_disk(move || {
            let written = layout.write_to(&*file, start).and_then(|()| file.sync());
            // Whoever filled the memory of the packets may want it again.
            layout.clear();
            (layout, written)
        })?;
        self.layout = layout;
        let written = self.volumes.finish(prepared, written)?;
        self.unindexed.log_bytes += len_bytes;
        self.unindexed.log_records += written.len() as u64;
        Ok(written)
    }
}
