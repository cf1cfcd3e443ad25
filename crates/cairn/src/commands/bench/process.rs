//! A forwarder as a process of its own, and which processors it and the load run on.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A running forwarder; killed when dropped.
pub(super) struct Forwarder {
    child: Child,
}

/// The processors for the forwarder, and those for consumer and producer.
#[derive(Clone, Copy)]
pub(super) struct Processors {
    forwarder: CpuSet,
    load: CpuSet,
}

impl Processors {
    /// One for the forwarder and one for the load.
    pub(super) fn apart(forwarder: usize, load: usize) -> Self {
        let [forwarder, load] = [forwarder, load].map(|cpu| {
            let mut set = CpuSet::new();
            set.set(cpu);
            set
        });
        Processors { forwarder, load }
    }

    /// Wherever the system puts them.
    pub(super) fn anywhere() -> io::Result<Self> {
        let all = sched_getaffinity(None)?;
        Ok(Processors { forwarder: all, load: all })
    }

    /// Brings this thread, and what it starts from now on, to where the load runs.
    pub(super) fn enter_load(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.load)?)
    }
}

impl Forwarder {
    /// Starts a program where forwarders run.
    pub(super) fn start(command: &mut Command, processors: &Processors) -> io::Result<Self> {
        // Children inherit the processors of the thread that starts them.
        sched_setaffinity(None, &processors.forwarder)?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        processors.enter_load()?;
        Ok(Forwarder { child: child? })
    }

    /// Starts a program wherever the system puts it, with the input that the command has.
    pub(super) fn start_anywhere(mut command: Command) -> io::Result<Self> {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Forwarder { child })
    }

    /// Time that all threads of the process, and of those it started, have run.
    pub(super) fn cpu_time(&self) -> Duration {
        family(self.child.id()).into_iter().map(cpu_time_of).sum()
    }

    /// Bytes of memory that are resident.
    pub(super) fn resident_bytes(&self) -> u64 {
        family(self.child.id()).into_iter().map(resident_bytes_of).sum()
    }

    /// Waits until it accepts connections at its socket.
    pub(super) fn await_socket(&mut self, socket: &Path, name: &str) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while UnixStream::connect(socket).is_err() {
            if Instant::now() > deadline || self.has_ended() {
                return Err(io::Error::other(format!("{name} did not open its socket {}", socket.display())));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        for pid in family(self.child.id()) {
            if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
        let deadline = Instant::now() + Duration::from_secs(3);
        while Instant::now() < deadline {
            if self.has_ended() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process and its descendants, which a shell command may have.
fn family(root: u32) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(&parent) = all.get(next) {
        next += 1;
        let path = format!("/proc/{parent}/task/{parent}/children");
        let children = std::fs::read_to_string(path).unwrap_or_default();
        all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    all
}

fn cpu_time_of(pid: u32) -> Duration {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Duration::ZERO };
    let nanos = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// Time that children of this process have run which have ended and been waited for, and theirs.
pub(super) fn cpu_time_of_ended_children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything, the state is the first field; those wanted are numbers 16 and
    // 17 of all.
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

fn resident_bytes_of(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0)
        * rustix::param::page_size() as u64
}
