//! Noticing losses and repairing them (NDNLPv2 digest, section 5).
//!
//! Every transmission of a frame gets a TxSequence of its own; the peer sends it back as an Ack. A
//! transmission is lost when three later ones have been acknowledged, or when the retransmission timeout has
//! passed since it left. Transmissions stand in a window indexed by TxSequence, so the first one is always
//! the oldest.
//!
//! A timeout may pass only because the queue on the way is long. So it doubles when it passes, and a
//! transmission whose timeout has passed is remembered: its Ack, when it comes after all, tells how long the
//! way really is, and that the frame need not be sent again. The numbers leave no doubt which transmission an
//! Ack is for.

use std::collections::VecDeque;

use packet::time::{Duration, Instant};

use super::config::ReliabilityConfig;
use super::outgoing::{FrameRef, OutgoingStore};
use super::rto::RtoEstimator;
use crate::DropReason;
use crate::drop_reason::DropCounters;
use crate::recent_sequences::{Arrival, RecentSequences};

/// A transmission that waits for its Ack.
#[derive(Clone, Copy, Debug)]
struct Unacknowledged {
    frame: FrameRef,
    sent_at: Instant,
    /// Where the pacer counts it, if there is one.
    position: u64,
    /// How many later transmissions have been acknowledged.
    later_acks: u32,
}

/// What reliability needs to remember about a link.
///
/// NFD runs a timer for every transmission, with the timeout of the moment it was sent. Here the oldest
/// transmission is measured against the current timeout, as RFC 6298 has it; so there is one timer.
#[derive(Debug)]
pub(crate) struct Reliability {
    config: ReliabilityConfig,
    rto: RtoEstimator,
    /// Transmissions from TxSequence `first` on; `None` where the Ack has come. The first one always waits.
    window: VecDeque<Option<Unacknowledged>>,
    first: u64,
    /// Transmissions whose timeout has passed, by TxSequence, as many as the window may have.
    overdue: VecDeque<(u64, Option<Unacknowledged>)>,
    /// When the timeout was last doubled: what was sent before says nothing against the new one.
    backed_off_at: Option<Instant>,
    losses: Losses,
    progress: Progress,
    pending_acks: PendingAcks,
    /// When pending acks leave without a packet to travel with.
    ack_deadline: Instant,
    acks_overdue: bool,
    received: RecentSequences,
}

impl Reliability {
    pub(crate) fn new(config: ReliabilityConfig, first_tx_sequence: u64) -> Self {
        Reliability {
            rto: RtoEstimator::new(config.rto),
            window: VecDeque::new(),
            first: first_tx_sequence,
            overdue: VecDeque::new(),
            backed_off_at: None,
            losses: Losses { max_retries: config.max_retries, again: VecDeque::new() },
            progress: Progress::default(),
            pending_acks: PendingAcks::default(),
            ack_deadline: Instant::NEVER,
            acks_overdue: false,
            received: RecentSequences::new(config.max_recent_sequences),
            config,
        }
    }

    /// How long the peer may go on sending a frame again, judged by this end's parameters.
    pub(crate) fn retransmission_span(&self) -> Duration {
        self.rto.longest_timeout() * (u64::from(self.config.max_retries) + 1)
    }

    pub(crate) fn rto(&self) -> &RtoEstimator {
        &self.rto
    }

    /// Transmissions in the window, the acknowledged ones between them included.
    pub(crate) fn window_len(&self) -> usize {
        self.window.len()
    }

    pub(crate) fn pending_ack_count(&self) -> usize {
        self.pending_acks.numbers().len()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub(crate) fn next_deadline(&self) -> Instant {
        let oldest = match self.window.front() {
            Some(Some(oldest)) => oldest.sent_at + self.rto.timeout(),
            _ => Instant::NEVER,
        };
        oldest.min(self.ack_deadline)
    }

    // The receiving side.

    /// Takes in the TxSequence of a frame that carries a packet, and its Sequence. An error means that the
    /// frame goes no further.
    pub(crate) fn handle_frame(
        &mut self,
        now: Instant,
        tx_sequence: u64,
        sequence: Option<u64>,
        drops: &mut DropCounters,
    ) -> Result<(), DropReason> {
        if self.pending_acks.numbers().len() >= self.config.max_pending_acks {
            return Err(DropReason::AckQueueFull);
        }
        if self.pending_acks.numbers().is_empty() {
            self.ack_deadline = now + self.config.idle_ack_delay;
        }
        self.pending_acks.push(tx_sequence);
        if self.pending_acks.numbers().len() >= self.config.max_pending_acks.div_ceil(2) {
            self.acks_overdue = true;
        }
        let memory = self.retransmission_span();
        let Some(sequence) = sequence else { return Ok(()) };
        match self.received.observe(now, sequence, memory) {
            Arrival::New => {}
            Arrival::NewAtLimit => {
                drops.count(DropReason::RecentSequencesFull);
            }
            Arrival::Repeated => return Err(DropReason::DuplicateFrame),
        }
        Ok(())
    }

    /// Acks that may travel with the next frame.
    pub(crate) fn pending_acks(&self) -> &[u64] {
        self.pending_acks.numbers()
    }

    /// True when acks must leave, packet or not.
    pub(crate) fn acks_overdue(&self) -> bool {
        self.acks_overdue
    }

    /// Notes that the first `count` pending acks have left.
    pub(crate) fn take_acks(&mut self, count: usize) {
        self.pending_acks.take(count);
        if self.pending_acks.numbers().is_empty() {
            self.ack_deadline = Instant::NEVER;
            self.acks_overdue = false;
        }
    }

    // The sending side.

    /// Notes that a frame leaves now and gives the transmission its number. If the window is full, the oldest
    /// transmission is forgotten. Packets of `waiting_bytes`, which have not left, have a limit of their own.
    pub(crate) fn note_sent(
        &mut self,
        now: Instant,
        (frame, position): (FrameRef, u64),
        waiting_bytes: usize,
        outgoing: &mut OutgoingStore,
        drops: &mut DropCounters,
    ) -> u64 {
        let max_bytes = self.config.max_unacknowledged_bytes.saturating_add(waiting_bytes);
        while self.window.len() >= self.config.max_unacknowledged_frames
            || (outgoing.bytes() > max_bytes && !self.window.is_empty())
        {
            self.forget_oldest(outgoing, drops);
        }
        self.window.push_back(Some(Unacknowledged { frame, sent_at: now, position, later_acks: 0 }));
        self.first.wrapping_add(self.window.len() as u64 - 1)
    }

    /// Takes in an Ack. True if it was news.
    pub(crate) fn handle_ack(
        &mut self,
        now: Instant,
        tx_sequence: u64,
        outgoing: &mut OutgoingStore,
        drops: &mut DropCounters,
    ) -> bool {
        let position = usize::try_from(tx_sequence.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        let Some(acknowledged) = self.window.get_mut(position).and_then(Option::take) else {
            return self.handle_late_ack(now, tx_sequence, outgoing);
        };
        let round_trip = now.saturating_since(acknowledged.sent_at);
        if acknowledged.frame.retries == 0 {
            self.rto.add_sample(round_trip);
        }
        self.progress.add_ack(acknowledged.position, round_trip);
        outgoing.settle_frame(acknowledged.frame, acknowledged.frame.retries > 0);
        // Each transmission is passed over at most `loss_threshold` times before it counts as lost, so this
        // costs a constant per transmission, however far behind the Ack the window begins.
        for place in self.window.iter_mut().take(position) {
            let Some(earlier) = place else { continue };
            earlier.later_acks += 1;
            if earlier.later_acks >= self.config.loss_threshold {
                self.losses.add(earlier.frame, outgoing, drops);
                self.progress.add_loss(earlier.position);
                *place = None;
            }
        }
        self.trim(outgoing);
        true
    }

    /// Takes in the Ack of a transmission whose timeout had passed. True if it was one.
    fn handle_late_ack(&mut self, now: Instant, tx_sequence: u64, outgoing: &mut OutgoingStore) -> bool {
        let Some(&(oldest, _)) = self.overdue.front() else { return false };
        let age = |number: u64| number.wrapping_sub(oldest);
        let Ok(place) = self.overdue.binary_search_by_key(&age(tx_sequence), |(number, _)| age(*number))
        else {
            return false;
        };
        let Some(acknowledged) = self.overdue.get_mut(place).and_then(|(_, overdue)| overdue.take()) else {
            return false;
        };
        while self.overdue.front().is_some_and(|(_, overdue)| overdue.is_none()) {
            self.overdue.pop_front();
        }
        if acknowledged.frame.retries == 0 {
            self.rto.add_sample(now.saturating_since(acknowledged.sent_at));
        }
        outgoing.settle_frame(acknowledged.frame, true);
        self.trim(outgoing);
        true
    }

    /// Looks for transmissions whose timeout has passed, and for acks that have waited long enough.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        outgoing: &mut OutgoingStore,
        drops: &mut DropCounters,
    ) {
        if self.ack_deadline <= now {
            self.ack_deadline = Instant::NEVER;
            self.acks_overdue = true;
        }
        // What left at about the same time is lost at about the same time: the longer timeout is for what is
        // sent from now on.
        let timeout = self.rto.timeout();
        while let Some(&Some(oldest)) = self.window.front()
            && oldest.sent_at + timeout <= now
        {
            if self.backed_off_at.is_none_or(|then| oldest.sent_at >= then) {
                self.rto.back_off();
                self.backed_off_at = Some(now);
            }
            if self.overdue.len() >= self.config.max_unacknowledged_frames {
                self.overdue.pop_front();
            }
            self.overdue.push_back((self.first, Some(oldest)));
            self.losses.add(oldest.frame, outgoing, drops);
            self.progress.add_loss(oldest.position);
            self.pop_oldest();
            self.trim(outgoing);
        }
    }

    /// The next frame to be sent again. It stays the next until [`take_lost`](Self::take_lost).
    pub(crate) fn next_lost(&mut self, outgoing: &OutgoingStore) -> Option<FrameRef> {
        while let Some(&frame) = self.losses.again.front() {
            // Its packet may have been given up because of another frame, or an Ack has come after all.
            if outgoing.waits(frame) {
                return Some(frame);
            }
            self.losses.again.pop_front();
        }
        None
    }

    /// The frame to be sent again, counted as another retry.
    pub(crate) fn take_lost(&mut self) -> Option<FrameRef> {
        let frame = self.losses.again.pop_front()?;
        Some(FrameRef { retries: frame.retries + 1, ..frame })
    }

    /// What acknowledgements and losses have told since the last time.
    pub(crate) fn take_progress(&mut self) -> Progress {
        std::mem::take(&mut self.progress)
    }

    fn forget_oldest(&mut self, outgoing: &mut OutgoingStore, drops: &mut DropCounters) {
        if let Some(Some(oldest)) = self.pop_oldest() {
            if outgoing.waits(oldest.frame) {
                drops.count(DropReason::SentStoreFull);
            }
            outgoing.settle_frame(oldest.frame, oldest.frame.retries > 0);
        }
        self.trim(outgoing);
    }

    fn pop_oldest(&mut self) -> Option<Option<Unacknowledged>> {
        let oldest = self.window.pop_front()?;
        self.first = self.first.wrapping_add(1);
        Some(oldest)
    }

    /// Makes the window begin with a transmission that still waits, of a frame that still matters.
    fn trim(&mut self, outgoing: &OutgoingStore) {
        while let Some(oldest) = self.window.front() {
            if oldest.is_some_and(|oldest| outgoing.waits(oldest.frame)) {
                return;
            }
            self.pop_oldest();
        }
    }
}

/// What the pacer learns from acknowledgements: the furthest positions, and the shortest round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) acknowledged: Option<(u64, Duration)>,
    pub(crate) lost: Option<u64>,
}

impl Progress {
    fn add_ack(&mut self, position: u64, round_trip: Duration) {
        let (furthest, shortest) = self.acknowledged.unwrap_or((position, round_trip));
        self.acknowledged = Some((furthest.max(position), shortest.min(round_trip)));
    }

    fn add_loss(&mut self, position: u64) {
        self.lost = Some(self.lost.map_or(position, |furthest| furthest.max(position)));
    }
}

/// What becomes of lost frames.
#[derive(Debug)]
struct Losses {
    max_retries: u32,
    /// Frames to be sent again.
    again: VecDeque<FrameRef>,
}

impl Losses {
    fn add(&mut self, frame: FrameRef, outgoing: &mut OutgoingStore, drops: &mut DropCounters) {
        if !outgoing.waits(frame) {
            return;
        }
        if frame.retries < self.max_retries {
            self.again.push_back(frame);
        } else if outgoing.remove(frame.key).is_some() {
            drops.count(DropReason::RetriesExhausted);
        }
    }
}

/// TxSequence numbers to be acknowledged, oldest first, in one piece for the encoder.
#[derive(Debug, Default)]
struct PendingAcks {
    numbers: Vec<u64>,
    taken: usize,
}

impl PendingAcks {
    fn numbers(&self) -> &[u64] {
        self.numbers.get(self.taken..).unwrap_or_default()
    }

    fn push(&mut self, number: u64) {
        // Those that have left give their room back when they are the greater part.
        if self.numbers.len() == self.numbers.capacity() && self.taken > self.numbers.len() / 2 {
            self.numbers.drain(..self.taken);
            self.taken = 0;
        }
        self.numbers.push(number);
    }

    fn take(&mut self, count: usize) {
        self.taken = self.numbers.len().min(self.taken + count);
        if self.taken == self.numbers.len() {
            self.numbers.clear();
            self.taken = 0;
        }
    }
}
