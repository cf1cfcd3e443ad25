//! A heap of object numbers by priority, in which an object's priority can be changed: the lowest leaves
//! first.

const OUT: u32 = u32::MAX;

/// The heap. Of equal priorities the one that was set first leaves first.
#[derive(Debug, Default)]
pub(super) struct Heap {
    items: Vec<Item>,
    /// Where each number is among the items.
    places: Vec<u32>,
    settings: u64,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    priority: f64,
    set: u64,
    id: u32,
}

impl Item {
    #[inline]
    fn is_before(&self, other: &Item) -> bool {
        self.priority < other.priority || self.priority == other.priority && self.set < other.set
    }
}

impl Heap {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Puts `id` in, or changes its priority.
    pub(super) fn set(&mut self, id: u32, priority: f64) {
        self.settings += 1;
        let item = Item { priority, set: self.settings, id };
        if self.places.len() <= id as usize {
            self.places.resize(id as usize + 1, OUT);
        }
        let at = match self.place(id) {
            Some(at) => at,
            None => {
                self.items.push(item);
                self.items.len() - 1
            }
        };
        self.put(at, item);
        let at = self.rise(at);
        self.sink(at);
    }

    pub(super) fn holds(&self, id: u32) -> bool {
        self.place(id).is_some()
    }

    pub(super) fn remove(&mut self, id: u32) {
        let Some(at) = self.place(id) else { return };
        self.places[id as usize] = OUT;
        let Some(last) = self.items.pop() else { return };
        if at < self.items.len() {
            self.put(at, last);
            let at = self.rise(at);
            self.sink(at);
        }
    }

    /// Takes the lowest out, with its priority.
    pub(super) fn pop(&mut self) -> Option<(u32, f64)> {
        let Item { id, priority, .. } = *self.items.first()?;
        self.remove(id);
        Some((id, priority))
    }

    pub(super) fn footprint_bytes(&self) -> usize {
        self.items.capacity() * size_of::<Item>() + self.places.capacity() * size_of::<u32>()
    }

    fn place(&self, id: u32) -> Option<usize> {
        self.places.get(id as usize).filter(|&&at| at != OUT).map(|&at| at as usize)
    }

    #[inline]
    fn put(&mut self, at: usize, item: Item) {
        self.items[at] = item;
        self.places[item.id as usize] = at as u32;
    }

    fn rise(&mut self, mut at: usize) -> usize {
        let item = self.items[at];
        while at > 0 {
            let above = (at - 1) / 2;
            if !item.is_before(&self.items[above]) {
                break;
            }
            self.put(at, self.items[above]);
            at = above;
        }
        self.put(at, item);
        at
    }

    fn sink(&mut self, mut at: usize) {
        let item = self.items[at];
        loop {
            let below = 2 * at + 1;
            let Some(&left) = self.items.get(below) else { break };
            let right = self.items.get(below + 1).filter(|right| right.is_before(&left));
            let (next, next_item) = right.map_or((below, left), |&right| (below + 1, right));
            if !next_item.is_before(&item) {
                break;
            }
            self.put(at, next_item);
            at = next;
        }
        self.put(at, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    #[test]
    fn the_lowest_leaves_first_whatever_was_changed() {
        let mut random = Random::from_seed(4);
        let (mut heap, mut model) = (Heap::default(), Vec::<(f64, u64, u32)>::new());
        for step in 0..20_000u64 {
            let id = random.below(100) as u32;
            match random.below(4) {
                0 => {
                    model.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let lowest = if model.is_empty() { None } else { Some(model.remove(0)) };
                    assert_eq!(heap.pop(), lowest.map(|(priority, _, id)| (id, priority)));
                }
                1 => {
                    heap.remove(id);
                    model.retain(|&(_, _, other)| other != id);
                }
                _ => {
                    let priority = random.below(30) as f64;
                    heap.set(id, priority);
                    model.retain(|&(_, _, other)| other != id);
                    model.push((priority, step, id));
                }
            }
            assert_eq!(heap.len(), model.len());
        }
    }
}
