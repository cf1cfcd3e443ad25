//! Programs that run beside each other, and waiting for what they do.

use std::fs::File;
use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use testkit::folder::TestFolder;

/// A folder of this run, removed in the end.
pub(super) struct Scratch {
    folder: TestFolder,
    next: AtomicU32,
}

impl Scratch {
    pub(super) fn new() -> Result<Self, String> {
        // Paths of unix sockets are short: 107 bytes.
        let folder = TestFolder::absent("interop");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Scratch { folder, next: AtomicU32::new(0) })
    }

    /// A path that nobody else uses.
    pub(super) fn path(&self, what: &str) -> PathBuf {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{number}-{what}"))
    }

    /// The same with something in it.
    pub(super) fn file(&self, what: &str, content: &[u8]) -> Result<PathBuf, String> {
        let path = self.path(what);
        std::fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

/// A program in the background; it is killed when this is dropped.
pub(super) struct Background {
    child: Child,
    log: PathBuf,
}

impl Background {
    /// Starts `command` with `input` on its standard input and everything it says in a file.
    pub(super) fn start(
        command: &mut Command,
        scratch: &Scratch,
        input: Option<&Path>,
    ) -> Result<Self, String> {
        let log = scratch.path("log");
        let open = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
        let out = open(&log)?;
        let errors = out.try_clone().map_err(|error| error.to_string())?;
        let input = match input {
            Some(path) => File::open(path).map_err(|error| format!("{}: {error}", path.display()))?.into(),
            None => Stdio::null(),
        };
        let child = command
            .stdin(input)
            .stdout(out)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("cannot start {:?}: {error}", command.get_program()))?;
        Ok(Background { child, log })
    }

    /// What it said so far.
    pub(super) fn said(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Asks it to end as Ctrl-C does, and waits until it has.
    pub(super) fn interrupt(&mut self) -> Result<(), String> {
        output(Command::new("kill").args(["-INT", &self.child.id().to_string()]), None)?;
        eventually(|| match self.child.try_wait() {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(format!("it does not end:\n{}", self.said())),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Waits until it has said `words`.
    pub(super) fn wait_for(&mut self, words: &str) -> Result<(), String> {
        eventually(|| match (self.said().contains(words), self.child.try_wait()) {
            (true, _) => Ok(()),
            (false, Ok(Some(status))) => Err(format!("it ended with {status}:\n{}", self.said())),
            (false, _) => Err(format!("it did not say `{words}`:\n{}", self.said())),
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tries again and again until it succeeds; gives the last failure when the time is up.
pub(super) fn eventually<T>(mut attempt: impl FnMut() -> Result<T, String>) -> Result<T, String> {
    let deadline = Instant::now() + super::CASE_LIMIT;
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(problem) if Instant::now() > deadline => return Err(problem),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// Runs a program to its end, at most for ten seconds; gives what it printed, or what went wrong.
pub(super) fn output(command: &mut Command, input: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let shown = format!("{command:?}");
    let mut child = command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {shown}: {error}"))?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input.map(<[u8]>::to_vec)) {
        thread::spawn(move || pipe.write_all(&input));
    }
    let (sender, receiver) = channel();
    let process = child.id();
    thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(Duration::from_secs(10)) {
        Ok(Ok(output)) if output.status.success() => Ok(output.stdout),
        Ok(Ok(output)) => Err(format!(
            "{shown}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
        Ok(Err(error)) => Err(format!("{shown}: {error}")),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            let _ = Command::new("kill").arg(process.to_string()).status();
            Err(format!("{shown}: no end after ten seconds"))
        }
    }
}

/// A port of 127.0.0.1 that nobody uses, for UDP and TCP.
pub(super) fn free_port() -> Result<u16, String> {
    for _ in 0..100 {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("there is no free port".to_owned())
}
