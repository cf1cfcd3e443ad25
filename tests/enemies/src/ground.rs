//! Network namespaces joined by cables: one for the victim, and one each for the attacker, a neighbour and
//! newcomers.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use nix::sched::{CloneFlags, setns};
use testkit::own_network::ip;

/// The processor of the victim.
pub(crate) const VICTIM_CPU: usize = 0;
/// The processor of everybody else: attackers and honest people alike.
pub(crate) const OTHERS_CPU: usize = 1;
/// Addresses that newcomers have, each to be used once.
pub(crate) const NEWCOMERS: u8 = 32;

const PREFIX: &str = "enemies";
const PLACES: [&str; 4] = ["victim", "attacker", "neighbour", "newcomer"];

/// A network namespace.
#[derive(Clone, Debug)]
pub(crate) struct Namespace(String);

/// All namespaces of a run; gone when dropped.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) victim: Namespace,
    pub(crate) attacker: Namespace,
    pub(crate) neighbour: Namespace,
    pub(crate) newcomer: Namespace,
}

/// The victim's address on the cable to the attacker.
pub(crate) const SEEN_BY_ATTACKER: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 1);
/// The same on the cable to the neighbour.
pub(crate) const SEEN_BY_NEIGHBOUR: Ipv4Addr = Ipv4Addr::new(198, 18, 2, 1);
/// The neighbour's own.
pub(crate) const NEIGHBOUR: Ipv4Addr = Ipv4Addr::new(198, 18, 2, 2);
/// The victim's address on the cable to newcomers.
pub(crate) const SEEN_BY_NEWCOMERS: Ipv4Addr = Ipv4Addr::new(198, 18, 3, 1);

/// The address of a newcomer.
pub(crate) fn newcomer(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, 3, 2 + number % NEWCOMERS)
}

impl Ground {
    /// Makes them. What runs before this one have left behind because they were killed is removed first.
    pub(crate) fn make() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("network namespaces and a processor of its own for the node take root: run as root"
                .to_owned());
        }
        remove_leftovers();
        let [victim, attacker, neighbour, newcomer_place] =
            PLACES.map(|place| Namespace(format!("{PREFIX}{}-{place}", std::process::id())));
        // From here on everything is removed if something fails.
        let ground = Ground { victim, attacker, neighbour, newcomer: newcomer_place };
        for namespace in ground.all() {
            ip(&format!("netns add {}", namespace.0))?;
            ip(&format!("-n {} link set lo up", namespace.0))?;
        }
        ground.join(&ground.attacker, 1, 1)?;
        ground.join(&ground.neighbour, 2, 1)?;
        ground.join(&ground.newcomer, 3, NEWCOMERS)?;
        Ok(ground)
    }

    fn all(&self) -> [&Namespace; 4] {
        [&self.victim, &self.attacker, &self.neighbour, &self.newcomer]
    }

    /// Plugs in a cable between the victim and another; names of interfaces are those namespaces' own, so
    /// any will do.
    fn join(&self, other: &Namespace, net: u8, addresses: u8) -> Result<(), String> {
        let (victim, other) = (&self.victim.0, &other.0);
        ip(&format!("link add v{net} netns {victim} type veth peer name e{net} netns {other}"))?;
        ip(&format!("-n {victim} addr add 198.18.{net}.1/24 dev v{net}"))?;
        for number in 0..addresses {
            ip(&format!("-n {other} addr add 198.18.{net}.{}/24 dev e{net}", 2 + number))?;
        }
        ip(&format!("-n {victim} link set v{net} up"))?;
        ip(&format!("-n {other} link set e{net} up"))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        for namespace in self.all() {
            let _ = ip(&format!("netns del {}", namespace.0));
        }
    }
}

impl Namespace {
    /// Starts a thread in this namespace, on this processor. Sockets it opens and processes it starts are
    /// there, too.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        cpu: usize,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> JoinHandle<io::Result<T>> {
        let path = format!("/run/netns/{}", self.0);
        std::thread::spawn(move || {
            setns(File::open(path)?, CloneFlags::CLONE_NEWNET)?;
            stay_on(cpu)?;
            work()
        })
    }

    /// Does something there and waits for it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        cpu: usize,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        join(self.spawn(cpu, work))
    }
}

/// What a thread has brought.
pub(crate) fn join<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the suite has panicked")))
}

/// Keeps this thread, and what it starts, on one processor. On a machine that has only one, everything
/// shares it.
pub(crate) fn stay_on(cpu: usize) -> io::Result<()> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    if count <= cpu {
        return Ok(());
    }
    system::processors::stay_on(&[cpu])
}

/// Makes this process a session of its own that goes before the others of the machine, where the system
/// shares processors among sessions: what else runs here shall not look like a slow node. Without effect
/// for who is started from a shell by hand, whose session is the shell's.
pub(crate) fn go_apart() {
    let leads_session =
        || rustix::process::getsid(None).is_ok_and(|session| session == rustix::process::getpid());
    if rustix::process::setsid().is_ok() || leads_session() {
        let _ = std::fs::write("/proc/self/autogroup", "-20");
    }
}

/// Lets this thread run before others of its processor: honest people measure the node and not how busy
/// their own machine is.
pub(crate) fn go_first() {
    let _ = rustix::process::setpriority_process(None, -15);
}

/// Lets this thread run as soon as it can, whatever else runs on its processor.
///
/// # Errors
/// The system refuses it, or `chrt` of util-linux cannot be run.
pub(crate) fn interrupt_others() -> io::Result<()> {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let output = Command::new("chrt").args(["--fifo", "--pid", "1", &thread]).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("chrt: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// Lets this thread run before the rest of the machine, and after those that [go first](go_first).
pub(crate) fn go_before_strangers() {
    let _ = rustix::process::setpriority_process(None, -10);
}

/// Removes namespaces of runs whose process is gone, and ends what still runs in them.
fn remove_leftovers() {
    let Ok(entries) = std::fs::read_dir("/run/netns") else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')).map(|(pid, _)| pid);
        let Some(owner) = owner.filter(|pid| pid.parse::<u32>().is_ok()) else { continue };
        if Path::new("/proc").join(owner).exists() {
            continue;
        }
        let output = Command::new("ip").args(["netns", "pids", &name]).output();
        let pids =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        for pid in pids.split_whitespace().filter_map(|pid| pid.parse().ok()) {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        let _ = ip(&format!("netns del {name}"));
    }
}
