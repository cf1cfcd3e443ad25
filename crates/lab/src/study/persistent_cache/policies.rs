//! Other policies for the same requests, beside what nobody can do better than.

use packet::random::{Random, Zipf};
use repo::evaluation::trace;
use repo::eviction::{DeletionRule, ObjectEvictionSpec, optimum, start};
use repo::replay::ReplayedCache;

use super::experiment::{Experiment, PoliciesSection, policy};
use super::results::one;
use super::setup::Setting;
use super::units::ratio_text;
use crate::figure::{GridCell, GridChart, GridRow};
use crate::parallel;
use crate::study::report::{Report, StudyCell, StudyFigure, StudyTable};
use crate::study::{Runner, StudyError};

/// Rows behind the policies.
const OPTIMUM: [&str; 2] = ["schedule that knows the future", "bound of all policies"];

pub(super) fn add(
    experiment: &Experiment,
    runner: &Runner<'_>,
    report: &mut Report,
) -> Result<(), StudyError> {
    let Some(section) = &experiment.policies else { return Ok(()) };
    let specs = section.names.iter().map(|name| policy(name)).collect::<Result<Vec<_>, _>>()?;
    for (number, workload) in experiment.setup.workloads.iter().enumerate() {
        let setting = experiment.setup.literal(workload);
        let mut columns = Vec::new();
        for &gb in &workload.thresholds_gb {
            columns.extend(section.ratios.iter().map(|&ratio| Column { gb, ratio }));
        }
        let rates = parallel::for_each(&columns, runner, |column| {
            let rates = (0..section.repeats.max(1))
                .map(|repeat| column.rates(&setting, &specs, experiment.setup.stream(number, repeat)));
            Ok::<_, StudyError>(Rates::mean(&rates.collect::<Result<Vec<_>, _>>()?))
        });
        let rates = rates.into_iter().collect::<Result<Vec<_>, _>>()?;
        let heads = columns.iter().map(|column| format!("{}, {}", column.gb, ratio_text(column.ratio)));
        let heads: Vec<String> = heads.collect();
        let x = "gigabytes and the part that a deletion frees";
        let title = format!("Hit rates of policies, {}, %", workload.name);
        let name = format!("policies-{}", workload.name);
        let (hits, bytes): (Vec<_>, Vec<_>) = rates.into_iter().map(|rates| rates.split()).unzip();
        add_table(report, &Wording { name: &name, title: &title, x }, section, &heads, &hits);
        let title = format!("Bytes served by policies of those asked for, {}, %", workload.name);
        let name = format!("{name}-bytes");
        add_table(report, &Wording { name: &name, title: &title, x }, section, &heads, &bytes);
    }
    add_zipf(experiment, section, &specs, runner, report)
}

struct Column {
    gb: u64,
    ratio: f64,
}

impl Column {
    /// Of each policy, and hits of the schedule and of the bound.
    fn rates(
        &self,
        setting: &Setting,
        specs: &[ObjectEvictionSpec],
        random: Random,
    ) -> Result<Rates, StudyError> {
        let rule = setting.rule(self.gb, self.ratio);
        let mut rates = Rates::default();
        for spec in specs {
            let setting = Setting { policy: Some(spec.clone()), ..setting.clone() };
            let outcome = one(&setting, rule, random.clone())?;
            rates.hits.push(outcome.hit_rate() * 100.0);
            rates.bytes.push(outcome.byte_hit_rate() * 100.0);
        }
        let seen = trace(setting.workload, rule.threshold_bytes, setting.length, random)
            .map_err(|error| StudyError::Format(error.to_string()))?;
        let part = |hits: u64| hits as f64 * 100.0 / (seen.counted.max(1)) as f64;
        rates.hits.push(part(optimum::schedule(&seen.requests, rule.threshold_bytes, seen.begins)));
        rates.hits.push(part(optimum::bound(&seen.requests, rule.threshold_bytes, seen.begins)));
        Ok(rates)
    }
}

/// Of each policy, in per cent.
#[derive(Default)]
struct Rates {
    hits: Vec<f64>,
    bytes: Vec<f64>,
}

impl Rates {
    fn mean(repeats: &[Rates]) -> Rates {
        Rates { hits: means(repeats, |rates| &rates.hits), bytes: means(repeats, |rates| &rates.bytes) }
    }

    fn split(self) -> (Vec<f64>, Vec<f64>) {
        (self.hits, self.bytes)
    }
}

/// Catalogues without classes, of objects of one size, whose popularity does not change.
fn add_zipf(
    experiment: &Experiment,
    section: &PoliciesSection,
    specs: &[ObjectEvictionSpec],
    runner: &Runner<'_>,
    report: &mut Report,
) -> Result<(), StudyError> {
    let rooms = &section.rooms;
    let columns: Vec<(f64, f64)> =
        section.zipf.iter().flat_map(|&alpha| rooms.iter().map(move |&room| (alpha, room))).collect();
    if columns.is_empty() {
        return Ok(());
    }
    let rates = parallel::for_each(&columns, runner, |&(alpha, room)| {
        let catalogue = Zipf::new(section.objects as usize, alpha, 0.0)
            .map_err(|error| StudyError::Format(error.to_string()))?;
        let capacity = (f64::from(section.objects) * room.clamp(0.0, 1.0)) as u64;
        let mut drawn = vec![0; section.requests as usize * 2];
        catalogue.draw_all(&mut Random::derive(experiment.setup.seed, alpha.to_bits()), &mut drawn);
        let begins = section.requests as usize;
        let part = |hits: u64| hits as f64 * 100.0 / f64::from(section.requests.max(1));
        // One object has to leave for each that comes, as in a content store.
        let rule = DeletionRule { threshold_bytes: capacity, ratio: 0.0 };
        let mut rates: Vec<f64> = specs
            .iter()
            .map(|spec| {
                let mut replay = ReplayedCache::new(rule, start(spec));
                let hits = drawn.iter().enumerate().filter(|(at, object)| {
                    let is_hit = replay.request(**object, 1);
                    is_hit && *at >= begins
                });
                part(hits.count() as u64)
            })
            .collect();
        let requests: Vec<optimum::Request> =
            drawn.iter().map(|&object| optimum::Request { key: object.into(), bytes: 1 }).collect();
        rates.push(part(optimum::schedule(&requests, capacity, begins)));
        rates.push(part(optimum::bound(&requests, capacity, begins)));
        Ok::<_, StudyError>(rates)
    });
    let rates = rates.into_iter().collect::<Result<Vec<_>, _>>()?;
    let heads = columns.iter().map(|(alpha, room)| format!("{alpha}: {:.0} %", room * 100.0));
    let title = format!("Hit rates of policies, Zipf's law over {} objects, %", section.objects);
    let x = "exponent, and room for which part of the objects";
    let wording = Wording { name: "policies-zipf", title: &title, x };
    add_table(report, &wording, section, &heads.collect::<Vec<_>>(), &rates);
    Ok(())
}

/// Means of each policy over repeats.
fn means(repeats: &[Rates], of: impl Fn(&Rates) -> &Vec<f64>) -> Vec<f64> {
    let policies = repeats.first().map_or(0, |rates| of(rates).len());
    let values = |policy: usize| {
        repeats.iter().filter_map({
            let of = &of;
            move |rates| of(rates).get(policy)
        })
    };
    (0..policies).map(|policy| values(policy).sum::<f64>() / repeats.len() as f64).collect()
}

/// What a table, and the figure beside it, are called, and what its columns are.
struct Wording<'a> {
    name: &'a str,
    title: &'a str,
    x: &'a str,
}

/// A table, and the same as a figure.
fn add_table(
    report: &mut Report,
    Wording { name, title, x }: &Wording<'_>,
    section: &PoliciesSection,
    heads: &[String],
    rates: &[Vec<f64>],
) {
    let mut table = StudyTable::new(name, title, &["policy"]);
    table.columns.extend(heads.iter().cloned());
    let highest = rates.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = rates.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let mut rows = Vec::new();
    for (number, word) in section.names.iter().map(String::as_str).chain(OPTIMUM).enumerate() {
        let values: Vec<f64> = rates.iter().filter_map(|rates| rates.get(number)).copied().collect();
        if values.is_empty() {
            continue;
        }
        let cells = values.iter().map(|value| StudyCell::Number(*value, 1));
        table.rows.push([StudyCell::from(word)].into_iter().chain(cells).collect());
        let shade = |value: f64| (value - lowest) / (highest - lowest).max(1e-9);
        let cell = |value: f64| GridCell { text: format!("{value:.1}"), shade: shade(value) };
        rows.push(GridRow { name: word.to_owned(), cells: values.into_iter().map(cell).collect() });
    }
    report.tables.push(table);
    let chart = GridChart {
        title: (*title).to_owned(),
        x: format!("{x}; the darker, the more hits"),
        y: "policy".to_owned(),
        columns: heads.to_vec(),
        rows,
    };
    report.figures.push(StudyFigure::grid(&format!("figure-{name}"), &chart));
}
