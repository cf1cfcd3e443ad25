//! Where a measure ends, by all that is known of it before anything runs.

use super::certain;
use super::limits::{self, Limit};
use super::passing;
use super::relation::is_value;
use crate::experiment::measure::Measure;
use crate::experiment::plan::Plan;

/// What is told by the clock of a node.
const BY_CLOCK: &[&str] = &["duration", "rtt", "goodput", "throughput", "started"];

/// All limits of a measure that follow from the plan.
pub(super) fn limits(plan: &Plan, measure: &Measure, is_virtual: bool) -> Vec<Limit> {
    // A clock of a node's own says other times than there are.
    if BY_CLOCK.contains(&measure.quantity.as_str()) && limits::has_clocks(plan) {
        return Vec::new();
    }
    if !is_value(plan, measure) {
        // Of what is counted the total is no less than anything of it.
        let of_total = passing::of_passing(plan, measure, is_virtual).filter(|_| measure.summary == "sum");
        return of_total.into_iter().collect();
    }
    let of_any = [
        limits::of_ordered_work(plan, measure),
        certain::of_times(plan, measure),
        certain::of_lifetime(plan, measure),
        limits::of_time(plan, measure),
        limits::of_processor(plan, measure, is_virtual),
    ];
    // Where places are drawn anew for each repeat this plan says nothing of the ways in another.
    if plan.schedule.drawn {
        return of_any.into_iter().flatten().collect();
    }
    let of_ways = [
        certain::of_size(plan, measure),
        certain::of_headers(plan, measure, is_virtual),
        passing::of_passing(plan, measure, is_virtual),
        passing::of_hops(plan, measure, is_virtual),
        limits::of_watched_link(plan, measure, is_virtual),
        limits::of_links_of_clients(plan, measure, is_virtual),
        limits::of_way(plan, measure),
    ];
    of_any.into_iter().chain(of_ways).flatten().collect()
}
