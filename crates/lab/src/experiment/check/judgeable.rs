//! Whether every statement of an experiment can be judged: what it names is measured there, some result
//! confirms it and some result contradicts it, and its controls take away nothing but what they say.

use std::collections::BTreeMap;

use super::by_construction::{Named, named};
use super::concerned::Concerned;
use super::decided::{self, How, Undecidable, here, number};
use super::{alike, asks_otherwise, measured, never_begun, too_much, units, without_effect};
use crate::experiment::backends::VIRTUAL_TIME;
use crate::experiment::cases::{Variant, controls};
use crate::experiment::measure::Measure;
use crate::experiment::model::Expect;
use crate::experiment::plan::Plan;
use crate::experiment::read::Experiment;
use crate::experiment::read::findings::Finding;
use crate::stats::ENOUGH;

/// Controls that leave nobody who asks for anything, of cases in which somebody does.
fn controls_that_are_idle(experiment: &Experiment, plans: &[Plan]) -> Vec<Finding> {
    let is_idle = |plan: &&Plan| {
        let case = plan.control.as_ref().map(|control| &control.case);
        let of = plans.iter().find(|other| other.control.is_none() && Some(&other.case) == case);
        without_effect::is_idle(plan) && of.is_some_and(|of| !without_effect::is_idle(of))
    };
    let named = |plan: &Plan| {
        let name = &plan.control.as_ref()?.name;
        let place = experiment.file.control.iter().position(|control| control.name == *name)?;
        Some(Finding {
            key: format!("control.{place}.set"),
            message: "in the control nobody asks for anything, so that it takes away more than a cause"
                .to_owned(),
            ..Finding::default()
        })
    };
    plans.iter().filter(is_idle).filter_map(named).collect()
}

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
        if experiment.can_run_on(backend).is_err() {
            return;
        }
        self.look_at_what_happens(experiment, backend, plans);
        if experiment.file.expect.is_empty() {
            return;
        }
        self.backends.push(backend);
        for (place, expect) in experiment.file.expect.iter().enumerate() {
            self.findings.extend(without_effect::of_expectation(expect, &format!("expect.{place}")));
        }
        self.findings.extend(asks_otherwise::controls(&experiment.file.control, plans));
        self.findings.extend(controls_that_are_idle(experiment, plans));
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

    /// What is wrong with what is to happen, whatever is said of it.
    fn look_at_what_happens(&mut self, experiment: &Experiment, backend: &'static str, plans: &[Plan]) {
        self.findings.extend(without_effect::routes(&experiment.file));
        self.findings.extend(without_effect::dead_links(plans));
        for plan in plans {
            self.findings.extend(never_begun::of_plan(plan));
            self.findings.extend(without_effect::of_pings(plan));
            self.findings.extend(without_effect::of_plan(plan));
            self.findings.extend(too_much::of_plan(plan));
        }
        if let Ok((base, variants)) = experiment.variants(backend) {
            self.findings.extend(alike::names(&variants));
            self.findings.extend(alike::values(&base, &variants, plans));
            let contents = variants.iter().map(|variant| &variant.content);
            self.findings.extend(contents.flat_map(without_effect::parts_of_bytes));
        }
    }

    fn look(&mut self, plan: &Plan, backend: &'static str, expect: &Expect, key: &str) {
        self.findings.extend(units::of_expectation(plan, expect, key));
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
        let mut found = decided::bounds(plan, expect, &measure, backend == VIRTUAL_TIME);
        found.retain(Undecidable::is_mistake);
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
        if !cases.iter().any(|(plan, _)| plan.evaluation.expectations.contains(expect)) {
            continue;
        }
        let measures = expect.measures();
        let found = cases.iter().filter_map(|(plan, variant)| {
            here(plan, &expect.value)?;
            Some(named(reason, &variant.content, &Concerned::by(plan, &measures)))
        });
        let found: Vec<Named> = found.collect();
        if found.is_empty() || found.contains(&Named::Cause) {
            continue;
        }
        let unused = found.iter().find_map(|found| match found {
            Named::Unused(key) => Some(key),
            _ => None,
        });
        let (message, suggestion) = match unused {
            Some(key) => (
                format!("it names `{key}` and says nothing of it"),
                "say in words how that key makes it so, by its name or with the number that the file sets for it",
            ),
            None if found.contains(&Named::Elsewhere) => (
                format!("the settings that it names have nothing to do with `{}`", expect.value),
                "name one of its subject, of what lies on the way there, or of the whole",
            ),
            None => (
                "it names no setting of this file that makes it so: what a key comes to that is left out is none"
                    .to_owned(),
                "name one that the file sets, by its key, such as `link.*.rate`",
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

/// Why repeats in which something random is 0 do not say that it always is.
fn always_zero(plan: &Plan, backend: &str, expect: &Expect, measure: &Measure) -> Option<Undecidable> {
    let is_random = backend != VIRTUAL_TIME || !plan.is_deterministic() || measure.is_of_hashes();
    let repeats = plan.schedule.repeats as usize;
    let is_open = is_random && repeats < ENOUGH && expect.by_construction.is_none();
    is_open.then(|| Undecidable {
        field: "at_most",
        how: How::Never,
        message: format!(
            "`{}.{}` is random: that it is 0 in {repeats} does not say that it always is",
            measure.subject, measure.quantity
        ),
        suggestion: format!(
            "write how much may be, `repeats = {ENOUGH}` or more, or `by_construction` with the reason"
        ),
    })
}

/// A number of samples, of a file that does not say how often they are taken.
fn by_its_samples(plan: &Plan, backend: &str, field: &'static str, measure: &Measure) -> Option<Undecidable> {
    let is_open = !plan.recording.is_sampling_stated && measure.is_of_samples(plan, backend == VIRTUAL_TIME);
    is_open.then(|| Undecidable {
        field,
        how: How::Never,
        message: format!("`{measure}` depends on how often samples are taken"),
        suggestion: "write `sample_every`, which then is a part of what is stated, or use a mean of a rate"
            .to_owned(),
    })
}
