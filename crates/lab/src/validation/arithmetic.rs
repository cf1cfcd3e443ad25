//! From what processors took to what packets cost: the base, for which a packet is done that comes while the
//! forwarder is at work, and what waking it up costs.

use super::in_process::rounded;
use super::loads::{
    CLOSE_US, EXCHANGES_US, FLOOD_BURST, HITS_US, LARGE, NODES, PAUSE_US, Pace, Part, SLEEPS_US, SMALL,
    SMALL_US,
};
use crate::experiment::profile::{LinkCost, PacketCost};

/// What was seen of a node in a case: means over the repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NodeLoad {
    /// What its processor took, in percent of a core.
    pub(super) cpu_percent: f64,
    /// Interests, or exchanges, a second.
    pub(super) packets: f64,
}

impl NodeLoad {
    /// What each costs in microseconds, beside what a node takes without any. A percent of a core is 10,000
    /// us a second.
    fn cost_us(self, idle_percent: f64) -> Option<f64> {
        (self.packets > 0.0).then(|| ((self.cpu_percent - idle_percent) * 1e4 / self.packets).max(0.0))
    }
}

/// What exchanges cost: their mean cost in bursts and how much waking is in that, and those of ones that came
/// alone.
struct Exchanges {
    together: Point,
    alone: Vec<Point>,
}

/// A mean cost, and what waking the forwarder up for one Interest costs after the same sleep, of which bursts
/// have a part.
#[derive(Clone, Copy)]
struct Point {
    waking_us: f64,
    cost_us: f64,
}

/// How many times the waking of one Interest explains best what those cost that came alone, beside a base
/// that is such that bursts cost what they did. The squares of relative differences are least: a microsecond
/// says more of packets that come often and cost little.
fn wakings(list: &[Exchanges]) -> f64 {
    let (mut common, mut spread) = (0.0, 0.0);
    for Exchanges { together, alone } in list {
        for point in alone.iter().filter(|point| point.cost_us > 0.0) {
            let waking = (point.waking_us - together.waking_us) / point.cost_us;
            common += waking * (point.cost_us - together.cost_us) / point.cost_us;
            spread += waking * waking;
        }
    }
    if spread > 0.0 { (common / spread).max(0.0) } else { 0.0 }
}

/// What a node in one role was seen to take.
struct Node<'a> {
    idle_percent: f64,
    seen: &'a dyn Fn(Part, Pace) -> Option<NodeLoad>,
}

impl Node<'_> {
    fn cost(&self, part: Part, pace: Pace) -> Option<f64> {
        (self.seen)(part, pace)?.cost_us(self.idle_percent)
    }

    fn alone(&self, part: Part, every_us: u32) -> Option<f64> {
        self.cost(part, Pace::Alone { every_us })
    }

    /// The base of an Interest, and the waking curve. After a pause a burst costs what one Interest does that
    /// comes alone after it, and for all others the base.
    fn interest(&self) -> Option<PacketCost> {
        let burst = f64::from(FLOOD_BURST);
        let together = self.cost(Part::Unanswered, Pace::Together)? * burst;
        let interest_us = ((together - self.alone(Part::Unanswered, PAUSE_US)?) / (burst - 1.0)).max(0.0);
        // At the very end of its work it has not slept.
        let mut waking = vec![[0.0, 0.0]];
        let mut slept_us = 0.0;
        let close = (Part::Close, CLOSE_US);
        for (part, every_us) in
            [close].into_iter().chain(SLEEPS_US.map(|every_us| (Part::Unanswered, every_us)))
        {
            let cost = self.alone(part, every_us)?;
            // From one to the next it works for the first, and sleeps for the rest.
            let slept = (f64::from(every_us) - cost).round();
            if slept > slept_us {
                slept_us = slept;
                waking.push([slept / 1e3, (cost - interest_us).max(0.0)]);
            }
        }
        Some(PacketCost { interest_us, waking, ..PacketCost::default() })
    }

    /// What waking costs one Interest that comes so long after the one before.
    fn waking(&self, interest_us: f64, every_us: u32) -> Option<f64> {
        Some((self.alone(Part::Unanswered, every_us)? - interest_us).max(0.0))
    }

    fn exchanges(&self, interest_us: f64, part: Part, alone_us: &[u32]) -> Option<Exchanges> {
        let seen = (self.seen)(part, Pace::Together)?;
        let bursts = 1e6 / f64::from(PAUSE_US);
        let together = Point {
            waking_us: self.waking(interest_us, PAUSE_US)? * bursts / seen.packets,
            cost_us: seen.cost_us(self.idle_percent)?,
        };
        let point = |&every_us: &u32| {
            let waking_us = self.waking(interest_us, every_us)?;
            Some(Point { waking_us, cost_us: self.alone(part, every_us)? })
        };
        Some(Exchanges { together, alone: alone_us.iter().map(point).collect::<Option<_>>()? })
    }

    /// All of a role; and how much more a kilobyte costs where content stores take it in.
    fn role(&self) -> Option<(PacketCost, f64)> {
        let interest = self.interest()?;
        let large =
            self.exchanges(interest.interest_us, Part::Exchange { content_bytes: LARGE }, &EXCHANGES_US)?;
        let small =
            self.exchanges(interest.interest_us, Part::Exchange { content_bytes: SMALL }, &SMALL_US)?;
        let stored = self.exchanges(interest.interest_us, Part::Stored, &[])?;
        let list = [large, small];
        // One of them is the Interest's.
        let times = wakings(&list).max(1.0);
        let base = |of: &Exchanges| (of.together.cost_us - times * of.together.waking_us).max(0.0);
        let [large, small] = list.each_ref().map(base);
        let kilobytes = f64::from(LARGE) / 1e3;
        let data_us_per_kilobyte = ((large - small) / f64::from(LARGE - SMALL) * 1e3).max(0.0);
        let cost = PacketCost {
            data_us: (large - interest.interest_us - data_us_per_kilobyte * kilobytes).max(0.0),
            data_us_per_kilobyte,
            data_waking: Some(times - 1.0),
            ..interest
        };
        Some((cost, (base(&stored) - large) / kilobytes))
    }

    /// What an Interest costs that the content store answers, and how many times the waking of another.
    fn hit(&self, forwarding: &PacketCost) -> Option<(f64, f64)> {
        let hits = self.exchanges(forwarding.interest_us, Part::Hit, &HITS_US)?;
        let times = wakings(std::slice::from_ref(&hits));
        Some(((hits.together.cost_us - times * hits.together.waking_us).max(0.0), times))
    }
}

fn rounded_cost(cost: PacketCost) -> PacketCost {
    PacketCost {
        interest_us: rounded(cost.interest_us),
        data_us: rounded(cost.data_us),
        data_us_per_kilobyte: rounded(cost.data_us_per_kilobyte),
        waking: cost.waking.into_iter().map(|[slept, cost]| [slept, rounded(cost)]).collect(),
        data_waking: cost.data_waking.map(rounded),
    }
}

/// The costs of a kind of link from what each node was seen to take; nothing where something was not seen.
pub(super) fn link_cost(
    idle_percent: f64,
    seen: impl Fn(&'static str, Part, Pace) -> Option<NodeLoad>,
) -> Option<LinkCost> {
    let mut roles = Vec::new();
    let mut stored = 0.0;
    let mut hit = None;
    for node in NODES {
        let seen = |part, pace| seen(node, part, pace);
        let node_seen = Node { idle_percent, seen: &seen };
        let (cost, more) = node_seen.role()?;
        if node == "router" {
            hit = node_seen.hit(&cost);
        }
        // Memory is the same at every node: the mean of them is surer than each.
        stored += more / NODES.len() as f64;
        roles.push(rounded_cost(cost));
    }
    let [consumer, router, producer] = <[PacketCost; 3]>::try_from(roles).ok()?;
    Some(LinkCost {
        store_us_per_kilobyte: Some(rounded(stored.max(0.0))),
        cache_hit_us: hit.map(|(cost, _)| rounded(cost)),
        cache_hit_waking: hit.map(|(_, times)| rounded(times)),
        consumer: Some(consumer),
        producer: Some(producer),
        ..LinkCost::forwarding(router)
    })
}

#[cfg(test)]
mod tests {
    use super::super::loads::MEAN_BURST;
    use super::*;

    const IDLE: f64 = 0.25;

    /// What a node takes by the model, whose costs are known.
    fn take(cost: &PacketCost, [hit_us, hit_waking, store]: [f64; 3], part: Part, pace: Pace) -> NodeLoad {
        let data = |bytes| cost.interest_us + cost.data_with(bytes);
        let (base, times) = match part {
            Part::Unanswered | Part::Close => (cost.interest_us, 1.0),
            Part::Exchange { content_bytes } => (data(content_bytes), 1.0 + cost.data_waking.unwrap()),
            Part::Stored => (data(LARGE) + store * f64::from(LARGE) / 1e3, 1.0 + cost.data_waking.unwrap()),
            Part::Hit => (hit_us, hit_waking),
        };
        let burst = if part == Part::Unanswered { FLOOD_BURST } else { MEAN_BURST };
        let (every_us, at_once) = match pace {
            Pace::Idle => return NodeLoad { cpu_percent: IDLE, packets: 1.0 },
            Pace::Alone { every_us } => (every_us, 1),
            Pace::Together => (PAUSE_US, burst),
        };
        let place = GAPS_US.iter().position(|gap| *gap == every_us).unwrap();
        let woken = times * cost.waking[place + 1][1];
        let every_us = f64::from(every_us);
        let part = (base * f64::from(at_once) + woken) / every_us;
        NodeLoad { cpu_percent: IDLE + part * 100.0, packets: f64::from(at_once) * 1e6 / every_us }
    }

    /// From one Interest to the next, and what waking costs then.
    const GAPS_US: [u32; 5] = [CLOSE_US, 1_250, 2_500, 10_000, PAUSE_US];
    const WAKING_US: [f64; 5] = [40.0, 60.0, 76.0, 150.0, 160.0];

    fn known(times: f64) -> PacketCost {
        let interest_us = 2.0 * times;
        let slept = |(gap, cost): (u32, f64)| {
            let cost = cost * times;
            [(f64::from(gap) - interest_us - cost) / 1e3, cost]
        };
        PacketCost {
            interest_us,
            data_us: 9.0 * times,
            data_us_per_kilobyte: 1.5,
            waking: [[0.0; 2]].into_iter().chain(GAPS_US.into_iter().zip(WAKING_US).map(slept)).collect(),
            data_waking: Some(0.5 * times),
        }
    }

    #[test]
    fn costs_are_found_again_in_what_processors_took_by_them() {
        let costs = [1.5, 2.0, 1.0].map(known);
        let hits = [17.0, 0.7, 0.5];
        let found = link_cost(IDLE, |node, part, pace| {
            let place = NODES.iter().position(|other| *other == node).unwrap();
            Some(take(&costs[place], hits, part, pace))
        })
        .unwrap();
        assert_eq!([found.consumer(), found.forwarder(), found.producer()], costs);
        assert_eq!((found.cache_hit_us, found.cache_hit_waking), (Some(17.0), Some(0.7)));
        assert_eq!(found.store_us_per_kilobyte, Some(0.5));
    }

    #[test]
    fn bursts_are_explained_whatever_those_cost_that_come_alone() {
        let cost = known(1.0);
        let found = link_cost(IDLE, |_, part, pace| {
            let seen = take(&cost, [17.0, 0.7, 0.0], part, pace);
            let is_strange =
                matches!((part, pace), (Part::Exchange { .. }, Pace::Alone { every_us: 10_000 }));
            Some(if is_strange { NodeLoad { cpu_percent: seen.cpu_percent * 1.3, ..seen } } else { seen })
        })
        .unwrap()
        .forwarder();
        let pace = Pace::Together;
        for content_bytes in [SMALL, LARGE] {
            let part = Part::Exchange { content_bytes };
            let [was, is] = [&cost, &found].map(|cost| take(cost, [0.0; 3], part, pace).cpu_percent);
            assert!((was - is).abs() < 0.01, "{was} {is}");
        }
        assert!(found.data_waking > cost.data_waking, "what came alone cost more");
    }

    #[test]
    fn what_was_not_seen_leaves_no_costs() {
        let cost = known(1.0);
        let without = |missing: Part| {
            link_cost(IDLE, |_, part, pace| {
                (part != missing).then(|| take(&cost, [1.0, 1.0, 0.0], part, pace))
            })
        };
        assert_eq!(without(Part::Close), None);
        assert_eq!(without(Part::Stored), None);
        assert_eq!(without(Part::Hit).and_then(|cost| cost.cache_hit_us), None);
        assert!(without(Part::Hit).is_some(), "only udp has hits");
    }

    #[test]
    fn a_processor_that_took_less_than_without_packets_leaves_costs_of_nothing() {
        let found = link_cost(5.0, |_, _, _| Some(NodeLoad { cpu_percent: 1.0, packets: 100.0 })).unwrap();
        let cost = found.forwarder();
        assert_eq!((cost.interest_us, cost.data_us, cost.data_waking), (0.0, 0.0, Some(0.0)));
        assert!(cost.waking.iter().all(|[_, cost]| *cost == 0.0));
    }
}
