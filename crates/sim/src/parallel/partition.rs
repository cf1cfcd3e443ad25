//! Which node belongs to which part.
//!
//! Nodes that a short, shared or framed link joins stay together. Beyond that, parts should have the same
//! work, few packets between them, and a long way to each other. Work is what went over a node's links so
//! far. Nodes are put in the order of their distance from one at the edge, and that order is cut into parts
//! of equal work; then nodes go to the part with which they exchange most, as long as that keeps the work
//! even. Nothing of this changes what happens in the network, only how long it takes.

use std::collections::VecDeque;

use packet::time::Duration;

use crate::arena::{AppId, Arena, ChannelId, ClusterId, EndId, FramedId, Id, LinkId, NodeId, PartId};
use crate::core::Link;
use crate::events::queue::EventSource;
use crate::network::Network;
use crate::topology::components;

/// Links that are shorter than this are not cut.
const MIN_CUT: Duration = Duration::from_millis(1);
/// More parts than this wait for each other more than they work.
const MAX_PARTS: usize = 64;
/// What a part may have of the work before others had better have it, in hundredths of an equal share.
const LARGEST_SHARE: u64 = 115;
/// How often nodes are looked at for whether they had better change parts.
const PASSES: usize = 4;

/// Which node belongs to which part, and with it all else.
#[derive(Debug)]
pub(super) struct Partition {
    parts: usize,
    /// The delay of the shortest link between parts: how long no part can see what another does.
    lookahead: Duration,
    nodes: Arena<NodeId, PartId>,
    applications: Arena<AppId, PartId>,
    /// The part that has a link; `None` for one between parts.
    links: Arena<LinkId, Option<PartId>>,
    framed: Arena<FramedId, PartId>,
    channels: Arena<ChannelId, Direction>,
}

/// One direction of a link, or all of one that several share.
#[derive(Clone, Copy, Debug)]
struct Direction {
    sender: PartId,
    receiver: PartId,
}

/// Nodes that stay together.
#[derive(Clone, Debug, Default)]
struct Cluster {
    work: u64,
    /// Other clusters, and what goes between them and this one.
    neighbours: Vec<(ClusterId, u64)>,
}

impl Partition {
    /// Divides a network into so many parts, or as many as there can be; `None` where there are no two.
    pub(super) fn of(network: &Network, parts: usize) -> Option<Partition> {
        if !network.may_be_divided() {
            return None;
        }
        // Long links are better cut than short ones, if the work can be shared out along them.
        let longest = network.core.links.iter().map(|link| link.config.delay).max()?;
        let mut shortest_cut = MIN_CUT;
        while shortest_cut * 4 <= longest {
            shortest_cut = shortest_cut * 4;
        }
        loop {
            let found = Partition::along(network, parts, shortest_cut);
            if shortest_cut <= MIN_CUT || found.as_ref().is_some_and(|(_, is_even)| *is_even) {
                return found.map(|(partition, _)| partition);
            }
            shortest_cut = shortest_cut / 4;
        }
    }

    /// Divides a network along links of this delay and more; also tells whether the work is shared out
    /// evenly.
    fn along(network: &Network, parts: usize, shortest_cut: Duration) -> Option<(Partition, bool)> {
        let cluster_of = clusters(network, shortest_cut);
        let clusters = weigh(network, &cluster_of);
        let parts = parts.min(clusters.len()).min(MAX_PARTS);
        if parts < 2 {
            return None;
        }
        let mut part_of_cluster = cut(&clusters, parts);
        let most =
            clusters.iter().map(|cluster| cluster.work).sum::<u64>() / parts as u64 * LARGEST_SHARE / 100;
        improve(&clusters, &mut part_of_cluster, parts, most);
        // Parts that came out empty are left out.
        let mut work: Arena<PartId, u64> = (0..parts).map(|_| 0).collect();
        for (cluster, &part) in clusters.iter().zip(part_of_cluster.iter()) {
            work[part] += cluster.work.max(1);
        }
        let mut used = 0;
        let numbers: Arena<PartId, PartId> = work
            .iter()
            .map(|&work| {
                let number = PartId::from_index(used);
                used += usize::from(work > 0);
                number
            })
            .collect();
        let is_even = used == parts && work.iter().all(|work| *work <= most);
        let nodes = cluster_of.iter().map(|&cluster| numbers[part_of_cluster[cluster]]).collect();
        Some((Partition::by_nodes(network, nodes, used)?, is_even))
    }

    /// All else follows the nodes; `None` if no link joins two parts.
    fn by_nodes(network: &Network, nodes: Arena<NodeId, PartId>, parts: usize) -> Option<Partition> {
        let core = &network.core;
        let part_of =
            |link: &Link, end: EndId| link.ends.get(end.index()).map_or(PartId(0), |end| nodes[end.node]);
        let links: Arena<LinkId, Option<PartId>> = core
            .links
            .iter()
            .map(|link| {
                let first = part_of(link, EndId(0));
                link.ends.iter().all(|end| nodes[end.node] == first).then_some(first)
            })
            .collect();
        let between = core.links.indexed().filter(|(id, _)| links[*id].is_none());
        let lookahead = between.map(|(_, link)| link.config.delay).min()?;
        let channels = core.channels.iter().map(|channel| {
            let link = &core.links[channel.link];
            let sender = part_of(link, channel.end);
            let other = EndId::from_index(1 - (channel.end.index() & 1));
            Direction { sender, receiver: if link.is_shared() { sender } else { part_of(link, other) } }
        });
        let framed = core.framed.iter().map(|framed| links[framed.link].unwrap_or(PartId(0)));
        let applications = core.attachments.iter().map(|attachment| nodes[attachment.node]);
        let (channels, framed, applications) = (channels.collect(), framed.collect(), applications.collect());
        Some(Partition { parts, lookahead, applications, framed, channels, links, nodes })
    }

    /// How many parts there are; they are numbered from zero.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// How long no part can see what another does.
    pub(super) fn lookahead(&self) -> Duration {
        self.lookahead
    }

    pub(super) fn nodes_of(&self, part: PartId) -> impl Iterator<Item = NodeId> {
        self.nodes.indexed().filter(move |(_, of)| **of == part).map(|(id, _)| id)
    }

    pub(super) fn applications_of(&self, part: PartId) -> impl Iterator<Item = AppId> {
        self.applications.indexed().filter(move |(_, of)| **of == part).map(|(id, _)| id)
    }

    pub(super) fn links_within(&self, part: PartId) -> impl Iterator<Item = LinkId> {
        self.links.indexed().filter(move |(_, of)| **of == Some(part)).map(|(id, _)| id)
    }

    /// Links between parts.
    pub(super) fn cut_links(&self) -> impl Iterator<Item = LinkId> {
        self.links.indexed().filter(|(_, of)| of.is_none()).map(|(id, _)| id)
    }

    /// Channels by which a part sends.
    pub(super) fn channels_from(&self, part: PartId) -> impl Iterator<Item = ChannelId> {
        self.channels.indexed().filter(move |(_, of)| of.sender == part).map(|(id, _)| id)
    }

    /// Channels that lead from one part to another.
    pub(super) fn cut_channels(&self) -> impl Iterator<Item = ChannelId> {
        self.channels.indexed().filter(|(_, of)| of.sender != of.receiver).map(|(id, _)| id)
    }

    pub(super) fn receiver_of(&self, channel: ChannelId) -> PartId {
        self.channels.get(channel).map_or(PartId(0), |direction| direction.receiver)
    }

    /// Where an event happens; `None` for what the owner of the network has planned, and for what was held
    /// back: [its channel](Self::receiver_of) says where it goes on.
    pub(super) fn part_of_source(&self, source: EventSource) -> Option<PartId> {
        match source {
            EventSource::Channel(channel) => self.channels.get(channel).map(|direction| direction.receiver),
            EventSource::Departure(channel) => self.channels.get(channel).map(|direction| direction.sender),
            EventSource::Engine(node) | EventSource::Processor(node) => self.nodes.get(node).copied(),
            EventSource::Application(application) => self.applications.get(application).copied(),
            EventSource::Framed(framed) => self.framed.get(framed).copied(),
            EventSource::Held(_) | EventSource::Plan(_) => None,
        }
    }
}

fn may_be_cut(link: &Link, shortest: Duration) -> bool {
    link.framed.is_none() && !link.is_shared() && link.config.delay >= shortest
}

/// The cluster of each node.
fn clusters(network: &Network, shortest_cut: Duration) -> Arena<NodeId, ClusterId> {
    let mut joined: Arena<NodeId, Vec<NodeId>> = Arena::filled(&network.core.nodes, Vec::new());
    for link in network.core.links.iter().filter(|link| !may_be_cut(link, shortest_cut)) {
        for pair in link.ends.windows(2) {
            let [a, b] = [pair[0].node, pair[1].node];
            joined[a].push(b);
            joined[b].push(a);
        }
    }
    components(&joined).into_iter().map(ClusterId::from_index).collect()
}

fn weigh(network: &Network, cluster_of: &Arena<NodeId, ClusterId>) -> Arena<ClusterId, Cluster> {
    let count = cluster_of.iter().max().map_or(0, |last| last.index() + 1);
    let mut clusters: Arena<ClusterId, Cluster> = (0..count).map(|_| Cluster::default()).collect();
    let mut between = std::collections::BTreeMap::<(ClusterId, ClusterId), u64>::new();
    for link in &network.core.links {
        let packets: u64 = link.channels.iter().map(|&id| network.core.channels[id].counters.packets).sum();
        let traffic = packets + 1;
        for end in &link.ends {
            clusters[cluster_of[end.node]].work += traffic;
        }
        for pair in link.ends.windows(2) {
            let (a, b) = (cluster_of[pair[0].node], cluster_of[pair[1].node]);
            if a != b {
                *between.entry((a.min(b), a.max(b))).or_default() += traffic;
            }
        }
    }
    for ((a, b), traffic) in between {
        clusters[a].neighbours.push((b, traffic));
        clusters[b].neighbours.push((a, traffic));
    }
    clusters
}

/// All clusters by their distance from `start`, and behind them those that it cannot reach.
fn by_distance(clusters: &Arena<ClusterId, Cluster>, start: ClusterId) -> Vec<ClusterId> {
    let mut seen: Arena<ClusterId, bool> = clusters.ids().map(|_| false).collect();
    let mut order = Vec::with_capacity(clusters.len());
    for start in std::iter::once(start).chain(clusters.ids()) {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut waiting = VecDeque::from([start]);
        while let Some(cluster) = waiting.pop_front() {
            order.push(cluster);
            for &(other, _) in &clusters[cluster].neighbours {
                if !std::mem::replace(&mut seen[other], true) {
                    waiting.push_back(other);
                }
            }
        }
    }
    order
}

/// Cuts the order of distance into parts of equal work.
fn cut(clusters: &Arena<ClusterId, Cluster>, parts: usize) -> Arena<ClusterId, PartId> {
    let mut part_of: Arena<ClusterId, PartId> = clusters.ids().map(|_| PartId(0)).collect();
    let Some(first) = clusters.ids().next() else { return part_of };
    // The farthest from any is at the edge.
    let edge = by_distance(clusters, first).last().copied().unwrap_or(first);
    let total: u64 = clusters.iter().map(|cluster| cluster.work).sum();
    let mut before = 0;
    for cluster in by_distance(clusters, edge) {
        let middle = u128::from(before) + u128::from(clusters[cluster].work / 2);
        let part = middle * parts as u128 / u128::from(total.max(1));
        part_of[cluster] = PartId::from_index(usize::try_from(part).unwrap_or(0).min(parts - 1));
        before += clusters[cluster].work;
    }
    part_of
}

/// Moves clusters to where more of their traffic goes.
fn improve(
    clusters: &Arena<ClusterId, Cluster>,
    part_of: &mut Arena<ClusterId, PartId>,
    parts: usize,
    most: u64,
) {
    let mut work: Arena<PartId, u64> = (0..parts).map(|_| 0).collect();
    for (cluster, &part) in clusters.iter().zip(part_of.iter()) {
        work[part] += cluster.work;
    }
    for _ in 0..PASSES {
        let mut has_changed = false;
        for (number, cluster) in clusters.indexed() {
            let own = part_of[number];
            let mut towards: Arena<PartId, u64> = work.ids().map(|_| 0).collect();
            for &(other, traffic) in &cluster.neighbours {
                towards[part_of[other]] += traffic;
            }
            let Some((best, &traffic)) = towards.indexed().max_by_key(|(_, traffic)| **traffic) else {
                continue;
            };
            let least = work[own] / 2;
            if best != own
                && traffic > towards[own]
                && work[best] + cluster.work <= most
                && work[own] - cluster.work >= least
            {
                work[own] -= cluster.work;
                work[best] += cluster.work;
                part_of[number] = best;
                has_changed = true;
            }
        }
        if !has_changed {
            break;
        }
    }
}
