//! Where a measure ends, by all that is known of it before anything runs.

use super::certain;
use super::limits::{self, Limit};
use super::relation::is_value;
use crate::experiment::measure::Measure;
use crate::experiment::plan::Plan;

/// All limits of a measure that follow from the plan.
pub(super) fn limits(plan: &Plan, measure: &Measure, is_virtual: bool) -> Vec<Limit> {
    if !is_value(plan, measure) {
        return Vec::new();
    }
    let list = [
        limits::of_ordered_work(plan, measure),
        certain::of_times(plan, measure),
        certain::of_lifetime(plan, measure),
        certain::of_size(plan, measure),
        certain::of_headers(plan, measure, is_virtual),
        certain::of_retransmissions(plan, measure),
        certain::of_passing(plan, measure, is_virtual),
        limits::of_loss(plan, measure),
        limits::of_time(plan, measure),
        limits::of_processor(plan, measure, is_virtual),
        limits::of_watched_link(plan, measure, is_virtual),
        limits::of_links_of_clients(plan, measure, is_virtual),
        limits::of_way(plan, measure),
    ];
    list.into_iter().flatten().collect()
}
