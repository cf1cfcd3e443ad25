//! How nodes on one link that all hear each other share what they ask for: one asks, and all take what comes.
//!
//! On a multi-access link every Data reaches everybody. Where forty nodes want the same object, it should
//! cross the link once. No messages are needed for that, only listening. For each object (the name without
//! its last component) that a node asks for on such a face, it remembers a [`Flow`](flows::Flow):
//!
//! - **Whoever hears nobody else asks at once**, so that a node that is alone loses no time.
//! - **Whoever hears that another is being answered waits**, until the link has been silent about the object
//!   for [`SharingConfig::silence`], or as long as an answer takes, and a random time more. What comes
//!   meanwhile answers the Interests that wait. What nobody here has asked for yet is kept in the content
//!   store, if it belongs to an object that a local application has an Interest for: so a latecomer takes
//!   part from where the others are, and asks for what it missed when they are done, together with the other
//!   latecomers.
//! - **Whoever begins to ask sends few of the Interests that wait**, and none once another's are heard; the
//!   others follow, some for each answer. Thousands may wait at each of forty nodes: sent at once they would
//!   fill every queue before anybody has heard of anybody else.
//! - **Who is answered leads**, and asks for all, for [`SharingConfig::turn`]; then another has a chance, so
//!   that a slow node does not keep the others at its pace.
//! - **What another asked for just now is not asked for again**, so a loss is repaired once for everybody who
//!   missed the packet.
//! - **What is missing while later names come is asked for again by the node itself**, and Data of later
//!   names waits for it a short time ([`order`]), so that the controller of an application takes no loss for
//!   congestion that only one receiver had. Such a repair changes nothing about who leads.
//! - **What was asked for in vain is answered by others**: a node that is itself behind the link answers from
//!   its content store only what was asked for again in vain, and not if another's answer is heard first.
//!
//! A node waits for others [`MAX_WAIT`] of its Interest's lifetime at most. Everything is bounded:
//! objects ([`flows::MAX_FLOWS`]), Interests that wait ([`flows::MAX_WAITING`] for each object), answers that
//! wait, and what is remembered of names heard ([`recent::Recent`]).

pub(crate) mod answers;
pub(crate) mod flows;
pub(crate) mod order;
pub(crate) mod recent;

use packet::NameHash;
use packet::time::{Duration, Instant};

use crate::face_id::FaceId;
use answers::WaitingAnswers;
use flows::{Flows, QueuedInterest};
use order::{LastComponent, Times};
use recent::Recent;

/// How a node on a multi-access link waits for the others there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharingConfig {
    /// Longest random wait before an Interest goes out where others want the same.
    pub max_wait: Duration,
    /// For how long nothing of an object must have been heard before the next node asks, or as long as
    /// answers take if that is longer.
    pub silence: Duration,
    /// How long one node asks for all.
    pub turn: Duration,
}

impl SharingConfig {
    /// For a local network: 10 ms, 20 ms and 1 s.
    pub const LOCAL: SharingConfig = SharingConfig {
        max_wait: Duration::from_millis(10),
        silence: Duration::from_millis(20),
        turn: Duration::from_secs(1),
    };
}

impl Default for SharingConfig {
    fn default() -> Self {
        SharingConfig::LOCAL
    }
}

packet::counters! {
    /// What sharing has done on a face.
    pub struct SharingCounters {
        /// Interests that waited for what others asked for.
        pub waited = "waited",
        /// Interests that were not sent, because another had asked or the Data came meanwhile.
        pub left_to_others = "left-to-others",
        /// Data kept that nobody here had asked for yet.
        pub overheard = "overheard",
        /// Interests sent again by this node itself, because the answer was lost.
        pub repeated = "repeated",
        /// Data held back until what was lost before it had come.
        pub held = "held-back",
        /// Answers that were not sent, because the same Data had just been on the link.
        pub answers_left_to_others = "answers-left-to-others",
        /// Interests that waited and Data that was held back, of objects for which there was no room.
        pub forgotten = "forgotten",
    }
}

/// Longest time an Interest waits for others, as a part of its lifetime.
pub(crate) const MAX_WAIT: f64 = 0.75;

/// For how many times [`SharingConfig::max_wait`] an Interest that another has sent stands for one's own.
const ASKED_FOR: u64 = 10;

/// Data that was on the link within so small a part of [`SharingConfig::max_wait`] answers whoever asks now:
/// several missed it, and ask again at the same time.
const JUST_NOW: u64 = 8;

/// Whoever asked so long ago asks no more.
const UNANSWERED: Duration = Duration::from_secs(4);

/// What is known of a multi-access face.
#[derive(Debug)]
pub(crate) struct Sharing {
    pub(crate) config: SharingConfig,
    pub(crate) flows: Flows,
    /// Names that others asked for.
    asked: Recent,
    /// Names that this node asked for.
    sent: Recent,
    /// Names of Data that was on the link.
    answered: Recent,
    /// Names that others asked for, by when they did so first without an answer since.
    unanswered: Recent,
    pub(crate) answers: WaitingAnswers,
    pub(crate) counters: SharingCounters,
}

impl Sharing {
    pub(crate) fn new(config: SharingConfig) -> Self {
        Sharing {
            config,
            flows: Flows::default(),
            asked: Recent::default(),
            sent: Recent::default(),
            answered: Recent::default(),
            unanswered: Recent::default(),
            answers: WaitingAnswers::default(),
            counters: SharingCounters::default(),
        }
    }

    /// Lets an Interest wait until `due`, or as long as those of its object that wait already. Gives the
    /// oldest, if there is no room.
    #[inline]
    pub(crate) fn wait(&mut self, due: Instant, interest: QueuedInterest) -> Option<QueuedInterest> {
        self.counters.waited += 1;
        let oldest = self.flows.wait(due, interest);
        self.counters.forgotten += u64::from(oldest.is_some());
        oldest
    }

    /// This node asks for a name of an object.
    pub(crate) fn note_own_interest(
        &mut self,
        now: Instant,
        name: NameHash,
        object: NameHash,
        place: Option<LastComponent>,
    ) {
        self.sent.note(now, name);
        let times = self.times();
        if let (Some(flow), Some(place)) = (self.flows.get_mut(object), place) {
            flow.in_order.note_asked(now, &place, true, times);
        }
    }

    /// Another node has asked for this name of an object; `yields` decides whether this node lets it do that
    /// alone, should both have asked at the same time.
    pub(crate) fn note_interest(
        &mut self,
        now: Instant,
        name: NameHash,
        object: Option<NameHash>,
        place: Option<LastComponent>,
        yields: impl FnOnce() -> bool,
    ) {
        let times = self.times();
        // Who asks for what was answered has missed it, and is no rival.
        let is_rival = self.sent.is_within(now, name, self.asked_for())
            && self.answered.last(name) < self.sent.last(name);
        self.asked.note(now, name);
        let is_open = |since: Instant| {
            now.saturating_since(since) < UNANSWERED && self.answered.last(name).is_none_or(|at| at < since)
        };
        if !self.unanswered.last(name).is_some_and(is_open) {
            self.unanswered.note(now, name);
        }
        if let Some(flow) = object.and_then(|object| self.flows.get_mut(object)) {
            flow.note_other_consumers(now);
            let is_lost = place.as_ref().is_some_and(|place| flow.in_order.is_lost(place));
            if let Some(place) = place {
                flow.in_order.note_asked(now, &place, false, times);
            }
            if is_rival && !is_lost && flow.leads() && yields() {
                flow.yield_to_other_consumer(now);
            }
        }
    }

    /// Whether another asked for this name of an object a while ago, and nobody has answered since.
    pub(crate) fn is_asked_in_vain(
        &mut self,
        now: Instant,
        name: NameHash,
        object: Option<NameHash>,
    ) -> bool {
        let after = object.map_or(self.asked_for(), |object| self.stands_for(object));
        let waits = |since: Instant| now.saturating_since(since) >= after;
        self.unanswered.last(name).is_some_and(waits)
    }

    /// For how long an Interest that another has sent stands for one's own.
    pub(crate) fn asked_for(&self) -> Duration {
        self.config.max_wait * ASKED_FOR
    }

    /// The same for names of this object: where answers are known to take longer, as long as they do.
    pub(crate) fn stands_for(&mut self, object: NameHash) -> Duration {
        let times = self.times();
        let flow = self.flows.get_mut(object);
        flow.map_or(times.longest, |flow| flow.in_order.answer_timeout(times).max(times.longest))
    }

    /// How long things take on this link.
    pub(crate) fn times(&self) -> Times {
        Times { longest: self.asked_for(), just_now: self.config.max_wait / JUST_NOW }
    }

    /// When another asked for this name last, as far as that is known.
    pub(crate) fn asked_at(&self, name: NameHash) -> Option<Instant> {
        self.asked.last(name)
    }

    /// How long it took until Data came that is on the link now, if others asked for it once.
    pub(crate) fn answer_time(&self, now: Instant, name: NameHash) -> Option<Duration> {
        let (first, last) = (self.unanswered.last(name)?, self.asked.last(name)?);
        (first == last && self.sent.last(name).is_none_or(|at| at < first))
            .then(|| now.saturating_since(first))
    }

    /// Data of this name is on the link.
    pub(crate) fn note_data(&mut self, now: Instant, name: NameHash) {
        self.answered.note(now, name);
    }

    /// Whether Data of this name was on the link just now.
    pub(crate) fn is_answered(&self, now: Instant, name: NameHash) -> bool {
        self.answered.is_within(now, name, self.times().just_now)
    }

    /// Whether Data of this name has been on the link since `then`.
    pub(crate) fn is_answered_since(&self, then: Instant, name: NameHash) -> bool {
        self.answered.last(name).is_some_and(|at| at >= then)
    }

    fn next_deadline(&self) -> Instant {
        self.flows.next_deadline().min(self.answers.next_deadline())
    }
}

/// The faces of a node whose links are shared. There are few: one or two for each interface.
#[derive(Debug)]
pub(crate) struct SharedLinks {
    links: Vec<(FaceId, Sharing)>,
    /// When something that waits is due, or earlier.
    next: Instant,
    /// What was counted on faces that share no more.
    past: SharingCounters,
}

impl Default for SharedLinks {
    fn default() -> Self {
        SharedLinks { links: Vec::new(), next: Instant::NEVER, past: SharingCounters::default() }
    }
}

impl SharedLinks {
    /// Shares the link of a face from now on, in another way, or no more; what waited is gone then, and is
    /// asked for again by whoever wants it.
    pub(crate) fn configure(&mut self, face: FaceId, config: Option<SharingConfig>) {
        if self.get(face).map(|sharing| sharing.config) == config {
            return;
        }
        if let Some(sharing) = self.get(face) {
            let counters = sharing.counters;
            self.past += &counters;
        }
        self.links.retain(|(id, _)| *id != face);
        self.links.extend(config.map(|config| (face, Sharing::new(config))));
    }

    pub(crate) fn get(&self, face: FaceId) -> Option<&Sharing> {
        self.links.iter().find(|(id, _)| *id == face).map(|(_, sharing)| sharing)
    }

    pub(crate) fn get_mut(&mut self, face: FaceId) -> Option<&mut Sharing> {
        self.links.iter_mut().find(|(id, _)| *id == face).map(|(_, sharing)| sharing)
    }

    /// What was counted on all faces, past ones included.
    pub(crate) fn counters(&self) -> SharingCounters {
        let mut sum = self.past;
        self.links.iter().for_each(|(_, sharing)| sum += &sharing.counters);
        sum
    }

    /// Whether no face is shared.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The face at this place.
    pub(crate) fn face_at(&self, place: usize) -> Option<FaceId> {
        self.links.get(place).map(|(id, _)| *id)
    }

    /// When something that waits is due, or earlier; [`Instant::NEVER`] if nothing waits.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.next
    }

    /// Something waits until `due`.
    pub(crate) fn wake_at(&mut self, due: Instant) {
        self.next = self.next.min(due);
    }

    /// Something of an object may have to be asked for again earlier than was known.
    pub(crate) fn wake_for(&mut self, face: FaceId, object: NameHash) {
        let flow = self.get_mut(face).and_then(|sharing| sharing.flows.get_mut(object));
        if let Some(due) = flow.map(|flow| flow.in_order.next_deadline()) {
            self.wake_at(due);
        }
    }

    /// Looks again what is due first.
    pub(crate) fn look_again(&mut self) {
        let deadlines = self.links.iter().map(|(_, sharing)| sharing.next_deadline());
        self.next = deadlines.min().unwrap_or(Instant::NEVER);
    }
}

/// A part of a span of time.
pub(crate) fn part_of(span: Duration, part: f64) -> Duration {
    Duration::from_secs_f64(span.as_secs_f64() * part)
}
