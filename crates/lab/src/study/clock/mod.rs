//! How coarse may a clock be? (Kato, Osada, Yamamoto, Ohzahata, "Impacts of System Clock Granularity on
//! Performance of NDN Rate-based Congestion Control", 2018.)
//!
//! A consumer that sends at a rate, and whose clock ticks coarsely, sends bursts; its own node's token bucket
//! answers what does not fit with Nacks, and the rate falls. The paper measures that in a line of four nodes
//! and in a dumbbell, and proposes to send what is due at every arrival of Data or a Nack as well.

mod beyond;
mod consumer;
mod dumbbell;
mod experiment;
mod linear;
mod scenario;
mod statements;
mod summary;

use super::{Findings, Runner, StudyError};
use crate::experiment::model::File;
use crate::experiment::model::study::{ClockBeyond, ClockStudy};
use crate::study::report::Report;

/// Flows have similar shares from this index of Jain's on.
const SIMILAR: f64 = 0.98;

/// A study of clocks as a file has it.
#[derive(Clone, Debug)]
pub(super) enum Clock {
    /// What the paper does.
    Paper(experiment::Experiment),
    /// What it left for later.
    Beyond(beyond::Experiment),
}

impl Clock {
    pub(super) fn of_paper(file: &File, study: &ClockStudy, f: &mut Findings) -> Option<Self> {
        experiment::Experiment::of(file, study, f).map(Clock::Paper)
    }

    pub(super) fn beyond(file: &File, study: &ClockBeyond, f: &mut Findings) -> Option<Self> {
        beyond::Experiment::of(file, study, f).map(Clock::Beyond)
    }

    pub(super) fn run(&self, runner: &Runner<'_>) -> Result<Report, StudyError> {
        match self {
            Clock::Paper(experiment) if experiment.sweep.pairs.is_empty() => linear::run(experiment, runner),
            Clock::Paper(experiment) => dumbbell::run(experiment, runner),
            Clock::Beyond(experiment) => beyond::run(experiment, runner),
        }
    }
}
