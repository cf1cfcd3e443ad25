//! From what was written to what is carried out: defaults filled in, names looked up, nonsense refused.

use super::model::{self, File};
use super::names;
use super::plan::{
    ContentPlan, GatePlan, Hop, LinkKind, LinkPlan, NodeIndex, NodePlan, Plan, ProbePlan, RoutePlan,
    Software, WindowPlan,
};
use super::problem::suggest;
use super::resolve_workloads;
use super::units::{Size, Span};

/// With less a forwarder is ended by the kernel before it has begun.
const LEAST_MEMORY_BYTES: u64 = 16_000_000;

/// A mistake and the key it is at; its line is looked up by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The key, such as `link.a-b.kind`.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub suggestion: Option<String>,
}

/// Collects mistakes while a plan is made.
#[derive(Debug, Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        key: impl Into<String>,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.0.push(Finding { key: key.into(), message: message.into(), suggestion });
    }

    /// One of a few words, or a mistake that names them.
    pub(super) fn word<T: Clone>(&mut self, key: &str, given: &str, known: &[(&str, T)]) -> Option<T> {
        let found = known.iter().find(|(word, _)| *word == given).map(|(_, value)| value.clone());
        if found.is_none() {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            self.add(key, format!("`{given}` is not known here"), Some(suggest(given, &words)));
        }
        found
    }

    /// The place of a name among others, or a mistake that names them.
    pub(super) fn place(&mut self, key: &str, what: &str, given: &str, known: &[&str]) -> Option<usize> {
        let found = known.iter().position(|name| *name == given);
        if found.is_none() {
            self.add(key, format!("there is no {what} called `{given}`"), Some(suggest(given, known)));
        }
        found
    }

    /// A name of the file's own that can be part of a file's name, an address and a measure.
    pub(super) fn name(&mut self, key: &str, what: &str, given: &str) {
        let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if given.is_empty() || given.len() > 24 || !given.chars().all(good) {
            let hint = Some("use up to 24 letters, digits, `-` and `_`".to_owned());
            self.add(key, format!("`{given}` cannot be the name of {what}"), hint);
        }
    }

    /// A name in URI form that packets can carry.
    pub(super) fn prefix(&mut self, key: &str, given: &str) {
        if let Err(error) = given.parse::<packet::Name>() {
            self.add(
                key,
                format!("`{given}` is not a name: {error}"),
                Some("write it as /like/this".to_owned()),
            );
        } else if !given.starts_with('/') {
            self.add(key, format!("`{given}` is not a name"), Some(format!("write /{given}")));
        }
    }
}

/// Makes the plan of a file, or says everything that is wrong with it.
///
/// # Errors
///
/// All mistakes that could be found.
pub fn resolve(file: &File, case: &str) -> Result<Plan, Vec<Finding>> {
    let mut findings = Findings::default();
    let f = &mut findings;
    let mut names: Vec<&str> = file.node.keys().map(String::as_str).collect();
    names.sort_by(|a, b| names::natural(a, b));
    if names.is_empty() {
        f.add("node", "there is no node", Some("add for example: node.a = {}".to_owned()));
    }
    let links = links(file, &names, f);
    let (routes, hops) = routes(file, &names, &links, f);
    let nodes = nodes(file, &names, &links, &hops, f);
    let contents = contents(file, &names, f);
    let workloads = resolve_workloads::workloads(file, (&names, &links, &hops), &contents, f);
    let gates = file.gates.as_ref();
    let share = |value: Option<super::units::Share>, default| value.map_or(default, |share| share.0);
    let sample_every_ns = file.sample_every.unwrap_or(Span(500_000_000)).0;
    let silence_ns = sample_every_ns.saturating_mul(3).max(1_500_000_000);
    let plan = Plan {
        title: file.title.clone(),
        case: case.to_owned(),
        duration_ns: file.duration.0,
        until_done: file.until_done.unwrap_or(false),
        repeats: file.repeats.unwrap_or(1),
        seed: file.seed.unwrap_or(1),
        sample_every_ns,
        software: software(file, f),
        nodes,
        links,
        hops,
        routes,
        contents,
        workloads,
        probe: probe(file),
        window: WindowPlan {
            from_ns: file.measure.as_ref().and_then(|window| window.from).map(|span| span.0),
            until_ns: file.measure.as_ref().and_then(|window| window.until).map(|span| span.0),
        },
        gates: GatePlan {
            capture_drops: share(gates.and_then(|gates| gates.capture_drops), 0.001),
            invalid_samples: share(gates.and_then(|gates| gates.invalid_samples), 0.05),
            unfinished: share(gates.and_then(|gates| gates.unfinished), 0.0),
            steal: share(gates.and_then(|gates| gates.steal), 0.05),
            waited: share(gates.and_then(|gates| gates.waited), 0.25),
            silence_ns: gates.and_then(|gates| gates.silence).map_or(silence_ns, |span| span.0),
            clock_error_ns: gates.and_then(|gates| gates.clock_error).map_or(1_000_000, |span| span.0),
            retries: gates.and_then(|gates| gates.retries).unwrap_or(0),
        },
        expectations: file.expect.clone(),
        elsewhere: Vec::new(),
        control: None,
        scaling: None,
    };
    whole(&plan, f);
    if findings.0.is_empty() { Ok(plan) } else { Err(findings.0) }
}

/// What must hold for the plan as a whole.
fn whole(plan: &Plan, f: &mut Findings) {
    if plan.duration_ns == 0 {
        f.add(
            "duration",
            "an experiment must last",
            Some("write for example duration = \"20 s\"".to_owned()),
        );
    }
    let from_ns = plan.window.from_ns.unwrap_or(0);
    if plan.window.until_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns) <= from_ns && from_ns > 0 {
        f.add("measure.from", "what is measured ends before it begins", None);
    }
    if plan.repeats == 0 {
        f.add("repeats", "at least one repeat is needed", None);
    }
    if plan.sample_every_ns < 10_000_000 {
        f.add(
            "sample_every",
            "sampling that often measures itself",
            Some("write at least \"10 ms\"".to_owned()),
        );
    }
}

fn software(file: &File, f: &mut Findings) -> Software {
    let given = file.software.as_deref().unwrap_or("cairn");
    f.word("software", given, &[("cairn", Software::Cairn), ("ndnd", Software::Ndnd)])
        .unwrap_or(Software::Cairn)
}

fn probe(file: &File) -> ProbePlan {
    let probe = file.probe.as_ref();
    ProbePlan {
        capture: probe.and_then(|probe| probe.capture).unwrap_or(true),
        snap_bytes: probe
            .and_then(|probe| probe.snap)
            .map_or(500, |size| u32::try_from(size.0).unwrap_or(u32::MAX)),
        psml: probe.and_then(|probe| probe.psml).unwrap_or(false),
    }
}

fn links(file: &File, names: &[&str], f: &mut Findings) -> Vec<LinkPlan> {
    let defaults = file.defaults.as_ref().and_then(|defaults| defaults.link.as_ref());
    let mut links = Vec::new();
    let mut order: Vec<(&String, &model::Link)> = file.link.iter().collect();
    order.sort_by(|a, b| names::natural(a.0, b.0));
    for (name, link) in order {
        let key = format!("link.{name}");
        let Some(between) = ends(&key, name, link, names, f) else { continue };
        if between[0] == between[1] {
            f.add(&key, "a link joins two different nodes", None);
        }
        let kind = link.kind.as_deref().or(defaults.and_then(|link| link.kind.as_deref())).unwrap_or("udp");
        let kinds = [("udp", LinkKind::Udp), ("tcp", LinkKind::Tcp), ("ether", LinkKind::Ether)];
        let kind = f.word(&format!("{key}.kind"), kind, &kinds).unwrap_or(LinkKind::Udp);
        let loss = link.loss.or(defaults.and_then(|link| link.loss)).map_or(0.0, |share| share.0);
        if !(0.0..=1.0).contains(&loss) {
            let hint = Some("write for example loss = \"1 %\"".to_owned());
            f.add(format!("{key}.loss"), "a loss lies between 0 % and 100 %", hint);
        }
        let mtu = link.mtu.or(defaults.and_then(|link| link.mtu)).unwrap_or(1500);
        if !(576..=65_000).contains(&mtu) {
            f.add(format!("{key}.mtu"), "an MTU lies between 576 and 65000", None);
        }
        let rate = link.rate.or(defaults.and_then(|link| link.rate)).map(|rate| rate.0);
        if rate.is_some_and(|rate| rate < 8_000) {
            f.add(format!("{key}.rate"), "a rate of less than 8 kbit/s does not carry a packet", None);
        }
        links.push(LinkPlan {
            name: name.clone(),
            between,
            kind,
            rate_bps: rate,
            delay_ns: link.delay.or(defaults.and_then(|link| link.delay)).map_or(0, |span| span.0),
            loss,
            queue: link.queue.or(defaults.and_then(|link| link.queue)).unwrap_or(100),
            mtu,
        });
    }
    links
}

/// The two nodes of a link: as given, or from its name.
fn ends(
    key: &str,
    name: &str,
    link: &model::Link,
    names: &[&str],
    f: &mut Findings,
) -> Option<[NodeIndex; 2]> {
    let Some(between) = &link.between else {
        let found = name.match_indices('-').find_map(|(at, _)| {
            let (a, b) = (name.get(..at)?, name.get(at + 1..)?);
            let place = |wanted: &str| names.iter().position(|name| *name == wanted);
            Some([place(a)?, place(b)?])
        });
        if found.is_some() {
            return found;
        }
        // Where one end is a node, it is the other that is written wrong.
        let wrong = name.match_indices('-').find_map(|(at, _)| {
            let (a, b) = (name.get(..at)?, name.get(at + 1..)?);
            match (names.contains(&a), names.contains(&b)) {
                (true, false) if !b.is_empty() => Some(b),
                (false, true) if !a.is_empty() => Some(a),
                _ => None,
            }
        });
        match wrong {
            Some(wrong) => drop(f.place(key, "node", wrong, names)),
            None => {
                let hint = Some(suggest(name.split('-').next().unwrap_or(name), names));
                f.add(key, format!("`{name}` does not name two nodes, and `between` is missing"), hint);
            }
        }
        return None;
    };
    let key = format!("{key}.between");
    let [a, b] = between.as_slice() else {
        f.add(&key, "a link has two ends", Some("write for example between = [\"a\", \"b\"]".to_owned()));
        return None;
    };
    Some([f.place(&key, "node", a, names)?, f.place(&key, "node", b, names)?])
}

fn routes(file: &File, names: &[&str], links: &[LinkPlan], f: &mut Findings) -> (Vec<RoutePlan>, Vec<Hop>) {
    let (mut routes, mut hops) = (Vec::new(), Vec::new());
    for (number, route) in file.route.iter().enumerate() {
        f.prefix(&format!("route.{number}.prefix"), &route.prefix);
        let key = format!("route.{number}.path");
        let path: Vec<NodeIndex> =
            route.path.iter().filter_map(|name| f.place(&key, "node", name, names)).collect();
        if path.len() != route.path.len() {
            continue;
        }
        if path.len() < 2 {
            f.add(&key, "a path has at least two nodes", None);
        }
        if let Some(twice) =
            (1..path.len()).find(|at| path.iter().take(*at).any(|node| path.get(*at) == Some(node)))
        {
            let name = path.get(twice).and_then(|node| names.get(*node)).copied().unwrap_or("?");
            let hint = Some("name each node once, from the consumers to the producer".to_owned());
            f.add(&key, format!("the path goes through `{name}` twice, in a circle"), hint);
        }
        for pair in path.windows(2) {
            let [from, to] = *pair else { continue };
            let link = links
                .iter()
                .position(|link| link.between.contains(&from) && link.between.contains(&to) && from != to);
            let Some(link) = link else {
                // A link that is not understood is a mistake of its own.
                if links.len() < file.link.len() {
                    continue;
                }
                let name = |node: NodeIndex| names.get(node).copied().unwrap_or("?");
                let (a, b) = (name(from), name(to));
                let hint = Some(format!("add for example: link.{a}-{b} = {{}}"));
                f.add(&key, format!("no link joins `{a}` and `{b}`"), hint);
                continue;
            };
            hops.push(Hop { prefix: route.prefix.clone(), node: from, link, cost: route.cost.unwrap_or(1) });
        }
        routes.push(RoutePlan { prefix: route.prefix.clone(), path });
    }
    hops.dedup();
    (routes, hops)
}

/// A mistake in the strategy of one of our own forwarders; other software knows its own.
fn strategy(key: &str, file: &File, forwarder: Option<&model::Forwarder>, f: &mut Findings) {
    let is_ours = file.software.as_deref().is_none_or(|software| software == "cairn");
    let given = forwarder.and_then(|forwarder| forwarder.strategy.as_deref()).filter(|_| is_ours);
    let Some(Err(error)) = given.map(str::parse::<engine::StrategySpec>) else { return };
    let names: Vec<String> = engine::strategy_names().map(|name| name.to_string()).collect();
    let words: Vec<&str> = names.iter().filter_map(|name| name.rsplit('/').nth(1)).collect();
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

fn nodes(file: &File, names: &[&str], links: &[LinkPlan], hops: &[Hop], f: &mut Findings) -> Vec<NodePlan> {
    let defaults = file.defaults.as_ref().and_then(|defaults| defaults.node.as_ref());
    let link_names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    let mut nodes = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let Some(node) = file.node.get(*name) else { continue };
        let key = format!("node.{name}");
        f.name(&key, "a node", name);
        let cpu = node.cpu.or(defaults.and_then(|node| node.cpu)).map(|share| share.0);
        if cpu.is_some_and(|share| !(0.01..=1.0).contains(&share)) {
            let hint = Some("write for example cpu = \"10 %\", or leave it out for a whole core".to_owned());
            f.add(format!("{key}.cpu"), "a share of one core is from 1 % to 100 %", hint);
        }
        let memory = node.memory.or(defaults.and_then(|node| node.memory));
        if memory.is_some_and(|size| size.0 < LEAST_MEMORY_BYTES) {
            let hint = Some("write for example memory = \"256 MB\", or leave it out".to_owned());
            let message =
                format!("a forwarder takes {} before it has a single entry", Size(LEAST_MEMORY_BYTES));
            f.add(format!("{key}.memory"), message, hint);
        }
        let cpu_period = node.cpu_period.or(defaults.and_then(|node| node.cpu_period));
        if cpu_period.is_some_and(|period| !(1_000_000..=1_000_000_000).contains(&period.0)) {
            f.add(format!("{key}.cpu_period"), "the kernel takes periods from 1 ms to 1 s", None);
        }
        let forwarder = node.forwarder.clone().or(defaults.and_then(|node| node.forwarder.clone()));
        strategy(&key, file, forwarder.as_ref(), f);
        eviction(&key, file, forwarder.as_ref(), f);
        let watch = match &node.watch {
            Some(given) => f.place(&format!("{key}.watch"), "link", given, &link_names),
            None => hops
                .iter()
                .find(|hop| hop.node == index)
                .map(|hop| hop.link)
                .or_else(|| links.iter().position(|link| link.between.contains(&index))),
        };
        let service_time = node.service_time.or(defaults.and_then(|node| node.service_time));
        let service_time_ns = service_time.map_or(30_000, |span| span.0);
        nodes.push(NodePlan {
            name: (*name).to_owned(),
            cpu,
            cpu_period_ns: cpu_period.map(|span| span.0),
            memory_bytes: memory.map(|size| size.0),
            forwarder: forwarder.unwrap_or_else(model::Forwarder::nothing_set),
            watch,
            service_time_ns,
            data_service_time_ns: node
                .data_service_time
                .or(defaults.and_then(|node| node.data_service_time))
                .map_or(service_time_ns, |span| span.0),
            service_queue: node
                .service_queue
                .or(defaults.and_then(|node| node.service_queue))
                .unwrap_or(1000),
        });
    }
    nodes
}

fn contents(file: &File, names: &[&str], f: &mut Findings) -> Vec<ContentPlan> {
    let mut contents = Vec::new();
    for (name, content) in &file.content {
        let key = format!("content.{name}");
        f.prefix(&format!("{key}.prefix"), &content.prefix);
        let Some(at) = f.place(&format!("{key}.at"), "node", &content.at, names) else { continue };
        let segment = content.segment.map_or(4096, |size| size.0);
        if !(1..=8000).contains(&segment) {
            let message = "a segment has between 1 and 8000 bytes, so that its packet stays below 8800";
            f.add(format!("{key}.segment"), message, None);
        }
        if content.size.0 == 0 || content.count == Some(0) {
            f.add(&key, "content of no bytes or no files cannot be fetched", None);
        }
        contents.push(ContentPlan {
            name: name.clone(),
            prefix: content.prefix.trim_end_matches('/').to_owned(),
            at,
            count: content.count.unwrap_or(1),
            size_bytes: content.size.0,
            segment_bytes: u32::try_from(segment).unwrap_or(4096),
            freshness_ns: content.freshness.map_or(3_600_000_000_000, |span| span.0),
        });
    }
    contents
}

impl model::Forwarder {
    /// The forwarder's own defaults throughout.
    #[must_use]
    pub fn nothing_set() -> Self {
        model::Forwarder {
            content_store: None,
            pending_limit: None,
            pending_limit_per_face: None,
            face_rate_limit: None,
            strategy: None,
            eviction: None,
            settings: None,
        }
    }
}
