//! The report's tables.

use std::fmt::Write;

use super::data::{CaseData, RunData};
use super::figures::SIX;
use super::scale::{short, with_unit};
use super::svg::escape;
use super::verdict::Verdict;
use crate::stats::Estimate;

/// A mean with its 95 % interval, in a unit.
fn interval(estimate: &Estimate, unit: &str, factor: f64) -> String {
    let mean = with_unit(estimate.mean * factor, unit);
    match estimate.half95 {
        Some(half) => format!("{mean} <span class=\"soft\">± {}</span>", with_unit(half * factor, unit)),
        None => mean,
    }
}

/// Expectations, met or missed.
pub(super) fn verdicts(list: &[Verdict]) -> String {
    let with_case = list.iter().any(|verdict| !verdict.case.is_empty());
    let mut out = String::from("<div class=\"wide\"><table><tr><th>expected</th>");
    if with_case {
        out.push_str("<th>case</th>");
    }
    out.push_str("<th>the paper</th><th>must be</th><th class=\"number\">measured</th><th></th></tr>\n");
    for verdict in list {
        let mark = match verdict.met {
            Some(true) => "<span class=\"yes\">met</span>",
            Some(false) => "<span class=\"no\">missed</span>",
            None => "<span class=\"no\">not measured</span>",
        };
        let measured = verdict.measured.map_or_else(
            || "–".to_owned(),
            |estimate| match estimate.half95 {
                Some(half) => format!("{} ± {}", short(estimate.mean), short(half)),
                None => short(estimate.mean),
            },
        );
        let case = if with_case { format!("<td>{}</td>", escape(&verdict.case)) } else { String::new() };
        let _ = writeln!(
            out,
            "<tr><td>{}<br><code class=\"soft\">{}</code></td>{case}<td>{}</td><td>{}</td>\
             <td class=\"number\">{measured}</td><td>{mark}</td></tr>",
            escape(&verdict.say),
            escape(&verdict.measure),
            escape(verdict.paper.as_deref().unwrap_or("–")),
            escape(&verdict.bound),
        );
    }
    out.push_str("</table></div>\n");
    out
}

/// Means of every node with their intervals over repeats.
pub(super) fn nodes(case: &CaseData) -> String {
    let mut out = String::from("<div class=\"wide\"><table><tr><th>node</th>");
    for quantity in SIX {
        let _ = write!(out, "<th class=\"number\">{}</th>", escape(quantity.title));
    }
    out.push_str("</tr>\n");
    for node in &case.plan.nodes {
        let _ = write!(out, "<tr><td>{}</td>", escape(&node.name));
        for quantity in SIX {
            let key = format!("{}.{}", node.name, quantity.key);
            let mean = case.estimate(&key, "mean");
            let most = case.estimate(&key, "max");
            let text = match (mean, most) {
                (Some(mean), Some(most)) => format!(
                    "{}<br><span class=\"soft\">most {}</span>",
                    interval(&mean, quantity.unit, quantity.factor),
                    with_unit(most.mean * quantity.factor, quantity.unit)
                ),
                _ => "–".to_owned(),
            };
            let _ = write!(out, "<td class=\"number\">{text}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

/// What each workload did.
pub(super) fn workloads(case: &CaseData) -> String {
    let quantities = [
        ("started", "begun", "", 1.0, "mean"),
        ("finished", "done or answered", "", 1.0, "mean"),
        ("loss", "not done", "%", 1.0, "mean"),
        ("goodput", "goodput", "bit/s", 8.0, "mean"),
        ("duration", "time for one", "s", 1.0, "mean"),
        ("rtt", "round trip, median", "ms", 1.0, "median"),
        ("rtt", "round trip, 99 %", "ms", 1.0, "p99"),
        ("retransmissions", "sent again", "", 1.0, "mean"),
        ("nacks", "Nacks", "", 1.0, "mean"),
    ];
    let used: Vec<_> = quantities
        .iter()
        .filter(|(key, .., summary)| {
            case.plan
                .workloads
                .iter()
                .any(|workload| case.estimate(&format!("{}.{key}", workload.name), summary).is_some())
        })
        .collect();
    if used.is_empty() {
        return String::new();
    }
    let mut out = String::from("<div class=\"wide\"><table><tr><th>workload</th>");
    for (_, title, ..) in &used {
        let _ = write!(out, "<th class=\"number\">{title}</th>");
    }
    out.push_str("</tr>\n");
    for workload in &case.plan.workloads {
        let _ = write!(out, "<tr><td>{}</td>", escape(&workload.name));
        for (key, _, unit, factor, summary) in &used {
            let estimate = case.estimate(&format!("{}.{key}", workload.name), summary);
            let text = estimate.map_or_else(|| "–".to_owned(), |estimate| interval(&estimate, unit, *factor));
            let _ = write!(out, "<td class=\"number\">{text}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

/// Gates of every repeat.
pub(super) fn gates(run: &RunData) -> String {
    let mut out = String::from(
        "<div class=\"wide\"><table><tr><th>case</th><th>repeat</th><th>gate</th><th class=\"number\">found</th><th></th></tr>\n",
    );
    for case in &run.cases {
        for (repeat, result) in case.results.iter().enumerate() {
            for gate in &result.gates {
                let mark = if gate.passed {
                    "<span class=\"yes\">passed</span>"
                } else {
                    "<span class=\"no\">not valid</span>"
                };
                let _ = writeln!(
                    out,
                    "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{mark}</td></tr>",
                    escape(&case.plan.case),
                    repeat + 1,
                    escape(&gate.name),
                    gate.words(),
                );
            }
        }
    }
    out.push_str("</table></div>\n");
    out
}
