//! The agents of a run, from "ready" to "done".

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long an agent may take to register its prefixes.
const READY: Duration = Duration::from_secs(60);
/// How long an agent may take to write its tables.
const DONE: Duration = Duration::from_secs(30);

/// Why the clients of a run failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// An agent that ended early, or never was ready.
    #[error("the client at `{node}` {what}; its log is {}", .log.display())]
    Lost {
        /// The node.
        node: String,
        /// What it did.
        what: &'static str,
        /// Where its output is.
        log: PathBuf,
    },
    /// An agent that cannot be talked to.
    #[error("the client at `{node}` cannot be told to start: {source}")]
    Start {
        /// The node.
        node: String,
        /// What failed.
        source: io::Error,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum State {
    Starting,
    Ready,
    Idle,
    Done,
    Gone,
}

#[derive(Debug)]
struct Client {
    node: String,
    child: Child,
    input: Option<ChildStdin>,
    log: PathBuf,
    state: State,
}

/// What agents say, by their place in the list.
type Channel = (Sender<(usize, State)>, Receiver<(usize, State)>);

/// All agents of a run.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    list: Vec<Client>,
    channel: Option<Channel>,
}

impl Clients {
    /// Takes an agent in and listens to what it says.
    pub(crate) fn add(&mut self, node: &str, mut child: Child, log: PathBuf) {
        let (sender, _) = self.channel.get_or_insert_with(channel);
        let (sender, index) = (sender.clone(), self.list.len());
        let (input, output) = (child.stdin.take(), child.stdout.take());
        std::thread::spawn(move || {
            let lines =
                output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok));
            for line in lines {
                let state = match line.split(' ').next() {
                    Some("ready") => State::Ready,
                    Some("idle") => State::Idle,
                    Some("done") => State::Done,
                    _ => continue,
                };
                // The world has ended when nobody listens.
                let _ = sender.send((index, state));
            }
            let _ = sender.send((index, State::Gone));
        });
        self.list.push(Client { node: node.to_owned(), child, input, log, state: State::Starting });
    }

    /// Takes note of what was said. An agent that is gone without being done is an error.
    pub(crate) fn poll(&mut self) -> Result<(), ClientsError> {
        let Some((_, receiver)) = &self.channel else { return Ok(()) };
        while let Ok((index, state)) = receiver.try_recv() {
            let Some(client) = self.list.get_mut(index) else { continue };
            let before = std::mem::replace(&mut client.state, state);
            if state == State::Gone && before != State::Done {
                return Err(client.lost("ended early"));
            }
        }
        Ok(())
    }

    fn wait_for(&mut self, wanted: State, timeout: Duration, what: &'static str) -> Result<(), ClientsError> {
        let deadline = Instant::now() + timeout;
        loop {
            self.poll()?;
            let Some(late) = self.list.iter().find(|client| client.state < wanted) else { return Ok(()) };
            if Instant::now() > deadline {
                return Err(late.lost(what));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until all can start.
    pub(crate) fn wait_ready(&mut self) -> Result<(), ClientsError> {
        self.wait_for(State::Ready, READY, "was not ready in time")
    }

    /// Tells all when the run starts.
    pub(crate) fn start(&mut self, epoch_ns: u64) -> Result<(), ClientsError> {
        for client in &mut self.list {
            let told = client.input.as_mut().map_or(Ok(()), |input| writeln!(input, "{epoch_ns}"));
            told.map_err(|source| ClientsError::Start { node: client.node.clone(), source })?;
        }
        Ok(())
    }

    /// Has every agent done all that has an end?
    pub(crate) fn all_idle(&self) -> bool {
        self.list.iter().all(|client| client.state >= State::Idle)
    }

    /// Ends all, and waits until their tables are written.
    pub(crate) fn stop(&mut self) -> Result<(), ClientsError> {
        for client in &mut self.list {
            // The end of its input ends an agent.
            drop(client.input.take());
        }
        let deadline = Instant::now() + DONE;
        let mut done = Ok(());
        loop {
            // One that is gone does not keep the others from writing their tables.
            if let Err(lost) = self.poll() {
                done = done.and(Err(lost));
                continue;
            }
            let Some(late) = self.list.iter().find(|client| client.state < State::Done) else { break };
            if Instant::now() > deadline {
                done = done.and(Err(late.lost("did not end in time")));
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        for client in &mut self.list {
            if client.state < State::Done {
                // Ended by force, so that the world can end.
                let _ = client.child.kill();
            }
            let _ = client.child.wait();
        }
        done
    }
}

impl Client {
    fn lost(&self, what: &'static str) -> ClientsError {
        ClientsError::Lost { node: self.node.clone(), what, log: self.log.clone() }
    }
}
