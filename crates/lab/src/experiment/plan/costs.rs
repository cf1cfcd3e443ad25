//! What a profile says that packets cost a node: by where they come from and where they go.
//!
//! A packet costs most where it comes in. What it costs to pass it on to a neighbour, and to an application,
//! is measured; the lesser of the two is charged when it comes, and what the other costs more when it leaves.
//! With what it costs to wake the forwarder up it is the same, for each time that it may have slept.

use serde::{Deserialize, Serialize};

use super::LinkIndex;
use crate::experiment::profile::{LinkCost, PacketCost, Profile, nanos, on_curve};

/// What waking the forwarder up costs: pairs of how long it has slept and what it costs then, in nanoseconds.
pub type WakingCurve = Vec<[u64; 2]>;

/// What an Interest and what a Data packet cost that use a face, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseCosts {
    /// When they come.
    pub arriving_ns: [u64; 2],
    /// When they leave.
    pub leaving_ns: [u64; 2],
    /// When they come and find the forwarder asleep, on top.
    #[serde(default, skip_serializing_if = "are_empty")]
    pub arriving_asleep: [WakingCurve; 2],
    /// When they leave and had found it asleep, on top.
    #[serde(default, skip_serializing_if = "are_empty")]
    pub leaving_asleep: [WakingCurve; 2],
    /// How long they wait until a forwarder that sleeps begins with them.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub latency_ns: u64,
}

fn is_nothing(span_ns: &u64) -> bool {
    *span_ns == 0
}

fn are_empty(curves: &[WakingCurve; 2]) -> bool {
    curves.iter().all(Vec::is_empty)
}

/// What packets cost a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeCosts {
    /// By its links.
    pub links: Vec<(LinkIndex, UseCosts)>,
    /// By applications on the node.
    pub applications: UseCosts,
    /// What an Interest costs more that its content store answers.
    pub answer_ns: u64,
    /// The same on top if it had found the forwarder asleep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_asleep: WakingCurve,
    /// What its forwarder takes without any packets, in percent of a core.
    pub idle_percent: f64,
    /// How late its timers are.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub timer_ns: u64,
}

/// What an Interest and Data cost that come or leave by a link or by an application, in microseconds.
struct Split {
    link_arriving: [f64; 2],
    link_leaving: [f64; 2],
    own_arriving: [f64; 2],
    own_leaving: [f64; 2],
}

/// The costs of three ways through a node, an Interest's and Data's each, by where they come and leave.
fn split([forward, consumer, producer]: [[f64; 2]; 3]) -> Split {
    // By a link comes what is to be forwarded, an Interest for a producer, and Data for a consumer.
    let [interest, data] = [producer[0].min(forward[0]), consumer[1].min(forward[1])];
    let onwards = [forward[0] - interest, forward[1] - data];
    let positive = |list: [f64; 2]| list.map(|cost| cost.max(0.0));
    Split {
        link_arriving: positive([interest, data]),
        link_leaving: positive(onwards),
        own_arriving: positive([consumer[0] - onwards[0], producer[1] - onwards[1]]),
        own_leaving: positive([producer[0] - interest, consumer[1] - data]),
    }
}

/// The three ways: between neighbours, from and to a consumer, to and from a producer.
fn ways(cost: &LinkCost) -> [PacketCost; 3] {
    [cost.forwarder(), cost.consumer(), cost.producer()]
}

/// For how long a forwarder may have slept, in milliseconds, where any of its curves has a point.
fn sleeps(ways: &[PacketCost; 3], others: &[[f64; 2]]) -> Vec<f64> {
    let curves = ways.iter().flat_map(|way| way.waking.iter().chain(&way.data_waking));
    let mut sleeps: Vec<f64> = curves.chain(others).map(|[slept, _]| *slept).collect();
    sleeps.sort_by(f64::total_cmp);
    sleeps.dedup();
    sleeps
}

fn curve(points: impl Iterator<Item = (f64, f64)>) -> WakingCurve {
    points.map(|(slept_ms, cost_us)| [nanos(slept_ms * 1e3), nanos(cost_us)]).collect()
}

/// A kind of link and the applications at its end, with Data of so much content.
fn parts(cost: &LinkCost, content_bytes: u32) -> (UseCosts, UseCosts) {
    let ways = ways(cost);
    let latency_ns = nanos(cost.latency_us.unwrap_or(0.0));
    let base = split(ways.each_ref().map(|way| [way.interest_us, way.data_with(content_bytes)]));
    let asleep: Vec<(f64, Split)> = sleeps(&ways, &[])
        .into_iter()
        .map(|slept| (slept, split(ways.each_ref().map(|way| way.waking_us(slept, content_bytes)))))
        .collect();
    let curves = |of: fn(&Split) -> [f64; 2]| {
        [0, 1].map(|kind: usize| curve(asleep.iter().map(|(slept, split)| (*slept, of(split)[kind]))))
    };
    let link = UseCosts {
        arriving_ns: base.link_arriving.map(nanos),
        leaving_ns: base.link_leaving.map(nanos),
        arriving_asleep: curves(|split| split.link_arriving),
        leaving_asleep: curves(|split| split.link_leaving),
        latency_ns,
    };
    let applications = UseCosts {
        arriving_ns: base.own_arriving.map(nanos),
        leaving_ns: base.own_leaving.map(nanos),
        arriving_asleep: curves(|split| split.own_arriving),
        leaving_asleep: curves(|split| split.own_leaving),
        latency_ns,
    };
    (link, applications)
}

/// What waking up costs an Interest more that the content store answers than what it is charged when it
/// comes, and its Data when they leave.
fn answer_asleep(cost: &LinkCost, content_bytes: u32) -> WakingCurve {
    if cost.cache_hit_waking.is_empty() {
        return WakingCurve::new();
    }
    let ways = ways(cost);
    let more = |slept: f64| {
        let charged = split(ways.each_ref().map(|way| way.waking_us(slept, content_bytes)));
        let hit = on_curve(&cost.cache_hit_waking, slept);
        (slept, (hit - charged.link_arriving[0] - charged.link_leaving[1]).max(0.0))
    };
    curve(sleeps(&ways, &cost.cache_hit_waking).into_iter().map(more))
}

impl NodeCosts {
    /// Of a node with these links, the first of them that which its applications' packets take.
    pub(crate) fn of(links: &[(LinkIndex, LinkCost)], profile: &Profile, content_bytes: u32) -> Option<Self> {
        let (_, first) = links.first()?;
        let (link, applications) = parts(first, content_bytes);
        let charged_us = |ns: u64| std::time::Duration::from_nanos(ns).as_secs_f64() * 1e6;
        let charged = charged_us(link.arriving_ns[0] + link.leaving_ns[1]);
        let answer = first.cache_hit_us.map_or(0.0, |hit| (hit - charged).max(0.0));
        Some(NodeCosts {
            links: links.iter().map(|(link, cost)| (*link, parts(cost, content_bytes).0)).collect(),
            applications,
            answer_ns: nanos(answer),
            answer_asleep: answer_asleep(first, content_bytes),
            idle_percent: profile.idle_percent,
            timer_ns: nanos(profile.timer_us),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(idle_percent: f64) -> Profile {
        Profile { idle_percent, ..Profile::default() }
    }

    #[test]
    fn every_way_through_a_node_costs_what_was_measured_of_it() {
        let cost = |interest_us, data_us| PacketCost {
            interest_us,
            data_us,
            data_us_per_kilobyte: 1.0,
            ..PacketCost::default()
        };
        let link = LinkCost {
            cache_hit_us: Some(70.0),
            consumer: Some(cost(30.0, 20.0)),
            producer: Some(cost(40.0, 60.0)),
            ..LinkCost::forwarding(cost(50.0, 35.0))
        };
        let costs = NodeCosts::of(&[(LinkIndex(3), link)], &idle(0.5), 4000).unwrap();
        let (link, own) = (&costs.links[0].1, &costs.applications);
        let way = |from: &UseCosts, to: &UseCosts, kind: usize| from.arriving_ns[kind] + to.leaving_ns[kind];
        assert_eq!([way(link, link, 0), way(link, link, 1)], [50_000, 39_000], "passed on to a neighbour");
        assert_eq!([way(own, link, 0), way(link, own, 1)], [30_000, 24_000], "of a consumer");
        assert_eq!([way(link, own, 0), way(own, link, 1)], [40_000, 64_000], "of a producer");
        assert_eq!(
            link.arriving_ns[0] + link.leaving_ns[1] + costs.answer_ns,
            70_000,
            "of the content store"
        );
        assert_eq!((costs.links[0].0, costs.idle_percent), (LinkIndex(3), 0.5));
    }

    #[test]
    fn every_way_through_a_node_that_sleeps_costs_what_was_measured_of_it_after_any_sleep() {
        let waking = |points: &[[f64; 2]], data: &[[f64; 2]]| PacketCost {
            waking: points.to_vec(),
            data_waking: data.to_vec(),
            ..PacketCost::default()
        };
        let link = LinkCost {
            cache_hit_waking: vec![[10.0, 225.0]],
            consumer: Some(waking(&[[1.0, 40.0], [10.0, 130.0]], &[[10.0, 65.0]])),
            producer: Some(waking(&[[1.0, 30.0], [10.0, 60.0]], &[[1.0, 60.0], [10.0, 120.0]])),
            ..LinkCost::forwarding(waking(&[[1.0, 50.0], [5.0, 70.0], [10.0, 150.0]], &[]))
        };
        let costs = NodeCosts::of(&[(LinkIndex(3), link)], &idle(0.5), 4096).unwrap();
        let (link, own) = (&costs.links[0].1, &costs.applications);
        // Of the 10 ms, the last of the three points.
        let way = |from: &UseCosts, to: &UseCosts, kind: usize, point: usize| {
            let [arriving, leaving] = [&from.arriving_asleep, &to.leaving_asleep].map(|of| of[kind][point]);
            assert_eq!(arriving[0], leaving[0]);
            [arriving[0], arriving[1] + leaving[1]]
        };
        let late = |from, to| [way(from, to, 0, 2)[1], way(from, to, 1, 2)[1]];
        assert_eq!(late(link, link), [150_000, 150_000], "passed on to a neighbour");
        assert_eq!([late(own, link)[0], late(link, own)[1]], [130_000, 65_000], "of a consumer");
        assert_eq!([late(link, own)[0], late(own, link)[1]], [60_000, 120_000], "of a producer");
        assert_eq!(way(link, link, 0, 1), [5_000_000, 70_000], "after 5 ms");
        assert_eq!(way(own, link, 0, 1), [5_000_000, 80_000], "on the line between 40 and 130");
        let hit = link.arriving_asleep[0][2][1] + link.leaving_asleep[1][2][1] + costs.answer_asleep[2][1];
        assert_eq!(hit, 225_000, "of the content store");
    }

    #[test]
    fn without_waking_a_plan_says_nothing_of_it() {
        let cost = PacketCost { interest_us: 1.0, ..PacketCost::default() };
        let costs = NodeCosts::of(&[(LinkIndex(0), LinkCost::forwarding(cost))], &idle(0.0), 0).unwrap();
        let text = serde_json::to_string(&costs).unwrap();
        assert!(!text.contains("asleep"), "{text}");
        assert_eq!(serde_json::from_str::<NodeCosts>(&text).unwrap(), costs);
    }
}
