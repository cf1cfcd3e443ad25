//! What `check` tells of a statement that is sound: that no result of this file meets it, so that a run
//! contradicts it; or that the repeats of a run hardly say how rare losses spread.

use super::certain::expected_losses;
use super::decided::{self, here};
use crate::experiment::backends;
use crate::experiment::backends::VIRTUAL_TIME;
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Plan;
use crate::experiment::read::Experiment;
use crate::experiment::read::findings::Finding;

/// Of so many lost packets in all repeats of a run together their spread shows itself.
pub(crate) const ENOUGH_LOSSES: f64 = 20.0;

/// All notes of an experiment, each at its statement.
pub(in crate::experiment) fn notes(experiment: &Experiment) -> Vec<Finding> {
    let mut notes: Vec<Finding> = Vec::new();
    let backends = backends::ALL.iter().filter(|backend| experiment.can_run_on(backend).is_ok());
    for backend in backends {
        let plans = experiment.plans(backend).unwrap_or_default();
        for plan in plans.iter().filter(|plan| plan.control.is_none()) {
            for (place, expect) in experiment.file.expect.iter().enumerate() {
                let key = format!("expect.{place}");
                if plan.evaluation.expectations.contains(expect) {
                    of_statement(plan, *backend == VIRTUAL_TIME, expect, &key, &mut notes);
                }
                of_rare_losses(plan, expect, &key, &mut notes);
            }
        }
    }
    notes
}

fn of_statement(plan: &Plan, is_virtual: bool, expect: &Expect, key: &str, notes: &mut Vec<Finding>) {
    if expect.not_testable.is_some() {
        return;
    }
    let Some(measure) = here(plan, &expect.value) else { return };
    let case = if plan.case.is_empty() { String::new() } else { format!(" [{}]", plan.case) };
    // What a reason says makes nothing so that the file leaves no room for.
    let whatever = expect.by_construction.as_ref().map_or("", |_| ", whatever `by_construction` says");
    for bound in decided::bounds(plan, expect, &measure, is_virtual) {
        let key = format!("{key}.{}", bound.field);
        // Of several cases the first is told.
        if !bound.is_mistake() && !notes.iter().any(|note| note.key == key) {
            let message =
                format!("a note, no mistake: {}{case}; the run contradicts it{whatever}", bound.message);
            notes.push(Finding { key, message, ..Finding::default() });
        }
    }
}

/// That losses are rare in a measure of a statement, on either side: of this case, also where the statement
/// stands in another one.
fn of_rare_losses(plan: &Plan, expect: &Expect, key: &str, notes: &mut Vec<Finding>) {
    let is_elsewhere = plan.evaluation.elsewhere.contains(expect);
    if is_elsewhere || expect.not_testable.is_some() || expect.by_construction.is_some() {
        return;
    }
    let is_here = plan.evaluation.expectations.contains(expect);
    let measures = [("value", expect.value.as_str())].into_iter().chain(expect.others());
    for (field, text) in measures {
        let Some(measure) = here(plan, text).filter(|measure| is_here || measure.case.is_some()) else {
            continue;
        };
        let Some(losses) = rare_losses(plan, &measure) else { continue };
        let key = format!("{key}.{field}");
        if !notes.iter().any(|note| note.key == key) {
            let case = if plan.case.is_empty() { String::new() } else { format!(" [{}]", plan.case) };
            let words = rare_words(plan.schedule.repeats, losses);
            let message = format!("a note, no mistake: {words}{case}");
            let suggestion = "take more repeats, or state a part that is counted, such as `loss`".to_owned();
            notes.push(Finding { key, message, suggestion: Some(suggestion), ..Finding::default() });
        }
    }
}

/// How many lost packets are to be expected in all repeats of a plan, where that is so few that how the
/// numbers of repeats spread may not have shown itself; nothing where losses are counted anyway, or nothing
/// is lost by chance.
pub(crate) fn rare_losses(plan: &Plan, measure: &Measure) -> Option<f64> {
    let is_counted = crate::analysis::is_counted(plan, &measure.subject, &measure.quantity);
    let losses = expected_losses(plan, measure)? * f64::from(plan.schedule.repeats);
    // Of a single repeat there is no spread anyway.
    let is_rare = losses > 0.0 && losses < ENOUGH_LOSSES && plan.schedule.repeats > 1;
    (!is_counted && is_rare).then_some(losses)
}

/// The same in words.
pub(crate) fn rare_words(repeats: u32, losses: f64) -> String {
    let some = if losses < 1.5 { "less than 2".to_owned() } else { format!("some {losses:.0}") };
    format!(
        "losses are rare: {some} lost packets are to be expected in all {repeats} repeats together, and with fewer \
         than {ENOUGH_LOSSES} the repeats may not show how they spread"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &str = r#"
title = "t"
duration = "15 s"
until_done = true
[node]
a = {}
b = { cpu = "20 %" }
[link]
a-b = { rate = "50 Mbit/s", delay = "2 ms", loss = "0.2 %" }
[[route]]
prefix = "/f"
path = ["a", "b"]
[content.files]
prefix = "/f"
at = "b"
count = 5
size = "100 kB"
[download.files]
at = "a"
content = "files"
"#;

    fn told(head: &str, value: &str, bound: &str) -> Vec<String> {
        let text = format!("{head}{FILES}[[expect]]\nsay = \"So\"\nvalue = \"{value}\"\n{bound}\n");
        let experiment = Experiment::parse("x", "x.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        experiment.notes().list.into_iter().map(|note| format!("{}: {}", note.line, note.message)).collect()
    }

    #[test]
    fn what_no_result_meets_is_sound_and_told_at_its_line() {
        let notes = told("", "b.cpu.mean", "at_least = \"30 %\"");
        let never = notes.iter().find(|note| note.contains("no result is as stated (30)"));
        assert!(never.is_some_and(|note| note.starts_with("24: ")), "{notes:?}");
        assert!(never.is_some_and(|note| note.ends_with("; the run contradicts it")), "{notes:?}");
        let notes = told("repeats = 60\n", "b.cpu.mean", "at_least = \"10 %\"");
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn a_bound_that_no_run_meets_is_told_beside_by_construction_too_and_one_that_all_meet_is_not() {
        let with = |bound: &str| {
            let reason = "by_construction = \"it has a share of 20 %: node.b.cpu\"";
            let notes = told("repeats = 60\n", "b.cpu.mean", &format!("{bound}\n{reason}"));
            notes.join("; ")
        };
        let never = with("at_least = \"30 %\"");
        assert!(never.contains("no result is as stated (30)"), "{never}");
        assert!(never.ends_with("the run contradicts it, whatever `by_construction` says"), "{never}");
        assert_eq!(with("at_most = \"20 %\""), "");
    }

    #[test]
    fn that_losses_are_rare_is_told_where_fewer_than_twenty_are_to_be_expected_in_all_repeats() {
        // 125 Interests and as many Data, of which one of 500 is lost: half a packet in a repeat.
        let notes = told("repeats = 6\n", "files.duration.mean", "at_most = 1");
        assert!(
            notes.iter().any(|note| note.contains("some 3 lost packets are to be expected in all 6")),
            "{notes:?}"
        );
        for (repeats, value, bound) in [(39, "files.duration.mean", 1), (40, "files.duration.mean", 1)] {
            let notes = told(&format!("repeats = {repeats}\n"), value, &format!("at_most = {bound}"));
            assert_eq!(notes.is_empty(), repeats == 40, "{notes:?}");
        }
        let notes = told("repeats = 6\n", "b.goodput", "less_than = \"files.goodput\"\ntimes = 2");
        let beside =
            notes.iter().any(|note| note.starts_with("25: ") && note.contains("some 3 lost packets"));
        assert!(beside, "the other side: {notes:?}");
        let notes = told("repeats = 6\n", "files.retransmissions", "at_most = 10");
        assert!(notes.is_empty(), "counted: {notes:?}");
    }
}
