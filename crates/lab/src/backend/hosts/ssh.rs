//! The connection to a host: the system's `ssh`, started once for each host, and what is said over it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use super::inventory::Host;
use super::protocol::{Line, Reply, Request};
use super::remote::PROGRAM;
use crate::order::{Event, RUN_PREFIX};

/// How long a connection may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Something that came from a host.
#[derive(Debug)]
pub(super) enum Received {
    /// An answer, and the bytes that came with it, and when.
    Reply(Reply, Vec<u8>, u64),
    /// Something happened.
    Event(Event),
    /// The connection ended.
    Gone,
}

/// How `ssh` is called for one host.
#[derive(Debug)]
pub(super) struct Ssh<'a> {
    /// This program, which keeps `ssh` from outliving the lab.
    pub(super) cairn: &'a Path,
    /// The folder for the socket by which calls share a connection.
    pub(super) sockets: &'a Path,
    /// Where what it says on standard error goes.
    pub(super) log: PathBuf,
    pub(super) node: &'a str,
    pub(super) host: &'a Host,
    pub(super) options: &'a [String],
}

impl Ssh<'_> {
    fn command(&self, more: &[&str], remote: Option<&str>) -> io::Result<Command> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(self.cairn);
        command.args(["lab", "internal", "leash", "--", "ssh"]);
        command.arg("-S").arg(self.sockets.join(self.node));
        command.args(["-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"]);
        command.args(self.options).args(&self.host.options).args(more);
        command.arg("--").arg(self.host.ssh.as_deref().unwrap_or(self.node)).args(remote);
        let log = File::options().create(true).append(true).open(&self.log)?;
        // Out of the terminal's group: Ctrl-C is for the lab, and its end is what ends us, in order.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
        Ok(command)
    }

    fn said(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join(" | ")
    }

    fn failed(&self, what: &str) -> io::Error {
        let to = self.host.ssh.as_deref().unwrap_or(self.node);
        io::Error::other(format!("host of `{}` ({to}): {what}; ssh said: {}", self.node, self.said()))
    }

    /// Opens the connection that all calls share. It stays until the child is killed.
    fn open(&self) -> io::Result<Child> {
        let mut master = self.command(&["-M", "-N"], None)?.spawn()?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = master.try_wait()? {
                return Err(self.failed(&format!("no connection ({status})")));
            }
            if self.sockets.join(self.node).exists()
                && self.command(&["-O", "check"], None)?.stderr(Stdio::null()).status()?.success()
            {
                return Ok(master);
            }
            if Instant::now() > deadline {
                master.kill()?;
                master.wait()?;
                return Err(self.failed("no connection in time"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn output(&self, remote: &str) -> io::Result<Output> {
        self.command(&[], Some(remote))?.stdout(Stdio::piped()).spawn()?.wait_with_output()
    }

    /// The program to use there: one that is there in our version, or else a copy of ours in the run's
    /// folder.
    fn program(&self, folder: &str) -> io::Result<String> {
        let ours = Command::new(self.cairn).arg("--version").output()?.stdout;
        if let Some(there) = &self.host.cairn {
            let there = quoted(&there.to_string_lossy());
            let theirs = self.output(&format!("{there} --version"))?;
            if theirs.stdout == ours {
                return Ok(there);
            }
            let (theirs, ours) = (String::from_utf8_lossy(&theirs.stdout), String::from_utf8_lossy(&ours));
            let (theirs, ours) = (theirs.trim(), ours.trim());
            return Err(self.failed(&format!(
                "{there} is `{theirs}` and not `{ours}`; leave `cairn` out to have it copied"
            )));
        }
        let there = quoted(&format!("{folder}/{PROGRAM}"));
        let mut copy = self.command(&[], Some(&format!("cat > {there} && chmod 700 {there}")))?;
        let status = copy.stdin(File::open(self.cairn)?).status()?;
        if status.success() { Ok(there) } else { Err(self.failed("the program cannot be copied")) }
    }

    /// Connects, and starts the remote. What it says goes to `sender`, with `index`.
    pub(super) fn start(self, index: usize, sender: Sender<(usize, Received)>) -> io::Result<Connection> {
        let master = KilledOnDrop(self.open()?);
        let above = quoted(&self.host.folder.to_string_lossy());
        let made = self.output(&format!("mktemp -d {above}/{RUN_PREFIX}XXXXXX"))?;
        let folder = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        if !made.status.success() || folder.is_empty() {
            return Err(self.failed(&format!("no folder can be made in {above}")));
        }
        match self.start_remote(&folder, index, sender) {
            Ok((session, input)) => Ok(Connection { input, session, _master: master, log: self.log }),
            Err(error) => {
                // The remote would have taken it away; without one nobody else does.
                let _ = self.output(&format!("rm -rf {}", quoted(&folder)));
                Err(error)
            }
        }
    }

    /// Starts the remote in its folder, and waits until it runs: whoever ends the session earlier leaves a
    /// folder that nobody takes away.
    fn start_remote(
        &self,
        folder: &str,
        index: usize,
        sender: Sender<(usize, Received)>,
    ) -> io::Result<(KilledOnDrop, Option<ChildStdin>)> {
        let program = self.program(folder)?;
        let line = format!("exec {program} lab internal remote {}", quoted(folder));
        let mut command = self.command(&[], Some(&line))?;
        let mut session = KilledOnDrop(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let (input, output) = (session.0.stdin.take(), session.0.stdout.take());
        let (ready, is_ready) = channel();
        std::thread::spawn(move || {
            if let Some(output) = output {
                // However it ended, it did.
                let _ = listen(output, index, &sender, &ready);
            }
            drop(ready);
            let _ = sender.send((index, Received::Gone));
        });
        match is_ready.recv_timeout(TIMEOUT) {
            Ok(()) => Ok((session, input)),
            Err(_) => Err(self.failed("the remote does not start")),
        }
    }
}

/// Passes on what a remote says until it says no more; that it is ready goes to `ready`.
fn listen(
    output: impl Read,
    index: usize,
    sender: &Sender<(usize, Received)>,
    ready: &Sender<()>,
) -> io::Result<()> {
    let mut output = BufReader::new(output);
    let mut line = String::new();
    loop {
        line.clear();
        if output.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let now = crate::wall_clock::epoch_ns();
        let heard = match serde_json::from_str(&line) {
            Ok(Line::Reply(Reply::File { bytes })) => {
                let mut content = Vec::new();
                output.by_ref().take(bytes).read_to_end(&mut content)?;
                Received::Reply(Reply::File { bytes }, content, now)
            }
            Ok(Line::Reply(Reply::Ready)) => {
                // Who waited for it may have given up.
                let _ = ready.send(());
                continue;
            }
            Ok(Line::Reply(reply)) => Received::Reply(reply, Vec::new(), now),
            Ok(Line::Event(event)) => Received::Event(event),
            // A login script that greets.
            Err(_) => continue,
        };
        if sender.send((index, heard)).is_err() {
            return Ok(());
        }
    }
}

/// A text as a shell reads it as one word.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A child that is ended when it is dropped.
#[derive(Debug)]
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        // One that has ended needs no killing, but must be waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The remote on a host. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    input: Option<ChildStdin>,
    session: KilledOnDrop,
    /// After the session, in the order of the fields.
    _master: KilledOnDrop,
    log: PathBuf,
}

impl Connection {
    pub(super) fn ask(&mut self, request: &Request) -> io::Result<()> {
        let mut line = serde_json::to_string(request).map_err(io::Error::other)?;
        line.push('\n');
        let Some(input) = &mut self.input else { return Err(io::ErrorKind::BrokenPipe.into()) };
        input.write_all(line.as_bytes())?;
        input.flush()
    }

    /// Where `ssh` and the remote say what went wrong.
    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    /// Ends the remote in order and waits until it has taken everything away.
    pub(super) fn close(mut self) {
        drop(self.input.take());
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline && matches!(self.session.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_quotes_and_spaces_is_one_word_for_the_shell() {
        let path = "/tmp/it's a 'place'; echo $HOME";
        let said = Command::new("sh").args(["-c", &format!("printf %s {}", quoted(path))]).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap(), path);
    }

    #[test]
    fn replies_events_and_files_are_told_apart_in_one_stream() {
        let stream = b"Welcome!\n{\"reply\":\"ready\"}\n{\"reply\":\"done\"}\n{\"reply\":\"file\",\"bytes\":5}\n{\"a\"\n{\"event\":\"note\",\"text\":\"x\"}\n";
        let ((sender, receiver), (ready, is_ready)) = (channel(), channel());
        listen(&stream[..], 4, &sender, &ready).unwrap();
        drop(sender);
        assert_eq!(is_ready.try_iter().count(), 1);
        let heard: Vec<_> = receiver.into_iter().map(|(_, heard)| heard).collect();
        assert!(matches!(heard[0], Received::Reply(Reply::Done, ..)));
        assert!(
            matches!(&heard[1], Received::Reply(Reply::File { bytes: 5 }, content, _) if content == b"{\"a\"\n")
        );
        assert!(matches!(&heard[2], Received::Event(Event::Note { text }) if text == "x"));
    }
}
