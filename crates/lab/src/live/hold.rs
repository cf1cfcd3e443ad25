//! Holding a network: as long as the holder runs, the network is there.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::reply::{MAX_LINE_BYTES, Reply};
use super::{LiveError, NetworkFolder};
use crate::backend::netns::conduct::{begin, follow};
use crate::order::{Event, Order, Request};

/// How long whoever asks may take to say what, and the world to do it.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How often the holder looks whether somebody asks, or wants it to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Builds the network of an order and holds it until `stop`, or until somebody asks for its end. The folder
/// of `place` is there and empty.
///
/// # Errors
///
/// It could not be built.
pub fn hold(
    order: &Order,
    place: &NetworkFolder,
    stop: &(impl Fn() -> bool + Sync),
    mut observe: impl FnMut(&Event),
) -> Result<(), LiveError> {
    let io = |source| LiveError::Holder { network: place.name().to_owned(), source };
    let listener = UnixListener::bind(place.socket()).map_err(io)?;
    listener.set_nonblocking(true).map_err(io)?;
    let mut guard = begin(order, place.folder(), &mut observe).map_err(io)?;
    let (done, answers) = channel();
    let channel = CommandChannel {
        input: Mutex::new(guard.stdin.take()),
        answers: Mutex::new(answers),
        ended: Arc::default(),
        socket: Mutex::new(Some(place.socket())),
    };
    let ended = channel.ended.clone();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| channel.serve(&listener, stop));
        let outcome = follow(guard, |event| {
            tell(event, &done);
            observe(event);
        });
        ended.store(true, Ordering::Relaxed);
        outcome
    });
    channel.close();
    Ok(outcome?)
}

fn tell(event: &Event, done: &Sender<Option<String>>) {
    if let Event::Changed { refused } = event {
        // Whoever asked may have given up.
        let _ = done.send(refused.clone());
    }
}

/// Who takes requests and passes them on to the world.
struct CommandChannel {
    input: Mutex<Option<ChildStdin>>,
    answers: Mutex<Receiver<Option<String>>>,
    /// The world is gone.
    ended: Arc<AtomicBool>,
    /// Where it is asked, until it is closed.
    socket: Mutex<Option<PathBuf>>,
}

impl CommandChannel {
    /// Nobody is to find what is no longer there. What a later network of that name has made is not touched.
    fn close(&self) {
        if let Some(socket) = self.socket.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = std::fs::remove_file(socket);
        }
    }

    /// Answers one after the other until the world is gone.
    fn serve(&self, listener: &UnixListener, stop: &(impl Fn() -> bool + Sync)) {
        let mut asked = false;
        while !self.ended.load(Ordering::Relaxed) {
            if stop() && !asked {
                asked = true;
                // A world that is gone needs not be told.
                let _ = self.pass_on(&Request::Down);
            }
            match listener.accept() {
                Ok((stream, _)) => {
                    // Who has gone away needs no answer.
                    let _ = self.answer(&stream);
                }
                Err(_) => std::thread::sleep(CHECK_INTERVAL),
            }
        }
    }

    fn answer(&self, stream: &UnixStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.set_write_timeout(Some(Duration::from_secs(1)))?;
        let mut line = String::new();
        BufReader::new(stream.take(MAX_LINE_BYTES)).read_line(&mut line)?;
        if line.is_empty() {
            // Somebody has looked whether we are here.
            return Ok(());
        }
        let refused = match serde_json::from_str::<Request>(&line) {
            Ok(request) => self.carry_out(&request).unwrap_or_else(|error| Some(error.to_string())),
            Err(error) => Some(format!("this is no request: {error}")),
        };
        let mut stream = stream;
        writeln!(stream, "{}", serde_json::to_string(&Reply { refused })?)
    }

    /// Has the world do something. Why it refused, if it did.
    fn carry_out(&self, request: &Request) -> io::Result<Option<String>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        // What came too late for those who asked is not the answer to this.
        while answers.try_recv().is_ok() {}
        self.pass_on(request)?;
        match request {
            Request::Down => {
                let deadline = std::time::Instant::now() + TIMEOUT;
                while !self.ended.load(Ordering::Relaxed) && std::time::Instant::now() < deadline {
                    std::thread::sleep(CHECK_INTERVAL);
                }
                if !self.ended.load(Ordering::Relaxed) {
                    return Ok(Some("it does not end".to_owned()));
                }
                // Before whoever asked is told, and looks.
                self.close();
                Ok(None)
            }
            Request::Change(_) => answers.recv_timeout(TIMEOUT).map_err(io::Error::other),
        }
    }

    fn pass_on(&self, request: &Request) -> io::Result<()> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(input) = input.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
        writeln!(input, "{}", serde_json::to_string(request)?)?;
        input.flush()
    }
}
