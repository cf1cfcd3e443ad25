//! One program of one's own, run as often as it shall run, and what came of it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use formats::csv;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use packet::Dialect;

use super::watch::Watch;
use super::{Fetched, Task, UnfinishedGuard, locked};
use crate::agent::TRANSFERS_HEAD;
use crate::backend::machine::cgroup::Group;
use crate::backend::machine::processes::ended_processor_ns;
use crate::experiment::plan::{ProgramPlan, application_socket};
use crate::wall_clock::epoch_ns;

/// How much of what a program said is looked at when it has failed.
const MAX_TOLD_BYTES: u64 = 4096;

/// The work of one thread.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) program: ProgramPlan,
    pub(super) name: String,
    pub(super) node: String,
    pub(super) group: Option<Group>,
    pub(super) raw: PathBuf,
    pub(super) transport: String,
    pub(super) cairn: PathBuf,
    pub(super) start_ns: u64,
    pub(super) stop_ns: u64,
    pub(super) fetches: Vec<Fetched>,
}

/// One time that a program ran.
struct Execution {
    begin_ns: u64,
    end_ns: u64,
    /// What it has written, or fetched.
    bytes: u64,
    outcome: Outcome,
}

/// What came of it, in the words of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Complete,
    Wrong,
    /// It was ended, or never begun.
    Unfinished,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Wrong => "wrong",
            Outcome::Unfinished => "unfinished",
        }
    }
}

impl Work {
    /// Runs the program as often as it shall run, and writes down what came of it. What was fetched is
    /// compared when all have ended: now others are measured. One less is unfinished when `counted` goes.
    pub(super) fn carry_out(&self, task: &Task, counted: Option<UnfinishedGuard>) -> io::Result<()> {
        let mut executions = self.run(task)?;
        drop(counted);
        if self.program.serves {
            return Ok(());
        }
        while !self.fetches.is_empty() && !task.stops.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        for (execution, fetched) in executions.iter_mut().zip(&self.fetches) {
            if execution.outcome == Outcome::Complete && !is_same(&fetched.output, &fetched.original)? {
                execution.outcome = Outcome::Wrong;
                let text = format!("What `{}` fetched at `{}` is not what was served.", self.name, self.node);
                locked(&task.failure).get_or_insert(text);
            }
            // It is in memory, and has served.
            let _ = fs::remove_file(&fetched.output);
        }
        self.write(&executions)
    }

    fn run(&self, task: &Task) -> io::Result<Vec<Execution>> {
        let place = self.raw.join(&self.node).join(&self.name);
        fs::create_dir_all(&place)?;
        while epoch_ns() < self.start_ns {
            if task.stops.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let left = Duration::from_nanos(self.start_ns.saturating_sub(epoch_ns()));
            std::thread::sleep(left.min(Duration::from_millis(10)));
        }
        let mut executions = Vec::new();
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
            let outcome = match status.code() {
                Some(code) if code == self.program.exit => Outcome::Complete,
                Some(_) => Outcome::Wrong,
                // A signal, most likely ours.
                None => Outcome::Unfinished,
            };
            let bytes = self.written(number, &place);
            executions.push(Execution { begin_ns, end_ns: epoch_ns(), bytes, outcome });
        }
        Ok(executions)
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

    /// Bytes that the program has written that time, or fetched.
    fn written(&self, number: u32, place: &Path) -> u64 {
        let fetched = self.fetches.get(number as usize).map(|fetched| fetched.output.clone());
        let output = fetched.or_else(|| self.program.output.as_ref().map(|file| place.join(file)));
        output.and_then(|file| fs::metadata(file).ok()).map_or(0, |metadata| metadata.len())
    }

    /// Writes the table; what was never begun is unfinished.
    fn write(&self, executions: &[Execution]) -> io::Result<()> {
        let file = File::create(self.raw.join(format!("transfers-{}.csv", self.name)))?;
        let mut table = csv::Writer::new(file);
        table.row(TRANSFERS_HEAD)?;
        let name = self.program.command.first().map_or("", String::as_str);
        for number in 0..self.program.count {
            let (name, begin, stop, bytes, outcome) = match executions.get(number as usize) {
                Some(Execution { begin_ns, end_ns, bytes, outcome }) => {
                    let ended = *outcome == Outcome::Complete;
                    let stop = if ended { seconds(*end_ns) } else { String::new() };
                    (name, seconds(*begin_ns), stop, *bytes, *outcome)
                }
                None => ("", String::new(), String::new(), 0, Outcome::Unfinished),
            };
            let [number, bytes] = [u64::from(number), bytes].map(|number| number.to_string());
            table.row([&number, name, &begin, &stop, &bytes, "0", "0", "0", "0", "0", outcome.word()])?;
        }
        table.flush()
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
    format!("unix:{}", application_socket(Dialect::Ccnx, socket).display())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

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
