//! What a profile says that packets cost a node: by where they come from and where they go.
//!
//! A packet costs most where it comes in, for that wakes the forwarder up. What it costs to pass it on to a
//! neighbour, and to an application, is measured; the lesser of the two is charged when it comes, and what
//! the other costs more when it leaves.

use serde::{Deserialize, Serialize};

use super::LinkIndex;
use crate::experiment::profile::{LinkCost, PacketCost, nanos};

/// What an Interest and what a Data packet cost that use a face, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseCosts {
    /// When they come.
    pub arriving_ns: [u64; 2],
    /// When they leave.
    pub leaving_ns: [u64; 2],
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
    /// What its forwarder takes without any packets, in percent of a core.
    pub idle_percent: f64,
}

/// A kind of link and the applications at its end, with Data of so much content.
fn parts(cost: &LinkCost, content_bytes: u32) -> (UseCosts, UseCosts) {
    let of = |role: &PacketCost| [role.interest_us, role.data_with(content_bytes)];
    let (forward, consumer, producer) = (of(&cost.forwarder()), of(&cost.consumer()), of(&cost.producer()));
    // By a link comes what is to be forwarded, an Interest for a producer, and Data for a consumer.
    let [interest, data] = [producer[0].min(forward[0]), consumer[1].min(forward[1])];
    let onwards = [forward[0] - interest, forward[1] - data];
    let nanos = |list: [f64; 2]| list.map(|cost| nanos(cost.max(0.0)));
    let link = UseCosts { arriving_ns: nanos([interest, data]), leaving_ns: nanos(onwards) };
    let applications = UseCosts {
        arriving_ns: nanos([consumer[0] - onwards[0], producer[1] - onwards[1]]),
        leaving_ns: nanos([producer[0] - interest, consumer[1] - data]),
    };
    (link, applications)
}

impl NodeCosts {
    /// Of a node with these links, the first of them that which its applications' packets take.
    pub(in super::super) fn of(
        links: &[(LinkIndex, LinkCost)],
        idle_percent: f64,
        content_bytes: u32,
    ) -> Option<Self> {
        let (_, first) = links.first()?;
        let (link, applications) = parts(first, content_bytes);
        let charged_us = |ns: u64| std::time::Duration::from_nanos(ns).as_secs_f64() * 1e6;
        let charged = charged_us(link.arriving_ns[0] + link.leaving_ns[1]);
        let answer = first.cache_hit_us.map_or(0.0, |hit| (hit - charged).max(0.0));
        Some(NodeCosts {
            links: links.iter().map(|(link, cost)| (*link, parts(cost, content_bytes).0)).collect(),
            applications,
            answer_ns: nanos(answer),
            idle_percent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_through_a_node_costs_what_was_measured_of_it() {
        let cost = |interest_us, data_us| PacketCost { interest_us, data_us, data_us_per_kilobyte: 1.0 };
        let link = LinkCost {
            cache_hit_us: Some(70.0),
            consumer: Some(cost(30.0, 20.0)),
            producer: Some(cost(40.0, 60.0)),
            ..LinkCost::forwarding(cost(50.0, 35.0))
        };
        let costs = NodeCosts::of(&[(LinkIndex(3), link)], 0.5, 4000).unwrap();
        let (link, own) = (costs.links[0].1, costs.applications);
        let way = |from: UseCosts, to: UseCosts, kind: usize| from.arriving_ns[kind] + to.leaving_ns[kind];
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
}
