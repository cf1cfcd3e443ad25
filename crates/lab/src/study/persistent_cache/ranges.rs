//! Objects, ranges of segments and single segments: what each keeps of the same requests, and how long
//! downloads take (the paper argues about it in V-A).

use repo::evaluation::{DownloadPath, Granularity, RangesOutcome, RangesRun};
use repo::eviction::{DeletionRule, ObjectEvictionSpec, start};

use super::setup::Setup;
use super::units::{ratio_text, shares};
use super::workload_section::WorkloadSection;
use crate::experiment::model::study::CacheRanges;
use crate::figure::{Axis, BarChart, BarGroup};
use crate::parallel;
use crate::stats::Summary;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};
use crate::study::{Findings, Runner, StudyError};

/// What is compared.
#[derive(Clone, Debug)]
pub(super) struct RangesSection {
    repeats: u32,
    ranges: Vec<u32>,
    policies: Vec<ObjectEvictionSpec>,
    early: Vec<f64>,
    thresholds: Vec<u64>,
    ratio: f64,
    path: DownloadPath,
}

impl RangesSection {
    pub(super) fn of(given: &CacheRanges, workloads: &[WorkloadSection], f: &mut Findings) -> Self {
        let key = |end: &str| format!("study.persistent_cache.ranges.{end}");
        let mut policies = Vec::new();
        for (number, name) in given.evictions.iter().enumerate() {
            match name.parse() {
                Ok(spec) => policies.push(spec),
                Err(error) => f.add(key(&format!("evictions.{number}")), format!("{error}"), None),
            }
        }
        if given.thresholds.len() != workloads.len() {
            f.add(key("thresholds"), "there must be one for each workload", None);
        }
        if !(1000..=1_000_000).contains(&given.segment.0) {
            f.add(key("segment"), "it must be 1 kB at least, and 1 MB at most", None);
        }
        let path = DownloadPath {
            window: given.window.max(1),
            segment_bytes: u32::try_from(given.segment.0).unwrap_or(u32::MAX),
            near: given.near.duration(),
            far: given.far.duration(),
            near_rate: given.near_rate.0,
            far_rate: given.far_rate.0,
        };
        RangesSection {
            repeats: given.repeats.max(1),
            ranges: given.ranges.clone(),
            policies,
            early: shares(&given.early),
            thresholds: given.thresholds.iter().map(|size| size.0).collect(),
            ratio: given.ratio.0,
            path,
        }
    }

    /// All combinations for a workload: which requests, which policy, which range.
    fn combinations(&self) -> Vec<Combination<'_>> {
        let mut all = Vec::new();
        for &early in &self.early {
            for policy in &self.policies {
                all.extend(self.ranges.iter().map(|&range| Combination { early, policy, range }));
            }
        }
        all
    }
}

#[derive(Clone, Copy)]
struct Combination<'a> {
    early: f64,
    policy: &'a ObjectEvictionSpec,
    range: u32,
}

impl Combination<'_> {
    fn series(&self) -> String {
        format!("{}, {:.0} % end early", self.policy, self.early * 100.0)
    }
}

/// What several runs came to.
struct Sums {
    all: RangesOutcome,
    seconds: Summary,
    runs: f64,
}

impl Sums {
    fn of(outcomes: Vec<RangesOutcome>) -> Option<Self> {
        let runs = outcomes.len() as f64;
        let mut all = RangesOutcome::default();
        for outcome in outcomes {
            all.requests += outcome.requests;
            all.whole_hits += outcome.whole_hits;
            all.part_hits += outcome.part_hits;
            all.segments += outcome.segments;
            all.hit_segments += outcome.hit_segments;
            all.changes += outcome.changes;
            all.seconds.extend(outcome.seconds);
            all.deletions += outcome.deletions;
            all.policy_events += outcome.policy_events;
            all.max_ranges = all.max_ranges.max(outcome.max_ranges);
            all.policy_bytes = all.policy_bytes.max(outcome.policy_bytes);
        }
        let seconds = Summary::of(&all.seconds)?;
        Some(Sums { all, seconds, runs })
    }

    fn of_requests(&self, number: u64) -> f64 {
        number as f64 / self.all.requests.max(1) as f64
    }

    fn row(&self, combination: &Combination<'_>) -> Vec<StudyCell> {
        let all = &self.all;
        vec![
            format!("{:.0} %", combination.early * 100.0).into(),
            combination.policy.to_string().into(),
            range_text(combination.range).into(),
            StudyCell::Number(100.0 * all.hit_segments as f64 / all.segments.max(1) as f64, 1),
            StudyCell::Number(100.0 * self.of_requests(all.whole_hits), 1),
            StudyCell::Number(100.0 * self.of_requests(all.part_hits), 1),
            StudyCell::Number(self.seconds.mean, 3),
            StudyCell::Number(self.seconds.p95, 2),
            StudyCell::Number(self.of_requests(all.changes), 2),
            StudyCell::Number(all.deletions as f64 / self.runs, 1),
            StudyCell::Number(self.of_requests(all.policy_events), 0),
            StudyCell::count(all.max_ranges as u64),
            StudyCell::Number(all.policy_bytes as f64 / 1e6, 2),
        ]
    }
}

pub(super) fn add(
    section: Option<&RangesSection>,
    setup: &Setup,
    runner: &Runner<'_>,
    report: &mut Report,
) -> Result<(), StudyError> {
    let Some(section) = section else { return Ok(()) };
    for (number, workload) in setup.workloads.iter().enumerate() {
        let Some(&threshold_bytes) = section.thresholds.get(number) else { continue };
        let rule = DeletionRule { threshold_bytes, ratio: section.ratio };
        let setting = setup.literal(workload);
        let combinations = section.combinations();
        let sums = parallel::for_each(&combinations, runner, |combination| {
            let range_segments = if combination.range == 0 { u32::MAX } else { combination.range };
            let granularity = Granularity { range_segments, early: combination.early, path: section.path };
            let outcomes = (0..section.repeats).map(|repeat| {
                let random = setup.stream(number, repeat);
                let ends = setup.stream(number + ENDS, repeat);
                let policy = start(combination.policy);
                let run = RangesRun::new(setting.workload, granularity, rule, policy, random, ends);
                run.map(|run| run.run(setting.length)).map_err(|error| StudyError::Format(error.to_string()))
            });
            Ok::<_, StudyError>(Sums::of(outcomes.collect::<Result<Vec<_>, _>>()?))
        });
        let sums = sums.into_iter().collect::<Result<Vec<_>, _>>()?;
        let title = format!(
            "What is kept together, {}, {} GB, {}",
            workload.name,
            threshold_bytes / 1_000_000_000,
            ratio_text(section.ratio)
        );
        let mut table = StudyTable::new(&format!("ranges-{}", workload.name), &title, &COLUMNS);
        let found = combinations.iter().zip(&sums).filter_map(|(one, sums)| Some((one, sums.as_ref()?)));
        table.rows = found.map(|(combination, sums)| sums.row(combination)).collect();
        table.notes.push(format!("Means over {} repeats; the most of all repeats.", section.repeats));
        report.tables.push(table);
        report.figures.push(figure(section, &workload.name, &combinations, &sums));
    }
    Ok(())
}

/// Apart from the streams of the workloads.
const ENDS: usize = 1000;

const COLUMNS: [&str; 13] = [
    "end early",
    "policy",
    "kept together",
    "segments hit, %",
    "requests hit as a whole, %",
    "in part, %",
    "download, mean, s",
    "95 %, s",
    "changes in a download",
    "deletions a day",
    "policy's events for a request",
    "most at a time",
    "policy's memory, MB",
];

fn range_text(range: u32) -> String {
    match range {
        0 => "objects".to_owned(),
        1 => "segments".to_owned(),
        range => format!("ranges of {range}"),
    }
}

/// Download times: a group for each range, a bar for each kind of requests and each policy.
fn figure(
    section: &RangesSection,
    workload: &str,
    combinations: &[Combination<'_>],
    sums: &[Option<Sums>],
) -> StudyFigure {
    let mut labels: Vec<String> = combinations.iter().map(Combination::series).collect();
    labels.dedup();
    let group = |range: u32| {
        let of_range = combinations.iter().zip(sums).filter(|(combination, _)| combination.range == range);
        let values = of_range.map(|(_, sums)| sums.as_ref().map_or(f64::NAN, |sums| sums.seconds.mean));
        BarGroup { name: range_text(range), values: values.collect() }
    };
    let chart = BarChart {
        title: format!("Mean time of a download by what is kept together, {workload}"),
        x: "kept together".into(),
        y: Axis::new("download", "s").with_zero(),
        labels,
        groups: section.ranges.iter().map(|&range| group(range)).collect(),
    };
    StudyFigure::bars(&format!("figure-ranges-{workload}"), &chart)
}
