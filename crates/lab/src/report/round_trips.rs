//! Boxes of round trips: all that a workload has timed in a case, from the shortest to the longest.

use super::data::{CaseData, RunData};
use super::facet::facet;
use crate::experiment::model;
use crate::figure::{Axis, BoxChart, BoxGroup, Data, Drawing, Frame, Quartiles};

/// The numbers behind such a figure.
#[derive(Default)]
pub(super) struct Boxes {
    cases: Vec<String>,
    workloads: Vec<String>,
    numbers: [Vec<f64>; 5],
}

impl Boxes {
    fn add(&mut self, case: &CaseData, workload: &str, of: &Quartiles) {
        self.cases.push(case.plan.case.clone());
        self.workloads.push(workload.to_owned());
        let five = [of.low, of.lower, of.median, of.upper, of.high];
        for (list, number) in self.numbers.iter_mut().zip(five) {
            list.push(number);
        }
    }

    pub(super) fn data(self) -> Data {
        let names = ["least (ms)", "quarter (ms)", "median (ms)", "three quarters (ms)", "most (ms)"];
        let data = Data::default().words("case", self.cases).words("workload", self.workloads);
        names.into_iter().zip(self.numbers).fold(data, |data, (name, list)| data.numbers(name, list))
    }
}

/// A group for each case; with sweeps one for each of their values, with a box for each variant.
pub(super) fn chart(
    run: &RunData,
    wanted: &model::Figure,
    cases: &[&CaseData],
    boxes: &mut Boxes,
) -> Option<Drawing> {
    let mut parts = Vec::new();
    for workload in &wanted.show {
        let mut labels: Vec<String> = Vec::new();
        let mut groups: Vec<BoxGroup> = Vec::new();
        for case in cases {
            let (label, group) = facet(run, case);
            let Some(table) = case.shown.pings.get(workload) else { continue };
            let quartiles = Quartiles::of(&table.round_trips());
            if let Some(quartiles) = &quartiles {
                boxes.add(case, workload, quartiles);
            }
            let column = place(&mut labels, |known| *known == label, || label.clone());
            let empty = || BoxGroup { name: group.clone(), boxes: Vec::new() };
            let row = place(&mut groups, |known| known.name == group, empty);
            if let Some(group) = groups.get_mut(row) {
                group.boxes.resize(group.boxes.len().max(column + 1), None);
                if let Some(found) = group.boxes.get_mut(column) {
                    *found = quartiles;
                }
            }
        }
        if groups.iter().all(|group| group.boxes.iter().all(Option::is_none)) {
            continue;
        }
        for group in &mut groups {
            group.boxes.resize(labels.len(), None);
        }
        let y = Axis::new("round trip", "ms").logarithmic();
        let title = format!("Round trips of {workload}, from the shortest to the longest");
        let chart = BoxChart { title, x: String::new(), y, labels, groups };
        parts.push(chart.draw(Frame::new(super::figures::WIDE, 340.0)));
    }
    (!parts.is_empty()).then(|| Drawing::grid(&wanted.title, 1, 18.0, &parts))
}

/// The place of what is looked for in a list, at whose end it is put if it is not there.
fn place<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, made: impl FnOnce() -> T) -> usize {
    list.iter().position(is_it).unwrap_or_else(|| {
        list.push(made());
        list.len() - 1
    })
}
