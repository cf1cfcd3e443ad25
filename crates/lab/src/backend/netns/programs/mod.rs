//! Programs of one's own: started in a node's namespace, ended with the run, and judged by how they ended.

mod watch;
mod work;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use self::work::Work;
use super::namespace::{Namespace, NamespaceError};
use crate::backend::machine::cgroup::Group;
use crate::experiment::plan::{NodeIndex, ProgramPlan, Workload};

/// How long a program may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(2);

/// One file that a client fetches.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    pub(super) launch: crate::driver::Launch,
    /// Where it is written.
    pub(super) output: PathBuf,
    /// What it must be equal to.
    pub(super) original: PathBuf,
}

/// A program, and everything it needs at its node.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) workload: &'a Workload,
    pub(super) program: &'a ProgramPlan,
    /// The node's name.
    pub(super) node: &'a str,
    pub(super) group: Option<Group>,
    /// Where the run's raw files are.
    pub(super) folder: &'a Path,
    /// The node's forwarder, from wherever the program is.
    pub(super) transport: String,
    /// Our own command.
    pub(super) cairn: &'a Path,
    /// The start of the run, since the epoch.
    pub(super) start_ns: u64,
    /// What it fetches, when it is a client: then the commands are these.
    pub(super) fetches: Vec<Fetched>,
}

/// What came of programs.
#[derive(Debug, Default)]
pub(super) struct ProgramResults {
    /// What went wrong, in sentences.
    pub(super) failures: Vec<String>,
    /// The processor time of those that have ended, by node.
    pub(super) processor_ns: BTreeMap<NodeIndex, u64>,
}

/// The programs of a run.
#[derive(Debug, Default)]
pub(super) struct Programs {
    list: Vec<Running>,
    /// How many of those that end by themselves still run.
    unfinished: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Running {
    name: String,
    node: NodeIndex,
    task: Arc<Task>,
    thread: JoinHandle<io::Result<()>>,
}

/// What the thread of a program shares with those who end it.
#[derive(Debug, Default)]
struct Task {
    /// The process group that runs now. It is taken out before its number can be another's.
    group: Mutex<Option<Pid>>,
    /// Nothing new is begun.
    stops: AtomicBool,
    /// Why the run is lost.
    lost: Mutex<Option<String>>,
    /// What went wrong first, for the reader of the report.
    failure: Mutex<Option<String>>,
    /// The processor time of what has ended, in nanoseconds.
    processor_ns: AtomicU64,
}

impl Programs {
    /// Starts a program at its time, in a thread of the node's namespace.
    pub(super) fn add(&mut self, namespace: &Namespace, setting: &Setting<'_>) -> Result<(), NamespaceError> {
        let task = Arc::new(Task::default());
        let counted = (!setting.program.serves).then(|| {
            self.unfinished.fetch_add(1, Ordering::Relaxed);
            UnfinishedGuard(self.unfinished.clone())
        });
        let work = Work {
            program: setting.program.clone(),
            name: setting.workload.name.clone(),
            node: setting.node.to_owned(),
            group: setting.group.clone(),
            raw: setting.folder.to_owned(),
            transport: setting.transport.clone(),
            cairn: setting.cairn.to_owned(),
            start_ns: setting.start_ns.saturating_add(setting.workload.start_ns),
            stop_ns: setting.start_ns.saturating_add(setting.workload.stop_ns),
            fetches: setting.fetches.clone(),
        };
        let shared = task.clone();
        // A thread is in the namespace of the thread that makes it, and so are its children.
        let thread = namespace.run(move || std::thread::spawn(move || work.carry_out(&shared, counted)))?;
        self.list.push(Running {
            name: setting.workload.name.clone(),
            node: setting.workload.at,
            task,
            thread,
        });
        Ok(())
    }

    /// Have all programs ended that end by themselves?
    pub(super) fn all_done(&self) -> bool {
        self.unfinished.load(Ordering::Relaxed) == 0
    }

    /// Why the run is lost, if a program has ended that was to serve, or could not be started.
    pub(super) fn lost(&self) -> Option<String> {
        self.list.iter().find_map(|running| locked(&running.task.lost).clone())
    }

    /// Ends what still runs, and waits until all is written down. Says what went wrong.
    pub(super) fn stop(self) -> io::Result<ProgramResults> {
        for running in &self.list {
            running.task.stops.store(true, Ordering::Relaxed);
            running.task.signal(Signal::SIGTERM);
        }
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline && self.list.iter().any(|running| !running.thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        for running in &self.list {
            running.task.signal(Signal::SIGKILL);
        }
        let mut all = ProgramResults::default();
        for Running { name, node, task, thread } in self.list {
            let ended = thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")));
            ended.map_err(|error| io::Error::new(error.kind(), format!("program `{name}`: {error}")))?;
            all.failures.extend(locked(&task.failure).take());
            *all.processor_ns.entry(node).or_default() += task.processor_ns.load(Ordering::Relaxed);
        }
        Ok(all)
    }
}

/// One less that is unfinished when it goes.
#[derive(Debug)]
struct UnfinishedGuard(Arc<AtomicUsize>);

impl Drop for UnfinishedGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Task {
    fn signal(&self, signal: Signal) {
        if let Some(group) = *locked(&self.group) {
            // One that has just ended needs no signal.
            let _ = killpg(group, signal);
        }
    }

    fn lose(&self, why: String) {
        locked(&self.lost).get_or_insert(why);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
