//! What happens to the network at some moments.

use packet::time::Instant;
use sim::{LinkConfig, Network, NodeId};

use super::network::Built;
use crate::experiment::plan::{Change, EventPlan, Hop, LinkIndex, LinkPlan, NodeIndex, Plan};

/// Plans all events of an experiment.
pub(super) fn plan(built: &mut Built, plan: &Plan) {
    for event in &plan.events {
        let at = Instant::from_nanos(event.at_ns);
        let link = |link: LinkIndex| built.links.get(link).copied();
        match event.change {
            // What is planned is of links and nodes that are there, so that it cannot fail.
            Change::LinkDown(place) => {
                if let Some(link) = link(place) {
                    built.network.at(at, move |network| network.take_down(link).unwrap_or_default());
                }
            }
            Change::LinkUp(place) => {
                if let Some(link) = link(place) {
                    built.network.at(at, move |network| network.bring_up(link).unwrap_or_default());
                }
            }
            Change::LinkChange { link: place, rate_bps, delay_ns, loss } => {
                let Some(planned) = plan.links.get(place).cloned() else { continue };
                let held = delay_ns.map(|delay_ns| super::processor::held(plan, &planned, delay_ns));
                let change = move |config: &mut LinkConfig| {
                    config.rate_bits_per_second = rate_bps.or(config.rate_bits_per_second);
                    let now = LinkPlan { rate_bps: config.rate_bits_per_second, ..planned.clone() };
                    config.bucket_bytes = super::network::bucket_bytes(&now);
                    config.delay = held.unwrap_or(config.delay);
                    config.impairment.loss = loss.unwrap_or(config.impairment.loss);
                };
                if let Some(link) = link(place) {
                    built
                        .network
                        .at(at, move |network| network.reconfigure(link, change).unwrap_or_default());
                }
            }
            Change::Restart(place) => restart(built, plan, event, place),
            Change::RouteAdd(ref hop) => {
                let Some(route) = Route::of(built, plan, hop) else { continue };
                built.network.at(at, move |network| route.add(network));
            }
            Change::RouteRemove(ref hop) => {
                let Some(route) = Route::of(built, plan, hop) else { continue };
                built.network.at(at, move |network| route.remove(network));
            }
            // The processor of the node knows what it has and when from the start.
            Change::CpuChange { .. } => {}
        }
    }
}

/// A forwarder that starts anew has the routes of its configuration, and none that came later.
fn restart(built: &mut Built, plan: &Plan, event: &EventPlan, place: NodeIndex) {
    let Some(node) = built.nodes.get(place).copied() else { return };
    let earlier = plan.events.iter().filter(|other| other.at_ns <= event.at_ns);
    let changed = earlier.filter_map(|other| other.change.route()).filter(|hop| hop.node == place);
    let gone: Vec<Route> = changed.filter_map(|hop| Route::of(built, plan, hop)).collect();
    let own = plan.routing.hops.iter().filter(|hop| hop.node == place && !gone.is_empty());
    let begun: Vec<Route> = own.filter_map(|hop| Route::of(built, plan, hop)).collect();
    built.network.at(Instant::from_nanos(event.at_ns), move |network| {
        gone.iter().for_each(|route| route.remove(network));
        begun.iter().for_each(|route| route.add(network));
        network.restart(node).unwrap_or_default();
    });
}

/// A route between nodes of the network.
struct Route {
    from: NodeId,
    to: NodeId,
    prefix: String,
    cost: u64,
}

impl Route {
    fn of(built: &Built, plan: &Plan, hop: &Hop) -> Option<Self> {
        let from = built.nodes.get(hop.node).copied()?;
        let to = built.nodes.get(plan.next_node(hop)?).copied()?;
        Some(Route { from, to, prefix: hop.prefix.clone(), cost: u64::from(hop.cost) })
    }

    /// A table of routes that is full has counted it.
    fn add(&self, network: &mut Network) {
        network.add_route(self.from, self.prefix.as_str(), self.to, self.cost).unwrap_or_default();
    }

    fn remove(&self, network: &mut Network) {
        network.remove_route(self.from, self.prefix.as_str(), self.to).unwrap_or_default();
    }
}
