//! What a verdict rests on as numbers, for programs: beside each text of a row.

use serde::Serialize;
use toml::Value;

use super::evaluation::Evaluation;
use super::{Verdict, controls_of};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::figure::number::written_in;
use crate::report::data::{CaseData, RunData};
use crate::stats::Interval;

/// What was measured and what it was held against, all in the unit that words have it in, but for its prefix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerdictNumbers {
    /// Of all numbers here; empty for bare ones.
    pub unit: &'static str,
    /// Over the repeats that count.
    pub mean: f64,
    /// Of how many repeats it is.
    pub repeats: u64,
    /// The 95 % interval; nothing when nobody can say.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Is it a single number that nothing random has touched?
    pub exact: bool,
    /// What it was held against.
    pub bounds: Vec<BoundNumber>,
    /// What was measured in its controls.
    pub controls: Vec<ControlNumber>,
}

/// One bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundNumber {
    /// The key of the experiment's file.
    pub key: &'static str,
    /// The number; nothing where it is a measure that was not measured.
    pub number: Option<f64>,
    /// The measure that the number is of, where it was measured.
    pub measure: Option<String>,
    /// How far from the number is as good as there, as a part of it.
    pub margin: Option<f64>,
}

/// What was measured in a control.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ControlNumber {
    /// Its name.
    pub name: String,
    /// The mean over the repeats that count; nothing where there are none.
    pub mean: Option<f64>,
    /// The 95 % interval; nothing when nobody can say.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Whether the statement failed there, in words.
    pub outcome: String,
}

/// The numbers of a verdict; nothing where nothing was measured.
pub(in crate::report) fn numbers(run: &RunData, verdict: &Verdict) -> Option<VerdictNumbers> {
    let estimate = verdict.measured?;
    let measure: Measure = verdict.measure.parse().ok()?;
    let mut stated = run.cases.iter().flat_map(|case| {
        let evaluation = &case.plan.evaluation;
        evaluation.expectations.iter().chain(&evaluation.elsewhere).map(move |expect| (case, expect))
    });
    let is_it = |(case, expect): &(&CaseData, &Expect)| {
        let is_here = measure.case.is_some() || case.plan.case == verdict.case;
        is_here && expect.say == verdict.say && expect.value == verdict.measure
    };
    let (case, expect) = stated.find(is_it)?;
    let mean_of = |control: Option<&str>, measure: &Measure| {
        let evaluation = Evaluation { run, control };
        Some(evaluation.estimate(case, measure)?.mean).filter(|mean| mean.is_finite())
    };
    let finite = |interval: &Interval| interval.low.is_finite() && interval.high.is_finite();
    let of_control = |control: &crate::experiment::model::Control| {
        let evaluation = Evaluation { run, control: Some(&control.name) };
        let found = evaluation.sample(case, &measure).as_ref().and_then(super::interval).filter(finite);
        ControlNumber {
            name: control.name.clone(),
            mean: mean_of(Some(&control.name), &measure),
            low: found.map(|interval| interval.low),
            high: found.map(|interval| interval.high),
            outcome: super::control_outcome(run, case, expect, &measure, control),
        }
    };
    let interval = verdict.interval.filter(finite);
    let has_width = interval.is_some_and(|interval| interval.high > interval.low);
    let (unit, factor) = written_in(measure.unit_in(&case.plan));
    let numbers = VerdictNumbers {
        unit,
        mean: estimate.mean,
        repeats: estimate.count,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        exact: interval.is_some() && !has_width && estimate.count == 1 && estimate.orders.is_none(),
        bounds: bounds(expect, |text| mean_of(None, &text.parse().ok()?)),
        controls: controls_of(run, expect).map(of_control).collect(),
    };
    Some(numbers.times(factor))
}

impl VerdictNumbers {
    /// The same in another unit.
    fn times(mut self, factor: f64) -> Self {
        let of_bounds = self.bounds.iter_mut().map(|bound| &mut bound.number);
        let of_controls = self
            .controls
            .iter_mut()
            .flat_map(|control| [&mut control.mean, &mut control.low, &mut control.high]);
        let others = [&mut self.low, &mut self.high].into_iter().chain(of_bounds).chain(of_controls);
        others.flatten().chain([&mut self.mean]).for_each(|number| *number *= factor);
        self
    }
}

/// The bounds that a statement has.
fn bounds(expect: &Expect, mean: impl Fn(&str) -> Option<f64>) -> Vec<BoundNumber> {
    let times = expect.times.unwrap_or(1.0);
    let limit = |(key, value): (&'static str, &Option<Value>)| {
        let (number, measure) = match value.as_ref()? {
            Value::String(text) => (mean(text).map(|mean| mean * times), Some(text.clone())),
            Value::Integer(number) => (Some(*number as f64 * times), None),
            Value::Float(number) => (Some(number * times), None),
            _ => return None,
        };
        Some(BoundNumber { key, number, measure, margin: None })
    };
    let limits = [
        ("at_least", &expect.at_least),
        ("at_most", &expect.at_most),
        ("more_than", &expect.more_than),
        ("less_than", &expect.less_than),
    ];
    let mut list: Vec<BoundNumber> = limits.into_iter().filter_map(limit).collect();
    list.extend(expect.about_number().map(|about| BoundNumber {
        key: "about",
        number: Some(about),
        measure: None,
        margin: Some(expect.within.map_or(0.2, |share| share.0)),
    }));
    list.extend(expect.same_as.as_ref().map(|text| BoundNumber {
        key: "same_as",
        number: mean(text).map(|mean| mean * times),
        measure: Some(text.clone()),
        margin: Some(expect.margin.map_or(0.05, |share| share.0)),
    }));
    for (key, chain) in [("falls", &expect.falls), ("rises", &expect.rises)] {
        list.extend(chain.iter().map(|text| BoundNumber {
            key,
            number: mean(text),
            measure: Some(text.clone()),
            margin: None,
        }));
    }
    list
}
