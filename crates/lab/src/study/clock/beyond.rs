//! What the paper left for later: other controllers, faster links, several flows, random starts, mixed clocks.

use flow::{ControllerSpec, RateChange, Smoothing};
use packet::time::{Duration, Instant};
use serde::Deserialize;

use super::experiment::tick_text;
use super::scenario::{Outcome, RouterLimit, Scenario, Shape};
use crate::figure::{Axis, BarChart, BarGroup, LineChart, Series};
use crate::parallel;
use crate::study::report::{Cell, Figure, Report, Table};
use crate::study::{ExperimentError, Runner, parse};

/// A tick is fine enough if it leaves so much of what the fine clock brings.
const FINE_ENOUGH: f64 = 0.9;
/// Where the fine clock is drawn on an axis that has no zero.
const FINE_AT_MS: f64 = 0.001;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Experiment {
    #[serde(rename = "kind")]
    _kind: String,
    title: String,
    #[serde(default)]
    seed: u64,
    network: Network,
    #[serde(rename = "variant")]
    variants: Vec<Variant>,
    speeds: Speeds,
    several: Several,
    mixed: Mixed,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Network {
    link_delay_ms: f64,
    queue_packets: u32,
    mark_above_packets: Option<u32>,
    data_bytes: u32,
    interest_bytes: u32,
    link_overhead_bytes: u32,
    bucket_depth: u32,
}

/// A controller and how its Interests leave.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Variant {
    name: String,
    controller: String,
    smoothing: Word,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Ticks,
    Arrivals,
    Capped(u32),
}

/// One flow over links of each speed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Speeds {
    links_mbps: Vec<f64>,
    /// Of a run at each speed.
    lengths_s: Vec<f64>,
    ticks_ms: Vec<f64>,
}

/// Several flows that start at random times.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Several {
    link_mbps: f64,
    length_s: f64,
    pairs: Vec<usize>,
    ticks_ms: Vec<f64>,
    start_spread_ms: f64,
    repeats: u64,
}

/// Flows with different clocks on one link.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Mixed {
    pairs: usize,
    /// In turn.
    ticks_ms: Vec<f64>,
}

/// One run.
#[derive(Clone, Debug)]
struct Job {
    variant: usize,
    link_mbps: f64,
    length_s: f64,
    pairs: usize,
    ticks_ms: Vec<f64>,
    start_spread_ms: f64,
    repeat: u64,
}

pub(crate) fn run(text: &str, runner: &Runner<'_>) -> Result<Report, ExperimentError> {
    let experiment: Experiment = parse(text)?;
    let jobs = experiment.jobs();
    // The longest first, so that no core is left with one of them at the end.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|&a, &b| jobs[b].cost().total_cmp(&jobs[a].cost()));
    let shuffled = parallel::for_each(&order, runner, |&place| {
        let scenario = experiment.scenario(&jobs[place])?;
        Ok::<_, ExperimentError>((place, scenario.run()?))
    });
    let mut outcomes: Vec<Outcome> = vec![Outcome::default(); jobs.len()];
    for result in shuffled {
        let (place, outcome) = result?;
        outcomes[place] = outcome;
    }
    let hash = outcomes
        .iter()
        .fold(0u64, |sum, outcome| (sum.rotate_left(5) ^ outcome.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let cells: Vec<(Job, Outcome)> = jobs.into_iter().zip(outcomes).collect();
    let mut report =
        Report { title: experiment.title.clone(), hash: format!("{hash:016x}"), ..Report::default() };
    experiment.report_speeds(&cells, &mut report);
    experiment.report_several(&cells, &mut report);
    experiment.report_mixed(&cells, &mut report);
    Ok(report)
}

impl Job {
    fn cost(&self) -> f64 {
        self.link_mbps * self.length_s
    }
}

impl Experiment {
    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for variant in 0..self.variants.len() {
            for (&link_mbps, &length_s) in self.speeds.links_mbps.iter().zip(&self.speeds.lengths_s) {
                for &tick in &self.speeds.ticks_ms {
                    let ticks_ms = vec![tick];
                    jobs.push(Job {
                        variant,
                        link_mbps,
                        length_s,
                        pairs: 1,
                        ticks_ms,
                        start_spread_ms: 0.0,
                        repeat: 0,
                    });
                }
            }
            let Several { link_mbps, length_s, start_spread_ms, repeats, .. } = self.several;
            for repeat in 0..repeats.max(1) {
                let job = |pairs: usize, ticks_ms: Vec<f64>| Job {
                    variant,
                    link_mbps,
                    length_s,
                    pairs,
                    ticks_ms,
                    start_spread_ms,
                    repeat,
                };
                for &pairs in &self.several.pairs {
                    jobs.extend(self.several.ticks_ms.iter().map(|&tick| job(pairs, vec![tick])));
                }
                jobs.push(job(self.mixed.pairs, self.mixed.ticks_ms.clone()));
            }
        }
        jobs
    }

    fn scenario(&self, job: &Job) -> Result<Scenario, ExperimentError> {
        let network = &self.network;
        let bytes = f64::from(network.data_bytes + network.link_overhead_bytes);
        let carried = job.link_mbps * 1e6 / 8.0 / bytes;
        let variant = &self.variants[job.variant];
        let controller: ControllerSpec = variant
            .controller
            .replace("{max}", &carried.floor().to_string())
            .replace("{share}", &(carried / job.pairs as f64).floor().max(1.0).to_string())
            .parse()
            .map_err(ExperimentError::controller)?;
        Ok(Scenario {
            shape: Shape::Dumbbell { pairs: job.pairs },
            link_mbps: job.link_mbps,
            link_delay: Duration::from_secs_f64(network.link_delay_ms / 1e3),
            queue_packets: network.queue_packets,
            mark_above_packets: network.mark_above_packets,
            data_bytes: network.data_bytes,
            interest_bytes: network.interest_bytes,
            overhead_bytes: network.link_overhead_bytes,
            bucket_rate: carried,
            bucket_depth: network.bucket_depth,
            router_limit: RouterLimit::Face,
            controller,
            ticks: job.ticks_ms.iter().map(|tick| Duration::from_secs_f64(tick / 1e3)).collect(),
            smoothing: match variant.smoothing {
                Word::Ticks => Smoothing::Ticks,
                Word::Arrivals => Smoothing::Arrivals,
                Word::Capped(per_arrival) => Smoothing::ArrivalsCapped { per_arrival },
            },
            rate_change: RateChange::Immediate,
            starts_at: Instant::from_nanos(1),
            start_spread: Duration::from_secs_f64(job.start_spread_ms / 1e3),
            length: Duration::from_secs_f64(job.length_s),
            seed: self.seed.wrapping_add(job.repeat),
            record: false,
        })
    }

    /// Part of the link that a flow gets, by variant, speed and tick.
    fn report_speeds(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let part = |variant: usize, link_mbps: f64, tick: f64| {
            let alone = |job: &Job| job.pairs == 1 && job.variant == variant && job.link_mbps == link_mbps;
            let cell = cells.iter().find(|(job, _)| alone(job) && job.ticks_ms == [tick]);
            cell.map_or(f64::NAN, |(_, outcome)| outcome.received_mbps() / link_mbps * 100.0)
        };
        let mut coarsest = Table::new(
            "fine-enough",
            "The coarsest tick that leaves 90 % of what the fine clock brings, one flow",
            &[],
        );
        coarsest.columns = vec!["variant".into()];
        coarsest.columns.extend(self.speeds.links_mbps.iter().map(|speed| speed_text(*speed)));
        for (number, variant) in self.variants.iter().enumerate() {
            let mut row = vec![Cell::from(variant.name.as_str())];
            for &speed in &self.speeds.links_mbps {
                let fine = part(number, speed, 0.0);
                let enough = |tick: &&f64| part(number, speed, **tick) >= FINE_ENOUGH * fine;
                let last = self.speeds.ticks_ms.iter().take_while(enough).last();
                row.push(last.map_or("none".into(), |tick| tick_text(*tick).into()));
            }
            coarsest.rows.push(row);
        }
        coarsest.notes.push(self.rule());
        report.tables.push(coarsest);
        for &speed in &self.speeds.links_mbps {
            let text = speed_text(speed);
            let mut table = Table::new(
                &format!("speeds-{}", text.replace(' ', "-").to_lowercase()),
                &format!("Data received by one flow over links of {text}, % of the link"),
                &[],
            );
            table.columns = vec!["variant".into()];
            table.columns.extend(self.speeds.ticks_ms.iter().map(|tick| tick_text(*tick)));
            let mut series = Vec::new();
            for (number, variant) in self.variants.iter().enumerate() {
                let parts: Vec<(f64, f64)> =
                    self.speeds.ticks_ms.iter().map(|&tick| (tick, part(number, speed, tick))).collect();
                let mut row = vec![Cell::from(variant.name.as_str())];
                row.extend(parts.iter().map(|(_, part)| Cell::Number(*part, 1)));
                table.rows.push(row);
                let points = parts.into_iter().map(|(tick, part)| (tick.max(FINE_AT_MS), part)).collect();
                series.push(Series { label: variant.name.clone(), points });
            }
            report.tables.push(table);
            let chart = LineChart {
                title: format!(
                    "Which clock is fine enough at {text}? One flow; the fine clock is drawn at 0.001 ms"
                ),
                x: Axis::new("tick", "ms").logarithmic(),
                y: Axis::new("Data received", "% of the link").showing(0.0, 100.0),
                series,
            };
            report
                .figures
                .push(Figure::lines(&format!("speeds-{}", text.replace(' ', "-").to_lowercase()), &chart));
        }
    }

    /// What theory says about the coarsest tick.
    fn rule(&self) -> String {
        let bytes = f64::from(self.network.data_bytes + self.network.link_overhead_bytes);
        let depth = self.network.bucket_depth;
        let ticks = self.speeds.links_mbps.iter().map(|speed| {
            let tick_ms = f64::from(depth) / (speed * 1e6 / 8.0 / bytes) * 1e3;
            format!("{} at {}", tick_text((tick_ms * 1e3).round() / 1e3), speed_text(*speed))
        });
        let ticks = ticks.collect::<Vec<_>>().join(", ");
        format!("A burst at the link's rate fits into a bucket of {depth} packets up to a tick of {ticks}.")
    }

    fn several_cells<'a>(
        &'a self,
        cells: &'a [(Job, Outcome)],
        variant: usize,
        pairs: usize,
        ticks_ms: &'a [f64],
    ) -> impl Iterator<Item = &'a Outcome> + 'a {
        cells
            .iter()
            .filter(move |(job, _)| {
                job.variant == variant
                    && job.pairs == pairs
                    && job.ticks_ms == ticks_ms
                    && job.link_mbps == self.several.link_mbps
                    && job.start_spread_ms == self.several.start_spread_ms
            })
            .map(|(_, outcome)| outcome)
    }

    /// Sum and fairness of several flows, means over the repeats.
    fn report_several(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let Several { link_mbps, start_spread_ms, repeats, .. } = self.several;
        let mut table = Table::new(
            "several",
            &format!(
                "Several flows over {link_mbps} Mbps, starts spread over {start_spread_ms} ms, means of {repeats} runs: Mbps (fairness)"
            ),
            &[],
        );
        table.columns = vec!["variant, tick".into()];
        table.columns.extend(self.several.pairs.iter().map(|pairs| format!("{pairs} pairs")));
        for (number, variant) in self.variants.iter().enumerate() {
            for tick in &self.several.ticks_ms {
                let mut row = vec![Cell::Text(format!("{}, {}", variant.name, tick_text(*tick)))];
                for &pairs in &self.several.pairs {
                    let outcomes = || self.several_cells(cells, number, pairs, std::slice::from_ref(tick));
                    let (mbps, fair) = (
                        mean(outcomes().map(Outcome::received_mbps)),
                        mean(outcomes().map(Outcome::fairness)),
                    );
                    row.push(format!("{mbps:.1} ({fair:.2})").into());
                }
                table.rows.push(row);
            }
        }
        report.tables.push(table);
        for &pairs in &self.several.pairs {
            let groups = self.variants.iter().enumerate().map(|(number, variant)| BarGroup {
                name: variant.name.clone(),
                values: self
                    .several
                    .ticks_ms
                    .iter()
                    .map(|tick| {
                        let outcomes = self.several_cells(cells, number, pairs, std::slice::from_ref(tick));
                        mean(outcomes.map(Outcome::received_mbps))
                    })
                    .collect(),
            });
            let chart = BarChart {
                title: format!("{pairs} flows over one link: what fixes them?"),
                x: "variant".into(),
                y: Axis::new("Data received", "Mbps").showing(0.0, link_mbps),
                labels: self.several.ticks_ms.iter().map(|tick| tick_text(*tick)).collect(),
                groups: groups.collect(),
            };
            report.figures.push(Figure::bars(&format!("several-{pairs}"), &chart));
        }
    }

    /// Who wins when clocks differ.
    fn report_mixed(&self, cells: &[(Job, Outcome)], report: &mut Report) {
        let ticks: Vec<String> = self.mixed.ticks_ms.iter().map(|tick| tick_text(*tick)).collect();
        let title = format!("{} flows with different clocks: mean Mbps of a flow", self.mixed.pairs);
        let mut table = Table::new("mixed-ticks", &title, &["variant"]);
        table.columns.extend(ticks.iter().cloned());
        table.columns.push("sum".into());
        table.columns.push("fairness".into());
        for (number, variant) in self.variants.iter().enumerate() {
            let outcomes = || self.several_cells(cells, number, self.mixed.pairs, &self.mixed.ticks_ms);
            let mut row = vec![Cell::from(variant.name.as_str())];
            for class in 0..ticks.len() {
                let flows = outcomes().flat_map(|outcome| {
                    outcome.flow_mbps().into_iter().skip(class).step_by(ticks.len()).collect::<Vec<_>>()
                });
                row.push(Cell::Number(mean(flows), 2));
            }
            row.push(Cell::Number(mean(outcomes().map(Outcome::received_mbps)), 1));
            row.push(Cell::Number(mean(outcomes().map(Outcome::fairness)), 3));
            table.rows.push(row);
        }
        report.tables.push(table);
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

fn speed_text(mbps: f64) -> String {
    if mbps >= 1000.0 { format!("{} Gbps", mbps / 1000.0) } else { format!("{mbps} Mbps") }
}
