//! How much may be written: an object need not have an end.

use std::fs::File;
use std::io;

use crate::tool::units::show_size;

/// Bytes that are left free on a disk, or a twentieth of one that is smaller.
const MARGIN_BYTES: u64 = 256 << 20;
const MARGIN_PARTS: u64 = 20;

/// Bytes that are written at most before the disk is looked at again: others may fill it, too.
const LOOK_BYTES: u64 = 4 << 20;

/// What there is room for.
#[derive(Debug)]
pub(super) struct SpaceLeft {
    /// The most that is written in all, if the user says.
    most: Option<u64>,
    /// What is written on a disk; nothing if it goes elsewhere.
    file: Option<File>,
    total: u64,
    /// Bytes that may be written before the disk is looked at again.
    known: u64,
}

impl SpaceLeft {
    /// For what is written to `file`, with `written` bytes there already. Only what is a file fills a disk.
    pub(super) fn new(most: Option<u64>, file: io::Result<File>, written: u64) -> Self {
        let is_file = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_file());
        let file = file.ok().filter(is_file);
        // The first bytes have the disk looked at.
        SpaceLeft { most, file, total: written, known: 0 }
    }

    /// Asks for room for so many bytes more.
    ///
    /// # Errors
    /// They would be more than the user wants, or nearly fill the disk.
    pub(super) fn take(&mut self, bytes: u64) -> io::Result<()> {
        self.total = self.total.saturating_add(bytes);
        if let Some(most) = self.most
            && self.total > most
        {
            let text = format!("it is larger than --max-size allows ({})", show_size(most as f64));
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        if let Some(rest) = self.known.checked_sub(bytes) {
            self.known = rest;
            return Ok(());
        }
        // Some file systems do not tell; then the user finds out when they are full.
        let Some(disk) = self.file.as_ref().and_then(|file| rustix::fs::fstatvfs(file).ok()) else {
            return Ok(());
        };
        let all = disk.f_blocks.saturating_mul(disk.f_frsize);
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if let Some(more) = beside(all, free, bytes) {
            self.known = LOOK_BYTES.min(more / 2);
            return Ok(());
        }
        let text = format!(
            "the disk has only {} free: stopped before it is full. Make room, or write elsewhere",
            show_size(free as f64)
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, text))
    }
}

/// How many bytes a disk of `all` bytes with `free` ones has room for beside the wanted ones and what is
/// always left; `None` if not even for those. One that does not tell its size is taken for one without an
/// end.
fn beside(all: u64, free: u64, wanted: u64) -> Option<u64> {
    if all == 0 {
        return Some(u64::MAX);
    }
    free.checked_sub(MARGIN_BYTES.min(all / MARGIN_PARTS))?.checked_sub(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_was_wanted_is_refused_with_what_was_there_before_counted() {
        let nowhere = || Err(io::ErrorKind::NotFound.into());
        let mut room = SpaceLeft::new(Some(100), nowhere(), 40);
        room.take(60).unwrap();
        let error = room.take(1).unwrap_err();
        assert!(error.to_string().contains("--max-size"), "{error}");
        SpaceLeft::new(None, nowhere(), 0).take(u64::MAX).unwrap();
    }

    #[test]
    fn a_disk_is_not_filled_to_the_brim_whether_large_or_small() {
        let (gigabyte, megabyte) = (1 << 30, 1 << 20);
        assert!(beside(100 * gigabyte, gigabyte, megabyte).is_some());
        assert!(beside(100 * gigabyte, 200 * megabyte, megabyte).is_none());
        assert!(beside(20 * megabyte, 3 * megabyte, megabyte).is_some());
        assert!(beside(20 * megabyte, megabyte, megabyte).is_none());
        assert!(beside(0, 0, megabyte).is_some());
    }
}
