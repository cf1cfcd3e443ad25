//! What is known of the objects that are asked for on a shared link: who asks for them, and which Interests
//! of this node wait.

use std::collections::VecDeque;

use packet::time::{Duration, Instant};
use packet::{NameHash, Nonce};

use super::SharingConfig;
use super::order::{DelayedData, InOrder, MAX_HELD_BYTES_OF_LINK, MAX_HELD_OF_LINK};
use crate::tables::pending::PendingId;
use crate::transmit::Transmit;

/// Objects remembered for each face. For more, one is forgotten that no local application asks for, if there
/// is one, and of those the one that was used longest ago. Interests that wait for it go out, and what was
/// held back of it goes to whoever asked.
pub(crate) const MAX_FLOWS: usize = 64;
/// Interests of one object that may wait; of more, the oldest goes out.
pub(crate) const MAX_WAITING: usize = 4096;
/// How long others count as interested after they were heard.
const COMPANY: Duration = Duration::from_secs(2);
/// So many Data that another asked for, within such a time, are a stream.
const STREAM: usize = 32;
const STREAM_SPAN: Duration = Duration::from_millis(200);
/// Of a silence that means that nobody asks, to the longest gap between Data lately.
const GAPS: u64 = 4;
/// The shortest such silence, as a part of the longest, [`SharingConfig::silence`].
const MIN_IDLE_PART: u64 = 10;
/// Interests that a node sends of those that waited when it begins to ask: whether another does so as well is
/// not known before the first answer.
pub(crate) const FIRST_INTERESTS: usize = 4;
/// Interests that follow for each Data that answers one of this node, until none waits: as many at once as
/// waited, which may be thousands, would fill every queue on the link.
pub(crate) const INTERESTS_FOR_DATA: usize = 2;
/// Turns that a node which hears nobody takes in a row count as one, up to so many.
const MAX_TURNS_ALONE: u64 = 64;

/// An Interest that waits, and the packet that goes out unless that has become needless.
#[derive(Debug)]
pub(crate) struct QueuedInterest {
    pub(crate) object: NameHash,
    pub(crate) id: PendingId,
    pub(crate) nonce: Nonce,
    /// It goes out then, whoever is heard.
    pub(crate) give_up_at: Instant,
    pub(crate) transmit: Transmit,
}

/// Who may ask now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// This node, at once.
    Now,
    /// This node, after a random time: others may want the same.
    Soon,
    /// Another, who is being answered.
    Others,
}

/// One object.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) object: NameHash,
    /// Since when this node asks for it.
    pub(crate) entered_at: Instant,
    used_at: Instant,
    /// Until when a local application has an Interest for it.
    pub(crate) local_until: Instant,
    /// When Data of a stream came last that another had asked for.
    foreign_at: Option<Instant>,
    /// When the last of those came, the oldest in front.
    foreign: VecDeque<Instant>,
    /// Longest time lately between two of those.
    longest_gap: Duration,
    /// When others were last heard to want it.
    company_at: Option<Instant>,
    /// Since when this node asks for all.
    leads_since: Option<Instant>,
    /// Turns since another was heard.
    turns_alone: u64,
    waiting: VecDeque<QueuedInterest>,
    /// When those that wait are looked at.
    due: Instant,
    /// When the first of those that wait gives up waiting, or earlier.
    give_up_at: Instant,
    /// What local applications ask for.
    pub(crate) in_order: InOrder,
}

impl Flow {
    fn new(object: NameHash, now: Instant) -> Self {
        Flow {
            object,
            entered_at: now,
            used_at: now,
            local_until: Instant::ZERO,
            foreign_at: None,
            foreign: VecDeque::new(),
            longest_gap: Duration::ZERO,
            company_at: None,
            leads_since: None,
            turns_alone: 1,
            waiting: VecDeque::new(),
            due: Instant::NEVER,
            give_up_at: Instant::NEVER,
            in_order: InOrder::default(),
        }
    }

    /// Others want the object, too.
    pub(crate) fn note_other_consumers(&mut self, now: Instant) {
        self.company_at = Some(now);
    }

    /// Whether this node asks for all.
    pub(crate) fn leads(&self) -> bool {
        self.leads_since.is_some()
    }

    /// Lets another ask for all.
    pub(crate) fn yield_to_other_consumer(&mut self, now: Instant) {
        self.leads_since = None;
        self.foreign_at = Some(now);
    }

    /// Data came that this node had asked for.
    pub(crate) fn note_own_data(&mut self, now: Instant, config: &SharingConfig) {
        if self.is_foreign_live(now, config) {
            return;
        }
        let since = *self.leads_since.get_or_insert(now);
        if now.saturating_since(since) >= config.turn * self.turns_alone {
            self.leads_since = None;
            self.turns_alone = (self.turns_alone * 2).min(MAX_TURNS_ALONE);
            // Whoever asks now is not this node, for as long as it would wait for another.
            self.foreign_at = Some(now);
        }
    }

    /// Data came that another had asked for; `wanted` if an Interest of this node waited for it.
    pub(crate) fn note_foreign_data(&mut self, now: Instant, wanted: bool) {
        if let Some(before) = self.foreign.back() {
            let gap = now.saturating_since(*before);
            self.longest_gap = gap.max(self.longest_gap * 15 / 16);
        }
        if self.foreign.len() >= STREAM {
            self.foreign.pop_front();
        }
        self.foreign.push_back(now);
        (self.company_at, self.turns_alone) = (Some(now), 1);
        // Single Data are repairs, for which nobody has to wait.
        if self.foreign.len() >= STREAM
            && self.foreign.front().is_some_and(|at| now.saturating_since(*at) < STREAM_SPAN)
        {
            self.foreign_at = Some(now);
        }
        if wanted {
            self.leads_since = None;
        }
    }

    /// When an Interest that comes now may go out, after a time that was drawn where others may want the
    /// same; `None` for at once.
    #[inline]
    pub(crate) fn turn_at(&self, now: Instant, config: &SharingConfig, drawn: Duration) -> Option<Instant> {
        match self.turn(now, config) {
            // Behind those that wait already, which go out one after the other.
            Turn::Now if !self.waiting.is_empty() => Some(now + config.max_wait),
            Turn::Now => None,
            Turn::Soon => Some(now + drawn),
            Turn::Others => Some(self.silent_at(config) + drawn),
        }
    }

    /// Who may ask.
    fn turn(&self, now: Instant, config: &SharingConfig) -> Turn {
        if self.leads_since.is_some() {
            Turn::Now
        } else if self.is_foreign_live(now, config) {
            Turn::Others
        } else if self.company_at.is_some_and(|at| now.saturating_since(at) < COMPANY) {
            Turn::Soon
        } else {
            Turn::Now
        }
    }

    /// Whether this node may send more of what waits when it is answered.
    pub(crate) fn may_go_on(&self, now: Instant, config: &SharingConfig) -> bool {
        !self.waiting.is_empty() && (self.leads() || !self.is_foreign_live(now, config))
    }

    /// When the link will have been silent for long enough.
    fn silent_at(&self, config: &SharingConfig) -> Instant {
        self.foreign_at.map_or(Instant::ZERO, |at| at + self.idle_after(config))
    }

    fn is_foreign_live(&self, now: Instant, config: &SharingConfig) -> bool {
        self.silent_at(config) > now
    }

    /// How long a silence means that nobody asks: a few times what there is between two Data, and longer than
    /// who asks for all needs to get what it missed.
    fn idle_after(&self, config: &SharingConfig) -> Duration {
        let gaps = (self.longest_gap * GAPS).clamp(config.silence / MIN_IDLE_PART, config.silence);
        gaps.max(self.in_order.answer_time())
    }

    /// The Interest that has waited longest.
    pub(crate) fn pop_waiting(&mut self) -> Option<QueuedInterest> {
        self.waiting.pop_front()
    }

    fn next_due(&self) -> Instant {
        if self.waiting.is_empty() { Instant::NEVER } else { self.due.min(self.give_up_at) }
    }

    /// What waits no longer, whoever is heard. Those that others ask for change places, so all are looked at.
    fn overdue(&mut self, now: Instant) -> Vec<QueuedInterest> {
        if self.give_up_at > now {
            return Vec::new();
        }
        let is_overdue = |waiting: &QueuedInterest| waiting.give_up_at <= now;
        let (overdue, rest): (VecDeque<_>, VecDeque<_>) = self.waiting.drain(..).partition(is_overdue);
        self.give_up_at = rest.iter().map(|waiting| waiting.give_up_at).min().unwrap_or(Instant::NEVER);
        self.waiting = rest;
        overdue.into()
    }
}

/// What is left of an object that was forgotten for another.
#[derive(Debug, Default)]
pub(crate) struct Forgotten {
    /// Interests that waited.
    pub(crate) waiting: VecDeque<QueuedInterest>,
    /// Data that was held back, in the order of names.
    pub(crate) held: Vec<DelayedData>,
}

impl Forgotten {
    /// Interests and Data.
    pub(crate) fn count(&self) -> u64 {
        (self.waiting.len() + self.held.len()) as u64
    }
}

/// The objects of one face.
#[derive(Debug)]
pub(crate) struct Flows {
    flows: Vec<Flow>,
    /// The first time that one of them is due, or earlier.
    next: Instant,
}

impl Default for Flows {
    fn default() -> Self {
        Flows { flows: Vec::new(), next: Instant::NEVER }
    }
}

impl Flows {
    pub(crate) fn get_mut(&mut self, object: NameHash) -> Option<&mut Flow> {
        self.flows.iter_mut().find(|flow| flow.object == object)
    }

    /// Whether more Data may be held back on this link.
    pub(crate) fn may_hold(&self) -> bool {
        let held = self.flows.iter().map(|flow| flow.in_order.held());
        let (count, bytes) = held.fold((0, 0), |sum, (count, bytes)| (sum.0 + count, sum.1 + bytes));
        count < MAX_HELD_OF_LINK && bytes < MAX_HELD_BYTES_OF_LINK
    }

    /// The flow at this place.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut Flow> {
        self.flows.get_mut(place)
    }

    /// The flow of an object that this node asks for; and what is left of the one that was forgotten for it,
    /// if there is no room.
    pub(crate) fn enter(&mut self, now: Instant, object: NameHash) -> (&mut Flow, Forgotten) {
        let place = match self.flows.iter().position(|flow| flow.object == object) {
            Some(place) => place,
            None if self.flows.len() < MAX_FLOWS => {
                self.flows.push(Flow::new(object, now));
                self.flows.len() - 1
            }
            None => {
                let worth = |flow: &Flow| (flow.local_until > now, flow.used_at);
                let least = self.flows.iter().enumerate().min_by_key(|(_, flow)| worth(flow));
                let place = least.map_or(0, |(place, _)| place);
                let Flow { waiting, in_order, .. } =
                    std::mem::replace(&mut self.flows[place], Flow::new(object, now));
                return (&mut self.flows[place], Forgotten { waiting, held: in_order.into_held() });
            }
        };
        self.flows[place].used_at = now;
        (&mut self.flows[place], Forgotten::default())
    }

    /// Lets an Interest wait until `due`, or as long as those of its object that wait already. Gives the
    /// oldest, if there is no room.
    pub(crate) fn wait(&mut self, due: Instant, waiting: QueuedInterest) -> Option<QueuedInterest> {
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.object == waiting.object) else {
            return Some(waiting);
        };
        flow.due = if flow.waiting.is_empty() { due } else { flow.due.min(due) };
        flow.give_up_at = flow.give_up_at.min(waiting.give_up_at);
        self.next = self.next.min(due).min(flow.give_up_at);
        let oldest = if flow.waiting.len() >= MAX_WAITING { flow.waiting.pop_front() } else { None };
        flow.waiting.push_back(waiting);
        oldest
    }

    /// Looks at what is due, and gives what has no more time to wait. Where others are heard still, the rest
    /// waits on, for a time that `draw` adds to the silence. Elsewhere this node may ask: the objects are
    /// added to `objects`.
    pub(crate) fn release(
        &mut self,
        now: Instant,
        config: &SharingConfig,
        mut draw: impl FnMut() -> Duration,
        objects: &mut Vec<NameHash>,
    ) -> Vec<QueuedInterest> {
        let mut released = Vec::new();
        if self.next > now {
            return released;
        }
        for flow in self.flows.iter_mut().filter(|flow| flow.next_due() <= now) {
            released.extend(flow.overdue(now));
            if flow.due > now {
                continue;
            }
            if flow.turn(now, config) == Turn::Others {
                flow.due = flow.silent_at(config) + draw();
            } else {
                objects.push(flow.object);
                flow.due = now + config.max_wait;
            }
        }
        self.next = self.flows.iter().map(Flow::next_due).min().unwrap_or(Instant::NEVER);
        released
    }

    /// When [`Flows::release`] should be called, or something is to be asked for again.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.flows.iter().map(|flow| flow.in_order.next_deadline()).fold(self.next, Instant::min)
    }
}
