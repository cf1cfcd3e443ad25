//! What a router does each 10 ms while its repository deletes: stored packets that one reader gets and how
//! long each takes, bytes that are taken in because they pass by, and bytes that go back to the file system.
//!
//! Packets of 1 kB pass by until there is more than may be kept. Then a quarter is deleted, the oldest of
//! what nobody asks for; the reader asks for the other half.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use client::{Client, Event, Remote};
use formats::csv;
use lab::figure::{Axis, Drawing, LineChart, Series};
use node::load::StreamExchange;
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::{Name, quantile};

use super::neighbours::Router;
use super::{Bound, Row, SEGMENTS, Stage, disk};
use crate::tool::ToolError;

const STEP: Duration = Duration::from_millis(10);
/// What passes by may fill so much more, and then the deletion begins.
const ROOM: f64 = 0.1;
/// … but no more than this, which takes seconds and not minutes.
const MAX_ROOM: f64 = 256e6;
/// What a deletion frees.
const PART: f64 = 0.25;
/// It is over when for so long nothing has been given back.
const QUIET: Duration = Duration::from_secs(1);
/// Less than this is no deletion: file systems lay room ready for a file that grows, and take it back.
const TRIMMED: u64 = 1 << 20;
const LIMIT: Duration = Duration::from_secs(180);
const TIMEOUT: packet::time::Duration = packet::time::Duration::from_secs(5);
const WINDOW: u64 = 16;

/// The repository's files at an instant.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: f64,
    len_bytes: u64,
    disk_bytes: u64,
}

/// A read of one packet, in seconds.
#[derive(Clone, Copy, Debug)]
struct Read {
    /// When it ended.
    at: f64,
    took: f64,
}

/// From when to when, in seconds.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: f64,
    to: f64,
}

/// Draws the curve into `file`, and its numbers beside it.
pub(super) fn measure(stage: &Stage, file: &Path, rows: &mut Vec<Row>) -> Result<(), ToolError> {
    stage.progress.set_message("a deletion through the router");
    let folder = stage.folder.path(disk::STORE);
    let stored = sample(&folder, Instant::now())?.disk_bytes as f64;
    let router = Router::start(stage, ["curve", "curve-producer"], WINDOW, |config| {
        for repository in &mut config.repositories {
            repository.prefixes.push("/bench/forward".to_owned());
            repository.max_bytes = (stored + (stored * ROOM).min(MAX_ROOM)) as u64;
            repository.delete_part = PART;
        }
    });
    let Router { node, mut exchange, remote } = router?;
    let (began, state) = (Instant::now(), State::default());
    let (objects, folder, remote, state) = (stage.objects, &folder, &remote, &state);
    // Nobody waits for one who has failed.
    let over = move || state.is_over.store(true, Ordering::Relaxed);
    let outcome = std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let reads = read(objects, remote, began, state);
            over();
            reads
        });
        let watching = scope.spawn(move || {
            let samples = watch(folder, began, state);
            over();
            samples
        });
        let passed = pass_by(&mut exchange, state);
        over();
        passed?;
        let failed = |_| ToolError::other("a thread of the measurement has failed");
        let (samples, reads) = (watching.join().map_err(failed)?, reading.join().map_err(failed)?);
        Ok::<_, ToolError>((reads?, samples?))
    });
    drop(node);
    let (reads, samples) = outcome?;
    let steps = steps(&samples, &reads);
    let deleting = deleting(&steps);
    std::fs::write(file, draw(&steps, deleting).to_svg()).map_err(ToolError::file(file))?;
    let numbers = file.with_extension("csv");
    std::fs::write(&numbers, table(&steps)).map_err(ToolError::file(&numbers))?;
    add_rows(&steps, &reads, deleting, rows);
    Ok(())
}

/// What the threads of the measurement tell each other.
#[derive(Default)]
struct State {
    /// The reader has asked for all that must stay.
    is_ready: AtomicBool,
    is_over: AtomicBool,
}

/// Packets that pass by until all is over.
fn pass_by(exchange: &mut StreamExchange, state: &State) -> Result<(), ToolError> {
    while !state.is_over.load(Ordering::Relaxed) {
        if state.is_ready.load(Ordering::Relaxed) {
            exchange.run(Duration::from_millis(50))?;
        } else {
            std::thread::sleep(STEP);
        }
    }
    Ok(())
}

/// Reads segments of objects that stay, one at a time.
fn read(objects: u64, remote: &Remote, began: Instant, state: &State) -> Result<Vec<Read>, ToolError> {
    let mut client = Client::connect(remote)?;
    let kept: Vec<u64> = (0..objects).filter(|&object| !Stage::goes(object)).collect();
    let kept = kept.get(kept.len() / 2..).unwrap_or_default();
    // Who has been asked for is not among the first to go.
    for &object in kept {
        read_one(&mut client, object, 0)?;
    }
    state.is_ready.store(true, Ordering::Relaxed);
    let (mut random, mut reads) = (Random::from_seed(7), Vec::new());
    while !state.is_over.load(Ordering::Relaxed) {
        let object = kept.get(random.below(kept.len() as u64) as usize).copied().unwrap_or_default();
        let took = read_one(&mut client, object, random.below(SEGMENTS))?;
        reads.push(Read { at: began.elapsed().as_secs_f64(), took });
    }
    Ok(reads)
}

fn read_one(client: &mut Client, object: u64, segment: u64) -> Result<f64, ToolError> {
    let name: Name = Stage::name(object, segment).parse().map_err(ToolError::other)?;
    let began = Instant::now();
    client.express(&InterestBuilder::new(name), TIMEOUT)?;
    match client.next(None)? {
        Some(Event::Data { .. }) => Ok(began.elapsed().as_secs_f64()),
        Some(_) => Err(ToolError::other("the router did not find a packet that is stored")),
        None => Err(ToolError::other("interrupted")),
    }
}

fn sample(folder: &Path, began: Instant) -> Result<Sample, ToolError> {
    let mut sample = Sample { at: 0.0, len_bytes: 0, disk_bytes: 0 };
    for file in std::fs::read_dir(folder).map_err(ToolError::file(folder))?.flatten() {
        if file.file_name().to_string_lossy().ends_with(".volume")
            && let Ok(about) = file.metadata()
        {
            sample.len_bytes += about.len();
            sample.disk_bytes += about.blocks() * 512;
        }
    }
    sample.at = began.elapsed().as_secs_f64();
    Ok(sample)
}

/// Looks at the files until a deletion has begun and ended.
fn watch(folder: &Path, began: Instant, state: &State) -> Result<Vec<Sample>, ToolError> {
    let mut samples: Vec<Sample> = Vec::new();
    let (mut freed, mut last_freed) = (0, None);
    while began.elapsed() < LIMIT && !state.is_over.load(Ordering::Relaxed) {
        let now = sample(folder, began)?;
        if let Some(before) = samples.last() {
            let given_back = before.disk_bytes.saturating_sub(now.disk_bytes);
            freed += given_back;
            if given_back >= TRIMMED {
                last_freed = Some(Instant::now());
            }
        }
        samples.push(now);
        let is_quiet = last_freed.is_some_and(|last| last.elapsed() > QUIET);
        if is_quiet && freed as f64 > now.disk_bytes as f64 * PART / 2.0 {
            return Ok(samples);
        }
        std::thread::sleep(STEP);
    }
    Err(ToolError::other("the repository deleted nothing"))
}

/// What happened in 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Interval {
    /// Its begin, in seconds.
    at: f64,
    reads: u64,
    /// Seconds that 99 % of the reads took at most.
    p99: f64,
    taken_in: u64,
    given_back: u64,
}

fn steps(samples: &[Sample], reads: &[Read]) -> Vec<Interval> {
    let step = STEP.as_secs_f64();
    let end = samples.last().map_or(0.0, |last| last.at);
    let mut steps: Vec<Interval> = (0..(end / step) as usize)
        .map(|number| Interval { at: number as f64 * step, ..Interval::default() })
        .collect();
    for pair in samples.windows(2) {
        if let Some(of) = steps.get_mut((pair[1].at / step) as usize) {
            of.taken_in += pair[1].len_bytes.saturating_sub(pair[0].len_bytes);
            of.given_back += pair[0].disk_bytes.saturating_sub(pair[1].disk_bytes);
        }
    }
    let mut rest = reads;
    for of in &mut steps {
        let count = rest.iter().take_while(|read| read.at < of.at + step).count();
        let (these, others) = rest.split_at(count);
        rest = others;
        let mut seconds: Vec<f64> = these.iter().map(|read| read.took).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        of.reads = count as u64;
        let at = |place: usize| seconds.get(place).copied().unwrap_or(f64::NAN);
        of.p99 = quantile(seconds.len(), 0.99, at).unwrap_or(f64::NAN);
    }
    steps
}

/// When the first bytes were given back, and the last.
fn deleting(steps: &[Interval]) -> Span {
    let mut gave = steps.iter().filter(|step| step.given_back >= TRIMMED).map(|step| step.at);
    let first = gave.next().unwrap_or(0.0);
    Span { from: first, to: gave.next_back().unwrap_or(first) }
}

fn draw(steps: &[Interval], Span { from, to }: Span) -> Drawing {
    let chart = |title: &str, y: Axis, of: &dyn Fn(&Interval) -> f64| {
        let points = steps.iter().map(|step| (step.at, of(step))).filter(|(_, value)| value.is_finite());
        let series = vec![Series { label: String::new(), points: points.collect() }];
        let x = Axis::new("since the beginning", "s").marked_at([from, to]);
        LineChart { title: title.to_owned(), x, y: y.with_zero(), series }.drawing()
    };
    let rate = |bytes: u64| bytes as f64 / STEP.as_secs_f64();
    let parts = [
        chart("Stored packets that one reader gets", Axis::new("reads", "1/s"), &|step| {
            step.reads as f64 / STEP.as_secs_f64()
        }),
        chart("99 % of these reads in 10 ms take at most", Axis::new("time", "s"), &|step| step.p99),
        chart("Bytes taken in", Axis::new("rate", "B/s"), &|step| rate(step.taken_in)),
        chart("Bytes given back to the file system", Axis::new("rate", "B/s"), &|step| rate(step.given_back)),
    ];
    Drawing::grid("A router while its repository deletes a quarter", 2, 20.0, &parts)
}

fn table(steps: &[Interval]) -> String {
    let head = ["seconds", "reads", "p99 seconds", "bytes taken in", "bytes given back"].map(str::to_owned);
    let rows = steps.iter().map(|step| {
        let Interval { at, reads, p99, taken_in, given_back } = step;
        [
            format!("{at:.2}"),
            reads.to_string(),
            format!("{p99:.6}"),
            taken_in.to_string(),
            given_back.to_string(),
        ]
    });
    csv::to_string(std::iter::once(head).chain(rows))
}

fn add_rows(steps: &[Interval], reads: &[Read], Span { from, to }: Span, rows: &mut Vec<Row>) {
    let of = |is_within: &dyn Fn(f64) -> bool| {
        let mut seconds: Vec<f64> =
            reads.iter().filter(|read| is_within(read.at)).map(|read| read.took).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        let at = |place: usize| seconds.get(place).copied().unwrap_or(f64::NAN);
        let p99 = quantile(seconds.len(), 0.99, at).unwrap_or(f64::NAN);
        (p99 * 1000.0, seconds.last().copied().unwrap_or(f64::NAN) * 1000.0)
    };
    let (before, _) = of(&|at| at < from);
    let (during, slowest) = of(&|at| at >= from && at <= to);
    let within = steps.iter().filter(|step| step.at >= from && step.at <= to);
    let (idle, all) = within.fold((0, 0), |(idle, all), step| (idle + u32::from(step.reads == 0), all + 1));
    rows.push(Row::new("through the router: a quarter is given back", to - from, "s", Bound::Nothing));
    rows.push(Row::new("through the router: reads before, 99 %", before, "ms", Bound::Nothing));
    rows.push(Row::new("through the router: reads meanwhile, 99 %", during, "ms", Bound::Nothing));
    rows.push(Row::new("through the router: slowest read meanwhile", slowest, "ms", Bound::Nothing));
    let share = 100.0 * f64::from(idle) / f64::from(all.max(1));
    rows.push(Row::new("through the router: spans of 10 ms without a read", share, "%", Bound::Nothing));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_counted_in_its_ten_milliseconds() {
        let sample = |at, len_bytes, disk_bytes| Sample { at, len_bytes, disk_bytes };
        let samples = [sample(0.0, 100, TRIMMED), sample(0.011, 150, TRIMMED + 50), sample(0.031, 160, 40)];
        let steps = steps(
            &samples,
            &[(0.001, 0.5), (0.012, 0.25), (0.013, 0.75)].map(|(at, took)| Read { at, took }),
        );
        let of = |step: &Interval| (step.reads, step.taken_in, step.given_back);
        assert_eq!(steps.iter().map(of).collect::<Vec<_>>(), [(1, 0, 0), (2, 50, 0), (0, 0, 0)]);
        assert!((steps[1].p99 - 0.745).abs() < 1e-9 && steps[2].p99.is_nan());
        let all = super::steps(
            &[samples.as_slice(), &[sample(0.055, 160, 40), sample(0.075, 160, 30)]].concat(),
            &[],
        );
        let Span { from, to } = deleting(&all);
        assert_eq!((from, to), (all[3].at, all[3].at));
        assert_eq!(table(&steps).lines().count(), 4);
    }
}
