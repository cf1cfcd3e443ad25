//! Single Interests whose round trips are timed: pings, and chunks in a pattern.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Component, Data, Dialect, Interest, NackReason, Name};

use super::activity::{Activity, Log};

/// The columns of the table of round trips. An answer that never came has no round trip.
pub(crate) const HEAD: [&str; 4] = ["no", "time", "round_trip_ms", "nack"];
/// Stands in place of a Nack's reason where an answer could still have come when the run ended.
pub(crate) const OPEN: &str = "open";

/// What a ping works with.
#[derive(Debug)]
pub(super) struct PingConfig {
    pub(super) prefix: Name,
    pub(super) start: Instant,
    pub(super) stop: Instant,
    pub(super) every: Duration,
    pub(super) count: u64,
    pub(super) lifetime: Duration,
    pub(super) seed: u64,
    pub(super) dialect: Dialect,
}

/// One series of pings.
#[derive(Debug)]
pub(super) struct Pings {
    config: PingConfig,
    random: Random,
    log: Log,
    next: u64,
    /// Sent and not answered.
    open: BTreeMap<u64, Instant>,
    /// In the order of expiry.
    expiries: VecDeque<(Instant, u64)>,
}

impl Pings {
    pub(super) fn new(config: PingConfig, log: Log) -> Self {
        let random = Random::from_seed(config.seed);
        Pings { config, random, log, next: 0, open: BTreeMap::new(), expiries: VecDeque::new() }
    }

    fn due(&self) -> Instant {
        if self.next >= self.config.count {
            return Instant::NEVER;
        }
        let since = Duration::from_nanos(self.config.every.as_nanos().saturating_mul(self.next));
        let at = self.config.start + since;
        // The last ones are not sent when their answers could not come before the end.
        if at >= self.config.stop { Instant::NEVER } else { at }
    }

    fn number(&self, name: packet::NameRef<'_>) -> Option<u64> {
        if !self.config.prefix.as_ref().is_prefix_of(name) {
            return None;
        }
        std::str::from_utf8(name.component(self.config.prefix.as_ref().component_count())?.value)
            .ok()?
            .parse()
            .ok()
    }

    fn close(&mut self, number: u64, round_trip: Option<Duration>, nack: &str) {
        let Some(sent) = self.open.remove(&number) else { return };
        let shown = round_trip.map_or_else(String::new, |time| format!("{:.6}", time.as_secs_f64() * 1e3));
        let sent = self.log.time(sent);
        self.log.row(&[&number, &sent, &shown, &nack]);
    }
}

impl Activity for Pings {
    fn receive_data(&mut self, now: Instant, data: &Data) -> bool {
        let Some(number) = self.number(data.name()) else { return false };
        if let Some(sent) = self.open.get(&number) {
            let took = now.saturating_since(*sent);
            self.close(number, Some(took), "");
        }
        true
    }

    fn receive_nack(&mut self, _now: Instant, interest: &Interest, reason: NackReason) -> bool {
        let Some(number) = self.number(interest.name()) else { return false };
        self.close(number, None, &reason.to_string());
        true
    }

    fn handle_timeout(&mut self, now: Instant) {
        while let Some((_, number)) = self.expiries.front().copied().filter(|(at, _)| *at <= now) {
            self.expiries.pop_front();
            self.close(number, None, "");
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Interest> {
        if self.due() > now {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.open.insert(number, now);
        self.expiries.push_back((now + self.config.lifetime, number));
        let name = self.config.prefix.with(Component::generic(number.to_string().as_bytes())).ok()?;
        self.config.dialect.interest(name, self.random.next_u32(), self.config.lifetime).ok()
    }

    fn next_deadline(&self) -> Instant {
        self.expiries.front().map_or(Instant::NEVER, |(at, _)| *at).min(self.due())
    }

    fn is_complete(&self) -> bool {
        self.next >= self.config.count && self.open.is_empty()
    }

    fn finish(&mut self, now: Instant) -> io::Result<()> {
        // Those that could still have been answered are neither lost nor answered.
        let left: Vec<(u64, Instant)> = self.open.iter().map(|(number, sent)| (*number, *sent)).collect();
        for (number, sent) in left {
            let is_late = now.saturating_since(sent) >= self.config.lifetime;
            self.close(number, None, if is_late { "" } else { OPEN });
        }
        self.log.finish()
    }
}
