//! Expectations against what was measured: confirmed, contradicted, by construction, or not testable here.

mod evaluation;
mod finding;
#[cfg(test)]
mod laws;
mod left_undone;
mod more_repeats;
mod numbers;
mod standstill;

use self::evaluation::Evaluation;
use self::finding::Finding;
pub(super) use self::numbers::numbers;
pub use self::numbers::{BoundNumber, ControlNumber, VerdictNumbers};
use super::data::{CaseData, RunData};
use crate::experiment::check::by_construction::settings_named;
use crate::experiment::check::decided::decided;
use crate::experiment::measure::Measure;
use crate::experiment::model::{self, Expect};
use crate::figure::number::{estimated, with_unit};
use crate::stats::{Claim, Estimate, Interval, Level, Sample};

/// What stands beside a statement of an experiment that was changed since its run began.
const STATED_LATER: &str = "as the file states it now, and not as it did when the run began";

/// Why nothing is concluded from the repeats that a run has come to so far: who stops when the numbers look
/// good would confirm anything.
const NOT_COMPLETE: &str = "the run is not complete";

/// What came of an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All of the interval is as expected.
    Confirmed,
    /// None of it is.
    Contradicted,
    /// It is as expected, because the setting leaves nothing else.
    ByConstruction,
    /// Nobody can say: nothing valid was measured, or it is too uncertain, or the machine cannot show it.
    NotTestable,
}

impl Outcome {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 4] =
        [Outcome::Confirmed, Outcome::Contradicted, Outcome::ByConstruction, Outcome::NotTestable];

    /// How it is called wherever people read it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Contradicted => "contradicted",
            Outcome::ByConstruction => "by construction",
            Outcome::NotTestable => "not testable here",
        }
    }
}

/// What the control of an expectation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The experiment states none.
    NotStated,
    /// It was not run.
    NotRun,
    /// It failed the expectation, as it must: of most orders or on their mean, where it hangs on one.
    Failed(Option<Claim>),
}

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
    /// The 95 % interval it lies in by how its repeats spread; nothing when nobody can say.
    pub interval: Option<Interval>,
    /// The unit of the measure, and of numbers it is held against.
    pub unit: &'static str,
    /// What it had to be, in words.
    pub bound: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Where it hangs on the order of what happens at one instant, of what it is confirmed or contradicted.
    pub of: Option<Claim>,
    /// What its control came to.
    pub control: Control,
    /// The names of its controls.
    pub controls: Vec<String>,
    /// What each of them changes, which is what was tested: keys with their values in the case and there.
    pub changed: Vec<String>,
    /// What the number rests on beside what was counted: how often samples were taken, what is assumed of
    /// repeats.
    pub details: Vec<String>,
    /// Why it is not testable, or what makes it so; empty where there is nothing to say.
    pub why: String,
    /// Is it stated for other backends only?
    pub elsewhere: bool,
}

impl Verdict {
    /// What was measured with its unit, and where it is known half the width of its 95 % confidence interval,
    /// or of how many repeats it is the number of each.
    #[must_use]
    pub fn found(&self) -> (String, Option<String>) {
        match self.measured {
            Some(estimate) => {
                let half = self.interval.map(|interval| (interval.high - interval.low) / 2.0);
                estimated(half, &estimate, self.unit)
            }
            None => ("–".to_owned(), None),
        }
    }

    /// The verdict in the words of the report, with what it is of.
    #[must_use]
    pub fn said(&self) -> String {
        let of = self.of.map_or_else(String::new, |claim| format!(" {}", claim.words()));
        let (outcome, control) = self
            .words()
            .split_once(',')
            .map_or((self.words(), None), |(outcome, control)| (outcome, Some(control)));
        let control = control.map_or_else(String::new, |control| format!(",{control}"));
        format!("{outcome}{of}{control}")
    }

    /// The verdict in a few words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match (self.outcome, self.control) {
            (Outcome::Confirmed, Control::NotStated) => "confirmed, no control stated",
            (Outcome::Confirmed, Control::NotRun) => "confirmed, control not run",
            (outcome, _) => outcome.word(),
        }
    }

    /// Which control it has and what that came to, or why it needs none.
    #[must_use]
    pub fn control_words(&self) -> String {
        let changed = self.changed.iter().map(|changed| match changed.as_str() {
            "" => String::new(),
            changed => format!(" ({changed})"),
        });
        self.control_words_with(changed)
    }

    /// The same without what its controls change.
    pub(super) fn control_words_alone(&self) -> String {
        self.control_words_with(std::iter::empty())
    }

    fn control_words_with(&self, beside: impl Iterator<Item = String>) -> String {
        let beside = beside.chain(std::iter::repeat(String::new()));
        let names = self.controls.iter().zip(beside).map(|(name, beside)| format!("“{name}”{beside}"));
        let names: Vec<String> = names.collect();
        let names = names.join(", ");
        match (self.outcome, self.control) {
            (Outcome::ByConstruction, _) if names.is_empty() => "none: by construction".to_owned(),
            _ if names.is_empty() => "none stated".to_owned(),
            (Outcome::Confirmed, Control::Failed(claim)) => {
                let place = claim.map_or_else(String::new, |claim| format!(" {}", claim.place()));
                format!("{names} fails it{place}")
            }
            (Outcome::Confirmed, _) => format!("{names}, not run"),
            _ => names,
        }
    }

    /// Is it confirmed though no control could have failed it?
    #[must_use]
    pub fn is_without_control(&self) -> bool {
        self.outcome == Outcome::Confirmed && !matches!(self.control, Control::Failed(_))
    }

    /// Is it as expected?
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(self.outcome, Outcome::Confirmed | Outcome::ByConstruction)
    }
}

/// How a run ended, for whoever reads exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Everything is confirmed, or so by construction.
    AsExpected,
    /// Something is contradicted.
    Contradicted,
    /// The run is not complete; or nothing is contradicted, but something of it is not as it was left.
    Incomplete,
    /// Nothing is contradicted, but a case has no valid run.
    NoValidRun,
    /// Nothing is contradicted, but something is not testable.
    NotTestable,
}

/// What the verdicts of a run come to.
#[must_use]
pub fn conclusion(run: &RunData, verdicts: &[Verdict]) -> Conclusion {
    let any = |wanted| verdicts.iter().any(|verdict| !verdict.elsewhere && verdict.outcome == wanted);
    // What is stated for other backends only is not tested here, and that is no success.
    let all_elsewhere = !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.elsewhere);
    if any(Outcome::Contradicted) {
        Conclusion::Contradicted
    } else if !run.record.complete || run.is_damaged {
        Conclusion::Incomplete
    } else if run.cases.iter().any(|case| !case.is_valid()) {
        Conclusion::NoValidRun
    } else if all_elsewhere || any(Outcome::NotTestable) {
        Conclusion::NotTestable
    } else {
        Conclusion::AsExpected
    }
}

/// The unit that a measure of a run is written in; nothing where it is a bare number, or names none.
#[must_use]
pub fn unit_of(run: &RunData, measure: &str) -> &'static str {
    let Ok(measure) = measure.parse::<Measure>() else { return "" };
    let is_node = |case: &CaseData| case.plan.node(&measure.subject).is_some();
    measure.unit(run.cases.iter().any(is_node))
}

/// Judges every expectation of a run.
#[must_use]
pub fn verdicts(run: &RunData) -> Vec<Verdict> {
    let mut list: Vec<Verdict> = Vec::new();
    for case in &run.cases {
        let here = case.plan.evaluation.expectations.iter().map(|expect| (expect, false));
        let elsewhere = case.plan.evaluation.elsewhere.iter().map(|expect| (expect, true));
        for (expect, elsewhere) in here.chain(elsewhere) {
            let Ok(measure) = expect.value.parse::<Measure>() else { continue };
            // A measure that names its case is judged once, and not in every case again.
            let first = run.cases.first().is_some_and(|first| first.plan.case == case.plan.case);
            let is_mine = match &measure.case {
                None => true,
                Some(name) if run.cases.iter().any(|case| case.plan.case == *name) => *name == case.plan.case,
                // A case that did not run is named once, too.
                Some(_) => first,
            };
            if is_mine {
                list.push(verdict(run, case, expect, &measure, elsewhere));
            }
        }
    }
    list
}

fn verdict(run: &RunData, case: &CaseData, expect: &Expect, measure: &Measure, elsewhere: bool) -> Verdict {
    let evaluation = Evaluation { run, control: None };
    let unit = measure.unit_in(&case.plan);
    let sample = evaluation.sample(case, measure);
    let mut verdict = Verdict {
        case: measure.case.clone().unwrap_or_else(|| case.plan.case.clone()),
        say: expect.say.clone(),
        paper: expect.paper.clone(),
        measure: expect.value.clone(),
        measured: evaluation.estimate(case, measure),
        interval: sample.as_ref().and_then(interval),
        details: evaluation.details(case, measure, sample.as_ref()),
        unit,
        bound: evaluation.words(case, expect, unit),
        outcome: Outcome::NotTestable,
        of: None,
        control: Control::NotStated,
        controls: controls_of(run, expect).map(|control| control.name.clone()).collect(),
        changed: controls_of(run, expect).map(|control| changed_by(run, control)).collect(),
        why: String::new(),
        elsewhere,
    };
    let of = match &measure.case {
        Some(name) => run.cases.iter().find(|case| case.plan.case == *name),
        None => Some(case),
    };
    verdict.details.extend(evaluation.of_mixed(case, expect, measure));
    verdict.details.extend(evaluation.rare_beside(case, expect));
    verdict.details.extend(of.and_then(|case| left_undone::beside(case, measure)));
    // Whoever has seen a number can state it: that is no prediction.
    verdict.details.extend(run.is_restated.then(|| STATED_LATER.to_owned()));
    if elsewhere {
        verdict.why = format!("the experiment states it for {} only", expect.on.join(" and "));
        return verdict;
    }
    if let Some(why) = &expect.not_testable {
        verdict.why.clone_from(why);
        "nothing".clone_into(&mut verdict.bound);
        return verdict;
    }
    if let Some(why) = untestable(run, case, expect) {
        verdict.why = why;
        return verdict;
    }
    match evaluation.judge(case, expect, measure) {
        Finding::Unknown(why) => verdict.why = why,
        Finding::Contradicted(claim) => (verdict.outcome, verdict.of) = (Outcome::Contradicted, claim),
        Finding::Confirmed(claim) => match &expect.by_construction {
            Some(reason) => {
                verdict.outcome = Outcome::ByConstruction;
                verdict.why = said_by_the_file(run, reason);
            }
            None => {
                verdict.of = claim;
                confirm(run, case, expect, measure, &mut verdict);
            }
        },
    }
    // What a share does to a forwarder must not be taken for what the forwarder does.
    if verdict.outcome != Outcome::NotTestable
        && let Some(why) = standstill::reason(&evaluation, case, expect, measure)
    {
        verdict.outcome = Outcome::NotTestable;
        verdict.why = why;
    }
    if verdict.outcome == Outcome::NotTestable {
        verdict.of = None;
    }
    verdict
}

/// Why nothing can be said whatever was measured.
fn untestable(run: &RunData, case: &CaseData, expect: &Expect) -> Option<String> {
    if !run.record.complete {
        return Some(NOT_COMPLETE.to_owned());
    }
    if expect.by_construction.is_some() { None } else { decided(&case.plan, expect, run.record.is_virtual()) }
}

/// Where a number lies, as it is printed: by how its repeats spread, or at the number that all of them are.
/// Of orders it has an interval only where there are many that differ.
fn interval(sample: &Sample) -> Option<Interval> {
    if sample.hangs_on_order() {
        return sample.interval(Level::NinetyFive);
    }
    let equal = sample.values.first().filter(|_| sample.is_equal_by_chance());
    let by_spread = || sample.spread_as_normal().interval(Level::NinetyFive);
    equal.map(|value| Interval { low: *value, high: *value }).or_else(by_spread)
}

/// A reason why something is so by construction. The file says it, and nothing here has tested it, so the
/// settings that it names stand beside as they are.
fn said_by_the_file(run: &RunData, reason: &str) -> String {
    let settings = settings_named(reason, run.experiment.content());
    let settings = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    format!("said by the file: {}{settings}", reason.trim_end_matches('.'))
}

/// What a control changes, on the backend of the run.
fn changed_by(run: &RunData, control: &model::Control) -> String {
    run.experiment.changed_by(control, &run.record.backend).join(", ")
}

/// The controls that must fail an expectation.
fn controls_of<'a>(run: &'a RunData, expect: &'a Expect) -> impl Iterator<Item = &'a model::Control> {
    let name = expect.name.as_deref();
    let stated = run.experiment.file.control.iter();
    stated.filter(move |control| control.fails.iter().any(|fails| Some(fails.as_str()) == name))
}

/// What is as expected is confirmed where all its controls failed. Where one holds as well, or nobody can say
/// what it does, nothing was shown.
fn confirm(run: &RunData, case: &CaseData, expect: &Expect, measure: &Measure, verdict: &mut Verdict) {
    verdict.outcome = Outcome::Confirmed;
    for control in controls_of(run, expect) {
        let evaluation = Evaluation { run, control: Some(&control.name) };
        let name = &control.name;
        let why = match evaluation.judge(case, expect, measure) {
            Finding::Contradicted(_) if evaluation.did_nothing(case, measure) => {
                format!("its control “{name}” says nothing: there `{}` finished nothing", measure.subject)
            }
            Finding::Contradicted(claim) => {
                // What a share does to a control is not what its cause does.
                match standstill::reason(&evaluation, case, expect, measure) {
                    None => {
                        verdict.control = Control::Failed(failed_in(verdict.control, claim));
                        continue;
                    }
                    Some(why) => format!("its control “{name}” says nothing: {why}"),
                }
            }
            Finding::Unknown(_) if run.lost_controls.contains(name) => {
                format!("its control “{name}” is missing from the folder")
            }
            Finding::Unknown(_) if !run.controls.iter().any(|case| evaluation.is_mine(case)) => {
                verdict.control = Control::NotRun;
                return;
            }
            Finding::Unknown(why) => format!("its control “{name}” says nothing: {why}"),
            Finding::Confirmed(_) => format!("it holds without its cause as well: control “{name}”"),
        };
        verdict.outcome = Outcome::NotTestable;
        verdict.why = why;
        return;
    }
}

/// Of what controls failed a statement, one after the other.
fn failed_in(before: Control, claim: Option<Claim>) -> Option<Claim> {
    match before {
        Control::Failed(Some(other)) => Some(claim.map_or(other, |claim| claim.and(other))),
        _ => claim,
    }
}

/// What came of one control for one expectation.
pub(super) struct ControlRow {
    /// What it changes, from which value to which: this is what was tested.
    pub(super) changed: String,
    /// The cause that it takes away, as the file says.
    pub(super) removes: String,
    /// What is expected to fail.
    pub(super) say: String,
    /// What was measured there.
    pub(super) found: String,
    /// Whether it failed, in words.
    pub(super) outcome: String,
}

/// Whether a statement failed in a control, in words.
fn control_outcome(
    run: &RunData,
    case: &CaseData,
    expect: &Expect,
    measure: &Measure,
    control: &model::Control,
) -> String {
    let evaluation = Evaluation { run, control: Some(&control.name) };
    match evaluation.judge(case, expect, measure) {
        Finding::Contradicted(_) if evaluation.did_nothing(case, measure) => "undecided".to_owned(),
        Finding::Contradicted(None) => "failed, as it must".to_owned(),
        Finding::Contradicted(Some(claim)) => format!("failed {}, as it must", claim.place()),
        Finding::Confirmed(None) => "holds as well".to_owned(),
        Finding::Confirmed(Some(claim)) => format!("holds as well {}", claim.place()),
        Finding::Unknown(_)
            if run.lost_controls.contains(&control.name)
                || run.controls.iter().any(|case| evaluation.is_mine(case)) =>
        {
            "undecided".to_owned()
        }
        Finding::Unknown(_) => "not run".to_owned(),
    }
}

/// What was expected to fail in each control, and whether it did.
pub(super) fn controls(run: &RunData) -> Vec<ControlRow> {
    let mut rows = Vec::new();
    for control in &run.experiment.file.control {
        let evaluation = Evaluation { run, control: Some(&control.name) };
        let changed = changed_by(run, control);
        for case in &run.cases {
            for expect in &case.plan.evaluation.expectations {
                let is_meant = expect.name.as_ref().is_some_and(|name| control.fails.contains(name));
                let Ok(measure) = expect.value.parse::<Measure>() else { continue };
                let elsewhere = measure.case.as_ref().is_some_and(|name| *name != case.plan.case);
                if !is_meant || elsewhere {
                    continue;
                }
                let outcome = control_outcome(run, case, expect, &measure, control);
                let found = evaluation.estimate(case, &measure);
                let found = found.map_or_else(
                    || "–".to_owned(),
                    |found| with_unit(found.mean, measure.unit_in(&case.plan)),
                );
                let (removes, say) = (control.removes.clone(), expect.say.clone());
                rows.push(ControlRow { changed: changed.clone(), removes, say, found, outcome });
            }
        }
    }
    rows
}
