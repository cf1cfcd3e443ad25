//! A bottleneck in virtual time: some transfers share one link, whose queue drops, marks, or reports a rate,
//! and which may police Interests with a token bucket that answers by Nacks.

use std::collections::BTreeMap;

use cairn_flow::{Arrival, Transfer, TransferConfig};
use packet::NackReason;
use packet::random::Random;
use packet::time::{Duration, Instant};

/// The network that all transfers of a test share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bottleneck {
    pub(crate) data_per_second: u64,
    pub(crate) round_trip: Duration,
    /// Data that may wait for the link.
    pub(crate) queue: u64,
    /// Data beyond it is marked.
    pub(crate) mark_above: Option<u64>,
    /// Depth of a token bucket at the link's rate.
    pub(crate) police: Option<u64>,
    /// Whether the link tells each transfer its share.
    pub(crate) report: bool,
    pub(crate) loss: f64,
    /// Nothing passes between these two.
    pub(crate) outage: Option<(Instant, Instant)>,
}

impl Bottleneck {
    /// 1000 Data a second, 50 ms there and back, room for twice what is on its way.
    pub(crate) fn plain() -> Self {
        Bottleneck {
            data_per_second: 1000,
            round_trip: Duration::from_millis(50),
            queue: 100,
            mark_above: None,
            police: None,
            report: false,
            loss: 0.0,
            outage: None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Wake(usize),
    AtRouter { transfer: usize, item: u64 },
    Data { transfer: usize, item: u64, arrival: Arrival },
    Nack { transfer: usize, item: u64 },
}

pub(crate) struct Network {
    bottleneck: Bottleneck,
    pub(crate) transfers: Vec<Transfer>,
    starts: Vec<Instant>,
    /// Data received by each transfer in each whole second.
    pub(crate) received: Vec<Vec<u64>>,
    events: BTreeMap<(Instant, u64), Event>,
    next_event: u64,
    armed: Vec<Option<Instant>>,
    link_free_at: Instant,
    bucket: (f64, Instant),
    random: Random,
    pub(crate) now: Instant,
    /// Whether every Interest that left was within what the controller allowed.
    pub(crate) obeyed: bool,
}

impl Network {
    pub(crate) fn new(bottleneck: Bottleneck, configs: &[(TransferConfig, Instant)], seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        let transfers: Vec<Transfer> =
            configs.iter().map(|(config, start)| Transfer::new(config, *start, random.next_u64())).collect();
        let starts: Vec<Instant> = configs.iter().map(|(_, start)| *start).collect();
        let count = transfers.len();
        let mut network = Network {
            bottleneck,
            transfers,
            starts: starts.clone(),
            received: vec![Vec::new(); count],
            events: BTreeMap::new(),
            next_event: 0,
            armed: vec![None; count],
            link_free_at: Instant::ZERO,
            bucket: (0.0, Instant::ZERO),
            random,
            now: Instant::ZERO,
            obeyed: true,
        };
        for (transfer, start) in starts.into_iter().enumerate() {
            network.push(start, Event::Wake(transfer));
        }
        network
    }

    pub(crate) fn run_until(&mut self, end: Instant) {
        while let Some((&(at, number), &event)) = self.events.first_key_value() {
            if at > end {
                break;
            }
            self.events.remove(&(at, number));
            self.now = at;
            self.handle(event);
        }
        self.now = end;
    }

    /// Data a second that a transfer received in whole seconds `from..to`.
    pub(crate) fn throughput(&self, transfer: usize, from: usize, to: usize) -> f64 {
        let seconds = &self.received[transfer];
        (from..to).map(|second| seconds.get(second).copied().unwrap_or(0)).sum::<u64>() as f64
            / (to - from) as f64
    }

    fn push(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.next_event), event);
        self.next_event += 1;
    }

    fn handle(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Wake(transfer) => {
                if self.armed[transfer].is_some_and(|at| at <= now) {
                    self.armed[transfer] = None;
                }
                self.transfers[transfer].handle_timeout(now);
                self.send(transfer);
            }
            Event::AtRouter { transfer, item } => self.at_router(transfer, item),
            Event::Data { transfer, item, arrival } => {
                let second = now.as_nanos() as usize / 1_000_000_000;
                let seconds = &mut self.received[transfer];
                seconds.resize(seconds.len().max(second + 1), 0);
                seconds[second] += 1;
                self.transfers[transfer].handle_data(now, item, arrival);
                self.transfers[transfer].confirm(item);
                self.send(transfer);
            }
            Event::Nack { transfer, item } => {
                self.transfers[transfer].handle_nack(now, item, NackReason::Congestion);
                self.send(transfer);
            }
        }
    }

    fn send(&mut self, transfer: usize) {
        let now = self.now;
        if now < self.starts[transfer] {
            return;
        }
        while let Some(request) = self.transfers[transfer].poll_request(now) {
            let machine = &self.transfers[transfer];
            self.obeyed &= f64::from(machine.in_flight()) <= machine.allowance().window.max(1.0) + 1e-9
                || machine.allowance().window < 4.5;
            let event = Event::AtRouter { transfer, item: request.item };
            self.push(now + self.bottleneck.round_trip / 2, event);
        }
        if let Some(deadline) = self.transfers[transfer].next_deadline() {
            let deadline = deadline.max(now + Duration::from_nanos(1));
            if self.armed[transfer].is_none_or(|armed| deadline < armed) {
                self.armed[transfer] = Some(deadline);
                self.push(deadline, Event::Wake(transfer));
            }
        }
    }

    fn at_router(&mut self, transfer: usize, item: u64) {
        let (now, link) = (self.now, self.bottleneck);
        if link.outage.is_some_and(|(from, to)| (from..to).contains(&now)) || self.random.chance(link.loss) {
            return;
        }
        let back = link.round_trip / 2;
        if let Some(depth) = link.police {
            let drained = now.saturating_since(self.bucket.1).as_secs_f64() * link.data_per_second as f64;
            let level = (self.bucket.0 - drained).max(0.0) + 1.0;
            if level > depth as f64 {
                self.push(now + back, Event::Nack { transfer, item });
                return;
            }
            self.bucket = (level, now);
        }
        let service = Duration::from_nanos(1_000_000_000 / link.data_per_second);
        let queued = self.link_free_at.saturating_since(now).as_nanos() / service.as_nanos();
        if queued >= link.queue {
            return;
        }
        self.link_free_at = self.link_free_at.max(now) + service;
        let active = self.starts.iter().filter(|start| **start <= now).count();
        let share = link.data_per_second as f64 / active as f64;
        let arrival = Arrival {
            congestion_marked: link.mark_above.is_some_and(|threshold| queued > threshold),
            explicit_rate: link.report.then_some(share),
            route: 0,
        };
        self.push(self.link_free_at + back, Event::Data { transfer, item, arrival });
    }
}

/// Jain's index: 1 if all are equal, 1/n if one has everything.
pub(crate) fn fairness(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares).max(f64::MIN_POSITIVE)
}
