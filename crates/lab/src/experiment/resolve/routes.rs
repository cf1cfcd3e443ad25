//! Static routes: from paths as they are written to next hops.

use super::choice::{Draw, Purpose};
use crate::experiment::model::{self, File};
use crate::experiment::plan::{Arena, Hop, LinkIndex, Links, NodeIndex, RoutePlan};
use crate::experiment::read::findings::Findings;

/// What a path leads through.
pub(super) struct Network<'a> {
    names: &'a [&'a str],
    links: &'a Links,
    /// Which of the nodes only pass IP packets on.
    switches: Arena<NodeIndex, bool>,
}

impl<'a> Network<'a> {
    pub(super) fn new(file: &File, names: &'a [&'a str], links: &'a Links) -> Self {
        let is_switch = |name: &&str| file.node.get(*name).is_some_and(|node| node.switch == Some(true));
        Network { names, links, switches: names.iter().map(is_switch).collect() }
    }

    fn name(&self, node: NodeIndex) -> &str {
        self.names.get(node.0).copied().unwrap_or("?")
    }

    fn joining(&self, a: NodeIndex, b: NodeIndex) -> Option<LinkIndex> {
        self.links.position(|link| link.joins(a) && link.joins(b) && a != b)
    }

    /// The link by which `from` sends to `to`, and who of several behind it is meant.
    pub(super) fn link_towards(
        &self,
        from: NodeIndex,
        to: NodeIndex,
    ) -> Option<(LinkIndex, Option<NodeIndex>)> {
        if let Some(link) = self.joining(from, to) {
            let is_shared = self.links.get(link).is_some_and(|link| link.shared.is_some());
            return Some((link, is_shared.then_some(to)));
        }
        let switches = self.switches.indexed().filter(|(_, is_switch)| **is_switch).map(|(node, _)| node);
        let mut links =
            switches.filter_map(|switch| self.joining(from, switch).zip(self.joining(switch, to)));
        links.next().map(|(link, _)| (link, Some(to)))
    }
}

/// The routes of a file, and the next hops that they make.
pub(super) fn routes(
    file: &File,
    names: &[&str],
    links: &Links,
    lacks_links: bool,
    seed: u64,
    f: &mut Findings,
) -> (Vec<RoutePlan>, Vec<Hop>) {
    let network = Network::new(file, names, links);
    let (mut routes, mut hops): (Vec<RoutePlan>, Vec<Hop>) = (Vec::new(), Vec::new());
    for (number, route) in file.route.iter().enumerate() {
        f.prefix(&format!("route.{number}.prefix"), &route.prefix);
        let key = format!("route.{number}.path");
        for path in paths(file, route, &key, names, seed, f) {
            if path.len() < 2 {
                f.add(&key, "a path has at least two nodes", None);
            }
            if let Some(twice) =
                (1..path.len()).find(|at| path.iter().take(*at).any(|node| path.get(*at) == Some(node)))
            {
                let name = path.get(twice).map_or("?", |node| network.name(*node));
                let hint = Some("name each node once, from the consumers to the producer".to_owned());
                f.add(&key, format!("the path goes through `{name}` twice, in a circle"), hint);
            }
            for pair in path.windows(2) {
                let [from, to] = *pair else { continue };
                let Some((link, behind)) = network.link_towards(from, to) else {
                    // A link that is not understood is a mistake of its own.
                    if !lacks_links {
                        let (a, b) = (network.name(from), network.name(to));
                        let hint = Some(format!("add for example: link.{a}-{b} = {{}}"));
                        f.add(&key, format!("no link joins `{a}` and `{b}`"), hint);
                    }
                    continue;
                };
                let (prefix, cost) = (route.prefix.clone(), route.cost.unwrap_or(1));
                let hop = Hop { prefix, node: from, link, behind, cost };
                if !hops.contains(&hop) {
                    hops.push(hop);
                }
            }
            routes.push(RoutePlan { prefix: route.prefix.clone(), path });
        }
    }
    (routes, hops)
}

/// The paths that a route stands for: one, or one for each node of the group that it begins with.
fn paths(
    file: &File,
    route: &model::Route,
    key: &str,
    names: &[&str],
    seed: u64,
    f: &mut Findings,
) -> Vec<Vec<NodeIndex>> {
    let is_node = |name: &String| names.contains(&name.as_str());
    let group = route.path.first().filter(|first| !is_node(first)).and_then(|first| file.group.get(first));
    let written = if group.is_some() { route.path.get(1..).unwrap_or_default() } else { &route.path };
    let rest: Vec<NodeIndex> = written.iter().filter_map(|name| f.node(key, name, names)).collect();
    if rest.len() != written.len() {
        return Vec::new();
    }
    let Some(group) = group else { return vec![rest] };
    // What is wrong with a group is said at the group.
    let members =
        group.nodes.nodes(key, names, Draw { seed, purpose: Purpose::Settings }, &mut Findings::default());
    members.into_iter().map(|first| [&[first][..], &rest].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn a_route_leads_through_a_switch_from_every_node_of_a_group_to_the_next_forwarder() {
        let text = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\nsw = { switch = true }\ntop = {}\n\
                    far = {}\n[link]\nsw-a = {}\nsw-b = {}\nsw-top = {}\ntop-far = {}\n\
                    [group.clients]\nnodes = ['b', 'a']\nset = {}\n\
                    [[route]]\nprefix = '/lab'\npath = ['clients', 'top', 'far']\n";
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("netns").unwrap().remove(0);
        let name = |node: NodeIndex| plan.node_name(node);
        let hops: Vec<(&str, &str, Option<&str>)> = plan
            .routing
            .hops
            .iter()
            .map(|hop| (name(hop.node), plan.links[hop.link].name.as_str(), hop.behind.map(name)))
            .collect();
        let expected = [("b", "sw-b", Some("top")), ("top", "top-far", None), ("a", "sw-a", Some("top"))];
        assert_eq!(hops, expected);
        let shown = Experiment::parse("t", "t.toml", &text.replace("'clients', 'top'", "'client', 'top'"));
        assert!(shown.unwrap_err().to_string().contains("there is no node called `client`"));
    }

    #[test]
    fn over_a_link_of_many_nodes_a_hop_says_which_of_them_it_leads_to() {
        let text = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\ntop = {}\nfar = {}\n[link]\n\
                    lan = { between = ['top', 'clients'], share = true }\ntop-far = {}\n\
                    [group.clients]\nnodes = ['b', 'a']\nset = {}\n[[route]]\nprefix = '/lab'\n\
                    path = ['clients', 'top', 'far']\n";
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("sim").unwrap().remove(0);
        let name = |node: NodeIndex| plan.node_name(node);
        let lan: Vec<&str> = plan.links[LinkIndex(0)].ends().map(name).collect();
        assert_eq!(lan, ["top", "b", "a"]);
        assert!(plan.links[LinkIndex(0)].is_sharing());
        // Who of them asks is drawn; without sharing nothing is.
        let alone = text.replace("share = true", "share = false");
        let alone = Experiment::parse("t", "t.toml", &alone).unwrap_or_else(|wrong| panic!("{wrong}"));
        let alone = alone.plans("sim").unwrap().remove(0);
        assert_eq!((plan.is_deterministic(), alone.is_deterministic()), (false, true));
        let hops = plan.routing.hops.iter().map(|hop| (name(hop.node), hop.link.0, hop.behind.map(name)));
        let expected = [("b", 0, Some("top")), ("top", 1, None), ("a", 0, Some("top"))];
        assert_eq!(hops.collect::<Vec<_>>(), expected);
        assert_eq!(plan.links_of(plan.node("a").unwrap()).count(), 1);
        // The same along shortest paths to whoever has the content.
        let (head, _) = text.split_once("[[route]]").unwrap();
        let computed =
            format!("routes = 'shortest'\n{head}[content.x]\nprefix = '/x'\nat = 'top'\nsize = '1 kB'\n");
        let experiment =
            Experiment::parse("t", "t.toml", &computed).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("sim").unwrap().remove(0);
        let a = plan.node("a").unwrap();
        let hop = plan.routing.hops.iter().find(|hop| hop.node == a).unwrap();
        assert_eq!((hop.link, hop.behind), (LinkIndex(0), plan.node("top")));
    }

    #[test]
    fn a_node_joins_a_link_once_and_two_nodes_share_with_nobody() {
        let text = |link: &str| {
            format!("title = 't'\nduration = '9 s'\n[node]\na = {{}}\nb = {{}}\nc = {{}}\n[link]\n{link}\n")
        };
        let told = |link: &str| match Experiment::parse("t", "t.toml", &text(link)) {
            Ok(_) => String::new(),
            Err(wrong) => wrong.to_string(),
        };
        assert_eq!(told("lan = { between = ['a', 'b', 'c'] }"), "");
        assert!(told("lan = { between = ['a', 'b', 'a'] }").contains("each once"));
        assert!(told("lan = { between = ['a'] }").contains("a link has two ends at least"));
        assert!(told("lan = { between = ['a', 'b', 'd'] }").contains("there is no node called `d`"));
        assert!(told("a-b = { share = true }").contains("nobody to share what they fetch with"));
        let limited = "rate = '1 Mbit/s', rate_control = { method = 'hobhis' }";
        let told = told(&format!("lan = {{ between = ['a', 'b', 'c'], {limited} }}"));
        assert!(told.contains("a link of more than two nodes has none"), "{told}");
    }
}
