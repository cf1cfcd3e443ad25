//! What a report is made of, for programs that show it themselves: figures, and tables of results.

use std::collections::HashMap;

use formats::spelling;

use super::compose::document;
use super::data::{CaseData, RunData};
use super::verdict::{Verdict, verdicts};
use super::{factors, pdf};
use crate::analysis::RepeatResult;
use crate::experiment::measure::{Measure, MeasureError, SUMMARIES};
use crate::figure::{Data, Drawing};
use crate::stats::Estimate;

/// A figure of a report.
#[derive(Debug, Clone)]
pub struct ReportFigure {
    /// The name of its files.
    pub name: String,
    /// What is said of it. Words between backticks are code.
    pub caption: String,
    /// How it looks.
    pub drawing: Drawing,
    /// The numbers behind it.
    pub data: Option<Data>,
}

impl ReportFigure {
    /// As a page of its own.
    #[must_use]
    pub fn to_pdf(&self) -> Vec<u8> {
        pdf::figure(&self.drawing)
    }
}

/// The figures of a run's report, in their order.
#[must_use]
pub fn report_figures(run: &RunData) -> Vec<ReportFigure> {
    let document = document(run, &verdicts(run));
    let figures = document.figures().into_iter().map(|figure| ReportFigure {
        name: figure.name.clone(),
        caption: figure.caption.clone(),
        drawing: figure.drawing.clone(),
        data: figure.data.clone(),
    });
    figures.collect()
}

/// Why there is no table of a measure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownMeasure {
    /// It names none.
    #[error(transparent)]
    Format(#[from] MeasureError),
    /// None of the run.
    #[error("`{given}` was not measured in this run; {hint}")]
    NotMeasured {
        /// What was asked for.
        given: String,
        /// What there is.
        hint: String,
    },
}

/// How many drawn orders a number is of; 0 where it hangs on none.
fn drawn_orders(found: Option<Estimate>) -> i64 {
    let drawn = found.and_then(|found| found.orders).map_or(0, |orders| orders.drawn);
    i64::try_from(drawn).unwrap_or(i64::MAX)
}

/// A row for each case: what was varied, and of the measure, such as `files.goodput` or `n2.pending.max`, the
/// mean over valid repeats and how well it is known. The columns `low` and `high` are the ends of the 95 %
/// confidence interval; they are missing of a single repeat, and all numbers are of a case that has no valid
/// one. Where a number hangs on the order of what happens at one instant, or may do so, `drawn orders` says
/// of how many it is; of fewer than twenty there is no interval.
///
/// # Errors
///
/// A measure that no case has.
pub fn estimates_table(run: &RunData, measure: &str) -> Result<Data, UnknownMeasure> {
    let asked: Measure = measure.parse()?;
    let key = format!("{}.{}", asked.subject, asked.quantity);
    let is_mine = |case: &&CaseData| asked.case.as_ref().is_none_or(|name| *name == case.plan.case);
    let cases: Vec<&CaseData> = run.cases.iter().filter(is_mine).collect();
    let is_summary = SUMMARIES.contains(&asked.summary.as_str());
    let has = |result: &RepeatResult| result.values.contains_key(&key);
    if !is_summary || !cases.iter().any(|case| case.results.iter().any(has)) {
        return Err(not_measured(run, measure, &asked, &key));
    }
    let estimates: Vec<_> = cases.iter().map(|case| case.estimate(&key, &asked.summary)).collect();
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let names: Vec<&str> = cases.iter().map(|case| case.plan.case.as_str()).collect();
    let list = |of: &dyn Fn(&Estimate) -> Option<f64>| -> Vec<f64> {
        estimates.iter().map(|estimate| number(estimate.as_ref().and_then(of))).collect()
    };
    let valid = cases.iter().map(|case| i64::try_from(valid_repeats(case)).unwrap_or(i64::MAX));
    Ok(with_factors(run, &names)
        .whole("valid repeats", valid.collect())
        .whole("drawn orders", estimates.iter().map(|estimate| drawn_orders(*estimate)).collect())
        .numbers("mean", list(&|estimate| Some(estimate.mean)))
        .numbers("deviation", list(&|estimate| Some(estimate.spread())))
        .numbers("low", list(&|estimate| estimate.half95.map(|half| estimate.mean - half)))
        .numbers("high", list(&|estimate| estimate.half95.map(|half| estimate.mean + half))))
}

fn not_measured(run: &RunData, given: &str, asked: &Measure, key: &str) -> UnknownMeasure {
    let given = given.to_owned();
    if !SUMMARIES.contains(&asked.summary.as_str()) {
        let hint = format!("a summary is one of {}", SUMMARIES.join(", "));
        return UnknownMeasure::NotMeasured { given, hint };
    }
    let known = measures(run);
    let near = spelling::nearest(key, known.iter().map(String::as_str));
    let of_subject: Vec<&str> = known
        .iter()
        .filter(|name| name.rsplit_once('.').is_some_and(|(of, _)| of == asked.subject))
        .map(String::as_str)
        .collect();
    let hint = match (near, of_subject.as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => {
            let mut subjects: Vec<&str> =
                known.iter().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
            subjects.dedup();
            format!("there is something of {}", subjects.join(", "))
        }
        (None, of_subject) => format!("there are {}", of_subject.join(", ")),
    };
    UnknownMeasure::NotMeasured { given, hint }
}

/// Everything that was measured in any repeat, by name.
#[must_use]
pub fn measures(run: &RunData) -> Vec<String> {
    let results = run.cases.iter().flat_map(|case| &case.results);
    let mut names: Vec<String> = results.flat_map(|result| result.values.keys().cloned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn valid_repeats(case: &CaseData) -> usize {
    case.results.iter().filter(|result| result.is_valid()).count()
}

fn with_factors(run: &RunData, cases: &[&str]) -> Data {
    let words = cases.iter().map(|name| (*name).to_owned()).collect();
    let place_of: HashMap<&str, usize> =
        run.cases.iter().enumerate().map(|(place, case)| (case.plan.case.as_str(), place)).collect();
    let places: Vec<usize> =
        cases.iter().map(|name| place_of.get(name).copied().unwrap_or(usize::MAX)).collect();
    factors::add(&factors::of_cases(run), &places, Data::default().words("case", words))
}

/// A row for each case: what was varied, how many of its repeats are valid, and why others are not.
#[must_use]
pub fn cases_table(run: &RunData) -> Data {
    let names: Vec<&str> = run.cases.iter().map(|case| case.plan.case.as_str()).collect();
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let reasons = |case: &CaseData| {
        let mut list: Vec<String> = case.results.iter().flat_map(RepeatResult::reasons).collect();
        list.dedup();
        list.join("; ")
    };
    with_factors(run, &names)
        .whole("repeats", run.cases.iter().map(|case| count(case.results.len())).collect())
        .whole("valid repeats", run.cases.iter().map(|case| count(valid_repeats(case))).collect())
        .words("not valid because", run.cases.iter().map(reasons).collect())
}

/// A row for each statement and what came of it.
#[must_use]
pub fn verdicts_table(list: &[Verdict]) -> Data {
    let words = |of: &dyn Fn(&Verdict) -> String| list.iter().map(of).collect::<Vec<_>>();
    let numbers = |of: &dyn Fn(&Verdict) -> Option<f64>| {
        list.iter().map(|verdict| of(verdict).unwrap_or(f64::NAN)).collect::<Vec<_>>()
    };
    Data::default()
        .words("case", words(&|verdict| verdict.case.clone()))
        .words("say", words(&|verdict| verdict.say.clone()))
        .words("paper", words(&|verdict| verdict.paper.clone().unwrap_or_default()))
        .words("measure", words(&|verdict| verdict.measure.clone()))
        .numbers("mean", numbers(&|verdict| Some(verdict.measured?.mean)))
        .numbers("low", numbers(&|verdict| Some(verdict.interval?.low)))
        .numbers("high", numbers(&|verdict| Some(verdict.interval?.high)))
        .words("unit", words(&|verdict| verdict.unit.to_owned()))
        .words("bound", words(&|verdict| verdict.bound.clone()))
        .words("verdict", words(&|verdict| verdict.words().to_owned()))
        .words("of", words(&|verdict| verdict.of.map_or_else(String::new, |claim| claim.words().to_owned())))
        .whole("drawn orders", list.iter().map(|verdict| drawn_orders(verdict.measured)).collect())
        .words("control", words(&Verdict::control_words))
        .words("why", words(&|verdict| verdict.why.clone()))
        .booleans("good", list.iter().map(Verdict::is_good).collect())
}
