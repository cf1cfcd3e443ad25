//! Interests for content that does not exist, sent in bursts and refreshed before they expire.

use std::collections::{BTreeSet, VecDeque};
use std::io;

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Component, Data, Dialect, Interest, NackReason, Name};

use super::activity::{Activity, Log};

/// The columns of the flood's table.
pub(crate) const HEAD: [&str; 6] = ["time", "sent", "refreshed", "nacks", "data", "behind_ms"];

/// What a flood works with.
#[derive(Debug)]
pub(super) struct FloodConfig {
    pub(super) prefix: Name,
    pub(super) start: Instant,
    pub(super) stop: Instant,
    pub(super) burst: u32,
    pub(super) every: Duration,
    pub(super) until: u32,
    pub(super) lifetime: Duration,
    pub(super) refresh: Option<Duration>,
    pub(super) seed: u64,
    pub(super) dialect: Dialect,
}

/// A run of numbers that are due together.
#[derive(Debug, Clone, Copy)]
struct Batch {
    due: Instant,
    first: u32,
    next: u32,
    end: u32,
    refresh: bool,
}

#[derive(Debug, Default)]
struct Counts {
    sent: u64,
    refreshed: u64,
    nacks: u64,
    data: u64,
    behind: Duration,
}

/// One flood.
#[derive(Debug)]
pub(super) struct Flood {
    config: FloodConfig,
    random: Random,
    log: Log,
    /// By due time: refreshes are appended behind what is due earlier.
    batches: VecDeque<Batch>,
    next_burst: Instant,
    begun: u32,
    counts: Counts,
    /// Numbers that Data has answered.
    answered: BTreeSet<u32>,
    next_line: Instant,
}

impl Flood {
    pub(super) fn new(config: FloodConfig, log: Log) -> Self {
        Flood {
            random: Random::from_seed(config.seed),
            next_burst: config.start,
            next_line: config.start + Duration::from_secs(1),
            config,
            log,
            batches: VecDeque::new(),
            begun: 0,
            counts: Counts::default(),
            answered: BTreeSet::new(),
        }
    }

    fn write_line(&mut self, at: Instant) {
        let counts = std::mem::take(&mut self.counts);
        let (time, behind_ms) = (self.log.time(at), counts.behind.as_nanos() / 1_000_000);
        self.log.row(&[&time, &counts.sent, &counts.refreshed, &counts.nacks, &counts.data, &behind_ms]);
    }

    /// Puts a batch where its time is; nearly always at the end.
    fn insert(&mut self, batch: Batch) {
        let at = self.batches.iter().rposition(|other| other.due <= batch.due).map_or(0, |at| at + 1);
        self.batches.insert(at, batch);
    }

    fn is_mine(&self, name: packet::NameRef<'_>) -> bool {
        self.config.prefix.as_ref().is_prefix_of(name)
    }

    /// The number of an Interest of this flood that has this name.
    fn number(&self, name: packet::NameRef<'_>) -> Option<u32> {
        let last = name.component(self.config.prefix.as_ref().component_count())?;
        std::str::from_utf8(last.value).ok()?.parse().ok().filter(|number| *number < self.begun)
    }
}

impl Activity for Flood {
    fn receive_data(&mut self, _now: Instant, data: &Data) -> bool {
        let mine = self.is_mine(data.name());
        // What refreshes it asks for the same: each is answered once.
        if let Some(number) = self.number(data.name()).filter(|_| mine) {
            self.counts.data += u64::from(self.answered.insert(number));
        }
        mine
    }

    fn receive_nack(&mut self, _now: Instant, interest: &Interest, _reason: NackReason) -> bool {
        let mine = self.is_mine(interest.name());
        self.counts.nacks += u64::from(mine);
        mine
    }

    fn handle_timeout(&mut self, now: Instant) {
        while self.next_line <= now {
            let at = self.next_line;
            self.write_line(at);
            self.next_line += Duration::from_secs(1);
        }
        if now >= self.config.stop {
            self.batches.clear();
            self.begun = self.config.until;
            return;
        }
        while self.next_burst <= now && self.begun < self.config.until {
            let end = self.begun.saturating_add(self.config.burst).min(self.config.until);
            let batch =
                Batch { due: self.next_burst, first: self.begun, next: self.begun, end, refresh: false };
            self.insert(batch);
            self.begun = end;
            self.next_burst += self.config.every;
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        let batch = self.batches.front_mut().filter(|batch| batch.due <= now)?;
        let number = batch.next;
        batch.next += 1;
        self.counts.behind = self.counts.behind.max(now.saturating_since(batch.due));
        if batch.refresh {
            self.counts.refreshed += 1;
        } else {
            self.counts.sent += 1;
        }
        let done = *batch;
        if done.next >= done.end {
            self.batches.pop_front();
            if let Some(refresh) = self.config.refresh {
                let due = done.due + refresh;
                self.insert(Batch { due, next: done.first, refresh: true, ..done });
            }
        }
        let name = self.config.prefix.with(Component::generic(number.to_string().as_bytes())).ok()?;
        self.config.dialect.interest(name, self.random.next_u32(), self.config.lifetime).ok()
    }

    fn next_deadline(&self) -> Instant {
        let batch = self.batches.front().map_or(Instant::NEVER, |batch| batch.due);
        let burst = if self.begun < self.config.until { self.next_burst } else { Instant::NEVER };
        batch.min(burst).min(self.next_line)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn finish(&mut self, now: Instant) -> io::Result<()> {
        self.write_line(now);
        self.log.finish()
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;
    use crate::analysis::Table;

    #[test]
    fn answers_to_what_refreshes_an_interest_are_no_more_than_the_one_answer() {
        let folder = TestFolder::new("flood-test");
        let log = Log::create(&folder, "flood.csv", &HEAD, 0).unwrap();
        let config = FloodConfig {
            prefix: "/f".parse().unwrap(),
            start: Instant::ZERO,
            stop: Instant::ZERO + Duration::from_secs(5),
            burst: 2,
            every: Duration::from_secs(1),
            until: 2,
            lifetime: Duration::from_secs(4),
            refresh: Some(Duration::from_secs(1)),
            seed: 1,
            dialect: Dialect::Ndn,
        };
        let mut flood = Flood::new(config, log);
        let mut asked = 0;
        for second in 0..4 {
            let now = Instant::ZERO + Duration::from_secs(second);
            flood.handle_timeout(now);
            while let Some(interest) = flood.poll_transmit(now) {
                let data = packet::ndn::DataBuilder::new(interest.name().to_name());
                let data = data.build_with_digest().unwrap();
                assert!(flood.receive_data(now, &data));
                asked += 1;
            }
        }
        flood.finish(Instant::ZERO + Duration::from_secs(4)).unwrap();
        let table = Table::read(std::fs::File::open(folder.join("flood.csv")).unwrap()).unwrap();
        let sum = |column: &str| table.column(column).iter().sum::<f64>();
        assert_eq!((asked, sum("sent"), sum("refreshed"), sum("data")), (8, 2.0, 6.0, 2.0));
    }
}
