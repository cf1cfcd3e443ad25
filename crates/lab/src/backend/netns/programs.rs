//! Programs of one's own: started in a node's namespace, ended with the run, and judged by how they ended.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use formats::csv;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::namespace::{Namespace, NamespaceError};
use crate::agent::TRANSFERS_HEAD;
use crate::backend::machine::cgroup::Group;
use crate::backend::machine::processes::ended_processor_ns;
use crate::experiment::plan::{Dialect, NodeIndex, ProgramPlan, Workload};
use crate::wall_clock::epoch_ns;

/// How long a program may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(2);
/// How much of what a program said is looked at when it has failed.
const MAX_TOLD_BYTES: u64 = 4096;

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

/// The work of one thread.
#[derive(Debug)]
struct Work {
    program: ProgramPlan,
    name: String,
    node: String,
    group: Option<Group>,
    raw: PathBuf,
    transport: String,
    cairn: PathBuf,
    start_ns: u64,
    stop_ns: u64,
    fetches: Vec<Fetched>,
}

/// One time that a program ran.
struct Execution {
    begin_ns: u64,
    end_ns: u64,
    status: ExitStatus,
}

impl Work {
    /// Runs the program as often as it shall run, and writes down what came of it. What was fetched is
    /// compared when all have ended: now others are measured. One less is unfinished when `counted` goes.
    fn carry_out(&self, task: &Task, counted: Option<UnfinishedGuard>) -> io::Result<()> {
        let mut rows = self.run(task)?;
        drop(counted);
        if self.program.serves {
            return Ok(());
        }
        while !self.fetches.is_empty() && !task.stops.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        for (row, fetched) in rows.iter_mut().zip(&self.fetches) {
            if row[10] == "complete" && !is_same(&fetched.output, &fetched.original)? {
                row[3].clear();
                "wrong".clone_into(&mut row[10]);
                let text = format!("What `{}` fetched at `{}` is not what was served.", self.name, self.node);
                locked(&task.failure).get_or_insert(text);
            }
            // It is in memory, and has served.
            let _ = fs::remove_file(&fetched.output);
        }
        self.write(&rows)
    }

    fn run(&self, task: &Task) -> io::Result<Vec<[String; 11]>> {
        let place = self.raw.join(&self.node).join(&self.name);
        fs::create_dir_all(&place)?;
        while epoch_ns() < self.start_ns {
            if task.stops.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let left = Duration::from_nanos(self.start_ns.saturating_sub(epoch_ns()));
            std::thread::sleep(left.min(Duration::from_millis(10)));
        }
        let mut rows = Vec::new();
        for number in 0..self.program.count {
            if task.stops.load(Ordering::Relaxed) || epoch_ns() >= self.stop_ns {
                break;
            }
            let begin_ns = epoch_ns();
            let status = match self.once(number, &place, task) {
                Ok(status) => status,
                Err(error) => {
                    let program = self.program.command.first().map_or("", String::as_str);
                    task.lose(format!("`{program}` of program `{}` cannot be started: {error}", self.name));
                    break;
                }
            };
            let stopped = task.stops.load(Ordering::Relaxed) || epoch_ns() >= self.stop_ns;
            if self.program.serves && !stopped {
                task.lose(format!("{}, and it was to serve", self.ended(status)));
                break;
            }
            if status.code() != Some(self.program.exit) && !stopped {
                locked(&task.failure).get_or_insert_with(|| self.ended(status));
            }
            let execution = Execution { begin_ns, end_ns: epoch_ns(), status };
            rows.push(self.row(number, &execution, &place));
        }
        Ok(rows)
    }

    /// The program of one time, with its arguments and its own additions to the environment.
    fn command(&self, number: u32) -> io::Result<Command> {
        if let Some(Fetched { launch, .. }) = self.fetches.get(number as usize) {
            let mut command = Command::new(&launch.program);
            command.args(&launch.arguments).envs(launch.environment.iter().cloned());
            return Ok(command);
        }
        let (program, arguments) = self
            .program
            .command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "there is no command"))?;
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }

    /// Runs the program once, to its end.
    fn once(&self, number: u32, place: &Path, task: &Task) -> io::Result<ExitStatus> {
        use std::os::unix::process::CommandExt;
        let output = |kind: &str| {
            File::options().create(true).append(true).open(self.raw.join(format!("{}.{kind}", self.name)))
        };
        let mut command = self.command(number)?;
        command
            .current_dir(place)
            .env("NDN_CLIENT_TRANSPORT", &self.transport)
            .env("CCN_LOCAL_TRANSPORT", of_ccnx(&self.transport))
            .env("CAIRN", &self.cairn)
            .env("CAIRN_NODE", &self.node)
            .env("CAIRN_NUMBER", number.to_string())
            .envs(&self.program.environment)
            .stdin(Stdio::null())
            .stdout(output("out")?)
            .stderr(output("err")?)
            .process_group(0);
        let mut child = command.spawn()?;
        let group = group_of(&child);
        *locked(&task.group) = Some(group);
        if task.stops.load(Ordering::Relaxed) {
            task.signal(Signal::SIGTERM);
        }
        let placed = self.group.as_ref().map_or(Ok(()), |group| group.add(child.id()));
        let deadline = Duration::from_nanos(self.stop_ns.saturating_sub(epoch_ns()));
        let watch = Watch::over(group, deadline);
        // Its number stays its own until it has been waited for.
        while let Err(nix::errno::Errno::EINTR) =
            waitid(Id::Pid(group), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
        {}
        drop(watch);
        // What it has left behind goes with it.
        let _ = killpg(group, Signal::SIGKILL);
        locked(&task.group).take();
        let used = ended_processor_ns(child.id()).unwrap_or(0);
        task.processor_ns.fetch_add(used, Ordering::Relaxed);
        let status = child.wait()?;
        placed.map(|()| status)
    }

    /// How the program ended, and what it said last.
    fn ended(&self, status: ExitStatus) -> String {
        let said = tail(&self.raw.join(format!("{}.err", self.name))).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map(|line| format!("; it said last: {}", line.trim())).unwrap_or_default();
        format!("The program `{}` at `{}` ended with {status}{last}", self.name, self.node)
    }

    /// A row of the table, in the words of a transfer.
    fn row(&self, number: u32, execution: &Execution, place: &Path) -> [String; 11] {
        let fetched = self.fetches.get(number as usize).map(|fetched| fetched.output.clone());
        let output = fetched.or_else(|| self.program.output.as_ref().map(|file| place.join(file)));
        let written = output.and_then(|file| fs::metadata(file).ok());
        let bytes = written.map_or(0, |metadata| metadata.len());
        let state = match execution.status.code() {
            Some(code) if code == self.program.exit => "complete",
            Some(_) => "wrong",
            // A signal, most likely ours.
            None => "unfinished",
        };
        let name = self.program.command.first().cloned().unwrap_or_default();
        let stop = if state == "complete" { seconds(execution.end_ns) } else { String::new() };
        let [number, bytes] = [number.into(), bytes].map(|number: u64| number.to_string());
        let none = || "0".to_owned();
        let (begin, state) = (seconds(execution.begin_ns), state.to_owned());
        [number, name, begin, stop, bytes, none(), none(), none(), none(), none(), state]
    }

    /// Writes the table; what was never begun is unfinished.
    fn write(&self, rows: &[[String; 11]]) -> io::Result<()> {
        let mut table =
            csv::Writer::new(File::create(self.raw.join(format!("transfers-{}.csv", self.name)))?);
        table.row(TRANSFERS_HEAD)?;
        rows.iter().try_for_each(|row| table.row(row))?;
        for number in rows.len()..self.program.count as usize {
            let number = number.to_string();
            table.row([&number, "", "", "", "0", "0", "0", "0", "0", "0", "unfinished"])?;
        }
        table.flush()
    }
}

/// Ends a process group at its time, unless it has ended before.
struct Watch {
    over: Arc<(Mutex<bool>, std::sync::Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    fn over(group: Pid, left: Duration) -> Self {
        let over = Arc::new((Mutex::new(false), std::sync::Condvar::new()));
        let seen = over.clone();
        let thread = std::thread::spawn(move || {
            for (left, signal) in [(left, Signal::SIGTERM), (GRACE, Signal::SIGKILL)] {
                let (is_over, changed) = &*seen;
                let waited = changed.wait_timeout_while(locked(is_over), left, |is_over| !*is_over);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
                let _ = killpg(group, signal);
            }
        });
        Watch { over, thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *locked(&self.over.0) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does nothing that panics.
            let _ = thread.join();
        }
    }
}

/// Do two files hold the same bytes?
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let length = one.read(&mut a)?;
        let (Some(a), Some(b)) = (a.get(..length), b.get_mut(..length)) else { return Ok(false) };
        other.read_exact(b)?;
        if a != &*b {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
    }
}

/// The end of a file, which may be of any length.
fn tail(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TOLD_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MAX_TOLD_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn group_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

/// Seconds since the epoch, to the microsecond.
fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000)
}

/// What leads applications of CCNx to the forwarder that this leads those of NDN to.
fn of_ccnx(transport: &str) -> String {
    let socket = Path::new(transport.strip_prefix("unix://").unwrap_or(transport));
    format!("unix:{}", Dialect::Ccnx.application_socket(socket).display())
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    fn work(folder: &Path, command: &[&str], stop_after: Duration) -> Work {
        Work {
            program: ProgramPlan {
                command: command.iter().map(|word| (*word).to_owned()).collect(),
                environment: [("GREETING".to_owned(), "hello".to_owned())].into(),
                count: 2,
                exit: 0,
                serves: false,
                output: Some("file".to_owned()),
                fetch: None,
            },
            name: "p".to_owned(),
            node: "n1".to_owned(),
            group: None,
            raw: folder.to_owned(),
            transport: "unix:///run/x".to_owned(),
            cairn: PathBuf::from("cairn"),
            start_ns: epoch_ns(),
            stop_ns: epoch_ns() + u64::try_from(stop_after.as_nanos()).unwrap(),
            fetches: Vec::new(),
        }
    }

    fn table(folder: &Path) -> Vec<Vec<String>> {
        let table = csv::Reader::new(File::open(folder.join("transfers-p.csv")).unwrap());
        table.skip(1).map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn a_program_is_judged_by_its_exit_and_what_it_says_is_kept() {
        let folder = TestFolder::new("judged");
        let script = "echo $GREETING $CAIRN_NODE $CAIRN_NUMBER; printf 12345 > file; echo no more >&2; exit $CAIRN_NUMBER";
        let task = Task::default();
        work(&folder.0, &["sh", "-c", script], Duration::from_secs(20)).carry_out(&task, None).unwrap();
        let failure = locked(&task.failure).take().unwrap();
        assert!(failure.contains("exit status: 1; it said last: no more"), "{failure}");
        let rows = table(&folder.0);
        assert_eq!((rows[0][4].as_str(), rows[0][10].as_str()), ("5", "complete"));
        assert_eq!((rows[1][3].as_str(), rows[1][10].as_str()), ("", "wrong"));
        let said = fs::read_to_string(folder.0.join("p.out")).unwrap();
        assert_eq!(said, "hello n1 0\nhello n1 1\n");
    }

    #[test]
    fn a_client_whose_file_is_not_what_was_served_has_failed() {
        let folder = TestFolder::new("fetched");
        fs::write(folder.0.join("original"), "12345").unwrap();
        let fetched = |number: u32, text: &str| Fetched {
            launch: crate::driver::Launch {
                program: "sh".into(),
                arguments: vec![
                    "-c".into(),
                    format!("printf {text} > {}/got-{number}", folder.0.display()).into(),
                ],
                environment: Vec::new(),
            },
            output: folder.0.join(format!("got-{number}")),
            original: folder.0.join("original"),
        };
        let mut work = work(&folder.0, &["sh"], Duration::from_secs(20));
        work.fetches = vec![fetched(0, "12345"), fetched(1, "12354")];
        let task = Task::default();
        std::thread::scope(|scope| {
            let working = scope.spawn(|| work.carry_out(&task, None));
            while !folder.0.join("got-1").exists() {
                std::thread::yield_now();
            }
            // Until all are stopped nothing is compared.
            assert!(!working.is_finished());
            task.stops.store(true, Ordering::Relaxed);
            working.join().unwrap().unwrap();
        });
        let rows: Vec<[String; 2]> =
            table(&folder.0).into_iter().map(|row| [row[4].clone(), row[10].clone()]).collect();
        assert_eq!(rows, [["5", "complete"], ["5", "wrong"]]);
        assert!(locked(&task.failure).as_ref().is_some_and(|why| why.contains("is not what was served")));
    }

    #[test]
    fn a_program_that_does_not_end_in_time_is_ended_with_its_children_and_unfinished() {
        let folder = TestFolder::new("late");
        let work = work(&folder.0, &["sh", "-c", "sleep 600 & wait"], Duration::from_millis(200));
        let begin = Instant::now();
        work.carry_out(&Task::default(), None).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(60));
        let states: Vec<String> = table(&folder.0).into_iter().map(|row| row[10].clone()).collect();
        assert_eq!(states, ["unfinished", "unfinished"]);
    }

    #[test]
    fn a_server_that_ends_by_itself_and_a_program_that_is_not_there_lose_the_run() {
        let folder = TestFolder::new("lost");
        let mut serving = work(&folder.0, &["true"], Duration::from_secs(20));
        serving.program.serves = true;
        let task = Task::default();
        serving.carry_out(&task, None).unwrap();
        let mut until_its_time = work(&folder.0, &["sleep", "600"], Duration::from_millis(100));
        until_its_time.program.serves = true;
        let ended = Task::default();
        until_its_time.carry_out(&ended, None).unwrap();
        assert_eq!(*locked(&ended.lost), None, "it was ended at the time that the experiment says");
        assert!(locked(&task.lost).as_ref().is_some_and(|why| why.contains("it was to serve")));
        let task = Task::default();
        work(&folder.0, &["no-such-program"], Duration::from_secs(20)).carry_out(&task, None).unwrap();
        assert!(locked(&task.lost).as_ref().is_some_and(|why| why.contains("`no-such-program`")));
    }
}
