//! Deadlines of many entries, at a cost that does not depend on how many there are.
//!
//! A hierarchical wheel: 64 slots of one tick, 64 slots of 64 ticks, and so on. An entry is put into the slot
//! of the finest level that reaches its deadline and moves to finer levels as time comes near. A tick is 2^20
//! ns, a little more than a millisecond; a deadline is never reported early, and at most one tick late.
//!
//! Almost every entry is cancelled long before its deadline. So new ones only join a queue, and are put into
//! a slot when that is full or the first of their deadlines has come: most have been cancelled by then.

use packet::time::Instant;

use super::chunked::ChunkedVec;

const TICK_BITS: u32 = 20;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Eight levels of 64 slots reach every instant there is, so no deadline ever waits for a second turn of the
/// wheel.
const LEVELS: usize = 8;
const NONE: u32 = u32::MAX;
/// A node that is on no list.
const IDLE: u16 = u16::MAX;
/// The list of entries that are due.
const DUE: u16 = (LEVELS * SLOTS) as u16;
/// A node that waits in the queue of new ones, and is on no list.
const NEW: u16 = u16::MAX - 1;
/// So many places has that queue, those of entries that have been cancelled counted.
const MAX_NEW: usize = 4096;
/// So many entries move from one slot to another in one step, beside those of the queue: everything that was
/// asked for in four seconds may lie in one slot.
const MAX_MOVED: u32 = 4096;

#[derive(Clone, Copy, Debug)]
struct Node {
    deadline_tick: u64,
    previous: u32,
    next: u32,
    list: u16,
}

/// A set of (entry number, deadline), each number at most once.
#[derive(Debug)]
pub(crate) struct TimerWheel {
    nodes: ChunkedVec<Node>,
    /// Heads of all slots, level by level, then of the list of due entries.
    heads: Box<[u32]>,
    occupied: [u64; LEVELS],
    /// Numbers of new entries, and of some that are so no more; some stand here twice.
    new: Vec<u32>,
    /// No new entry is due before this tick.
    new_due_tick: u64,
    /// No other entry is due before this tick.
    other_due_tick: u64,
    /// All ticks before this one have been handled.
    current_tick: u64,
    len: u32,
}

/// What [`TimerWheel::pop_due`] may still do before its caller sees to other things.
#[derive(Debug)]
pub(crate) struct TimerStep {
    left: u32,
}

impl Default for TimerStep {
    fn default() -> Self {
        TimerStep { left: MAX_MOVED }
    }
}

impl Default for TimerWheel {
    fn default() -> Self {
        TimerWheel {
            nodes: ChunkedVec::default(),
            heads: vec![NONE; LEVELS * SLOTS + 1].into_boxed_slice(),
            occupied: [0; LEVELS],
            new: Vec::new(),
            new_due_tick: u64::MAX,
            other_due_tick: u64::MAX,
            current_tick: 0,
            len: 0,
        }
    }
}

impl TimerWheel {
    /// Number of entries with a deadline.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Sets the deadline of entry `id`, replacing an earlier one.
    #[inline]
    pub(crate) fn schedule(&mut self, id: u32, deadline: Instant) {
        // Rounded up, so that nothing is early.
        let deadline_tick = deadline.as_nanos().div_ceil(1 << TICK_BITS);
        match self.nodes.get_mut(id) {
            Some(node) if node.list == IDLE => {
                (node.list, node.deadline_tick) = (NEW, deadline_tick);
                self.len += 1;
                self.new_due_tick = self.new_due_tick.min(deadline_tick);
                self.new.push(id);
                if self.new.len() >= MAX_NEW {
                    self.settle();
                }
            }
            Some(_) => self.put_off(id, deadline_tick),
            None => self.schedule_first(id, deadline),
        }
    }

    /// Sets the deadline of an entry with a number that is larger than any before.
    #[cold]
    fn schedule_first(&mut self, id: u32, deadline: Instant) {
        while self.nodes.len() <= id {
            self.nodes.push(Node { deadline_tick: 0, previous: NONE, next: NONE, list: IDLE });
        }
        self.schedule(id, deadline);
    }

    /// Sets another deadline for entry `id`, which has one.
    #[inline(never)]
    fn put_off(&mut self, id: u32, deadline_tick: u64) {
        match self.nodes.get_mut(id) {
            Some(node) if node.list == NEW => {
                node.deadline_tick = deadline_tick;
                self.new_due_tick = self.new_due_tick.min(deadline_tick);
            }
            _ => {
                self.unlink(id);
                self.link(id, deadline_tick);
            }
        }
    }

    /// Forgets the deadline of entry `id`, if it has one.
    #[inline]
    pub(crate) fn cancel(&mut self, id: u32) {
        match self.nodes.get_mut(id) {
            Some(node) if node.list == NEW => {
                node.list = IDLE;
                self.len -= 1;
                if self.len == 0 {
                    self.clear_deadlines();
                }
            }
            _ => self.unlink(id),
        }
    }

    /// Nothing is scheduled any more. So nobody is new who stands in the queue of those.
    fn clear_deadlines(&mut self) {
        self.new.clear();
        (self.new_due_tick, self.other_due_tick) = (u64::MAX, u64::MAX);
    }

    /// Puts the new entries into the slots for their deadlines.
    #[cold]
    fn settle(&mut self) {
        let mut new = std::mem::take(&mut self.new);
        for id in new.drain(..) {
            if let Some(&Node { deadline_tick, list: NEW, .. }) = self.nodes.get(id) {
                self.len -= 1;
                self.link(id, deadline_tick);
            }
        }
        self.new = new;
        self.new_due_tick = u64::MAX;
    }

    /// When [`TimerWheel::pop_due`] should be called next; [`Instant::NEVER`] if nothing is scheduled. May be
    /// earlier than the earliest deadline (of an entry that has been cancelled since, or to move entries to a
    /// finer level), never later.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Instant {
        let next = self.other_due_tick.min(self.new_due_tick);
        // The last tick ends after the last instant.
        if next > u64::MAX >> TICK_BITS { Instant::NEVER } else { Instant::from_nanos(next << TICK_BITS) }
    }

    /// Takes one entry whose deadline has passed at `now`. Call until it gives `None`: then nothing more is
    /// due, or `step` has moved as many entries as one step may, and [`TimerWheel::next_deadline`] has come
    /// already.
    pub(crate) fn pop_due(&mut self, now: Instant, step: &mut TimerStep) -> Option<u32> {
        let now_tick = now.as_nanos() >> TICK_BITS;
        if self.new_due_tick <= now_tick {
            self.settle();
        }
        loop {
            let head = self.heads[usize::from(DUE)];
            if head != NONE {
                self.unlink(head);
                return Some(head);
            }
            let next = (0..LEVELS).filter_map(|level| self.next_slot(level)).min();
            match next {
                Some((tick, slot)) if tick <= now_tick => {
                    self.current_tick = self.current_tick.max(tick);
                    if step.left == 0 {
                        self.other_due_tick = tick;
                        return None;
                    }
                    self.open(slot, step);
                }
                _ => {
                    self.current_tick = self.current_tick.max(now_tick);
                    self.other_due_tick = next.map_or(u64::MAX, |(tick, _)| tick);
                    return None;
                }
            }
        }
    }

    /// Hints that entry `id` will be scheduled or cancelled soon.
    #[inline]
    pub(crate) fn prefetch(&self, id: u32) {
        self.nodes.prefetch(id);
    }

    /// Bytes of memory held.
    pub(crate) fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes() + (self.heads.len() + self.new.capacity()) * size_of::<u32>()
    }

    /// The first occupied slot of `level` in time, with the tick at which it must be opened.
    fn next_slot(&self, level: usize) -> Option<(u64, usize)> {
        let bits = self.occupied[level];
        if bits == 0 {
            return None;
        }
        let shift = level as u32 * SLOT_BITS;
        let position = self.current_tick >> shift;
        let ahead = bits.rotate_right((position % SLOTS as u64) as u32).trailing_zeros();
        let slot = (position + u64::from(ahead)) % SLOTS as u64;
        let tick = ((position + u64::from(ahead)) << shift).max(self.current_tick);
        Some((tick, level * SLOTS + slot as usize))
    }

    /// Deals the entries of a slot out to finer levels, or to the list of due entries, as many as the step
    /// may. The slot keeps the others and is the next one again: nothing new is put into a slot whose time
    /// has come, and time does not pass it by.
    fn open(&mut self, slot: usize, step: &mut TimerStep) {
        let mut id = self.heads[slot];
        while id != NONE && step.left > 0 {
            let node = self.nodes[id];
            self.unlink(id);
            self.link(id, node.deadline_tick);
            step.left -= 1;
            id = node.next;
        }
    }

    fn list_for(&self, tick: u64) -> u16 {
        if tick <= self.current_tick {
            return DUE;
        }
        // The highest bit in which the deadline differs from now gives the level: below it the two share a
        // slot.
        let level = ((63 - (tick ^ self.current_tick).leading_zeros()) / SLOT_BITS).min(LEVELS as u32 - 1);
        let slot = (tick >> (level * SLOT_BITS)) % SLOTS as u64;
        (level as usize * SLOTS + slot as usize) as u16
    }

    /// Puts entry `id`, which is on no list, on the one for its deadline.
    fn link(&mut self, id: u32, deadline_tick: u64) {
        let list = self.list_for(deadline_tick);
        let Some(head) = self.heads.get_mut(usize::from(list)) else { return };
        let next = std::mem::replace(head, id);
        if let Some(node) = self.nodes.get_mut(id) {
            *node = Node { deadline_tick, previous: NONE, next, list };
        }
        if let Some(node) = self.nodes.get_mut(next) {
            node.previous = id;
        }
        if let Some(occupied) = self.occupied.get_mut(usize::from(list) / SLOTS) {
            *occupied |= 1 << (usize::from(list) % SLOTS);
        }
        self.other_due_tick = self.other_due_tick.min(deadline_tick);
        self.len += 1;
    }

    /// Takes entry `id`, which is not new, off its list, if it is on one.
    fn unlink(&mut self, id: u32) {
        let Some(node) = self.nodes.get_mut(id) else { return };
        let Node { previous, next, list, .. } = *node;
        if list == IDLE {
            return;
        }
        node.list = IDLE;
        self.len -= 1;
        if let Some(node) = self.nodes.get_mut(next) {
            node.previous = previous;
        }
        if let Some(node) = self.nodes.get_mut(previous) {
            node.next = next;
            return;
        }
        if let Some(head) = self.heads.get_mut(usize::from(list)) {
            *head = next;
        }
        if next == NONE
            && let Some(occupied) = self.occupied.get_mut(usize::from(list) / SLOTS)
        {
            *occupied &= !(1 << (usize::from(list) % SLOTS));
            if self.len == 0 {
                self.clear_deadlines();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;
    use packet::time::Duration;
    use std::collections::BTreeMap;

    const TICK: Duration = Duration::from_nanos(1 << TICK_BITS);

    /// All that is due, in as many steps as that takes.
    fn due(wheel: &mut TimerWheel, now: Instant) -> Vec<u32> {
        let mut due = Vec::new();
        loop {
            let mut step = TimerStep::default();
            while let Some(id) = wheel.pop_due(now, &mut step) {
                due.push(id);
            }
            if wheel.next_deadline() > now {
                return due;
            }
        }
    }

    /// Runs random schedules, cancellations and time steps beside a plain map.
    fn agrees_with_model(seed: u64, horizon: Duration, step: Duration) {
        let mut random = Random::from_seed(seed);
        let mut wheel = TimerWheel::default();
        let mut model: BTreeMap<u32, Instant> = BTreeMap::new();
        let mut now = Instant::ZERO;
        for _ in 0..20_000 {
            match random.below(10) {
                0..=4 => {
                    let id = random.below(500) as u32;
                    let deadline = now + Duration::from_nanos(random.below(horizon.as_nanos()));
                    wheel.schedule(id, deadline);
                    model.insert(id, deadline);
                }
                5 => {
                    let id = random.below(600) as u32;
                    wheel.cancel(id);
                    model.remove(&id);
                }
                6 => {
                    let next = wheel.next_deadline();
                    let earliest = model.values().min().copied().unwrap_or(Instant::NEVER);
                    assert!(earliest == Instant::NEVER || next <= earliest + TICK, "{next:?} {earliest:?}");
                    assert_eq!(next == Instant::NEVER, model.is_empty());
                }
                _ => {
                    now += Duration::from_nanos(random.below(step.as_nanos()));
                    for id in due(&mut wheel, now) {
                        let deadline = model.remove(&id).expect("fired without being scheduled");
                        assert!(deadline <= now, "fired early: {deadline:?} at {now:?}");
                    }
                    let late: Vec<_> = model.values().filter(|&&deadline| deadline + TICK <= now).collect();
                    assert!(late.is_empty(), "not fired: {late:?} at {now:?}");
                }
            }
            assert_eq!(wheel.len() as usize, model.len());
        }
    }

    #[test]
    fn short_timers_agree_with_a_map() {
        agrees_with_model(1, Duration::from_millis(50), Duration::from_millis(5));
    }

    #[test]
    fn interest_lifetimes_agree_with_a_map() {
        agrees_with_model(2, Duration::from_secs(8), Duration::from_millis(300));
    }

    #[test]
    fn long_timers_and_long_jumps_agree_with_a_map() {
        agrees_with_model(3, Duration::from_secs(3_000_000), Duration::from_secs(400_000));
    }

    #[test]
    fn following_the_next_deadline_fires_everything_without_busy_steps() {
        let mut wheel = TimerWheel::default();
        for id in 0..1000 {
            wheel.schedule(id, Instant::from_millis(u64::from(id) * 37));
        }
        let (mut fired, mut steps) = (0, 0);
        let mut now = Instant::ZERO;
        while wheel.len() > 0 {
            now = now.max(wheel.next_deadline());
            steps += 1;
            fired += due(&mut wheel, now).len();
        }
        assert_eq!(fired, 1000);
        assert!(steps < 2_200, "{steps} steps for 1000 timers");
        assert!(now < Instant::from_millis(36_970));
    }

    #[test]
    fn nothing_is_forgotten_when_far_more_come_and_go_at_once_than_wait_to_be_put_into_slots() {
        let mut random = Random::from_seed(4);
        let (mut wheel, mut model) = (TimerWheel::default(), BTreeMap::new());
        for _ in 0..8 * MAX_NEW {
            let id = random.below(3 * MAX_NEW as u64) as u32;
            if random.below(3) == 0 {
                wheel.cancel(id);
                model.remove(&id);
            } else {
                let deadline = Instant::from_millis(random.below(5000));
                wheel.schedule(id, deadline);
                model.insert(id, deadline);
            }
            assert!(wheel.new.len() < MAX_NEW);
            assert_eq!(wheel.len() as usize, model.len());
        }
        assert!(!wheel.new.is_empty() && wheel.next_deadline() <= *model.values().min().unwrap());
        let mut now = Instant::ZERO;
        while !model.is_empty() {
            now = wheel.next_deadline();
            for id in due(&mut wheel, now) {
                let deadline = model.remove(&id).expect("fired without being scheduled");
                assert!(deadline <= now && now < deadline + TICK + TICK);
            }
        }
        assert!(now > Instant::from_millis(4990) && wheel.new.is_empty());
        assert_eq!(wheel.next_deadline(), Instant::NEVER);
    }

    #[test]
    fn of_140_000_entries_in_one_slot_a_step_moves_4096_and_none_is_late_or_lost() {
        let (mut wheel, mut model) = (TimerWheel::default(), BTreeMap::new());
        // So far away that all lie in one slot of four seconds.
        let first = Instant::from_nanos(8 << (TICK_BITS + 2 * SLOT_BITS));
        for id in 0..140_000 {
            let deadline = first + Duration::from_micros(u64::from(id % 1000));
            wheel.schedule(id, deadline);
            model.insert(id, deadline);
        }
        let (mut now, mut steps) = (first, 0);
        while !model.is_empty() {
            assert!(wheel.next_deadline() <= now + TICK + TICK);
            now = now.max(wheel.next_deadline());
            // New ones, cancelled ones and ones that are put off come between the steps.
            let id = 140_000 + steps;
            if steps < 60 {
                wheel.schedule(id, now + Duration::from_millis(1));
                model.insert(id, now + Duration::from_millis(1));
            }
            let other = steps * 7919 % 140_000;
            if steps % 2 == 0 {
                wheel.cancel(other);
                model.remove(&other);
            } else if let Some(deadline) = model.get_mut(&other) {
                *deadline = first + Duration::from_micros(900);
                wheel.schedule(other, *deadline);
            }
            let lists = |wheel: &TimerWheel| (0..140_000).map(|id| wheel.nodes[id].list).collect::<Vec<_>>();
            let (before, new) = (lists(&wheel), wheel.new.len());
            let mut step = TimerStep::default();
            let mut popped = 0;
            while let Some(id) = wheel.pop_due(now, &mut step) {
                let deadline = model.remove(&id).expect("fired without being scheduled");
                assert!(deadline <= now, "fired early");
                popped += 1;
            }
            let moved = lists(&wheel).iter().zip(&before).filter(|(after, before)| after != before).count();
            // What was in the queue of new ones comes on top.
            let most = MAX_MOVED as usize + new;
            assert!(moved <= most && popped <= most, "{moved} {popped} {new}");
            assert!(wheel.next_deadline() > now || step.left == 0);
            assert_eq!(wheel.len() as usize, model.len());
            steps += 1;
            assert!(steps < 200, "{} wait", model.len());
        }
        assert!(steps >= 2 * 140_000 / MAX_MOVED, "{steps}");
        assert_eq!(wheel.next_deadline(), Instant::NEVER);
    }

    #[test]
    fn deadlines_at_the_ends_of_time_are_accepted() {
        let mut wheel = TimerWheel::default();
        wheel.schedule(0, Instant::NEVER);
        wheel.schedule(1, Instant::ZERO);
        assert_eq!(due(&mut wheel, Instant::ZERO), [1]);
        assert_eq!(due(&mut wheel, Instant::from_secs(3_000_000_000)), []);
        assert_eq!(wheel.len(), 1);
    }
}
