//! A forwarder as a process of its own, and which processors it and the load run on.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lab::backend::machine::processes::with_children;
use system::proc_files::{memory_bytes, processor_ns};
use system::processors::{allowed, stay_on};

/// A running forwarder; killed when dropped.
pub(super) struct Forwarder {
    child: Child,
}

/// The processors for the forwarder, and those for consumer and producer.
#[derive(Clone)]
pub(super) struct Processors {
    forwarder: Vec<usize>,
    load: Vec<usize>,
}

impl Processors {
    /// One for the forwarder and one for the load.
    pub(super) fn apart(forwarder: usize, load: usize) -> Self {
        Processors { forwarder: vec![forwarder], load: vec![load] }
    }

    /// Wherever the system puts them.
    pub(super) fn anywhere() -> io::Result<Self> {
        let all = allowed()?;
        Ok(Processors { forwarder: all.clone(), load: all })
    }

    /// Brings this thread, and what it starts from now on, to where the load runs.
    pub(super) fn enter_load(&self) -> io::Result<()> {
        stay_on(&self.load)
    }
}

impl Forwarder {
    /// Starts a program where forwarders run.
    pub(super) fn start(command: &mut Command, processors: &Processors) -> io::Result<Self> {
        // Children inherit the processors of the thread that starts them.
        stay_on(&processors.forwarder)?;
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
        let nanos =
            with_children([self.child.id()]).into_iter().filter_map(processor_ns).map(|[used, _]| used);
        Duration::from_nanos(nanos.sum())
    }

    /// Bytes of memory that are resident.
    pub(super) fn resident_bytes(&self) -> u64 {
        with_children([self.child.id()]).into_iter().filter_map(memory_bytes).sum()
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
        for pid in with_children([self.child.id()]) {
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
