//! What happens to a network while it runs: links go down, come back and become others, forwarders crash and
//! start anew.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::netlink::NetlinkError;
use super::routing;
use super::wiring::{WiringError, bring_back, reshape, take_down};
use super::world::{World, WorldError, io_error};
use crate::backend::interface::Interface;
use crate::experiment::plan::{Change, LinkIndex, NodeIndex};

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
        }
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
