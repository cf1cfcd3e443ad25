//! The plan and the seed of each attempt of a repeat.

use super::error::RunError;
use crate::experiment::{DrawnAgain, Experiment, Plan};

/// The cases from which networks of repeats are drawn, where any is.
pub(super) fn drawn_again<'a>(
    experiment: &'a Experiment,
    plans: &[Plan],
    backend: &str,
) -> Result<Option<DrawnAgain<'a>>, RunError> {
    let any = plans.iter().any(|plan| plan.schedule.drawn);
    Ok(any.then(|| experiment.drawn_again(backend)).transpose()?)
}

/// The plan of one attempt: where anything is drawn with the seed, each has a network of its own.
pub(super) fn plan_of_attempt(
    drawn: Option<&DrawnAgain<'_>>,
    plan: &Plan,
    seed: u64,
) -> Result<Plan, RunError> {
    let Some(drawn) = drawn.filter(|_| plan.schedule.drawn) else { return Ok(plan.clone()) };
    let mut drawn = drawn.plan(plan, seed)?;
    drawn.recording.trace.format = plan.recording.trace.format;
    Ok(drawn)
}

/// The seed of an attempt of a repeat. Behind the largest number comes zero.
pub(super) fn seed_of(plan: &Plan, repeat: u32, attempt: usize) -> u64 {
    plan.schedule.seed.wrapping_add(u64::from(repeat)).wrapping_add((attempt as u64) << 32)
}
