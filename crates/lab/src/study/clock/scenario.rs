//! One run: a network, its consumers, and what came out.

use engine::{LeakyBucket, RateMethod};
use flow::{ControllerSpec, PacerConfig, RateChange, RoundTripConfig, Smoothing, TransferConfig};
use packet::random::Random;
use packet::time::{Duration, Instant};
use sim::{AppId, CoDel, CoDelAction, IntoName, LinkConfig, Network, Producer, Queue, SimError};

use super::consumer::PacedConsumer;
use crate::stats::fairness;

/// What is run.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) shape: Shape,
    pub(super) links: Links,
    pub(super) routers: Routers,
    pub(super) buckets: Buckets,
    /// Whether nodes keep Data.
    pub(super) caches: bool,
    /// One for all consumers.
    pub(super) controller: ControllerSpec,
    pub(super) pacing: Pacing,
    pub(super) times: Times,
    pub(super) seed: u64,
    pub(super) record: bool,
}

/// Every link, and the packets on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub(super) mbps: f64,
    /// One way.
    pub(super) delay: Duration,
    pub(super) queue_packets: u32,
    /// A Data with everything that belongs to it.
    pub(super) data_bytes: u32,
    /// An Interest for an item of two bytes' number; names are made as long as that needs, if possible.
    pub(super) interest_bytes: u32,
    /// Added to each packet on each link.
    pub(super) overhead_bytes: u32,
}

/// The token buckets of nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    /// What they leak in a second.
    pub(super) rate: f64,
    /// What they leak at a time.
    pub(super) leak: f64,
    /// Also how many Interests may wait where routers shape them.
    pub(super) depth: u32,
}

/// How consumers' Interests leave.
#[derive(Clone, Debug)]
pub(super) struct Pacing {
    /// In turn.
    pub(super) ticks: Vec<Duration>,
    pub(super) smoothing: Smoothing,
    pub(super) rate_change: RateChange,
}

/// When something begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The first consumer starts at this time, and the others unless they start at random times.
    pub(super) starts_at: Instant,
    /// Consumers start at random times up to this later.
    pub(super) start_spread: Duration,
    /// What happens before is not counted.
    pub(super) warm_up: Duration,
    pub(super) length: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Consumer, two routers, producer.
    Linear,
    /// So many consumers, each with its producer, over two routers.
    Dumbbell { pairs: usize },
}

/// What nodes do against congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Routers {
    /// One bucket towards each neighbour, at the link's rate.
    Face,
    /// In consumers the same; in the first router of the dumbbell one bucket for each route, at the link's
    /// rate divided by the number of routes.
    Share,
    /// Both: in the first router of the dumbbell that of the route before that of the face.
    ShareAndFace,
    /// One bucket towards each neighbour, and before it one for each route, whose rate every node adapts as
    /// consumers do theirs: from an equal share on, by one for each Data, halved by each Nack.
    Adapting,
    /// Nothing: queues, with room for what is under way in a round trip, drop what finds them full.
    Queue,
    /// Such queues mark Data that has waited too long (CoDel).
    CoDel,
    /// Interests are shaped and consumers told a rate by HoBHIS.
    Hobhis,
    /// The same by MIRCC.
    Mircc,
}

impl Routers {
    /// Those with token buckets, by their names in files.
    pub(super) const BUCKETS: [(&'static str, Routers); 4] = [
        ("face", Routers::Face),
        ("share", Routers::Share),
        ("share-and-face", Routers::ShareAndFace),
        ("adapting", Routers::Adapting),
    ];
    /// All.
    pub(super) const ALL: [(&'static str, Routers); 8] = [
        Self::BUCKETS[0],
        Self::BUCKETS[1],
        Self::BUCKETS[2],
        Self::BUCKETS[3],
        ("queue", Routers::Queue),
        ("codel", Routers::CoDel),
        ("hobhis", Routers::Hobhis),
        ("mircc", Routers::Mircc),
    ];

    /// Whether there are token buckets.
    pub(super) fn police(self) -> bool {
        matches!(self, Routers::Face | Routers::Share | Routers::ShareAndFace | Routers::Adapting)
    }
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) flows: Vec<Flow>,
    pub(super) seconds: f64,
    pub(super) bits_of_data: f64,
    /// Packets that crossed a link.
    pub(super) hops: u64,
    pub(super) hash: u64,
    pub(super) link_drops: u64,
    /// Whether a consumer got a Nack, counted or not.
    pub(super) was_nacked: bool,
    /// Whether a consumer was limited by a rate at the end.
    pub(super) paced: bool,
    pub(super) recorded: Option<Recorded>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// Interests, those that came back and were sent again counted each time.
    pub(super) interests: u64,
    pub(super) data: u64,
    pub(super) nacks: u64,
}

/// Series of the first consumer, over seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    pub(super) sequence: Vec<(f64, f64)>,
    pub(super) rate: Vec<(f64, f64)>,
    pub(super) depth: Vec<(f64, f64)>,
    pub(super) unexplained_nacks: u64,
}

impl Outcome {
    fn mbps(&self, count: u64) -> f64 {
        count as f64 * self.bits_of_data / self.seconds / 1e6
    }

    /// Data that Interests of the whole run ask for: counts what is still under way at its end, and what came
    /// back.
    pub(super) fn asked_mbps(&self) -> f64 {
        self.mbps(self.flows.iter().map(|flow| flow.interests).sum())
    }

    /// Data that came.
    pub(super) fn received_mbps(&self) -> f64 {
        self.mbps(self.flows.iter().map(|flow| flow.data).sum())
    }

    pub(super) fn nacks(&self) -> u64 {
        self.flows.iter().map(|flow| flow.nacks).sum()
    }

    pub(super) fn flow_mbps(&self) -> Vec<f64> {
        self.flows.iter().map(|flow| self.mbps(flow.data)).collect()
    }

    /// Jain's index over what each consumer received.
    pub(super) fn fairness(&self) -> f64 {
        fairness(&self.flow_mbps())
    }
}

impl Scenario {
    pub(super) fn run(&self) -> Result<Outcome, SimError> {
        let mut network = Network::new(self.seed);
        if !self.caches {
            network.engines(|config| config.content_store.admit = false);
        }
        let link = self.link();
        let consumers = match self.shape {
            Shape::Linear => {
                let nodes = network.chain(4, &link)?;
                network.add_producer(nodes[3], self.prefix(0), self.producer())?;
                self.limit(&mut network, &nodes)?;
                vec![nodes[0]]
            }
            Shape::Dumbbell { pairs } => {
                let dumbbell = network.dumbbell(pairs, &link, &link)?;
                for (pair, node) in dumbbell.right.iter().enumerate() {
                    network.add_producer(*node, self.prefix(pair), self.producer())?;
                }
                self.limit(&mut network, &dumbbell.left)?;
                let routers = dumbbell.routers;
                match self.routers {
                    Routers::Face | Routers::Adapting => self.limit(&mut network, &routers)?,
                    Routers::Share => {
                        let strategy = self.strategy(self.buckets.rate / pairs as f64, "route");
                        network.set_strategy(routers[0], "/", &strategy)?;
                    }
                    Routers::ShareAndFace => {
                        self.limit(&mut network, &routers)?;
                        let share = self.buckets.rate / pairs as f64;
                        let strategy =
                            format!("{}/start~{share}/adapt~no", self.strategy(self.buckets.rate, "face"));
                        network.set_strategy(routers[0], "/", &strategy)?;
                    }
                    Routers::Queue | Routers::CoDel | Routers::Hobhis | Routers::Mircc => {}
                }
                dumbbell.left
            }
        };
        network.route_shortest_paths()?;
        let mut random = Random::derive(self.seed, 77);
        let mut applications = Vec::new();
        for (pair, node) in consumers.into_iter().enumerate() {
            let starts_at = self.times.starts_at
                + Duration::from_nanos(random.below(self.times.start_spread.as_nanos() + 1));
            let config = self.transfer(pair);
            let prefix = self.prefix(pair).into_name()?;
            let mut consumer = PacedConsumer::new(prefix, config, starts_at, random.next_u64());
            if self.record && pair == 0 {
                let bucket = LeakyBucket::empty(self.buckets.rate, self.buckets.depth, Instant::ZERO);
                consumer = consumer.record(bucket.losing(self.buckets.leak, Instant::ZERO));
            }
            applications.push(network.add_application(node, consumer)?);
        }
        if self.times.warm_up > Duration::ZERO {
            network.run_for(self.times.warm_up)?;
        }
        let before = flows(&network, &applications);
        network.run_for(self.times.length)?;
        Ok(self.outcome(&network, &applications, &before))
    }

    fn link(&self) -> LinkConfig {
        let queue = match self.routers {
            Routers::Queue | Routers::CoDel => {
                let codel = CoDel { action: CoDelAction::Mark, ..CoDel::RFC_8289 };
                let room = Queue::packets(self.links.queue_packets.max(self.under_way()));
                Queue { codel: (self.routers == Routers::CoDel).then_some(codel), ..room }
            }
            _ => Queue::packets(self.links.queue_packets),
        };
        let overhead_bytes = self.links.overhead_bytes;
        let link = LinkConfig { overhead_bytes, ..LinkConfig::ideal() }
            .mbps(self.links.mbps)
            .delay(self.links.delay)
            .queue(queue);
        match self.routers {
            Routers::Hobhis => link.rate_control(RateMethod::Hobhis, self.buckets.depth),
            Routers::Mircc => link.rate_control(RateMethod::Mircc, self.buckets.depth),
            _ => link,
        }
    }

    /// Data that one link carries in a round trip over three.
    fn under_way(&self) -> u32 {
        let bytes = f64::from(self.links.data_bytes + self.links.overhead_bytes);
        (self.links.mbps * 1e6 / 8.0 / bytes * 6.0 * self.links.delay.as_secs_f64()) as u32
    }

    /// Name of a flow, long enough for Interests of the wanted size.
    fn prefix(&self, pair: usize) -> String {
        // All but filler and digits: types and lengths, nonce, lifetime, "flow", and a number of two bytes.
        const OTHER_BYTES: usize = 28;
        let filler =
            (self.links.interest_bytes as usize).saturating_sub(OTHER_BYTES + pair.to_string().len());
        format!("/flow/{pair}/{}", "x".repeat(filler.clamp(1, 200)))
    }

    fn producer(&self) -> Producer {
        Producer::of_packet_size(self.links.data_bytes as usize)
    }

    fn strategy(&self, rate: f64, limit: &str) -> String {
        let (depth, leak) = (self.buckets.depth, self.buckets.leak);
        format!("stateful-forwarding/rate~{rate}/depth~{depth}/tokens~whole/leak~{leak}/limit~{limit}")
    }

    fn limit(&self, network: &mut Network, nodes: &[sim::NodeId]) -> Result<(), SimError> {
        if !self.routers.police() {
            return Ok(());
        }
        let mut strategy = self.strategy(self.buckets.rate, "face");
        if self.routers == Routers::Adapting {
            let pairs = match self.shape {
                Shape::Linear => 1,
                Shape::Dumbbell { pairs } => pairs,
            };
            strategy.push_str(&format!("/start~{}", self.buckets.rate / pairs as f64));
        }
        for &node in nodes {
            network.set_strategy(node, "/", &strategy)?;
        }
        Ok(())
    }

    fn transfer(&self, consumer: usize) -> TransferConfig {
        let tick = self.pacing.ticks[consumer % self.pacing.ticks.len()];
        TransferConfig {
            controller: self.controller.clone(),
            pacing: PacerConfig {
                tick,
                smoothing: self.pacing.smoothing,
                rate_change: self.pacing.rate_change,
                ..PacerConfig::default()
            },
            round_trip: RoundTripConfig::default(),
            max_attempts: u32::MAX,
            fast_loss: false,
            max_in_flight: u32::MAX,
            max_span: 1 << 24,
        }
    }

    fn outcome(&self, network: &Network, applications: &[AppId], before: &[Flow]) -> Outcome {
        let consumers =
            applications.iter().filter_map(|&application| network.application::<PacedConsumer>(application));
        let mut outcome = Outcome {
            seconds: self.times.length.as_secs_f64(),
            bits_of_data: f64::from(self.links.data_bytes) * 8.0,
            hops: network.hops(),
            hash: network.trace().hash(),
            ..Outcome::default()
        };
        let after = flows(network, applications);
        outcome.was_nacked = after.iter().any(|flow| flow.nacks > 0);
        outcome.flows = after
            .iter()
            .zip(before)
            .map(|(after, before)| Flow {
                interests: after.interests - before.interests,
                data: after.data - before.data,
                nacks: after.nacks - before.nacks,
            })
            .collect();
        for consumer in consumers {
            outcome.paced |=
                consumer.transfer().is_some_and(|transfer| transfer.allowance().rate.is_finite());
            if let Some(recording) = consumer.recording() {
                outcome.recorded = Some(Recorded {
                    sequence: seconds(&recording.sequence, |item| item as f64),
                    rate: seconds(&recording.rate, |rate| rate),
                    depth: seconds(&recording.depth, f64::from),
                    unexplained_nacks: recording.unexplained_nacks,
                });
            }
        }
        for link in network.links() {
            let counters = network.link_counters(link).unwrap_or_default();
            outcome.link_drops += counters.iter().map(|channel| channel.drops.total()).sum::<u64>();
        }
        outcome
    }
}

/// What each consumer has seen so far.
fn flows(network: &Network, applications: &[AppId]) -> Vec<Flow> {
    let flow = |&application: &AppId| {
        let transfer = network.application::<PacedConsumer>(application).and_then(PacedConsumer::transfer);
        let counters = transfer.map(|transfer| *transfer.counters()).unwrap_or_default();
        Flow {
            interests: counters.sent,
            data: counters.data,
            nacks: counters.nacks_congestion + counters.nacks_no_route,
        }
    };
    applications.iter().map(flow).collect()
}

fn seconds<T: Copy>(series: &[(Instant, T)], value: impl Fn(T) -> f64) -> Vec<(f64, f64)> {
    series.iter().map(|&(at, number)| (at.as_secs_f64(), value(number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interests_have_the_size_that_was_asked_for() {
        let scenario = |interest_bytes| Scenario {
            shape: Shape::Linear,
            links: Links {
                mbps: 10.0,
                delay: Duration::from_millis(50),
                queue_packets: 100,
                data_bytes: 1250,
                interest_bytes,
                overhead_bytes: 2,
            },
            routers: Routers::Face,
            buckets: Buckets { rate: 1000.0, leak: 1.001, depth: 50 },
            caches: true,
            controller: ControllerSpec::default(),
            pacing: Pacing {
                ticks: vec![Duration::ZERO],
                smoothing: Smoothing::Ticks,
                rate_change: RateChange::AfterNext,
            },
            times: Times {
                starts_at: Instant::ZERO,
                start_spread: Duration::ZERO,
                warm_up: Duration::ZERO,
                length: Duration::from_secs(1),
            },
            seed: 1,
            record: false,
        };
        for bytes in [40, 60, 100] {
            for pair in [0, 9, 10] {
                let prefix = scenario(bytes).prefix(pair).into_name().unwrap();
                let mut names = sim::NumberedNames::new(prefix, Duration::from_secs(4));
                let hasher = packet::NameHasher::new([1, 2]);
                let (interest, _) = names.interest(packet::Dialect::Ndn, &hasher, 1000, 7).unwrap();
                assert_eq!(interest.wire().len(), bytes as usize, "{pair}");
            }
        }
    }
}
