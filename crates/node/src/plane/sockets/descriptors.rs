//! Out of descriptors: connections are turned away, and nobody waits in a circle.
//!
//! One descriptor is kept for this. Given up for a moment, it lets a connection be taken and closed, so that
//! the peer knows and the listener falls silent. Where even that one is lost, because another thread took it
//! or the limit was lowered, the listener is not watched until a descriptor can be had again.

use std::fs::File;

use packet::time::{Duration, Instant};
use rustix::event::epoll;

use crate::drop_reason::DropReason;
use crate::plane::sockets::Sockets;
use crate::plane::{DataPlane, Token};

/// How often it is tried to have a descriptor again.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// What is known about the system's want of descriptors.
pub(in crate::plane) struct DescriptorReserve {
    /// A descriptor to give up when there are no more.
    reserve: Option<File>,
    /// Listeners that are not watched.
    resting: Vec<usize>,
    retry_at: Instant,
}

impl DescriptorReserve {
    pub(in crate::plane) fn new() -> Self {
        DescriptorReserve { reserve: any_descriptor(), resting: Vec::new(), retry_at: Instant::NEVER }
    }

    /// When a descriptor is tried for again.
    pub(in crate::plane) fn next_deadline(&self) -> Instant {
        self.retry_at
    }
}

fn any_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}

impl DataPlane {
    /// A connection waits that no descriptor is there for.
    #[cold]
    pub(in crate::plane) fn shed_connection(&mut self, number: usize) {
        // A stranger's connection goes first; the newcomer has another try in the next turn.
        if self.free_descriptor() {
            return;
        }
        self.gone_counters.drops.count(DropReason::OutOfDescriptors);
        self.sockets.descriptors.reserve = None;
        let Some(listener) = self.sockets.listeners.get(number) else { return };
        let _ = listener.accept();
        self.sockets.descriptors.reserve = any_descriptor();
        if self.sockets.descriptors.reserve.is_none() && epoll::delete(&self.sockets.epoll, listener).is_ok()
        {
            tracing::warn!(listener = %listener.uri(), "no descriptor is left: no connections are accepted for now");
            self.sockets.descriptors.resting.push(number);
            self.sockets.descriptors.retry_at = self.now + RETRY_INTERVAL;
        }
    }
}

impl Sockets {
    /// Listens again where that was given up, if there is a descriptor by now.
    pub(in crate::plane) fn listen_again(&mut self, now: Instant) {
        if self.descriptors.retry_at > now {
            return;
        }
        self.descriptors.retry_at = now + RETRY_INTERVAL;
        self.descriptors.reserve = any_descriptor();
        if self.descriptors.reserve.is_none() {
            return;
        }
        self.descriptors.retry_at = Instant::NEVER;
        for number in std::mem::take(&mut self.descriptors.resting) {
            let Some(listener) = self.listeners.get(number) else { continue };
            match self.watch(listener, Token::Listener(number), epoll::EventFlags::IN) {
                Ok(()) => tracing::info!(listener = %listener.uri(), "connections are accepted again"),
                Err(error) => {
                    tracing::warn!(listener = %listener.uri(), %error, "cannot be listened at yet");
                    self.descriptors.resting.push(number);
                    self.descriptors.retry_at = now + RETRY_INTERVAL;
                }
            }
        }
    }
}
