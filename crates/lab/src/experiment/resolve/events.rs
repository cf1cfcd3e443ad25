//! What happens to the network while it runs, with its names looked up.

use super::mobility;
use super::routes::Network;
use crate::experiment::model::{Event, File};
use crate::experiment::plan::{Change, EventPlan, Hop, LinkIndex, Links, NodeIndex};
use crate::experiment::read::findings::Findings;

/// What an action is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Link,
    Node,
    Nodes,
    Route,
    Share,
}

const ACTIONS: [(&str, Of); 9] = [
    ("link-down", Of::Link),
    ("link-up", Of::Link),
    ("link-change", Of::Link),
    ("restart", Of::Node),
    ("partition", Of::Nodes),
    ("heal", Of::Nodes),
    ("route-add", Of::Route),
    ("route-remove", Of::Route),
    ("cpu-change", Of::Share),
];

/// What happens to the network.
pub(super) fn events(file: &File, names: &[&str], links: &Links, f: &mut Findings) -> Vec<EventPlan> {
    let (mut list, mut partitions) = (Vec::new(), Vec::new());
    for (number, event) in file.event.iter().enumerate() {
        let key = format!("event.{number}");
        let at_ns = event.at.0;
        let Some(of) = f.word(&format!("{key}.action"), &event.action, &ACTIONS) else { continue };
        if of == Of::Nodes {
            partitions.push((at_ns, number, event));
            continue;
        }
        let change = match of {
            Of::Link => of_link(event, &key, links, f),
            Of::Route => route(event, &key, &Network::new(file, names, links), names, f),
            Of::Share => share(event, &key, file, names, f),
            _ => node(event, &key, names, f).map(Change::Restart),
        };
        let Some(change) = change else { continue };
        if at_ns >= file.duration.0 {
            f.add(format!("{key}.at"), "it happens after the experiment has ended", None);
        }
        belongings(event, &key, f);
        list.push(EventPlan { at_ns, change });
    }
    mobility::fall_apart(&mut list, partitions, names, links, f);
    list
}

/// Keys that belong to other actions.
fn belongings(event: &Event, key: &str, f: &mut Findings) {
    let changes = event.rate.is_some() || event.delay.is_some() || event.loss.is_some();
    if changes != (event.action == "link-change") {
        let message = "`rate`, `delay` and `loss` belong to link-change, which needs one of them";
        f.add(key, message, None);
    }
    let of_routes = event.prefix.is_some() || event.towards.is_some();
    if of_routes && !event.action.starts_with("route-") {
        f.add(key, "`prefix` and `towards` belong to route-add and route-remove", None);
    }
    if event.cost.is_some() && event.action != "route-add" {
        f.add(format!("{key}.cost"), "a cost belongs to route-add; what is removed may cost anything", None);
    }
    if event.cpu.is_some() && event.action != "cpu-change" {
        f.add(format!("{key}.cpu"), "a share belongs to cpu-change", None);
    }
}

/// What an event needs, or a mistake that says so.
fn needed<'a>(
    event: &Event,
    key: &str,
    what: &str,
    given: Option<&'a String>,
    f: &mut Findings,
) -> Option<&'a String> {
    if given.is_none() {
        f.add(key, format!("{} needs `{what}`", event.action), Some(format!("add {what} = …")));
    }
    given
}

fn node(event: &Event, key: &str, names: &[&str], f: &mut Findings) -> Option<NodeIndex> {
    let given = needed(event, key, "node", event.node.as_ref(), f)?;
    f.node(&format!("{key}.node"), given, names)
}

fn of_link(event: &Event, key: &str, links: &Links, f: &mut Findings) -> Option<Change> {
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    let given = needed(event, key, "link", event.link.as_ref(), f)?;
    let link: LinkIndex = f.link(&format!("{key}.link"), given, &names)?;
    if event.loss.is_some_and(|loss| !(0.0..=1.0).contains(&loss.0)) {
        f.add(format!("{key}.loss"), "a loss lies between 0 % and 100 %", None);
    }
    Some(match event.action.as_str() {
        "link-down" => Change::LinkDown(link),
        "link-up" => Change::LinkUp(link),
        _ => Change::LinkChange {
            link,
            rate_bps: event.rate.map(|rate| rate.0),
            delay_ns: event.delay.map(|span| span.0),
            loss: event.loss.map(|share| share.0),
        },
    })
}

fn route(
    event: &Event,
    key: &str,
    network: &Network<'_>,
    names: &[&str],
    f: &mut Findings,
) -> Option<Change> {
    let node = node(event, key, names, f)?;
    let prefix = needed(event, key, "prefix", event.prefix.as_ref(), f)?;
    f.prefix(&format!("{key}.prefix"), prefix);
    let given = needed(event, key, "towards", event.towards.as_ref(), f)?;
    let towards = f.node(&format!("{key}.towards"), given, names)?;
    let Some((link, behind)) = network.link_towards(node, towards) else {
        let node = names.get(node.0).copied().unwrap_or("?");
        f.add(format!("{key}.towards"), format!("no link joins `{node}` and `{given}`"), None);
        return None;
    };
    let hop = Hop { prefix: prefix.clone(), node, link, behind, cost: event.cost.unwrap_or(1) };
    Some(if event.action == "route-add" { Change::RouteAdd(hop) } else { Change::RouteRemove(hop) })
}

fn share(event: &Event, key: &str, file: &File, names: &[&str], f: &mut Findings) -> Option<Change> {
    let node = node(event, key, names, f)?;
    let Some(share) = event.cpu.map(|share| share.0) else {
        f.add(key, "cpu-change needs `cpu`", Some("add for example cpu = \"25 %\"".to_owned()));
        return None;
    };
    if !(0.01..=1.0).contains(&share) {
        let hint = Some("write 100 % for a whole core".to_owned());
        f.add(format!("{key}.cpu"), "a share of one core is from 1 % to 100 %", hint);
    }
    if file.load.values().any(|load| names.get(node.0) == Some(&load.at.as_str())) {
        let message = "a `load` changes what this node has as well, and neither knows of the other";
        f.add(format!("{key}.node"), message, Some("write the load as such events".to_owned()));
    }
    Some(Change::CpuChange { node, share })
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    const ROW: &str = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\nc = {}\nd = {}\n[link]\n\
        a-b = {}\nb-d = {}\na-c = {}\nc-d = {}\n[[route]]\nprefix = '/d'\npath = ['a', 'b', 'd']\n\
        [[route]]\nprefix = '/d'\npath = ['c', 'd']\n\
        [ping.p]\nat = 'a'\nto = 'd'\nprefix = '/d/ping'\n";

    fn words(event: &str) -> Result<Vec<String>, String> {
        let text = format!("{ROW}{event}");
        let experiment = Experiment::parse("t", "t.toml", &text).map_err(|wrong| wrong.to_string())?;
        let plan = experiment.plans("netns").unwrap().remove(0);
        Ok(plan.events.iter().map(|event| event.words(&plan)).collect())
    }

    #[test]
    fn routes_and_shares_that_change_are_said_in_words() {
        let events = "[[event]]\nat = '2 s'\naction = 'route-add'\nnode = 'a'\nprefix = '/d'\ntowards = 'c'\n\
            [[event]]\nat = '3 s'\naction = 'route-remove'\nnode = 'a'\nprefix = '/d'\ntowards = 'b'\n\
            [[event]]\nat = '4 s'\naction = 'cpu-change'\nnode = 'c'\ncpu = '7 %'\n";
        let expected =
            ["a sends /d to c at 2 s", "a sends /d no more to b at 3 s", "c has 7 % of a core at 4 s"];
        assert_eq!(words(events).unwrap(), expected);
    }

    #[test]
    fn an_event_that_lacks_what_it_needs_or_has_what_belongs_to_another_is_a_mistake() {
        let add = "action = 'route-add'\nnode = 'a'\nprefix = '/d'\ntowards = 'c'";
        for (event, said) in [
            ("action = 'route-add'\nnode = 'a'\ntowards = 'c'", "route-add needs `prefix`"),
            ("action = 'route-add'\nnode = 'a'\nprefix = '/d'", "route-add needs `towards`"),
            ("action = 'route-add'\nnode = 'a'\nprefix = '/d'\ntowards = 'd'", "no link joins `a` and `d`"),
            ("action = 'route-add'\nnode = 'a'\nprefix = 'd e'\ntowards = 'c'", "is not a name"),
            ("action = 'restart'\nnode = 'a'\nprefix = '/d'", "belong to route-add and route-remove"),
            (&add.replace("add", "remove"), "there is no such route then"),
            (&add.replace("'c'", "'b'"), "has it already at this cost"),
            (&format!("{}\ncost = 3", add.replace("add", "remove")), "a cost belongs to route-add"),
            ("action = 'cpu-change'\nnode = 'a'", "cpu-change needs `cpu`"),
            ("action = 'cpu-change'\nnode = 'a'\ncpu = '200 %'", "from 1 % to 100 %"),
            ("action = 'restart'\nnode = 'a'\ncpu = '20 %'", "a share belongs to cpu-change"),
            (
                "action = 'cpu-change'\nnode = 'a'\ncpu = '20 %'\n[load.l]\nat = 'a'\nbusy = '1 s'\nidle = '1 s'",
                "a `load` changes what this node has",
            ),
        ] {
            let told = words(&format!("[[event]]\nat = '2 s'\n{event}\n")).unwrap_err();
            assert!(told.contains(said), "{event}: {told}");
        }
        // Another cost is another route, and after a restart a route of the begin is there again.
        assert!(words(&format!("[[event]]\nat = '2 s'\n{}\ncost = 7\n", add.replace("'c'", "'b'"))).is_ok());
        let again = format!(
            "[[event]]\nat = '2 s'\n{}\n[[event]]\nat = '3 s'\naction = 'restart'\nnode = 'a'\n\
             [[event]]\nat = '4 s'\n{}\n",
            add.replace("add", "remove").replace("'c'", "'b'"),
            add.replace("add", "remove").replace("'c'", "'b'"),
        );
        assert_eq!(words(&again).map(|words| words.len()), Ok(3));
    }

    #[test]
    fn who_is_reached_by_a_route_that_comes_later_is_reached() {
        let text = ROW.replace("path = ['a', 'b', 'd']", "path = ['b', 'd']");
        let told = |event: &str| {
            let text = format!("{text}{event}");
            Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        assert!(told("").contains("ping.p"), "{}", told(""));
        let add = "[[event]]\nat = '2 s'\naction = 'route-add'\nnode = 'a'\nprefix = '/d'\ntowards = 'c'\n";
        assert_eq!(told(add), "");
    }
}
