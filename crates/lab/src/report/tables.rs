//! The report's tables.

use super::data::{CaseData, RunData};
use super::detailed::detailed;
use super::document::{Cell, Table, Tone};
use super::quantity::{Quantity, SIX};
use super::verdict::{ControlRow, Outcome, Verdict, controls as control_rows};
use crate::analysis::Gate;
use crate::experiment::plan::{Activity, NodePlan, Workload};
use crate::figure::number::{ROUNDING, drawn_orders, estimated, half_width, with_unit};
use crate::prose::sentence;
use crate::stats::Estimate;

/// A mean with its 95 % interval, in a unit.
fn interval(estimate: &Estimate, unit: &str, factor: f64) -> String {
    let estimate = estimate.times(factor);
    match estimated(estimate.half95, &estimate, unit) {
        (mean, Some(spread)) => format!("{mean} {spread}"),
        (mean, None) => mean,
    }
}

/// What numbers of a table rest on, each once, and numbered in the order in which they are first named.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// The marks of these notes, such as `[1, 3]`; nothing where there are none.
    fn marks(&mut self, notes: &[String]) -> Option<String> {
        let number = |note: &String| {
            let place = self.0.iter().position(|known| known == note).unwrap_or_else(|| {
                self.0.push(note.clone());
                self.0.len() - 1
            });
            (place + 1).to_string()
        };
        let numbers: Vec<String> = notes.iter().map(number).collect();
        (!numbers.is_empty()).then(|| format!("[{}]", numbers.join(",\u{a0}")))
    }

    fn written(self) -> Vec<String> {
        self.0.iter().enumerate().map(|(place, note)| format!("[{}] {}", place + 1, sentence(note))).collect()
    }
}

/// Expectations and what came of each, and notes on what numbers rest on, which stand below the table.
pub(super) fn verdicts(list: &[Verdict]) -> (Table, Vec<String>) {
    let with_case = list.iter().any(|verdict| !verdict.case.is_empty());
    let with_paper = list.iter().any(|verdict| verdict.paper.is_some());
    let mut table = Table::new(&["expected", "case", "the paper", "must be", "#measured", ""]);
    table.columns.retain(|(title, _)| match title.as_str() {
        "case" => with_case,
        "the paper" => with_paper,
        _ => true,
    });
    let mut notes = Notes::default();
    for verdict in list {
        let tone = match verdict.outcome {
            Outcome::Confirmed => Tone::Good,
            Outcome::Contradicted => Tone::Bad,
            Outcome::ByConstruction => Tone::Plain,
            Outcome::NotTestable => Tone::Soft,
        };
        let (found, half) = verdict.found();
        let marks = notes.marks(&verdict.details);
        let measured = Cell::new(found).with(half.into_iter().chain(marks).collect::<Vec<_>>().join(" "));
        let mut row = vec![Cell::new(verdict.say.as_str()).with(format!("`{}`", verdict.measure))];
        if with_case {
            row.push(Cell::new(verdict.case.as_str()));
        }
        if with_paper {
            row.push(Cell::new(verdict.paper.as_deref().unwrap_or("–")));
        }
        row.push(Cell::new(verdict.bound.as_str()));
        row.push(measured);
        row.push(Cell::new(verdict.said()).with(verdict.why.as_str()).toned(tone));
        table.rows.push(row);
    }
    (table, notes.written())
}

/// What each control took away, and what came of it; nothing when none is stated.
pub(super) fn controls(run: &RunData) -> Option<Table> {
    let mut table = Table::new(&["changed", "expected to fail", "#measured there", ""]);
    for ControlRow { changed, removes, say, found, outcome } in control_rows(run) {
        let changed = Cell::new(changed).with(format!("said by the file: without {removes}"));
        table.rows.push(vec![changed, say.into(), found.into(), outcome.into()]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Means and greatest values of every node.
pub(super) fn nodes(case: &CaseData) -> Table {
    let mut table = Table::new(&["node"]);
    let is_measured = |quantity: &&Quantity| {
        let key = |node: &NodePlan| format!("{}.{}", node.name, quantity.key);
        case.plan.nodes.iter().any(|node| case.estimate(&key(node), "mean").is_some())
    };
    let shown: Vec<&Quantity> = SIX.iter().filter(is_measured).collect();
    table.columns.extend(shown.iter().map(|quantity| (quantity.title.to_owned(), true)));
    for (_, node) in case.ordered_nodes() {
        let mut row = vec![Cell::new(node.name.as_str())];
        for quantity in &shown {
            let key = format!("{}.{}", node.name, quantity.key);
            row.push(match (case.estimate(&key, "mean"), case.estimate(&key, "max")) {
                (Some(mean), Some(most)) => Cell::new(interval(&mean, quantity.unit, quantity.factor))
                    .with(format!("most {}", with_unit(most.mean * quantity.factor, quantity.unit))),
                _ => Cell::new("–"),
            });
        }
        table.rows.push(row);
    }
    table
}

/// A number of a workload, as it is shown.
struct Value {
    /// What of it is measured.
    quantity: &'static str,
    title: &'static str,
    unit: &'static str,
    /// What makes the unit that is shown of that which is measured.
    factor: f64,
    summary: &'static str,
}

impl Value {
    const fn of(quantity: &'static str, title: &'static str, unit: &'static str) -> Self {
        Value { quantity, title, unit, factor: 1.0, summary: "mean" }
    }

    /// In bits, of what is measured in bytes.
    const fn in_bits(self) -> Self {
        Value { factor: 8.0, ..self }
    }

    const fn summed_up_as(self, summary: &'static str) -> Self {
        Value { summary, ..self }
    }
}

const OF_WORKLOADS: [Value; 11] = [
    Value::of("started", "begun", ""),
    Value::of("finished", "done or answered", ""),
    Value::of("loss", "not done", "%"),
    Value::of("goodput", "goodput", "bit/s").in_bits(),
    Value::of("throughput", "received", "bit/s").in_bits(),
    Value::of("fairness", "fairness", ""),
    Value::of("duration", "time for one", "s"),
    Value::of("rtt", "round trip, median", "ms").summed_up_as("median"),
    Value::of("rtt", "round trip, 99 %", "ms").summed_up_as("p99"),
    Value::of("retransmissions", "sent again", ""),
    Value::of("nacks", "Nacks", ""),
];

/// Workloads that are measured. A competing load is not, and often has the name of its node.
fn measured(case: &CaseData) -> impl Iterator<Item = &Workload> {
    case.plan.workloads.iter().filter(|workload| !matches!(workload.does, Activity::Load { .. }))
}

/// What each workload did; nothing when there is nothing to say.
pub(super) fn workloads(case: &CaseData) -> Option<Table> {
    let found =
        |name: &str, value: &Value| case.estimate(&format!("{name}.{}", value.quantity), value.summary);
    let is_used = |value: &&Value| measured(case).any(|work| found(&work.name, value).is_some());
    let used: Vec<&Value> = OF_WORKLOADS.iter().filter(is_used).collect();
    let mut table = Table::new(&["workload"]);
    table.columns.extend(used.iter().map(|value| (value.title.to_owned(), true)));
    for workload in measured(case) {
        let mut row = vec![Cell::new(workload.name.as_str())];
        for value in &used {
            let estimate = found(&workload.name, value);
            let text = |estimate: Estimate| interval(&estimate, value.unit, value.factor);
            row.push(estimate.map_or_else(|| Cell::new("–"), |estimate| Cell::new(text(estimate))));
        }
        table.rows.push(row);
    }
    (!used.is_empty()).then_some(table)
}

/// What became of Interests by prefix; nothing when the experiment names none.
pub(super) fn prefixes(case: &CaseData) -> Option<Table> {
    const COLUMNS: [(&str, &str); 5] = [
        ("asked", "Interests"),
        ("satisfied", "satisfied"),
        ("refused", "refused by a Nack"),
        ("timed_out", "timed out"),
        ("hits", "answered before the producer"),
    ];
    let mut table = Table::new(&["prefix"]);
    table.columns.extend(COLUMNS.map(|(_, title)| (title.to_owned(), true)));
    for prefix in &case.plan.evaluation.prefixes {
        let mut row = vec![Cell::new(format!("`{prefix}`"))];
        row.extend(COLUMNS.map(|(key, _)| {
            let estimate = case.estimate(&format!("{prefix}.{key}"), "mean");
            estimate.map_or_else(|| Cell::new("–"), |estimate| Cell::new(interval(&estimate, "", 1.0)))
        }));
        table.rows.push(row);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Each number of the two tables above over repeats: mean, deviation, and how well the mean is known.
pub(super) fn repeats(case: &CaseData) -> Table {
    let mut table = Table::new(&["of", "what", "#repeats", "#mean", "#deviation", "#± 90 %", "#± 95 %"]);
    let mut add = |of: &str, what: String, estimate: Option<Estimate>, unit: &str, factor: f64| {
        let Some(estimate) = estimate else { return };
        let number = |value: f64| Cell::new(with_unit(value * factor, unit));
        // No width at all says nothing of how well the mean is known.
        let width = |half: &f64| *half > ROUNDING * estimate.mean.abs();
        let half = |half: Option<f64>| {
            half.filter(width).map_or_else(
                || Cell::new("–"),
                |half| Cell::new(half_width(half * factor, estimate.mean * factor, unit)),
            )
        };
        table.rows.push(vec![
            of.into(),
            what.into(),
            match estimate.orders {
                Some(orders) => drawn_orders(orders.drawn).into(),
                None => estimate.count.to_string().into(),
            },
            number(estimate.mean),
            if estimate.count > 1 { number(estimate.deviation) } else { Cell::new("–") },
            half(estimate.half90),
            half(estimate.half95),
        ]);
    };
    for workload in measured(case) {
        for Value { quantity, title, unit, factor, summary } in OF_WORKLOADS {
            let estimate = case.estimate(&format!("{}.{quantity}", workload.name), summary);
            add(&workload.name, title.to_owned(), estimate, unit, factor);
        }
    }
    for node in &case.plan.nodes {
        for quantity in SIX {
            let key = format!("{}.{}", node.name, quantity.key);
            for (summary, word) in [("mean", "mean"), ("max", "greatest")] {
                let what = format!("{}, {word}", quantity.title);
                add(&node.name, what, case.estimate(&key, summary), quantity.unit, quantity.factor);
            }
        }
    }
    table
}

/// The gates of more cases than these are not all listed.
const MAX_LISTED: usize = 300;

/// Gates of every repeat.
pub(super) fn gates(run: &RunData) -> Table {
    let mut table = Table::new(&["case", "#repeat", "gate", "#found", "#allowed", ""]);
    let with_case = run.cases.len() > 1;
    if !with_case {
        table.columns.remove(0);
    }
    // Of very many cases those that are not valid, and those that are shown in detail.
    let shown = detailed(run);
    let is_listed = |place: usize, case: &CaseData| {
        run.cases.len() <= MAX_LISTED || !case.is_valid() || shown.contains(&place)
    };
    for (_, case) in run.cases.iter().enumerate().filter(|(place, case)| is_listed(*place, case)) {
        for (repeat, result) in case.results.iter().enumerate() {
            let tells_something =
                |gate: &&Gate| !(run.record.is_virtual() && gate.passed && gate.is_of_machine());
            for gate in result.gates.iter().filter(tells_something) {
                let (mark, tone) =
                    if gate.passed { ("passed", Tone::Good) } else { ("not valid", Tone::Bad) };
                let (found, allowed) = gate.found_and_allowed();
                let mut row = Vec::new();
                if with_case {
                    row.push(Cell::new(case.plan.case.as_str()));
                }
                row.extend([
                    (repeat + 1).to_string().into(),
                    gate.name.as_str().into(),
                    found.into(),
                    allowed.into(),
                    Cell::new(mark).toned(tone),
                ]);
                table.rows.push(row);
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_numbers_rest_on_is_noted_once_and_each_of_them_is_marked() {
        let mut notes = Notes::default();
        let [first, second] = ["samples every 100 ms".to_owned(), "repeats spread alike".to_owned()];
        assert_eq!(notes.marks(std::slice::from_ref(&first)).as_deref(), Some("[1]"));
        assert_eq!(notes.marks(&[second, first]).as_deref(), Some("[2,\u{a0}1]"));
        assert_eq!(notes.marks(&[]), None);
        assert_eq!(notes.written(), ["[1] Samples every 100 ms.", "[2] Repeats spread alike."]);
    }
}
