//! What is certain of a measure before anything runs, by times, sizes, rates and ways: what a ping sends
//! until the run ends, how long a file takes at least.

use super::limits::{
    Limit, at_once, by_links, each_once, faster_by_buckets, has_buckets, is_all_finished, is_whole, longest,
    measured,
};
use super::relation::pings;
use crate::experiment::measure::Measure;
use crate::experiment::plan::{Activity, ContentPlan, Plan, Workload};

const ANOTHER: &str = "write a bound between what can happen";

/// Pings without a number, which leave one by one until the run ends. A run that ends with its work ends
/// them.
pub(super) fn of_times(plan: &Plan, measure: &Measure) -> Option<Limit> {
    let of = measured(plan, &measure.subject);
    let every_ns = of.clone().find_map(|workload| match workload.does {
        Activity::Ping { every_ns, .. } => Some(every_ns),
        _ => None,
    })?;
    let sent: f64 = of.map(|workload| pings(plan, workload)).sum::<Option<f64>>()?;
    if measure.quantity != "started" || !is_whole(plan) || plan.schedule.until_done {
        return None;
    }
    let every = every_ns as f64 / 1e9;
    Some(Limit {
        // One may leave less or more at the ends.
        least: (sent - 1.0).max(0.0),
        most: sent + 1.0,
        why: format!("is {sent}, for one every {every} s leaves until the end"),
        instead: ANOTHER.to_owned(),
    })
}

/// A round trip that takes longer than its Interest lives is none.
pub(super) fn of_lifetime(plan: &Plan, measure: &Measure) -> Option<Limit> {
    let lifetimes = measured(plan, &measure.subject).map(|workload| match workload.does {
        Activity::Ping { lifetime_ns, .. } | Activity::Traffic { lifetime_ns, .. } => Some(lifetime_ns),
        _ => None,
    });
    let longest = lifetimes.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    let seconds = longest as f64 / 1e9;
    (measure.quantity == "rtt").then(|| Limit {
        least: 0.0,
        most: seconds * 1e3,
        why: format!("is waited for no longer than {seconds} s, its `lifetime`"),
        instead: format!("write a bound below {seconds} s"),
    })
}

/// The content of all downloads of a name, where its files are of one size.
pub(super) fn files<'a>(plan: &'a Plan, workload: &Workload) -> Option<&'a ContentPlan> {
    each_once(plan, workload).filter(|content| content.sizes.is_none() && content.size_bytes > 0)
}

/// A file takes as long as the links of its client take for its bytes; and all files together have no more
/// time than there is until the run ends.
pub(super) fn of_size(plan: &Plan, measure: &Measure) -> Option<Limit> {
    let mut of = measured(plan, &measure.subject);
    match measure.quantity.as_str() {
        "duration" => {
            let mut least = f64::INFINITY;
            let mut slowest = 0.0;
            for workload in of {
                let (size, rate) = (files(plan, workload)?.size_bytes as f64, by_links(plan, workload)?);
                let at_once = at_once(rate, plan.links_of(workload.at).count());
                least = f64::min(least, (size - at_once) / rate);
                slowest = f64::max(slowest, rate);
            }
            let megabits = slowest * 8.0 / 1e6;
            (least.is_finite() && least > 0.0).then(|| Limit {
                least,
                most: f64::INFINITY,
                why: format!(
                    "comes over links of {megabits} Mbit/s, which take at least {least:.4} s for its bytes"
                ),
                instead: format!("write a bound above {least:.4} s"),
            })
        }
        "goodput" if is_all_finished(plan, &measure.subject) => {
            let (workload, None) = (of.next()?, of.next()) else { return None };
            let Activity::Download { count, .. } = workload.does else { return None };
            let bytes = files(plan, workload)?.size_bytes as f64 * f64::from(count);
            let seconds = longest(plan, workload);
            let least = bytes / seconds;
            (seconds > 0.0).then(|| Limit {
                least,
                most: f64::INFINITY,
                why: format!(
                    "is of {bytes} bytes in the {seconds} s that there are at most, for a run in which some are left \
                     is not valid"
                ),
                instead: format!("write a bound above {:.4} Mbit/s", least * 8.0 / 1e6),
            })
        }
        _ => None,
    }
}

/// What the headers of a Data packet and of its frame take at least, in bytes.
const HEADERS: f64 = 30.0;

/// Content is not all that links carry.
pub(super) fn of_headers(plan: &Plan, measure: &Measure, is_virtual: bool) -> Option<Limit> {
    if measure.quantity != "goodput" {
        return None;
    }
    let rates = measured(plan, &measure.subject).map(|workload| {
        let content = files(plan, workload)?;
        let (segment, rate) = (f64::from(content.segment_bytes), by_links(plan, workload)?);
        let faster = match has_buckets(plan, workload.at, is_virtual) {
            true => faster_by_buckets(plan, content, workload.at, rate)?,
            false => 1.0,
        };
        Some(rate * faster * segment / (segment + HEADERS))
    });
    let most: f64 = rates.sum::<Option<f64>>()?;
    let megabits = most * 8.0 / 1e6;
    (most > 0.0).then(|| Limit {
        least: 0.0,
        most,
        why: format!("comes by links that carry its headers, too, which leaves {megabits:.2} Mbit/s"),
        instead: format!("write a bound below {megabits:.2} Mbit/s"),
    })
}

/// How many packets are lost by chance in one repeat, at most, of those that a measure is of: of a workload
/// its own, of anything else all. Nothing where nobody can say how many are sent.
pub(super) fn expected_losses(plan: &Plan, measure: &Measure) -> Option<f64> {
    let own = measured(plan, &measure.subject).count() > 0;
    let sent = plan.workloads.iter().filter(|workload| !own || workload.measured_as() == measure.subject);
    let packets = sent.map(|workload| match &workload.does {
        Activity::Download { content, count, arrivals: None, .. } => {
            let content = plan.contents.get(*content)?;
            let segments = content.size_bytes.div_ceil(u64::from(content.segment_bytes.max(1)));
            Some(2.0 * segments as f64 * f64::from(*count))
        }
        Activity::Ping { count, .. } if *count < u64::MAX => Some(2.0 * *count as f64),
        Activity::Ping { .. } => Some(2.0 * pings(plan, workload)?),
        Activity::Register(_) | Activity::Load { .. } => Some(0.0),
        _ => None,
    });
    let packets: f64 = packets.sum::<Option<f64>>()?;
    // Each crosses each link that loses, at most.
    let lost_once: f64 = plan.links.iter().map(|link| link.loss).sum();
    Some(packets * lost_once)
}
