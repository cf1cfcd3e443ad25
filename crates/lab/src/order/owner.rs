//! Who owns a run: its control groups and folders are named after him, so that what a crash leaves is known.

use std::fs;
use std::path::Path;

/// How what belongs to a run is called, before its owner.
pub(crate) const RUN_PREFIX: &str = "cairn-lab-";

/// The process that owns a run, told apart from a later one with the same number by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owner {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl Owner {
    /// The calling process.
    #[must_use]
    pub fn this_process() -> Self {
        let pid = std::process::id();
        Owner { pid, started: start_time(Path::new("/proc/self/stat")).unwrap_or(0) }
    }

    /// What its directories are called.
    #[must_use]
    pub fn directory(self) -> String {
        format!("{RUN_PREFIX}{}-{}", self.pid, self.started)
    }

    /// Reads the owner from a directory's name.
    #[must_use]
    pub fn of_directory(name: &str) -> Option<Self> {
        let (pid, started) = name.strip_prefix(RUN_PREFIX)?.split_once('-')?;
        Some(Owner { pid: pid.parse().ok()?, started: started.parse().ok()? })
    }

    /// Does the owner still run?
    #[must_use]
    pub fn is_alive(self) -> bool {
        start_time(Path::new(&format!("/proc/{}/stat", self.pid))) == Some(self.started)
    }
}

/// The moment a process started, in ticks since the machine did.
fn start_time(stat: &Path) -> Option<u64> {
    system::proc_files::stat_field(&fs::read_to_string(stat).ok()?, 22)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_names_its_owner() {
        let owner = Owner { pid: 42, started: 977 };
        assert_eq!(Owner::of_directory(&owner.directory()), Some(owner));
        assert_eq!(Owner::of_directory("cairn-lab-x-1"), None);
        assert_eq!(Owner::of_directory("system.slice"), None);
    }

    #[test]
    fn this_process_is_alive_and_one_that_started_at_another_time_is_not() {
        let owner = Owner::this_process();
        assert!(owner.is_alive());
        assert!(!Owner { started: owner.started + 1, ..owner }.is_alive());
    }
}
