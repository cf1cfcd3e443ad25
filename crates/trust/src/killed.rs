//! Being killed at a moment of one's choice: every change of the disk comes after a step, and tests let only
//! so many steps happen.

use std::io;

/// Comes before everything that changes something on the disk. Tests are killed here.
pub(crate) fn step() -> io::Result<()> {
    #[cfg(test)]
    in_tests::step()?;
    Ok(())
}

#[cfg(test)]
pub(crate) use in_tests::{after, half_way};

#[cfg(test)]
mod in_tests {
    use std::cell::Cell;
    use std::path::Path;
    use std::{fs, io};

    thread_local! {
        static STEPS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
        static DEAD: Cell<bool> = const { Cell::new(false) };
    }

    /// Lets only so many steps happen from now on in this thread; none of those after it do. `None` lets all
    /// happen.
    pub(crate) fn after(steps: Option<u32>) {
        STEPS_LEFT.set(steps);
        DEAD.set(false);
    }

    pub(super) fn step() -> io::Result<()> {
        match STEPS_LEFT.get() {
            Some(0) => {
                DEAD.set(true);
                Err(io::Error::other("killed"))
            }
            left => {
                STEPS_LEFT.set(left.map(|left| left - 1));
                Ok(())
            }
        }
    }

    /// Whoever is killed while a folder is removed leaves some of what was in it. The names are the worst to
    /// be left.
    pub(crate) fn half_way(folder: &Path) {
        if STEPS_LEFT.get() == Some(0) && !DEAD.get() {
            remove_all_but_names(folder);
        }
    }

    fn remove_all_but_names(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                remove_all_but_names(&path);
            } else if entry.file_name() != "name" {
                let _ = fs::remove_file(path);
            }
        }
    }
}
