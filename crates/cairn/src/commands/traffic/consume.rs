//! The side that asks.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use client::{Client, Clock, Event, RequestId};
use flow::WorkloadSpec;
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use serde_json::json;

use super::pace::Pace;
use super::pattern::Pattern;
use crate::tool::connect::ConnectArguments;
use crate::tool::histogram::Histogram;
use crate::tool::interrupt::Interrupt;
use crate::tool::units::{duration, rate, show_duration, show_size, size};
use crate::tool::{ToolError, output};

/// Interests that may be on their way at once if only a rate is given: what comes on top waits.
const MAX_PENDING: usize = 1 << 20;

/// Ask for names made from patterns, at a rate or with a window.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = ArgGroup::new("load").required(true).multiple(true))]
pub(super) struct ConsumeArguments {
    /// Names with fields; several are used one after the other.
    #[arg(required = true)]
    pattern: Vec<Pattern>,
    /// Interests a second.
    #[arg(short, long, value_parser = rate, group = "load")]
    rate: Option<f64>,
    /// Random intervals, as of independent consumers, instead of equal ones.
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// In place of a rate, which item of `{item}` is asked for when, by the name and parameters of a
    /// workload: sequential, uniform, zipf, or one of the program's own, as in zipf/items~1000/rate~500.
    #[arg(long, value_name = "WORKLOAD", group = "load", conflicts_with = "rate")]
    workload: Option<WorkloadSpec>,
    /// Interests on their way at once; with --rate, at most this many.
    #[arg(short, long, group = "load")]
    window: Option<NonZeroUsize>,
    /// Stop after this many Interests.
    #[arg(short, long, value_name = "NUMBER", value_parser = size)]
    count: Option<u64>,
    /// Stop after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// InterestLifetime, and how long to wait.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "4s")]
    lifetime: Duration,
    /// Caches must not answer with what is no longer fresh.
    #[arg(short, long)]
    fresh: bool,
    /// Data with longer names may answer.
    #[arg(short = 'P', long)]
    prefix: bool,
    /// Seed of the random numbers; two runs with the same seed ask for the same names.
    #[arg(long)]
    seed: Option<u64>,
    /// Print how round trips are spread.
    #[arg(long)]
    histogram: bool,
    /// Results as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: ConnectArguments,
}

#[derive(Default)]
struct TrafficCounters {
    sent: u64,
    data: u64,
    content_bytes: u64,
    nacks: u64,
    timeouts: u64,
    /// Times at which an Interest was due and the window had no room.
    held_back: u64,
    marks: u64,
}

impl ConsumeArguments {
    pub(super) fn consume(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut client = self.connect.client()?;
        let mut random = Random::from_seed(self.seed.unwrap_or_else(Clock::seed));
        let mut patterns = self.pattern.clone();
        let window = self.window.map_or(MAX_PENDING, NonZeroUsize::get);
        let (mut tally, mut trips) = (TrafficCounters::default(), Histogram::new());
        let begin = client.now();
        let end = self.time.map_or(Instant::NEVER, |time| begin + time);
        let mut pace = self.pace(begin, &mut random)?;
        loop {
            let now = client.now();
            let is_open = now < end && !interrupt.came();
            let sending = |pace: &Pace, sent| {
                is_open && !pace.is_complete() && self.count.is_none_or(|count| sent < count)
            };
            // A batch at most, so that what comes back is seen in time.
            let mut budget = 64;
            while budget > 0 && sending(&pace, tally.sent) && pace.next_deadline() <= now {
                if client.pending() >= window {
                    tally.held_back += u64::from(pace.is_timed());
                    break;
                }
                let Some(item) = pace.poll_item(now) else { break };
                let id = self.send(&mut client, &mut patterns, &mut random, item, &mut tally)?;
                pace.handle_sent(id, item);
                budget -= 1;
            }
            let sending = sending(&pace, tally.sent);
            if (!sending && client.pending() == 0) || interrupt.came() {
                break;
            }
            let full = client.pending() >= window;
            let until = if sending && !full { pace.next_deadline().min(end) } else { Instant::NEVER };
            // Without waiting, what is there is looked at, and so many events at most.
            let (until, events) = if budget == 0 { (now, 64) } else { (until, 1) };
            for _ in 0..events {
                let Some(event) = client.next(Some(until))? else { break };
                pace.handle_event(client.now(), &event);
                note(event, &mut tally, &mut trips);
            }
        }
        let elapsed = client.now().saturating_since(begin);
        self.report(&tally, &trips, client.pending() as u64, elapsed)?;
        Ok(if tally.data == tally.sent { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn pace(&self, begin: Instant, random: &mut Random) -> Result<Pace, ToolError> {
        match (&self.workload, self.rate) {
            (None, _) if self.pattern.iter().any(Pattern::needs_item) => {
                Err(ToolError::other("{item} stands for what --workload asks for: say which"))
            }
            (Some(spec), _) => Pace::of(spec, begin, random.next_u64()).map_err(ToolError::other),
            (None, Some(rate)) => {
                let spacing = if self.poisson { "poisson" } else { "constant" };
                let spec = format!("sequential/rate~{rate}/spacing~{spacing}").parse();
                let spec: WorkloadSpec = spec.map_err(ToolError::other)?;
                Pace::of(&spec, begin, random.next_u64()).map_err(ToolError::other)
            }
            (None, None) => Ok(Pace::Window),
        }
    }

    fn send(
        &self,
        client: &mut Client,
        patterns: &mut [Pattern],
        random: &mut Random,
        item: u64,
        tally: &mut TrafficCounters,
    ) -> Result<RequestId, ToolError> {
        let turn = (tally.sent % patterns.len() as u64) as usize;
        // Clap asks for one pattern at least.
        let pattern = patterns.get_mut(turn).ok_or_else(|| ToolError::other("there is no pattern"))?;
        let name = pattern.next(random, item).map_err(ToolError::other)?;
        let interest = InterestBuilder::new(name).must_be_fresh(self.fresh).can_be_prefix(self.prefix);
        tally.sent += 1;
        Ok(client.express(&interest, self.lifetime)?)
    }

    fn report(
        &self,
        tally: &TrafficCounters,
        trips: &Histogram,
        unanswered: u64,
        elapsed: Duration,
    ) -> Result<(), ToolError> {
        let secs = elapsed.as_secs_f64().max(1e-9);
        if self.json {
            return Ok(output::json(&json!({
                "sent": tally.sent,
                "data": tally.data,
                "nacks": tally.nacks,
                "timeouts": tally.timeouts,
                "unanswered": unanswered,
                "held_back": tally.held_back,
                "congestion_marks": tally.marks,
                "content_bytes": tally.content_bytes,
                "elapsed_s": secs,
                "interests_per_s": tally.sent as f64 / secs,
                "data_per_s": tally.data as f64 / secs,
                "content_bytes_per_s": tally.content_bytes as f64 / secs,
                "round_trip_ms": trips.json(),
            }))?);
        }
        output::line(format_args!(
            "{} Interests in {} ({:.0}/s): {} Data ({:.0}/s, {}/s), {} nacks, {} timeouts, {unanswered} unanswered",
            tally.sent,
            show_duration(elapsed),
            tally.sent as f64 / secs,
            tally.data,
            tally.data as f64 / secs,
            show_size(tally.content_bytes as f64 / secs),
            tally.nacks,
            tally.timeouts,
        ))?;
        output::line(trips.line())?;
        if self.histogram && trips.count() > 0 {
            for bar in trips.bars() {
                output::line(bar)?;
            }
        }
        Ok(())
    }
}

fn note(event: Event, tally: &mut TrafficCounters, trips: &mut Histogram) {
    match event {
        Event::Data { data, header, round_trip, .. } => {
            tally.data += 1;
            tally.content_bytes += data.content().len() as u64;
            tally.marks += u64::from(header.congestion_mark > 0);
            trips.add(round_trip);
        }
        Event::Nack { .. } => tally.nacks += 1,
        Event::Timeout { .. } => tally.timeouts += 1,
        Event::Interest { .. } | Event::SourceFailed { .. } => {}
    }
}
