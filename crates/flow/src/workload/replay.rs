//! Requests at given times, as somebody has recorded them.

use packet::time::Instant;

use super::Workload;

/// Asks for items at the times of a trace.
///
/// ```
/// use cairn_flow::workload::{Replay, Workload};
/// use packet::time::Instant;
///
/// let at = Instant::from_millis;
/// let mut trace = Replay::new(vec![(at(20), 7), (at(10), 3)]);
/// assert_eq!(trace.next_deadline(), at(10));
/// assert_eq!((trace.poll_item(at(15)), trace.poll_item(at(15))), (Some(3), None));
/// assert_eq!(trace.poll_item(at(20)), Some(7));
/// assert!(trace.is_complete());
/// ```
#[derive(Debug)]
pub struct Replay {
    requests: std::vec::IntoIter<(Instant, u64)>,
}

impl Replay {
    /// These items at these times. Those of the same time keep their order.
    #[must_use]
    pub fn new(mut requests: Vec<(Instant, u64)>) -> Self {
        requests.sort_by_key(|(at, _)| *at);
        Replay { requests: requests.into_iter() }
    }
}

impl Workload for Replay {
    fn poll_item(&mut self, now: Instant) -> Option<u64> {
        if self.next_deadline() > now {
            return None;
        }
        self.requests.next().map(|(_, item)| item)
    }

    fn next_deadline(&self) -> Instant {
        self.requests.as_slice().first().map_or(Instant::NEVER, |(at, _)| *at)
    }

    fn is_complete(&self) -> bool {
        self.requests.as_slice().is_empty()
    }
}
