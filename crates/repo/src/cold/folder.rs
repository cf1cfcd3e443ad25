//! A local folder as a bucket: a second disk, or a file system on the network.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use trust::whole_file::{Durability, Readers, Replacement, Writers};

use super::{Bucket, UploadBody};

/// So much is copied at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// An object has one writer, and is kept when its writer says so.
const REPLACEMENT: Replacement =
    Replacement { readers: Readers::Usual, writers: Writers::One, durability: Durability::PowerCut };

/// Objects as files of a folder.
#[derive(Clone, Debug)]
pub struct FolderBucket {
    path: PathBuf,
}

impl FolderBucket {
    /// The bucket in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(FolderBucket { path: path.to_owned() })
    }
}

impl Bucket for FolderBucket {
    fn put(&self, object: &str, len_bytes: u64, source: &mut UploadBody<'_>) -> io::Result<()> {
        REPLACEMENT.write_by(&self.path.join(object), |file| {
            let mut chunk = vec![0; CHUNK_BYTES];
            let mut at = 0;
            while at < len_bytes {
                let count = (len_bytes - at).min(CHUNK_BYTES as u64) as usize;
                let part = chunk.get_mut(..count).unwrap_or_default();
                source(at, part)?;
                file.write_all(part)?;
                at += count as u64;
            }
            Ok(())
        })
    }

    fn read_at(&self, object: &str, offset: u64, out: &mut [u8]) -> io::Result<()> {
        File::open(self.path.join(object))?.read_exact_at(out, offset)
    }

    fn remove(&self, object: &str) -> io::Result<()> {
        for name in [object.to_owned(), format!("{object}.new")] {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
