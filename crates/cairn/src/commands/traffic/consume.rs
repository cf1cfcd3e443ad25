//! The side that asks.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use client::{Client, Clock, Event, RequestId};
use flow::WorkloadSpec;
use flow::workload::Spacing;
use packet::Dialect;
use packet::ccnx::{AnswerOriginKind, InterestFields};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use serde_json::json;

use super::pace::Pace;
use super::pattern::NameTemplate;
use crate::tool::ccnx::{STALE_OR_NOT, ccnx_interest_with};
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
    /// Names with fields; several are used one after the other. All are of NDN, or all of CCNx (`ccnx:/…`).
    #[arg(required = true)]
    pattern: Vec<NameTemplate>,
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
        let mut random = Random::from_seed(self.seed.unwrap_or_else(Clock::seed));
        let mut patterns = self.pattern.clone();
        let mut client = self.connect.client_in(dialect_of(&patterns)?)?;
        let window = self.window.map_or(MAX_PENDING, NonZeroUsize::get);
        let (mut counts, mut trips) = (TrafficCounters::default(), Histogram::new());
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
            while budget > 0 && sending(&pace, counts.sent) && pace.next_deadline() <= now {
                if client.pending() >= window {
                    counts.held_back += u64::from(pace.is_timed());
                    break;
                }
                let Some(item) = pace.poll_item(now) else { break };
                let id = self.send(&mut client, &mut patterns, &mut random, item, &mut counts)?;
                pace.handle_sent(id, item);
                budget -= 1;
            }
            let sending = sending(&pace, counts.sent);
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
                note(event, &mut counts, &mut trips);
            }
        }
        let elapsed = client.now().saturating_since(begin);
        self.report(&counts, &trips, client.pending() as u64, elapsed)?;
        Ok(if counts.data == counts.sent { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn pace(&self, begin: Instant, random: &mut Random) -> Result<Pace, ToolError> {
        match (&self.workload, self.rate) {
            (None, _) if self.pattern.iter().any(NameTemplate::needs_item) => {
                Err(ToolError::other("{item} stands for what --workload asks for: say which"))
            }
            (Some(spec), _) => Pace::of(spec, begin, random.next_u64()).map_err(ToolError::other),
            (None, Some(rate)) => {
                let spacing = if self.poisson { Spacing::Poisson } else { Spacing::Constant };
                let spec = format!("sequential/rate~{rate}/spacing~{}", spacing.as_str()).parse();
                let spec: WorkloadSpec = spec.map_err(ToolError::other)?;
                Pace::of(&spec, begin, random.next_u64()).map_err(ToolError::other)
            }
            (None, None) => Ok(Pace::Window),
        }
    }

    fn send(
        &self,
        client: &mut Client,
        patterns: &mut [NameTemplate],
        random: &mut Random,
        item: u64,
        counts: &mut TrafficCounters,
    ) -> Result<RequestId, ToolError> {
        let turn = (counts.sent % patterns.len() as u64) as usize;
        // Clap asks for one pattern at least.
        let pattern = patterns.get_mut(turn).ok_or_else(|| ToolError::other("there is no pattern"))?;
        let name = pattern.next(random, item).map_err(ToolError::other)?;
        if name.is_of_ccnx() {
            let fields = InterestFields {
                max_suffix_components: (!self.prefix).then_some(1),
                answer_origin_kind: AnswerOriginKind::new(STALE_OR_NOT).filter(|_| !self.fresh),
                ..InterestFields::default()
            };
            let nonce = u64::from(random.next_u32());
            let interest = ccnx_interest_with(&name.name, fields, self.lifetime, nonce)?;
            counts.sent += 1;
            return Ok(client.express_as_is(interest, self.lifetime)?);
        }
        let interest = InterestBuilder::new(name.name).must_be_fresh(self.fresh).can_be_prefix(self.prefix);
        counts.sent += 1;
        Ok(client.express(&interest, self.lifetime)?)
    }

    fn report(
        &self,
        counts: &TrafficCounters,
        trips: &Histogram,
        unanswered: u64,
        elapsed: Duration,
    ) -> Result<(), ToolError> {
        let secs = elapsed.as_secs_f64().max(1e-9);
        if self.json {
            return Ok(output::json(&json!({
                "sent": counts.sent,
                "data": counts.data,
                "nacks": counts.nacks,
                "timeouts": counts.timeouts,
                "unanswered": unanswered,
                "held_back": counts.held_back,
                "congestion_marks": counts.marks,
                "content_bytes": counts.content_bytes,
                "elapsed_s": secs,
                "interests_per_s": counts.sent as f64 / secs,
                "data_per_s": counts.data as f64 / secs,
                "content_bytes_per_s": counts.content_bytes as f64 / secs,
                "round_trip_ms": trips.json(),
            }))?);
        }
        output::line(format_args!(
            "{} Interests in {} ({:.0}/s): {} Data ({:.0}/s, {}/s), {} nacks, {} timeouts, {unanswered} unanswered",
            counts.sent,
            show_duration(elapsed),
            counts.sent as f64 / secs,
            counts.data,
            counts.data as f64 / secs,
            show_size(counts.content_bytes as f64 / secs),
            counts.nacks,
            counts.timeouts,
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

/// The dialect of all patterns.
fn dialect_of(patterns: &[NameTemplate]) -> Result<Dialect, ToolError> {
    let mut dialects = patterns.iter().map(NameTemplate::dialect);
    let first = dialects.next().unwrap_or(Dialect::Ndn);
    match dialects.all(|other| other == first) {
        true => Ok(first),
        false => {
            Err(ToolError::other("names of NDN and of CCNx are for two runs: they go to two forwarders"))
        }
    }
}

fn note(event: Event, counts: &mut TrafficCounters, trips: &mut Histogram) {
    match event {
        Event::Data { data, header, round_trip, .. } => {
            counts.data += 1;
            counts.content_bytes += data.content().len() as u64;
            counts.marks += u64::from(header.congestion_mark > 0);
            trips.add(round_trip);
        }
        Event::Nack { .. } => counts.nacks += 1,
        Event::Timeout { .. } => counts.timeouts += 1,
        Event::Interest { .. } | Event::SourceFailed { .. } => {}
    }
}
