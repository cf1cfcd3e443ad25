//! What happens to the network at some moments.

use packet::time::Instant;
use sim::LinkConfig;

use super::network::Built;
use crate::experiment::plan::{Change, LinkIndex, LinkPlan, Plan};

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
            Change::Restart(place) => {
                if let Some(node) = built.nodes.get(place).copied() {
                    built.network.at(at, move |network| network.restart(node).unwrap_or_default());
                }
            }
        }
    }
}
