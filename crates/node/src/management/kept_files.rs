//! How files are replaced and set aside that outlive the node.

use std::io;
use std::path::{Path, PathBuf};

use trust::whole_file::{Durability, Readers, Replacement, Writers};

/// One node writes a file, and whoever pulls the plug finds what it was told.
pub(super) const REPLACEMENT: Replacement =
    Replacement { readers: Readers::Owner, writers: Writers::One, durability: Durability::PowerCut };

/// Gives a file another name, under which no earlier one is lost.
pub(super) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".broken-{number}"));
        let aside = PathBuf::from(aside);
        if number >= 100 || !aside.try_exists()? {
            std::fs::rename(path, &aside)?;
            return Ok(aside);
        }
        number += 1;
    }
}
