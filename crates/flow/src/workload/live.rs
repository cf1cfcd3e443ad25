//! A live stream: items come into being at a rate, and each is asked for as soon as it is there.

use packet::parameters::{ParameterError, Parameters};
use packet::time::{Duration, Instant};

use super::steady::gap_of_rate;
use super::{Setting, Workload};

#[derive(Debug)]
struct Live {
    /// From one item to the next.
    every: Duration,
    /// How long each is there before it is asked for.
    behind: Duration,
    next: u64,
    due: Instant,
    left: u64,
}

/// The workload. Whoever joins asks for the newest item at once.
pub(super) fn start(p: &mut Parameters, setting: &Setting) -> Result<Box<dyn Workload>, ParameterError> {
    let every = gap_of_rate(p)?;
    let behind = p.millis("behind", Duration::ZERO)?;
    let elapsed = setting.begin.saturating_since(Instant::ZERO).as_nanos();
    let next = elapsed.saturating_sub(behind.as_nanos()) / every.as_nanos().max(1);
    let left = p.limit("limit")?.unwrap_or(u64::MAX);
    Ok(Box::new(Live { every, behind, next, due: setting.begin, left }))
}

impl Workload for Live {
    fn poll_item(&mut self, now: Instant) -> Option<u64> {
        if self.next_deadline() > now {
            return None;
        }
        self.left -= 1;
        let item = self.next;
        self.next += 1;
        let there = self.every.as_nanos().saturating_mul(self.next);
        self.due = self.due.max(Instant::from_nanos(there) + self.behind);
        Some(item)
    }

    fn next_deadline(&self) -> Instant {
        if self.left == 0 { Instant::NEVER } else { self.due }
    }

    fn is_complete(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkloadSpec;

    fn viewer(spec: &str, begin: u64) -> Vec<(u64, u64)> {
        let setting = Setting { begin: Instant::from_millis(begin), ..Setting::forever(1) };
        let mut workload = spec.parse::<WorkloadSpec>().unwrap().start(&setting).unwrap();
        let mut asked = Vec::new();
        while asked.len() < 4 {
            let at = workload.next_deadline();
            if let Some(item) = workload.poll_item(at) {
                asked.push((at.as_nanos() / 1_000_000, item));
            }
        }
        asked
    }

    #[test]
    fn viewers_who_join_at_different_times_ask_for_the_same_items_at_the_same_time() {
        assert_eq!(viewer("live/rate~10", 0), [(0, 0), (100, 1), (200, 2), (300, 3)]);
        assert_eq!(viewer("live/rate~10", 130), [(130, 1), (200, 2), (300, 3), (400, 4)]);
    }

    #[test]
    fn a_viewer_who_stays_behind_asks_for_each_item_so_much_later() {
        assert_eq!(viewer("live/rate~10/behind~250", 630), [(630, 3), (650, 4), (750, 5), (850, 6)]);
    }
}
