//! IP among the nodes, for programs of one's own: every node knows the others' names as names of hosts, and
//! packets find their way along shortest paths. Forwarders need none of it.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use sim::paths::{Graph, RouteSelection, Step};

use super::namespace::Namespace;
use super::netlink::{Netlink, NetlinkError};
use super::wiring::{Wiring, WiringError};
use crate::backend::interface::Interface;
use crate::experiment::plan::{Arena, NodeIndex, Plan};

/// Where a node sends packets for an address of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NextHop {
    node: NodeIndex,
    to: Ipv4Addr,
    interface: u32,
    gateway: Ipv4Addr,
}

/// The address that a node's name stands for: that of its first interface.
fn address(wiring: &Wiring, node: NodeIndex) -> Option<Ipv4Addr> {
    Some(wiring.interfaces.get(&node)?.first()?.local)
}

/// Lets every node reach every other by IP.
///
/// # Errors
///
/// What the kernel refused.
pub(super) fn connect(
    plan: &Plan,
    wiring: &Wiring,
    namespaces: &Arena<NodeIndex, Namespace>,
) -> Result<(), WiringError> {
    let hops = next_hops(plan, wiring);
    for (node, namespace) in namespaces.indexed() {
        let name = plan.node_name(node).to_owned();
        let hops: Vec<NextHop> = hops.iter().filter(|hop| hop.node == node).copied().collect();
        let done = namespace.run(move || -> Result<(), NetlinkError> {
            forward();
            let netlink = Netlink::open()?;
            hops.iter().try_for_each(|hop| netlink.add_route(hop.interface, hop.to, hop.gateway))
        })?;
        done.map_err(|error| WiringError::Routes(name, error))?;
    }
    Ok(())
}

/// A new namespace forwards nothing, and may drop what does not come by the way back.
fn forward() {
    for (setting, value) in
        [("ip_forward", "1"), ("conf/all/rp_filter", "0"), ("conf/default/rp_filter", "0")]
    {
        // A kernel that does not let us keeps what it has; then only neighbours reach each other.
        let _ = fs::write(format!("/proc/sys/net/ipv4/{setting}"), value);
    }
}

fn next_hops(plan: &Plan, wiring: &Wiring) -> Vec<NextHop> {
    let mut graph = Graph::new(plan.nodes.len());
    for (index, link) in plan.links.indexed() {
        let [a, b] = link.between;
        for (from, to) in [(a, b), (b, a)] {
            graph.add(from, Step { to, by: index, metric: link.metric.into() });
        }
    }
    let mut hops = Vec::new();
    for destination in plan.nodes.ids() {
        let own = wiring.interfaces.get(&destination).map_or(&[][..], Vec::as_slice);
        for route in graph.routes_to(&[destination], RouteSelection::Shortest) {
            let node = route.from;
            let interfaces = wiring.interfaces.get(&node).map_or(&[][..], Vec::as_slice);
            let by = |interface: &&Interface| interface.link == route.by;
            let Some(by) = interfaces.iter().find(by) else { continue };
            // What a link joins needs no route.
            let is_far = |interface: &&Interface| interface.local != by.remote;
            hops.extend(own.iter().filter(is_far).map(|interface| NextHop {
                node,
                to: interface.local,
                interface: by.index,
                gateway: by.remote,
            }));
        }
    }
    hops
}

/// Puts the names of all nodes into the world's own view of `/etc/hosts`, by way of a file in `folder`.
///
/// # Errors
///
/// When the file cannot be written, or the system has no `/etc/hosts` to put it over.
pub(super) fn name_hosts(plan: &Plan, wiring: &Wiring, folder: &Path) -> io::Result<()> {
    let mut text = String::from("127.0.0.1 localhost\n");
    for (node, name) in plan.nodes.indexed().map(|(index, node)| (index, &node.name)) {
        if let Some(address) = address(wiring, node) {
            let _ = writeln!(text, "{address} {name}");
        }
    }
    let file = folder.join("hosts");
    fs::write(&file, text)?;
    let (none, bind): (Option<&str>, _) = (None, nix::mount::MsFlags::MS_BIND);
    nix::mount::mount(Some(&file), "/etc/hosts", none, bind, none).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::plan::LinkIndex;

    fn interface(link: LinkIndex, index: u32, (local, remote): (u8, u8)) -> Interface {
        let address = |last| Ipv4Addr::new(10, 77, 0, last);
        Interface {
            link,
            name: format!("i{link}"),
            index,
            local: address(local),
            remote: address(remote),
            local_ether: [0; 6],
            remote_ether: [0; 6],
        }
    }

    #[test]
    fn every_address_is_reached_by_the_next_node_on_the_way_and_neighbours_without_a_route() {
        let text = "title = 't'\nduration = '9 s'\n[node]\na = {}\nb = {}\nc = {}\n[link.a-b]\n[link.b-c]\n";
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("netns").unwrap_or_default().remove(0);
        let mut wiring = Wiring::default();
        wiring.interfaces.insert(NodeIndex(0), vec![interface(LinkIndex(0), 2, (1, 2))]);
        wiring.interfaces.insert(
            NodeIndex(1),
            vec![interface(LinkIndex(0), 2, (2, 1)), interface(LinkIndex(1), 3, (5, 6))],
        );
        wiring.interfaces.insert(NodeIndex(2), vec![interface(LinkIndex(1), 2, (6, 5))]);
        let of = |node| {
            let hops = next_hops(&plan, &wiring);
            let words = hops.iter().filter(|hop| hop.node == node);
            let mut words: Vec<String> =
                words.map(|hop| format!("{} by {} {}", hop.to, hop.gateway, hop.interface)).collect();
            words.sort();
            words
        };
        assert_eq!(of(NodeIndex(0)), ["10.77.0.5 by 10.77.0.2 2", "10.77.0.6 by 10.77.0.2 2"]);
        assert!(of(NodeIndex(1)).is_empty(), "{:?}", of(NodeIndex(1)));
        assert_eq!(of(NodeIndex(2)), ["10.77.0.1 by 10.77.0.5 2", "10.77.0.2 by 10.77.0.5 2"]);
    }
}
