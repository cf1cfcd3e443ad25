//! What Linux says about processes in `/proc/PID/stat`, `/proc/PID/status`, `/proc/PID/cgroup` and
//! `/proc/PID/task/TID/schedstat`.

use std::fs;

/// A number in the text of `/proc/PID/stat`, counted as proc(5) counts: 14 is the user time in ticks. Those
/// before the third are no numbers, and give `None`.
///
/// ```
/// let text = "42 (a (b) c) S 1 42 42 0";
/// assert_eq!(cairn_system::proc_files::stat_field(text, 4), Some(1));
/// ```
pub fn stat_field(text: &str, number: usize) -> Option<u64> {
    // The second field is the program's name in brackets, which may hold spaces and brackets.
    let (_, behind) = text.rsplit_once(')')?;
    behind.split_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

/// Nanoseconds that a thread had the processor, and that it could have run and had it not, by the text of its
/// `schedstat`.
///
/// ```
/// assert_eq!(cairn_system::proc_files::schedstat("120 30 7\n"), Some([120, 30]));
/// ```
pub fn schedstat(text: &str) -> Option<[u64; 2]> {
    let mut fields = text.split_whitespace();
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?])
}

/// Nanoseconds that the threads which a process has now had the processor, and that they could have run and
/// had it not. `None` if the process has ended.
pub fn processor_ns(pid: u32) -> Option<[u64; 2]> {
    let mut total = [0; 2];
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        // A thread may end while this looks.
        let Ok(text) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        for (sum, time) in total.iter_mut().zip(schedstat(&text).unwrap_or_default()) {
            *sum += time;
        }
    }
    Some(total)
}

/// Resident memory of a process; `None` if it has ended.
pub fn memory_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// A control group that a process is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlGroup<'a> {
    /// What is controlled there, by version 1: words with commas between them. Empty for the group of version
    /// 2.
    controllers: &'a str,
    /// Its path below the root of its hierarchy.
    pub path: &'a str,
}

impl ControlGroup<'_> {
    /// Whether it is the one of version 2.
    pub fn is_unified(&self) -> bool {
        self.controllers.is_empty()
    }

    /// Whether it is the one of version 1 for this controller.
    pub fn controls(&self, controller: &str) -> bool {
        self.controllers.split(',').any(|name| name == controller)
    }
}

/// The control groups of a process, by the text of its `/proc/PID/cgroup`.
///
/// ```
/// let mut groups = cairn_system::proc_files::control_groups("4:cpu,cpuacct:/a\n0::/b:c\n");
/// assert!(groups.next().is_some_and(|group| group.controls("cpuacct") && group.path == "/a"));
/// assert!(groups.next().is_some_and(|group| group.is_unified() && group.path == "/b:c"));
/// ```
pub fn control_groups(text: &str) -> impl Iterator<Item = ControlGroup<'_>> {
    text.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some(ControlGroup { controllers: fields.next()?, path: fields.next()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory_and_has_used_time_and_one_that_is_not_there_has_neither() {
        let own = std::process::id();
        assert!(memory_bytes(own).is_some_and(|bytes| bytes > 100_000));
        assert!(processor_ns(own).is_some_and(|[used, _]| used > 0));
        // No process has this number.
        assert_eq!((memory_bytes(0), processor_ns(0)), (None, None));
    }

    #[test]
    fn fields_are_counted_behind_a_name_that_looks_like_fields() {
        let text = "7 (x) S 9 (y) R 5 6 -7 8\n";
        assert_eq!(
            (stat_field(text, 4), stat_field(text, 5), stat_field(text, 7)),
            (Some(5), Some(6), Some(8))
        );
        for number in [0, 1, 2, 3, 6, 8] {
            assert_eq!(stat_field(text, number), None, "{number}");
        }
        assert_eq!(stat_field("no name", 4), None);
    }

    #[test]
    fn a_thread_that_has_ended_has_no_times() {
        assert_eq!((schedstat(""), schedstat("1"), schedstat("1 x 2")), (None, None, None));
    }
}
