//! From a plan's links to interfaces: addresses, rates, delays.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

use super::namespace::{Namespace, NamespaceError};
use super::netlink::{End, Netlink, NetlinkError};
use crate::backend::interface::Interface;
use crate::experiment::plan::{Arena, Change, LinkIndex, LinkPlan, NodeIndex, Plan};

/// Why the network could not be built.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    /// The kernel refused a request.
    #[error("link `{link}`: {source}")]
    Kernel {
        /// The link.
        link: String,
        /// What it refused.
        source: NetlinkError,
    },
    /// A namespace is gone.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// An interface is not there after it was made.
    #[error("link `{0}`: its interface is missing right after it was made")]
    Missing(String),
    /// A file of the kernel.
    #[error("loopback of `{0}` cannot be brought up: {1}")]
    Loopback(String, NetlinkError),
    /// An event that this kernel cannot carry out.
    #[error(
        "link `{0}`: this kernel has no netem, so that its delay and loss stay as they are; change its rate, \
         or use virtual time (--on sim)"
    )]
    NoNetem(String),
    /// The ways of IP packets.
    #[error("`{0}` cannot reach the other nodes by IP: {1}")]
    Routes(String, NetlinkError),
}

/// The interfaces of every node, and the links whose delay and loss the kernel could not do.
#[derive(Debug, Default)]
pub struct Wiring {
    /// By node.
    pub interfaces: BTreeMap<NodeIndex, Vec<Interface>>,
    /// Links that must be impaired elsewhere, because this kernel has no netem.
    pub left_to_link_layer: Vec<LinkIndex>,
    /// Links at whose ends netem stands.
    delayed: Vec<LinkIndex>,
}

impl Wiring {
    /// Does the kernel delay and lose what a link carries?
    pub(super) fn delays(&self, link: LinkIndex) -> bool {
        self.delayed.contains(&link)
    }
}

/// The address of one end of a link.
fn address(link: LinkIndex, end: usize) -> Ipv4Addr {
    let number = u32::try_from(link.0).unwrap_or(u32::MAX).wrapping_mul(4);
    let base = u32::from(Ipv4Addr::new(10, 77, 0, 0));
    Ipv4Addr::from(base.wrapping_add(number).wrapping_add(1 + u32::try_from(end).unwrap_or(0)))
}

fn ether(link: LinkIndex, end: usize) -> [u8; 6] {
    let [.., a, b] = u32::try_from(link.0).unwrap_or(u32::MAX).to_be_bytes();
    [0x02, 0xca, 0x14, a, b, 1 + u8::try_from(end).unwrap_or(0)]
}

/// Builds every link of a plan between the namespaces of its nodes.
///
/// # Errors
///
/// What the kernel refused.
pub fn wire(plan: &Plan, namespaces: &Arena<NodeIndex, Namespace>) -> Result<Wiring, WiringError> {
    let mut wiring = Wiring::default();
    for (index, namespace) in namespaces.indexed() {
        let name = plan.node_name(index).to_owned();
        namespace
            .run(move || -> Result<(), NetlinkError> {
                quiet();
                let_fragments_go();
                Netlink::open()?.up(1)
            })?
            .map_err(|error| WiringError::Loopback(name, error))?;
        wiring.interfaces.entry(index).or_default();
    }
    for (index, link) in plan.links.indexed() {
        let impaired = one(index, link, plan, namespaces, &mut wiring)?;
        if !impaired {
            wiring.left_to_link_layer.push(index);
        } else if delays(plan, index) {
            wiring.delayed.push(index);
        }
        if !impaired && will_delay(plan, index) {
            return Err(WiringError::NoNetem(link.name.clone()));
        }
    }
    Ok(wiring)
}

/// Keeps the kernel from sending anything of its own on a measured link.
fn quiet() {
    for setting in ["all", "default"] {
        // A kernel without IPv6 has no such file, and nothing to switch off.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{setting}/disable_ipv6"), "1");
    }
}

/// What is left of an IP packet that lost a fragment, the kernel keeps for 30 s; with 4 MB of such remains it
/// drops every fragment that comes, and a burst of losses silences a link for half a minute. That would be
/// measured instead of forwarders.
fn let_fragments_go() {
    for (setting, value) in [("ipfrag_time", "1"), ("ipfrag_high_thresh", "67108864")] {
        // A kernel that does not let us keeps its own numbers; the network works with them, too.
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/{setting}"), value);
    }
}

/// Builds one link. False when delay or loss was wanted and the kernel has no netem.
fn one(
    index: LinkIndex,
    link: &LinkPlan,
    plan: &Plan,
    namespaces: &Arena<NodeIndex, Namespace>,
    wiring: &mut Wiring,
) -> Result<bool, WiringError> {
    let [a, b] = link.between;
    let (Some(here), Some(there)) = (namespaces.get(a), namespaces.get(b)) else { return Ok(true) };
    let names = [interface_name(plan.node_name(b), index), interface_name(plan.node_name(a), index)];
    let kernel = |source| WiringError::Kernel { link: link.name.clone(), source };
    let far = there.handle().try_clone().map_err(NamespaceError::from)?;
    let ends = names.clone();
    let mtu = link.mtu;
    here.run(move || {
        let [near_name, far_name] = &ends;
        let near_end = End { name: near_name, address: ether(index, 0) };
        let far_end = End { name: far_name, address: ether(index, 1) };
        Netlink::open()?.add_pair(near_end, far_end, far.as_fd(), mtu)
    })?
    .map_err(kernel)?;
    let mut impaired = true;
    for (end, (node, namespace)) in [(a, here), (b, there)].into_iter().enumerate() {
        let name = names.get(end).cloned().unwrap_or_default();
        let mut interface = Interface {
            link: index,
            name,
            index: 0,
            local: address(index, end),
            remote: address(index, 1 - end),
            local_ether: ether(index, end),
            remote_ether: ether(index, 1 - end),
        };
        let (given, wanted, delays) = (interface.clone(), link.clone(), delays(plan, index));
        let (number, done) = namespace.run(move || bring_up(&given, &wanted, delays))?.map_err(kernel)?;
        impaired &= done;
        interface.index = number;
        if number == 0 {
            return Err(WiringError::Missing(link.name.clone()));
        }
        wiring.interfaces.entry(node).or_default().push(interface);
    }
    Ok(impaired)
}

/// An interface is called after the node at its other end, and after its link: there may be another to the
/// same node, or to one whose name begins alike. The kernel allows 15 letters.
fn interface_name(neighbour: &str, link: LinkIndex) -> String {
    let number = link.to_string();
    let short: String = neighbour.chars().take(14usize.saturating_sub(number.len())).collect();
    format!("{short}.{number}")
}

/// Addresses, shapes and starts one end. Gives its index, and whether delay and loss are done.
fn bring_up(interface: &Interface, link: &LinkPlan, delays: bool) -> Result<(u32, bool), NetlinkError> {
    let index = nix::net::if_::if_nametoindex(interface.name.as_str()).unwrap_or(0);
    if index == 0 {
        return Ok((0, true));
    }
    let netlink = Netlink::open()?;
    netlink.limit_segments(index)?;
    netlink.add_address(index, interface.local, 30)?;
    netlink.up(index)?;
    netlink.add_neighbour(index, interface.remote, interface.remote_ether)?;
    Ok((index, shape(&netlink, index, link, delays)?))
}

/// Gives an interface its link's rate, and delay and loss where it `delays`. False when the kernel has no
/// netem for these.
fn shape(netlink: &Netlink, index: u32, link: &LinkPlan, delays: bool) -> Result<bool, NetlinkError> {
    let mut parent = None;
    let mut impaired = true;
    if delays {
        match netlink.impair(index, link.delay_ns, link.loss, flight(link)) {
            Ok(()) => parent = Some(0x0001_0001),
            Err(error) if error.is_missing_feature() => impaired = false,
            Err(error) => return Err(error),
        }
    }
    if let Some(rate) = link.rate_bps {
        let queue = link.frame_bytes().saturating_mul(link.queue);
        netlink.limit_rate(index, parent, rate, link.bucket_bytes(), queue)?;
    }
    Ok(impaired)
}

/// Does netem stand at the ends of a link? It does where there is something for it to do, or will be.
fn delays(plan: &Plan, place: LinkIndex) -> bool {
    plan.links.get(place).is_some_and(|link| link.delay_ns > 0 || link.loss > 0.0) || will_delay(plan, place)
}

/// Does an event change the delay or the loss of a link?
fn will_delay(plan: &Plan, place: LinkIndex) -> bool {
    plan.events.iter().any(|event| match event.change {
        Change::LinkChange { link, delay_ns, loss, .. } => {
            link == place && (delay_ns.is_some() || loss.is_some())
        }
        _ => false,
    })
}

/// Takes a link's end down.
///
/// # Errors
///
/// What the kernel refused.
pub(super) fn take_down(interface: &Interface) -> Result<(), NetlinkError> {
    Netlink::open()?.down(interface.index)
}

/// Brings a link's end up again.
///
/// # Errors
///
/// What the kernel refused.
pub(super) fn bring_back(interface: &Interface) -> Result<(), NetlinkError> {
    let netlink = Netlink::open()?;
    netlink.up(interface.index)?;
    netlink.add_neighbour(interface.index, interface.remote, interface.remote_ether)
}

/// Makes another link of one, at one of its ends. What waits in its queue stays there unless the queue gets
/// smaller.
///
/// # Errors
///
/// What the kernel refused.
pub(super) fn reshape(interface: &Interface, link: &LinkPlan, delays: bool) -> Result<bool, NetlinkError> {
    shape(&Netlink::open()?, interface.index, link, delays)
}

/// How many frames are on the way at once, for the limit of netem: what the delay holds, and the queue.
fn flight(link: &LinkPlan) -> u32 {
    let rate = link.rate_bps.unwrap_or(10_000_000_000);
    let bits = u128::from(rate) * u128::from(link.delay_ns) / 1_000_000_000;
    u32::try_from(bits / 8 / 64).unwrap_or(u32::MAX).saturating_add(link.queue).max(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_a_network_of_its_own() {
        assert_eq!(address(LinkIndex(0), 0), Ipv4Addr::new(10, 77, 0, 1));
        assert_eq!(address(LinkIndex(0), 1), Ipv4Addr::new(10, 77, 0, 2));
        assert_eq!(address(LinkIndex(63), 1), Ipv4Addr::new(10, 77, 0, 254));
        assert_eq!(address(LinkIndex(64), 0), Ipv4Addr::new(10, 77, 1, 1));
        assert_ne!(ether(LinkIndex(1), 0), ether(LinkIndex(0), 1));
    }

    #[test]
    fn two_links_to_nodes_that_are_called_alike_have_interfaces_of_their_own() {
        let (one, other) = (
            interface_name("second-level-1", LinkIndex(7)),
            interface_name("second-level-2", LinkIndex(1234)),
        );
        assert!(one != other && one.len() <= 15 && other.len() == 15, "{one} {other}");
        assert_ne!(interface_name("b", LinkIndex(0)), interface_name("b", LinkIndex(1)));
    }
}
