//! The numbers of single Interests: what was answered, what was lost, how long it took.

use super::data::RepeatData;
use super::window::Window;
use crate::experiment::plan::{Activity, Plan, Workload};
use crate::stats::Counted;

/// The numbers of round trips and of floods.
pub(super) fn values(plan: &Plan, data: &RepeatData, window: Window) -> Vec<(String, Vec<f64>)> {
    let mut list = Vec::new();
    let mut put = |key: String, numbers: &[f64]| list.push((key, numbers.to_vec()));
    for (name, table) in &data.pings {
        let table = &table.within(window);
        let (sent, answered) = (table.sent(), table.round_trips().len());
        let missing = never_begun(plan, data, name, window);
        put(format!("{name}.started"), &[sent as f64]);
        put(format!("{name}.finished"), &[answered as f64]);
        if sent > 0 || missing > 0 {
            put(format!("{name}.unfinished"), &[(sent - answered) as f64 + missing as f64]);
        }
        let Counted { part, whole } = table.lost(decided_until(plan, data, name));
        if whole + missing > 0 {
            put(format!("{name}.loss"), &[(part + missing) as f64 / (whole + missing) as f64 * 100.0]);
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

/// How many pings of so many that are ordered by a workload did not leave before the run ended. They are of a
/// window that holds all, as downloads are that never began.
pub(super) fn never_begun(plan: &Plan, data: &RepeatData, name: &str, window: Window) -> u64 {
    let ordered = plan.workloads.iter().find(|workload| workload.name == name).and_then(ordered);
    let sent = data.pings.get(name).map_or(0, |table| table.sent() as u64);
    if window.holds_all { ordered.unwrap_or(0).saturating_sub(sent) } else { 0 }
}

/// How many pings a workload is told to send, where that is a number.
fn ordered(workload: &Workload) -> Option<u64> {
    match workload.does {
        Activity::Ping { count, .. } => (count < u64::MAX).then_some(count),
        _ => None,
    }
}

/// Pings that were ordered by number, and those of them that never left.
pub(super) fn left(plan: &Plan, data: &RepeatData) -> Counted {
    let whole = Window { from: 0.0, until: data.seconds, holds_all: true, holds_end: true };
    let of = plan.workloads.iter().filter_map(|workload| Some((workload, ordered(workload)?)));
    of.fold(Counted::default(), |sum, (workload, ordered)| Counted {
        part: sum.part + never_begun(plan, data, &workload.name, whole),
        whole: sum.whole + ordered,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::workloads::PingTable;
    use crate::experiment::Experiment;

    #[test]
    fn pings_that_were_ordered_and_never_left_are_unfinished_and_lost_as_downloads_are() {
        let text = "title = 't'\nduration = '5 s'\n[node]\na = {}\nb = {}\n[link]\na-b = {}\n[[route]]\nprefix = '/p'\n\
            path = ['a', 'b']\n[ping.p]\nat = 'a'\nto = 'b'\nprefix = '/p'\nevery = '1 s'\ncount = 4\n";
        let mut plan = Experiment::parse("t", "t.toml", text).unwrap().plans("sim").unwrap().remove(0);
        let pings = (1..5).map(|second| (f64::from(second), Some(3.0))).collect();
        let table = PingTable { pings, ..PingTable::default() };
        let mut data = RepeatData { seconds: 9.0, ..RepeatData::default() };
        data.pings.insert("p".to_owned(), table);
        let whole = Window { from: 0.0, until: 9.0, holds_all: true, holds_end: true };
        let of = |plan: &Plan, word: &str, window| {
            let key = format!("p.{word}");
            let all = values(plan, &data, window);
            all.into_iter().find(|(name, _)| *name == key).and_then(|(_, numbers)| numbers.first().copied())
        };
        assert_eq!((of(&plan, "unfinished", whole), of(&plan, "loss", whole)), (Some(0.0), Some(0.0)));
        assert_eq!(left(&plan, &data), Counted { part: 0, whole: 4 });
        for workload in &mut plan.workloads {
            if let Activity::Ping { count, .. } = &mut workload.does {
                *count = 16;
            }
        }
        assert_eq!((of(&plan, "started", whole), of(&plan, "finished", whole)), (Some(4.0), Some(4.0)));
        assert_eq!((of(&plan, "unfinished", whole), of(&plan, "loss", whole)), (Some(12.0), Some(75.0)));
        assert_eq!(left(&plan, &data), Counted { part: 12, whole: 16 });
        let part = Window { holds_all: false, ..whole };
        assert_eq!((of(&plan, "unfinished", part), of(&plan, "loss", part)), (Some(0.0), Some(0.0)));
    }
}
