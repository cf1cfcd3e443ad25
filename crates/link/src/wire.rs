//! One direction of a link in virtual time: frames go in, and come out when and as a tap decides.

use std::collections::BTreeMap;

use packet::time::{Duration, Instant};

use crate::tap::{Direction, FrameTap, TapVerdict};

/// Carries frames from one end to the other under the eyes of a [`FrameTap`], usually an
/// [`Impairment`](crate::Impairment).
///
/// After every [`send`](Wire::send), and whenever [`next_deadline`](Wire::next_deadline) has come, take what
/// has arrived with [`poll_deliver`](Wire::poll_deliver).
///
/// ```
/// use cairn_link::{Impairment, ImpairmentConfig, Wire};
/// use packet::time::{Duration, Instant};
///
/// let delay = Duration::from_millis(10);
/// let slow = Impairment::new(ImpairmentConfig { delay, ..ImpairmentConfig::default() }, 1);
/// let mut wire = Wire::new(slow, 100);
/// wire.send(Instant::ZERO, b"frame".to_vec());
/// assert_eq!(wire.poll_deliver(Instant::ZERO), None);
/// assert_eq!(wire.next_deadline(), Instant::from_millis(10));
/// assert_eq!(wire.poll_deliver(Instant::from_millis(10)), Some(b"frame".to_vec()));
/// ```
#[derive(Clone, Debug)]
pub struct Wire<T> {
    /// What watches the frames.
    pub tap: T,
    /// By time of arrival, then in the order of sending.
    under_way: BTreeMap<(Instant, u64), Vec<u8>>,
    max_under_way: usize,
    serial: u64,
    overflowed: u64,
}

impl<T: FrameTap> Wire<T> {
    /// A wire on which at most `max_under_way` frames are under way; any more are dropped and counted.
    pub fn new(tap: T, max_under_way: usize) -> Self {
        Wire { tap, under_way: BTreeMap::new(), max_under_way, serial: 0, overflowed: 0 }
    }

    /// How many frames are under way.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// How many frames were dropped because too many were under way.
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// When the next frame arrives; [`Instant::NEVER`] if none is under way.
    pub fn next_deadline(&self) -> Instant {
        self.under_way.first_key_value().map_or(Instant::NEVER, |((arrival, _), _)| *arrival)
    }

    /// Puts a frame on the wire.
    pub fn send(&mut self, now: Instant, mut frame: Vec<u8>) {
        match self.tap.on_frame(now, Direction::Out, &mut frame) {
            TapVerdict::Drop | TapVerdict::QueueFull => {}
            TapVerdict::Pass => self.launch(now, Duration::ZERO, frame),
            TapVerdict::Delay(delay) => self.launch(now, delay, frame),
            TapVerdict::Duplicate(first, second) => {
                self.launch(now, first, frame.clone());
                self.launch(now, second, frame);
            }
        }
    }

    /// The next frame that has arrived by now.
    pub fn poll_deliver(&mut self, now: Instant) -> Option<Vec<u8>> {
        if self.next_deadline() > now {
            return None;
        }
        self.under_way.pop_first().map(|(_, frame)| frame)
    }

    fn launch(&mut self, now: Instant, delay: Duration, frame: Vec<u8>) {
        if self.under_way.len() >= self.max_under_way {
            self.overflowed += 1;
            return;
        }
        self.serial += 1;
        self.under_way.insert((now + delay, self.serial), frame);
    }
}
