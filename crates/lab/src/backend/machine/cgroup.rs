//! Shares of the processor and of memory, by control groups of version 2 or version 1, whichever can be
//! written to.
//!
//! The groups of one run stand together in a directory whose name holds the process that owns it, so that a
//! later start can tell what was left behind and take it away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use system::proc_files::control_groups;

use crate::order::Owner;

/// The least that the kernel grants of a period, and the least period, in microseconds.
const MIN_US: u64 = 1000;
/// The longest period that the kernel takes.
const MAX_US: u64 = 1_000_000;

/// The period over which a share is kept, in microseconds: as short as the kernel allows, for a forwarder
/// that has used up its share stands still until the period's end.
fn shortest_period_us(cores: f64) -> u64 {
    let period = (MIN_US as f64 / cores.max(1e-6)).ceil() as u64;
    period.clamp(MIN_US, MAX_US)
}

/// Over which period a share is kept, in nanoseconds: the one that is given, or the shortest.
#[must_use]
pub fn period_ns(cores: f64, given_ns: Option<u64>) -> u64 {
    let given_us = given_ns.map(|ns| (ns / 1000).clamp(MIN_US, MAX_US));
    given_us.unwrap_or_else(|| shortest_period_us(cores)) * 1000
}

/// How long a forwarder with a share may run in each period, in nanoseconds: no less than the kernel grants.
#[must_use]
pub fn quota_ns(cores: f64, given_ns: Option<u64>) -> u64 {
    ((period_ns(cores, given_ns) as f64 * cores).round() as u64).max(MIN_US * 1000)
}

/// For how long a forwarder with a share stands still at a time, in nanoseconds; nothing for a whole core and
/// more.
#[must_use]
pub fn standstill_ns(cores: f64, given_ns: Option<u64>) -> u64 {
    period_ns(cores, given_ns).saturating_sub(quota_ns(cores, given_ns))
}

/// What the name of an idle group has behind that of its owner. It stands beside the owner's groups: among
/// them it would be idle for them alone.
const IDLE: &str = ".idle";

/// Which interface the kernel offers for a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
}

/// Where the groups of one controller are made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    version: Version,
    /// The controller, as the kernel calls it.
    controller: String,
    /// The directory that new groups are made in.
    directory: PathBuf,
}

/// What this machine lets us control.
#[derive(Debug, Clone, Default)]
pub struct Controllers {
    processor: Option<Hierarchy>,
    memory: Option<Hierarchy>,
}

impl Controllers {
    /// Finds what can be controlled here.
    #[must_use]
    pub fn find() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Controllers { processor: place(&mounts, &groups, "cpu"), memory: place(&mounts, &groups, "memory") }
    }

    /// What is used, in words for the report.
    #[must_use]
    pub fn words(&self) -> String {
        let word = |place: &Option<Hierarchy>| match place {
            None => "not controlled (no control group can be written to)",
            Some(Hierarchy { version: Version::V1, .. }) => "control groups, version 1",
            Some(Hierarchy { version: Version::V2, .. }) => "control groups, version 2",
        };
        format!("processor share: {}; memory: {}", word(&self.processor), word(&self.memory))
    }

    /// Can shares of the processor be kept?
    #[must_use]
    pub fn can_limit_processor(&self) -> bool {
        self.processor.is_some()
    }

    /// Takes away what runs that have ended left behind. Returns how many groups that were.
    #[must_use]
    pub fn clean_leftovers(&self) -> usize {
        let mut cleaned = 0;
        for place in [&self.processor, &self.memory].into_iter().flatten() {
            for entry in fs::read_dir(&place.directory).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let owner = Owner::of_directory(name.strip_suffix(IDLE).unwrap_or(&name));
                if owner.is_some_and(|owner| !owner.is_alive()) {
                    remove(&entry.path());
                    cleaned += 1;
                }
            }
        }
        cleaned
    }

    /// Takes away the groups of one owner, whose processes must be dead or are killed by this.
    pub fn remove(&self, owner: Owner) {
        for place in [&self.processor, &self.memory].into_iter().flatten() {
            remove(&place.directory.join(owner.directory()));
            remove(&idle_directory(place, owner));
        }
    }

    /// The group of one owner whose processes run only where nobody else would; none where the kernel has
    /// none.
    ///
    /// # Errors
    ///
    /// When a group cannot be made although its place can be written to.
    pub(crate) fn idle_group(&self, owner: Owner) -> io::Result<Option<Group>> {
        let Some(place) = &self.processor else { return Ok(None) };
        let path = idle_directory(place, owner);
        fs::create_dir_all(&path)?;
        match fs::write(path.join("cpu.idle"), "1") {
            Ok(()) => Ok(Some(Group { processor: Some((place.version, path)), memory: None })),
            Err(error) => {
                remove(&path);
                // Before Linux 5.15 there is no such file.
                let is_unknown =
                    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
                if is_unknown { Ok(None) } else { Err(error) }
            }
        }
    }

    /// The group of a node, or of the load beside it.
    ///
    /// # Errors
    ///
    /// When a group cannot be made although its place can be written to.
    pub fn group(&self, owner: Owner, name: &str) -> io::Result<Group> {
        let make = |place: &Option<Hierarchy>| -> io::Result<Option<(Version, PathBuf)>> {
            let Some(place) = place else { return Ok(None) };
            let above = place.directory.join(owner.directory());
            fs::create_dir_all(&above)?;
            if place.version == Version::V2 {
                fs::write(above.join("cgroup.subtree_control"), format!("+{}", place.controller))?;
            }
            if place.controller == "cpu" {
                prefer(&above, place.version)?;
            }
            let path = above.join(name);
            fs::create_dir_all(&path)?;
            Ok(Some((place.version, path)))
        };
        Ok(Group { processor: make(&self.processor)?, memory: make(&self.memory)? })
    }
}

/// A group of processes that share a part of the machine.
#[derive(Debug, Clone)]
pub struct Group {
    processor: Option<(Version, PathBuf)>,
    memory: Option<(Version, PathBuf)>,
}

impl Group {
    /// Puts a process into the group; what it starts later is in it too.
    ///
    /// # Errors
    ///
    /// When the process is gone or the kernel refuses.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        let mut done: Option<&PathBuf> = None;
        for (_, path) in [&self.processor, &self.memory].into_iter().flatten() {
            if done != Some(path) {
                fs::write(path.join("cgroup.procs"), pid.to_string())?;
            }
            done = Some(path);
        }
        Ok(())
    }

    /// Puts the calling process into the group, whatever its number is here.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn add_self(&self) -> io::Result<()> {
        self.add(0)
    }

    /// Limits the group to so many cores; `None` takes the limit away. The share is kept over `period_ns`, or
    /// over the shortest period in which the kernel can keep it.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn limit_processor(&self, cores: Option<f64>, period_ns: Option<u64>) -> io::Result<()> {
        let Some((version, path)) = &self.processor else { return Ok(()) };
        let period_us = self::period_ns(cores.unwrap_or(1.0), period_ns) / 1000;
        let quota = cores.map(|cores| quota_ns(cores, period_ns) / 1000);
        match version {
            Version::V2 => {
                let quota = quota.map_or_else(|| "max".to_owned(), |quota| quota.to_string());
                fs::write(path.join("cpu.max"), format!("{quota} {period_us}"))
            }
            Version::V1 => {
                // Without a quota a period of any length can be set; a quota must fit into it.
                fs::write(path.join("cpu.cfs_quota_us"), "-1")?;
                fs::write(path.join("cpu.cfs_period_us"), period_us.to_string())?;
                let quota = quota.map_or_else(|| "-1".to_owned(), |quota| quota.to_string());
                fs::write(path.join("cpu.cfs_quota_us"), quota)
            }
        }
    }

    /// For how long the group had used up its share and was kept from running, in nanoseconds; nothing where
    /// nobody knows.
    #[must_use]
    pub fn throttled_ns(&self) -> Option<u64> {
        let (_, path) = self.processor.as_ref()?;
        throttled_ns(&fs::read_to_string(path.join("cpu.stat")).ok()?)
    }

    /// What the group is limited to: its time in each period, and the period, in nanoseconds; nothing where
    /// it has no limit or nobody knows.
    #[must_use]
    pub fn limit_ns(&self) -> Option<[u64; 2]> {
        let (version, path) = self.processor.as_ref()?;
        let read = |file: &str| fs::read_to_string(path.join(file)).ok();
        let text = match version {
            Version::V2 => read("cpu.max")?,
            Version::V1 => {
                format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())
            }
        };
        limit_ns(&text)
    }

    /// Limits the group's memory.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn limit_memory(&self, bytes: u64) -> io::Result<()> {
        match &self.memory {
            Some((Version::V2, path)) => fs::write(path.join("memory.max"), bytes.to_string()),
            Some((Version::V1, path)) => fs::write(path.join("memory.limit_in_bytes"), bytes.to_string()),
            None => Ok(()),
        }
    }
}

/// A limit as the kernel says it, in microseconds. One that is `max`, or below 0, is none.
fn limit_ns(text: &str) -> Option<[u64; 2]> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    let mut next = || Some(numbers.next()??.saturating_mul(1000)).filter(|ns| *ns > 0);
    Some([next()?, next()?])
}

/// The throttled time in the kernel's `cpu.stat`: in nanoseconds in version 1, in microseconds in version 2.
fn throttled_ns(stat: &str) -> Option<u64> {
    let field = |key: &str| -> Option<u64> {
        let line = stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        line.trim().parse().ok()
    };
    field("throttled_time").or_else(|| field("throttled_usec").map(|us| us.saturating_mul(1000)))
}

fn idle_directory(place: &Hierarchy, owner: Owner) -> PathBuf {
    place.directory.join(format!("{}{IDLE}", owner.directory()))
}

/// Lets a run's groups go before what else the machine does: all nodes together would else count as much as
/// one process.
fn prefer(above: &Path, version: Version) -> io::Result<()> {
    match version {
        Version::V1 => fs::write(above.join("cpu.shares"), "102400"),
        Version::V2 => fs::write(above.join("cpu.weight"), "10000"),
    }
}

/// Kills what is in a group and those below it, and takes them away.
fn remove(path: &Path) {
    let below = fs::read_dir(path).into_iter().flatten().flatten();
    for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove(&entry.path());
    }
    for _ in 0..200 {
        let members = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
        for pid in members.lines().filter_map(|line| line.trim().parse().ok()) {
            // Already gone is as good as killed.
            let _ =
                nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                // A killed process leaves its group when the kernel has reaped it, which takes a moment.
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            _ => return,
        }
    }
}

/// Where new groups of a controller can be made: below our own group, when that can be written to.
fn place(mounts: &str, groups: &str, controller: &str) -> Option<Hierarchy> {
    let v1 = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split_whitespace();
        let is_v1 = right.next() == Some("cgroup");
        let options = right.nth(1)?;
        (is_v1 && options.split(',').any(|option| option == controller)).then(|| mount_point(left))?
    });
    if let Some(mount) = v1 {
        let own = control_groups(groups).find(|group| group.controls(controller));
        let directory = join(&mount, own.map_or("/", |group| group.path));
        return usable(Hierarchy { version: Version::V1, controller: controller.to_owned(), directory });
    }
    let mount = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        (right.split_whitespace().next() == Some("cgroup2")).then(|| mount_point(left))?
    })?;
    let known = fs::read_to_string(Path::new(&mount).join("cgroup.controllers")).unwrap_or_default();
    if !known.split_whitespace().any(|name| name == controller) {
        return None;
    }
    // A group that holds processes may not pass controllers on, except the root; so groups are made at the
    // root.
    let directory = PathBuf::from(&mount);
    fs::write(directory.join("cgroup.subtree_control"), format!("+{controller}")).ok()?;
    usable(Hierarchy { version: Version::V2, controller: controller.to_owned(), directory })
}

fn mount_point(left: &str) -> Option<String> {
    left.split_whitespace().nth(4).map(str::to_owned)
}

fn join(mount: &str, own: &str) -> PathBuf {
    let joined = Path::new(mount).join(own.trim_start_matches('/'));
    // In a container our own path is that of the host and does not exist here.
    if joined.is_dir() { joined } else { PathBuf::from(mount) }
}

/// A place counts only when a group can be made there.
fn usable(place: Hierarchy) -> Option<Hierarchy> {
    let probe = place.directory.join(format!("cairn-probe-{}", std::process::id()));
    fs::create_dir(&probe).ok()?;
    fs::remove_dir(&probe).ok()?;
    Some(place)
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_share_stands_still_no_longer_than_the_kernel_makes_it() {
        let still_ms = |cores, period| (standstill_ns(cores, period) as f64 / 1e5).round() / 10.0;
        assert_eq!((still_ms(0.25, None), still_ms(0.038, None)), (3.0, 25.3));
        assert_eq!((still_ms(0.038, Some(100_000_000)), still_ms(2.0, None)), (96.2, 0.0));
        assert_eq!(still_ms(0.0625, Some(2_000_000)), 1.0, "no quota is shorter than a millisecond");
    }

    #[test]
    fn a_limit_is_read_in_the_words_of_both_versions() {
        assert_eq!(limit_ns("1000 10000\n"), Some([1_000_000, 10_000_000]));
        assert_eq!((limit_ns("max 100000\n"), limit_ns("-1 100000"), limit_ns("")), (None, None, None));
    }

    #[test]
    fn throttled_time_is_read_in_the_units_of_both_versions() {
        let first = "nr_periods 10\nnr_throttled 4\nthrottled_time 380000000\n";
        let second = "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 380000\n";
        assert_eq!((throttled_ns(first), throttled_ns(second)), (Some(380_000_000), Some(380_000_000)));
        assert_eq!(throttled_ns("usage_usec 5\n"), None);
    }

    /// A folder that looks like a mounted hierarchy of version 2, as far as this file can tell.
    fn second_version() -> TestFolder {
        let root = TestFolder::new("cgroup");
        fs::write(root.join("cgroup.controllers"), "cpuset cpu io memory pids\n").unwrap();
        root
    }

    #[test]
    fn the_second_version_is_asked_in_its_own_words() {
        let root = second_version();
        let mounts = format!("30 23 0:26 / {} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate", root.display());
        let groups = "0::/user.slice/user-0.slice/session-1.scope\n";
        let controllers = Controllers {
            processor: place(&mounts, groups, "cpu"),
            memory: place(&mounts, groups, "memory"),
        };
        assert_eq!(
            controllers.words(),
            "processor share: control groups, version 2; memory: control groups, version 2"
        );
        let group = controllers.group(Owner::this_process(), "n1").unwrap();
        group.limit_processor(Some(0.12), None).unwrap();
        group.limit_memory(5_000_000).unwrap();
        group.add(77).unwrap();
        let above = root.join(Owner::this_process().directory());
        let said = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(said(&above.join("cgroup.subtree_control")), "+memory", "each controller is passed on");
        assert_eq!(said(&above.join("cpu.weight")), "10000");
        assert_eq!(said(&above.join("n1/cpu.max")), "1000 8334");
        group.limit_processor(Some(0.12), Some(100_000_000)).unwrap();
        assert_eq!(said(&above.join("n1/cpu.max")), "12000 100000", "as long a period as is asked for");
        assert_eq!(said(&above.join("n1/memory.max")), "5000000");
        assert_eq!(said(&above.join("n1/cgroup.procs")), "77");
        group.limit_processor(None, None).unwrap();
        assert_eq!(said(&above.join("n1/cpu.max")), "max 1000");
        assert!(place(&mounts, groups, "hugetlb").is_none(), "a controller that is not there is not used");
    }

    /// Any controller that this kernel offers by version 2: on a machine of version 1 that of huge pages
    /// often is left to it.
    fn of_the_kernel() -> Result<Hierarchy, String> {
        let [mounts, groups] = ["/proc/self/mountinfo", "/proc/self/cgroup"].map(fs::read_to_string);
        let find = |controller: &&str| place(mounts.as_ref().ok()?, groups.as_ref().ok()?, controller);
        let offered = ["memory", "pids", "hugetlb"].iter().filter_map(find);
        let mut second = offered.filter(|place| place.version == Version::V2);
        second.next().ok_or_else(|| "no controller of version 2 can be used".to_owned())
    }

    #[test]
    fn the_kernel_keeps_groups_of_the_second_version_and_takes_them_away_with_what_runs_in_them() {
        let Some(place) = testkit::needs::needed("control groups of version 2", of_the_kernel()) else {
            return;
        };
        // The processor's part is that of the test above: what is looked at here is the same for every
        // controller.
        let root = place.directory.clone();
        let controllers = Controllers { processor: None, memory: Some(place) };
        let owner = Owner { pid: std::process::id(), started: 2 };
        let group = controllers.group(owner, "n1").unwrap();
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        group.add(child.id()).unwrap();
        let said = fs::read_to_string(format!("/proc/{}/cgroup", child.id())).unwrap();
        assert!(said.lines().any(|line| line == format!("0::/{}/n1", owner.directory())), "{said}");
        // Only whoever waits for the child lets it leave its group.
        let waits = std::thread::spawn(move || child.wait().unwrap());
        assert_eq!(controllers.clean_leftovers(), 1, "no process started in the second tick of the machine");
        assert!(!waits.join().unwrap().success() && !root.join(owner.directory()).exists());
    }

    #[test]
    fn leftovers_of_the_dead_are_removed_and_those_of_the_living_stay() {
        let controllers = Controllers::find();
        let can = if controllers.can_limit_processor() { Ok(()) } else { Err(controllers.words()) };
        if testkit::needs::needed("control group that can be written to", can).is_none() {
            return;
        }
        let (alive, dead) = (Owner::this_process(), Owner { pid: std::process::id(), started: 1 });
        controllers.group(alive, "a").unwrap();
        controllers.group(dead, "a").unwrap();
        // Not every kernel has idle groups.
        let idle = [alive, dead].map(|owner| controllers.idle_group(owner).unwrap().is_some());
        assert!(controllers.clean_leftovers() > usize::from(idle[1]));
        let place = controllers.processor.clone().unwrap().directory;
        assert!(place.join(alive.directory()).is_dir());
        assert!(!place.join(dead.directory()).exists());
        let idle_directory = |owner| idle_directory(controllers.processor.as_ref().unwrap(), owner);
        assert_eq!([alive, dead].map(|owner| idle_directory(owner).is_dir()), [idle[0], false]);
        controllers.remove(alive);
        assert!(!place.join(alive.directory()).exists() && !idle_directory(alive).exists());
    }
}
