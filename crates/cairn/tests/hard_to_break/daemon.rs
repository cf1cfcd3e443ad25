//! A forwarder in a process of its own, and what the system says about it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use client::{Client, Event, Remote};
use packet::Name;
use packet::ndn::InterestBuilder;
use system::proc_files::{memory_bytes, processor_ns};
use testkit::folder::TestFolder;

/// How long anything may take that takes no time on a machine with nothing else to do.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A running forwarder; it is killed when dropped.
pub(crate) struct Daemon {
    pub(crate) process: Child,
    pub(crate) unix: PathBuf,
    pub(crate) tcp: SocketAddr,
    directory: TestFolder,
    lines: Arc<Mutex<String>>,
}

impl Daemon {
    /// Starts one with at most so many descriptors, or as many as there may be.
    pub(crate) fn start(descriptors: Option<u32>) -> Self {
        let directory = TestFolder::numbered("hard");
        let (unix, config) = (directory.join("nfd.sock"), directory.join("cairn.toml"));
        let text = format!(
            "[udp]\nlisten = ['127.0.0.1:0']\n[tcp]\nlisten = ['127.0.0.1:0']\n[unix]\nlisten = ['{}']\n[websocket]\nlisten = []\n",
            unix.display()
        );
        std::fs::write(&config, text).unwrap();
        let program = env!("CARGO_BIN_EXE_cairn");
        let limit = descriptors.map_or_else(String::new, |most| format!("ulimit -n {most}; "));
        let mut process = Command::new("sh")
            .arg("-c")
            .arg(format!("{limit}exec \"$0\" node run --config \"$1\""))
            .args([program.as_ref(), config.as_os_str()])
            .env_remove("CAIRN_LOG")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let tcp = read_address(&mut log);
        let lines = Arc::new(Mutex::new(String::new()));
        let written = lines.clone();
        // The pipe must not fill.
        std::thread::spawn(move || {
            let mut line = String::new();
            while log.read_line(&mut line).is_ok_and(|read| read > 0) {
                written.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Daemon { process, unix, tcp, directory, lines }
    }

    /// Its configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.directory.join("cairn.toml")
    }

    /// What it has logged since it runs.
    pub(crate) fn log(&self) -> String {
        self.lines.lock().unwrap().clone()
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// A client over the unix socket.
    pub(crate) fn client(&self) -> Client {
        Client::connect(&Remote::Unix(self.unix.clone())).unwrap()
    }

    /// Demands that the forwarder says how it is doing.
    pub(crate) fn assert_answers(&self) {
        let deadline = Instant::now() + SOON;
        loop {
            let name: Name = "/localhost/nfd/status/general".parse().unwrap();
            let asked = InterestBuilder::new(name).can_be_prefix(true).must_be_fresh(true);
            let mut client = self.client();
            client.express(&asked, packet::time::Duration::from_secs(1)).unwrap();
            if matches!(client.next(None), Ok(Some(Event::Data { .. }))) {
                return;
            }
            assert!(Instant::now() < deadline, "no status within {SOON:?}");
        }
    }

    /// Descriptors that the process has open.
    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap().count()
    }

    /// Changes how many descriptors the process may have, and gives how many those were.
    pub(crate) fn limit_descriptors(&self, most: u64) -> u64 {
        let (pid, kind) =
            (rustix::process::Pid::from_child(&self.process), rustix::process::Resource::Nofile);
        let old = rustix::process::getrlimit(kind);
        let new = rustix::process::Rlimit { current: Some(most), maximum: old.maximum };
        rustix::process::prlimit(Some(pid), kind, new).unwrap().current.unwrap()
    }

    /// Memory that the process occupies.
    pub(crate) fn resident_bytes(&self) -> u64 {
        memory_bytes(self.process.id()).unwrap()
    }

    /// Processor time that the threads of the process have used.
    pub(crate) fn processor_time(&self) -> Duration {
        let [used, _] = processor_ns(self.process.id()).unwrap();
        Duration::from_nanos(used)
    }

    /// Asks the process to end, and gives how it did; `None` if it did not in time.
    pub(crate) fn terminate(&mut self) -> Option<std::process::ExitStatus> {
        self.signal(rustix::process::Signal::TERM);
        let deadline = Instant::now() + SOON;
        while Instant::now() < deadline {
            if let Some(status) = self.process.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::yield_now();
        }
        None
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads in the log where TCP is listened for, up to the line that says that all is ready.
fn read_address(log: &mut impl BufRead) -> SocketAddr {
    let (mut line, mut tcp) = (String::new(), None);
    loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the forwarder ended before it ran");
        if let Some((_, address)) = line.split_once("listening at tcp4://") {
            tcp = address.trim().parse().ok();
        }
        if line.trim_end().ends_with("running") {
            return tcp.unwrap();
        }
    }
}

/// Waits until `holds` does.
pub(crate) fn wait_until(what: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {SOON:?}: {}", what());
        std::thread::yield_now();
    }
}
