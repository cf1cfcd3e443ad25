//! What happens to a network while it runs: links go down, come back and become others, forwarders crash and
//! start anew.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use client::ClientError;
use packet::Name;

use super::netlink::NetlinkError;
use super::routing;
use super::wiring::{WiringError, bring_back, reshape, take_down};
use super::world::{World, WorldError, io_error, socket};
use crate::backend::interface::Interface;
use crate::driver::{DriverError, Manager};
use crate::experiment::plan::{Change, Hop, LinkIndex, NodeIndex};

/// How long a forwarder may take to change a route: while it does, no other event happens.
const ROUTE_TIMEOUT: Duration = Duration::from_secs(2);

impl World<'_> {
    /// Makes a change, now.
    ///
    /// A link that is down has lost its carrier at both ends. A forwarder that restarts is killed and started
    /// again with what its configuration says: its tables are empty, as after a crash.
    pub(super) fn change(&mut self, change: Change) -> Result<(), WorldError> {
        match change {
            Change::LinkDown(link) => self.at_ends(link, take_down),
            Change::LinkUp(link) => {
                self.at_ends(link, bring_back)?;
                self.route_again()
            }
            Change::LinkChange { link, rate_bps, delay_ns, loss } => {
                let Some(plan) = self.links.get_mut(link) else { return Ok(()) };
                plan.rate_bps = rate_bps.or(plan.rate_bps);
                plan.delay_ns = delay_ns.unwrap_or(plan.delay_ns);
                plan.loss = loss.unwrap_or(plan.loss);
                let plan = plan.clone();
                // Of what the forwarders delay themselves the kernel has only the rate.
                let wanted = delay_ns.is_some() || loss.is_some();
                let delays = wanted || self.wiring.delays(link);
                let lacks_netem = Arc::new(AtomicBool::new(false));
                let seen = lacks_netem.clone();
                self.at_ends(link, move |interface| {
                    let done = reshape(interface, &plan, delays)?;
                    seen.fetch_or(!done, Ordering::Relaxed);
                    Ok(())
                })?;
                let name = self.links.get(link).map_or_else(String::new, |link| link.name.clone());
                if lacks_netem.load(Ordering::Relaxed) {
                    Err(WiringError::NoNetem(name).into())
                } else {
                    Ok(())
                }
            }
            Change::Restart(node) => self.restart(node),
            Change::RouteAdd(hop) => {
                self.change_route(&hop, |manager, uri, prefix| manager.add_route(uri, prefix, hop.cost))
            }
            Change::RouteRemove(hop) => self.change_route(&hop, Manager::remove_route),
            Change::CpuChange { node, share } => self.change_share(node, share),
        }
    }

    /// Gives a node another share of a core. Where no control group can be written to, the run has said so.
    fn change_share(&self, node: NodeIndex, share: f64) -> Result<(), WorldError> {
        let Some(group) = self.groups.get(node) else { return Ok(()) };
        let period_ns = self.plan().nodes.get(node).and_then(|node| node.cpu_period_ns);
        let kept = group.limit_processor(Some(share), period_ns);
        kept.map_err(io_error(format!("no share for `{}`", self.plan().node_name(node))))
    }

    /// Asks a node's forwarder to change a route.
    fn change_route(
        &self,
        hop: &Hop,
        change: impl FnOnce(&mut Manager, &str, &Name) -> Result<(), ClientError>,
    ) -> Result<(), WorldError> {
        let node = self.plan().node_name(hop.node);
        let failed = |source| WorldError::Driver(DriverError::management(node, source));
        let prefix: Name =
            hop.prefix.parse().map_err(|error| DriverError::prefix(node, &hop.prefix, error))?;
        let interfaces = self.wiring.interfaces.get(&hop.node).into_iter().flatten();
        let own = interfaces.into_iter().find(|interface| interface.link == hop.link);
        let (Some(interface), Some(link)) = (own, self.links.get(hop.link)) else { return Ok(()) };
        let addresses = self.addresses();
        let behind = hop.behind.and_then(|node| addresses.get(&node));
        let interface =
            Interface { remote: behind.copied().unwrap_or(interface.remote), ..interface.clone() };
        let uri = interface.face_uri(link.kind, self.plan().dialect);
        // One that has just been started anew answers a little later.
        let mut manager = Manager::answering(&socket(node), ROUTE_TIMEOUT).map_err(failed)?;
        change(&mut manager, &uri, &prefix).map_err(failed)
    }

    /// Does something at both ends of a link, each in its namespace.
    fn at_ends(
        &self,
        link: LinkIndex,
        act: impl Fn(&Interface) -> Result<(), NetlinkError> + Clone + Send + 'static,
    ) -> Result<(), WorldError> {
        let name = self.links.get(link).map_or_else(String::new, |link| link.name.clone());
        for (node, interfaces) in &self.wiring.interfaces {
            let Some(namespace) = self.namespaces.get(*node) else { continue };
            for interface in interfaces.iter().filter(|interface| interface.link == link) {
                let (act, interface) = (act.clone(), interface.clone());
                let done = namespace.run(move || act(&interface))?;
                done.map_err(|source| WiringError::Kernel { link: name.clone(), source })?;
            }
        }
        Ok(())
    }

    /// Gives nodes the routes of IP that the kernel has forgotten with a link.
    fn route_again(&self) -> Result<(), WorldError> {
        if self.has_programs() {
            routing::connect(self.plan(), &self.wiring, &self.namespaces)?;
        }
        Ok(())
    }

    fn restart(&mut self, node: NodeIndex) -> Result<(), WorldError> {
        let name = self.plan().node_name(node).to_owned();
        let failed = |what: &str| io_error(format!("the forwarder of `{name}` cannot be {what}"));
        let Some(forwarder) = self.forwarders.get_mut(&node) else { return Ok(()) };
        forwarder.child.kill().map_err(failed("killed"))?;
        forwarder.child.wait().map_err(failed("killed"))?;
        let launch = forwarder.launch.clone();
        let child = self.spawn(node, &launch, Stdio::null(), None)?;
        if let Some(forwarder) = self.forwarders.get_mut(&node) {
            forwarder.pid.store(child.id(), Ordering::Relaxed);
            forwarder.child = child;
        }
        Ok(())
    }
}
