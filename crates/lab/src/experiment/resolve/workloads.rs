//! Workloads with their defaults filled in and their names looked up.

use flow::workload::Spacing;

use super::Basis;
use super::arrivals;
use super::choice::{Choice, Draw, Purpose};
use super::named_workload::named_workload;
use super::servers::{self, WantedFiles};
use crate::experiment::model;
use crate::experiment::plan::{
    Activity, ContentPlan, ControllerChoice, Hop, Links, NodeIndex, ProgramPlan, Turn, Workload,
};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;
use crate::experiment::units::Span;

const SECOND: u64 = 1_000_000_000;
/// Whoever pings asks no more often …
const MIN_BETWEEN_PINGS: u64 = 100_000;
/// … and whoever floods has no shorter pause between bursts, and before an Interest is sent again.
const MIN_BETWEEN_BURSTS: u64 = 1_000_000;
const FOUR_SECONDS: Span = Span(4 * SECOND);

/// What every workload needs to be resolved.
struct Context<'a> {
    basis: &'a Basis<'a>,
    links: &'a Links,
    hops: &'a [Hop],
    contents: &'a [ContentPlan],
}

/// When a workload begins and ends, where that is said.
#[derive(Clone, Copy, Default)]
struct Times {
    start: Option<Span>,
    stop: Option<Span>,
}

/// Where Interests from a node come.
struct Reached {
    /// The nodes that they come by.
    nodes: Vec<NodeIndex>,
    /// Those of them that have no next hop.
    ends: Vec<NodeIndex>,
}

impl<'a> Context<'a> {
    fn node(&self, key: &str, given: &str, f: &mut Findings) -> Option<NodeIndex> {
        f.node(key, given, self.basis.names)
    }

    fn content(&self, key: &str, given: &str, f: &mut Findings) -> Option<usize> {
        // Content that is not understood is a mistake of its own.
        if self.contents.len() < self.basis.file.content.len() && self.basis.file.content.contains_key(given)
        {
            return None;
        }
        let known: Vec<&str> = self.contents.iter().map(|content| content.name.as_str()).collect();
        f.place(&format!("{key}.content"), "content", given, &known)
    }

    /// A workload with its times.
    fn workload(&self, name: &str, at: NodeIndex, times: Times, does: Activity) -> Workload {
        let start_ns = times.start.map_or(SECOND, |span| span.0);
        let stop_ns = times.stop.map_or(self.basis.file.duration.0, |span| span.0);
        Workload { name: name.to_owned(), at, start_ns, stop_ns, does, part_of: None }
    }

    /// Warns when no route leads from a node for a prefix, or none as far as to the node that answers.
    fn reachable(&self, key: &str, at: NodeIndex, to: Option<NodeIndex>, prefix: &str, f: &mut Findings) {
        if to == Some(at) {
            return;
        }
        // What follows from a route or a link that is not understood is no mistake of its own.
        if f.0.iter().any(|finding| finding.key.starts_with("route.") || finding.key.starts_with("link.")) {
            return;
        }
        let name = |node: NodeIndex| self.basis.names.get(node.0).copied().unwrap_or("?");
        let Reached { nodes: reached, ends } = self.reached(at, prefix);
        if ends.contains(&at)
            && let Some((number, route)) = self.idle_route(at)
        {
            // The others that no route serves say no more.
            let prefixes: Vec<&str> = self.asked().collect();
            let message =
                format!("no name that is asked for is below `{route}`, and `{prefix}` has no route");
            f.add(format!("route.{number}.prefix"), message, Some(suggest(route, &prefixes)));
        } else if ends.contains(&at) {
            let known: Vec<&str> = self.basis.file.route.iter().map(|route| route.prefix.as_str()).collect();
            let message = format!("no route leads from `{}` for `{prefix}`", name(at));
            f.add(key, message, Some(suggest(prefix, &known)));
        } else if let Some(to) = to.filter(|to| !reached.contains(to)) {
            let last: Vec<String> = ends.iter().map(|node| format!("`{}`", name(*node))).collect();
            let end = if last.is_empty() {
                "go in a circle".to_owned()
            } else {
                format!("end at {}", last.join(", "))
            };
            let (from, to) = (name(at), name(to));
            // Whatever is asked for below the same route comes as far: that is one mistake.
            let route = self.covering(at, prefix).map_or(prefix, |hop| hop.prefix.as_str());
            let message = format!("routes from `{from}` for `{route}` {end} and do not reach `{to}`");
            f.add(key, message, Some(format!("let the path of a route go on to `{to}`")));
        }
    }

    /// Prefixes of names that are asked for.
    fn asked(&self) -> impl Iterator<Item = &'a str> {
        let file = self.basis.file;
        let contents = file.content.values().map(|content| &content.prefix);
        let pings = file.ping.values().map(|ping| &ping.prefix);
        let floods = file.flood.values().map(|flood| &flood.prefix);
        let consumers = file.consumer.values().map(|consumer| &consumer.prefix);
        let served = file.producer.values().map(|producer| &producer.prefix);
        contents.chain(pings).chain(floods).chain(consumers).chain(served).map(String::as_str)
    }

    /// The first route from a node of whose prefix nothing is asked for, with its place: its prefix is wrong.
    fn idle_route(&self, from: NodeIndex) -> Option<(usize, &'a str)> {
        let name = self.basis.names.get(from.0).copied()?;
        let leads = |path: &[String]| path.iter().rev().skip(1).any(|node| node == name);
        let mut routes = self.basis.file.route.iter().enumerate().filter(|(_, route)| leads(&route.path));
        let below = |one: &str, other: &str| {
            let one = one.trim_end_matches('/');
            other.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_idle = |prefix: &str| self.asked().all(|name| !below(prefix, name) && !below(name, prefix));
        routes
            .find(|(_, route)| is_idle(&route.prefix))
            .map(|(number, route)| (number, route.prefix.as_str()))
    }

    /// One of the next hops of a node with the longest prefix that covers a name.
    fn covering(&self, node: NodeIndex, name: &str) -> Option<&Hop> {
        let covers = |route: &str| {
            let route = route.trim_end_matches('/');
            name == route || name.strip_prefix(route).is_some_and(|rest| rest.starts_with('/'))
        };
        let here = self.hops.iter().filter(|hop| hop.node == node && covers(&hop.prefix));
        here.max_by_key(|hop| hop.prefix.trim_end_matches('/').len())
    }

    /// Where Interests from a node come. At each node the longest prefix that covers the name decides.
    fn reached(&self, from: NodeIndex, name: &str) -> Reached {
        let (mut reached, mut ends) = (vec![from], Vec::new());
        let mut next = 0;
        while let Some(node) = reached.get(next).copied() {
            next += 1;
            let Some(longest) = self.covering(node, name) else {
                ends.push(node);
                continue;
            };
            let is_one = |hop: &&Hop| {
                hop.node == node && hop.prefix.trim_end_matches('/') == longest.prefix.trim_end_matches('/')
            };
            for hop in self.hops.iter().filter(is_one) {
                let over = || self.links.get(hop.link).map(|link| link.other(node));
                if let Some(neighbour) = hop.behind.or_else(over).filter(|next| !reached.contains(next)) {
                    reached.push(neighbour);
                }
            }
        }
        Reached { nodes: reached, ends }
    }
}

pub(super) fn workloads(
    basis: &Basis<'_>,
    links: &Links,
    hops: &[Hop],
    contents: &[ContentPlan],
    f: &mut Findings,
) -> Vec<Workload> {
    // Whoever registers a name is reached by it, if that is accepted.
    let mut hops = hops.to_vec();
    let file = basis.file;
    hops.extend(super::registrations::wanted(file, basis.names, links));
    let context = Context { basis, links, hops: &hops, contents };
    let mut list = Vec::new();
    for (name, download) in &file.download {
        list.extend(downloads(&context, name, download, f));
    }
    list.extend(file.flood.iter().filter_map(|(name, flood)| self::flood(&context, name, flood, f)));
    list.extend(file.ping.iter().filter_map(|(name, ping)| self::ping(&context, name, ping, f)));
    list.extend(file.traffic.iter().filter_map(|(name, traffic)| self::traffic(&context, name, traffic, f)));
    list.extend(file.program.iter().filter_map(|(name, program)| self::program(&context, name, program, f)));
    list.extend(file.load.iter().filter_map(|(name, load)| self::load(&context, name, load, f)));
    list
}

/// Names of workloads name files, and measures beside those of nodes; a node's share is divided only once.
pub(super) fn told_apart(list: &[Workload], nodes: &[&str], duration_ns: u64, f: &mut Findings) {
    let is_load = |workload: &Workload| matches!(workload.does, Activity::Load { .. });
    for (place, workload) in list.iter().enumerate() {
        let name = workload.name.as_str();
        let key = format!("{}.{}", workload.does.table(), workload.measured_as());
        f.name(&key, "a workload", name);
        let before = list.get(..place).unwrap_or_default();
        if before.iter().any(|other| other.name == name) {
            f.add(
                &key,
                format!("two workloads are called `{name}`"),
                Some("give one another name".to_owned()),
            );
        }
        if !is_load(workload) && nodes.contains(&workload.measured_as()) {
            let hint = Some(format!("write for example [{}.{name}-1]", workload.does.table()));
            f.add(
                &key,
                format!("a node is called `{name}`, too: their measures could not be told apart"),
                hint,
            );
        }
        let shares = |other: &&Workload| is_load(other) && other.at == workload.at;
        if let Some(other) = before.iter().find(|other| is_load(workload) && shares(other)) {
            let message = format!("`{}` is a load at the same node", other.name);
            f.add(&key, message, Some("make one of both, or put them at different nodes".to_owned()));
        }
        if workload.start_ns >= duration_ns {
            let hint = Some("let it start earlier, or make `duration` longer".to_owned());
            f.add(format!("{key}.start"), "it begins after the experiment has ended", hint);
        }
    }
}

/// A download at each of its nodes.
fn downloads(context: &Context<'_>, name: &str, given: &model::Download, f: &mut Findings) -> Vec<Workload> {
    let key = format!("download.{name}.at");
    let mut nodes = given.at.nodes(
        &key,
        context.basis.names,
        Draw { seed: context.basis.seed, purpose: Purpose::Consumers },
        f,
    );
    if given.first.is_some_and(|first| first == 0 || first as usize > nodes.len()) {
        let message = format!("there are {} nodes", nodes.len());
        f.add(format!("download.{name}.first"), message, None);
    }
    nodes.truncate(given.first.map_or(usize::MAX, |first| first as usize));
    let is_single = matches!(&given.at, Choice::One(word) if word != "all");
    let mut list = Vec::new();
    let count = nodes.len();
    for (number, at) in nodes.into_iter().enumerate() {
        let turn = Turn { number, nodes: count };
        let Some(mut workload) = download(context, name, given, at, turn, f) else { continue };
        if !is_single {
            // Where each repeat draws others, what each does is called the same in all of them.
            let which = match given.at.is_random() {
                true => (number + 1).to_string(),
                false => context.basis.names.get(at.0).copied().unwrap_or("?").to_owned(),
            };
            workload.name = format!("{name}-{which}");
            workload.part_of = Some(name.to_owned());
        }
        list.push(workload);
    }
    list
}

fn download(
    context: &Context<'_>,
    name: &str,
    given: &model::Download,
    at: NodeIndex,
    turn: Turn,
    f: &mut Findings,
) -> Option<Workload> {
    let key = format!("download.{name}");
    let content = context.content(&key, &given.content, f)?;
    let files = context.contents.get(content)?;
    if given.count == Some(0) {
        f.add(format!("{key}.count"), "with 0 nothing is ever asked for", None);
    }
    let arrivals = arrivals::arrivals(&key, given, files, context.basis.files, turn, f).ok()?;
    let count = given.count.unwrap_or(if arrivals.is_some() { u32::MAX } else { files.count });
    if given.client.is_some() {
        let program =
            servers::program(&key, given, &WantedFiles { content, count, turn }, context.basis.names, f)?;
        if program.fetch.is_some_and(|fetch| fetch.from.is_none()) {
            context.reachable(&key, at, Some(files.at), &files.prefix, f);
        }
        return Some(context.workload(
            name,
            at,
            Times { start: given.start, ..Times::default() },
            Activity::Program(program),
        ));
    }
    let controller = given.controller.as_deref().unwrap_or("cubic");
    let controller = ControllerChoice::of(f.controller(&format!("{key}.controller"), controller)?);
    context.reachable(&key, at, Some(files.at), &files.prefix, f);
    if given.rate.is_some_and(|rate| rate.0 <= 0.0) {
        f.add(format!("{key}.rate"), "a rate must be above zero", None);
    }
    for (word, is_zero) in [("window", given.window == Some(0)), ("at_once", given.at_once == Some(0))] {
        if is_zero {
            f.add(format!("{key}.{word}"), "with 0 nothing is ever asked for", None);
        }
    }
    let window = given.window.unwrap_or(if controller == ControllerChoice::Fixed { 16 } else { 2 }).max(1);
    let does = Activity::Download {
        content,
        per_second: given.rate.map(|rate| rate.0),
        count,
        at_once: given.at_once,
        arrivals,
        controller,
        window,
        lifetime_ns: given.lifetime.unwrap_or(FOUR_SECONDS).0,
        verify: given.verify.unwrap_or(false),
    };
    Some(context.workload(name, at, Times { start: given.start, stop: given.stop }, does))
}

/// A pause that is no shorter than somebody who asks can keep it.
fn pause_ns(key: String, given: Option<Span>, usual_ns: u64, least_ns: u64, f: &mut Findings) -> u64 {
    let ns = given.map_or(usual_ns, |span| span.0);
    if ns < least_ns {
        f.add(key, format!("it cannot be shorter than {}", Span(least_ns)), None);
    }
    ns.max(least_ns)
}

fn flood(context: &Context<'_>, name: &str, given: &model::Flood, f: &mut Findings) -> Option<Workload> {
    let key = format!("flood.{name}");
    f.prefix(&format!("{key}.prefix"), &given.prefix);
    let at = context.node(&format!("{key}.at"), &given.at, f)?;
    context.reachable(&key, at, None, &given.prefix, f);
    let lifetime = given.lifetime.unwrap_or(FOUR_SECONDS);
    if given.refresh.is_some_and(|refresh| refresh >= lifetime) {
        let hint = Some(format!("write less than {lifetime}"));
        f.add(format!("{key}.refresh"), "an Interest that is refreshed this late has expired before", hint);
    }
    let does = Activity::Flood {
        prefix: given.prefix.trim_end_matches('/').to_owned(),
        burst: given.burst.unwrap_or(2000).max(1),
        every_ns: pause_ns(format!("{key}.every"), given.every, 6 * SECOND, MIN_BETWEEN_BURSTS, f),
        until: given.until,
        lifetime_ns: lifetime.0,
        refresh_ns: given
            .refresh
            .map(|span| pause_ns(format!("{key}.refresh"), Some(span), span.0, MIN_BETWEEN_BURSTS, f)),
    };
    Some(context.workload(name, at, Times { start: given.start, stop: given.stop }, does))
}

fn ping(context: &Context<'_>, name: &str, given: &model::Ping, f: &mut Findings) -> Option<Workload> {
    let key = format!("ping.{name}");
    f.prefix(&format!("{key}.prefix"), &given.prefix);
    if given.count == Some(0) {
        f.add(format!("{key}.count"), "with 0 nothing is ever asked for", None);
    }
    let at = context.node(&format!("{key}.at"), &given.at, f);
    let to = context.node(&format!("{key}.to"), &given.to, f);
    let (at, to) = (at?, to?);
    context.reachable(&key, at, Some(to), &given.prefix, f);
    let does = Activity::Ping {
        to,
        prefix: given.prefix.trim_end_matches('/').to_owned(),
        every_ns: pause_ns(format!("{key}.every"), given.every, SECOND / 10, MIN_BETWEEN_PINGS, f),
        count: given.count.map_or(u64::MAX, u64::from),
        lifetime_ns: given.lifetime.unwrap_or(FOUR_SECONDS).0,
    };
    Some(context.workload(name, at, Times { start: given.start, ..Times::default() }, does))
}

fn traffic(context: &Context<'_>, name: &str, given: &model::Traffic, f: &mut Findings) -> Option<Workload> {
    let key = format!("traffic.{name}");
    let workload = match (&given.workload, &given.trace) {
        (_, Some(_)) => said_alone(&key, "trace", given, f),
        (Some(text), None) => workload_alone(&key, text, given, f),
        (None, None) => steady_workload(&key, given, f),
    };
    let at = context.node(&format!("{key}.at"), &given.at, f);
    let content = context.content(&key, &given.content, f);
    let (workload, at, content) = (workload?, at?, content?);
    let files = context.contents.get(content)?;
    context.reachable(&key, at, Some(files.at), &files.prefix, f);
    let lifetime_ns = given.lifetime.unwrap_or(FOUR_SECONDS).0;
    let trace = match &given.trace {
        Some(trace) => {
            let key = format!("{key}.trace");
            Some(arrivals::replay(&key, trace, files, context.basis.files, Turn::ALONE, f)?)
        }
        None => None,
    };
    let does = Activity::Traffic { content, workload, trace, lifetime_ns };
    Some(context.workload(name, at, Times { start: given.start, stop: given.stop }, does))
}

/// That nothing else says when what is asked for.
fn said_alone(key: &str, word: &str, given: &model::Traffic, f: &mut Findings) -> Option<String> {
    let others = [
        ("rate", given.rate.is_some()),
        ("pattern", given.pattern.is_some()),
        ("exponent", given.exponent.is_some()),
        ("spacing", given.spacing.is_some()),
        ("workload", given.workload.is_some()),
    ];
    for (other, _) in others.iter().filter(|(_, is_given)| *is_given) {
        f.add(format!("{key}.{other}"), format!("`{word}` says what is asked for, and when"), None);
    }
    Some(String::new())
}

/// A workload that is chosen by its name, which says everything.
fn workload_alone(key: &str, text: &str, given: &model::Traffic, f: &mut Findings) -> Option<String> {
    let others = [
        ("rate", given.rate.is_some()),
        ("pattern", given.pattern.is_some()),
        ("exponent", given.exponent.is_some()),
        ("spacing", given.spacing.is_some()),
    ];
    for (other, _) in others.iter().filter(|(_, is_given)| *is_given) {
        let hint = format!("write it as a parameter: `workload = \"{text}/{other}~…\"`");
        f.add(format!("{key}.{other}"), format!("`workload` says `{other}`, too"), Some(hint));
    }
    named_workload(&format!("{key}.workload"), text, f)
}

/// The workload that rate, pattern, exponent and spacing say.
fn steady_workload(key: &str, given: &model::Traffic, f: &mut Findings) -> Option<String> {
    let exponent = given.exponent.unwrap_or(1.0);
    // A million by Zipf's law is enough, and what their table takes of memory is no more than eight
    // megabytes.
    let patterns = [
        ("sequential", "sequential".to_owned()),
        ("uniform", "uniform".to_owned()),
        ("zipf", format!("zipf/items~1000000/exponent~{exponent}")),
    ];
    let pattern = f.word(&format!("{key}.pattern"), given.pattern.as_deref().unwrap_or("uniform"), &patterns);
    let spacing = match given.spacing.as_deref() {
        Some(word) => f.word(&format!("{key}.spacing"), word, &Spacing::WORDS),
        None => Some(Spacing::default()),
    };
    if !(0.0..=10.0).contains(&exponent) {
        f.add(format!("{key}.exponent"), "an exponent is a number from 0 to 10", None);
    }
    let Some(rate) = given.rate else {
        let hint = Some("write for example `rate = \"10/s\"`, or a `workload` that says it".to_owned());
        f.add(key, "`rate` is missing", hint);
        return None;
    };
    if rate.0 <= 0.0 {
        f.add(format!("{key}.rate"), "a rate must be above zero", None);
    }
    Some(format!("{}/rate~{}/spacing~{}", pattern?, rate.0, spacing?.as_str()))
}

fn program(context: &Context<'_>, name: &str, given: &model::Program, f: &mut Findings) -> Option<Workload> {
    let key = format!("program.{name}");
    if given.command.first().is_none_or(String::is_empty) {
        let hint = Some("write for example `command = [\"ndnget\", \"/lab/0\"]`".to_owned());
        f.add(format!("{key}.command"), "there is no program to run", hint);
    }
    for (number, prefix) in given.answers.iter().enumerate() {
        f.prefix(&format!("{key}.answers.{number}"), prefix);
    }
    let serves = given.serves.unwrap_or(false);
    let of_transfers = [
        ("count", given.count.is_some()),
        ("exit", given.exit.is_some()),
        ("output", given.output.is_some()),
    ];
    for (other, _) in of_transfers.iter().filter(|(_, is_given)| serves && *is_given) {
        f.add(format!("{key}.{other}"), "a program that serves is no transfer and is not counted", None);
    }
    if given.count == Some(0) {
        f.add(format!("{key}.count"), "it would never run", Some("take it away, or write 1".to_owned()));
    }
    let exit = u8::try_from(given.exit.unwrap_or(0)).unwrap_or_else(|_| {
        f.add(format!("{key}.exit"), "an exit status is a number from 0 to 255", None);
        0
    });
    let at = context.node(&format!("{key}.at"), &given.at, f)?;
    let start = given.start.unwrap_or(Span(if serves { 0 } else { SECOND }));
    if given.stop.is_some_and(|stop| stop <= start) {
        f.add(format!("{key}.stop"), "it ends before it begins", None);
    }
    let does = Activity::Program(ProgramPlan {
        command: given.command.clone(),
        environment: given.environment.clone(),
        serves,
        count: given.count.unwrap_or(1),
        exit: i32::from(exit),
        output: given.output.clone(),
        fetch: None,
    });
    Some(context.workload(name, at, Times { start: Some(start), stop: given.stop }, does))
}

fn load(context: &Context<'_>, name: &str, given: &model::Load, f: &mut Findings) -> Option<Workload> {
    let key = format!("load.{name}");
    let at = context.node(&format!("{key}.at"), &given.at, f)?;
    let cpu = given.cpu.map_or(0.9, |share| share.0);
    if !(0.0..1.0).contains(&cpu) {
        f.add(format!("{key}.cpu"), "a load takes less than 100 %, so that the forwarder goes on", None);
    }
    if given.busy.0 == 0 {
        f.add(format!("{key}.busy"), "a load must be busy at some time", None);
    }
    let does = Activity::Load { cpu, busy_ns: given.busy.0, idle_ns: given.idle.0 };
    Some(context.workload(name, at, Times { start: given.start.or(Some(Span(0))), ..Times::default() }, does))
}

#[cfg(test)]
mod tests {
    use testkit::experiment::ROW;

    use crate::experiment::Experiment;

    #[test]
    fn a_pause_or_a_setting_that_would_quietly_be_another_is_refused() {
        let refused = |more: &str| {
            let text = format!("title = 't'\nduration = '9 s'\n{}\n{more}", ROW.replace("\nb = {}\n", "\n"));
            Experiment::parse("t", "t.toml", &text).err().map(|problems| problems.to_string())
        };
        let node = |settings: &str| format!("[node.b]\nforwarder = {{ settings = '{settings}' }}\n");
        let ping = |every: &str| {
            let ping = "[ping.p]\nat = 'a'\nto = 'c'\nprefix = '/small/ping'\ncount = 3\nevery";
            format!("{}{ping} = '{every}'\n", node("# nothing"))
        };
        let flood = |key: &str| {
            let flood = "[flood.f]\nat = 'a'\nprefix = '/small/none'\nburst = 2\nuntil = 4";
            format!("{}{flood}\n{key}\n", node(""))
        };
        assert_eq!((refused(&ping("100 us")), refused(&flood("every = '1 ms'"))), (None, None));
        for every in ["1 ns", "0 s", "99 us"] {
            let told = refused(&ping(every)).unwrap_or_default();
            assert!(told.contains("ping.p.every: it cannot be shorter than 100 µs"), "{every}: {told}");
        }
        for key in ["every", "refresh"] {
            let told = refused(&flood(&format!("{key} = '10 us'"))).unwrap_or_default();
            assert!(told.contains(&format!("flood.f.{key}: it cannot be shorter than 1 ms")), "{told}");
        }
        let told = refused(&node("garbage !!")).unwrap_or_default();
        assert!(told.contains("node.b.forwarder.settings") && told.contains("lines of a node"), "{told}");
    }
}
