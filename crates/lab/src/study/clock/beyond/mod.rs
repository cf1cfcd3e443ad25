//! What the paper left for later: other controllers, faster links, several flows, random starts, mixed
//! clocks.

mod findings;
mod statement;

use flow::{ControllerSpec, RateChange, Smoothing};
use packet::time::{Duration, Instant};

use super::experiment::{mbps, milliseconds, packet_bytes};
use super::scenario::{Buckets, Links, Outcome, Pacing, Routers, Scenario, Shape, Times};
use crate::experiment::model::File;
use crate::experiment::model::study::{BeyondAgain, BeyondNetwork, BeyondSpeeds, BeyondVariant, ClockBeyond};
use crate::experiment::units::Span;
use crate::parallel;
use crate::study::report::Report;
use crate::study::{Findings, Runner, StudyError, hash_of};

/// What the study does, in base units.
#[derive(Clone, Debug)]
pub(in crate::study) struct Experiment {
    title: String,
    seed: u64,
    network: Network,
    variants: Vec<Variant>,
    speeds: Speeds,
    several: SeveralFlows,
    mixed: Mixed,
}

#[derive(Clone, Copy, Debug)]
struct Network {
    link_delay: Duration,
    queue_packets: u32,
    data_bytes: u32,
    interest_bytes: u32,
    overhead_bytes: u32,
    bucket_depth: u32,
}

/// A controller, how its Interests leave, and what the nodes do: each controller gets the network it was made
/// for.
#[derive(Clone, Debug)]
struct Variant {
    name: String,
    controller: String,
    smoothing: Smoothing,
    routers: Routers,
    /// The controller has a window and never a rate, and so looks at no clock: all ticks are one run.
    window_only: bool,
}

/// One flow over links of each speed.
#[derive(Clone, Debug)]
struct Speeds {
    links_mbps: Vec<f64>,
    /// What is not counted of a run at each speed.
    warm_ups_s: Vec<f64>,
    /// What is counted after that.
    lengths_s: Vec<f64>,
    /// Longer runs, in order, for flows whose rate buckets cut: it grows by one for each Data, e-fold in a
    /// second.
    again: Vec<LongerRun>,
    ticks_ms: Vec<f64>,
}

/// A longer run, which takes the place of a run with Nacks.
#[derive(Clone, Debug)]
struct LongerRun {
    /// If the flow got less than so much of the link.
    below_percent: f64,
    /// At each speed.
    warm_ups_s: Vec<f64>,
    lengths_s: Vec<f64>,
}

/// Several flows that start at random times.
#[derive(Clone, Debug)]
struct SeveralFlows {
    link_mbps: f64,
    warm_up_s: f64,
    length_s: f64,
    pairs: Vec<usize>,
    ticks_ms: Vec<f64>,
    start_spread_ms: f64,
    repeats: u64,
}

/// Flows with different clocks on one link.
#[derive(Clone, Debug)]
struct Mixed {
    pairs: usize,
    /// In turn.
    ticks_ms: Vec<f64>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
struct Job {
    variant: usize,
    link_mbps: f64,
    warm_up_s: f64,
    length_s: f64,
    pairs: usize,
    ticks_ms: Vec<f64>,
    start_spread_ms: f64,
    repeat: u64,
}

pub(super) fn run(experiment: &Experiment, runner: &Runner<'_>) -> Result<Report, StudyError> {
    let jobs = experiment.jobs();
    // The longest first, so that no core is left with one of them at the end.
    let representatives = experiment.representatives(&jobs);
    let mut order: Vec<usize> = (0..jobs.len()).filter(|&place| representatives[place] == place).collect();
    order.sort_by(|&a, &b| jobs[b].cost().total_cmp(&jobs[a].cost()));
    let shuffled = parallel::for_each(&order, runner, |&place| {
        Ok::<_, StudyError>((place, experiment.run_job(&jobs[place])?))
    });
    let mut outcomes: Vec<Outcome> = vec![Outcome::default(); jobs.len()];
    for result in shuffled {
        let (place, outcome) = result?;
        let variant = &experiment.variants[jobs[place].variant];
        if variant.window_only && outcome.paced {
            return Err(StudyError::Format(format!(
                "variant {}: window_only = true, but {} has a rate",
                variant.name, variant.controller
            )));
        }
        outcomes[place] = outcome;
    }
    let hash = hash_of(outcomes.iter().map(|outcome| outcome.hash));
    let cells: Vec<(Job, Outcome)> = jobs
        .into_iter()
        .zip(representatives)
        .map(|(job, representative)| (job, outcomes[representative].clone()))
        .collect();
    let mut report = Report { title: experiment.title.clone(), hash, ..Report::default() };
    experiment.report_speeds(&cells, &mut report);
    experiment.report_several(&cells, &mut report);
    experiment.report_mixed(&cells, &mut report);
    experiment.report_statement(&cells, &mut report);
    Ok(report)
}

impl Job {
    fn cost(&self) -> f64 {
        self.link_mbps * (self.warm_up_s + self.length_s)
    }
}

impl Experiment {
    /// The study that a file has.
    pub(super) fn of(file: &File, study: &ClockBeyond, f: &mut Findings) -> Option<Self> {
        let several = &study.several;
        let experiment = Experiment {
            title: file.title.clone(),
            seed: file.seed.unwrap_or(1),
            network: Network::of(&study.network, f)?,
            variants: variants(&study.variant, f)?,
            speeds: Speeds::of(&study.speeds, f),
            several: SeveralFlows {
                link_mbps: mbps(several.rate.0),
                warm_up_s: several.warm_up.seconds(),
                length_s: file.duration.seconds(),
                pairs: several.pairs.iter().map(|pairs| *pairs as usize).collect(),
                ticks_ms: ticks(&several.ticks),
                start_spread_ms: milliseconds(several.start_spread),
                repeats: several.repeats.unwrap_or(1).into(),
            },
            mixed: Mixed { pairs: study.mixed.pairs as usize, ticks_ms: ticks(&study.mixed.ticks) },
        };
        if study.mixed.ticks.is_empty() {
            f.add("study.clock_beyond.mixed.ticks", "flows have at least one", None);
        }
        for (variant, given) in experiment.variants.iter().enumerate() {
            if let Err(StudyError::Controller(error)) = experiment.controller_of(variant, 100.0, 1) {
                let key = format!("study.clock_beyond.variant.{variant}.controller");
                f.add(key, format!("{}: {error}", given.name), None);
            }
        }
        Some(experiment)
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for variant in 0..self.variants.len() {
            let times = self.speeds.warm_ups_s.iter().zip(&self.speeds.lengths_s);
            for (&link_mbps, (&warm_up_s, &length_s)) in self.speeds.links_mbps.iter().zip(times) {
                for &tick in &self.speeds.ticks_ms {
                    let ticks_ms = vec![tick];
                    jobs.push(Job {
                        variant,
                        link_mbps,
                        warm_up_s,
                        length_s,
                        pairs: 1,
                        ticks_ms,
                        start_spread_ms: 0.0,
                        repeat: 0,
                    });
                }
            }
            let SeveralFlows { link_mbps, warm_up_s, length_s, start_spread_ms, repeats, .. } = self.several;
            for repeat in 0..repeats.max(1) {
                let job = |pairs: usize, ticks_ms: Vec<f64>| Job {
                    variant,
                    link_mbps,
                    warm_up_s,
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

    /// Runs a job, and again for longer where what it shows is not what would be in the long run.
    fn run_job(&self, job: &Job) -> Result<Outcome, StudyError> {
        let mut outcome = self.scenario(job)?.run()?;
        let Speeds { links_mbps, again, .. } = &self.speeds;
        let place = links_mbps.iter().position(|&speed| speed == job.link_mbps).unwrap_or(usize::MAX);
        let mut times = (job.warm_up_s, job.length_s);
        for longer in again {
            let (Some(&warm_up_s), Some(&length_s)) =
                (longer.warm_ups_s.get(place), longer.lengths_s.get(place))
            else {
                continue;
            };
            let applies = job.pairs == 1
                && self.variants[job.variant].routers.police()
                && outcome.was_nacked
                && outcome.received_mbps() < job.link_mbps * longer.below_percent / 100.0;
            if applies && times != (warm_up_s, length_s) {
                times = (warm_up_s, length_s);
                outcome = self.scenario(&Job { warm_up_s, length_s, ..job.clone() })?.run()?;
            }
        }
        Ok(outcome)
    }

    /// For each job the first that is the same.
    fn representatives(&self, jobs: &[Job]) -> Vec<usize> {
        let mut same = Vec::new();
        for job in jobs {
            let window_only = self.variants[job.variant].window_only;
            let ticks_ms = if window_only { vec![0.0] } else { job.ticks_ms.clone() };
            let variant = if ticks_ms.iter().all(|&tick| tick == 0.0) {
                self.with_a_fine_clock(job.variant)
            } else {
                job.variant
            };
            same.push(Job { ticks_ms, variant, ..job.clone() });
        }
        (0..jobs.len())
            .map(|place| same.iter().position(|job| *job == same[place]).unwrap_or(place))
            .collect()
    }

    /// The first variant that does the same under a clock without ticks: there is nothing to be smoothened.
    fn with_a_fine_clock(&self, variant: usize) -> usize {
        let Variant { controller, routers, .. } = &self.variants[variant];
        let same = |other: &Variant| other.controller == *controller && other.routers == *routers;
        self.variants.iter().position(same).unwrap_or(variant)
    }

    fn controller_of(
        &self,
        variant: usize,
        link_mbps: f64,
        pairs: usize,
    ) -> Result<ControllerSpec, StudyError> {
        let carried = self.carried(link_mbps);
        self.variants[variant]
            .controller
            .replace("{max}", &carried.floor().to_string())
            .replace("{share}", &(carried / pairs as f64).floor().max(1.0).to_string())
            .parse()
            .map_err(StudyError::Controller)
    }

    /// Data that a link carries in a second.
    fn carried(&self, link_mbps: f64) -> f64 {
        link_mbps * 1e6 / 8.0 / f64::from(self.network.data_bytes + self.network.overhead_bytes)
    }

    fn scenario(&self, job: &Job) -> Result<Scenario, StudyError> {
        let network = &self.network;
        let variant = &self.variants[job.variant];
        Ok(Scenario {
            shape: Shape::Dumbbell { pairs: job.pairs },
            links: Links {
                mbps: job.link_mbps,
                delay: network.link_delay,
                queue_packets: network.queue_packets,
                data_bytes: network.data_bytes,
                interest_bytes: network.interest_bytes,
                overhead_bytes: network.overhead_bytes,
            },
            routers: variant.routers,
            buckets: Buckets { rate: self.carried(job.link_mbps), leak: 1.0, depth: network.bucket_depth },
            caches: false,
            controller: self.controller_of(job.variant, job.link_mbps, job.pairs)?,
            pacing: Pacing {
                ticks: job.ticks_ms.iter().map(|tick| Duration::from_secs_f64(tick / 1e3)).collect(),
                smoothing: variant.smoothing,
                rate_change: RateChange::Immediate,
            },
            times: Times {
                starts_at: Instant::from_nanos(1),
                start_spread: Duration::from_secs_f64(job.start_spread_ms / 1e3),
                warm_up: Duration::from_secs_f64(job.warm_up_s),
                length: Duration::from_secs_f64(job.length_s),
            },
            seed: self.seed.wrapping_add(job.repeat),
            record: false,
        })
    }
}

impl Network {
    fn of(network: &BeyondNetwork, f: &mut Findings) -> Option<Self> {
        let mut bytes =
            |key: &str, size: u64| packet_bytes(&format!("study.clock_beyond.network.{key}"), Some(size), f);
        Some(Network {
            data_bytes: bytes("data", network.data.0)?,
            interest_bytes: bytes("interest", network.interest.0)?,
            overhead_bytes: bytes("overhead", network.overhead.0)?,
            link_delay: network.delay.duration(),
            queue_packets: network.queue,
            bucket_depth: network.bucket_depth,
        })
    }
}

fn variants(list: &[BeyondVariant], f: &mut Findings) -> Option<Vec<Variant>> {
    let mut variants = Vec::new();
    for (number, variant) in list.iter().enumerate() {
        let key = |key: &str| format!("study.clock_beyond.variant.{number}.{key}");
        let arrivals = match variant.per_arrival {
            Some(per_arrival) => Smoothing::ArrivalsCapped { per_arrival },
            None => Smoothing::Arrivals,
        };
        let words = [("ticks", Smoothing::Ticks), ("arrivals", arrivals)];
        let smoothing = f.word(&key("smoothing"), &variant.smoothing, &words)?;
        if variant.per_arrival.is_some() && smoothing == Smoothing::Ticks {
            f.add(key("per_arrival"), "Interests leave at ticks only", None);
        }
        variants.push(Variant {
            name: variant.name.clone(),
            controller: variant.controller.clone(),
            smoothing,
            routers: f.word(&key("routers"), &variant.routers, &Routers::ALL)?,
            window_only: variant.window_only.unwrap_or(false),
        });
    }
    Some(variants)
}

impl Speeds {
    fn of(speeds: &BeyondSpeeds, f: &mut Findings) -> Self {
        let count = speeds.rates.len();
        let mut each = |key: &str, list: &[Span]| {
            if list.len() != count {
                let message = format!("{} for {count} rates", list.len());
                f.add(
                    format!("study.clock_beyond.speeds.{key}"),
                    message,
                    Some("give one for each".to_owned()),
                );
            }
        };
        each("warm_ups", &speeds.warm_ups);
        each("durations", &speeds.durations);
        for (number, again) in speeds.again.iter().enumerate() {
            each(&format!("again.{number}.warm_ups"), &again.warm_ups);
            each(&format!("again.{number}.durations"), &again.durations);
        }
        let again = |again: &BeyondAgain| LongerRun {
            below_percent: again.below.0 * 100.0,
            warm_ups_s: seconds(&again.warm_ups),
            lengths_s: seconds(&again.durations),
        };
        Speeds {
            links_mbps: speeds.rates.iter().map(|rate| mbps(rate.0)).collect(),
            warm_ups_s: seconds(&speeds.warm_ups),
            lengths_s: seconds(&speeds.durations),
            again: speeds.again.iter().map(again).collect(),
            ticks_ms: ticks(&speeds.ticks),
        }
    }
}

fn seconds(list: &[Span]) -> Vec<f64> {
    list.iter().map(|span| span.seconds()).collect()
}

fn ticks(list: &[Span]) -> Vec<f64> {
    list.iter().map(|tick| milliseconds(*tick)).collect()
}
