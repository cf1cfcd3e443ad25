//! What happens when, and in which order at equal times.
//!
//! A heap of small entries in which every node has four children, so that a comparison of siblings stays
//! within two lines of memory. Links put only their next arrival in, not every packet under way, so the heap
//! has about as many entries as there are busy links and set alarms.

use std::cmp::Ordering;

use packet::time::Instant;

use crate::arena::{AppId, ChannelId, FramedId, HeldId, NodeId, PlanId};
use crate::events::rank::{NUMBERS, Rank};

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventSource {
    /// The first packet under way in one direction of a link arrives.
    Channel(ChannelId),
    /// A queue in front of one direction of a link sends its next packet.
    Departure(ChannelId),
    /// The engine of a node asked to be called.
    Engine(NodeId),
    /// The processor of a node is done with a packet.
    Processor(NodeId),
    /// An application asked to be called.
    Application(AppId),
    /// A packet that was held back or sent twice goes on.
    Held(HeldId),
    /// The services of a framed link asked to be called.
    Framed(FramedId),
    /// Something that the owner of the network planned.
    Plan(PlanId),
}

/// When something happens, and its place among all that happens at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) at: Instant,
    /// The [`Rank`] of whom it comes from, and below it a number, given out in the order in which things were
    /// planned; no two are equal.
    pub(crate) serial: u64,
}

impl Ord for Turn {
    /// As one number, which takes two instructions and no branch.
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_one_number().cmp(&other.as_one_number())
    }
}

impl PartialOrd for Turn {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.as_one_number() < other.as_one_number()
    }
}

impl Turn {
    #[inline(always)]
    fn as_one_number(self) -> u128 {
        u128::from(self.at.as_nanos()) << 64 | u128::from(self.serial)
    }

    /// Without its rank.
    #[inline(always)]
    pub(crate) fn number(self) -> u64 {
        self.serial & NUMBERS
    }

    /// The same with another number.
    #[inline(always)]
    pub(crate) fn numbered(self, number: u64) -> Turn {
        Turn { at: self.at, serial: self.serial & !NUMBERS | number }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) turn: Turn,
    pub(crate) source: EventSource,
}

const ARITY: usize = 4;

/// How far the numbers of one [part](crate::parallel) of a network are apart: others have room between them.
pub(crate) const STRIDE: u64 = 1 << 20;

/// A queue of events that gives out the earliest first, of several at one time those of the first rank, and
/// of these the one that was planned first.
#[derive(Debug)]
pub(crate) struct EventQueue {
    heap: Vec<Event>,
    next_number: u64,
    /// From one number to the next.
    stride: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue { heap: Vec::new(), next_number: 0, stride: 1 }
    }
}

impl EventQueue {
    /// A new place in the order of things that happen at `at`.
    #[inline]
    pub(crate) fn turn(&mut self, at: Instant, rank: Rank) -> Turn {
        let number = self.next_number;
        self.next_number += self.stride;
        Turn { at, serial: rank.with(number) }
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The number of the next turn: on one core, how many were given out so far.
    pub(crate) fn turns(&self) -> u64 {
        self.next_number
    }

    /// Numbers turns from `next` on, so far apart.
    pub(crate) fn renumber(&mut self, next: u64, stride: u64) {
        (self.next_number, self.stride) = (next, stride);
    }

    /// All events, in no order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.heap.iter()
    }

    /// Takes all events away, in no order.
    pub(crate) fn take_all(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.heap)
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Event> {
        self.heap.first()
    }

    /// Plans something for a time; gives its turn.
    pub(crate) fn plan(&mut self, at: Instant, rank: Rank, source: EventSource) -> Turn {
        let turn = self.turn(at, rank);
        self.push(turn, source);
        turn
    }

    /// Adds an event with a turn that was taken before.
    #[inline]
    pub(crate) fn push(&mut self, turn: Turn, source: EventSource) {
        let event = Event { turn, source };
        let mut place = self.heap.len();
        self.heap.push(event);
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].turn < turn {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = event;
    }

    /// Takes the first event away.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(last) };
        self.sink(last);
        Some(first)
    }

    /// Puts the first event off: cheaper than taking it away and adding it again.
    #[inline]
    pub(crate) fn put_off_first(&mut self, turn: Turn) {
        if let Some(&first) = self.heap.first() {
            self.sink(Event { turn, ..first });
        }
    }

    /// Lets `event` take the first place, and sink from there to where it belongs.
    #[inline(always)]
    fn sink(&mut self, event: Event) {
        let mut place = 0;
        while let Some(child) = self.first_child(place)
            && self.heap[child].turn < event.turn
        {
            self.heap[place] = self.heap[child];
            place = child;
        }
        self.heap[place] = event;
    }

    /// The child of an event that is the earliest.
    #[inline(always)]
    fn first_child(&self, place: usize) -> Option<usize> {
        let first = place * ARITY + 1;
        let children = self.heap.get(first..)?;
        let earlier = |one: (usize, Turn), other: (usize, Turn)| if other.1 < one.1 { other } else { one };
        let least = match children.first_chunk::<ARITY>() {
            Some([a, b, c, d]) => {
                let [first, second] = [[(0, a.turn), (1, b.turn)], [(2, c.turn), (3, d.turn)]];
                Some(earlier(earlier(first[0], first[1]), earlier(second[0], second[1])))
            }
            None => children.iter().map(|child| child.turn).enumerate().reduce(earlier),
        };
        least.map(|(offset, _)| first + offset)
    }
}

/// An alarm that may be set again and again at little cost: it stands in the queue at most once for its
/// present time, and what was put there for another time is recognised as stale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    wanted: Instant,
    queued: Option<Turn>,
    /// Of whom it belongs to.
    pub(crate) rank: Rank,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm::of(Rank::default())
    }
}

impl Alarm {
    /// One of somebody with this rank.
    pub(crate) fn of(rank: Rank) -> Self {
        Alarm { wanted: Instant::NEVER, queued: None, rank }
    }

    /// Sets the time, or puts the alarm off with [`Instant::NEVER`].
    #[inline]
    pub(crate) fn set(&mut self, queue: &mut EventQueue, at: Instant, source: EventSource) {
        self.wanted = at;
        if at != Instant::NEVER && self.queued.is_none_or(|queued| at < queued.at) {
            self.queued = Some(queue.plan(at, self.rank, source));
        }
    }

    /// Gives it the number of its event elsewhere.
    pub(crate) fn renumber(&mut self, turns: &dyn Fn(Turn) -> Turn) {
        self.queued = self.queued.map(turns);
    }

    /// Whether it stands in the queue for `at` or an earlier time.
    #[inline]
    pub(crate) fn is_queued_by(&self, at: Instant) -> bool {
        self.queued.is_some_and(|queued| queued.at <= at)
    }

    /// Whether the alarm goes off with the event of this turn. If it was set to later meanwhile, it is queued
    /// again.
    #[inline]
    pub(crate) fn goes_off(&mut self, queue: &mut EventQueue, turn: Turn, source: EventSource) -> bool {
        if self.queued != Some(turn) {
            return false;
        }
        self.queued = None;
        if self.wanted > turn.at {
            let wanted = self.wanted;
            self.set(queue, wanted, source);
            return false;
        }
        self.wanted = Instant::NEVER;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::simultaneous::SimultaneousOrder;
    use packet::random::Random;

    #[test]
    fn events_come_in_order_of_time_at_equal_times_of_ranks_and_then_as_they_were_planned() {
        let orders = [SimultaneousOrder::Planned, SimultaneousOrder::Drawn(3), SimultaneousOrder::Drawn(4)];
        for order in orders {
            events_come_in(order);
        }
    }

    fn events_come_in(order: SimultaneousOrder) {
        let mut random = Random::from_seed(1);
        let mut queue = EventQueue::default();
        let mut model = std::collections::BTreeSet::new();
        let mut now = 0;
        for number in 0..20_000 {
            if random.below(100) < 55 {
                let at = Instant::from_nanos(now + random.below(20));
                let rank = order.of_node(NodeId(number % 7));
                let turn = queue.plan(at, rank, EventSource::Channel(ChannelId(number)));
                model.insert((turn, number));
            } else if random.below(2) == 0 {
                let expected = model.pop_first();
                let found = queue.pop().map(|event| (event.turn, event.source));
                assert_eq!(
                    found,
                    expected.map(|(turn, number)| (turn, EventSource::Channel(ChannelId(number))))
                );
                now = found.map_or(now, |(turn, _)| turn.at.as_nanos());
            } else if let Some((first, number)) = model.pop_first() {
                let later = first.at + packet::time::Duration::from_nanos(random.below(30));
                let later = queue.turn(later, order.of_node(NodeId(number % 7)));
                queue.put_off_first(later);
                model.insert((later, number));
            }
            assert_eq!(queue.first().map(|event| event.turn), model.first().map(|(turn, _)| *turn));
            assert_eq!(queue.len(), model.len());
        }
    }

    #[test]
    fn an_alarm_goes_off_once_at_the_time_it_was_last_set_to() {
        let mut queue = EventQueue::default();
        let mut alarm = Alarm::default();
        for at in [50, 10, 30, 40, 20] {
            alarm.set(&mut queue, Instant::from_nanos(at), EventSource::Plan(PlanId(0)));
        }
        let mut gone_off = Vec::new();
        while let Some(event) = queue.pop() {
            if alarm.goes_off(&mut queue, event.turn, event.source) {
                gone_off.push(event.turn.at.as_nanos());
            }
        }
        assert_eq!(gone_off, [20]);
        alarm.set(&mut queue, Instant::from_nanos(60), EventSource::Plan(PlanId(0)));
        alarm.set(&mut queue, Instant::NEVER, EventSource::Plan(PlanId(0)));
        while let Some(event) = queue.pop() {
            assert!(!alarm.goes_off(&mut queue, event.turn, event.source));
        }
    }
}
