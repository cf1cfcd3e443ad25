//! The experiment file of the persistent cache.

use packet::time::Duration;
use repo::eviction::{DeletionRule, PolicySpec};
use repo::workload::{Reading, Workload};
use serde::Deserialize;

use super::results::Place;
use crate::study::ExperimentError;

/// The experiment file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Experiment {
    /// Read before, to find this study.
    #[serde(rename = "kind")]
    _kind: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) seed: u64,
    pub(super) repeats: u32,
    /// From the first deletion on.
    pub(super) length_s: u64,
    /// The shares of the repository that a deletion frees.
    pub(super) ratios: Vec<f64>,
    #[serde(rename = "workload")]
    pub(super) workloads: Vec<WorkloadSection>,
    #[serde(default, rename = "departure")]
    pub(super) departures: Vec<Departure>,
    /// Repeats of departures.
    #[serde(default = "ten")]
    pub(super) departure_repeats: u32,
    pub(super) policies: Option<PoliciesSection>,
}

fn ten() -> u32 {
    10
}

/// A column of the paper's Table I.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WorkloadSection {
    pub(super) name: String,
    popularity_alpha: f64,
    files_alpha: f64,
    size_shape: f64,
    size_scale_kb: f64,
    min_kb: u64,
    max_kb: u64,
    request_s: f64,
    file_s: f64,
    pub(super) thresholds_gb: Vec<u64>,
    /// Numbers that the paper gives.
    #[serde(default)]
    pub(super) paper: Vec<PaperCell>,
}

/// A number that the paper gives.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PaperCell {
    pub(super) gb: u64,
    pub(super) ratio: f64,
    /// Of all requests, in per cent.
    pub(super) hits: f64,
}

/// A single departure from the text of the paper. What is not said is as in the text.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Departure {
    pub(super) name: String,
    /// Files that exist upstream before the first request.
    #[serde(default)]
    first_files: u32,
    /// Only so many of the newest files are asked for.
    newest_only: Option<u32>,
    /// Whether the last class has most files.
    #[serde(default = "yes")]
    last_has_most: bool,
    /// Whether requests that create files count as hits.
    #[serde(default)]
    new_are_hits: bool,
    /// Whether what is fetched is included.
    #[serde(default = "yes")]
    keeps_missed: bool,
    /// Zipf's exponent of the numbers of files of classes.
    files_alpha: Option<f64>,
    /// Seconds between requests.
    request_s: Option<f64>,
    /// What sizes are multiplied with.
    size_factor: Option<f64>,
    /// Seconds of evaluation.
    pub(super) length_s: Option<u64>,
    /// Bytes of a gigabyte.
    gigabyte: Option<u64>,
    /// Instead of the paper's queue.
    policy: Option<String>,
}

fn yes() -> bool {
    true
}

/// Which policies are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PoliciesSection {
    pub(super) repeats: u32,
    /// Policies with their parameters.
    pub(super) names: Vec<String>,
    pub(super) ratios: Vec<f64>,
    /// Zipf's exponents of catalogues without classes.
    #[serde(default)]
    pub(super) zipf: Vec<f64>,
    /// Objects of such a catalogue.
    #[serde(default)]
    pub(super) objects: u32,
    /// Requests for them that count; as many come before.
    #[serde(default)]
    pub(super) requests: u32,
    /// Parts of such a catalogue's bytes that there is room for.
    #[serde(default)]
    pub(super) rooms: Vec<f64>,
}

/// How one run is made.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) workload: Workload,
    pub(super) reading: Reading,
    pub(super) gigabyte: u64,
    pub(super) length: Duration,
    pub(super) policy: Option<PolicySpec>,
}

impl Setting {
    pub(super) fn rule(&self, gb: u64, ratio: f64) -> DeletionRule {
        DeletionRule { threshold_bytes: gb.saturating_mul(self.gigabyte), ratio }
    }
}

impl WorkloadSection {
    fn workload(&self) -> Workload {
        let seconds = Duration::from_secs_f64;
        Workload {
            popularity_alpha: self.popularity_alpha,
            files_alpha: self.files_alpha,
            size_shape: self.size_shape,
            size_scale_bytes: self.size_scale_kb * 1000.0,
            min_bytes: self.min_kb * 1000,
            max_bytes: self.max_kb * 1000,
            request_interval: seconds(self.request_s),
            file_interval: seconds(self.file_s),
        }
    }

    pub(super) fn paper(&self, gb: u64, ratio: f64) -> Option<f64> {
        self.paper.iter().find(|cell| cell.gb == gb && cell.ratio == ratio).map(|cell| cell.hits)
    }
}

impl Experiment {
    /// As the text of the paper says.
    pub(super) fn literal(&self, workload: &WorkloadSection) -> Setting {
        Setting {
            workload: workload.workload(),
            reading: Reading::LITERAL,
            gigabyte: 1_000_000_000,
            length: Duration::from_secs(self.length_s),
            policy: None,
        }
    }

    /// The same with a departure.
    pub(super) fn departed(
        &self,
        workload: &WorkloadSection,
        departure: &Departure,
    ) -> Result<Setting, ExperimentError> {
        let mut setting = self.literal(workload);
        setting.reading = Reading {
            first_files: departure.first_files,
            newest_only: departure.newest_only,
            last_has_most: departure.last_has_most,
            new_are_hits: departure.new_are_hits,
            keeps_missed: departure.keeps_missed,
        };
        let (table, factor) = (&mut setting.workload, departure.size_factor.unwrap_or(1.0));
        table.files_alpha = departure.files_alpha.unwrap_or(table.files_alpha);
        table.size_scale_bytes *= factor;
        if let Some(seconds) = departure.request_s {
            table.request_interval = Duration::from_secs_f64(seconds);
        }
        setting.length = departure.length_s.map_or(setting.length, Duration::from_secs);
        setting.gigabyte = departure.gigabyte.unwrap_or(setting.gigabyte);
        setting.policy = departure.policy.as_deref().map(policy).transpose()?;
        Ok(setting)
    }

    /// What a column of a table says of a configuration.
    pub(super) fn column(&self, place: Place) -> String {
        let name = self.workloads.get(place.workload).map_or("", |section| section.name.as_str());
        let name: String = name.chars().take(3).collect();
        format!("{name} {} {}", place.gb, ratio_text(place.ratio))
    }

    /// Whether there is nothing that would never end or fill all memory.
    pub(super) fn check(&self) -> Result<(), ExperimentError> {
        let bad = |what: &str| Err(ExperimentError::Format(what.to_owned()));
        for workload in &self.workloads {
            let Workload { request_interval, file_interval, size_shape, min_bytes, max_bytes, .. } =
                workload.workload();
            if request_interval < SHORTEST || file_interval < SHORTEST {
                return bad("request-s and file-s must be a millisecond at least");
            }
            if !(size_shape >= 1.0 && min_bytes <= max_bytes && max_bytes <= u64::from(u32::MAX)) {
                return bad("size-shape must be at least 1, and min-kb at most max-kb, 4 GB or less");
            }
            if min_bytes == 0 || workload.thresholds_gb.iter().any(|gb| !(1..=100_000).contains(gb)) {
                return bad("min-kb and thresholds-gb must be at least 1, and thresholds-gb at most 100,000");
            }
        }
        if self.departures.iter().any(|departure| departure.first_files > MOST_FILES) {
            return bad("first-files must be at most ten million");
        }
        if self
            .departures
            .iter()
            .any(|departure| departure.request_s.is_some_and(|s| s.is_nan() || s < 0.001))
        {
            return bad("request-s must be a millisecond at least");
        }
        if self.policies.as_ref().is_some_and(|section| section.objects > MOST_FILES) {
            return bad("objects must be at most ten million");
        }
        Ok(())
    }
}

const SHORTEST: Duration = Duration::from_millis(1);
const MOST_FILES: u32 = 10_000_000;

/// A policy by its name and parameters.
pub(super) fn policy(text: &str) -> Result<PolicySpec, ExperimentError> {
    text.parse().map_err(|error| ExperimentError::Format(format!("policy: {error}")))
}

/// Half and a quarter, as the paper calls them.
pub(super) fn ratio_text(ratio: f64) -> String {
    format!("DR{:.0}", ratio * 100.0)
}
