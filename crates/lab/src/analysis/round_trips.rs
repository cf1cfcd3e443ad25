//! The numbers of single Interests: what was answered, what was lost, how long it took.

use super::data::RepeatData;
use super::window::Window;
use crate::experiment::plan::{Activity, Plan};

/// The numbers of round trips and of floods.
pub(super) fn values(plan: &Plan, data: &RepeatData, window: Window) -> Vec<(String, Vec<f64>)> {
    let mut list = Vec::new();
    let mut put = |key: String, numbers: &[f64]| list.push((key, numbers.to_vec()));
    for (name, table) in &data.pings {
        let table = &table.within(window);
        let (sent, answered) = (table.sent(), table.round_trips().len());
        put(format!("{name}.started"), &[sent as f64]);
        put(format!("{name}.finished"), &[answered as f64]);
        if sent > 0 {
            put(format!("{name}.unfinished"), &[(sent - answered) as f64]);
            let loss = table.loss(decided_until(plan, data, name));
            loss.into_iter().for_each(|loss| put(format!("{name}.loss"), &[loss * 100.0]));
        }
        put(format!("{name}.rtt"), &table.round_trips());
        put(format!("{name}.nacks"), &[table.nacks as f64]);
    }
    for (name, table) in &data.floods {
        let sum = |column: &str| table.column(column).iter().filter(|value| value.is_finite()).sum::<f64>();
        put(format!("{name}.started"), &[sum("sent")]);
        put(format!("{name}.finished"), &[sum("data")]);
        put(format!("{name}.retransmissions"), &[sum("refreshed")]);
        put(format!("{name}.nacks"), &[sum("nacks")]);
    }
    list
}

/// Until when Interests of a workload were sent of which all is known: those sent later were waited for less
/// long than they live. A run that lasts until all is done waits for each.
pub(super) fn decided_until(plan: &Plan, data: &RepeatData, name: &str) -> f64 {
    let does = plan.workloads.iter().find(|workload| workload.name == name).map(|work| &work.does);
    let lifetime_s = match does {
        Some(Activity::Ping { lifetime_ns, .. } | Activity::Traffic { lifetime_ns, .. }) => {
            *lifetime_ns as f64 / 1e9
        }
        _ => 0.0,
    };
    let is_all_known = plan.schedule.until_done && data.pings.values().all(|table| table.open.is_empty());
    if is_all_known { f64::INFINITY } else { data.seconds - lifetime_s }
}
