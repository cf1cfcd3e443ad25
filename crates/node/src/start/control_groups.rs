//! What the control groups of this process limit.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};
use system::proc_files::control_groups;

/// Where control groups may be seen: here, or, where `ip netns exec` has put a file system of another view in
/// this place, as the first process sees them.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup", "/proc/1/root/sys/fs/cgroup"];

/// The control groups of a system, as far as memory goes.
#[derive(Debug, Default)]
pub(super) struct ControlGroups {
    /// The root of version 2.
    unified: Option<PathBuf>,
    /// The root of version 1's memory controller.
    memory: Option<PathBuf>,
    /// File systems that are mounted nowhere: they last as long as these.
    _mounts: Vec<OwnedFd>,
}

impl ControlGroups {
    /// Those that can be seen from here; `None` if none can.
    pub(super) fn seen() -> Option<Self> {
        let shown = ROOTS.map(Path::new).into_iter().find_map(Self::below);
        shown.or_else(Self::mounted)
    }

    fn below(root: &Path) -> Option<Self> {
        let unified = root.join("cgroup.controllers").exists().then(|| root.to_owned());
        let memory = Some(root.join("memory")).filter(|memory| memory.is_dir());
        (unified.is_some() || memory.is_some()).then(|| ControlGroups {
            unified,
            memory,
            _mounts: Vec::new(),
        })
    }

    /// Those of file systems that nobody but this process sees; only root may have them.
    fn mounted() -> Option<Self> {
        // Where version 1 has no memory controller, mounting it would take that of version 2 from everybody.
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let memory = if control_groups(&groups).any(|group| group.controls("memory")) {
            mount("cgroup", Some("memory"))
        } else {
            None
        };
        let unified = mount("cgroup2", None);
        let path = |mount: &Option<OwnedFd>| {
            mount.as_ref().map(|mount| PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())))
        };
        let (unified_root, memory_root) = (path(&unified), path(&memory));
        let mounts: Vec<OwnedFd> = unified.into_iter().chain(memory).collect();
        (!mounts.is_empty()).then_some(ControlGroups {
            unified: unified_root,
            memory: memory_root,
            _mounts: mounts,
        })
    }

    /// The least limit, in bytes, of the groups that this process is in; `None` if there is none.
    pub(super) fn memory_limit(&self) -> Option<u64> {
        self.limit_of(&std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default())
    }

    /// The same of a process in `groups`, by the text of its `/proc/…/cgroup`.
    fn limit_of(&self, groups: &str) -> Option<u64> {
        let mut least: Option<u64> = None;
        for group in control_groups(groups) {
            let (root, file) = match group {
                unified if unified.is_unified() => (&self.unified, "memory.max"),
                other if other.controls("memory") => (&self.memory, "memory.limit_in_bytes"),
                _ => continue,
            };
            let Some(root) = root else { continue };
            // The limits of all groups above hold, too. In a container the path may be one of the host's, and
            // only the root is there.
            let mut folder: PathBuf = root.join(group.path.trim_start_matches('/'));
            while folder.starts_with(root) {
                let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
                if let Ok(limit) = text.trim().parse::<u64>() {
                    least = Some(least.map_or(limit, |least| least.min(limit)));
                }
                if !folder.pop() {
                    break;
                }
            }
        }
        least
    }
}

/// A file system of this kind that is mounted nowhere; `None` where that is not allowed.
fn mount(kind: &str, option: Option<&str>) -> Option<OwnedFd> {
    let context = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    if let Some(option) = option {
        rustix::mount::fsconfig_set_flag(&context, option).ok()?;
    }
    rustix::mount::fsconfig_create(&context).ok()?;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_RDONLY).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_groups_above_counts_in_both_versions() {
        let folder = testkit::folder::TestFolder::new("control-groups");
        let root: &Path = &folder;
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert!(ControlGroups::below(root).is_none());
        write("cgroup.controllers", "memory\n");
        write("a/memory.max", "max\n");
        write("a/b/memory.max", "2000\n");
        write("a/b/c/memory.max", "5000\n");
        write("memory/x/memory.limit_in_bytes", "700\n");
        let groups = ControlGroups::below(root).unwrap();
        assert_eq!(groups.limit_of("0::/a/b/c\n"), Some(2000));
        assert_eq!(groups.limit_of("0::/a\n"), None);
        assert_eq!(groups.limit_of("5:cpu:/\n3:hugetlb,memory:/x/y\n0::/a/b\n"), Some(700));
        assert_eq!(groups.limit_of("nonsense"), None);
    }

    #[test]
    fn file_systems_of_ones_own_show_the_same_limit_as_the_ones_that_everybody_sees() {
        let Some(shown) = ControlGroups::below(Path::new(ROOTS[0])) else { return };
        // Only root may have them, and not in every container.
        let Some(own) = ControlGroups::mounted() else { return };
        assert_eq!(own.memory_limit(), shown.memory_limit());
    }
}
