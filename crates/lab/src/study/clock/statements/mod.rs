//! What the paper says, sentence by sentence, held against the runs; and against runs without its cause, in
//! which the sentence must fail.

pub(super) mod dumbbell;
pub(super) mod linear;

use super::experiment::{Experiment, Point};
use super::scenario::{Outcome, Recorded};
use super::summary::Results;
use crate::stats::{Sample, are_equal};
use crate::study::report::{StudyCell, StudyTable};
use crate::study::statement::Verdict;

/// What a sentence of the paper rests on, and its control does without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The clock ticks coarsely. Without: a fine clock.
    Ticks,
    /// Interests leave in bursts, one at each tick. Without: smoothened.
    Bursts,
    /// A burst is large for the bucket. Without: a bucket of [`DEEP`].
    ShallowBucket,
    /// Interests also leave when something arrives. Without: at ticks alone.
    Smoothening,
    /// There are several flows. Without: one.
    OtherFlows,
}

/// A bucket that no burst of the study fills.
const DEEP: u32 = 500;

impl Cause {
    fn without(self) -> &'static str {
        match self {
            Cause::Ticks => "with a fine clock",
            Cause::Bursts => "smoothened",
            Cause::ShallowBucket => "with a depth of 500",
            Cause::Smoothening => "without smoothening",
            Cause::OtherFlows => "with one flow",
        }
    }
}

/// A sentence of the paper.
pub(super) struct Claim {
    /// Where it stands.
    pub(super) section: &'static str,
    pub(super) says: &'static str,
    pub(super) test: Test,
}

/// How a sentence is tested. A test gives nothing where the study has no runs for it.
pub(super) enum Test {
    /// Numbers decide, and must decide otherwise in the control.
    Numbers(Decide, Control),
    /// Nothing else could happen; if it does all the same, the sentence is contradicted.
    ByConstruction(Decide),
    /// Nothing here could tell, for this reason.
    Untested(&'static str),
}

pub(super) type Decide = fn(&Numbers<'_>) -> Option<Evidence>;

/// What is to be seen where a sentence must fail.
#[derive(Clone, Copy)]
pub(super) enum Control {
    Without(Cause),
    /// There can be none, for this reason.
    None(&'static str),
}

/// What the numbers say.
pub(super) struct Evidence {
    pub(super) verdict: Verdict,
    pub(super) evidence: String,
}

/// The table of some sentences in one reading of the paper.
pub(super) fn table(claims: &[Claim], numbers: &Numbers<'_>) -> StudyTable {
    let word = &numbers.experiment.readings[numbers.reading].name;
    let mut table = StudyTable::new(
        &format!("statements-{word}"),
        &format!("What the paper says, and what came of it (reading {word:?})"),
        &["section", "statement", "verdict", "here", "control"],
    );
    for claim in claims {
        let Some(JudgedClaim { verdict, evidence, control }) = judged(claim, numbers) else { continue };
        let cells = [claim.section, claim.says, verdict.word()].map(StudyCell::from);
        table.rows.push(cells.into_iter().chain([evidence.into(), control.into()]).collect());
    }
    table.notes.push(if numbers.experiment.sweep.other_starts > 0 {
        "That a number is less than another is known when all of the 95 % interval of their difference says so."
            .into()
    } else {
        "From one start time: another may bring several per cent more or less.".to_owned()
    });
    table
}

struct JudgedClaim {
    verdict: Verdict,
    evidence: String,
    control: String,
}

fn judged(claim: &Claim, numbers: &Numbers<'_>) -> Option<JudgedClaim> {
    match claim.test {
        Test::Numbers(decide, control) => {
            let Evidence { verdict, evidence } = decide(numbers)?;
            let (verdict, control) = match control {
                // What does not hold has no cause that could be taken away.
                _ if verdict != Verdict::Confirmed => (verdict, String::new()),
                Control::None(why) => (verdict, format!("none: {why}")),
                Control::Without(cause) => {
                    controlled(cause, decide(&Numbers { without: Some(cause), ..*numbers }))
                }
            };
            Some(JudgedClaim { verdict, evidence, control })
        }
        Test::ByConstruction(decide) => {
            let Evidence { verdict, evidence } = decide(numbers)?;
            let verdict = if verdict == Verdict::Confirmed { Verdict::ByConstruction } else { verdict };
            Some(JudgedClaim { verdict, evidence, control: String::new() })
        }
        Test::Untested(why) => Some(JudgedClaim {
            verdict: Verdict::NotTestable,
            evidence: why.to_owned(),
            control: String::new(),
        }),
    }
}

/// The verdict on what is confirmed, and what its control shows.
fn controlled(cause: Cause, without: Option<Evidence>) -> (Verdict, String) {
    let what = cause.without();
    match without {
        None => (Verdict::Confirmed, format!("none: no runs {what}")),
        Some(Evidence { verdict: Verdict::Contradicted, evidence }) => {
            (Verdict::Confirmed, format!("fails {what}: {evidence}"))
        }
        Some(Evidence { evidence, .. }) => {
            (Verdict::NotTestable, format!("does not fail {what}: {evidence}"))
        }
    }
}

/// The runs of one reading; of a control, those without a cause.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) results: &'a Results,
    pub(super) reading: usize,
    pub(super) without: Option<Cause>,
}

/// A number of a run.
pub(super) type Quantity = fn(&Outcome) -> f64;

impl Numbers<'_> {
    fn point(&self, pairs: usize, depth: u32, tick_ms: f64, smoothened: bool) -> Point {
        let without = |cause| self.without == Some(cause);
        let tick_ms = if without(Cause::Ticks) { 0.0 } else { tick_ms };
        let smoothened = (smoothened || without(Cause::Bursts)) && !without(Cause::Smoothening);
        // There is nothing to smoothen in a fine clock.
        let smoothened = smoothened && tick_ms > 0.0;
        let pairs = if without(Cause::OtherFlows) { 1 } else { pairs };
        let depth = if without(Cause::ShallowBucket) { DEEP } else { depth };
        Point { reading: self.reading, pairs, depth, tick_ms, smoothened, start: 0 }
    }

    /// A number over all start times.
    fn sample(&self, point: &Point, value: Quantity) -> Option<Sample> {
        let values: Vec<f64> = self.results.all_starts(point).map(value).collect();
        // Nothing of a fine clock depends on when it was set going.
        let exact = self.experiment.sweep.other_starts == 0 || (point.tick_ms <= 0.0 && are_equal(&values));
        // Start times are no draws: they stand evenly over a tick, so that none of it is left unseen.
        (!values.is_empty()).then_some(Sample { values, exact, by_construction: true, ..Sample::default() })
    }

    /// How many Nacks came, over all start times.
    fn nacks(&self, point: &Point) -> Option<Sample> {
        self.sample(point, |outcome| outcome.nacks() as f64)
    }

    /// What was written down of the run that starts as the file says.
    fn recorded(&self, point: &Point) -> Option<&Recorded> {
        self.results.get(point)?.recorded.as_ref()
    }

    /// The first bucket depth that the study has.
    fn first_depth(&self) -> Option<u32> {
        self.experiment.sweep.bucket_depths.first().copied()
    }
}

fn highest(sample: &Sample) -> f64 {
    sample.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn lowest(sample: &Sample) -> f64 {
    sample.values.iter().copied().fold(f64::INFINITY, f64::min)
}
