//! What the clock study does, in base units.

use flow::{ControllerSpec, RateChange, Smoothing};
use packet::time::{Duration, Instant};

use super::scenario::{Buckets, Links, Pacing, Routers, Scenario, Shape, Times};
use crate::experiment::model::File;
use crate::experiment::model::study::{ClockCell, ClockNetwork, ClockReading, ClockStudy, ClockSweep};
use crate::experiment::units::Span;
use crate::study::{Findings, StudyError};

/// What the clock study does.
#[derive(Clone, Debug)]
pub(in crate::study) struct Experiment {
    pub(super) title: String,
    length: Duration,
    seed: u64,
    shape: Shape,
    links: Links,
    controller: String,
    starts_at: Instant,
    rate_change: RateChange,
    pub(super) readings: Vec<Reading>,
    pub(super) sweep: Sweep,
    pub(super) paper: Vec<PaperCell>,
}

/// A way to read what the paper leaves open.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// For file names.
    pub(super) name: String,
    /// In a sentence.
    pub(super) description: String,
    /// What buckets leak in a second.
    bucket_rate: f64,
    /// What they leak at a time.
    bucket_leak: f64,
    routers: Routers,
}

#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// Empty for the linear network.
    pub(super) pairs: Vec<usize>,
    pub(super) bucket_depths: Vec<u32>,
    /// Zero for the fine clock.
    pub(super) ticks_ms: Vec<f64>,
    /// Further start times within a tick, common to all consumers, at which each cell is run, to see what
    /// chance does.
    pub(super) other_starts: u32,
}

/// A number that the paper gives.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaperCell {
    pub(super) pairs: usize,
    pub(super) bucket_depth: u32,
    pub(super) tick_ms: f64,
    pub(super) smoothened: bool,
    pub(super) mbps: f64,
    pub(super) nacks: Option<u64>,
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
    /// The study that a file has.
    pub(super) fn of(file: &File, study: &ClockStudy, f: &mut Findings) -> Option<Self> {
        let shapes = [("linear", Shape::Linear), ("dumbbell", Shape::Dumbbell { pairs: 1 })];
        let shape = f.word("study.clock.topology", &study.topology, &shapes)?;
        if (shape == Shape::Linear) != study.sweep.pairs.is_empty() {
            let message = "a dumbbell has pairs, and the linear network has none";
            f.add("study.clock.sweep.pairs", message, None);
        }
        if study.reading.is_empty() {
            f.add("study.clock.reading", "there is none", Some("give at least one".to_owned()));
        }
        let changes = [("immediate", RateChange::Immediate), ("after-next", RateChange::AfterNext)];
        let change = study.consumer.rate_change.as_deref().unwrap_or("after-next");
        let experiment = Experiment {
            title: file.title.clone(),
            length: file.duration.duration(),
            seed: file.seed.unwrap_or(1),
            shape,
            links: links(&study.network, f)?,
            controller: study.consumer.controller.clone(),
            starts_at: Instant::from_nanos(study.consumer.start.map_or(0, |start| start.0)),
            rate_change: f.word("study.clock.consumer.rate_change", change, &changes)?,
            readings: readings(&study.reading, f)?,
            sweep: Sweep::of(&study.sweep),
            paper: study.paper.iter().map(PaperCell::of).collect(),
        };
        if let Err(StudyError::Controller(error)) = experiment.controller(1) {
            f.add("study.clock.consumer.controller", error.to_string(), None);
        }
        Some(experiment)
    }

    fn controller(&self, pairs: usize) -> Result<ControllerSpec, StudyError> {
        let Links { mbps, data_bytes, .. } = self.links;
        let per_second = mbps * 1e6 / 8.0 / f64::from(data_bytes.max(1));
        let share = (per_second / pairs.max(1) as f64).to_string();
        self.controller.replace("{share}", &share).parse().map_err(StudyError::Controller)
    }

    /// The run of a point.
    pub(super) fn scenario(&self, point: &Point) -> Result<Scenario, StudyError> {
        let reading = &self.readings[point.reading];
        let tick = Duration::from_secs_f64(point.tick_ms / 1e3);
        // Other starts lie evenly in a tick, or in a tenth of a second if the clock has none.
        let stretch = if tick == Duration::ZERO { Duration::from_millis(100) } else { tick };
        let later = stretch * u64::from(point.start) / u64::from(self.sweep.other_starts + 1);
        Ok(Scenario {
            shape: match self.shape {
                Shape::Linear => Shape::Linear,
                Shape::Dumbbell { .. } => Shape::Dumbbell { pairs: point.pairs },
            },
            links: self.links,
            routers: reading.routers,
            buckets: Buckets { rate: reading.bucket_rate, leak: reading.bucket_leak, depth: point.depth },
            caches: true,
            controller: self.controller(point.pairs)?,
            pacing: Pacing {
                ticks: vec![tick],
                smoothing: if point.smoothened { Smoothing::Arrivals } else { Smoothing::Ticks },
                rate_change: self.rate_change,
            },
            times: Times {
                starts_at: self.starts_at + later,
                start_spread: Duration::ZERO,
                warm_up: Duration::ZERO,
                length: self.length,
            },
            seed: self.seed,
            record: false,
        })
    }
}

fn links(network: &ClockNetwork, f: &mut Findings) -> Option<Links> {
    let mut bytes =
        |key: &str, size: Option<u64>| packet_bytes(&format!("study.clock.network.{key}"), size, f);
    Some(Links {
        data_bytes: bytes("data", Some(network.data.0))?,
        interest_bytes: bytes("interest", network.interest.map(|size| size.0))?,
        overhead_bytes: bytes("overhead", network.overhead.map(|size| size.0))?,
        mbps: mbps(network.rate.0),
        delay: network.delay.duration(),
        queue_packets: network.queue,
    })
}

fn readings(list: &[ClockReading], f: &mut Findings) -> Option<Vec<Reading>> {
    let mut readings = Vec::new();
    for (number, reading) in list.iter().enumerate() {
        let key = format!("study.clock.reading.{number}.router_limit");
        readings.push(Reading {
            name: reading.name.clone(),
            description: reading.description.clone(),
            bucket_rate: reading.bucket_rate.0,
            bucket_leak: reading.bucket_leak.unwrap_or(1.0),
            routers: f.word(&key, reading.router_limit.as_deref().unwrap_or("face"), &Routers::BUCKETS)?,
        });
    }
    Some(readings)
}

impl Sweep {
    fn of(sweep: &ClockSweep) -> Self {
        Sweep {
            pairs: sweep.pairs.iter().map(|pairs| *pairs as usize).collect(),
            bucket_depths: sweep.bucket_depths.clone(),
            ticks_ms: sweep.ticks.iter().map(|tick| milliseconds(*tick)).collect(),
            other_starts: sweep.other_starts.unwrap_or(0),
        }
    }
}

impl PaperCell {
    fn of(cell: &ClockCell) -> Self {
        PaperCell {
            pairs: cell.pairs.unwrap_or(1) as usize,
            bucket_depth: cell.bucket_depth,
            tick_ms: milliseconds(cell.tick),
            smoothened: cell.smoothened.unwrap_or(false),
            mbps: mbps(cell.rate.0),
            nacks: cell.nacks,
        }
    }
}

pub(super) fn milliseconds(span: Span) -> f64 {
    span.0 as f64 / 1e6
}

pub(super) fn mbps(bits_per_second: u64) -> f64 {
    bits_per_second as f64 / 1e6
}

/// The size of a packet, which no link carries if it is a large file's.
pub(super) fn packet_bytes(key: &str, size: Option<u64>, f: &mut Findings) -> Option<u32> {
    const MAX_BYTES: u64 = packet::Dialect::Ndn.max_packet_bytes() as u64;
    let size = size.unwrap_or(0);
    if size > MAX_BYTES {
        f.add(key, format!("a packet has {MAX_BYTES} bytes at most"), None);
    }
    u32::try_from(size.min(MAX_BYTES)).ok()
}

/// A tick in words.
pub(super) fn tick_text(tick_ms: f64) -> String {
    if tick_ms == 0.0 { "fine".into() } else { format!("{tick_ms} ms") }
}
