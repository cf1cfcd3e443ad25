//! Why nothing can be run as it was asked for.

use std::path::PathBuf;

use super::experiment_hashes::named;
use super::shard::Shard;
use crate::experiment::Finding;
use crate::experiment::plan::MAX_REPEATS;

/// The largest seed: what a file can hold. Each repeat has its own, counted on from it.
pub(super) const MAX_SEED: u64 = i64::MAX as u64;

/// Why there is nothing to run, or nothing that belongs together.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The experiment on this backend.
    #[error("{}", told(.0))]
    Findings(Vec<Finding>),
    /// A share of fewer cases than there are shares.
    #[error("no case is in the share {0}: there are fewer cases")]
    EmptyShare(Shard),
    /// More repeats than a run can have.
    #[error(
        "{cases} cases of {repeats} repeats each are too many: {MAX_REPEATS} repeats of all cases are the most"
    )]
    TooManyRepeats {
        /// How many cases there are.
        cases: usize,
        /// Repeats of each.
        repeats: u32,
    },
    /// A seed that leaves the seeds of later repeats no room.
    #[error("the seed {0} is too large: {MAX_SEED} is the largest, here as in a file")]
    SeedTooLarge(u64),
    /// A merge of no runs.
    #[error("there is nothing to be merged")]
    NothingToMerge,
    /// A merge of runs that are not of one whole.
    #[error("{}: it is a run of another experiment, backend, seed or number of repeats", .0.display())]
    OtherRun(PathBuf),
    /// An experiment that was changed since its run began.
    #[error(
        "{}: {} of its experiment.toml is not what the run began with, and what was measured would be put beside \
         what something else brings; put it back, or start anew with: {again}",
        .folder.display(), named(.parts)
    )]
    Changed {
        /// The run's folder.
        folder: PathBuf,
        /// What was changed.
        parts: Vec<String>,
        /// The command that runs what is there now.
        again: String,
    },
    /// A merge of runs that have a case in common.
    #[error("{}: its case `{case}` is in another run, too", .part.display())]
    CaseTwice {
        /// The later run.
        part: PathBuf,
        /// The case.
        case: String,
    },
    /// A study with an option that is for cases.
    #[error("{experiment}: a study {unfit}")]
    Study {
        /// The experiment's file.
        experiment: String,
        /// What was asked for.
        unfit: UnfitForStudy,
    },
    /// Both one share and a number of shares.
    #[error("--shard is of no use here: --shards says how many there are")]
    ShardOfShards,
    /// More tasks than cases, or than a cluster takes.
    #[error("{cases} cases cannot be shared out over {shards} tasks; the most is {most}")]
    TooManyShares {
        /// How many cases there are.
        cases: usize,
        /// How many tasks were asked for.
        shards: u32,
        /// How many there can be.
        most: u32,
    },
    /// A folder of something else.
    #[error("{} is no sweep that waits for its parts", .0.display())]
    NoSweep(PathBuf),
    /// A part behind the last.
    #[error("there is no part {number} of {parts}")]
    NoPart {
        /// The part.
        number: u32,
        /// How many there are.
        parts: u32,
    },
}

/// What a study has no use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfitForStudy {
    /// A backend with real forwarders.
    #[error("is only in virtual time: run it with --on sim")]
    Backend,
    /// A choice of cases.
    #[error("has no cases: leave --only away")]
    Only,
    /// A share of the cases.
    #[error("has no cases: leave --shard away")]
    Shard,
    /// A form of traces.
    #[error("writes no traces: leave --format away")]
    TraceFormat,
    /// Tasks of a cluster.
    #[error("has no cases that could be shared out: run it with --on sim")]
    Shares,
}

/// The first of them, for what is wrong with one case is often wrong with thousands.
fn told(findings: &[Finding]) -> String {
    const MAX_FINDINGS: usize = 10;
    let first =
        findings.iter().take(MAX_FINDINGS).map(|finding| format!("{}: {}", finding.key, finding.message));
    let text = first.collect::<Vec<String>>().join("; ");
    match findings.len().saturating_sub(MAX_FINDINGS) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}
