//! Repositories at each level of the paper's figure 1: who answers, what each link is spared, how long
//! downloads take, and what is still served when the link to the source is overloaded or cut.

use repo::evaluation::{Hierarchy, HierarchyOutcome, HierarchyRun, Level, Outage};
use repo::eviction::{DeleteQueue, ObjectEvictionSpec, start};

use super::setup::Setup;
use super::units::shares;
use super::workload_section::{WorkloadSection, place_of};
use crate::experiment::model::study::{CacheCut, CacheHierarchy};
use crate::figure::{Axis, BarChart, BarGroup, LineChart, Series};
use crate::parallel;
use crate::stats::Summary;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};
use crate::study::{Findings, Runner, StudyError};

/// What is compared for a workload.
#[derive(Clone, Debug)]
pub(super) struct HierarchySection {
    workload: usize,
    repeats: u32,
    /// Instead of the paper's queue.
    policy: Option<ObjectEvictionSpec>,
    /// Without repositories, and without a cut.
    network: Hierarchy,
    names: Vec<String>,
    cases: Vec<Placement>,
    loads: Vec<f64>,
    outage: Option<Outage>,
}

/// Where repositories are.
#[derive(Clone, Debug)]
struct Placement {
    name: String,
    thresholds: Vec<u64>,
}

impl HierarchySection {
    pub(super) fn of(
        key: &str,
        given: &CacheHierarchy,
        workloads: &[WorkloadSection],
        f: &mut Findings,
    ) -> Self {
        let policy = given.eviction.as_deref().map(str::parse).transpose().unwrap_or_else(|error| {
            f.add(format!("{key}.eviction"), format!("{error}"), None);
            None
        });
        if given.level.is_empty() || given.level.iter().any(|level| !(1..=10_000).contains(&level.nodes)) {
            f.add(format!("{key}.level"), "there must be levels of 1 to 10,000 nodes", None);
        }
        let pairs = given.level.iter().zip(given.level.iter().skip(1));
        if pairs.clone().any(|(lower, upper)| !lower.nodes.is_multiple_of(upper.nodes.max(1))) {
            f.add(format!("{key}.level"), "each node must serve as many of the level below", None);
        }
        for (number, case) in given.case.iter().enumerate() {
            if case.thresholds.len() != given.level.len() {
                f.add(format!("{key}.case.{number}.thresholds"), "there must be one for each level", None);
            }
        }
        let level = |level: &crate::experiment::model::study::CacheLevel| Level {
            nodes: level.nodes,
            threshold_bytes: 0,
            rate: level.rate.0,
            delay: level.delay.duration(),
        };
        HierarchySection {
            workload: place_of(key, &given.workload, workloads, f),
            repeats: given.repeats.max(1),
            policy,
            network: Hierarchy {
                levels: given.level.iter().map(level).collect(),
                ratio: given.ratio.0,
                access_delay: given.access_delay.duration(),
                access_rate: given.access_rate.0,
                warm_up: given.warm_up.duration(),
                outage: None,
            },
            names: given.level.iter().map(|level| level.name.clone()).collect(),
            cases: given
                .case
                .iter()
                .map(|case| Placement {
                    name: case.name.clone(),
                    thresholds: case.thresholds.iter().map(|size| size.0).collect(),
                })
                .collect(),
            loads: shares(&given.loads),
            outage: given.cut.as_ref().and_then(|cut| outage_of(key, cut, given, f)),
        }
    }

    fn network(&self, case: &Placement) -> Hierarchy {
        let mut network = self.network.clone();
        for (level, threshold) in network.levels.iter_mut().zip(&case.thresholds) {
            level.threshold_bytes = *threshold;
        }
        network
    }

    /// Runs each network, as often as is said.
    fn run(
        &self,
        setup: &Setup,
        runner: &Runner<'_>,
        networks: &[Hierarchy],
    ) -> Result<Vec<Sums>, StudyError> {
        let Some(workload) = setup.workloads.get(self.workload) else { return Ok(Vec::new()) };
        let setting = setup.literal(workload);
        let jobs: Vec<(&Hierarchy, u32)> = networks
            .iter()
            .flat_map(|network| (0..self.repeats).map(move |repeat| (network, repeat)))
            .collect();
        let outcomes = parallel::for_each(&jobs, runner, |(network, repeat)| {
            let random = setup.stream(self.workload, *repeat);
            let stations = setup.stream(self.workload + STATIONS, *repeat);
            let network = (*network).clone();
            let policy = || match &self.policy {
                Some(spec) => start(spec),
                None => Box::new(DeleteQueue::default()),
            };
            let run = HierarchyRun::new(setting.workload, network, policy, random, stations);
            run.map(|run| run.run(setting.length)).map_err(|error| StudyError::Format(error.to_string()))
        });
        let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(outcomes.chunks(self.repeats as usize).map(Sums::of).collect())
    }
}

/// Apart from the streams of the workloads.
const STATIONS: usize = 2000;

fn outage_of(key: &str, cut: &CacheCut, given: &CacheHierarchy, f: &mut Findings) -> Option<Outage> {
    let above_level = given.level.iter().position(|level| level.name == cut.above);
    if above_level.is_none() {
        f.add(format!("{key}.cut.above"), format!("there is no level {}", cut.above), None);
    }
    Some(Outage { above_level: above_level?, begins: cut.begins.duration(), lasts: cut.lasts.duration() })
}

/// Several runs of a network together.
struct Sums {
    all: HierarchyOutcome,
    seconds: Summary,
    runs: f64,
}

impl Sums {
    fn of(outcomes: &[HierarchyOutcome]) -> Self {
        let mut all = HierarchyOutcome::default();
        for outcome in outcomes {
            all.requests += outcome.requests;
            add_up(&mut all.hits, &outcome.hits);
            add_up(&mut all.link_bytes, &outcome.link_bytes);
            add_up(&mut all.deletions, &outcome.deletions);
            all.seconds.extend(&outcome.seconds);
            all.hours.resize(all.hours.len().max(outcome.hours.len()), (0, 0));
            for (sum, hour) in all.hours.iter_mut().zip(&outcome.hours) {
                *sum = (sum.0 + hour.0, sum.1 + hour.1);
            }
        }
        let seconds = Summary::of(&all.seconds).unwrap_or_default();
        Sums { all, seconds, runs: outcomes.len().max(1) as f64 }
    }

    fn hits(&self, level: usize) -> f64 {
        let hits = self.all.hits.get(level).copied().unwrap_or(0);
        100.0 * hits as f64 / self.all.requests.max(1) as f64
    }

    /// In gigabytes of one run.
    fn link(&self, level: usize) -> f64 {
        self.all.link_bytes.get(level).copied().unwrap_or(0) as f64 / 1e9 / self.runs
    }

    /// Answered of the requests of some hours of the cut, in per cent.
    fn answered(&self, hours: std::ops::Range<usize>) -> f64 {
        let hours = self.all.hours.get(hours.start..hours.end.min(self.all.hours.len())).unwrap_or(&[]);
        let (all, answered) = hours.iter().fold((0, 0), |sum, hour| (sum.0 + hour.0, sum.1 + hour.1));
        100.0 * answered as f64 / f64::from(u32::try_from(all).unwrap_or(u32::MAX).max(1))
    }
}

fn add_up(sums: &mut Vec<u64>, more: &[u64]) {
    sums.resize(sums.len().max(more.len()), 0);
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

pub(super) fn add(
    sections: &[HierarchySection],
    setup: &Setup,
    runner: &Runner<'_>,
    report: &mut Report,
) -> Result<(), StudyError> {
    for section in sections {
        let Some(workload) = setup.workloads.get(section.workload) else { continue };
        let networks: Vec<Hierarchy> = section.cases.iter().map(|case| section.network(case)).collect();
        let sums = section.run(setup, runner, &networks)?;
        report.tables.push(levels(section, &workload.name, &sums));
        report.figures.push(level_figure(section, &workload.name, &sums));
        add_loads(setup, runner, section, &networks, &sums, report)?;
        add_cut(setup, runner, section, &networks, report)?;
    }
    Ok(())
}

/// What links lead to.
fn link_names(section: &HierarchySection) -> Vec<String> {
    let upper = section.names.iter().skip(1).map(String::as_str).chain(["source"]);
    section.names.iter().zip(upper).map(|(lower, upper)| format!("{lower} to {upper}")).collect()
}

fn levels(section: &HierarchySection, workload: &str, sums: &[Sums]) -> StudyTable {
    let title = format!("Repositories at each level, {workload}: who answers, and what links carry");
    let mut table =
        StudyTable::new(&format!("hierarchy-{workload}"), &title, &["repositories", "GB together"]);
    table.columns.extend(section.names.iter().map(|name| format!("{name}, %")));
    table.columns.push("source, %".into());
    let links = link_names(section);
    table.columns.extend(links.iter().map(|link| format!("{link}, GB")));
    table.columns.extend(links.iter().map(|link| format!("{link}, spared, %")));
    table.columns.extend(["download, mean, s", "95 %, s"].map(str::to_owned));
    let Some(first) = sums.first() else { return table };
    for (case, sums) in section.cases.iter().zip(sums) {
        let nodes = section.network.levels.iter().map(|level| u64::from(level.nodes));
        let room: u64 = nodes.zip(&case.thresholds).map(|(nodes, threshold)| nodes * threshold).sum();
        let count = section.names.len();
        let mut row = vec![StudyCell::from(case.name.as_str()), StudyCell::Number(room as f64 / 1e9, 0)];
        row.extend((0..=count).map(|level| StudyCell::Number(sums.hits(level), 1)));
        row.extend((0..count).map(|level| StudyCell::Number(sums.link(level), 1)));
        let spared = |level| 100.0 * (1.0 - sums.link(level) / first.link(level).max(1e-9));
        row.extend((0..count).map(|level| StudyCell::Number(spared(level), 1)));
        row.extend([StudyCell::Number(sums.seconds.mean, 3), StudyCell::Number(sums.seconds.p95, 2)]);
        table.rows.push(row);
    }
    table.notes.push(format!("Means over {} repeats; all links of a level together.", section.repeats));
    table
}

fn level_figure(section: &HierarchySection, workload: &str, sums: &[Sums]) -> StudyFigure {
    let groups = section.cases.iter().zip(sums).map(|(case, sums)| BarGroup {
        name: case.name.clone(),
        values: (0..=section.names.len()).map(|level| sums.hits(level)).collect(),
    });
    let chart = BarChart {
        title: format!("Who answers when repositories are at several levels, {workload}"),
        x: "repositories".into(),
        y: Axis::new("of the requests", "%").exactly(0.0, 100.0),
        labels: section.names.iter().cloned().chain(["source".to_owned()]).collect(),
        groups: groups.collect(),
    };
    StudyFigure::bars(&format!("figure-hierarchy-{workload}"), &chart)
}

/// The link to the source, slower and slower.
fn add_loads(
    setup: &Setup,
    runner: &Runner<'_>,
    section: &HierarchySection,
    networks: &[Hierarchy],
    sums: &[Sums],
    report: &mut Report,
) -> Result<(), StudyError> {
    let (Some(last), Some(first)) = (section.network.levels.len().checked_sub(1), sums.first()) else {
        return Ok(());
    };
    if section.loads.is_empty() {
        return Ok(());
    }
    let workload = setup.workloads.get(section.workload).map_or("", |workload| &workload.name);
    // What the first case, with nothing cached, takes of it.
    let demand = first.link(last) * 8e9 / setup.length.as_secs_f64().max(1.0);
    let loaded = section.loads.iter().flat_map(|load| {
        networks.iter().map(move |network| {
            let mut network = network.clone();
            if let Some(level) = network.levels.get_mut(last) {
                level.rate = (demand / load.max(1e-6)) as u64;
            }
            network
        })
    });
    let loaded: Vec<Hierarchy> = loaded.collect();
    let sums = section.run(setup, runner, &loaded)?;
    let title = format!(
        "The link to the source is overloaded, {workload}: download times, mean and 95 %, s; users ask for \
         {:.1} Mbit/s",
        demand / 1e6
    );
    let mut table = StudyTable::new(&format!("hierarchy-load-{workload}"), &title, &["repositories"]);
    for load in &section.loads {
        let percent = load * 100.0;
        table.columns.extend([format!("{percent:.0} % of its rate, mean"), format!("{percent:.0} %, 95 %")]);
    }
    for (number, case) in section.cases.iter().enumerate() {
        let of_case = sums.iter().skip(number).step_by(section.cases.len().max(1));
        let cells = of_case.flat_map(|sums| [sums.seconds.mean, sums.seconds.p95]);
        let cells = cells.map(|seconds| StudyCell::Number(seconds, 2));
        table.rows.push([StudyCell::from(case.name.as_str())].into_iter().chain(cells).collect());
    }
    table
        .notes
        .push("Files wait for a link one behind the other; above 100 % the queue grows all day.".into());
    report.tables.push(table);
    Ok(())
}

/// All links above a level are cut.
fn add_cut(
    setup: &Setup,
    runner: &Runner<'_>,
    section: &HierarchySection,
    networks: &[Hierarchy],
    report: &mut Report,
) -> Result<(), StudyError> {
    let Some(outage) = section.outage else { return Ok(()) };
    let workload = setup.workloads.get(section.workload).map_or("", |workload| &workload.name);
    let networks: Vec<Hierarchy> =
        networks.iter().map(|network| Hierarchy { outage: Some(outage), ..network.clone() }).collect();
    let sums = section.run(setup, runner, &networks)?;
    let above = section.names.get(outage.above_level).map_or("", String::as_str);
    let hours = (outage.lasts.as_secs_f64() / 3600.0).ceil() as usize;
    let title = format!("Requests answered while the links above {above} are cut, {workload}, %");
    let columns = ["repositories", "first hour", "last hour", "all of it"];
    let mut table = StudyTable::new(&format!("hierarchy-cut-{workload}"), &title, &columns);
    let mut series = Vec::new();
    for (case, sums) in section.cases.iter().zip(&sums) {
        let parts = [0..1, hours.saturating_sub(1)..hours, 0..hours].map(|part| sums.answered(part));
        let cells = parts.map(|part| StudyCell::Number(part, 1));
        table.rows.push([StudyCell::from(case.name.as_str())].into_iter().chain(cells).collect());
        let points = (0..hours).map(|hour| (hour as f64 + 0.5, sums.answered(hour..hour + 1)));
        series.push(Series { label: case.name.clone(), points: points.collect() });
    }
    table
        .notes
        .push("Files created meanwhile cannot be had by anybody, and are asked for nevertheless.".into());
    report.tables.push(table);
    let chart = LineChart {
        title,
        x: Axis::new("since the cut", "h").exactly(0.0, hours as f64),
        y: Axis::new("answered", "%").exactly(0.0, 100.0),
        series,
    };
    report.figures.push(StudyFigure::lines(&format!("figure-hierarchy-cut-{workload}"), &chart));
    Ok(())
}
