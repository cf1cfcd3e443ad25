//! When downloads begin, and of which file.

use std::collections::BTreeMap;

use flow::WorkloadSpec;
use flow::workload::{Outcome, Replay, Setting, Workload};
use packet::time::{Duration, Instant};

use super::error::{self, JobError};
use crate::experiment::plan::ArrivalsPlan;

/// Decides about the downloads of a workload.
#[derive(Debug)]
pub(super) enum Arrivals {
    /// File after file, at a rate or each when the one before has ended.
    Evenly { start: Instant, per_second: Option<f64>, files: u32 },
    /// Whatever a workload asks for, until the end.
    Drawn {
        workload: Box<dyn Workload>,
        files: u32,
        stop: Instant,
        asked: BTreeMap<u32, u64>,
        /// How many are ordered, of those that have an end.
        ordered: Option<u64>,
    },
}

/// As many that never began are noted one by one; a run that leaves so much is no more valid with more.
const MAX_MISSING: u32 = 100_000;

impl Arrivals {
    /// What a plan says, for so many files. `ordered` of them are to be begun, where that is known.
    pub(super) fn drawn(
        plan: &ArrivalsPlan,
        start: Instant,
        stop: Instant,
        files: u32,
        seed: u64,
        ordered: Option<u64>,
    ) -> Result<Self, JobError> {
        let workload: Box<dyn Workload> = match plan {
            ArrivalsPlan::Workload(text) => {
                let spec: WorkloadSpec = error::spec(text)?;
                let setting = Setting { begin: start, end: stop, items: Some(files.into()), seed };
                spec.start(&setting).map_err(|source| JobError::Spec { spec: text.clone(), source })?
            }
            ArrivalsPlan::Trace(trace) => {
                let own = trace.own().map(|(at, file)| (start + Duration::from_nanos(at), file.into()));
                Box::new(Replay::new(own.collect()))
            }
        };
        Ok(Arrivals::Drawn { workload, files: files.max(1), stop, asked: BTreeMap::new(), ordered })
    }

    /// When the next download begins, after so many of which so many run.
    pub(super) fn next(&self, begun: u32, running: usize) -> Instant {
        match self {
            Arrivals::Evenly { start, per_second: Some(rate), .. } => {
                *start + Duration::from_secs_f64(f64::from(begun) / rate)
            }
            Arrivals::Evenly { start, .. } if running == 0 => *start,
            Arrivals::Evenly { .. } => Instant::NEVER,
            Arrivals::Drawn { workload, stop, .. } => {
                let next = workload.next_deadline();
                if next < *stop { next } else { Instant::NEVER }
            }
        }
    }

    /// The file of the download of that number, which begins now.
    pub(super) fn file(&mut self, now: Instant, number: u32) -> Option<u32> {
        match self {
            Arrivals::Evenly { files, .. } => Some(number % (*files).max(1)),
            Arrivals::Drawn { workload, files, asked, .. } => {
                let item = workload.poll_item(now)?;
                asked.insert(number, item);
                u32::try_from(item % u64::from(*files)).ok()
            }
        }
    }

    /// The download of that number is complete.
    pub(super) fn ended(&mut self, now: Instant, number: u32, took: Duration) {
        if let Arrivals::Drawn { workload, asked, .. } = self
            && let Some(item) = asked.remove(&number)
        {
            workload.handle_outcome(now, item, Outcome::Data { round_trip: took });
        }
    }

    /// Whether nothing more begins after so many, if none runs.
    pub(super) fn is_over(&self, begun: u32, count: u32) -> bool {
        begun >= count
            || matches!(self, Arrivals::Drawn { workload, .. }
                if workload.is_complete() || self.next(begun, 0) == Instant::NEVER)
    }

    /// The downloads that should have begun and have not, from that number on, each with its file where that
    /// is known: what a workload would have asked for is decided as time goes by.
    pub(super) fn missing(&self, begun: u32, count: u32) -> Vec<(u32, Option<u32>)> {
        match self {
            Arrivals::Evenly { files, .. } => {
                let end = begun.saturating_add(MAX_MISSING).min(count);
                (begun..end).map(|number| (number, Some(number % (*files).max(1)))).collect()
            }
            Arrivals::Drawn { ordered, .. } => {
                let end = u32::try_from(ordered.unwrap_or(0)).unwrap_or(u32::MAX);
                let end = end.min(begun.saturating_add(MAX_MISSING)).min(count);
                (begun..end).map(|number| (number, None)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_thousand_million_downloads_that_never_began_not_all_are_noted() {
        let arrivals = Arrivals::Evenly { start: Instant::ZERO, per_second: None, files: 7 };
        let missing = arrivals.missing(9, 1_000_000_000);
        assert_eq!((missing.len(), missing.first()), (100_000, Some(&(9, Some(2)))));
        assert_eq!(arrivals.missing(9, 12).len(), 3);
        assert_eq!(arrivals.missing(u32::MAX - 1, u32::MAX).len(), 1);
    }
}
