//! The order of one core, found for what several have done.

use std::vec::Drain;

use crate::arena::{Arena, PartId};
use crate::events::queue::{STRIDE, Turn};
use crate::trace::journal::{Crossing, ExecutedEvent, Journal};
use crate::trace::{Note, Notes, Trace};

/// Which numbers one core would have given to what the parts have planned.
#[derive(Debug)]
pub(super) struct Order {
    /// The number that the network would have given first.
    first: u64,
    /// … and gives next.
    next: u64,
    parts: Arena<PartId, Numbers>,
}

/// The numbers of a part.
#[derive(Debug, Default)]
struct Numbers {
    /// For each that it gave, that of one core.
    exact: Vec<u64>,
    /// For each that was given to what came from another part, in ascending order.
    arrived: Vec<(u64, u64)>,
    /// How many it had given when something came last, and how many have come since then.
    latest: (usize, u64),
}

/// Something that goes to another part, with its place there.
pub(super) struct OrderedCrossing {
    pub(super) crossing: Crossing,
    pub(super) turn: Turn,
}

/// What one part has done in a window.
#[derive(Default)]
pub(super) struct Window {
    pub(super) journal: Box<Journal>,
    pub(super) notes: Box<Notes>,
}

impl Order {
    pub(super) fn new(first: u64, parts: usize) -> Self {
        Order { first, next: first, parts: (0..parts).map(|_| Numbers::default()).collect() }
    }

    /// Before all numbers that parts give, and behind all that were given before.
    pub(super) fn base(&self) -> u64 {
        self.first
    }

    /// The number that one core would give next.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Numbers that parts have given and that are remembered.
    pub(super) fn len(&self) -> u64 {
        self.next - self.first
    }

    /// What one core would have given in place of this number of a part.
    pub(super) fn exact(&self, part: PartId, turn: Turn) -> Turn {
        let number = turn.number();
        let Some(offset) = number.checked_sub(self.base()).filter(|offset| *offset > 0) else {
            return turn;
        };
        let numbers = &self.parts[part];
        let exact = if offset.is_multiple_of(STRIDE) {
            numbers.exact.get((offset / STRIDE) as usize - 1).copied()
        } else {
            let place = numbers.arrived.binary_search_by_key(&number, |(own, _)| *own);
            place.ok().and_then(|place| numbers.arrived.get(place)).map(|(_, exact)| *exact)
        };
        debug_assert!(exact.is_some(), "{turn:?} was given by nobody");
        turn.numbered(exact.unwrap_or(number))
    }

    /// Puts what the parts did in a window in the order of one core, and tells it to the trace. `part_of`
    /// says where something goes. The windows are empty then.
    pub(super) fn put_in_order(
        &mut self,
        windows: &mut Arena<PartId, Window>,
        trace: &mut Trace,
        part_of: impl Fn(&Crossing) -> PartId,
        mut hand_over: impl FnMut(PartId, OrderedCrossing),
    ) {
        let base = self.base();
        let mut cursors: Arena<PartId, Cursor<'_>> = windows
            .iter_mut()
            .zip(self.parts.iter())
            .map(|(window, numbers)| Cursor::new(window, base + (numbers.exact.len() as u64 + 1) * STRIDE))
            .collect();
        while let Some(part) = self.earliest(&cursors) {
            let cursor = &mut cursors[part];
            let Some(&done) = cursor.done.get(cursor.next) else { break };
            cursor.next += 1;
            let turns = (done.turns_end - cursor.turns) / STRIDE;
            cursor.turns = done.turns_end;
            self.parts[part].exact.extend(self.next..self.next + turns);
            self.next += turns;
            for &number in cursor.mixed.get(cursor.numbers..done.numbers_end).unwrap_or_default() {
                trace.mix(number);
            }
            cursor.numbers = done.numbers_end;
            while cursor.notes < done.notes_end {
                cursor.notes += 1;
                cursor.records.next().into_iter().for_each(|note| trace.take(note));
            }
            while cursor.crossed < done.crossings_end {
                cursor.crossed += 1;
                let Some(crossing) = cursor.crossings.next() else { break };
                let exact = self.exact(part, crossing.turn).number();
                let to = part_of(&crossing);
                let turn = crossing.turn.numbered(self.arrival_number(to, exact));
                hand_over(to, OrderedCrossing { crossing, turn });
            }
        }
        drop(cursors);
        for Window { journal, notes } in windows.iter_mut() {
            journal.done.clear();
            notes.numbers.clear();
        }
    }

    /// The part that has what comes next in the order of one core.
    #[inline]
    fn earliest(&self, cursors: &Arena<PartId, Cursor<'_>>) -> Option<PartId> {
        let mut earliest: Option<(PartId, Turn)> = None;
        for (part, cursor) in cursors.indexed() {
            let Some(&ExecutedEvent { turn, .. }) = cursor.done.get(cursor.next) else { continue };
            let is_earlier = earliest.is_none_or(|(other, best)| {
                turn.at < best.at
                    || (turn.at == best.at && self.exact(part, turn).serial < self.exact(other, best).serial)
            });
            if is_earlier {
                earliest = Some((part, turn));
            }
        }
        earliest.map(|(part, _)| part)
    }

    /// A number in a part for what comes from another: behind all that the part had given when it was
    /// planned, and before the next.
    fn arrival_number(&mut self, part: PartId, exact: u64) -> u64 {
        let base = self.base();
        let numbers = &mut self.parts[part];
        let given = numbers.exact.len();
        if numbers.latest.0 != given {
            numbers.latest = (given, 0);
        }
        numbers.latest.1 += 1;
        let number = base + given as u64 * STRIDE + numbers.latest.1;
        numbers.arrived.push((number, exact));
        number
    }

    /// Whether so much has come to a part that is at rest that no room between its numbers may be left.
    pub(super) fn is_narrow(&self) -> bool {
        self.parts.iter().any(|numbers| numbers.latest.1 > STRIDE / 2)
    }
}

/// How far a part's window has been put in order.
struct Cursor<'a> {
    done: &'a [ExecutedEvent],
    /// For the number over everything.
    mixed: &'a [u64],
    crossings: Drain<'a, Crossing>,
    records: Drain<'a, Note>,
    next: usize,
    turns: u64,
    numbers: usize,
    notes: usize,
    crossed: usize,
}

impl<'a> Cursor<'a> {
    /// At the begin of a window in which the part gives `turns` first.
    fn new(window: &'a mut Window, turns: u64) -> Self {
        let (journal, notes) = (&mut *window.journal, &mut *window.notes);
        Cursor {
            done: &journal.done,
            mixed: &notes.numbers,
            crossings: journal.crossings.drain(..),
            records: notes.records.drain(..),
            next: 0,
            turns,
            numbers: 0,
            notes: 0,
            crossed: 0,
        }
    }
}
