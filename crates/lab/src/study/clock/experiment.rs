//! The experiment file of the clock study.

use flow::{ControllerSpec, RateChange, Smoothing};
use packet::time::{Duration, Instant};
use serde::Deserialize;

use super::scenario::{Routers, Scenario, Shape};
use crate::study::ExperimentError;

/// An experiment file of the clock study.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Experiment {
    /// Read before, to find this study.
    #[serde(rename = "kind")]
    _kind: String,
    pub(super) title: String,
    #[serde(default = "ten_seconds")]
    length_s: f64,
    #[serde(default)]
    seed: u64,
    network: NetworkSection,
    consumer: ConsumerSection,
    #[serde(rename = "reading")]
    pub(super) readings: Vec<Reading>,
    pub(super) sweep: Sweep,
    #[serde(default)]
    pub(super) paper: Vec<PaperCell>,
}

fn ten_seconds() -> f64 {
    10.0
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct NetworkSection {
    link_mbps: f64,
    link_delay_ms: f64,
    queue_packets: u32,
    data_bytes: u32,
    #[serde(default)]
    interest_bytes: u32,
    #[serde(default)]
    link_overhead_bytes: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ConsumerSection {
    controller: String,
    #[serde(default)]
    starts_at_ns: u64,
    #[serde(default)]
    rate_change: RateChangeWord,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RateChangeWord {
    Immediate,
    #[default]
    AfterNext,
}

/// A way to read what the paper leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Reading {
    /// For file names.
    pub(super) name: String,
    /// In a sentence.
    pub(super) description: String,
    /// What buckets leak in a second.
    pub(super) bucket_rate: f64,
    /// What they leak at a time.
    #[serde(default = "whole")]
    pub(super) bucket_leak: f64,
    #[serde(default = "per_face")]
    pub(super) router_limit: Routers,
}

fn whole() -> f64 {
    1.0
}

fn per_face() -> Routers {
    Routers::Face
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Sweep {
    /// Empty for the linear network.
    #[serde(default)]
    pub(super) pairs: Vec<usize>,
    pub(super) bucket_depths: Vec<u32>,
    /// Zero for the fine clock.
    pub(super) ticks_ms: Vec<f64>,
    /// Further start times within a tick, common to all consumers, at which each cell is run, to see what
    /// chance does.
    #[serde(default)]
    pub(super) other_starts: u32,
}

/// A number that the paper gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PaperCell {
    #[serde(default = "one")]
    pub(super) pairs: usize,
    pub(super) bucket_depth: u32,
    pub(super) tick_ms: f64,
    #[serde(default)]
    pub(super) smoothened: bool,
    pub(super) mbps: f64,
    pub(super) nacks: Option<u64>,
}

fn one() -> usize {
    1
}

/// One cell of the sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) reading: usize,
    pub(super) pairs: usize,
    pub(super) depth: u32,
    pub(super) tick_ms: f64,
    pub(super) smoothened: bool,
    /// Zero for the start time of the file, higher for others.
    pub(super) start: u32,
}

impl Experiment {
    /// The run of a point, checked.
    pub(super) fn scenario(&self, point: &Point) -> Result<Scenario, ExperimentError> {
        let NetworkSection { link_mbps, data_bytes, .. } = self.network;
        let per_second = link_mbps * 1e6 / 8.0 / f64::from(data_bytes.max(1));
        let share = (per_second / point.pairs.max(1) as f64).to_string();
        let controller: ControllerSpec = self
            .consumer
            .controller
            .replace("{share}", &share)
            .parse()
            .map_err(ExperimentError::controller)?;
        let reading = &self.readings[point.reading];
        let tick = Duration::from_secs_f64(point.tick_ms / 1e3);
        // Other starts lie evenly in a tick, or in a tenth of a second if the clock has none.
        let stretch = if tick == Duration::ZERO { Duration::from_millis(100) } else { tick };
        let later = stretch * u64::from(point.start) / u64::from(self.sweep.other_starts + 1);
        Ok(Scenario {
            shape: match self.sweep.pairs.is_empty() {
                true => Shape::Linear,
                false => Shape::Dumbbell { pairs: point.pairs },
            },
            link_mbps,
            link_delay: Duration::from_secs_f64(self.network.link_delay_ms / 1e3),
            queue_packets: self.network.queue_packets,
            data_bytes,
            interest_bytes: self.network.interest_bytes,
            overhead_bytes: self.network.link_overhead_bytes,
            bucket_rate: reading.bucket_rate,
            bucket_leak: reading.bucket_leak,
            bucket_depth: point.depth,
            routers: reading.router_limit,
            caches: true,
            controller,
            ticks: vec![tick],
            smoothing: if point.smoothened { Smoothing::Arrivals } else { Smoothing::Ticks },
            rate_change: match self.consumer.rate_change {
                RateChangeWord::Immediate => RateChange::Immediate,
                RateChangeWord::AfterNext => RateChange::AfterNext,
            },
            starts_at: Instant::from_nanos(self.consumer.starts_at_ns) + later,
            start_spread: Duration::ZERO,
            warm_up: Duration::ZERO,
            length: Duration::from_secs_f64(self.length_s),
            seed: self.seed,
            record: false,
        })
    }
}

/// A tick in words.
pub(super) fn tick_text(tick_ms: f64) -> String {
    if tick_ms == 0.0 { "fine".into() } else { format!("{tick_ms} ms") }
}
