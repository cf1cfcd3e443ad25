//! What of an experiment has to do with a measure: its subject, and what lies on the path of the workloads
//! that come there.

use std::collections::BTreeSet;

use crate::experiment::measure::{Measure, NETWORK};
use crate::experiment::plan::{Activity, Hop, NodeIndex, Plan, Workload};

/// The entries of a file's tables that have to do with some measures.
#[derive(Debug)]
pub(super) struct Concerned<'a> {
    plan: &'a Plan,
    /// Everything has, such as with packets of the whole network.
    all: bool,
    nodes: BTreeSet<NodeIndex>,
    /// Contents and producers.
    sources: BTreeSet<&'a str>,
    workloads: BTreeSet<&'a str>,
}

impl<'a> Concerned<'a> {
    /// Of these measures of a plan.
    pub(super) fn by(plan: &'a Plan, measures: &[Measure]) -> Self {
        let (nodes, sources, workloads) = Default::default();
        let mut concerned = Concerned { plan, all: false, nodes, sources, workloads };
        for measure in measures {
            concerned.add(&measure.subject);
        }
        // Whoever takes a node's processor away, and programs that others ask.
        for workload in &plan.workloads {
            let is_there = match &workload.does {
                Activity::Load { .. } => concerned.nodes.contains(&workload.at),
                Activity::Program(program) => program.serves && concerned.nodes.contains(&workload.at),
                _ => false,
            };
            if is_there {
                concerned.workloads.insert(workload.measured_as());
            }
        }
        concerned
    }

    fn add(&mut self, subject: &str) {
        let node = self.plan.node(subject);
        self.all |= node.is_none() && subject == NETWORK;
        self.nodes.extend(node);
        for workload in &self.plan.workloads {
            let path = Path::of(self.plan, workload);
            let comes_there = node.is_some_and(|node| path.nodes.contains(&node));
            let asks_there =
                subject.starts_with('/') && path.prefix.is_some_and(|prefix| overlap(prefix, subject));
            if comes_there
                || asks_there
                || workload.measured_as() == subject
                || path.sources.contains(subject)
            {
                self.workloads.insert(workload.measured_as());
                self.nodes.extend(path.nodes);
                self.sources.extend(path.sources);
            }
        }
        let content = self.plan.contents.iter().find(|content| content.name == subject);
        self.nodes.extend(content.map(|content| content.at));
        self.sources.extend(content.map(|content| content.name.as_str()));
    }

    /// Has an entry of that name in that table to do with the measures? Tables of what holds for many have.
    pub(super) fn holds(&self, table: &str, name: &str) -> bool {
        if self.all {
            return true;
        }
        let is_on_path = |node: NodeIndex| self.nodes.contains(&node);
        match table {
            "node" => self.plan.node(name).is_some_and(is_on_path),
            "link" => {
                let link = self.plan.links.iter().find(|link| link.name == name);
                link.is_some_and(|link| link.ends().filter(|node| is_on_path(*node)).count() > 1)
            }
            "content" | "producer" => self.sources.contains(name),
            "group" => true,
            _ => self.workloads.contains(name),
        }
    }
}

/// Where the packets of a workload go.
struct Path<'a> {
    prefix: Option<&'a str>,
    nodes: BTreeSet<NodeIndex>,
    sources: BTreeSet<&'a str>,
}

impl<'a> Path<'a> {
    fn of(plan: &'a Plan, workload: &'a Workload) -> Self {
        let prefix = match &workload.does {
            Activity::Download { content, .. } | Activity::Traffic { content, .. } => {
                plan.contents.get(*content).map(|content| content.prefix.as_str())
            }
            Activity::Register(registration) => Some(registration.prefix.as_str()),
            Activity::Flood { prefix, .. } | Activity::Ping { prefix, .. } => Some(prefix.as_str()),
            Activity::Consume(consumer) => Some(consumer.prefix.as_str()),
            Activity::Program(_) | Activity::Load { .. } => None,
        };
        let mut nodes = BTreeSet::from([workload.at]);
        match &workload.does {
            Activity::Consume(consumer) => nodes.extend(&consumer.nodes),
            Activity::Ping { to, .. } => nodes.extend([*to]),
            Activity::Register(registration) => nodes.extend([registration.to]),
            _ => {}
        }
        let is_asked = |other: &str| prefix.is_some_and(|prefix| overlap(prefix, other));
        let contents = plan.contents.iter().filter(|content| is_asked(&content.prefix));
        let producers = plan.producers.iter().filter(|producer| is_asked(&producer.prefix));
        let sources = contents.clone().map(|content| content.name.as_str());
        let sources = sources.chain(producers.clone().map(|producer| producer.name.as_str())).collect();
        // Who only takes processor time away asks nobody, and what a program asks for is not known.
        let follows = |hop: &Hop| match &workload.does {
            Activity::Load { .. } => false,
            Activity::Program(_) => true,
            _ => is_asked(&hop.prefix),
        };
        along(plan, &mut nodes, follows);
        if prefix.is_some() {
            nodes.extend(contents.map(|content| content.at));
            nodes.extend(producers.flat_map(|producer| &producer.nodes));
            // What goes by IP has no next hops by names.
            let by_ip = plan.nodes.indexed().filter(|(_, node)| node.switch || node.server.is_some());
            nodes.extend(by_ip.map(|(node, _)| node));
        }
        Path { prefix, nodes, sources }
    }
}

/// Adds every node that these lead to by such hops.
fn along(plan: &Plan, nodes: &mut BTreeSet<NodeIndex>, follows: impl Fn(&Hop) -> bool) {
    let mut open: Vec<NodeIndex> = nodes.iter().copied().collect();
    while let Some(node) = open.pop() {
        for hop in plan.routing.hops.iter().filter(|hop| hop.node == node && follows(hop)) {
            let ends = plan.links.get(hop.link).into_iter().flat_map(|link| link.ends());
            let next: Vec<NodeIndex> = hop.behind.map_or_else(|| ends.collect(), |behind| vec![behind]);
            open.extend(next.into_iter().filter(|next| nodes.insert(*next)));
        }
    }
}

/// Are there names below both prefixes?
pub(super) fn overlap(one: &str, other: &str) -> bool {
    let is_part = |part: &&str| !part.is_empty();
    let (one, other) = (one.split('/').filter(is_part), other.split('/').filter(is_part));
    one.zip(other).all(|(one, other)| one == other)
}
