//! `cairn ping`: is a name reachable, and how long does it take?

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use client::{Client, Clock, Event, RequestId};
use packet::Component;
use packet::ccnx::{AnswerOriginKind, InterestFields};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::{Duration, Instant};
use serde_json::json;

use crate::tool::ccnx::{STALE_OR_NOT, ccnx_interest};
use crate::tool::connect::ConnectArguments;
use crate::tool::histogram::Histogram;
use crate::tool::interrupt::Interrupt;
use crate::tool::units::{duration, positive_duration, show_duration};
use crate::tool::{ToolError, finish, output};
use packet::AnyName;

/// What stands between the prefix of a ping server and the numbers.
pub(super) const PING: &[u8] = b"ping";

/// Ask a ping server for numbered Data and tell how long each takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Asks for /<prefix>/ping/<number>, as ndnping does; `cairn pingserver`, ndnpingserver and `ndnd pingserver` answer. \
Under a prefix of CCNx it is ccnpingserver that answers, or `cairn pingserver`.

Examples:
  cairn ping /lab                   once a second until Ctrl-C
  cairn ping /lab -c 1000 -i 1ms    a thousand, one a millisecond
  cairn ping /lab -c 10 --json      statistics for a program

Exit codes: 0 all answered; 1 something was lost, came back, or failed; 2 wrong usage.")]
pub(crate) struct PingArguments {
    /// The prefix that the server answers under; `ccnx:/…` for one of CCNx.
    prefix: AnyName,
    /// How many to send; without it until Ctrl-C.
    #[arg(short, long)]
    count: Option<u64>,
    /// Time between two.
    #[arg(short, long, value_name = "TIME", value_parser = positive_duration, default_value = "1s")]
    interval: Duration,
    /// How long to wait for an answer.
    #[arg(short = 'o', long, value_name = "TIME", value_parser = duration, default_value = "4s")]
    timeout: Duration,
    /// The first number; random if it is left out, so that no cache knows it.
    #[arg(short = 'n', long)]
    start: Option<u64>,
    /// A component between `ping` and the number, to keep several pingers apart.
    #[arg(short = 'p', long)]
    identifier: Option<String>,
    /// Caches may answer, even with Data that is no longer fresh.
    #[arg(short = 'a', long)]
    cache: bool,
    /// Only the statistics at the end.
    #[arg(short, long)]
    quiet: bool,
    /// Statistics as JSON, and nothing else.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: ConnectArguments,
}

#[derive(Default)]
struct PingCounters {
    sent: u64,
    answered: u64,
    nacks: u64,
    timeouts: u64,
}

impl PingArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.ping())
    }

    fn ping(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut client = self.connect.client_in(self.prefix.dialect)?;
        let mut prefix = self.prefix.with(Component::generic(PING))?;
        if let Some(identifier) = &self.identifier {
            prefix = prefix.with(Component::generic(identifier.as_bytes()))?;
        }
        if !self.quiet && !self.json {
            output::line(format_args!("PING {}", self.prefix))?;
        }
        let mut number = self.start.unwrap_or_else(|| self.any_number());
        let begin = client.now();
        let (mut next_send, mut counts, mut trips) = (begin, PingCounters::default(), Histogram::new());
        let mut waiting: BTreeMap<RequestId, u64> = BTreeMap::new();
        loop {
            let may_send = self.count.is_none_or(|count| counts.sent < count) && !interrupt.came();
            if may_send && next_send <= client.now() {
                waiting.insert(self.send(&mut client, &prefix, number)?, number);
                number = number.wrapping_add(1);
                counts.sent += 1;
                next_send += self.interval;
            }
            // After Ctrl-C nobody wants to wait for the rest.
            if interrupt.came() || (!may_send && waiting.is_empty()) {
                break;
            }
            let until = if may_send { next_send } else { Instant::NEVER };
            if let Some(event) = client.next(Some(until))? {
                self.note(&event, &mut waiting, &mut counts, &mut trips)?;
            }
        }
        let elapsed = client.now().saturating_since(begin);
        self.report(&counts, waiting.len() as u64, &trips, elapsed)?;
        let complete = counts.answered == counts.sent && counts.sent > 0;
        Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// ccnpingserver reads numbers of 15 digits at most.
    fn any_number(&self) -> u64 {
        let number = Random::from_seed(Clock::seed()).next_u64();
        if self.prefix.is_of_ccnx() { number >> 32 } else { number }
    }

    fn send(&self, client: &mut Client, prefix: &AnyName, number: u64) -> Result<RequestId, ToolError> {
        let name = prefix.with(Component::generic(number.to_string().as_bytes()))?.name;
        if self.prefix.is_of_ccnx() {
            let stale = Some(STALE_OR_NOT).filter(|_| self.cache).and_then(AnswerOriginKind::new);
            let fields = InterestFields { answer_origin_kind: stale, ..InterestFields::default() };
            let interest = ccnx_interest(&name, fields, self.timeout)?;
            return Ok(client.express_as_is(interest, self.timeout)?);
        }
        let interest = InterestBuilder::new(name).must_be_fresh(!self.cache);
        Ok(client.express(&interest, self.timeout)?)
    }

    fn note(
        &self,
        event: &Event,
        waiting: &mut BTreeMap<RequestId, u64>,
        counts: &mut PingCounters,
        trips: &mut Histogram,
    ) -> Result<(), ToolError> {
        let text = match event {
            Event::Data { id, round_trip, .. } => {
                let Some(number) = waiting.remove(id) else { return Ok(()) };
                counts.answered += 1;
                trips.add(*round_trip);
                format!("content from {}: seq={number} time={}", self.prefix, show_duration(*round_trip))
            }
            Event::Nack { id, reason, round_trip, .. } => {
                let Some(number) = waiting.remove(id) else { return Ok(()) };
                counts.nacks += 1;
                format!(
                    "nack from {}: seq={number} time={} reason={reason}",
                    self.prefix,
                    show_duration(*round_trip)
                )
            }
            Event::Timeout { id } => {
                let Some(number) = waiting.remove(id) else { return Ok(()) };
                counts.timeouts += 1;
                format!("timeout from {}: seq={number}", self.prefix)
            }
            Event::Interest { .. } | Event::SourceFailed { .. } => return Ok(()),
        };
        if !self.quiet && !self.json {
            output::line(text)?;
        }
        Ok(())
    }

    fn report(
        &self,
        counts: &PingCounters,
        unanswered: u64,
        trips: &Histogram,
        elapsed: Duration,
    ) -> Result<(), ToolError> {
        // What was on its way at Ctrl-C is neither answered nor lost.
        let judged = counts.sent - unanswered;
        let lost = judged - counts.answered;
        let loss = if judged > 0 { lost as f64 * 100.0 / judged as f64 } else { 0.0 };
        if self.json {
            return Ok(output::json(&json!({
                "prefix": self.prefix.to_string(),
                "sent": counts.sent,
                "answered": counts.answered,
                "nacks": counts.nacks,
                "timeouts": counts.timeouts,
                "unanswered": unanswered,
                "loss_percent": loss,
                "round_trip_ms": trips.json(),
                "elapsed_s": elapsed.as_secs_f64(),
            }))?);
        }
        output::line(format_args!(
            "\n--- {} ping statistics ---\n{} sent, {} answered, {} nacks, {} timeouts, {loss:.1}% loss, time {}",
            self.prefix,
            counts.sent,
            counts.answered,
            counts.nacks,
            counts.timeouts,
            show_duration(elapsed)
        ))?;
        Ok(output::line(trips.line())?)
    }
}
