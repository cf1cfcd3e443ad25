//! What makes sure that nothing of a run is left behind, however the lab ends.
//!
//! The lab starts a *guard*, and the guard a *world* in a process namespace of its own, as its first process.
//! All forwarders and clients are the world's children. When the world ends, the kernel kills every process
//! in its namespace; with the last of them the network namespaces go, which have no name that could keep
//! them, and with these the interfaces. The guard ends the world when the lab's end of a pipe closes, which
//! it does even when the lab is killed; the world ends with the guard, because it asked the kernel for that.
//! Then the guard takes the control groups away. Should lab and guard be killed at the same moment, only
//! empty control groups stay, and the next start takes those away.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::Signal;

use crate::backend::machine::cgroup::Controllers;
use crate::order::Owner;

/// The file in the order's folder with the number of the world's process, as the guard sees it.
pub(crate) const WORLD_FILE: &str = "world.pid";

/// Why there can be no world here.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The kernel refused namespaces.
    #[error(
        "this system does not allow {what}: {source}; run as root, or allow user namespaces (the settings \
         kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns)"
    )]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// What the kernel said.
        source: nix::errno::Errno,
    },
    /// A process could not be started or waited for.
    #[error("the guard failed: {0}")]
    Io(#[from] io::Error),
}

/// Starts a guard from the lab. The lab keeps the child's standard input open as long as the run shall go on,
/// and reads the run's events from its standard output.
///
/// # Errors
///
/// When the program cannot be started.
pub fn start(program: &Path, folder: &Path) -> io::Result<Child> {
    use std::os::unix::process::CommandExt;
    Command::new(program)
        .args(["lab", "internal", "guard"])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Out of the terminal's group: Ctrl-C is for the lab, and its end is what ends us, in order.
        .process_group(0)
        .spawn()
}

/// The guard's own work: makes the world's namespaces, starts it, and waits for the end of either side.
///
/// # Errors
///
/// When the system does not allow what is needed.
pub fn run(program: &Path, folder: &Path, owner: Owner) -> Result<i32, GuardError> {
    // Looked for now: when the world ends, so does the view of /proc that this takes.
    let controllers = Controllers::find();
    enter_namespaces()?;
    let mut world =
        Command::new(program).args(["lab", "internal", "world"]).arg(folder).stdin(Stdio::piped()).spawn()?;
    // For those who want to enter it: in the guard's own namespace it has a number.
    std::fs::write(folder.join(WORLD_FILE), world.id().to_string())?;
    let stdin = io::stdin();
    let code = loop {
        if let Some(status) = world.try_wait()? {
            break status.code().unwrap_or(1);
        }
        let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        let ready = poll(&mut fds, PollTimeout::from(50u16)).unwrap_or(0);
        if ready > 0 && !pass_on(&mut world)? {
            // The lab is gone.
            world.kill()?;
            world.wait()?;
            break 130;
        }
    };
    controllers.remove(owner);
    Ok(code)
}

/// Passes a line from the lab on to the world. False when the lab is gone.
fn pass_on(world: &mut Child) -> io::Result<bool> {
    let mut bytes = [0; 4096];
    match io::Read::read(&mut io::stdin(), &mut bytes) {
        Ok(0) => Ok(false),
        Ok(length) => {
            if let (Some(input), Some(bytes)) = (&mut world.stdin, bytes.get(..length)) {
                // A world that has just ended is noticed in the next round.
                let _ = input.write_all(bytes);
            }
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(error),
    }
}

/// A process namespace, inside a user namespace when we are not root.
fn enter_namespaces() -> Result<(), GuardError> {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let wanted = CloneFlags::CLONE_NEWPID;
    if user.is_root() {
        return unshare(wanted).map_err(|source| GuardError::Refused { what: "namespaces", source });
    }
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|source| GuardError::Refused { what: "user namespaces", source })?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    unshare(wanted).map_err(|source| GuardError::Refused { what: "namespaces for users", source })
}

/// The first thing a world does: to end with its guard, and to see its own processes.
///
/// # Errors
///
/// When the kernel refuses.
pub fn enter_world() -> Result<(), GuardError> {
    use nix::mount::{MsFlags, mount};
    let refused = |what| move |source| GuardError::Refused { what, source };
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(refused("a signal at the guard's end"))?;
    unshare(CloneFlags::CLONE_NEWNS).map_err(refused("a mount namespace"))?;
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).map_err(refused("private mounts"))?;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), none).map_err(refused("a /proc of its own"))
}
