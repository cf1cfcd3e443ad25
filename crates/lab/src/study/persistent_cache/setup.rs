//! What all parts of the study start from: the requests, for how long, and the random numbers.

use packet::random::Random;
use packet::time::Duration;
use repo::evaluation::{Reading, Workload};
use repo::eviction::{DeletionRule, ObjectEvictionSpec};

use super::units::{GIGABYTE, ratio_text};
use super::workload_section::WorkloadSection;

/// What all parts of the study start from.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) seed: u64,
    /// From the first deletion on.
    pub(super) length: Duration,
    pub(super) workloads: Vec<WorkloadSection>,
}

/// A configuration: which workload, how many gigabytes, which part is deleted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Configuration {
    pub(super) workload: usize,
    pub(super) gb: u64,
    pub(super) ratio: f64,
}

/// How one run is made.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) workload: Workload,
    pub(super) reading: Reading,
    pub(super) gigabyte: u64,
    pub(super) length: Duration,
    pub(super) policy: Option<ObjectEvictionSpec>,
}

impl Setting {
    pub(super) fn rule(&self, gb: u64, ratio: f64) -> DeletionRule {
        DeletionRule { threshold_bytes: gb.saturating_mul(self.gigabyte), ratio }
    }
}

impl Setup {
    /// As the text of the paper says.
    pub(super) fn literal(&self, workload: &WorkloadSection) -> Setting {
        Setting {
            workload: workload.workload,
            reading: Reading::LITERAL,
            gigabyte: GIGABYTE,
            length: self.length,
            policy: None,
        }
    }

    /// What a column of a table says of a configuration.
    pub(super) fn column(&self, place: Configuration) -> String {
        let name = self.workloads.get(place.workload).map_or("", |section| section.name.as_str());
        let name: String = name.chars().take(3).collect();
        format!("{name} {} {}", place.gb, ratio_text(place.ratio))
    }

    /// The random numbers of a repeat: all configurations of a workload see the same requests.
    pub(super) fn stream(&self, workload: usize, repeat: u32) -> Random {
        Random::derive(self.seed, (workload as u64) << 32 | u64::from(repeat))
    }
}
