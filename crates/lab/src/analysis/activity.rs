//! From when until when the workloads of a repeat were active, and which part of it counts by that.

use super::data::RepeatData;
use super::window::Window;
use crate::experiment::Plan;
use crate::experiment::plan::Activity;

/// Which part of a repeat counts.
pub(super) struct Measured {
    pub(super) window: Window,
    /// When its workloads were active: as far as they tell, and else as long as they were to be.
    pub(super) active: Option<Window>,
}

/// The window of a repeat: what the experiment says, and else from the first to the last activity of its
/// workloads. What lies before and behind that is the lab's own doing: agents begin together, and a
/// run ends a second after its work.
pub(super) fn measured(plan: &Plan, data: &RepeatData) -> Measured {
    let told = activity(plan, data);
    let active = told.unwrap_or(Window { from: 0.0, until: data.seconds, holds_all: true, holds_end: true });
    let seconds = |ns: u64| ns as f64 / 1e9;
    let from = plan.evaluation.window.from_ns.map_or(active.from, seconds);
    let until = plan.evaluation.window.until_ns.map_or(active.until, seconds);
    let holds_all = plan.evaluation.window.from_ns.is_none() && plan.evaluation.window.until_ns.is_none();
    let holds_end = plan.evaluation.window.until_ns.is_none() || until >= data.seconds;
    Measured {
        window: Window { from, until: until.min(data.seconds), holds_all, holds_end },
        active: with_silent(told, plan, data.seconds),
    }
}

/// When the last that a consumer asked for had come to all its nodes; nothing when it goes on without end, or
/// something is missing.
fn all_there(data: &RepeatData, workload: &str) -> Option<f64> {
    let consumers = data.network.iter().flat_map(|network| &network.consumers);
    let mut ends =
        consumers.filter(|consumer| consumer.workload == workload).map(|consumer| consumer.ended_s);
    let first = ends.next()?;
    ends.fold(first, |last, end| Some(f64::max(last?, end?)))
}

/// The same with those that work and leave no trace of when: they were active from their start to their stop.
/// They do not decide which part of a repeat counts, for much of that they may have had nothing to do.
fn with_silent(told: Option<Window>, plan: &Plan, seconds: f64) -> Option<Window> {
    let is_silent = |does: &Activity| match does {
        Activity::Register(registration) => registration.attempts > 0,
        Activity::Load { .. } => true,
        Activity::Program(program) => program.serves,
        _ => false,
    };
    let silent = plan.workloads.iter().filter(|work| is_silent(&work.does)).map(|work| Window {
        from: work.start_ns as f64 / 1e9,
        until: (work.stop_ns as f64 / 1e9).min(seconds),
        holds_all: true,
        holds_end: true,
    });
    let joined = |one: Window, other: Window| Window {
        from: one.from.min(other.from),
        until: one.until.max(other.until),
        holds_all: true,
        holds_end: true,
    };
    silent.filter(|window| window.from < window.until).chain(told).reduce(joined)
}

/// From the first to the last thing that a workload did; nothing where none left a trace of when that was.
fn activity(plan: &Plan, data: &RepeatData) -> Option<Window> {
    let mut active = Window { from: f64::INFINITY, until: 0.0, holds_all: true, holds_end: true };
    let mut note = |from: f64, until: f64| {
        active.from = active.from.min(from);
        active.until = active.until.max(until);
    };
    for transfer in data.transfers.values().flat_map(|table| &table.transfers) {
        if let Some(start) = transfer.start {
            note(start, transfer.stop.unwrap_or(data.seconds));
        }
    }
    for (at, round_trip) in data.pings.values().flat_map(|table| &table.pings) {
        note(*at, at + round_trip.unwrap_or(0.0) / 1e3);
    }
    // They were waited for until the end.
    data.pings.values().flat_map(|table| &table.open).for_each(|at| note(*at, data.seconds));
    for workload in plan.workloads.iter().filter(|work| matches!(work.does, Activity::Consume(_))) {
        let stop = (workload.stop_ns as f64 / 1e9).min(data.seconds);
        note(workload.start_ns as f64 / 1e9, all_there(data, &workload.name).map_or(stop, |at| at.min(stop)));
    }
    for workload in &plan.workloads {
        let Some(table) = data.floods.get(&workload.name) else { continue };
        // What it asks for stays pending until its end.
        if matches!(workload.does, Activity::Flood { until, .. } if until > 0) && !table.rows.is_empty() {
            note(workload.start_ns as f64 / 1e9, workload.stop_ns as f64 / 1e9);
        }
    }
    (active.from < active.until).then_some(active)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// What counts of a repeat of 20 seconds with these workloads, none of which has left a trace.
    fn of(workloads: &str) -> Measured {
        let head = "title = 't'\nduration = '20 s'\n[node]\na = {}\nb = {}\n[link]\na-b = {}\n";
        let plans = Experiment::parse("t", "t.toml", &format!("{head}{workloads}")).unwrap().plans("netns");
        measured(&plans.unwrap()[0], &RepeatData { seconds: 20.0, ..RepeatData::default() })
    }

    const LOAD: &str = "[load.l]\nat = 'b'\nbusy = '1 s'\nidle = '1 s'\nstart = '3 s'\n";
    const ASKS: &str = "[registration.r]\nat = 'a'\nto = 'b'\nprefix = '/x'\nstart = '6 s'\n";

    #[test]
    fn who_leaves_no_trace_was_active_as_long_as_it_was_to_be() {
        let from = |workloads: &str| of(workloads).active.map(|window| (window.from, window.until));
        assert_eq!(from(LOAD), Some((3.0, 20.0)));
        assert_eq!(from(ASKS), Some((6.0, 20.0)));
        assert_eq!(from(&format!("{ASKS}{LOAD}")), Some((3.0, 20.0)));
        assert_eq!(from(&format!("{ASKS}attempts = 0\n")), None);
        assert_eq!(from(""), None);
    }

    #[test]
    fn who_leaves_no_trace_does_not_say_what_counts() {
        let Measured { window, .. } = of(LOAD);
        assert_eq!((window.from, window.until), (0.0, 20.0));
    }
}
