//! Bounds of statements that are decided before anything runs: by what a measure can be, and by how it must
//! stand to another.

use super::relation::{Range, Relation, is_strict, least_begun, range, relation};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Plan;
use crate::experiment::read::findings::Finding;

/// Why what a statement says in this case is decided before it runs; nothing where a run decides it.
///
/// A file is refused where that is so in every case. In one case of a sweep it is so by chance, and no
/// verdict on it says anything.
pub(crate) fn decided(plan: &Plan, expect: &Expect) -> Option<String> {
    let measure = here(plan, &expect.value)?;
    bounds(plan, expect, &measure).into_iter().next().map(|bound| bound.message)
}

/// All bounds of a statement that are decided.
pub(super) fn bounds(plan: &Plan, expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    [by_its_range(plan, expect, measure), by_arithmetic(plan, expect, measure)].concat()
}

/// A measure that is of this plan's case.
pub(super) fn here(plan: &Plan, text: &str) -> Option<Measure> {
    let measure: Measure = text.parse().ok()?;
    measure.case.as_ref().is_none_or(|case| *case == plan.case).then_some(measure)
}

/// A bound that is a number.
pub(super) fn number(bound: Option<&toml::Value>) -> Option<f64> {
    bound.and_then(|bound| bound.as_float().or(bound.as_integer().map(|number| number as f64)))
}

/// A bound that no result meets, or none misses.
#[derive(Debug, Clone)]
pub(super) struct Undecidable {
    pub(super) field: &'static str,
    pub(super) message: String,
    pub(super) suggestion: String,
}

impl Undecidable {
    fn new(field: &'static str, message: String, suggestion: &str) -> Self {
        Undecidable { field, message, suggestion: suggestion.to_owned() }
    }

    pub(super) fn at(self, key: &str) -> Finding {
        Finding {
            key: format!("{key}.{}", self.field),
            message: self.message,
            suggestion: Some(self.suggestion),
            ..Finding::default()
        }
    }
}

const WITHIN: &str = "write a bound between what can happen";

/// Bounds that lie at the ends of what a measure can be, or beyond them.
fn by_its_range(plan: &Plan, expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    let times = expect.times.unwrap_or(1.0);
    let bound = |bound: &Option<toml::Value>| number(bound.as_ref()).map(|number| number * times);
    let (at_least, more_than) = (bound(&expect.at_least), bound(&expect.more_than));
    let (at_most, less_than) = (bound(&expect.at_most), bound(&expect.less_than));
    let Range { least, most } = range(plan, measure);
    let range = match most.is_finite() {
        true if least >= most => format!("always {most}"),
        true => format!("{least} to {most}"),
        false => format!("never below {least}"),
    };
    let mut list = Vec::new();
    let mut tell = |field, bound: Option<f64>, is_so: &dyn Fn(f64) -> bool, what: &str| {
        let Some(bound) = bound.filter(|bound| is_so(*bound)) else { return };
        let message = format!("`{measure}` is {range} here: {what} ({bound})");
        list.push(Undecidable::new(field, message, WITHIN));
    };
    tell("at_least", at_least, &|bound| bound > most, NEVER);
    tell("more_than", more_than, &|bound| bound >= most, NEVER);
    tell("at_most", at_most, &|bound| bound < least, NEVER);
    tell("less_than", less_than, &|bound| bound <= least, NEVER);
    tell("at_least", at_least, &|bound| bound <= least, ALWAYS);
    tell("more_than", more_than, &|bound| bound < least, ALWAYS);
    tell("at_most", at_most, &|bound| bound >= most, ALWAYS);
    tell("less_than", less_than, &|bound| bound > most, ALWAYS);
    // After a pause a bucket lets some more go at once, and no more.
    let is_load = measure.quantity == "load" && plan.node(&measure.subject).is_some();
    let is_part = is_load && !["sum", "count", "deviation"].contains(&measure.summary.as_str());
    tell("at_most", at_most.filter(|_| is_part && most > 100.0), &|bound| bound >= 100.0, FULL);
    tell("less_than", less_than.filter(|_| is_part && most > 100.0), &|bound| bound > 100.0, FULL);
    let begun = least_begun(plan, measure).unwrap_or(f64::NEG_INFINITY);
    tell(
        "at_least",
        at_least.filter(|bound| *bound > least && *bound <= most),
        &|bound| bound <= begun,
        VALID,
    );
    tell("more_than", more_than.filter(|bound| *bound >= least), &|bound| bound < begun, VALID);
    let within = expect.about.map_or(0.0, |about| about.abs() * expect.within.map_or(0.2, |share| share.0));
    tell("about", expect.about, &|about| about + within < least || about - within > most, NEVER);
    tell("about", expect.about, &|about| about - within <= least && about + within >= most, ALWAYS);
    let pairs = [(more_than, at_most), (at_least, less_than), (more_than, less_than)];
    let empty = pairs.into_iter().filter_map(|(low, high)| low.filter(|low| Some(*low) == high));
    let told =
        |low| Undecidable::new("value", format!("nothing is more than {low} and less than {low}"), WITHIN);
    list.extend(empty.map(told));
    list
}

const FULL: &str = "and no link carries more than its rate, which decides it";
const VALID: &str = "and a run in which fewer are begun is not valid, which decides it";
const NEVER: &str = "no result is as stated";
const ALWAYS: &str = "no result contradicts this";
/// Decided by arithmetic, but for the case in which there is nothing to compare.
const ALMOST_ALWAYS: &str = "this is decided by arithmetic, unless both are equal, which says nothing";

/// What is held against what is never above it, or below it, or against itself.
fn by_arithmetic(plan: &Plan, expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    let times = expect.times.unwrap_or(1.0);
    let mut before = measure.clone();
    let mut list = Vec::new();
    for (field, text) in expect.others() {
        let Ok(other) = text.parse::<Measure>() else { continue };
        let is_chain = matches!(field, "falls" | "rises");
        // A chain is judged link by link, from the value on.
        let one = if is_chain { std::mem::replace(&mut before, other.clone()) } else { measure.clone() };
        let case = |measure: &Measure| measure.case.clone().unwrap_or_else(|| plan.case.clone());
        // Where its text stands twice it is told elsewhere.
        if case(&one) != case(&other) || text == expect.value {
            continue;
        }
        let Some(relation) = relation(plan, &one, &other) else { continue };
        if relation == Relation::Same && (times - 1.0).abs() < 1e-9 {
            let message = format!("`{one}` and `{other}` are one number: it is held against itself");
            list.push(Undecidable::new(field, message, "name another measure"));
            continue;
        }
        let is_same = relation == Relation::Same;
        let lower = (is_same || relation == Relation::NeverAbove) && (is_chain || times >= 1.0);
        let higher = (is_same || relation == Relation::NeverBelow) && (is_chain || times <= 1.0);
        let margin = expect.margin.map_or(0.05, |share| share.0);
        let what = match field {
            "same_as" if is_same && (times - 1.0).abs() <= margin * times => ALWAYS,
            "same_as" if is_same => NEVER,
            "at_most" if lower => ALWAYS,
            "at_least" if higher => ALWAYS,
            "more_than" | "falls" if lower => NEVER,
            "less_than" | "rises" if higher => NEVER,
            "less_than" | "rises" if lower && is_strict(&one, &other) => ALMOST_ALWAYS,
            "more_than" | "falls" if higher && is_strict(&one, &other) => ALMOST_ALWAYS,
            _ => continue,
        };
        let message = match (is_same, lower) {
            (true, _) => format!(
                "`{one}` and `{other}` are one number, and {times} times it is held against it: {what}"
            ),
            (false, true) => format!("`{one}` is never above `{other}`: {what}"),
            (false, false) => format!("`{one}` is never below `{other}`: {what}"),
        };
        list.push(Undecidable::new(field, message, "name another measure, or `times`"));
    }
    list
}
