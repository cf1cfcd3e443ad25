//! Running a fetch over a connection to its end.

use std::collections::BTreeMap;
use std::io;

use flow::{FetchError, Fetcher, Segment, Subject};
use packet::LinkHeader;
use packet::random::Random;
use packet::time::{Duration, Instant};
use thiserror::Error;

use crate::back_off::{BackOff, BackOffConfig};
use crate::client::Outage;
use crate::clock::Clock;
use crate::connection::{Connection, Incoming};
use crate::error::ClientError;
use crate::refused::Refused;
use crate::socket::wait_for_time;
use flow::verify::{Now, Verdict, Verifier};

/// Packets that are looked at before Interests are sent for those that are missing.
const BATCH: usize = 64;

/// Segments that the reader gets at once.
const PIECES: usize = 64;

/// Packets that are refused without any being accepted before the fetch ends: then it is not one that
/// somebody forged, but all.
const MAX_REFUSED: u32 = 24;

/// How long an attempt to connect again may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a fetch did not come to a good end.
#[derive(Debug, Error)]
pub enum FetchFailure {
    /// The object cannot be had, or not be trusted.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The forwarder went away.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The reader does not want any more.
    #[error("cannot write what was fetched: {0}")]
    Output(#[from] io::Error),
    /// A signal came.
    #[error("interrupted")]
    Interrupted,
}

/// Takes what a fetch brings.
pub trait Reader {
    /// The next segments, in order, at least one.
    ///
    /// # Errors
    /// They cannot be written; the fetch ends.
    fn segments(&mut self, segments: &[Segment]) -> io::Result<()>;

    /// A packet was refused. It is asked for again, if it was not refused too often.
    fn refused(&mut self, _refused: Refused) {}

    /// Called now and then; says whether to go on.
    fn progress(&mut self, _fetcher: &Fetcher) -> bool {
        true
    }
}

/// How a fetch goes about what it does.
#[derive(Clone, Copy, Debug, Default)]
pub struct FetchOptions {
    /// How it gets over outages of the forwarder. `None`: it fails then.
    pub outages: Option<OutagePolicy>,
    /// The face by which all its Interests have to leave the forwarder, which must be on this host and have
    /// local fields on.
    pub next_hop_face: Option<u64>,
}

/// How a fetch gets over outages of the forwarder.
#[derive(Clone, Copy, Debug)]
pub struct OutagePolicy {
    /// When it tries to connect again.
    pub back_off: BackOffConfig,
    /// How long one outage may last. Then the fetch fails as it would at once without a policy.
    pub longest_outage: Duration,
    /// Is told when an outage begins, and when it is over.
    pub tell: fn(&Outage<'_>),
}

/// Runs `fetcher`, which must leave verification to its owner, until the object is complete.
///
/// # Errors
/// The object cannot be had or is refused, the forwarder went away, the reader fails or wants no more.
pub fn fetch(
    connection: &mut Connection,
    fetcher: &mut Fetcher,
    verifier: &mut dyn Verifier,
    reader: &mut dyn Reader,
) -> Result<(), FetchFailure> {
    fetch_with(connection, fetcher, verifier, reader, &FetchOptions::default())
}

/// The same, with options of one's own. With patience it connects again when the forwarder goes away, and
/// goes on. What was on its way counts as lost then, so that it is asked for again as often as the fetcher
/// asks for anything.
///
/// # Errors
/// As [`fetch`]; the forwarder was away for too long.
pub fn fetch_with(
    connection: &mut Connection,
    fetcher: &mut Fetcher,
    verifier: &mut dyn Verifier,
    reader: &mut dyn Reader,
    options: &FetchOptions,
) -> Result<(), FetchFailure> {
    let mut bench = Bench::default();
    let mut back_off = BackOff::new(options.outages.map_or_else(BackOffConfig::default, |own| own.back_off));
    verifier.handle_delivered(fetcher.next_segment());
    loop {
        match (run(connection, fetcher, verifier, reader, &mut bench, options), &options.outages) {
            (Err(FetchFailure::Client(error)), Some(outages)) if error.is_outage() => {
                await_return(connection, error, outages, &mut back_off, || reader.progress(fetcher))?;
            }
            (other, _) => return other,
        }
    }
}

/// Waits for the forwarder to come back.
fn await_return(
    connection: &mut Connection,
    why: ClientError,
    outages: &OutagePolicy,
    back_off: &mut BackOff,
    mut may_go_on: impl FnMut() -> bool,
) -> Result<(), FetchFailure> {
    let (begun, mut random) = (connection.now(), Random::from_seed(Clock::seed()));
    (outages.tell)(&Outage::Begun { remote: connection.remote(), why: &why });
    let mut until = back_off.handle_failure(begun, &mut random);
    loop {
        if !may_go_on() {
            return Err(FetchFailure::Interrupted);
        }
        let now = connection.now();
        if now.saturating_since(begun) > outages.longest_outage {
            return Err(why.into());
        }
        if now < until {
            // A signal ends the wait, and the reader says whether that was the end of it all.
            wait_for_time(Some(until.saturating_since(now)))?;
        } else if connection.reopen_within(ATTEMPT_TIMEOUT).is_ok() {
            break;
        } else {
            until = back_off.handle_failure(connection.now(), &mut random);
        }
    }
    let now = connection.now();
    back_off.handle_success(now);
    let lasted = now.saturating_since(begun);
    (outages.tell)(&Outage::Over { remote: connection.remote(), lasted });
    Ok(())
}

/// What waits for a verdict, and what verdicts there were.
#[derive(Default)]
struct Bench {
    /// Packets refused in a row.
    refused: u32,
    /// By which face packets came that wait for a verdict, if the forwarder tells.
    faces: BTreeMap<Option<u64>, u64>,
}

impl Bench {
    /// Carries what came to the verifier.
    fn bring(&mut self, fetcher: &mut Fetcher, verifier: &mut dyn Verifier, now: Now, face: Option<u64>) {
        while let Some(packet) = fetcher.poll_unverified() {
            if let Some(face) = face {
                self.faces.insert(place(packet.subject), face);
            }
            verifier.handle_packet(now, packet);
        }
    }
}

fn place(subject: Subject) -> Option<u64> {
    match subject {
        Subject::Discovery => None,
        Subject::Segment(segment) => Some(segment),
    }
}

fn run(
    connection: &mut Connection,
    fetcher: &mut Fetcher,
    verifier: &mut dyn Verifier,
    reader: &mut dyn Reader,
    bench: &mut Bench,
    options: &FetchOptions,
) -> Result<(), FetchFailure> {
    let mut segments: Vec<Segment> = Vec::with_capacity(PIECES);
    loop {
        let now = both(connection);
        if let Some(problem) = settle(fetcher, verifier, reader, now, bench)
            && let Some(name) = fetcher.object_name()
        {
            return Err(FetchError::NotAccepted { name: name.clone(), problem }.into());
        }
        loop {
            segments.extend(std::iter::from_fn(|| fetcher.poll_content()).take(PIECES));
            let Some(last) = segments.last() else { break };
            let next = last.segment + 1;
            reader.segments(&segments)?;
            verifier.handle_delivered(next);
            segments.drain(..).for_each(|segment| connection.recycle(segment.data));
        }
        if let Some(error) = fetcher.error() {
            return Err(error.clone().into());
        }
        if fetcher.is_complete() {
            return Ok(());
        }
        if let (Some(problem), Some(name)) = (verifier.hopeless(), fetcher.object_name()) {
            return Err(FetchError::NotAccepted { name: name.clone(), problem: problem.to_owned() }.into());
        }
        if !reader.progress(fetcher) {
            return Err(FetchFailure::Interrupted);
        }
        while let Some(interest) = verifier.poll_interest(now) {
            connection.send_interest(&interest)?;
        }
        while let Some(interest) = fetcher.poll_transmit(now.instant) {
            match options.next_hop_face {
                None => connection.send_interest(&interest)?,
                next_hop_face => {
                    let header = LinkHeader { next_hop_face, ..LinkHeader::default() };
                    connection.send_interest_with(&interest, header)?;
                }
            }
        }
        let deadline = fetcher.next_deadline().unwrap_or(Instant::NEVER).min(verifier.next_deadline());
        match connection.receive(deadline)? {
            None => {
                let now = both(connection);
                fetcher.handle_timeout(now.instant);
                verifier.handle_timeout(now);
            }
            Some(first) => {
                let mut next = Some(first);
                for _ in 0..BATCH {
                    let Some(packet) = next else { break };
                    take(fetcher, verifier, bench, both(connection), packet);
                    next = connection.try_receive()?;
                }
                if let Some(packet) = next {
                    take(fetcher, verifier, bench, both(connection), packet);
                }
            }
        }
    }
}

fn both(connection: &Connection) -> Now {
    Now { instant: connection.now(), unix: connection.clock().unix() }
}

/// Carries packets to the verifier and verdicts back. Gives the problem when nothing but refusals comes.
fn settle(
    fetcher: &mut Fetcher,
    verifier: &mut dyn Verifier,
    reader: &mut dyn Reader,
    now: Now,
    bench: &mut Bench,
) -> Option<String> {
    bench.bring(fetcher, verifier, now, None);
    while let Some(Verdict { subject, refused: problem }) = verifier.poll_verdict() {
        let face = bench.faces.remove(&place(subject));
        match problem {
            None => {
                bench.refused = 0;
                fetcher.accept(now.instant, subject);
            }
            Some(problem) => {
                bench.refused += u32::from(subject != Subject::Discovery);
                if let Some(data) = fetcher.under_verification(subject) {
                    reader.refused(Refused::new(data, face, &problem));
                }
                if let Subject::Segment(segment) = subject
                    && let Some(digest) = verifier.digest_of(segment)
                {
                    fetcher.demand(segment, digest);
                }
                fetcher.refuse(now.instant, subject, &problem);
                if bench.refused >= MAX_REFUSED {
                    return Some(problem);
                }
            }
        }
    }
    None
}

fn take(fetcher: &mut Fetcher, verifier: &mut dyn Verifier, bench: &mut Bench, now: Now, packet: Incoming) {
    match packet {
        Incoming::Data { data, header } => {
            if !verifier.handle_data(now, &data) {
                fetcher.receive_data(now.instant, data, &header);
                bench.bring(fetcher, verifier, now, header.incoming_face);
            }
        }
        Incoming::Nack { interest, reason, .. } => {
            verifier.handle_nack(now, interest.name(), reason);
            fetcher.receive_nack(now.instant, interest.name(), reason);
        }
        // Nobody registered anything on this connection for as long as the fetch runs.
        Incoming::Interest { .. } => {}
    }
}
