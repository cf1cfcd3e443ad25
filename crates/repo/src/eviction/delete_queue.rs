//! The delete queue of Gadow and Anastasiades et al., "Persistent Caching in Information-Centric Networking"
//! (2015).
//!
//! New objects enter at three quarters of the queue, a request for the first segment pushes an object to the
//! tail, and deletions take from the head. The variants that the paper names are settings.

use super::ObjectEviction;
use super::list::{List, Nodes};

/// Which requests push an object to the tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Push {
    /// Those for the first segment, as the paper chose: large objects get no advantage from having many.
    #[default]
    First,
    /// Those for every so-many-th segment, the first among them.
    EveryNth(u32),
    /// All.
    Every,
}

/// The paper's settings, and those that it argues about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeleteQueueConfig {
    /// Where new objects enter: 0 is the head, from which deletions take, 1 the tail.
    pub inclusion_point: f64,
    /// Which requests push.
    pub push: Push,
}

impl Default for DeleteQueueConfig {
    fn default() -> Self {
        DeleteQueueConfig { inclusion_point: 0.75, push: Push::First }
    }
}

/// The queue, in two parts with the inclusion point between them, so that nobody has to walk there.
#[derive(Debug)]
pub struct DeleteQueue {
    config: DeleteQueueConfig,
    nodes: Nodes,
    /// From the head to the inclusion point.
    front: List,
    /// From the inclusion point to the tail.
    back: List,
}

const FRONT: u8 = 0;
const BACK: u8 = 1;

impl DeleteQueue {
    /// An empty queue.
    pub fn new(config: DeleteQueueConfig) -> Self {
        DeleteQueue { config, nodes: Nodes::default(), front: List::new(FRONT), back: List::new(BACK) }
    }

    /// Moves objects over the inclusion point until it is where it belongs.
    #[inline]
    fn balance(&mut self) {
        let wanted = (self.len() as f64 * self.config.inclusion_point) as usize;
        while self.front.len < wanted
            && let Some(id) = self.back.pop_head(&mut self.nodes)
        {
            self.front.push_tail(&mut self.nodes, id);
        }
        while self.front.len > wanted
            && let Some(id) = self.front.pop_tail(&mut self.nodes)
        {
            self.back.push_head(&mut self.nodes, id);
        }
    }

    #[inline]
    fn unlink(&mut self, id: u32) -> bool {
        match self.nodes.list_of(id) {
            Some(FRONT) => self.front.unlink(&mut self.nodes, id),
            Some(_) => self.back.unlink(&mut self.nodes, id),
            None => return false,
        }
        true
    }
}

impl Default for DeleteQueue {
    fn default() -> Self {
        DeleteQueue::new(DeleteQueueConfig::default())
    }
}

impl ObjectEviction for DeleteQueue {
    #[inline]
    fn include(&mut self, id: u32, _key: u64, _bytes: u64) {
        self.unlink(id);
        self.front.push_tail(&mut self.nodes, id);
        self.balance();
    }

    #[inline]
    fn request(&mut self, id: u32, segment: u32) {
        let pushes = match self.config.push {
            Push::First => segment == 0,
            Push::EveryNth(n) => segment.is_multiple_of(n.max(1)),
            Push::Every => true,
        };
        if pushes && self.back.tail() != Some(id) && self.unlink(id) {
            self.back.push_tail(&mut self.nodes, id);
            self.balance();
        }
    }

    fn remove(&mut self, id: u32) {
        if self.unlink(id) {
            self.balance();
        }
    }

    #[inline]
    fn evict(&mut self) -> Option<u32> {
        let head = self.front.pop_head(&mut self.nodes).or_else(|| self.back.pop_head(&mut self.nodes))?;
        self.balance();
        Some(head)
    }

    fn len(&self) -> usize {
        self.front.len + self.back.len
    }

    fn footprint_bytes(&self) -> usize {
        self.nodes.footprint_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    fn drain(queue: &mut DeleteQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.evict()).collect()
    }

    #[test]
    fn new_objects_enter_at_three_quarters_and_requested_ones_go_to_the_tail() {
        let mut queue = DeleteQueue::default();
        (0..8).for_each(|id| queue.include(id, 0, 1));
        (0..8).for_each(|id| queue.request(id, 0));
        queue.include(8, 0, 1);
        queue.request(1, 0);
        queue.request(2, 1);
        assert_eq!(drain(&mut queue), [0, 2, 3, 4, 5, 8, 6, 7, 1]);
    }

    #[test]
    fn it_orders_as_a_plain_list_does_whatever_the_inclusion_point() {
        for (seed, point) in [0.0, 0.5, 0.75, 0.9, 1.0].into_iter().enumerate() {
            let mut queue =
                DeleteQueue::new(DeleteQueueConfig { inclusion_point: point, push: Push::EveryNth(2) });
            let mut model: Vec<u32> = Vec::new();
            let mut random = Random::from_seed(seed as u64);
            for _ in 0..5000 {
                let (id, segment) = (random.below(60) as u32, random.below(4) as u32);
                let position = model.iter().position(|&other| other == id);
                match (random.below(8), position) {
                    (0, _) => {
                        let head = if model.is_empty() { None } else { Some(model.remove(0)) };
                        assert_eq!(queue.evict(), head);
                    }
                    (1, Some(at)) => {
                        model.remove(at);
                        queue.remove(id);
                    }
                    (2.., Some(at)) => {
                        queue.request(id, segment);
                        if segment % 2 == 0 {
                            model.remove(at);
                            model.push(id);
                        }
                    }
                    (_, None) => {
                        queue.include(id, 0, 1);
                        model.insert((model.len() as f64 * point) as usize, id);
                    }
                }
                assert_eq!(queue.len(), model.len());
            }
            assert_eq!(drain(&mut queue), model);
        }
    }
}
