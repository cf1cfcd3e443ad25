//! What a verdict rests on as numbers, for programs: beside each text of a row.

use serde::Serialize;
use toml::Value;

use super::evaluation::{DecidingInterval, Evaluation};
use super::{Verdict, controls_of};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::figure::number::written_in;
use crate::report::data::{CaseData, RunData};
use crate::stats::{Interval, Level};

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
    /// Where it is a measure, the interval of the difference to it that decides; in a chain of the one before
    /// less this. Nothing where there is none, as of exact numbers and of few orders, and where few or equal
    /// repeats leave this end open.
    pub difference_low: Option<f64>,
    /// Its upper end.
    pub difference_high: Option<f64>,
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
        // One sentence may be stated twice, with other bounds.
        let bound = || Evaluation { run, control: None }.words(case, expect, verdict.unit);
        let is_same = expect.say == verdict.say && expect.value == verdict.measure;
        is_here && is_same && (expect.not_testable.is_some() || bound() == verdict.bound)
    };
    let (case, expect) = stated.find(is_it)?;
    let finite = |interval: &Interval| interval.low.is_finite() && interval.high.is_finite();
    let of_control = |control: &crate::experiment::model::Control| {
        let evaluation = Evaluation { run, control: Some(&control.name) };
        let found = evaluation.sample(case, &measure).as_ref().and_then(super::interval).filter(finite);
        ControlNumber {
            name: control.name.clone(),
            mean: mean(evaluation, case, &measure),
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
        bounds: bounds(
            expect,
            &Compared {
                evaluation: Evaluation { run, control: None },
                case,
                by_construction: expect.by_construction.is_some(),
            },
        ),
        controls: controls_of(run, expect).map(of_control).collect(),
    };
    Some(numbers.times(factor))
}

impl VerdictNumbers {
    /// The same in another unit.
    fn times(mut self, factor: f64) -> Self {
        let of_bounds = self
            .bounds
            .iter_mut()
            .flat_map(|bound| [&mut bound.number, &mut bound.difference_low, &mut bound.difference_high]);
        let of_controls = self
            .controls
            .iter_mut()
            .flat_map(|control| [&mut control.mean, &mut control.low, &mut control.high]);
        let others = [&mut self.low, &mut self.high].into_iter().chain(of_bounds).chain(of_controls);
        others.flatten().chain([&mut self.mean]).for_each(|number| *number *= factor);
        self
    }
}

fn mean(evaluation: Evaluation<'_>, case: &CaseData, measure: &Measure) -> Option<f64> {
    Some(evaluation.estimate(case, measure)?.mean).filter(|mean| mean.is_finite())
}

/// Where bounds that are measures are looked up.
struct Compared<'a> {
    evaluation: Evaluation<'a>,
    case: &'a CaseData,
    by_construction: bool,
}

impl Compared<'_> {
    /// So many times a measure that another is held against.
    fn bound(&self, key: &'static str, pair: [&str; 2], times: f64, level: Level) -> BoundNumber {
        let [_, other] = pair;
        let found = other.parse().ok().and_then(|other: Measure| mean(self.evaluation, self.case, &other));
        let difference = self.evaluation.difference(self.case, pair, times, level, self.by_construction);
        let [low, high] = difference.map_or([None; 2], DecidingInterval::ends);
        BoundNumber {
            key,
            number: found.map(|mean| mean * times),
            measure: Some(other.to_owned()),
            margin: None,
            difference_low: low,
            difference_high: high,
        }
    }
}

/// A bound that is a number.
fn number(key: &'static str, number: f64) -> BoundNumber {
    let number = Some(number);
    BoundNumber { key, number, measure: None, margin: None, difference_low: None, difference_high: None }
}

/// The bounds that a statement has.
fn bounds(expect: &Expect, compared: &Compared<'_>) -> Vec<BoundNumber> {
    let times = expect.times.unwrap_or(1.0);
    let value = expect.value.as_str();
    let limit = |(key, bound): (&'static str, &Option<Value>)| match bound.as_ref()? {
        Value::String(text) => Some(compared.bound(key, [value, text.as_str()], times, Level::NinetyFive)),
        Value::Integer(bound) => Some(number(key, *bound as f64 * times)),
        Value::Float(bound) => Some(number(key, bound * times)),
        _ => None,
    };
    let limits = [
        ("at_least", &expect.at_least),
        ("at_most", &expect.at_most),
        ("more_than", &expect.more_than),
        ("less_than", &expect.less_than),
    ];
    let mut list: Vec<BoundNumber> = limits.into_iter().filter_map(limit).collect();
    list.extend(expect.about_number().map(|about| BoundNumber {
        margin: Some(expect.within.map_or(0.2, |share| share.0)),
        ..number("about", about)
    }));
    list.extend(expect.same_as.as_ref().map(|text| BoundNumber {
        margin: Some(expect.margin.map_or(0.05, |share| share.0)),
        ..compared.bound("same_as", [value, text.as_str()], times, Level::Ninety)
    }));
    for (key, chain) in [("falls", &expect.falls), ("rises", &expect.rises)] {
        let before = std::iter::once(&expect.value).chain(chain);
        let pairs = before.zip(chain).map(|(before, text)| [before.as_str(), text.as_str()]);
        list.extend(pairs.map(|pair| compared.bound(key, pair, 1.0, Level::NinetyFive)));
    }
    list
}
