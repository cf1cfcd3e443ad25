//! The thread at which packets come and go, and how others hand it tasks.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;

use packet::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, poll};
use system::Clock;

use super::links::Links;

/// The longest time between two looks: an interface that comes back is noticed by one.
const MAX_PAUSE: Duration = Duration::from_secs(1);

type Task = Box<dyn FnOnce(&mut Links) + Send>;

/// The thread; it ends when dropped.
pub(super) struct Worker {
    tasks: Option<Sender<Task>>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(links: Links) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let (tasks, given) = channel();
        let work = move || work_until_dropped(links, &given, &woken);
        let thread = std::thread::Builder::new().name("links".to_owned()).spawn(work)?;
        Ok(Worker { tasks: Some(tasks), wake, thread: Some(thread) })
    }

    /// Has the thread do something with its links; `None` if it is gone.
    pub(super) fn call<R: Send + 'static>(
        &mut self,
        task: impl FnOnce(&mut Links) -> R + Send + 'static,
    ) -> Option<R> {
        let (give, result) = sync_channel(1);
        let task: Task = Box::new(move |links| drop(give.send(task(links))));
        self.tasks.as_ref()?.send(task).ok()?;
        self.wake.write_all(&[0]).ok()?;
        result.recv().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.tasks = None;
        let woken = self.wake.write_all(&[0]);
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

fn work_until_dropped(mut links: Links, tasks: &Receiver<Task>, mut woken: &UnixStream) {
    let clock = Clock::start();
    loop {
        let (readable, is_woken) = wait(&links, woken, clock.now());
        if is_woken {
            let _ = woken.read(&mut [0; 64]);
        }
        loop {
            match tasks.try_recv() {
                Ok(task) => task(&mut links),
                Err(std::sync::mpsc::TryRecvError::Empty) => break,
                Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
            }
        }
        links.proceed(clock.now(), &readable);
    }
}

/// Waits until something is to be done: the faces on which something came, and whether there are tasks.
fn wait(links: &Links, woken: &UnixStream, now: Instant) -> (Vec<engine::FaceId>, bool) {
    let pause = links.next_deadline().saturating_since(now).min(MAX_PAUSE);
    // A part of a millisecond counts as a whole one, or the loop would spin until it is over.
    let timeout = std::time::Duration::from_nanos(pause.as_nanos().next_multiple_of(1_000_000));
    let timeout = rustix::time::Timespec::try_from(timeout).ok();
    let mut polled = vec![PollFd::from_borrowed_fd(std::os::fd::AsFd::as_fd(woken), PollFlags::IN)];
    let faces: Vec<_> = links.faces().collect();
    for (_, face) in &faces {
        let flags = if face.has_outgoing() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        polled.push(PollFd::from_borrowed_fd(face.descriptor(), flags));
    }
    polled.extend(links.sockets().map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
    // An error is an interruption, and the next look comes soon.
    let _ = poll(&mut polled, timeout.as_ref());
    let is_ready =
        |polled: &PollFd<'_>| polled.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
    let ready = faces.iter().zip(polled.iter().skip(1)).filter(|(_, polled)| is_ready(polled));
    (ready.map(|((face, ..), _)| *face).collect(), polled.first().is_some_and(is_ready))
}
