//! A thread that moves volumes out.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{TieredDisk, VolumeMigrator};

/// How often objects of no use are removed, and how long a failed move is left alone.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The thread. It ends when this is dropped, and an unfinished move with it.
#[derive(Debug)]
pub struct MigrationThread {
    volumes: Option<SyncSender<u32>>,
    is_busy: Arc<AtomicBool>,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MigrationThread {
    /// Starts it.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(disk: Arc<TieredDisk>) -> io::Result<Self> {
        let (volumes, receiver) = sync_channel(1);
        let (is_busy, is_ending) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (busy, ending) = (Arc::clone(&is_busy), Arc::clone(&is_ending));
        let work = move || {
            disk.remove_orphans();
            loop {
                match receiver.recv_timeout(RETRY_INTERVAL) {
                    Ok(volume) => {
                        let goes_on = || !ending.load(Ordering::Relaxed);
                        let has_failed = disk.migrate(volume, &goes_on).is_err();
                        // It is given the next one when it has rested.
                        busy.store(has_failed, Ordering::Release);
                    }
                    Err(RecvTimeoutError::Timeout) => busy.store(false, Ordering::Release),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                disk.remove_orphans();
            }
        };
        let thread = std::thread::Builder::new().name("repository-cold".to_owned()).spawn(work)?;
        Ok(MigrationThread { volumes: Some(volumes), is_busy, is_ending, thread: Some(thread) })
    }
}

impl VolumeMigrator for MigrationThread {
    fn is_idle(&self) -> bool {
        !self.is_busy.load(Ordering::Acquire)
    }

    fn begin(&mut self, volume: u32) {
        self.is_busy.store(true, Ordering::Release);
        let is_taken = self.volumes.as_ref().is_some_and(|volumes| volumes.try_send(volume).is_ok());
        if !is_taken {
            self.is_busy.store(false, Ordering::Release);
        }
    }
}

impl Drop for MigrationThread {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        self.volumes = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
