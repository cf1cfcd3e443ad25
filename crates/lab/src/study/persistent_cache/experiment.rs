//! What the study of the persistent cache does, in base units.

use packet::time::Duration;
use repo::evaluation::Reading;
use repo::eviction::ObjectEvictionSpec;

use super::hierarchy::HierarchySection;
use super::ranges::RangesSection;
use super::setup::{Setting, Setup};
use super::several::SeveralSection;
use super::units::{GIGABYTE, MAX_FILES, MIN_INTERVAL, TOO_MANY, TOO_OFTEN, shares};
use super::workload_section::WorkloadSection;
use crate::experiment::model::File;
use crate::experiment::model::study::{CacheDeparture, CacheEvictions, PersistentCacheStudy};
use crate::experiment::units::Span;
use crate::study::{Findings, StudyError};

/// What the study does.
#[derive(Clone, Debug)]
pub(in crate::study) struct Experiment {
    pub(super) title: String,
    pub(super) setup: Setup,
    pub(super) repeats: u32,
    /// The shares of the repository that a deletion frees.
    pub(super) ratios: Vec<f64>,
    pub(super) departures: Vec<Departure>,
    /// Repeats of departures.
    pub(super) departure_repeats: u32,
    pub(super) policies: Option<PoliciesSection>,
    pub(super) ranges: Option<RangesSection>,
    pub(super) hierarchies: Vec<HierarchySection>,
    pub(super) several: Option<SeveralSection>,
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
    policy: Option<ObjectEvictionSpec>,
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

impl Departure {
    fn of(key: &str, departure: &CacheDeparture, f: &mut Findings) -> Self {
        if departure.first_files.is_some_and(|files| files > MAX_FILES) {
            f.add(format!("{key}.first_files"), TOO_MANY, None);
        }
        if departure.request_every.is_some_and(|span| span.duration() < MIN_INTERVAL) {
            f.add(format!("{key}.request_every"), TOO_OFTEN, None);
        }
        let eviction = departure.eviction.as_deref().map(str::parse).transpose();
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
            request_interval: departure.request_every.map(Span::duration),
            size_factor: departure.size_factor.unwrap_or(1.0),
            length: departure.duration.map(Span::duration),
            gigabyte: departure.gigabyte.map_or(GIGABYTE, |size| size.0),
            policy: eviction.unwrap_or_else(|error| {
                f.add(format!("{key}.eviction"), format!("{error}"), None);
                None
            }),
        }
    }
}

impl PoliciesSection {
    fn of(policies: &CacheEvictions, f: &mut Findings) -> Self {
        if policies.objects.is_some_and(|objects| objects > MAX_FILES) {
            f.add("study.persistent_cache.evictions.objects", TOO_MANY, None);
        }
        for (number, name) in policies.names.iter().enumerate() {
            if let Err(error) = policy(name) {
                f.add(format!("study.persistent_cache.evictions.names.{number}"), error.to_string(), None);
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
            repeats: file.repeats.unwrap_or(1),
            ratios: shares(&study.ratios),
            hierarchies: hierarchies.collect(),
            ranges: study.ranges.as_ref().map(|given| RangesSection::of(given, &workloads, f)),
            several: study.several.as_ref().map(|given| SeveralSection::of(given, &workloads, f)),
            setup: Setup { seed: file.seed.unwrap_or(1), length: file.duration.duration(), workloads },
            departures,
            departure_repeats: study.departure_repeats.unwrap_or(10),
            policies: study.evictions.as_ref().map(|policies| PoliciesSection::of(policies, f)),
        }
    }

    /// The same with a departure.
    pub(super) fn departed(&self, workload: &WorkloadSection, departure: &Departure) -> Setting {
        let mut setting = self.setup.literal(workload);
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
}

/// A policy by its name and parameters.
pub(super) fn policy(text: &str) -> Result<ObjectEvictionSpec, StudyError> {
    text.parse().map_err(|error| StudyError::Format(format!("eviction: {error}")))
}
