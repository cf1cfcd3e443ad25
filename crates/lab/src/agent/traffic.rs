//! Interests for chunks of files, in a pattern and at a rate.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use packet::ndn::InterestBuilder;
use packet::random::{Random, Zipf, ZipfError};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason};

use super::activity::{Activity, Log};
use super::producer::Files;
use crate::experiment::plan::Pattern;

/// What a traffic source works with.
#[derive(Debug)]
pub(super) struct TrafficConfig {
    pub(super) files: Files,
    pub(super) start: Instant,
    pub(super) stop: Instant,
    pub(super) per_second: f64,
    pub(super) pattern: Pattern,
    pub(super) poisson: bool,
    pub(super) lifetime: Duration,
    pub(super) seed: u64,
}

/// One source.
#[derive(Debug)]
pub(super) struct Traffic {
    config: TrafficConfig,
    random: Random,
    log: Log,
    due: Instant,
    sent: u64,
    /// For each chunk that is under way, the numbers of the Interests and when they left.
    open: BTreeMap<(u32, u64), VecDeque<(u64, Instant)>>,
    expiries: VecDeque<(Instant, (u32, u64), u64)>,
    /// Of the chunks by rank, for `zipf`.
    catalogue: Option<Zipf>,
}

impl Traffic {
    pub(super) fn new(config: TrafficConfig, log: Log) -> Result<Self, ZipfError> {
        let chunks = u64::from(config.files.count()) * config.files.segments();
        let catalogue = match config.pattern {
            // A million is enough, and what it takes of memory is no more than eight megabytes.
            Pattern::Zipf(exponent) => Some(Zipf::new(chunks.min(1_000_000) as usize, exponent, 0.0)?),
            _ => None,
        };
        let random = Random::from_seed(config.seed);
        let due = config.start;
        Ok(Traffic {
            config,
            random,
            log,
            due,
            sent: 0,
            open: BTreeMap::new(),
            expiries: VecDeque::new(),
            catalogue,
        })
    }

    fn choose(&mut self) -> (u32, u64) {
        let segments = self.config.files.segments();
        let chunks = u64::from(self.config.files.count()) * segments;
        let chunk = match (&self.catalogue, self.config.pattern) {
            (Some(catalogue), _) => u64::from(catalogue.draw(&mut self.random)),
            (None, Pattern::Sequential) => self.sent % chunks.max(1),
            (None, _) => self.random.below(chunks.max(1)),
        };
        (u32::try_from(chunk / segments).unwrap_or(0), chunk % segments)
    }

    fn step(&mut self) -> Duration {
        let mean = 1.0 / self.config.per_second;
        let factor = if self.config.poisson { -(1.0 - self.random.unit()).ln() } else { 1.0 };
        Duration::from_secs_f64(mean * factor)
    }

    fn close(&mut self, number: u64, sent: Instant, round_trip: Option<Duration>, nack: &str) {
        let shown = round_trip.map_or_else(String::new, |time| format!("{:.6}", time.as_secs_f64() * 1e3));
        let line = format!("{number},{},{shown},{nack}", self.log.time(sent));
        self.log.line(&line);
    }

    fn close_all(&mut self, chunk: (u32, u64), now: Option<Instant>, nack: &str) {
        for (number, sent) in self.open.remove(&chunk).unwrap_or_default() {
            self.close(number, sent, now.map(|now| now.saturating_since(sent)), nack);
        }
    }
}

impl Activity for Traffic {
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        let Some(chunk) = self.config.files.place(data.name()) else { return false };
        let mine = self.open.contains_key(&chunk);
        self.close_all(chunk, Some(now), "");
        mine
    }

    fn receive_nack(&mut self, _now: Instant, interest: &Interest, reason: NackReason) -> bool {
        let Some(chunk) = self.config.files.place(interest.name()) else { return false };
        let mine = self.open.contains_key(&chunk);
        self.close_all(chunk, None, &reason.to_string());
        mine
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some((_, chunk, number)) = self.expiries.front().copied().filter(|(at, ..)| *at <= now) {
            self.expiries.pop_front();
            let Some(list) = self.open.get_mut(&chunk) else { continue };
            let found = list.iter().position(|(other, _)| *other == number).and_then(|at| list.remove(at));
            if list.is_empty() {
                self.open.remove(&chunk);
            }
            if let Some((number, sent)) = found {
                self.close(number, sent, None, "");
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        if self.due > now || self.due >= self.config.stop {
            return None;
        }
        let chunk = self.choose();
        let step = self.step();
        self.due += step;
        self.open.entry(chunk).or_default().push_back((self.sent, now));
        self.expiries.push_back((now + self.config.lifetime, chunk, self.sent));
        self.sent += 1;
        let name = self.config.files.name(chunk.0, chunk.1).ok()?;
        InterestBuilder::new(name).nonce(self.random.next_u32()).lifetime(self.config.lifetime).build().ok()
    }

    fn next_deadline(&self) -> Instant {
        let due = if self.due >= self.config.stop { Instant::NEVER } else { self.due };
        self.expiries.front().map_or(Instant::NEVER, |(at, ..)| *at).min(due)
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn finish(&mut self, _now: Instant) -> io::Result<()> {
        self.log.finish()
    }
}
