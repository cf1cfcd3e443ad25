//! A service of the node: an application behind an inner face, on a thread of its own. Management is one,
//! and what ccnd and ccnr offer, and verification.

mod background;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::thread::JoinHandle;

use packet::Dialect;
use packet::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use system::Clock;

use self::background::{BackgroundShare, Next};
use crate::control::{CreateInnerFace, NodeControl as _};
use crate::remote_control::RemoteControl;
use crate::transport::inner::{InnerFace, InnerFaceGone, InnerLimits, InnerPacket};
use crate::transport::ring::RingEnded;

/// The shortest wait: a deadline that stays in the past must not keep a processor busy.
const MIN_WAIT: Duration = Duration::from_millis(1);

/// What is behind an inner face.
///
/// # Calling order
/// [`proceed`](Self::proceed) comes first, for what is to be sent at the start. Then, over and over:
/// [`take_other`](Self::take_other), [`handle_packet`](Self::handle_packet) if there is a packet, `proceed`.
/// Between two rounds the thread works in the background, or waits if nothing happened.
pub(crate) trait InnerService: Send + 'static {
    /// Whether it goes on without its face, until [`take_other`](Self::take_other) says that it is over.
    const OUTLIVES_FACE: bool = false;

    /// A packet has come by the face.
    fn handle_packet(&mut self, face: &mut InnerFace, packet: InnerPacket);

    /// Takes one thing of those that come to it by another way than its face; false if there is none.
    ///
    /// # Errors
    /// Nothing will come any more: the service is over.
    fn take_other(&mut self) -> Result<bool, RingEnded> {
        Ok(false)
    }

    /// Does what is due, and sends what there is to send.
    fn proceed(&mut self, face: &mut InnerFace);

    /// What becomes readable when there is something beside packets to look at.
    fn other(&self) -> Option<BorrowedFd<'_>>;

    /// When something is due, if nothing happens before.
    fn next_deadline(&self, now: Instant) -> Instant;

    /// Whether there is work that nobody waits for.
    fn has_background_work(&self) -> bool {
        false
    }

    /// Does a small piece of such work.
    fn do_background_work(&mut self) {}
}

/// Makes the face that a service is to be behind.
pub(crate) fn open_face(
    remote: &mut RemoteControl,
    purpose: &str,
    dialect: Dialect,
    limits: InnerLimits,
) -> io::Result<InnerFace> {
    let purpose = purpose.parse().map_err(io::Error::other)?;
    remote.create_inner_face(CreateInnerFace { purpose, dialect, limits }).map_err(io::Error::other)
}

/// The thread of a service, which ends with the data plane. Dropping it waits for that.
pub(crate) struct ServiceThread(Option<JoinHandle<()>>);

impl ServiceThread {
    /// Starts it.
    pub(crate) fn start(
        name: &str,
        clock: Clock,
        face: InnerFace,
        service: impl InnerService,
    ) -> io::Result<Self> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            crate::sys::threads::go_behind_the_data_plane();
            run(clock, face, service);
        })?;
        Ok(ServiceThread(Some(thread)))
    }
}

impl Drop for ServiceThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

fn run<S: InnerService>(clock: Clock, mut face: InnerFace, mut service: S) {
    let mut background = BackgroundShare::default();
    service.proceed(&mut face);
    loop {
        let Ok(mut has_worked) = service.take_other() else { return };
        match face.recv() {
            Ok(Some(packet)) => {
                service.handle_packet(&mut face, packet);
                has_worked = true;
            }
            Err(InnerFaceGone) if !S::OUTLIVES_FACE => return,
            Ok(None) | Err(InnerFaceGone) => {}
        }
        service.proceed(&mut face);
        match background.next(has_worked, service.has_background_work()) {
            Next::Background => service.do_background_work(),
            Next::Wait => wait(clock, &face, &service),
            Next::LookAgain => {}
        }
    }
}

fn wait(clock: Clock, face: &InnerFace, service: &impl InnerService) {
    let now = clock.now();
    let deadline = service.next_deadline(now);
    let timeout = (deadline != Instant::NEVER).then(|| {
        let nanos = deadline.saturating_since(now).max(MIN_WAIT).as_nanos();
        Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
    });
    let face = PollFd::from_borrowed_fd(face.as_fd(), PollFlags::IN);
    // Whatever came of it, there is a look at all.
    let _ = match service.other() {
        Some(other) => poll(&mut [face, PollFd::from_borrowed_fd(other, PollFlags::IN)], timeout.as_ref()),
        None => poll(&mut [face], timeout.as_ref()),
    };
}
