//! Which cases and repeats a run consists of.

use std::collections::HashSet;

use super::error::RunError;
use super::folder::{RunRecord, is_of_a_run};
use super::options::Options;
use super::plan_error::PlanError;
use super::records;
use crate::backend::Backend;
use crate::experiment::plan::TraceFormat;
use crate::experiment::{Experiment, Plan};

/// What a run says itself, whatever its experiment does.
#[derive(Clone, Copy, Default)]
struct Overrides {
    repeats: Option<u32>,
    seed: Option<u64>,
    trace_format: Option<TraceFormat>,
}

/// The plans a run consists of.
fn plans(experiment: &Experiment, backend: &str, overrides: Overrides) -> Result<Vec<Plan>, RunError> {
    let change = |mut plan: Plan| {
        plan.schedule.repeats = overrides.repeats.unwrap_or(plan.schedule.repeats);
        plan.schedule.seed = overrides.seed.unwrap_or(plan.schedule.seed);
        plan.recording.trace.format = overrides.trace_format.unwrap_or(plan.recording.trace.format);
        plan
    };
    Ok(experiment.plans(backend)?.into_iter().map(change).collect())
}

/// The plans of a run that was begun.
pub(super) fn plans_of(experiment: &Experiment, record: &RunRecord) -> Result<Vec<Plan>, RunError> {
    let RunRecord { repeats, seed, trace_format, .. } = *record;
    let overrides = Overrides { repeats: Some(repeats), seed: None, trace_format };
    let mut plans = plans(experiment, &record.backend, overrides)?;
    let cases: HashSet<&String> = record.cases.iter().collect();
    plans.retain(|plan| cases.contains(&plan.case));
    with_seed_of(&mut plans, seed);
    Ok(plans)
}

/// Gives the cases of a run the seeds that they had. Its record has that of the first case. Unless it was
/// given for all, cases have seeds of their own.
pub(crate) fn with_seed_of(plans: &mut [Plan], seed: u64) {
    if plans.first().is_some_and(|plan| plan.schedule.seed != seed) {
        plans.iter_mut().for_each(|plan| plan.schedule.seed = seed);
    }
}

/// What a run consists of.
pub(super) struct Chosen {
    pub(super) plans: Vec<Plan>,
    /// So many there are, with those that are in the shares of others.
    pub(super) of: usize,
    /// So many of the first of those are in this share.
    pub(super) before: usize,
}

/// What options leave of an experiment, once it is clear that it can be run there.
pub(super) fn chosen(
    experiment: &Experiment,
    options: &Options,
    backend: &dyn Backend,
) -> Result<Chosen, RunError> {
    experiment.can_run_on(&options.backend)?;
    let Options { repeats, trace_format, .. } = *options;
    // What the file says by now holds as in any file: cases and sweeps may have seeds of their own.
    let seed = options.seed.filter(|seed| experiment.file.seed != Some(*seed));
    let mut plans = plans(experiment, &options.backend, Overrides { repeats, seed, trace_format })?;
    plans.retain(|plan| options.controls || plan.control.is_none());
    if let Some(only) = &options.only {
        let named = |plan: &Plan| match plan.case.as_str() {
            "" => "one without a name, which `--only` cannot choose".to_owned(),
            name => name.to_owned(),
        };
        let names: Vec<String> = plans.iter().map(named).collect();
        plans.retain(|plan| plan.case.contains(only.as_str()));
        if plans.is_empty() {
            return Err(RunError::NoCase(only.clone(), names.join("; ")));
        }
    }
    let (of, mut before) = (plans.len(), records::FOLDERS_KEPT);
    if let Some(shard) = options.shard {
        shard.retain(&mut plans);
        before = shard.of_first(records::FOLDERS_KEPT);
        if plans.is_empty() {
            return Err(PlanError::EmptyShare(shard).into());
        }
    }
    let repeats = plans.first().map_or(0, |plan| plan.schedule.repeats);
    if !is_of_a_run(of, repeats) {
        return Err(PlanError::TooManyRepeats { cases: of, repeats }.into());
    }
    plans.iter().try_for_each(|plan| backend.check(plan))?;
    Ok(Chosen { plans, of, before })
}
