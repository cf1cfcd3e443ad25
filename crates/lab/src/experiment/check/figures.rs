//! Figures that an experiment asks for: what can be drawn, and what is wrong with what was asked.

use crate::experiment::measure::{NODE_SERIES, NODE_TOTALS, SUMMARIES};
use crate::experiment::model::File;
use crate::experiment::plan::{Activity, Plan, Workload};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Finding;

/// How a figure can be drawn.
pub(crate) const FORMS: &[&str] =
    &[OVER_TIME, "every-node", "per-node", "per-case", OVER_PARAMETER, ROUND_TRIPS];
/// The form that shows one node.
const OVER_TIME: &str = "over-time";
/// The form that shows measures over the values of the last sweep.
pub(crate) const OVER_PARAMETER: &str = "over-parameter";
/// The form that shows the round trips of workloads as boxes.
pub(crate) const ROUND_TRIPS: &str = "round-trips";
/// What it can show beside measures: downloads, from start to stop.
pub(crate) const TRANSFERS: &str = "transfers";
/// And the processes that compete with forwarders, while they are busy.
pub(crate) const LOADS: &str = "loads";

/// Measures of workloads that can be drawn over a parameter.
const DRAWN_OF_WORKLOADS: &[&str] = &["duration", "goodput", "rtt", "retransmissions"];

/// The workloads whose round trips are timed one by one.
fn timed(plan: &Plan) -> impl Iterator<Item = &str> {
    let is_timed = |does: &Activity| matches!(does, Activity::Ping { .. } | Activity::Traffic { .. });
    plan.workloads.iter().filter(move |one| is_timed(&one.does)).map(|one| one.name.as_str())
}

/// What is wrong with the figures of a file.
pub(in crate::experiment) fn findings(file: &File, plan: &Plan, cases: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, figure) in file.figure.iter().enumerate() {
        let mut word = |field: &str, given: &str, what: &str, known: &[&str]| {
            if !known.contains(&given) {
                findings.push(Finding {
                    key: format!("figure.{number}.{field}"),
                    message: format!("`{given}` is not {what}"),
                    suggestion: Some(suggest(given, known)),
                    ..Finding::default()
                });
            }
        };
        word("form", &figure.form, "a form of figures", FORMS);
        let mut shown: Vec<&str> = NODE_SERIES.iter().map(|(key, _)| *key).collect();
        if figure.form == OVER_TIME {
            shown.extend([TRANSFERS, LOADS]);
        }
        let mut subjects: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut what = ("measured of a node", "a node");
        if figure.form == OVER_PARAMETER {
            let workload =
                plan.measured().find(|workload| figure.at.as_deref() == Some(workload.measured_as()));
            if workload.is_some() {
                shown = DRAWN_OF_WORKLOADS.to_vec();
                what.0 = "drawn of a workload";
            } else {
                shown.extend(NODE_TOTALS.iter().map(|(key, _)| *key));
            }
            subjects.extend(plan.measured().map(Workload::measured_as));
            what.1 = "a node or a workload";
        }
        let timed: Vec<&str> = timed(plan).collect();
        for key in &figure.show {
            match figure.form.as_str() {
                ROUND_TRIPS => word("show", key, "a ping or traffic", &timed),
                _ => word("show", key, what.0, &shown),
            }
        }
        if let Some(at) = &figure.at {
            word("at", at, what.1, &subjects);
        }
        if figure.form == OVER_PARAMETER && file.sweep.is_empty() {
            findings.push(Finding {
                key: format!("figure.{number}.form"),
                message: "there is no sweep, and so no parameter".to_owned(),
                suggestion: Some("add a [[sweep]] over the key that is the parameter".to_owned()),
                ..Finding::default()
            });
            continue;
        }
        if let Some(of) = &figure.of {
            word("of", of, "a summary", SUMMARIES);
        }
        if let Some(text) =
            figure.cases.as_ref().filter(|text| !cases.iter().any(|case| case.contains(*text)))
        {
            findings.push(Finding {
                key: format!("figure.{number}.cases"),
                message: format!("no case's name holds `{text}`"),
                suggestion: Some(format!("there are: {}", cases.join("; "))),
                ..Finding::default()
            });
        }
    }
    findings
}
