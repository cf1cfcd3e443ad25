//! What the study of the persistent cache does, in base units.

use packet::time::Duration;
use repo::eviction::{DeletionRule, PolicySpec};
use repo::workload::{Reading, Workload};

use super::hierarchy::HierarchySection;
use super::ranges::RangesSection;
use super::results::Place;
use super::several::SeveralSection;
use crate::experiment::model::File;
use crate::experiment::model::study::{
    CacheCell, CacheDeparture, CachePolicies, CacheWorkload, PersistentCacheStudy,
};
use crate::experiment::units::{Share, Size, Span};
use crate::study::{Findings, StudyError};

/// What the study does.
#[derive(Clone, Debug)]
pub(in crate::study) struct Experiment {
    pub(super) title: String,
    pub(super) seed: u64,
    pub(super) repeats: u32,
    /// From the first deletion on.
    pub(super) length: Duration,
    /// The shares of the repository that a deletion frees.
    pub(super) ratios: Vec<f64>,
    pub(super) workloads: Vec<WorkloadSection>,
    pub(super) departures: Vec<Departure>,
    /// Repeats of departures.
    pub(super) departure_repeats: u32,
    pub(super) policies: Option<PoliciesSection>,
    pub(super) ranges: Option<RangesSection>,
    pub(super) hierarchies: Vec<HierarchySection>,
    pub(super) several: Option<SeveralSection>,
}

/// A column of the paper's Table I.
#[derive(Clone, Debug)]
pub(super) struct WorkloadSection {
    pub(super) name: String,
    workload: Workload,
    pub(super) thresholds_gb: Vec<u64>,
    /// Numbers that the paper gives.
    paper: Vec<PaperCell>,
}

/// A number that the paper gives.
#[derive(Clone, Copy, Debug)]
struct PaperCell {
    gb: u64,
    ratio: f64,
    /// Of all requests, in per cent.
    hits: f64,
}

/// A single departure from the text of the paper. What is not said is as in the text.
#[derive(Clone, Debug)]
pub(super) struct Departure {
    pub(super) name: String,
    reading: Reading,
    files_alpha: Option<f64>,
    request_interval: Option<Duration>,
    size_factor: f64,
    length: Option<Duration>,
    gigabyte: u64,
    /// Instead of the paper's queue.
    policy: Option<PolicySpec>,
}

/// Which policies are compared.
#[derive(Clone, Debug)]
pub(super) struct PoliciesSection {
    pub(super) repeats: u32,
    /// Policies with their parameters.
    pub(super) names: Vec<String>,
    pub(super) ratios: Vec<f64>,
    /// Zipf's exponents of catalogues without classes.
    pub(super) zipf: Vec<f64>,
    /// Objects of such a catalogue.
    pub(super) objects: u32,
    /// Requests for them that count; as many come before.
    pub(super) requests: u32,
    /// Parts of such a catalogue's bytes that there is room for.
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
    fn of(key: &str, workload: &CacheWorkload, f: &mut Findings) -> Self {
        let mut check = |is_good: bool, end: &str, message: &str| {
            if !is_good {
                f.add(format!("{key}.{end}"), message, None);
            }
        };
        let [request_interval, file_interval] = [workload.request_every, workload.file_every].map(duration);
        check(request_interval >= SHORTEST, "request_every", TOO_OFTEN);
        check(file_interval >= SHORTEST, "file_every", TOO_OFTEN);
        check(workload.size_shape >= 1.0, "size_shape", "it must be 1 at least");
        let (min_bytes, max_bytes) = (workload.min_size.0, workload.max_size.0);
        check(
            min_bytes >= 1 && min_bytes <= max_bytes,
            "min_size",
            "it must be 1 B at least, and `max_size` at most",
        );
        check(max_bytes <= u64::from(u32::MAX), "max_size", "it must be 4 GB at most");
        let is_whole =
            |size: &Size| size.0.is_multiple_of(GIGABYTE) && (1..=100_000).contains(&(size.0 / GIGABYTE));
        check(
            workload.thresholds.iter().all(is_whole),
            "thresholds",
            "they must be whole GB, from 1 to 100,000",
        );
        let workload_of = Workload {
            popularity_alpha: workload.popularity_alpha,
            files_alpha: workload.files_alpha,
            size_shape: workload.size_shape,
            size_scale_bytes: workload.size_scale.0 as f64,
            min_bytes,
            max_bytes,
            request_interval,
            file_interval,
        };
        WorkloadSection {
            name: workload.name.clone(),
            workload: workload_of,
            thresholds_gb: workload.thresholds.iter().map(|size| size.0 / GIGABYTE).collect(),
            paper: workload.paper.iter().map(PaperCell::of).collect(),
        }
    }

    pub(super) fn paper(&self, gb: u64, ratio: f64) -> Option<f64> {
        self.paper.iter().find(|cell| cell.gb == gb && cell.ratio == ratio).map(|cell| cell.hits)
    }
}

impl PaperCell {
    fn of(cell: &CacheCell) -> Self {
        // Of what is written in percent no digit may change.
        let percent = (cell.hits.0 * 1e6).round() / 1e4;
        PaperCell { gb: cell.threshold.0 / GIGABYTE, ratio: cell.ratio.0, hits: percent }
    }
}

impl Departure {
    fn of(key: &str, departure: &CacheDeparture, f: &mut Findings) -> Self {
        if departure.first_files.is_some_and(|files| files > MOST_FILES) {
            f.add(format!("{key}.first_files"), TOO_MANY, None);
        }
        if departure.request_every.is_some_and(|span| duration(span) < SHORTEST) {
            f.add(format!("{key}.request_every"), TOO_OFTEN, None);
        }
        let policy = departure.policy.as_deref().map(str::parse).transpose();
        Departure {
            name: departure.name.clone(),
            reading: Reading {
                first_files: departure.first_files.unwrap_or(0),
                newest_only: departure.newest_only,
                last_has_most: departure.last_has_most.unwrap_or(true),
                new_are_hits: departure.new_are_hits.unwrap_or(false),
                keeps_missed: departure.keeps_missed.unwrap_or(true),
            },
            files_alpha: departure.files_alpha,
            request_interval: departure.request_every.map(duration),
            size_factor: departure.size_factor.unwrap_or(1.0),
            length: departure.duration.map(duration),
            gigabyte: departure.gigabyte.map_or(GIGABYTE, |size| size.0),
            policy: policy.unwrap_or_else(|error| {
                f.add(format!("{key}.policy"), format!("{error}"), None);
                None
            }),
        }
    }
}

impl PoliciesSection {
    fn of(policies: &CachePolicies, f: &mut Findings) -> Self {
        if policies.objects.is_some_and(|objects| objects > MOST_FILES) {
            f.add("study.persistent_cache.policies.objects", TOO_MANY, None);
        }
        for (number, name) in policies.names.iter().enumerate() {
            if let Err(error) = policy(name) {
                f.add(format!("study.persistent_cache.policies.names.{number}"), error.to_string(), None);
            }
        }
        PoliciesSection {
            repeats: policies.repeats,
            names: policies.names.clone(),
            ratios: shares(&policies.ratios),
            zipf: policies.zipf.clone(),
            objects: policies.objects.unwrap_or(0),
            requests: policies.requests.unwrap_or(0),
            rooms: shares(&policies.rooms),
        }
    }
}

impl Experiment {
    /// The study that a file has.
    pub(in crate::study) fn of(file: &File, study: &PersistentCacheStudy, f: &mut Findings) -> Self {
        let mut workloads = Vec::new();
        for (number, workload) in study.workload.iter().enumerate() {
            workloads.push(WorkloadSection::of(
                &format!("study.persistent_cache.workload.{number}"),
                workload,
                f,
            ));
        }
        let mut departures = Vec::new();
        for (number, departure) in study.departure.iter().enumerate() {
            departures.push(Departure::of(
                &format!("study.persistent_cache.departure.{number}"),
                departure,
                f,
            ));
        }
        let hierarchies = study.hierarchy.iter().enumerate();
        let hierarchies = hierarchies.map(|(number, given)| {
            let key = format!("study.persistent_cache.hierarchy.{number}");
            HierarchySection::of(&key, given, &workloads, f)
        });
        Experiment {
            title: file.title.clone(),
            seed: file.seed.unwrap_or(1),
            repeats: file.repeats.unwrap_or(1),
            length: duration(file.duration),
            ratios: shares(&study.ratios),
            hierarchies: hierarchies.collect(),
            ranges: study.ranges.as_ref().map(|given| RangesSection::of(given, &workloads, f)),
            several: study.several.as_ref().map(|given| SeveralSection::of(given, &workloads, f)),
            workloads,
            departures,
            departure_repeats: study.departure_repeats.unwrap_or(10),
            policies: study.policies.as_ref().map(|policies| PoliciesSection::of(policies, f)),
        }
    }

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

    /// The same with a departure.
    pub(super) fn departed(&self, workload: &WorkloadSection, departure: &Departure) -> Setting {
        let mut setting = self.literal(workload);
        setting.reading = departure.reading;
        let table = &mut setting.workload;
        table.files_alpha = departure.files_alpha.unwrap_or(table.files_alpha);
        table.size_scale_bytes *= departure.size_factor;
        table.request_interval = departure.request_interval.unwrap_or(table.request_interval);
        setting.length = departure.length.unwrap_or(setting.length);
        setting.gigabyte = departure.gigabyte;
        setting.policy.clone_from(&departure.policy);
        setting
    }

    /// What a column of a table says of a configuration.
    pub(super) fn column(&self, place: Place) -> String {
        let name = self.workloads.get(place.workload).map_or("", |section| section.name.as_str());
        let name: String = name.chars().take(3).collect();
        format!("{name} {} {}", place.gb, ratio_text(place.ratio))
    }
}

/// The place of the workload with this name.
pub(super) fn place_of(key: &str, name: &str, workloads: &[WorkloadSection], f: &mut Findings) -> usize {
    workloads.iter().position(|workload| workload.name == name).unwrap_or_else(|| {
        f.add(format!("{key}.workload"), format!("there is no workload {name}"), None);
        0
    })
}

const SHORTEST: Duration = Duration::from_millis(1);
const MOST_FILES: u32 = 10_000_000;
const GIGABYTE: u64 = 1_000_000_000;
const TOO_OFTEN: &str = "it must be 1 ms at least";
const TOO_MANY: &str = "there may be ten million at most";

pub(super) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.0)
}

pub(super) fn shares(list: &[Share]) -> Vec<f64> {
    list.iter().map(|share| share.0).collect()
}

/// A policy by its name and parameters.
pub(super) fn policy(text: &str) -> Result<PolicySpec, StudyError> {
    text.parse().map_err(|error| StudyError::Format(format!("policy: {error}")))
}

/// Half and a quarter, as the paper calls them.
pub(super) fn ratio_text(ratio: f64) -> String {
    format!("DR{:.0}", ratio * 100.0)
}
