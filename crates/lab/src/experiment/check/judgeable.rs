//! Whether every statement of an experiment can be judged: what it names is measured there, some result
//! confirms it and some result contradicts it, and its controls take away nothing but what they say.

use std::collections::BTreeMap;

use super::by_construction::{Named, named};
use super::concerned::Concerned;
use super::measured;
use super::relation::{Range, Relation, range, relation};
use crate::experiment::backends::VIRTUAL_TIME;
use crate::experiment::cases::{Variant, controls};
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
    /// Of numbers of samples in a file that does not say how often they are taken, by where they stand: that;
    /// nothing where some backend has the exact number.
    sampled: BTreeMap<(String, &'static str), Option<Undecidable>>,
    /// Of bounds by where they stand: those that no case meets, or none misses. What one case of a sweep
    /// cannot do, another may.
    bounds: BTreeMap<String, Vec<Undecidable>>,
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
        if let Ok((base, variants)) = experiment.variants(backend) {
            self.findings.extend(controls::unsaid(&base, &variants));
            self.findings.extend(unnamed(&base.expect, &variants, plans));
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
        let all = expect.others().into_iter().chain([("value", expect.value.as_str())]);
        for (field, text) in all.filter(|_| expect.not_testable.is_none()) {
            let Some(measure) = here(plan, text) else { continue };
            let why = by_its_samples(plan, backend, field, &measure);
            let open = self.sampled.entry((key.to_owned(), field)).or_insert_with(|| why.clone());
            *open = open.take().and(why);
        }
        let found = [by_its_range(plan, expect, &measure), by_arithmetic(plan, expect, &measure)].concat();
        let open = self.bounds.entry(key.to_owned()).or_insert_with(|| found.clone());
        open.retain(|bound| found.iter().any(|other| other.field == bound.field));
    }

    /// All that was found.
    pub(in crate::experiment) fn findings(self) -> Vec<Finding> {
        let Judgeable { mut findings, unmeasured, backends, zeros, sampled, bounds } = self;
        findings.extend(
            bounds.into_iter().flat_map(|(key, found)| found.into_iter().map(move |why| why.at(&key))),
        );
        findings.extend(zeros.into_iter().filter_map(|(key, why)| Some(why?.at(&key))));
        findings.extend(sampled.into_iter().filter_map(|((key, _), why)| Some(why?.at(&key))));
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

/// Statements that are so by construction, of which no setting is named that makes them so.
fn unnamed(expects: &[Expect], variants: &[Variant], plans: &[Plan]) -> Vec<Finding> {
    let cases = plans.iter().filter(|plan| plan.control.is_none());
    let cases: Vec<(&Plan, &Variant)> = cases
        .filter_map(|plan| Some((plan, variants.iter().find(|variant| variant.name == plan.case)?)))
        .collect();
    let mut findings = Vec::new();
    for (place, expect) in expects.iter().enumerate() {
        let Some(reason) = expect.by_construction.as_deref() else { continue };
        let texts = expect.others().into_iter().map(|(_, text)| text).chain([expect.value.as_str()]);
        let measures: Vec<Measure> = texts.filter_map(|text| text.parse().ok()).collect();
        let found = cases.iter().filter_map(|(plan, variant)| {
            here(plan, &expect.value)?;
            Some(named(reason, &variant.content, &Concerned::by(plan, &measures)))
        });
        let found: Vec<Named> = found.collect();
        if found.is_empty() || found.contains(&Named::Cause) {
            continue;
        }
        let (message, suggestion) = match found.contains(&Named::Elsewhere) {
            true => (
                format!("the settings that it names have nothing to do with `{}`", expect.value),
                "name one of its subject, of what lies on the way there, or of the whole",
            ),
            false => (
                "it names no setting of this file that makes it so".to_owned(),
                "name one by its key, such as `link.*.rate`",
            ),
        };
        findings.push(Finding {
            key: format!("expect.{place}.by_construction"),
            message,
            suggestion: Some(suggestion.to_owned()),
            ..Finding::default()
        });
    }
    findings
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
    let is_random = backend != VIRTUAL_TIME || !plan.is_deterministic() || measure.is_of_hashes();
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

const NEVER: &str = "no result is as stated";
const ALWAYS: &str = "no result contradicts this";

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
        let what = match field {
            "at_most" if lower => ALWAYS,
            "at_least" if higher => ALWAYS,
            "more_than" | "falls" if lower => NEVER,
            "less_than" | "rises" if higher => NEVER,
            _ => continue,
        };
        let order = if lower { "above" } else { "below" };
        let message = format!("`{one}` is never {order} `{other}`: {what}");
        list.push(Undecidable::new(field, message, "name another measure, or `times`"));
    }
    list
}

/// A number of samples, of a file that does not say how often they are taken.
fn by_its_samples(plan: &Plan, backend: &str, field: &'static str, measure: &Measure) -> Option<Undecidable> {
    let is_open = !plan.recording.is_sampling_stated && measure.is_of_samples(plan, backend == VIRTUAL_TIME);
    is_open.then(|| Undecidable {
        field,
        message: format!("`{measure}` depends on how often samples are taken"),
        suggestion: "write `sample_every`, which then is a part of what is stated, or use a mean of a rate"
            .to_owned(),
    })
}
