//! A cluster of one machine: Slurm's controller and its daemon, with all their files in one folder.
//!
//! Nothing is installed and no service started; both end with the test. They believe every user
//! (`auth/none`), so they listen on this machine's own address alone.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::folder::TestFolder;
use testkit::needs::needed;

/// Where `cargo xtask ci` unpacks Slurm.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/slurm");

/// A cluster; it ends when it is dropped.
pub(crate) struct Cluster {
    pub(crate) folder: TestFolder,
    daemons: Vec<Child>,
}

/// Waits until something is so, and fails when it is not in good time.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn unpacked(name: &str) -> PathBuf {
    Path::new(UNPACKED).join(name)
}

/// Debian's packages say which of several builds a program is.
fn daemon(name: &str) -> Result<PathBuf, String> {
    let places = [unpacked(&format!("usr/sbin/{name}-wlm")), unpacked(&format!("usr/sbin/{name}"))];
    let found = places.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| format!("{name} is not there; `cargo xtask ci` unpacks it"))
}

/// The folders below a folder of libraries: that of the architecture, and that of Slurm's plugins in it.
fn libraries() -> Result<(PathBuf, PathBuf), String> {
    let folders = fs::read_dir(unpacked("usr/lib")).map_err(|error| format!("{UNPACKED}: {error}"))?;
    let mut folders = folders.flatten().map(|entry| entry.path());
    let found = folders.find_map(|folder| {
        let plugins = folder.join("slurm-wlm");
        plugins.is_dir().then_some((folder, plugins))
    });
    found.ok_or_else(|| format!("{UNPACKED} has no plugins"))
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

impl Cluster {
    /// `None` where the machine has no Slurm and the test run is not strict.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let programs = daemon("slurmctld").and_then(|one| Ok((one, daemon("slurmd")?)));
        let (controller, machine) = needed("Slurm", programs)?;
        let steps = daemon("slurmstepd").unwrap();
        let mut folder = TestFolder::new(&format!("slurm-{name}"));
        for part in ["state", "spool"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        folder.0 = folder.canonicalize().unwrap();
        let mut cluster = Cluster { folder, daemons: Vec::new() };
        fs::write(cluster.configuration(), cluster.settings()).unwrap();
        let configuration = cluster.configuration();
        cluster.spawn(&controller, &["-D", "-f"], &configuration, &[]);
        let steps = steps.display().to_string();
        cluster.spawn(&machine, &["-D", "-f"], &configuration, &["-d", &steps]);
        until("Slurm's machine", || {
            let output = cluster.command("sinfo").args(["--noheader", "--format=%T"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim() == "idle"
        });
        Some(cluster)
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    fn settings(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap().to_owned();
        let (user, folder) = (rustix::process::geteuid().as_raw(), self.folder.display());
        let (_, plugins) = libraries().unwrap();
        format!(
            "ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={}
SlurmdPort={}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
PluginDir={}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
",
            free_port(),
            free_port(),
            plugins.display(),
        )
    }

    fn spawn(&mut self, program: &Path, before: &[&str], configuration: &Path, after: &[&str]) {
        let log = fs::File::create(self.folder.join(format!("daemon-{}.txt", self.daemons.len()))).unwrap();
        let mut command = self.command(&program.display().to_string());
        command.args(before).arg(configuration).args(after);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.daemons.push(command.spawn().unwrap());
    }

    /// A command that finds this cluster; one without a slash is one of Slurm's.
    pub(crate) fn command(&self, program: &str) -> Command {
        let place = if program.contains('/') { program.into() } else { unpacked("usr/bin").join(program) };
        let mut command = Command::new(place);
        let (folder, plugins) = libraries().unwrap();
        command.env("LD_LIBRARY_PATH", format!("{}:{}", folder.display(), plugins.display()));
        command.env("SLURM_CONF", self.configuration()).env("CAIRN_SLURM", unpacked("usr/bin"));
        command
    }

    /// What one of Slurm's commands prints.
    pub(crate) fn must(&self, program: &str, words: &[&str]) -> String {
        let output = self.command(program).args(words).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The number of the job that was submitted last.
    pub(crate) fn last_job(&self) -> String {
        let shown = self.must("scontrol", &["show", "job", "--oneliner"]);
        let numbers = shown.lines().filter_map(|line| {
            let number = line.split("ArrayJobId=").nth(1)?.split(' ').next()?;
            number.parse::<u64>().ok()
        });
        numbers.max().unwrap().to_string()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Jobs first: what they have started is not a child of ours.
        let _ = self.command("scancel").args(["--me", "--signal=KILL"]).output();
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
