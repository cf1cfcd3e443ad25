//! What a workload has asked for and what came of it.

use std::collections::{BTreeMap, VecDeque};

use packet::NackReason;
use packet::registry::SpecError;
use packet::time::{Duration, Instant};

use super::{Outcome, Setting, Workload, WorkloadSpec};

/// Runs a workload: hands out items to ask for, notes when they were, and tells it what came of each, for
/// owners that send Interests themselves. An item that is asked for twice before it comes is open twice, and
/// one Data answers both.
///
/// Its memory is what is open: no more than the workload asks for in the lifetime of an Interest.
#[derive(Debug)]
pub struct Requester {
    workload: Box<dyn Workload>,
    /// How many items there are, if that is known.
    items: u64,
    end: Instant,
    lifetime: Duration,
    /// Of each item that is open, its requests, the oldest first.
    open: BTreeMap<u64, VecDeque<OpenRequest>>,
    /// In the order of their times.
    expiries: VecDeque<Expiry>,
    next_number: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    number: u64,
    sent: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Expiry {
    at: Instant,
    item: u64,
    /// Of the request.
    number: u64,
}

/// A request that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// How many there were before it.
    pub number: u64,
    /// What it asks for.
    pub item: u64,
}

/// A request of which something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// How many were made before it.
    pub number: u64,
    /// What it asked for.
    pub item: u64,
    /// When it was made.
    pub sent: Instant,
    /// What came of it.
    pub outcome: Outcome,
}

impl Requester {
    /// Starts this workload there, with Interests of this lifetime.
    ///
    /// # Errors
    /// It cannot run there.
    pub fn new(spec: &WorkloadSpec, setting: &Setting, lifetime: Duration) -> Result<Self, SpecError> {
        Ok(Requester::over(spec.start(setting)?, setting, lifetime))
    }

    /// Runs a workload that was started there, such as a [`Replay`](super::Replay).
    #[must_use]
    pub fn over(workload: Box<dyn Workload>, setting: &Setting, lifetime: Duration) -> Self {
        Requester {
            workload,
            items: setting.items.unwrap_or(u64::MAX).max(1),
            end: setting.end,
            lifetime,
            open: BTreeMap::new(),
            expiries: VecDeque::new(),
            next_number: 0,
        }
    }

    /// The next request that is due.
    pub fn poll_request(&mut self, now: Instant) -> Option<Opened> {
        if now >= self.end {
            return None;
        }
        let item = self.workload.poll_item(now)? % self.items;
        let number = self.next_number;
        self.next_number += 1;
        self.open.entry(item).or_default().push_back(OpenRequest { number, sent: now });
        self.expiries.push_back(Expiry { at: now + self.lifetime, item, number });
        Some(Opened { number, item })
    }

    /// Data of an item came: what that answers, the oldest first.
    pub fn handle_data(&mut self, now: Instant, item: u64) -> Vec<Closed> {
        let outcome = |sent| Outcome::Data { round_trip: now.saturating_since(sent) };
        self.close_all(now, item, outcome)
    }

    /// The Interest for an item came back: the requests that end by it.
    pub fn handle_nack(&mut self, now: Instant, item: u64, reason: NackReason) -> Vec<Closed> {
        self.close_all(now, item, |_| Outcome::Nack(reason))
    }

    /// A request whose time has passed. To be called until there is none.
    pub fn poll_timeout(&mut self, now: Instant) -> Option<Closed> {
        while let Some(Expiry { at, item, number }) = self.expiries.front().copied()
            && at <= now
        {
            self.expiries.pop_front();
            let Some(list) = self.open.get_mut(&item) else { continue };
            let found = list.iter().position(|open| open.number == number).and_then(|at| list.remove(at));
            if list.is_empty() {
                self.open.remove(&item);
            }
            if let Some(OpenRequest { number, sent }) = found {
                self.workload.handle_outcome(now, item, Outcome::Timeout);
                return Some(Closed { number, item, sent, outcome: Outcome::Timeout });
            }
        }
        None
    }

    /// When to ask for requests and timeouts again, if nothing happens until then.
    pub fn next_deadline(&self) -> Instant {
        let expiry = self.expiries.front().map_or(Instant::NEVER, |expiry| expiry.at);
        let next = self.workload.next_deadline();
        if next < self.end { expiry.min(next) } else { expiry }
    }

    /// Requests of which nothing has come.
    pub fn outstanding(&self) -> usize {
        self.open.values().map(VecDeque::len).sum()
    }

    /// These requests, with how many were made before each and when it was made, in no order.
    pub fn open(&self) -> impl Iterator<Item = (u64, Instant)> {
        self.open.values().flatten().map(|open| (open.number, open.sent))
    }

    /// Whether the workload is over, and nothing is open.
    pub fn is_complete(&self) -> bool {
        self.open.is_empty() && self.workload.is_complete()
    }

    fn close_all(&mut self, now: Instant, item: u64, outcome: impl Fn(Instant) -> Outcome) -> Vec<Closed> {
        let requests = self.open.remove(&item).unwrap_or_default();
        let mut closed = Vec::with_capacity(requests.len());
        for OpenRequest { number, sent } in requests {
            let outcome = outcome(sent);
            self.workload.handle_outcome(now, item, outcome);
            closed.push(Closed { number, item, sent, outcome });
        }
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_closed_once_by_what_comes_first() {
        let setting = Setting { items: Some(2), ..Setting::forever(1) };
        let spec: WorkloadSpec = "sequential/rate~100/limit~4".parse().unwrap();
        let mut requester = Requester::new(&spec, &setting, Duration::from_millis(25)).unwrap();
        let at = Instant::from_millis;
        let mut asked = |now| requester.poll_request(now).map(|opened| (opened.number, opened.item));
        assert_eq!([asked(at(0)), asked(at(10)), asked(at(20))], [Some((0, 0)), Some((1, 1)), Some((2, 0))]);
        assert_eq!(asked(at(29)), None);
        // One Data for both requests of item 0; and it comes no more.
        let closed = requester.handle_data(at(21), 0);
        let trip = |millis| Outcome::Data { round_trip: Duration::from_millis(millis) };
        assert_eq!(
            closed.iter().map(|one| (one.number, one.outcome)).collect::<Vec<_>>(),
            [(0, trip(21)), (2, trip(1))]
        );
        assert!(requester.handle_data(at(22), 0).is_empty());
        assert_eq!(requester.poll_timeout(at(34)), None);
        let late = requester.poll_timeout(at(35)).unwrap();
        assert_eq!((late.number, late.sent, late.outcome), (1, at(10), Outcome::Timeout));
        assert_eq!(requester.poll_request(at(35)).unwrap().item, 1);
        assert!(!requester.is_complete());
        assert_eq!(requester.handle_nack(at(36), 1, NackReason::NoRoute).len(), 1);
        assert!(requester.is_complete() && requester.poll_request(at(99)).is_none());
    }

    #[test]
    fn nothing_new_is_asked_for_from_the_end_on() {
        let setting = Setting { end: Instant::from_millis(15), ..Setting::forever(1) };
        let spec: WorkloadSpec = "sequential/rate~100".parse().unwrap();
        let mut requester = Requester::new(&spec, &setting, Duration::from_millis(50)).unwrap();
        let now = Instant::from_millis(12);
        assert_eq!(std::iter::from_fn(|| requester.poll_request(now)).count(), 2);
        assert_eq!(requester.next_deadline(), Instant::from_millis(62), "only expiries are left");
        assert_eq!(requester.poll_request(Instant::from_millis(20)), None);
    }
}
