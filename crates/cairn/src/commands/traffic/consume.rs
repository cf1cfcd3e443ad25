//! The side that asks.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use client::{Client, Clock, Event};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use serde_json::json;

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
    /// Random times between them, as of independent consumers, instead of equal ones.
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// Interests on their way at once; with --rate too, the most there may be.
    #[arg(short, long, group = "load")]
    window: Option<NonZeroUsize>,
    /// Stop after so many.
    #[arg(short, long, value_name = "NUMBER", value_parser = size)]
    count: Option<u64>,
    /// Stop after so long.
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
    /// Seed of all that is random; two runs with the same ask for the same names.
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
struct Tally {
    sent: u64,
    data: u64,
    content_bytes: u64,
    nacks: u64,
    timeouts: u64,
    /// Times at which the rate asked for an Interest and the window had no room.
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
        let (mut tally, mut trips) = (Tally::default(), Histogram::new());
        let begin = client.now();
        let end = self.time.map_or(Instant::NEVER, |time| begin + time);
        let mut next_send = begin;
        loop {
            let now = client.now();
            let sending = now < end && self.count.is_none_or(|count| tally.sent < count) && !interrupt.came();
            // A batch at most, so that what comes back is seen in time.
            let mut budget = 64;
            while sending
                && budget > 0
                && next_send <= now
                && self.count.is_none_or(|count| tally.sent < count)
            {
                if client.pending() >= window {
                    tally.held_back += u64::from(self.rate.is_some());
                    break;
                }
                self.send(&mut client, &mut patterns, &mut random, &mut tally)?;
                next_send = self.after(next_send, &mut random);
                budget -= 1;
            }
            if (!sending && client.pending() == 0) || interrupt.came() {
                break;
            }
            let full = client.pending() >= window;
            let until = if sending && !full { next_send.min(end) } else { Instant::NEVER };
            if budget == 0 {
                continue_without_waiting(&mut client, &mut tally, &mut trips)?;
            } else if let Some(event) = client.next(Some(until))? {
                note(event, &mut tally, &mut trips);
            }
        }
        let elapsed = client.now().saturating_since(begin);
        self.report(&tally, &trips, client.pending() as u64, elapsed)?;
        Ok(if tally.data == tally.sent { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn send(
        &self,
        client: &mut Client,
        patterns: &mut [Pattern],
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), ToolError> {
        let turn = (tally.sent % patterns.len() as u64) as usize;
        let Some(pattern) = patterns.get_mut(turn) else { return Ok(()) };
        let name = pattern.next(random).map_err(ToolError::other)?;
        let interest = InterestBuilder::new(name).must_be_fresh(self.fresh).can_be_prefix(self.prefix);
        client.express(&interest, self.lifetime)?;
        tally.sent += 1;
        Ok(())
    }

    /// When the next Interest is due.
    fn after(&self, last: Instant, random: &mut Random) -> Instant {
        let Some(rate) = self.rate else { return last };
        let gap = if self.poisson { -(1.0 - random.unit()).ln() / rate } else { 1.0 / rate };
        last + Duration::from_secs_f64(gap)
    }

    fn report(
        &self,
        tally: &Tally,
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

/// Looks at what is there, and does not wait for more.
fn continue_without_waiting(
    client: &mut Client,
    tally: &mut Tally,
    trips: &mut Histogram,
) -> Result<(), ToolError> {
    let now = client.now();
    for _ in 0..64 {
        match client.next(Some(now))? {
            Some(event) => note(event, tally, trips),
            None => break,
        }
    }
    Ok(())
}

fn note(event: Event, tally: &mut Tally, trips: &mut Histogram) {
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
