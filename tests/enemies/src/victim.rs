//! The node that is attacked: `cairn node run` with its default configuration.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use system::proc_files::{memory_bytes, processor_ns};

use crate::cage::Cage;
use crate::ground::{self, Ground, VICTIM_CPU};
use crate::wire::wrong;

/// What the soft limit of descriptors is where nobody has changed it.
const USUAL_DESCRIPTORS: u64 = 1024;

/// A running node; ended when dropped.
#[derive(Debug)]
pub(crate) struct Victim {
    child: Child,
    cairn: PathBuf,
    folder: PathBuf,
}

/// An answer of `cairn status --json`.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) took: Duration,
    /// `None` if it failed.
    pub(crate) told: Option<Value>,
}

impl Victim {
    /// Starts a node and waits until applications can connect. Nothing but addresses is configured.
    pub(crate) fn start(
        cairn: &Path,
        ground: &Ground,
        folder: &Path,
        cage: Option<&Cage>,
    ) -> Result<Self, String> {
        let config = folder.join("node.toml");
        let socket = folder.join("nfd.sock");
        let text = format!(
            "[unix]\nlisten = [\"{}\"]\n[websocket]\nlisten = [\"0.0.0.0:9696\"]\n",
            socket.display()
        );
        std::fs::write(&config, text).map_err(|error| format!("{}: {error}", config.display()))?;
        let mut command = match cage {
            None => Command::new(cairn),
            Some(cage) => cage.command(cairn),
        };
        command.args(["node", "run", "--config"]).arg(&config);
        let log = File::create(folder.join("node.log")).map_err(|error| error.to_string())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(log));
        let child = ground.victim.run(VICTIM_CPU, move || {
            // A processor of its own, as nearly as a busy machine has one.
            ground::go_first();
            with_usual_descriptors(|| command.spawn())
        });
        let child = child.map_err(|error| format!("cannot start {}: {error}", cairn.display()))?;
        let mut victim = Victim { child, cairn: cairn.to_owned(), folder: folder.to_owned() };
        let deadline = Instant::now() + Duration::from_secs(10);
        while UnixStream::connect(&socket).is_err() {
            if let Some(how) = victim.end() {
                return Err(format!("the node has ended: {how}"));
            }
            if Instant::now() > deadline {
                return Err("the node did not open its socket within ten seconds".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(victim)
    }

    /// Where applications connect.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("nfd.sock")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it has ended, if it has, with the last lines of its log.
    pub(crate) fn end(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        let log = std::fs::read_to_string(self.folder.join("node.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(3).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        let how = match status.signal() {
            Some(signal) => format!("killed by signal {signal}"),
            None => status.to_string(),
        };
        Some(format!("{how}; its log ends: {}", lines.join(" | ")))
    }

    /// A way to ask for its status, which other threads may have.
    pub(crate) fn requester(&self, ground: &Ground) -> Requester {
        Requester { cairn: self.cairn.clone(), socket: self.socket(), ground: ground.victim.clone() }
    }

    /// Runs another command of `cairn` beside it.
    pub(crate) fn tell(&self, words: &[&str]) -> Result<(), String> {
        let output = Command::new(&self.cairn)
            .args(words)
            .arg("--connect")
            .arg(format!("unix://{}", self.socket().display()))
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("cairn {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
            && self.child.try_wait().ok().flatten().is_none()
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let deadline = Instant::now() + Duration::from_secs(2);
            while Instant::now() < deadline && self.child.try_wait().ok().flatten().is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks a node for its status as an administrator does.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    cairn: PathBuf,
    socket: PathBuf,
    ground: ground::Namespace,
}

impl Requester {
    /// Asks once; gives up after ten seconds.
    pub(crate) fn ask(&self) -> io::Result<Status> {
        let requester = self.clone();
        self.ground.run(ground::OTHERS_CPU, move || requester.ask_here())
    }

    fn ask_here(&self) -> io::Result<Status> {
        ground::go_first();
        let started = Instant::now();
        let output = Command::new("timeout")
            .arg("10")
            .arg(&self.cairn)
            .args(["status", "--json", "--connect"])
            .arg(format!("unix://{}", self.socket.display()))
            .stdin(Stdio::null())
            .output()?;
        let took = started.elapsed();
        let told = if output.status.success() { serde_json::from_slice(&output.stdout).ok() } else { None };
        Ok(Status { took, told })
    }
}

/// Bytes of memory that a process has resident.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    memory_bytes(pid).unwrap_or(0)
}

/// Time that all threads of a process have run, and time that they could have run and had to wait for a
/// processor.
pub(crate) fn cpu_time(pid: u32) -> [Duration; 2] {
    processor_ns(pid).unwrap_or_default().map(Duration::from_nanos)
}

/// Raises this process's limit of descriptors as far as it may; gives what it is then.
pub(crate) fn raise_descriptors() -> io::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(1 << 20);
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum })?;
    Ok(most)
}

/// Starts a process with as many descriptors as a service has that nobody gave more.
fn with_usual_descriptors<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let own = getrlimit(Resource::Nofile);
    let usual = own.maximum.map_or(USUAL_DESCRIPTORS, |most| most.min(USUAL_DESCRIPTORS));
    setrlimit(Resource::Nofile, Rlimit { current: Some(usual), maximum: own.maximum })?;
    let started = start();
    setrlimit(Resource::Nofile, own).map_err(wrong)?;
    started
}
