//! A bounded queue between two threads of the process, with a descriptor that is readable while something may
//! wait in it.
//!
//! Its places are made once: what goes through costs no allocation. A wake-up is a system call, made only
//! when the other side has not been woken already.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;

use rustix::event::{EventfdFlags, eventfd};

/// Wakes one side. Whoever sleeps on its descriptor wakes when it is raised.
#[derive(Debug)]
pub(crate) struct Signal {
    event: OwnedFd,
    /// Whether the descriptor has been made readable and not been read since, or a little later.
    is_raised: AtomicBool,
}

impl Signal {
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Arc::new(Signal { event, is_raised: AtomicBool::new(false) }))
    }

    /// To be called behind what there is to see, such as a push, and by one thread at a time: of two, one
    /// could leave the note behind after the other's was taken away, and nobody would be woken.
    pub(crate) fn raise(&self) {
        // Noted after it is done: whoever sees the note can read the descriptor.
        if !self.is_raised.load(SeqCst) {
            // It cannot fail but for a counter that is full, and then the descriptor is readable.
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
            self.is_raised.store(true, SeqCst);
        }
    }

    /// To be called before the last look at what there is to see.
    pub(crate) fn lower(&self) {
        if self.is_raised.load(SeqCst) {
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
            self.is_raised.store(false, SeqCst);
        }
    }
}

impl AsFd for Signal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// What may wait in a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingLimits {
    pub(crate) items: usize,
    /// One item that is larger than this alone may wait if nothing else does.
    pub(crate) bytes: usize,
}

#[derive(Debug)]
struct Shared {
    limits: RingLimits,
    items: AtomicUsize,
    bytes: AtomicUsize,
    /// Whether the sender waits for room.
    wants_room: AtomicBool,
    /// Whether nobody takes anything any more.
    is_closed: AtomicBool,
}

impl Shared {
    fn has_room_for(&self, bytes: usize) -> bool {
        let (items, waits) = (self.items.load(SeqCst), self.bytes.load(SeqCst));
        items < self.limits.items && (waits == 0 || waits.saturating_add(bytes) <= self.limits.bytes)
    }

    /// Whether so little waits that it is worth while to wake a sender, whose item may be a large one.
    fn is_half_empty(&self) -> bool {
        let bytes = self.bytes.load(SeqCst);
        self.items.load(SeqCst) <= self.limits.items / 2 && bytes <= self.limits.bytes / 2
    }
}

/// The side that puts items in.
#[derive(Debug)]
pub(crate) struct RingSender<T> {
    /// `None` when this side is being dropped: the end must be there before the other side is woken.
    queue: Option<mpsc::SyncSender<(T, usize)>>,
    shared: Arc<Shared>,
    receiver: Arc<Signal>,
}

/// The side that takes items out.
#[derive(Debug)]
pub(crate) struct RingReceiver<T> {
    queue: Option<mpsc::Receiver<(T, usize)>>,
    shared: Arc<Shared>,
    own: Arc<Signal>,
    sender: Arc<Signal>,
}

/// Why an item was not put into a ring.
#[derive(Debug)]
pub(crate) enum Refused<T> {
    /// As much waits as may.
    Full(T),
    /// Nobody will take it.
    Closed(T),
}

/// Nothing waits, and nothing more will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingEnded;

/// A ring. `receiver` is raised when items come, `sender` when there is room again for one who asked.
pub(crate) fn ring<T>(
    limits: RingLimits,
    sender: Arc<Signal>,
    receiver: Arc<Signal>,
) -> (RingSender<T>, RingReceiver<T>) {
    let limits = RingLimits { items: limits.items.max(1), ..limits };
    let (input, output) = mpsc::sync_channel(limits.items);
    let shared = Arc::new(Shared {
        limits,
        items: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        wants_room: AtomicBool::new(false),
        is_closed: AtomicBool::new(false),
    });
    (
        RingSender { queue: Some(input), shared: shared.clone(), receiver: receiver.clone() },
        RingReceiver { queue: Some(output), shared, own: receiver, sender },
    )
}

impl<T> RingSender<T> {
    /// Puts an item in that counts as so many bytes. The other side need not notice before it is
    /// [woken](Self::wake).
    pub(crate) fn push(&mut self, item: T, bytes: usize) -> Result<(), Refused<T>> {
        let Some(queue) = &self.queue else { return Err(Refused::Closed(item)) };
        if !self.shared.has_room_for(bytes) {
            // What waits in a ring whose other side has gone makes no room any more: whoever waited for it
            // would wait for ever.
            let is_closed = self.shared.is_closed.load(SeqCst);
            return Err(if is_closed { Refused::Closed(item) } else { Refused::Full(item) });
        }
        // Counted first: the other side may take it at once.
        self.shared.items.fetch_add(1, SeqCst);
        self.shared.bytes.fetch_add(bytes, SeqCst);
        let refused = match queue.try_send((item, bytes)) {
            Ok(()) => return Ok(()),
            Err(mpsc::TrySendError::Full((item, _))) => Refused::Full(item),
            Err(mpsc::TrySendError::Disconnected((item, _))) => Refused::Closed(item),
        };
        self.shared.items.fetch_sub(1, SeqCst);
        self.shared.bytes.fetch_sub(bytes, SeqCst);
        Err(refused)
    }

    /// Wakes the other side.
    pub(crate) fn wake(&self) {
        self.receiver.raise();
    }

    /// Has this side woken when half of the ring is empty. False if there is nothing to wait for: an item of
    /// so many bytes has room, or the other side has closed.
    pub(crate) fn ask_for_room(&self, bytes: usize) -> bool {
        self.shared.wants_room.store(true, SeqCst);
        !self.shared.has_room_for(bytes) && !self.shared.is_closed.load(SeqCst)
    }

    /// Whether an item of so many bytes has room.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        self.shared.has_room_for(bytes)
    }

    /// Whether no more than half of the room is taken.
    pub(crate) fn is_half_empty(&self) -> bool {
        self.shared.is_half_empty()
    }

    /// What waits, in bytes.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.shared.bytes.load(SeqCst)
    }
}

impl<T> RingReceiver<T> {
    /// Takes the next item, with the bytes that it counts as; `None` if nothing waits at present, and then
    /// the descriptor is not readable until something comes.
    pub(crate) fn pop(&mut self) -> Result<Option<(T, usize)>, RingEnded> {
        let Some(queue) = &self.queue else { return Err(RingEnded) };
        let popped = match queue.try_recv() {
            Err(mpsc::TryRecvError::Empty) => {
                self.own.lower();
                // What came before that is seen now; what comes later raises the signal anew.
                queue.try_recv()
            }
            popped => popped,
        };
        match popped {
            Ok((item, bytes)) => {
                self.shared.items.fetch_sub(1, SeqCst);
                self.shared.bytes.fetch_sub(bytes, SeqCst);
                Ok(Some((item, bytes)))
            }
            Err(mpsc::TryRecvError::Empty) => Ok(None),
            Err(mpsc::TryRecvError::Disconnected) => Err(RingEnded),
        }
    }

    /// Wakes a sender that waits for room, if half of the ring is empty. To be called after some items have
    /// been taken.
    pub(crate) fn tell_of_room(&self) {
        if self.shared.wants_room.load(SeqCst) && self.shared.is_half_empty() {
            self.shared.wants_room.store(false, SeqCst);
            self.sender.raise();
        }
    }

    /// Whether something waits.
    pub(crate) fn has_items(&self) -> bool {
        self.shared.items.load(SeqCst) > 0
    }
}

impl<T> AsFd for RingReceiver<T> {
    /// Readable while something waits, or the other side has closed and that has not been seen.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.own.as_fd()
    }
}

impl<T> Drop for RingSender<T> {
    fn drop(&mut self) {
        self.queue = None;
        self.receiver.raise();
    }
}

impl<T> Drop for RingReceiver<T> {
    fn drop(&mut self) {
        self.queue = None;
        self.shared.is_closed.store(true, SeqCst);
        self.sender.raise();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMITS: RingLimits = RingLimits { items: 4, bytes: 100 };

    fn new_ring(limits: RingLimits) -> (RingSender<u64>, RingReceiver<u64>, Arc<Signal>) {
        let (sender, receiver) = (Signal::new().unwrap(), Signal::new().unwrap());
        let (input, output) = ring(limits, sender.clone(), receiver);
        (input, output, sender)
    }

    fn is_readable(source: &impl AsFd, timeout: Duration) -> bool {
        let mut descriptors = [rustix::event::PollFd::new(source, rustix::event::PollFlags::IN)];
        let timeout = rustix::event::Timespec::try_from(timeout).unwrap();
        rustix::event::poll(&mut descriptors, Some(&timeout)).unwrap() > 0
    }

    #[test]
    fn what_is_too_much_comes_back_whether_it_is_too_many_or_too_large() {
        let (mut input, mut output, _) = new_ring(LIMITS);
        for item in 0..4 {
            input.push(item, 1).unwrap();
        }
        assert!(matches!(input.push(4, 1), Err(Refused::Full(4))));
        while output.pop().unwrap().is_some() {}
        input.push(5, 60).unwrap();
        assert!(matches!(input.push(6, 41), Err(Refused::Full(6))));
        input.push(7, 40).unwrap();
        assert_eq!(input.waiting_bytes(), 100);
        while output.pop().unwrap().is_some() {}
        // Alone it may be larger than all may be together.
        input.push(8, 1000).unwrap();
        assert!(matches!(input.push(9, 1), Err(Refused::Full(9))));
        assert_eq!(output.pop(), Ok(Some((8, 1000))));
        assert_eq!(input.waiting_bytes(), 0);
    }

    #[test]
    fn the_descriptor_is_readable_from_the_wake_up_until_all_is_taken() {
        let (mut input, mut output, _) = new_ring(LIMITS);
        assert!(!is_readable(&output, Duration::ZERO));
        input.push(1, 1).unwrap();
        input.push(2, 1).unwrap();
        input.wake();
        assert!(is_readable(&output, Duration::ZERO));
        assert_eq!(output.pop(), Ok(Some((1, 1))));
        assert!(is_readable(&output, Duration::ZERO), "one is left");
        assert_eq!(output.pop(), Ok(Some((2, 1))));
        assert_eq!(output.pop(), Ok(None));
        assert!(!is_readable(&output, Duration::ZERO));
    }

    #[test]
    fn whoever_waits_for_room_is_woken_when_half_is_empty_and_not_before() {
        let (mut input, mut output, sender) = new_ring(LIMITS);
        for item in 0..4 {
            input.push(item, 1).unwrap();
        }
        assert!(input.ask_for_room(1), "it is full");
        output.pop().unwrap();
        output.tell_of_room();
        assert!(!is_readable(&sender, Duration::ZERO));
        output.pop().unwrap();
        output.tell_of_room();
        assert!(is_readable(&sender, Duration::ZERO));
        assert!(!input.ask_for_room(1), "there is room by now");
    }

    #[test]
    fn an_end_is_seen_by_the_other_side_after_what_came_before() {
        let (mut input, mut output, _) = new_ring(LIMITS);
        input.push(1, 1).unwrap();
        drop(input);
        assert!(is_readable(&output, Duration::ZERO));
        assert_eq!(output.pop(), Ok(Some((1, 1))));
        assert_eq!(output.pop(), Err(RingEnded));
        let (mut input, output, sender) = new_ring(LIMITS);
        drop(output);
        assert!(is_readable(&sender, Duration::ZERO));
        assert!(matches!(input.push(1, 1), Err(Refused::Closed(1))));
    }

    #[test]
    fn a_full_ring_whose_other_side_has_gone_is_closed_and_not_full() {
        let (mut input, output, _) = new_ring(LIMITS);
        for item in 0..4 {
            input.push(item, 1).unwrap();
        }
        assert!(matches!(input.push(4, 1), Err(Refused::Full(4))));
        drop(output);
        assert!(matches!(input.push(4, 1), Err(Refused::Closed(4))));
        assert!(!input.ask_for_room(1), "there is nothing to wait for");
    }

    #[test]
    fn no_wake_up_is_lost_however_two_threads_meet() {
        const ITEMS: u64 = 50_000;
        let (mut input, mut output, sender) = new_ring(RingLimits { items: 3, bytes: usize::MAX });
        let taker = std::thread::spawn(move || {
            let mut expected = 0;
            loop {
                match output.pop() {
                    Ok(Some((item, _))) => {
                        assert_eq!(item, expected);
                        expected += 1;
                        output.tell_of_room();
                    }
                    Ok(None) => assert!(is_readable(&output, Duration::from_secs(20)), "never woken"),
                    Err(RingEnded) => return expected,
                }
            }
        });
        for mut item in 0..ITEMS {
            while let Err(refused) = input.push(item, 1) {
                let Refused::Full(back) = refused else { panic!("closed") };
                item = back;
                sender.lower();
                if input.ask_for_room(1) {
                    assert!(is_readable(&sender, Duration::from_secs(20)), "never told of room");
                }
            }
            input.wake();
        }
        drop(input);
        assert_eq!(taker.join().unwrap(), ITEMS);
    }
}
