//! The server of metrics: one thread, which waits for nobody in particular.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::connection::Page;
use super::connections::Connections;
use crate::origin::Origin;
use crate::remote_control::RemoteControl;
use crate::time_budget::{PART_FOR_NEIGHBOURS, TimeBudget};

/// The server; it ends when dropped.
pub(crate) struct MetricsServer {
    address: SocketAddr,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Connections taken before there is a look at those that are there: one that comes with a question is
/// heard before others push it out.
const ACCEPTED_AT_ONCE: usize = 4;

impl MetricsServer {
    pub(crate) fn start(listen: SocketAddr, node: RemoteControl) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let now = Instant::now();
        let serving = Serving {
            listener,
            stop: Arc::clone(&stop),
            node,
            connections: Connections::new(),
            pages: 0,
            share: TimeBudget::new(PART_FOR_NEIGHBOURS, now),
            listen_from: now,
        };
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || serving.run())?;
        tracing::info!("metrics at http://{address}/metrics");
        Ok(MetricsServer { address, stop, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        let told = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take().filter(|_| told.is_ok()) {
            let _ = thread.join();
        }
    }
}

struct Serving {
    listener: TcpListener,
    stop: Arc<OwnedFd>,
    node: RemoteControl,
    connections: Connections<TcpStream>,
    /// Pages made so far.
    pages: u64,
    /// When the next may be made. Who asks meanwhile waits, and shares it.
    share: TimeBudget,
    /// When connections are taken again, after one could not be.
    listen_from: Instant,
}

impl Serving {
    fn run(mut self) {
        crate::sys::threads::go_behind_the_data_plane();
        loop {
            let now = Instant::now();
            self.connections.handle_timeout(now);
            if self.connections.wait_for_page() && now >= self.share.next() {
                self.make_page(now);
            }
            let Some(is_ready) = self.wait() else { return };
            self.connections.handle_ready(Instant::now(), is_ready);
            self.accept();
        }
    }

    fn make_page(&mut self, now: Instant) {
        self.pages += 1;
        let text = super::text::text(&self.node, &self.connections.counters).into();
        let then = Instant::now();
        self.share.spend(now, then);
        self.connections.give(then, &Page { number: self.pages, text });
    }

    /// Waits until there is something to do, and tells which connections are ready; `None` when it is over.
    fn wait(&self) -> Option<Vec<bool>> {
        let now = Instant::now();
        let listens = if now >= self.listen_from { PollFlags::IN } else { PollFlags::empty() };
        let page = self.connections.wait_for_page().then_some(self.share.next());
        let again = listens.is_empty().then_some(self.listen_from);
        let deadline = [self.connections.next_deadline(), page, again].into_iter().flatten().min();
        let timeout = deadline.map(|deadline| {
            // Rounded up: who wakes too early looks again.
            let left = deadline.saturating_duration_since(now) + Duration::from_micros(100);
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
        });
        let stop = PollFd::from_borrowed_fd(self.stop.as_fd(), PollFlags::IN);
        let mut waited = vec![stop, PollFd::new(&self.listener, listens)];
        waited.extend(self.connections.all.iter().map(|one| PollFd::new(&one.stream, one.interest())));
        // Whatever came of it, there is a look.
        let _ = poll(&mut waited, timeout.as_ref());
        let mut is_ready = waited.iter().map(|one| !one.revents().is_empty());
        let (is_over, _) = (is_ready.next(), is_ready.next());
        (is_over != Some(true)).then(|| is_ready.collect())
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_ONCE {
            let now = Instant::now();
            if now < self.listen_from {
                return;
            }
            match self.listener.accept() {
                Ok((stream, peer)) if stream.set_nonblocking(true).is_ok() => {
                    self.connections.add(now, stream, Origin::of_address(peer.ip()));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // Out of descriptors, most likely; what waits goes on waiting in the system.
                Err(_) => self.listen_from = now + crate::ACCEPT_RETRY_INTERVAL,
            }
        }
    }
}
