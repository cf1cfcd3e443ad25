//! A window that is over, and is put in order while the next one is at work.

use packet::time::Instant;

use super::order::{Order, OrderedCrossing, Window};
use super::partition::Partition;
use crate::arena::{Arena, PartId};
use crate::trace::Trace;
use crate::trace::journal::Crossing;

/// What all parts have done in a window, and the order of everything before it.
pub(super) struct Settling {
    pub(super) order: Order,
    pub(super) trace: Trace,
    windows: Arena<PartId, Window>,
    /// What has been put in order and goes to each part.
    crossed: Arena<PartId, Vec<OrderedCrossing>>,
}

impl Settling {
    pub(super) fn new(order: Order, trace: Trace, parts: usize) -> Self {
        let windows = (0..parts).map(|_| Window::default()).collect();
        Settling { order, trace, windows, crossed: (0..parts).map(|_| Vec::new()).collect() }
    }

    /// Where a part puts what it has noted. It takes the empty notes that are there.
    pub(super) fn window_of(&mut self, part: PartId) -> &mut Window {
        &mut self.windows[part]
    }

    /// How many events each part had in the window.
    pub(super) fn events_of_parts(&self) -> impl Iterator<Item = u64> {
        self.windows.iter().map(|window| window.journal.len())
    }

    /// When the first of what is not in order yet arrives.
    pub(super) fn first_crossing_at(&self) -> Option<Instant> {
        let crossings = self.windows.iter().flat_map(|window| &window.journal.crossings);
        crossings.map(|crossing| crossing.turn.at).min()
    }

    /// Puts the window in order, which leaves it empty.
    pub(super) fn settle(&mut self, partition: &Partition) {
        let Settling { order, trace, windows, crossed } = self;
        let receiver_of = |crossing: &Crossing| partition.receiver_of(crossing.channel);
        order.put_in_order(windows, trace, receiver_of, |part, handover| {
            if let Some(crossed) = crossed.get_mut(part) {
                crossed.push(handover);
            }
        });
    }

    /// Gives a part what has been put in order for it.
    pub(super) fn hand_over(&mut self, part: PartId, arrivals: &mut Vec<OrderedCrossing>) {
        if let Some(crossed) = self.crossed.get_mut(part) {
            arrivals.append(crossed);
        }
    }
}
