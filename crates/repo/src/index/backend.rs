//! The file that the index lives in, as the library asks for it.

use std::io;
use std::sync::Arc;

use redb::StorageBackend;

use crate::disk::DiskFile;

/// The index's file on any disk.
#[derive(Debug)]
pub(super) struct Backend {
    file: Arc<dyn DiskFile>,
}

impl Backend {
    pub(super) fn new(file: Arc<dyn DiskFile>) -> Self {
        Backend { file }
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len_bytes()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.file.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.file.write_at(offset, data)
    }
}
