//! A small machine: a control group with little memory.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The memory of the small machine.
pub(crate) const SMALL_BYTES: u64 = 100_000_000;

/// A control group for one process; gone when dropped.
#[derive(Debug)]
pub(crate) struct Cage {
    folder: PathBuf,
}

impl Cage {
    /// Makes one in the first hierarchy that lets us, of version 2 or 1.
    pub(crate) fn make() -> Result<Self, String> {
        let name = format!("{}{}", crate::OWN_FOLDERS, std::process::id());
        let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"];
        let mut why = "there is no hierarchy of control groups with memory".to_owned();
        for place in places.map(Path::new) {
            // One that still holds processes stays.
            for folder in crate::left_behind(place) {
                let _ = std::fs::remove_dir(folder);
            }
            let folder = place.join(&name);
            if !place.join("cgroup.procs").exists() {
                continue;
            }
            if let Err(error) = std::fs::create_dir(&folder) {
                why = format!("{}: {error}", folder.display());
                continue;
            }
            let cage = Cage { folder };
            match cage.limit() {
                Ok(()) => return Ok(cage),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    fn limit(&self) -> Result<(), String> {
        for file in ["memory.max", "memory.limit_in_bytes"] {
            let path = self.folder.join(file);
            if path.exists() {
                return std::fs::write(&path, SMALL_BYTES.to_string())
                    .map_err(|error| format!("{}: {error}", path.display()));
            }
        }
        Err(format!("{} has no limit of memory", self.folder.display()))
    }

    /// Starts a program that is in it from its first instruction on: what it reads of its limits is right.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg("echo $$ > \"$0\" && exec \"$@\"");
        command.arg(self.folder.join("cgroup.procs")).arg(program);
        command
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        // A control group can be removed as soon as its last process has gone.
        for _ in 0..50 {
            if std::fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
