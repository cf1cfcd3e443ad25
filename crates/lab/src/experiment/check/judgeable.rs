//! Whether every statement of an experiment can be judged: what it names is measured there, some result
//! confirms it and some result contradicts it, and its controls take away nothing but what they say.

use std::collections::BTreeMap;

use super::measured;
use crate::experiment::backends::VIRTUAL_TIME;
use crate::experiment::cases::controls;
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Plan;
use crate::experiment::read::Experiment;
use crate::experiment::read::findings::Finding;
use crate::stats::ENOUGH;

/// What is not measured: on which backends, and what is measured there instead.
#[derive(Debug, Default)]
struct Unmeasured {
    on: Vec<&'static str>,
    there: Vec<&'static str>,
}

/// What cannot be judged, on the backends that can carry it out. A run that is there already is not held to
/// it: what it measured stays, whatever can be said of it.
#[derive(Debug, Default)]
pub(in crate::experiment) struct Judgeable {
    findings: Vec<Finding>,
    /// By where it stands, and what.
    unmeasured: BTreeMap<(String, String), Unmeasured>,
    backends: Vec<&'static str>,
    /// Of what is said to be 0: why nobody can confirm it; nothing where some backend can.
    zeros: BTreeMap<String, Option<Undecidable>>,
}

impl Judgeable {
    /// Looks at what an experiment is on a backend.
    pub(in crate::experiment) fn add(
        &mut self,
        experiment: &Experiment,
        backend: &'static str,
        plans: &[Plan],
    ) {
        if experiment.file.expect.is_empty() || experiment.can_run_on(backend).is_err() {
            return;
        }
        self.backends.push(backend);
        for plan in plans.iter().filter(|plan| plan.control.is_none()) {
            for expect in &plan.evaluation.expectations {
                let place = experiment.file.expect.iter().position(|other| other == expect);
                if let Some(place) = place {
                    self.look(plan, backend, expect, &format!("expect.{place}"));
                }
            }
        }
        if !experiment.file.control.is_empty()
            && let Ok((base, variants)) = experiment.variants(backend)
        {
            self.findings.extend(controls::unsaid(&base, &variants));
        }
    }

    fn look(&mut self, plan: &Plan, backend: &'static str, expect: &Expect, key: &str) {
        let all = expect.others().into_iter().chain([("value", expect.value.as_str())]);
        for (field, text) in all {
            let Some(measure) = here(plan, text) else { continue };
            let Some(there) = measured::in_place_of(plan, backend, &measure) else { continue };
            let what = format!("`{}` is not measured of `{}`", measure.quantity, measure.subject);
            let unmeasured = self.unmeasured.entry((format!("{key}.{field}"), what)).or_default();
            if !unmeasured.on.contains(&backend) {
                unmeasured.on.push(backend);
            }
            unmeasured.there = there;
        }
        let Some(measure) = here(plan, &expect.value) else { return };
        if number(expect.at_most.as_ref()) == Some(0.0) && expect.not_testable.is_none() {
            let why = always_zero(plan, backend, expect, &measure);
            let zero = self.zeros.entry(key.to_owned()).or_insert_with(|| why.clone());
            *zero = zero.take().and(why);
        }
        let found = [by_its_range(expect, &measure), by_its_name(plan, expect, &measure)].concat();
        self.findings.extend(found.into_iter().map(|undecidable| undecidable.at(key)));
    }

    /// All that was found.
    pub(in crate::experiment) fn findings(self) -> Vec<Finding> {
        let Judgeable { mut findings, unmeasured, backends, zeros } = self;
        findings.extend(zeros.into_iter().filter_map(|(key, why)| Some(why?.at(&key))));
        findings.extend(unmeasured.into_iter().map(|((key, what), Unmeasured { on, there })| {
            let others = backends.iter().filter(|name| !on.contains(name));
            let others: Vec<String> = others.map(|name| format!("\"{name}\"")).collect();
            let elsewhere = if others.is_empty() {
                String::new()
            } else {
                format!("`on = [{}]`, or ", others.join(", "))
            };
            Finding {
                key,
                message: format!("{what} on {}", on.join(" and ")),
                suggestion: Some(format!("say {elsewhere}one of these: {}", there.join(", "))),
                ..Finding::default()
            }
        }));
        findings.dedup();
        findings
    }
}

/// A measure that is of this plan's case.
fn here(plan: &Plan, text: &str) -> Option<Measure> {
    let measure: Measure = text.parse().ok()?;
    measure.case.as_ref().is_none_or(|case| *case == plan.case).then_some(measure)
}

/// A bound that is a number.
fn number(bound: Option<&toml::Value>) -> Option<f64> {
    bound.and_then(|bound| bound.as_float().or(bound.as_integer().map(|number| number as f64)))
}

/// A bound that no result meets, or none misses.
#[derive(Debug, Clone)]
struct Undecidable {
    field: &'static str,
    message: String,
    suggestion: String,
}

impl Undecidable {
    fn new(field: &'static str, message: String, suggestion: &str) -> Self {
        Undecidable { field, message, suggestion: suggestion.to_owned() }
    }

    fn at(self, key: &str) -> Finding {
        Finding {
            key: format!("{key}.{}", self.field),
            message: self.message,
            suggestion: Some(self.suggestion),
            ..Finding::default()
        }
    }
}

const WITHIN: &str = "write a bound between what can happen";

/// Why repeats in which something random is 0 do not say that it always is.
fn always_zero(plan: &Plan, backend: &str, expect: &Expect, measure: &Measure) -> Option<Undecidable> {
    let is_random = backend != VIRTUAL_TIME || !plan.is_deterministic() || measure.quantity == "table_bytes";
    let repeats = plan.schedule.repeats as usize;
    let is_open = is_random && repeats < ENOUGH && expect.by_construction.is_none();
    is_open.then(|| Undecidable {
        field: "at_most",
        message: format!(
            "`{}.{}` is random: that it is 0 in {repeats} does not say that it always is",
            measure.subject, measure.quantity
        ),
        suggestion: format!(
            "write how much may be, `repeats = {ENOUGH}` or more, or `by_construction` with the reason"
        ),
    })
}

/// Bounds that lie at the ends of what a measure can be, or beyond them.
fn by_its_range(expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    let times = expect.times.unwrap_or(1.0);
    let bound = |bound: &Option<toml::Value>| number(bound.as_ref()).map(|number| number * times);
    let (at_least, more_than) = (bound(&expect.at_least), bound(&expect.more_than));
    let (at_most, less_than) = (bound(&expect.at_most), bound(&expect.less_than));
    let most = measure.most().unwrap_or(f64::INFINITY);
    let name = format!("{}.{}", measure.subject, measure.quantity);
    let range = if most.is_finite() { format!("0 to {most}") } else { "never below 0".to_owned() };
    let mut list = Vec::new();
    let mut tell = |field, bound: Option<f64>, is_so: &dyn Fn(f64) -> bool, what: &str| {
        let Some(bound) = bound.filter(|bound| is_so(*bound)) else { return };
        let message = format!("`{name}` is {range}: {what} ({bound})");
        list.push(Undecidable::new(field, message, WITHIN));
    };
    let (never, always) = ("no result is as stated", "no result contradicts this");
    tell("at_least", at_least, &|bound| bound > most, never);
    tell("more_than", more_than, &|bound| bound >= most, never);
    tell("at_most", at_most, &|bound| bound < 0.0, never);
    tell("less_than", less_than, &|bound| bound <= 0.0, never);
    tell("about", expect.about, &|bound| bound < 0.0 || bound > most, never);
    tell("more_than", more_than, &|bound| bound < 0.0, always);
    tell("at_most", at_most, &|bound| bound >= most, always);
    tell("less_than", less_than, &|bound| bound > most, always);
    let pairs = [(more_than, at_most), (at_least, less_than), (more_than, less_than)];
    let empty = pairs.into_iter().filter_map(|(low, high)| low.filter(|low| Some(*low) == high));
    let told =
        |low| Undecidable::new("value", format!("nothing is more than {low} and less than {low}"), WITHIN);
    list.extend(empty.map(told));
    list
}

/// Summaries in the order in which they never are the other way round.
const ORDER: [&str; 6] = ["min", "p5", "median", "p95", "p99", "max"];

/// What is held against what is never above it, or below it, or against itself.
fn by_its_name(plan: &Plan, expect: &Expect, measure: &Measure) -> Vec<Undecidable> {
    let times = expect.times.unwrap_or(1.0);
    let case = |measure: &Measure| measure.case.clone().unwrap_or_else(|| plan.case.clone());
    let place = |measure: &Measure| ORDER.iter().position(|word| *word == measure.summary);
    let mut list = Vec::new();
    for (field, text) in expect.others() {
        let Ok(other) = text.parse::<Measure>() else { continue };
        if other.subject != measure.subject || case(&other) != case(measure) {
            continue;
        }
        let is_same = other.quantity == measure.quantity;
        if is_same && other.summary == measure.summary {
            // Where its text stands twice it is told elsewhere.
            if text != expect.value {
                let message = "it is held against itself".to_owned();
                list.push(Undecidable::new(field, message, "name another measure"));
            }
            continue;
        }
        let ends = place(measure).zip(place(&other)).filter(|_| is_same);
        let is_part = ["finished", "unfinished"].contains(&measure.quantity.as_str());
        let is_lower = is_part && other.quantity == "started" || ends.is_some_and(|(one, two)| one < two);
        let is_higher = ends.is_some_and(|(one, two)| one > two);
        let (lower, higher) = (is_lower && times >= 1.0, is_higher && times <= 1.0);
        let what = match field {
            "at_most" if lower => "no result contradicts this",
            "at_least" if higher => "no result contradicts this",
            "more_than" if lower => "no result is as stated",
            "less_than" if higher => "no result is as stated",
            _ => continue,
        };
        let order = if is_lower { "above" } else { "below" };
        let message = format!("`{}` is never {order} `{text}`: {what}", expect.value);
        list.push(Undecidable::new(field, message, "name another measure, or `times`"));
    }
    list
}
