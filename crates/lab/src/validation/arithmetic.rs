//! From what processors took to what packets cost: the base, for which a packet is done that comes while the
//! forwarder is at work, and what waking it up costs.

use super::in_process::rounded;
use super::loads::{
    APART_US, CLOSES_US, EXCHANGES_US, FLOOD_BURST, HITS_US, LARGE, NODES, PAUSE_US, Pace, Part, SLEEPS_US,
    SMALL, SMALL_US,
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

/// Frames of 1,500 bytes behind the first in Data with [`LARGE`] content.
const FRAMES_APART: f64 = 2.0;

/// What a burst of packets costs, and how many they are.
#[derive(Clone, Copy)]
struct Burst {
    cost_us: f64,
    packets: f64,
}

impl Burst {
    /// What each costs while the forwarder is at work, if waking it up costs so much in each burst.
    fn base(self, waking_us: f64) -> f64 {
        ((self.cost_us - waking_us) / self.packets).max(0.0)
    }

    /// The same where one that comes alone costs `alone_us`, and waking the forwarder up for the burst so
    /// much more than for that one.
    fn base_beside(self, alone_us: f64, more_waking_us: f64) -> f64 {
        ((self.cost_us - alone_us - more_waking_us) / (self.packets - 1.0).max(1.0)).max(0.0)
    }
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
        for every_us in CLOSES_US.into_iter().chain(SLEEPS_US) {
            let cost = self.interest_alone(every_us)?;
            // From one to the next it works for the first, and sleeps for the rest.
            let slept = (f64::from(every_us) - cost).round();
            if slept > slept_us {
                slept_us = slept;
                waking.push([slept / 1e3, (cost - interest_us).max(0.0)]);
            }
        }
        Some(PacketCost { interest_us, waking, ..PacketCost::default() })
    }

    /// What one Interest costs that comes so long after the one before.
    fn interest_alone(&self, every_us: u32) -> Option<f64> {
        let part = if CLOSES_US.contains(&every_us) { Part::Close } else { Part::Unanswered };
        self.alone(part, every_us)
    }

    /// What waking costs it.
    fn waking(&self, interest_us: f64, every_us: u32) -> Option<f64> {
        Some((self.interest_alone(every_us)? - interest_us).max(0.0))
    }

    /// The bursts of a part, one in each [`PAUSE_US`].
    fn burst(&self, part: Part) -> Option<Burst> {
        let seen = (self.seen)(part, Pace::Together)?;
        let packets = seen.packets * f64::from(PAUSE_US) / 1e6;
        Some(Burst { cost_us: seen.cost_us(self.idle_percent)? * packets, packets })
    }

    /// An exchange with so much content while the forwarder is at work, and what waking it up for the Data
    /// costs after each sleep. Of the longest sleep of exchanges no longer ones are known: a burst pays for
    /// that.
    fn large(&self, interest_us: f64) -> Option<(f64, Vec<[f64; 2]>)> {
        let part = Part::Exchange { content_bytes: LARGE };
        let burst = self.burst(part)?;
        let after_pause = self.waking(interest_us, PAUSE_US)?;
        let longest = *EXCHANGES_US.last()?;
        let (alone, waking) = (self.alone(part, longest)?, self.waking(interest_us, longest)?);
        let base = burst.base_beside(alone, after_pause - waking);
        // Data never costs less for having to wake it up.
        let base = if alone - waking < base { burst.base(after_pause) } else { base };
        let mut curve = vec![[0.0, 0.0]];
        for every_us in EXCHANGES_US {
            let of_data = self.alone(part, every_us)? - self.waking(interest_us, every_us)? - interest_us;
            let slept_ms = (f64::from(every_us) - of_data.max(0.0)).round() / 1e3;
            curve.push([slept_ms, (of_data + interest_us - base).max(0.0)]);
        }
        Some((base, curve))
    }

    /// All of a role; and how much more a kilobyte costs where content stores take it in.
    fn role(&self) -> Option<(PacketCost, f64)> {
        let interest = self.interest()?;
        let interest_us = interest.interest_us;
        let (large, data_waking) = self.large(interest_us)?;
        let after_pause = self.waking(interest_us, PAUSE_US)? + data_waking.last()?[1];
        let [every_us] = SMALL_US;
        let part = Part::Exchange { content_bytes: SMALL };
        let alone = self.alone(part, every_us)?;
        // The curve begins with no sleep, and then has a point for each pace.
        let same_pace = EXCHANGES_US.iter().position(|large| *large == every_us)?;
        let waking = self.waking(interest_us, every_us)? + data_waking.get(same_pace + 1)?[1];
        let small = self.burst(part)?.base_beside(alone, after_pause - waking);
        let less_content = f64::from(LARGE - SMALL) / 1e3;
        let data_us_per_kilobyte = ((large - small) / less_content).max(0.0);
        let kilobytes = f64::from(LARGE) / 1e3;
        let stored = self.burst(Part::Stored)?.base(after_pause);
        let cost = PacketCost {
            data_us: (large - interest_us - data_us_per_kilobyte * kilobytes).max(0.0),
            data_us_per_kilobyte,
            data_waking_us_per_kilobyte: (small + waking - alone) / less_content,
            data_waking,
            frame_us: self.frame().unwrap_or(0.0),
            ..interest
        };
        Some((cost, (stored - large) / kilobytes))
    }

    /// What each frame costs that comes apart from the one before, where that was measured.
    fn frame(&self) -> Option<f64> {
        let [every_us] = APART_US;
        let apart = self.alone(Part::Apart, every_us)?;
        let together = self.alone(Part::Exchange { content_bytes: LARGE }, every_us)?;
        Some(((apart - together) / FRAMES_APART).max(0.0))
    }

    /// What an Interest costs that the content store answers, and what waking the forwarder up costs it.
    fn hit(&self) -> Option<(f64, Vec<[f64; 2]>)> {
        let longest = *HITS_US.last()?;
        let base = self.burst(Part::Hit)?.base_beside(self.alone(Part::Hit, longest)?, 0.0);
        let mut curve = vec![[0.0, 0.0]];
        for every_us in HITS_US {
            let cost = self.alone(Part::Hit, every_us)?;
            curve.push([(f64::from(every_us) - cost).round() / 1e3, (cost - base).max(0.0)]);
        }
        Some((base, curve))
    }
}

fn rounded_cost(cost: PacketCost) -> PacketCost {
    PacketCost {
        interest_us: rounded(cost.interest_us),
        data_us: rounded(cost.data_us),
        data_us_per_kilobyte: rounded(cost.data_us_per_kilobyte),
        waking: rounded_curve(cost.waking),
        data_waking: rounded_curve(cost.data_waking),
        data_waking_us_per_kilobyte: rounded(cost.data_waking_us_per_kilobyte),
        frame_us: rounded(cost.frame_us),
    }
}

fn rounded_curve(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.into_iter().map(|[slept, cost]| [slept, rounded(cost)]).collect()
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
        let (mut cost, more) = node_seen.role()?;
        if node == "producer" {
            // No Data comes to it over a link.
            cost.frame_us = 0.0;
        }
        if node == "router" {
            hit = node_seen.hit();
        }
        // Memory is the same at every node: the mean of them is surer than each.
        stored += more / NODES.len() as f64;
        roles.push(rounded_cost(cost));
    }
    let [consumer, router, producer] = <[PacketCost; 3]>::try_from(roles).ok()?;
    Some(LinkCost {
        store_us_per_kilobyte: Some(rounded(stored.max(0.0))),
        cache_hit_us: hit.as_ref().map(|(cost, _)| rounded(*cost)),
        cache_hit_waking: hit.map_or_else(Vec::new, |(_, curve)| rounded_curve(curve)),
        consumer: Some(consumer),
        producer: Some(producer),
        ..LinkCost::forwarding(router)
    })
}

#[cfg(test)]
mod tests {
    use super::super::loads::{MEAN_BURST, SHORT_US};
    use super::*;

    const IDLE: f64 = 0.25;

    /// What a node takes by the model, whose costs are known.
    fn take(cost: &PacketCost, [hit_us, store]: [f64; 2], part: Part, pace: Pace) -> NodeLoad {
        let data = |bytes| cost.interest_us + cost.data_with(bytes);
        let burst = if part == Part::Unanswered { FLOOD_BURST } else { MEAN_BURST };
        let (every_us, at_once) = match pace {
            Pace::Idle => return NodeLoad { cpu_percent: IDLE, packets: 1.0 },
            Pace::Alone { every_us } => (every_us, 1),
            Pace::Together => (PAUSE_US, burst),
        };
        let place = |gaps: &[u32]| gaps.iter().position(|gap| *gap == every_us).unwrap_or(gaps.len() - 1);
        let waking = cost.waking[place(&GAPS_US) + 1][1];
        let data_waking = cost.data_waking[place(&EXCHANGES_US) + 1][1];
        let (base, woken) = match part {
            Part::Unanswered | Part::Close => (cost.interest_us, waking),
            Part::Exchange { content_bytes } => {
                let less_content = f64::from(LARGE - content_bytes) / 1e3;
                let less = cost.data_waking_us_per_kilobyte * less_content;
                (data(content_bytes), waking + data_waking - less)
            }
            Part::Apart => (data(LARGE) + cost.frame_us * FRAMES_APART, waking + data_waking),
            Part::Stored => (data(LARGE) + store * f64::from(LARGE) / 1e3, waking + data_waking),
            Part::Hit => (hit_us, HIT_WAKING_US[place(&HITS_US)]),
        };
        let every_us = f64::from(every_us);
        let part = (base * f64::from(at_once) + woken) / every_us;
        NodeLoad { cpu_percent: IDLE + part * 100.0, packets: f64::from(at_once) * 1e6 / every_us }
    }

    /// From one Interest to the next, and what waking costs then.
    const GAPS_US: [u32; 6] = [CLOSES_US[0], SHORT_US, 1_250, 2_500, 10_000, PAUSE_US];
    const WAKING_US: [f64; 6] = [40.0, 50.0, 60.0, 76.0, 150.0, 160.0];
    /// The same of Data, and of cache hits.
    const DATA_WAKING_US: [f64; 4] = [15.0, 20.0, 35.0, 90.0];
    const HIT_WAKING_US: [f64; 2] = [44.0, 80.0];

    fn known(times: f64) -> PacketCost {
        let (interest_us, data_us, data_us_per_kilobyte) = (2.0 * times, 9.0 * times, 1.5);
        let curve = |gaps: &[u32], waking: &[f64], work_us: f64| {
            let slept = |(gap, cost): (&u32, &f64)| {
                let cost = cost * times;
                [(f64::from(*gap) - work_us - cost).round() / 1e3, cost]
            };
            [[0.0; 2]].into_iter().chain(gaps.iter().zip(waking).map(slept)).collect()
        };
        let large_us = data_us + data_us_per_kilobyte * f64::from(LARGE) / 1e3;
        PacketCost {
            interest_us,
            data_us,
            data_us_per_kilobyte,
            waking: curve(&GAPS_US, &WAKING_US, interest_us),
            data_waking: curve(&EXCHANGES_US, &DATA_WAKING_US, large_us),
            data_waking_us_per_kilobyte: -1.25,
            frame_us: 6.0 * times,
        }
    }

    #[test]
    fn costs_are_found_again_in_what_processors_took_by_them() {
        let [consumer, router, producer] = [1.5, 2.0, 1.0].map(known);
        let costs = [consumer, router, PacketCost { frame_us: 0.0, ..producer }];
        let found = link_cost(IDLE, |node, part, pace| {
            let place = NODES.iter().position(|other| *other == node).unwrap();
            Some(take(&costs[place], [17.0, 0.5], part, pace))
        })
        .unwrap();
        assert_eq!([found.consumer(), found.forwarder(), found.producer()], costs);
        let hits = HITS_US.iter().zip(HIT_WAKING_US);
        let hits = hits.map(|(gap, cost)| [(f64::from(*gap) - 17.0 - cost).round() / 1e3, cost]);
        let hits: Vec<_> = [[0.0; 2]].into_iter().chain(hits).collect();
        assert_eq!((found.cache_hit_us, found.cache_hit_waking), (Some(17.0), hits));
        assert_eq!(found.store_us_per_kilobyte, Some(0.5));
    }

    #[test]
    fn what_comes_alone_costs_what_it_did_at_every_pace_and_bursts_too() {
        let cost = known(1.0);
        // No curve explains these: the second sleep costs less than the first.
        let strange = |part, pace| {
            let seen = take(&cost, [17.0, 0.0], part, pace);
            let is_strange = matches!((part, pace), (Part::Exchange { .. }, Pace::Alone { every_us: 2_500 }));
            let cpu_percent = if is_strange { seen.cpu_percent * 0.8 } else { seen.cpu_percent };
            NodeLoad { cpu_percent, ..seen }
        };
        let found = link_cost(IDLE, |_, part, pace| Some(strange(part, pace))).unwrap().forwarder();
        let paces = EXCHANGES_US.map(|every_us| Pace::Alone { every_us });
        for pace in paces.into_iter().chain([Pace::Together]) {
            let part = Part::Exchange { content_bytes: LARGE };
            let (was, is) = (strange(part, pace).cpu_percent, take(&found, [0.0; 2], part, pace).cpu_percent);
            assert!((was - is).abs() < 0.01 * was, "{pace:?}: {was} {is}");
        }
    }

    #[test]
    fn data_that_would_cost_less_for_waking_the_forwarder_costs_nothing_for_it() {
        let cost = PacketCost { data_waking: vec![[0.0; 2]; 5], ..known(1.0) };
        let found = link_cost(IDLE, |_, part, pace| {
            let seen = take(&cost, [17.0, 0.0], part, pace);
            let is_less = matches!((part, pace), (Part::Exchange { .. }, Pace::Alone { .. }));
            let cpu_percent = if is_less { seen.cpu_percent * 0.9 } else { seen.cpu_percent };
            Some(NodeLoad { cpu_percent, ..seen })
        })
        .unwrap()
        .forwarder();
        assert!(found.data_waking.iter().all(|[_, cost]| *cost == 0.0), "{found:?}");
        assert!((found.data_with(LARGE) - cost.data_with(LARGE)).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn what_was_not_seen_leaves_no_costs() {
        let cost = known(1.0);
        let without = |missing: Part| {
            link_cost(IDLE, |_, part, pace| (part != missing).then(|| take(&cost, [1.0, 0.0], part, pace)))
        };
        assert_eq!(without(Part::Close), None);
        assert_eq!(without(Part::Stored), None);
        assert_eq!(without(Part::Apart).map(|cost| cost.frame_us), Some(0.0), "udp has none");
        assert_eq!(without(Part::Hit).and_then(|cost| cost.cache_hit_us), None);
        assert!(without(Part::Hit).is_some(), "only udp has hits");
    }

    #[test]
    fn a_processor_that_took_less_than_without_packets_leaves_costs_of_nothing() {
        let found = link_cost(5.0, |_, _, _| Some(NodeLoad { cpu_percent: 1.0, packets: 100.0 })).unwrap();
        let cost = found.forwarder();
        assert_eq!((cost.interest_us, cost.data_us), (0.0, 0.0));
        assert!(cost.waking.iter().chain(&cost.data_waking).all(|[_, cost]| *cost == 0.0));
    }
}
