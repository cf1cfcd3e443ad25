//! What a run would have to note down if it lasted as long as its file says, where no memory holds it.

use crate::experiment::plan::{Activity, Plan};
use crate::experiment::read::findings::Finding;

/// Samples of all forwarders together, each a line of some hundred bytes.
const MOST_SAMPLES: u64 = 50_000_000;

/// Times that a competing load begins, and ends.
const MOST_TURNS: u64 = 1_000_000;

/// Samples until the end, where the run does not end with its work, and turns of competing loads.
pub(super) fn of_plan(plan: &Plan) -> Vec<Finding> {
    let (duration_ns, every_ns) = (plan.schedule.duration_ns, plan.recording.sample_every_ns.max(1));
    let mut findings = Vec::new();
    let samples = (duration_ns / every_ns).saturating_mul(plan.nodes.len() as u64);
    if samples > MOST_SAMPLES && !plan.schedule.until_done {
        findings.push(Finding {
            key: "duration".to_owned(),
            message: format!(
                "forwarders would be asked {samples} times until then, of {MOST_SAMPLES} at most"
            ),
            suggestion: Some("set `until_done`, or a longer `sample_every`".to_owned()),
            ..Finding::default()
        });
    }
    for workload in &plan.workloads {
        let Activity::Load { busy_ns, idle_ns, .. } = workload.does else { continue };
        let turns = duration_ns.saturating_sub(workload.start_ns) / busy_ns.saturating_add(idle_ns).max(1);
        if turns > MOST_TURNS {
            findings.push(Finding {
                key: format!("load.{}", workload.name),
                message: format!("it would be busy {turns} times until the end, of {MOST_TURNS} at most"),
                suggestion: Some("let `duration` be shorter, or `busy` and `idle` longer".to_owned()),
                ..Finding::default()
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use testkit::experiment::ROW;

    use crate::experiment::Experiment;

    #[test]
    fn what_no_memory_holds_is_refused_and_a_long_run_that_ends_with_its_work_is_not() {
        let refused = |head: &str, rest: &str| {
            let text = format!("title = 't'\n{head}\n{ROW}\n{rest}");
            Experiment::parse("t", "t.toml", &text).err().map(|problems| problems.to_string())
        };
        let load = |busy: &str| format!("[load.l]\nat = 'b'\ncpu = '50 %'\nbusy = '{busy}'\nidle = '1 s'\n");
        assert_eq!(refused("duration = '500000 h'\nuntil_done = true", ""), None);
        let endless = refused("duration = '500000 h'", "").unwrap_or_default();
        assert!(endless.contains("10800000000 times") && endless.contains("until_done"), "{endless}");
        assert_eq!(refused("duration = '500 h'", &load("1 s")), None);
        let busy = refused("duration = '500000 h'\nuntil_done = true", &load("1 s")).unwrap_or_default();
        assert!(busy.contains("load.l") && busy.contains("900000000 times"), "{busy}");
    }
}
