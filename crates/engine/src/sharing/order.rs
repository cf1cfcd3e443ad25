//! What local applications ask for of one object, in the order of its names: which of it is lost, when it is
//! asked for again, and which Data is held back until it has come.
//!
//! A loss on a link that many share says nothing about congestion: each receiver misses something else. So
//! the node asks again for itself, as a link with acknowledgements would, and holds Data of later names back
//! meanwhile, so that the application's controller sees no gap. What is held back leaves in the order of
//! names, whatever comes in between: repairs and second copies come in any order. Nothing waits for what was
//! asked for after it, or for longer than [`MAX_HELD_FOR`].

use std::collections::{BTreeMap, BTreeSet};

use packet::time::{Duration, Instant};
use packet::{Component, ComponentKind, Data, LinkHeader, NameHash, NameRef, Packet, SmoothedRoundTrip};
use smallvec::SmallVec;

use crate::tables::pending::PendingId;
use crate::transmit::Transmit;

/// Interests remembered for each object; for more, the first in the order of names is forgotten, and its
/// application asks again itself.
pub(crate) const MAX_OPEN: usize = 4096;
/// Data held back for each object; more is given to whoever waits, gap or not.
pub(crate) const MAX_HELD: usize = 2048;
/// The same for all objects of a link, and for the bytes of memory that all of it takes.
pub(crate) const MAX_HELD_OF_LINK: usize = 4096;
pub(crate) const MAX_HELD_BYTES_OF_LINK: usize = 16 << 20;
/// Interests that are looked at, in the order of names, when something is to be asked for again.
const MAX_EXAMINED: usize = 64;
/// Data with longer last components is in no order.
const MAX_COMPONENT: usize = 64;
/// How often one Interest is sent again here before that is left to the application.
const MAX_REPEATS: u32 = 8;
/// An answer is not late before that, however quickly others came.
const MIN_ANSWER_TIMEOUT: Duration = Duration::from_millis(2);
/// An answer is late after that, however slowly others came: a second of a queue, and what it may vary.
const MAX_ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Waits for an answer for which Data is held back, and the longest time: below what applications take for a
/// timeout.
const HELD_FOR: u64 = 6;
const MAX_HELD_FOR: Duration = Duration::from_millis(100);

/// How long things take on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// An Interest that another has sent stands for one's own no longer, unless answers take as long.
    pub(crate) longest: Duration,
    /// For so long after Data nobody answers the same again; who missed it asks later.
    pub(crate) just_now: Duration,
}

/// The last component of a name, in canonical order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LastComponent {
    kind: ComponentKind,
    length: usize,
    value: SmallVec<[u8; 12]>,
}

impl LastComponent {
    pub(crate) fn of(name: NameRef<'_>) -> Option<Self> {
        let Component { kind, value } = name.last()?;
        let length = value.len();
        (length <= MAX_COMPONENT).then(|| LastComponent { kind, length, value: value.into() })
    }
}

/// An Interest that a local application has, for a name that is in order.
#[derive(Debug)]
struct Open {
    id: PendingId,
    /// Of its name: the entry `id` may be another's by the time it is looked at.
    name: NameHash,
    transmit: Transmit,
    /// Nothing if it was not on the link yet.
    asked: Option<InterestHistory>,
    answer: Answer,
    /// Not again before.
    again_at: Instant,
    /// Nothing is held back for it after that.
    hold_until: Instant,
}

impl Open {
    /// How often it was on the link.
    fn times_asked(&self) -> u32 {
        self.asked.map_or(0, |asked| asked.times)
    }
}

/// How an Interest was on the link, whoever sent it.
#[derive(Clone, Copy, Debug)]
struct InterestHistory {
    first_at: Instant,
    last_at: Instant,
    /// When it was asked for first of several times at once, by as many who missed it.
    round_at: Instant,
    /// Those at once count as one.
    times: u32,
    /// Whether this node has sent it, once at least.
    is_own: bool,
}

/// What is known of the answer to an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// It may still come.
    Awaited,
    /// Later names were answered, and it was asked for no more than once.
    Overtaken,
    /// It did not come in time, or was overtaken and is asked for again.
    Lost,
}

/// Where Data stands that is held back: its name, and its number among all that was held back.
type DelayedPlace = (LastComponent, u64);

/// Data that waits for others of earlier names.
#[derive(Debug)]
struct DelayedEntry {
    /// When it was asked for.
    asked_at: Instant,
    /// It waits no longer, whatever is missing.
    until: Instant,
    data: DelayedData,
}

/// Where Data goes that was held back.
#[derive(Debug)]
pub(crate) enum DelayedData {
    /// To whom the tables say: it has arrived.
    Arrived { name: NameHash, data: Data, header: LinkHeader },
    /// To who asked: it is from the content store.
    Answer(Box<Transmit>),
}

impl DelayedData {
    /// In memory of its own: in that of the train that it came with it would keep the whole train.
    fn in_own_memory(self) -> Self {
        let moved = |data: Data| if data.wire().is_small_part() { data.moved(None) } else { data };
        match self {
            DelayedData::Arrived { name, data, header } => {
                DelayedData::Arrived { name, data: moved(data), header }
            }
            DelayedData::Answer(mut answer) => {
                if let Packet::Data(data) = answer.packet {
                    answer.packet = Packet::Data(moved(data));
                }
                DelayedData::Answer(answer)
            }
        }
    }

    /// Bytes of memory that it keeps, most of them its own.
    fn bytes(&self) -> usize {
        let wire = match self {
            DelayedData::Arrived { data, .. } => data.wire().footprint_bytes(),
            DelayedData::Answer(answer) => size_of::<Transmit>() + answer.packet.wire().footprint_bytes(),
        };
        size_of::<(DelayedPlace, DelayedEntry)>() + wire
    }
}

/// An Interest to send again.
#[derive(Debug)]
pub(crate) struct Repeat {
    pub(crate) place: LastComponent,
    pub(crate) id: PendingId,
    pub(crate) name: NameHash,
    pub(crate) transmit: Transmit,
}

/// What came of Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Nothing is missing before it.
    Complete,
    /// What was asked for earlier has not come; it was asked for then.
    Missing(Instant),
    /// It was not asked for, or not in an order.
    None,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct InOrder {
    open: BTreeMap<LastComponent, Open>,
    /// In the order of names; of one name, in the order in which it came.
    held: BTreeMap<DelayedPlace, DelayedEntry>,
    /// What all of it takes.
    held_bytes: usize,
    /// Those by when they wait no longer.
    held_until: BTreeSet<(Instant, DelayedPlace)>,
    /// The number of the next that is held back.
    next_held: u64,
    answer_time: Option<SmoothedRoundTrip>,
    /// When something is asked for again or held no longer, or earlier.
    next: Instant,
}

impl Default for InOrder {
    fn default() -> Self {
        InOrder {
            open: BTreeMap::new(),
            held: BTreeMap::new(),
            held_bytes: 0,
            held_until: BTreeSet::new(),
            next_held: 0,
            answer_time: None,
            next: Instant::NEVER,
        }
    }
}

impl InOrder {
    /// How long an Interest on the link may take to be answered; `longest` if nothing is known. More only
    /// where answers take so long that this is no loss: they wait in a deep queue, and who asks again makes
    /// it deeper.
    pub(crate) fn answer_timeout(&self, Times { longest, .. }: Times) -> Duration {
        let Some(time) = self.answer_time else { return longest };
        let longest = longest.max(time.timeout().min(MAX_ANSWER_TIMEOUT));
        (time.smoothed + time.timeout()).max(MIN_ANSWER_TIMEOUT).min(longest)
    }

    /// How long answers take; nothing if that is not known.
    pub(crate) fn answer_time(&self) -> Duration {
        self.answer_time.map_or(Duration::ZERO, |time| time.smoothed.min(MAX_HELD_FOR))
    }

    /// When an answer is late that later ones have overtaken.
    fn late_after(&self, times: Times) -> Duration {
        let timeout = self.answer_timeout(times);
        self.answer_time.map_or(timeout, |time| (time.smoothed + time.variation).min(timeout))
    }

    /// An application has an Interest for a name, which was on the link at `asked_at`, if at all.
    pub(crate) fn enter(
        &mut self,
        place: LastComponent,
        (id, name): (PendingId, NameHash),
        transmit: Transmit,
        asked_at: Option<Instant>,
        again_at: Instant,
    ) {
        if let Some(open) = self.open.get_mut(&place) {
            (open.id, open.name, open.transmit) = (id, name, transmit);
            return;
        }
        if self.open.len() >= MAX_OPEN {
            self.open.pop_first();
        }
        let asked = asked_at.map(|at| InterestHistory {
            first_at: at,
            last_at: at,
            round_at: at,
            times: 1,
            is_own: false,
        });
        let hold_until = Instant::NEVER;
        let open = Open { id, name, transmit, asked, answer: Answer::Awaited, again_at, hold_until };
        self.open.insert(place, open);
        self.next = self.next.min(again_at);
    }

    /// An Interest for a name was on the link, and this node sent it or not.
    pub(crate) fn note_asked(&mut self, now: Instant, place: &LastComponent, is_own: bool, times: Times) {
        let (answer_timeout, Times { longest, just_now }) = (self.answer_timeout(times), times);
        let at_once = self.late_after(times) / 2;
        let Some(open) = self.open.get_mut(place) else { return };
        let nothing = InterestHistory { first_at: now, last_at: now, round_at: now, times: 0, is_own: false };
        let asked = open.asked.get_or_insert(nothing);
        if asked.times == 0 || now.saturating_since(asked.round_at) >= at_once {
            asked.times += 1;
            asked.round_at = now;
        }
        asked.last_at = now;
        asked.is_own |= is_own;
        let times = asked.times;
        if open.answer == Answer::Overtaken && times >= 2 {
            open.answer = Answer::Lost;
        }
        // Where later names are answered, that decides; otherwise, and from the third time on, more and more
        // rarely.
        let factor = u64::from(times.clamp(2, MAX_REPEATS) - 1);
        let span = if times > 1 { answer_timeout + just_now } else { longest };
        open.again_at = now + (span * factor).min(longest.max(answer_timeout));
        self.next = self.next.min(open.again_at);
    }

    /// Whether a name was asked for on the link and will be again if need be, or the Data is there already;
    /// and if so, whether this node has asked.
    pub(crate) fn is_under_way(&self, place: &LastComponent) -> Option<bool> {
        let asked = self.open.get(place).and_then(|open| open.asked).map(|asked| asked.is_own);
        asked.or_else(|| self.held_of(place).next().map(|_| true))
    }

    /// An application asks again for what is under way.
    pub(crate) fn renew(&mut self, place: &LastComponent, id: PendingId, name: NameHash, transmit: Transmit) {
        if let Some(open) = self.open.get_mut(place) {
            (open.id, open.name, open.transmit) = (id, name, transmit);
        }
    }

    /// Whether the answer for a name was lost, as far as is known.
    pub(crate) fn is_lost(&self, place: &LastComponent) -> bool {
        self.open.get(place).is_some_and(|open| open.answer != Answer::Awaited)
    }

    /// Data of a name is there. What was asked for earlier and has not come is asked for again: at once by
    /// whoever asked first, by others after a time that `draw` gives.
    pub(crate) fn note_data(
        &mut self,
        now: Instant,
        place: &LastComponent,
        times: Times,
        mut draw: impl FnMut() -> Duration,
    ) -> Order {
        let Some(Open { asked, hold_until, .. }) = self.open.remove(place) else { return Order::None };
        // If nobody was heard to ask for it, nothing follows from when it comes.
        let asked_at = asked.map_or(Instant::ZERO, |asked| asked.first_at);
        // Also if it was asked for more than once, unless it was lost: a queue that grows is noticed, though
        // all Interests are sent again.
        if asked.is_some() && hold_until == Instant::NEVER {
            self.note_answer_time(now.saturating_since(asked_at));
        }
        if self.note_gap(now, place, asked_at, times, &mut draw) {
            Order::Missing(asked_at)
        } else {
            Order::Complete
        }
    }

    /// An Interest of the object was answered after so long.
    pub(crate) fn note_answer_time(&mut self, sample: Duration) {
        self.answer_time = Some(SmoothedRoundTrip::after(self.answer_time, sample));
    }

    /// Whether something is missing before a name that is there and was asked for at `asked_at`; it is asked
    /// for again then.
    pub(crate) fn note_gap(
        &mut self,
        now: Instant,
        place: &LastComponent,
        asked_at: Instant,
        times: Times,
        mut draw: impl FnMut() -> Duration,
    ) -> bool {
        let late = self.late_after(times);
        let held_for = self.held_for(times);
        // What is behind something that waits would leave before it, unless it was asked for first.
        let is_before =
            |((first, _), held): (&DelayedPlace, &DelayedEntry)| first < place && held.asked_at <= asked_at;
        let mut is_behind = self.held.first_key_value().is_some_and(is_before);
        for (_, open) in self.open.range_mut(..place.clone()).take(MAX_EXAMINED) {
            let Some(asked) = open.asked.filter(|asked| asked.first_at <= asked_at) else { continue };
            if asked.times == 1 && open.answer != Answer::Overtaken {
                open.answer = Answer::Overtaken;
                let late_at = now.max(asked.last_at + late) + times.just_now;
                open.again_at = if asked.is_own { late_at } else { late_at + draw() }.min(open.again_at);
                self.next = self.next.min(open.again_at);
            }
            if open.hold_until == Instant::NEVER {
                open.hold_until = now + held_for;
                self.next = self.next.min(open.hold_until);
            }
            is_behind |= open.hold_until > now;
        }
        is_behind
    }

    fn held_for(&self, times: Times) -> Duration {
        ((self.answer_timeout(times) + times.just_now) * HELD_FOR).min(MAX_HELD_FOR)
    }

    /// Whether the same Data has come before by the link, and is held back.
    pub(crate) fn is_held(&self, place: &LastComponent, data: &Data) -> bool {
        let is_same = |held: &DelayedEntry| match &held.data {
            DelayedData::Arrived { data: held, .. } => held.wire() == data.wire(),
            DelayedData::Answer(_) => false,
        };
        !self.held.is_empty() && self.held_of(place).any(is_same)
    }

    /// Whether the same answer to the same face is held back: somebody asked again meanwhile.
    pub(crate) fn is_answer_held(&self, place: &LastComponent, answer: &Transmit) -> bool {
        let is_same = |held: &DelayedEntry| match (&held.data, &answer.packet) {
            (DelayedData::Answer(held), Packet::Data(data)) => {
                let is_data = matches!(&held.packet, Packet::Data(held) if held.wire() == data.wire());
                is_data && held.face == answer.face && held.pit_token == answer.pit_token
            }
            _ => false,
        };
        !self.held.is_empty() && self.held_of(place).any(is_same)
    }

    /// What is held back of one name.
    fn held_of(&self, place: &LastComponent) -> impl Iterator<Item = &DelayedEntry> {
        self.held.range((place.clone(), 0)..=(place.clone(), u64::MAX)).map(|(_, held)| held)
    }

    /// Keeps Data back that was asked for at `asked_at`; gives it again if there is no room.
    pub(crate) fn hold(
        &mut self,
        now: Instant,
        (place, asked_at): (LastComponent, Instant),
        times: Times,
        data: DelayedData,
    ) -> Option<DelayedData> {
        if self.held.len() >= MAX_HELD {
            return Some(data);
        }
        let until = now + self.held_for(times);
        let data = data.in_own_memory();
        self.held_bytes += data.bytes();
        self.next_held += 1;
        let place = (place, self.next_held);
        self.held_until.insert((until, place.clone()));
        self.held.insert(place, DelayedEntry { asked_at, until, data });
        self.next = self.next.min(until);
        None
    }

    /// Data that is held back for nothing any more, or has waited for long enough.
    pub(crate) fn pop_held(&mut self, now: Instant) -> Option<DelayedData> {
        let (first, held) = self.held.first_key_value()?;
        let blocks = |(_, open): (&LastComponent, &Open)| {
            open.asked.is_some_and(|asked| asked.first_at <= held.asked_at)
                && open.hold_until != Instant::NEVER
                && open.hold_until > now
        };
        let is_due = held.until <= now || !self.open.range(..first.0.clone()).take(MAX_EXAMINED).any(blocks);
        let place = if is_due {
            first.clone()
        } else {
            let (until, overdue) = self.held_until.first()?;
            if *until > now {
                self.next = self.next.min(*until);
                return None;
            }
            overdue.clone()
        };
        let held = self.held.remove(&place)?;
        self.held_bytes -= held.data.bytes();
        self.held_until.remove(&(held.until, place));
        Some(held.data)
    }

    /// What is to be asked for again now. `is_wanted` says whether somebody still waits for it. What is held
    /// back is due by then, too: [`InOrder::pop_held`] has to follow, until it gives nothing.
    pub(crate) fn repeats(
        &mut self,
        now: Instant,
        times: Times,
        is_wanted: impl Fn(PendingId, NameHash) -> bool,
    ) -> Vec<Repeat> {
        let mut repeats = Vec::new();
        if self.next > now {
            return repeats;
        }
        let answer_timeout = self.answer_timeout(times);
        let mut gone = SmallVec::<[LastComponent; 4]>::new();
        let mut examined = 0;
        self.next = Instant::NEVER;
        for (place, open) in &mut self.open {
            if !is_wanted(open.id, open.name) || open.times_asked() > MAX_REPEATS {
                gone.push(place.clone());
                continue;
            }
            examined += 1;
            if examined > MAX_EXAMINED {
                break;
            }
            // A queue may have grown since that was planned.
            if let (Answer::Awaited, Some(InterestHistory { last_at, times: 1, .. })) =
                (open.answer, open.asked)
            {
                open.again_at = open.again_at.max(last_at + answer_timeout);
            }
            if open.again_at <= now {
                if open.answer == Answer::Awaited {
                    open.answer = Answer::Lost;
                }
                let (id, name, transmit) = (open.id, open.name, open.transmit.clone());
                repeats.push(Repeat { place: place.clone(), id, name, transmit });
            } else {
                self.next = self.next.min(open.again_at);
            }
            if open.hold_until > now {
                self.next = self.next.min(open.hold_until);
            }
        }
        for place in gone {
            self.open.remove(&place);
        }
        repeats
    }

    /// All that is held back, in the order of names.
    pub(crate) fn into_held(self) -> Vec<DelayedData> {
        self.held.into_values().map(|held| held.data).collect()
    }

    /// How much Data is held back, and the bytes of memory that it takes.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.held.len(), self.held_bytes)
    }

    pub(crate) fn next_deadline(&self) -> Instant {
        self.next
    }
}
