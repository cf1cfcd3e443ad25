//! What nodes are like: as said of each, of a group it is in, of all.

use super::Basis;
use super::choice::{Draw, Purpose};
use super::servers::server;
use crate::experiment::model::{self, File};
use crate::experiment::plan::{
    Arena, ClockPlan, Hop, LinkIndex, Links, NodeCosts, NodeIndex, NodePlan, Nodes,
};
use crate::experiment::problem::suggest;
use crate::experiment::profile::Profile;
use crate::experiment::read::findings::Findings;
use crate::experiment::units::Size;
use packet::Name;

/// With less a forwarder is ended by the kernel before it has begun.
const MIN_MEMORY_BYTES: u64 = 16_000_000;

/// What is said of a node, the most particular first.
struct Layers<'a>(Vec<&'a model::Node>);

impl Layers<'_> {
    fn of<T>(&self, key: impl Fn(&model::Node) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|node| key(node))
    }
}

/// A mistake in the strategy of one of our own forwarders; other software knows its own.
fn strategy(key: &str, file: &File, forwarder: Option<&model::Forwarder>, f: &mut Findings) {
    let is_ours = file.software.as_deref().is_none_or(|software| software == "cairn");
    let given = forwarder.and_then(|forwarder| forwarder.strategy.as_deref()).filter(|_| is_ours);
    let Some(Err(error)) = given.map(str::parse::<engine::StrategySpec>) else { return };
    let names: Vec<Name> = engine::strategy_names().collect();
    let words = names.iter().filter_map(|name| name.as_ref().component(3));
    let words: Vec<&str> = words.filter_map(|word| std::str::from_utf8(word.value).ok()).collect();
    let word = given.unwrap_or_default().split('/').next().unwrap_or_default();
    f.add(format!("{key}.forwarder.strategy"), error.to_string(), Some(suggest(word, &words)));
}

/// The same for the eviction policy.
fn eviction(key: &str, file: &File, forwarder: Option<&model::Forwarder>, f: &mut Findings) {
    let is_ours = file.software.as_deref().is_none_or(|software| software == "cairn");
    let given = forwarder.and_then(|forwarder| forwarder.eviction.as_deref()).filter(|_| is_ours);
    let Some(Err(error)) = given.map(str::parse::<engine::EvictionPolicy>) else { return };
    let words: Vec<&str> = engine::eviction_names().collect();
    let key = format!("{key}.forwarder.eviction");
    f.add(key, error.to_string(), Some(suggest(given.unwrap_or_default(), &words)));
}

/// The same for where copies are left.
fn placement(key: &str, forwarder: Option<&model::Forwarder>, f: &mut Findings) {
    let given = forwarder.and_then(|forwarder| forwarder.placement.as_deref());
    let Some(Err(error)) = given.map(str::parse::<engine::CachePlacement>) else { return };
    f.add(format!("{key}.forwarder.placement"), error.to_string(), None);
}

/// The same for lines of a node's configuration.
fn settings(key: &str, file: &File, forwarder: Option<&model::Forwarder>, f: &mut Findings) {
    let is_ours = file.software.as_deref().is_none_or(|software| software == "cairn");
    let given = forwarder.and_then(|forwarder| forwarder.settings.as_deref()).filter(|_| is_ours);
    let Some(Err(error)) = given.map(str::parse::<toml::Table>) else { return };
    let hint = Some("write lines of a node's configuration".to_owned());
    f.add(format!("{key}.forwarder.settings"), error.message(), hint);
}

/// Groups, each with its nodes, the last first: it overrides those before it.
fn groups<'a>(
    file: &'a File,
    names: &[&str],
    seed: u64,
    f: &mut Findings,
) -> Vec<(&'a model::Node, Vec<NodeIndex>)> {
    let of = |(name, group): (&String, &'a model::Group)| {
        let key = format!("group.{name}.nodes");
        (&group.set, group.nodes.nodes(&key, names, Draw { seed, purpose: Purpose::Settings }, f))
    };
    let mut groups: Vec<_> = file.group.iter().map(of).collect();
    groups.reverse();
    groups
}

/// What nodes cost where a profile says it.
#[derive(Clone, Copy)]
pub(super) struct Costs<'a> {
    /// What packets cost.
    pub(super) profile: &'a Profile,
    /// Bytes of content in a Data.
    pub(super) content_bytes: u32,
}

/// The nodes of a file, complete.
pub(super) fn nodes(
    basis: &Basis<'_>,
    links: &Links,
    hops: &[Hop],
    costs: Option<Costs<'_>>,
    f: &mut Findings,
) -> Nodes {
    let Basis { file, names, seed, .. } = *basis;
    let defaults = file.defaults.as_ref().and_then(|defaults| defaults.node.as_ref());
    let groups = groups(file, names, seed, f);
    let link_names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    let watched = first_links(names.len(), links, hops);
    let mut nodes = Nodes::default();
    for (index, name) in names.iter().enumerate().map(|(place, name)| (NodeIndex(place), name)) {
        let mut said: Vec<&model::Node> = file.node.get(*name).into_iter().collect();
        said.extend(groups.iter().filter(|(_, nodes)| nodes.contains(&index)).map(|(set, _)| *set));
        said.extend(defaults);
        let first = watched.get(index).copied().flatten();
        let said = Layers(said);
        let mut plan = node(file, name, &said, first, &link_names, f);
        plan.server = said.of(|node| node.server.clone()).and_then(|given| server(name, &given, names, f));
        if let Some(costs) = costs {
            plan.costs = measured(index, &plan, &said, links, costs);
        }
        nodes.push(plan);
    }
    nodes
}

/// The costs of a node by a profile where it does not say its own: those of its links, the first of which is
/// the one that it watches.
fn measured(
    index: NodeIndex,
    node: &NodePlan,
    said: &Layers<'_>,
    links: &Links,
    Costs { profile, content_bytes }: Costs<'_>,
) -> Option<NodeCosts> {
    if said.of(|node| node.service_time).is_some() {
        return None;
    }
    let joined = links.indexed().filter(|(_, link)| link.joins(index));
    let mut own: Vec<LinkIndex> = joined.map(|(link, _)| link).collect();
    own.sort_by_key(|link| Some(*link) != node.watch);
    let has_store = node.forwarder.store_entries() > 0;
    let cost = |link: LinkIndex| {
        let plan = links.get(link)?;
        let cost = profile.of(plan.kind)?.with_frames_apart(plan.frames_apart(content_bytes));
        Some((link, if has_store { cost.storing() } else { cost }))
    };
    let costs: Vec<_> = own.into_iter().filter_map(cost).collect();
    NodeCosts::of(&costs, profile, content_bytes)
}

/// For each node the link to the next hop of its first route, or else its first link.
fn first_links(nodes: usize, links: &Links, hops: &[Hop]) -> Arena<NodeIndex, Option<LinkIndex>> {
    let mut first = Arena::from(vec![None; nodes]);
    let by_route = hops.iter().map(|hop| (hop.node, hop.link));
    let by_place = links.indexed().flat_map(|(link, plan)| plan.ends().map(move |node| (node, link)));
    for (node, link) in by_route.chain(by_place) {
        if let Some(place @ None) = first.get_mut(node) {
            *place = Some(link);
        }
    }
    first
}

fn node(
    file: &File,
    name: &str,
    said: &Layers<'_>,
    first_link: Option<LinkIndex>,
    links: &[&str],
    f: &mut Findings,
) -> NodePlan {
    let key = format!("node.{name}");
    f.name(&key, "a node", name);
    let cpu = said.of(|node| node.cpu).map(|share| share.0);
    if cpu.is_some_and(|share| !(0.01..=1.0).contains(&share)) {
        let hint = Some("write for example cpu = \"10 %\", or leave it out for a whole core".to_owned());
        f.add(format!("{key}.cpu"), "a share of one core is from 1 % to 100 %", hint);
    }
    let memory = said.of(|node| node.memory);
    if memory.is_some_and(|size| size.0 < MIN_MEMORY_BYTES) {
        let hint = Some("write for example memory = \"256 MB\", or leave it out".to_owned());
        let message = format!("a forwarder takes {} before it has a single entry", Size(MIN_MEMORY_BYTES));
        f.add(format!("{key}.memory"), message, hint);
    }
    let cpu_period = said.of(|node| node.cpu_period);
    if cpu_period.is_some_and(|period| !(1_000_000..=1_000_000_000).contains(&period.0)) {
        f.add(format!("{key}.cpu_period"), "the kernel takes periods from 1 ms to 1 s", None);
    }
    let forwarder = said.of(|node| node.forwarder.clone());
    strategy(&key, file, forwarder.as_ref(), f);
    eviction(&key, file, forwarder.as_ref(), f);
    placement(&key, forwarder.as_ref(), f);
    settings(&key, file, forwarder.as_ref(), f);
    super::registrations::accepted(&key, forwarder.as_ref(), f);
    let watch = match said.of(|node| node.watch.clone()) {
        Some(given) => f.link(&format!("{key}.watch"), &given, links),
        None => first_link,
    };
    let service_time_ns = said.of(|node| node.service_time).map_or(30_000, |span| span.0);
    NodePlan {
        name: name.to_owned(),
        cpu,
        cpu_period_ns: cpu_period.map(|span| span.0),
        memory_bytes: memory.map(|size| size.0),
        forwarder: forwarder.unwrap_or_else(model::Forwarder::nothing_set),
        server: None,
        switch: file.node.get(name).is_some_and(|node| node.switch == Some(true)),
        watch,
        service_time_ns,
        data_service_time_ns: said.of(|node| node.data_service_time).map_or(service_time_ns, |span| span.0),
        costs: None,
        service_queue: said.of(|node| node.service_queue).unwrap_or(1000),
        capacity: capacity(&key, said, f),
        clock: clock(said),
    }
}

/// What the processor can do from some moments on.
fn capacity(key: &str, said: &Layers<'_>, f: &mut Findings) -> Vec<(u64, f64)> {
    let steps = said.of(|node| (!node.capacity.is_empty()).then(|| node.capacity.clone()));
    let mut list = Vec::new();
    for (number, step) in steps.unwrap_or_default().iter().enumerate() {
        if !(0.001..=1.0).contains(&step.part.0) {
            f.add(format!("{key}.capacity.{number}.part"), "a part of a core is from 0.1 % to 100 %", None);
        }
        list.push((step.at.0, step.part.0));
    }
    list.sort_by_key(|(at, _)| *at);
    list
}

/// The clock, where anything is said of it.
fn clock(said: &Layers<'_>) -> Option<ClockPlan> {
    let (tick, offset) = (said.of(|node| node.tick), said.of(|node| node.clock_offset));
    let drift_ppm = said.of(|node| node.drift_ppm);
    if tick.is_none() && offset.is_none() && drift_ppm.is_none() {
        return None;
    }
    let drift_ns_per_second = (drift_ppm.unwrap_or(0.0) * 1000.0) as i64;
    Some(ClockPlan {
        tick_ns: tick.map_or(0, |span| span.0),
        offset_ns: offset.map_or(0, |span| span.0),
        drift_ns_per_second,
        of_engine: said.of(|node| node.engine_clock).unwrap_or(false),
    })
}

impl model::Forwarder {
    /// The forwarder's own defaults throughout.
    #[must_use]
    pub fn nothing_set() -> Self {
        model::Forwarder {
            content_store: None,
            content_store_bytes: None,
            max_pending: None,
            max_pending_per_face: None,
            max_interests_per_second_per_face: None,
            strategy: None,
            eviction: None,
            placement: None,
            registrations: None,
            settings: None,
        }
    }

    /// How many packets are cached: on every backend as many.
    #[must_use]
    pub fn store_entries(&self) -> u32 {
        self.content_store.unwrap_or(model::STORE_ENTRIES)
    }

    /// How many bytes of them.
    #[must_use]
    pub fn store_bytes(&self) -> u64 {
        self.content_store_bytes.map_or(model::STORE_BYTES, |size| size.0)
    }
}
