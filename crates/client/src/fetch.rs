//! Running a fetch over a connection to its end.

use std::io;

use flow::{FetchError, Fetcher, Piece, Subject};
use packet::time::Instant;
use thiserror::Error;

use crate::connection::{Connection, Incoming};
use crate::error::ClientError;
use crate::judge::{Judge, Now, Verdict};

/// Packets that are looked at before Interests are sent for those that are missing.
const BATCH: usize = 64;

/// Pieces that the reader gets at once.
const PIECES: usize = 64;

/// Packets that are refused without any being accepted before the fetch ends: then it is not one that somebody forged, but all.
const MAX_REFUSED: u32 = 24;

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
    /// The next pieces, in order, at least one.
    ///
    /// # Errors
    /// They cannot be written; the fetch ends.
    fn pieces(&mut self, pieces: &[Piece]) -> io::Result<()>;

    /// Called now and then; says whether to go on.
    fn progress(&mut self, _fetcher: &Fetcher) -> bool {
        true
    }
}

/// Runs `fetcher`, which must leave verification to its owner, until the object is complete.
///
/// # Errors
/// The object cannot be had or is refused, the forwarder went away, the reader fails or wants no more.
pub fn fetch(
    connection: &mut Connection,
    fetcher: &mut Fetcher,
    judge: &mut dyn Judge,
    reader: &mut dyn Reader,
) -> Result<(), FetchFailure> {
    let mut refused = 0;
    judge.handle_delivered(fetcher.next_segment());
    let mut pieces: Vec<Piece> = Vec::with_capacity(PIECES);
    loop {
        let now = both(connection);
        if let Some(problem) = settle(fetcher, judge, now, &mut refused)
            && let Some(name) = fetcher.object_name()
        {
            return Err(FetchError::NotAccepted { name: name.clone(), problem }.into());
        }
        loop {
            pieces.extend(std::iter::from_fn(|| fetcher.poll_content()).take(PIECES));
            let Some(last) = pieces.last() else { break };
            let next = last.segment + 1;
            reader.pieces(&pieces)?;
            judge.handle_delivered(next);
            pieces.drain(..).for_each(|piece| connection.recycle(piece.data));
        }
        if let Some(error) = fetcher.error() {
            return Err(error.clone().into());
        }
        if fetcher.is_complete() {
            return Ok(());
        }
        if let (Some(problem), Some(name)) = (judge.hopeless(), fetcher.object_name()) {
            return Err(FetchError::NotAccepted { name: name.clone(), problem: problem.to_owned() }.into());
        }
        if !reader.progress(fetcher) {
            return Err(FetchFailure::Interrupted);
        }
        while let Some(interest) = judge.poll_interest(now) {
            connection.send_interest(&interest)?;
        }
        while let Some(interest) = fetcher.poll_transmit(now.instant) {
            connection.send_interest(&interest)?;
        }
        let deadline = fetcher.next_deadline().unwrap_or(Instant::NEVER).min(judge.next_deadline());
        match connection.receive(deadline)? {
            None => {
                let now = both(connection);
                fetcher.handle_timeout(now.instant);
                judge.handle_timeout(now);
            }
            Some(first) => {
                let mut next = Some(first);
                for _ in 0..BATCH {
                    let Some(packet) = next else { break };
                    take(fetcher, judge, both(connection), packet);
                    next = connection.try_receive()?;
                }
                if let Some(packet) = next {
                    take(fetcher, judge, both(connection), packet);
                }
            }
        }
    }
}

fn both(connection: &Connection) -> Now {
    Now { instant: connection.now(), unix: connection.clock().unix() }
}

/// Carries packets to the judge and verdicts back. Gives the problem when nothing but refusals comes.
fn settle(fetcher: &mut Fetcher, judge: &mut dyn Judge, now: Now, refused: &mut u32) -> Option<String> {
    while let Some(packet) = fetcher.poll_unverified() {
        judge.handle_packet(now, packet);
    }
    while let Some(Verdict { subject, refused: problem }) = judge.poll_verdict() {
        match problem {
            None => {
                *refused = 0;
                fetcher.accept(now.instant, subject);
            }
            Some(problem) => {
                *refused += u32::from(subject != Subject::Discovery);
                fetcher.refuse(now.instant, subject, &problem);
                if *refused >= MAX_REFUSED {
                    return Some(problem);
                }
            }
        }
    }
    None
}

fn take(fetcher: &mut Fetcher, judge: &mut dyn Judge, now: Now, packet: Incoming) {
    match packet {
        Incoming::Data { data, header } => {
            if !judge.handle_data(now, &data) {
                fetcher.receive_data(now.instant, data, &header);
            }
        }
        Incoming::Nack { interest, reason, .. } => {
            judge.handle_nack(now, interest.name(), reason);
            fetcher.receive_nack(now.instant, interest.name(), reason);
        }
        // Nobody registered anything on this connection for as long as the fetch runs.
        Incoming::Interest { .. } => {}
    }
}
