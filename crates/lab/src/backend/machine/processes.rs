//! What the kernel says of processes and those that they have started.

use std::fs;

use system::proc_files::stat_field;

/// These processes and all that they, or threads of theirs, have started.
pub fn with_children(pids: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = pids.into_iter().collect();
    let mut next = 0;
    while let Some(pid) = all.get(next).copied() {
        next += 1;
        for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace().filter_map(|word| word.parse().ok());
            let fresh: Vec<u32> = children.filter(|child| !all.contains(child)).collect();
            all.extend(fresh);
        }
    }
    all
}

/// The processor time of a process that has ended and has not been waited for, and of its children for which
/// it has waited, in nanoseconds.
pub(crate) fn ended_processor_ns(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // User, system, and the same of children.
    ticks_in_ns((14..=17).filter_map(|field| stat_field(&stat, field)).sum())
}

/// Time in nanoseconds that children of this process have run which have ended and been waited for, and
/// theirs.
pub fn ended_children_processor_ns() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    ticks_in_ns(stat_field(&stat, 16)? + stat_field(&stat, 17)?)
}

fn ticks_in_ns(ticks: u64) -> Option<u64> {
    let per_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok()??;
    ticks.saturating_mul(1_000_000_000).checked_div(u64::try_from(per_second).ok()?)
}

#[cfg(test)]
mod tests {
    use system::proc_files::memory_bytes;

    use super::*;

    #[test]
    fn a_child_of_a_child_is_found_and_has_had_some_memory() {
        let mut shell = std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let mut all = Vec::new();
        while all.len() < 2 && std::time::Instant::now() < deadline {
            all = with_children([shell.id()]);
        }
        let memory: u64 = all.iter().filter_map(|pid| memory_bytes(*pid)).sum();
        for pid in all.iter().rev() {
            let pid = nix::unistd::Pid::from_raw(i32::try_from(*pid).unwrap());
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        shell.wait().unwrap();
        assert!(all.len() == 2 && memory > 100_000, "{all:?} {memory}");
    }
}
