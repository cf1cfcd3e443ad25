//! What a file says and no run heeds: a factor of nothing, a number of pings that the run has no time for, a
//! control in which nobody asks for anything.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table as Content, Value};

use super::decided::number;
use crate::experiment::model::{Expect, File};
use crate::experiment::plan::{Activity, Change, EventPlan, Hop, Plan};
use crate::experiment::read::findings::Finding;
use crate::experiment::reference::describe::{Described, Table};
use crate::experiment::units::Size;

/// Parts of an expectation that belong to a bound which it has not, and bounds that are no numbers.
pub(super) fn of_expectation(expect: &Expect, key: &str) -> Vec<Finding> {
    let bounds = [
        ("at_least", number(expect.at_least.as_ref())),
        ("at_most", number(expect.at_most.as_ref())),
        ("more_than", number(expect.more_than.as_ref())),
        ("less_than", number(expect.less_than.as_ref())),
        ("about", expect.about_number()),
    ];
    let is_bound = [&expect.at_least, &expect.at_most, &expect.more_than, &expect.less_than];
    let has_factor = is_bound.iter().any(|bound| bound.is_some()) || expect.same_as.is_some();
    let parts = [
        ("times", expect.times.is_some() && !has_factor, "a bound such as `at_least`, or `same_as`"),
        ("within", expect.within.is_some() && expect.about.is_none(), "`about`"),
        ("margin", expect.margin.is_some() && expect.same_as.is_none(), "`same_as`"),
    ];
    let idle = parts.into_iter().filter(|(_, is_idle, _)| *is_idle);
    let idle = idle.map(|(field, _, of)| (field, format!("it goes with {of}, and there is none")));
    let endless = bounds.into_iter().filter(|(_, bound)| bound.is_some_and(|bound| !bound.is_finite()));
    let endless = endless.map(|(field, _)| (field, "no result is near to that: write a number".to_owned()));
    let told = |(field, message)| Finding { key: format!("{key}.{field}"), message, ..Finding::default() };
    idle.chain(endless).map(told).collect()
}

/// Pings that are counted and cannot all be sent. Of how many may be left `gates.unfinished` says something.
pub(super) fn of_pings(plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    for workload in &plan.workloads {
        let Activity::Ping { every_ns, count, .. } = workload.does else { continue };
        let last_ns = every_ns.saturating_mul(count.saturating_sub(1)).saturating_add(workload.start_ns);
        let is_left = plan.evaluation.gates.unfinished > 0.0;
        if count != u64::MAX && !is_left && last_ns >= plan.schedule.duration_ns {
            let seconds = |ns: u64| ns as f64 / 1e9;
            findings.push(Finding {
                key: format!("ping.{}.count", workload.name),
                message: format!(
                    "the last of {count} pings would leave after {} s, and the run ends after {} s",
                    seconds(last_ns),
                    seconds(plan.schedule.duration_ns)
                ),
                suggestion: Some("leave it out for as many as fit".to_owned()),
                ..Finding::default()
            });
        }
    }
    findings
}

/// Whether nobody asks for anything in it: then nothing that is said of traffic can be told from its want.
pub(super) fn is_idle(plan: &Plan) -> bool {
    !plan.workloads.iter().any(|workload| asks(&workload.does))
}

/// Does it ask for anything?
pub(super) fn asks(does: &Activity) -> bool {
    !matches!(does, Activity::Load { .. } | Activity::Register(_))
}

/// Pings that go nowhere, and events that find a link as they leave it.
pub(super) fn of_plan(plan: &Plan) -> Vec<Finding> {
    let told = |key: String, message: String, suggestion: &str| Finding {
        key,
        message,
        suggestion: Some(suggestion.to_owned()),
        ..Finding::default()
    };
    let mut findings = Vec::new();
    if plan.evaluation.window.until_ns == Some(0) {
        let message = "what is measured ends before it begins".to_owned();
        findings.push(told("measure.until".to_owned(), message, "leave it out to measure to the end"));
    }
    for workload in &plan.workloads {
        if matches!(workload.does, Activity::Ping { to, .. } if to == workload.at) {
            let message = format!("`{}` pings itself: nothing leaves it", plan.node_name(workload.at));
            findings.push(told(format!("ping.{}.to", workload.name), message, "name another node"));
        }
    }
    let mut events: Vec<_> = plan.events.iter().enumerate().collect();
    events.sort_by_key(|(_, event)| event.at_ns);
    let mut is_down = BTreeMap::new();
    let mut known = KnownRoutes(plan.routing.hops.iter().collect());
    for (number, event) in events {
        if let Some(message) = known.nothing_of(plan, &event.change) {
            findings.push(told(format!("event.{number}.action"), message, "leave it out, or mend its time"));
        }
        let (link, down) = match event.change {
            Change::LinkDown(link) => (link, true),
            Change::LinkUp(link) => (link, false),
            _ => continue,
        };
        if is_down.insert(link, down).unwrap_or(false) == down {
            let name = plan.links.get(link).map_or("?", |link| &link.name);
            let state = if down { "down" } else { "up" };
            let message = format!("`{name}` is {state} already: nothing happens");
            findings.push(told(format!("event.{number}.action"), message, "leave it out, or mend its time"));
        }
    }
    findings
}

/// Routes as they are after some events.
struct KnownRoutes<'a>(Vec<&'a Hop>);

impl<'a> KnownRoutes<'a> {
    /// Lets an event happen, and says why nothing comes of it.
    fn nothing_of(&mut self, plan: &'a Plan, change: &'a Change) -> Option<String> {
        if let Change::Restart(node) = change {
            self.0.retain(|hop| hop.node != *node);
            self.0.extend(plan.routing.hops.iter().filter(|hop| hop.node == *node));
        }
        let route = change.route()?;
        let plain = |prefix: &'a str| prefix.trim_end_matches('/');
        let is_it = |hop: &Hop| {
            (hop.node, hop.link, hop.behind) == (route.node, route.link, route.behind)
                && hop.prefix.trim_end_matches('/') == plain(&route.prefix)
        };
        let found = self.0.iter().position(|hop| is_it(hop));
        let before = found.map(|place| self.0.swap_remove(place));
        let name = plan.node_name(route.node);
        if matches!(change, Change::RouteRemove(_)) {
            return before.is_none().then(|| format!("`{name}`: there is no such route then"));
        }
        self.0.push(route);
        before
            .is_some_and(|before| before.cost == route.cost)
            .then(|| format!("`{name}` has it already at this cost"))
    }
}

/// Links that lose every packet in all cases, as long as a run lasts.
pub(super) fn dead_links(plans: &[Plan]) -> Vec<Finding> {
    let dead = |plan: &Plan| -> BTreeSet<String> {
        let changes = |place| {
            let is_it = |event: &EventPlan| matches!(event.change, Change::LinkChange { link, loss: Some(_), .. } if link == place);
            plan.events.iter().any(is_it)
        };
        let loses_all = plan.links.indexed().filter(|(place, link)| link.loss >= 1.0 && !changes(*place));
        loses_all.map(|(_, link)| link.name.clone()).collect()
    };
    let cases = plans.iter().filter(|plan| plan.control.is_none());
    let everywhere = cases.map(dead).reduce(|all, more| all.intersection(&more).cloned().collect());
    let told = |name: String| Finding {
        key: format!("link.{name}.loss"),
        message: "every packet is lost: nothing crosses this link".to_owned(),
        suggestion: Some("leave the link out, lose less, or let an event take it down".to_owned()),
        ..Finding::default()
    };
    everywhere.unwrap_or_default().into_iter().map(told).collect()
}

/// Routes that say once more what an earlier one says.
pub(super) fn routes(file: &File) -> Vec<Finding> {
    let plain = |prefix: &str| prefix.trim_end_matches('/').to_owned();
    let same = |one: &crate::experiment::model::Route, other: &crate::experiment::model::Route| {
        plain(&one.prefix) == plain(&other.prefix) && one.path == other.path
    };
    let mut findings = Vec::new();
    for (number, route) in file.route.iter().enumerate() {
        let Some(first) = file.route.iter().take(number).position(|other| same(other, route)) else {
            continue;
        };
        findings.push(Finding {
            key: format!("route.{number}.path"),
            message: format!("this is the route number {} once more, which changes nothing", first + 1),
            suggestion: Some("leave it out".to_owned()),
            ..Finding::default()
        });
    }
    findings
}

/// Sizes that are no whole number of bytes, which would be rounded.
pub(super) fn parts_of_bytes(content: &Content) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(file) = File::table() {
        sizes("", content, file, &mut findings);
    }
    findings
}

fn sizes(at: &str, content: &Content, table: &'static Table, findings: &mut Vec<Finding>) {
    for (key, value) in content {
        let Some(field) = table.field(key) else { continue };
        let key = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        let Some(inner) = (field.table)() else {
            let text = value.as_str().filter(|_| (field.kind)() == Size::kind());
            let part =
                text.and_then(|text| packet::units::SIZE.read(text).ok()).filter(|size| size.fract() != 0.0);
            findings.extend(part.map(|size| Finding {
                key,
                message: format!("{size} bytes are no whole number of bytes"),
                suggestion: Some("write whole bytes".to_owned()),
                ..Finding::default()
            }));
            continue;
        };
        match value {
            Value::Table(entries) if field.is_named() => {
                let tables = entries.iter().filter_map(|(name, entry)| Some((name, entry.as_table()?)));
                tables.for_each(|(name, entry)| sizes(&format!("{key}.{name}"), entry, inner, findings));
            }
            Value::Table(entry) => sizes(&key, entry, inner, findings),
            Value::Array(entries) => {
                let tables = entries
                    .iter()
                    .enumerate()
                    .filter_map(|(number, entry)| Some((number, entry.as_table()?)));
                tables.for_each(|(number, entry)| sizes(&format!("{key}.{number}"), entry, inner, findings));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    const ROW: &str = "title = 't'\nduration = '5 s'\n[node]\na = {}\nb = {}\n[link]\na-b = { rate = '1 Mbit/s' }\n\
        [[route]]\nprefix = '/b'\npath = ['a', 'b']\n[ping.p]\nat = 'a'\nto = 'b'\nprefix = '/b/ping'\n";

    fn told(text: &str) -> String {
        let text = format!("{ROW}{text}");
        Experiment::parse("t", "t.toml", &text)
            .map_or_else(|problems| problems.to_string(), |_| String::new())
    }

    #[test]
    fn parts_of_an_expectation_without_the_bound_that_they_belong_to_are_mistakes() {
        let expect = |rest: &str| told(&format!("[[expect]]\nsay = 'S'\nvalue = 'p.rtt.mean'\n{rest}\n"));
        for (rest, field) in [
            ("falls = ['p.rtt.min']\ntimes = 3", "times"),
            ("about = 5\ntimes = 2", "times"),
            ("at_most = 3\nwithin = '40 %'", "within"),
            ("at_most = 3\nmargin = '40 %'", "margin"),
        ] {
            assert!(expect(rest).contains(&format!("expect.0.{field}: it goes with")), "{}", expect(rest));
        }
        assert!(expect("at_most = nan").contains("no result is near to that"), "{}", expect("at_most = nan"));
        assert_eq!(expect("at_most = 'p.rtt.max'\ntimes = 0.5"), "");
        assert_eq!(expect("about = 5\nwithin = '49 %'"), "");
    }

    #[test]
    fn more_pings_than_the_run_has_time_for_are_a_mistake() {
        let expect = "[[expect]]\nsay = 'S'\nvalue = 'p.rtt.mean'\nat_most = 3\n";
        let counted =
            |count: u32| told(&format!("every = '100 ms'\nstart = '1 s'\ncount = {count}\n{expect}"));
        assert!(counted(41).contains("the last of 41 pings would leave after 5 s"), "{}", counted(41));
        assert_eq!(counted(40), "");
        // Whatever is said of it, unless the rest may be left.
        let unsaid = |rest: &str| told(&format!("every = '100 ms'\nstart = '1 s'\ncount = 41\n{rest}"));
        assert!(unsaid("").contains("the last of 41 pings"), "{}", unsaid(""));
        assert_eq!(unsaid("[gates]\nunfinished = '10 %'\n"), "");
    }

    #[test]
    fn what_finds_things_as_it_leaves_them_is_a_mistake() {
        let itself = "[ping.q]\nat = 'b'\nto = 'b'\nprefix = '/b/q'\n";
        assert!(told(itself).contains("ping.q.to: `b` pings itself"), "{}", told(itself));
        assert!(told("[measure]\nuntil = '0 s'\n").contains("measure.until: what is measured ends"));
        let again = "[[route]]\nprefix = '/b/'\npath = ['a', 'b']\n";
        assert!(told(again).contains("this is the route number 1 once more"), "{}", told(again));
        assert_eq!(told(&again.replace("/b/", "/b/more")), "");
        let event =
            |at: u32, what: &str| format!("[[event]]\nat = '{at} s'\naction = 'link-{what}'\nlink = 'a-b'\n");
        let up = event(2, "up");
        assert!(told(&up).contains("event.0.action: `a-b` is up already"), "{}", told(&up));
        // By their times, whatever their order in the file is.
        assert_eq!(told(&(up.clone() + &event(1, "down"))), "");
        let twice = up + &event(1, "down") + &event(3, "up");
        assert!(told(&twice).contains("event.2.action: `a-b` is up already"), "{}", told(&twice));
    }

    #[test]
    fn a_link_that_loses_everything_all_the_time_is_a_mistake() {
        let dead = ROW.replace("rate = '1 Mbit/s'", "loss = '100 %'");
        let said = |rest: &str| {
            let text = format!("{dead}{rest}");
            Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        assert!(said("").contains("link.a-b.loss: every packet is lost"), "{}", said(""));
        let event = "[[event]]\nat = '2 s'\naction = 'link-change'\nlink = 'a-b'\nloss = '1 %'\n";
        assert_eq!(said(event), "");
        assert_eq!(said("[[sweep]]\nkey = 'link.a-b.loss'\nvalues = ['1 %', '100 %']\n"), "");
    }

    #[test]
    fn half_a_byte_is_no_size() {
        let content = |size: &str| {
            told(&format!(
                "[content.c]\nprefix = '/b/c'\nat = 'b'\nsize = '{size}'\n[download.d]\nat = 'a'\ncontent = 'c'\n"
            ))
        };
        for size in ["0.5 B", "1.0005 kB", "4 bit"] {
            assert!(content(size).contains("no whole number of bytes"), "{size}: {}", content(size));
        }
        assert_eq!(content("1.5 kB") + &content("8 bit"), "");
    }

    #[test]
    fn a_control_takes_away_no_workload_that_is_the_only_one() {
        let rest = "[[expect]]\nname = 'e'\nsay = 'S'\nvalue = 'b.goodput.mean'\nat_least = 500\n[[control]]\n\
            name = 'c'\nremoves = 'the cause'\nset = { 'ping.p' = '' }\nfails = ['e']\n";
        assert!(told(rest).contains("nobody asks for anything"), "{}", told(rest));
    }
}
