//! Expectations against what was measured.

use toml::Value;

use super::data::{CaseData, RunData};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::figure::number::with_unit;
use crate::stats::Estimate;

/// One expectation and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The case it was judged in.
    pub case: String,
    /// What was expected, in a sentence.
    pub say: String,
    /// What the paper says.
    pub paper: Option<String>,
    /// The measure.
    pub measure: String,
    /// What was measured.
    pub measured: Option<Estimate>,
    /// The unit of the measure, and of numbers it is held against.
    pub unit: &'static str,
    /// What it had to be, in words.
    pub bound: String,
    /// Was it so? Nothing when it was not measured.
    pub met: Option<bool>,
}

impl Verdict {
    /// What was measured with its unit, and half the width of its 95 % confidence interval where there are repeats.
    #[must_use]
    pub fn found(&self) -> (String, Option<String>) {
        let words = |number: f64| with_unit(number, self.unit);
        match self.measured {
            Some(estimate) => (words(estimate.mean), estimate.half95.map(words)),
            None => ("–".to_owned(), None),
        }
    }
}

/// The unit that a measure is written in, in expectations and in `results.csv`.
fn unit(measure: &Measure) -> &'static str {
    match (measure.quantity.as_str(), measure.summary.as_str()) {
        (_, "count") => "",
        ("cpu" | "busy" | "waited" | "load" | "loss", _) => "%",
        ("rtt", _) => "ms",
        ("duration", _) => "s",
        ("memory", _) => "B",
        ("propagated" | "noted", summary) if summary != "sum" => "1/s",
        ("goodput" | "goodput_interests" | "throughput" | "throughput_interests", "sum") => "B",
        ("goodput" | "goodput_interests" | "throughput" | "throughput_interests", _) => "B/s",
        _ => "",
    }
}

/// Judges every expectation of a run.
#[must_use]
pub fn verdicts(run: &RunData) -> Vec<Verdict> {
    let mut list: Vec<Verdict> = Vec::new();
    for case in &run.cases {
        for expect in &case.plan.expectations {
            let Ok(measure) = expect.value.parse::<Measure>() else { continue };
            // A measure that names its case is judged once, and not in every case again.
            let elsewhere = measure.case.as_ref().is_some_and(|name| *name != case.plan.case);
            if !elsewhere {
                list.push(judge(run, case, expect, &measure));
            }
        }
    }
    list
}

fn find<'a>(run: &'a RunData, here: &'a CaseData, measure: &Measure) -> Option<&'a CaseData> {
    match &measure.case {
        Some(name) => run.cases.iter().find(|case| case.plan.case == *name),
        None => Some(here),
    }
}

fn estimate(run: &RunData, here: &CaseData, measure: &Measure) -> Option<Estimate> {
    find(run, here, measure)?.estimate(&format!("{}.{}", measure.subject, measure.quantity), &measure.summary)
}

/// A bound as a number, and in words.
fn bound(run: &RunData, here: &CaseData, value: &Value, times: f64, unit: &str) -> Option<(f64, String)> {
    let plain = |number: f64| Some((number * times, with_unit(number * times, unit)));
    match value {
        Value::Integer(number) => plain(*number as f64),
        Value::Float(number) => plain(*number),
        Value::String(text) => {
            let measure: Measure = text.parse().ok()?;
            let other = estimate(run, here, &measure)?.mean * times;
            let factor = if (times - 1.0).abs() < 1e-9 { String::new() } else { format!("{times} × ") };
            Some((other, format!("{factor}{text} = {}", with_unit(other, unit))))
        }
        _ => None,
    }
}

/// A bound as the file has it, for when it could not be measured.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn judge(run: &RunData, case: &CaseData, expect: &Expect, measure: &Measure) -> Verdict {
    let measured = estimate(run, case, measure);
    let times = expect.times.unwrap_or(1.0);
    let unit = unit(measure);
    let mut words = Vec::new();
    let mut met = measured.map(|_| true);
    let mut check = |holds: Option<bool>| {
        met = match (met, holds) {
            (Some(before), Some(now)) => Some(before && now),
            _ => None,
        };
    };
    let value = measured.map(|estimate| estimate.mean);
    if let Some(least) = &expect.at_least {
        let bound = bound(run, case, least, times, unit);
        check(bound.as_ref().and_then(|(least, _)| Some(value? >= *least)));
        words.push(format!("at least {}", bound.map_or_else(|| written(least), |(_, words)| words)));
    }
    if let Some(most) = &expect.at_most {
        let bound = bound(run, case, most, times, unit);
        check(bound.as_ref().and_then(|(most, _)| Some(value? <= *most)));
        words.push(format!("at most {}", bound.map_or_else(|| written(most), |(_, words)| words)));
    }
    if let Some(about) = expect.about {
        let part = expect.within.map_or(0.2, |share| share.0);
        check(value.map(|value| (value - about).abs() <= about.abs() * part));
        words.push(format!("{} within {:.0} %", with_unit(about, unit), part * 100.0));
    }
    Verdict {
        case: measure.case.clone().unwrap_or_else(|| case.plan.case.clone()),
        say: expect.say.clone(),
        paper: expect.paper.clone(),
        measure: expect.value.clone(),
        measured,
        unit,
        bound: words.join(" and "),
        met,
    }
}
