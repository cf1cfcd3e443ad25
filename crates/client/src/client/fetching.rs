//! Running a fetch to its end, while everything else goes on.

use std::io;

use flow::{FetchError, Fetcher, Segment, VerifiedFetch};
use packet::time::{Duration, Instant};
use thiserror::Error;

use super::Client;
use crate::error::ClientError;
use crate::refused_packet::RefusedPacketInfo;
use crate::session::{FetchId, NextHops};

/// Segments that the reader gets at once.
const SEGMENTS: usize = 64;

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
    /// More came than was to be fetched at most.
    #[error("the object has more than {0} bytes")]
    TooLarge(u64),
    /// A signal came, or the reader said so.
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
    fn refused(&mut self, _refused: RefusedPacketInfo) {}

    /// Called now and then, and at every signal; says whether to go on.
    fn progress(&mut self, _fetcher: &Fetcher) -> bool {
        true
    }
}

/// How a fetch goes about what it does.
#[derive(Clone, Copy, Debug)]
pub struct FetchOptions {
    /// How long an outage of the forwarder may last, if the client [gets over](Client::when_gone) outages at
    /// all. Then the fetch fails as it would at once otherwise.
    pub max_outage: Duration,
    /// The face by which Interests for the object have to leave the forwarder, which must be on this host and
    /// have local fields on.
    pub next_hop_face: Option<u64>,
    /// The same for Interests for what vouches for the object: certificates, manifests.
    pub proof_next_hop_face: Option<u64>,
}

impl Default for FetchOptions {
    /// A minute for an outage, and any face.
    fn default() -> Self {
        FetchOptions { max_outage: Duration::from_secs(60), next_hop_face: None, proof_next_hop_face: None }
    }
}

impl FetchOptions {
    pub(crate) fn next_hops(&self) -> NextHops {
        NextHops { object: self.next_hop_face, proof: self.proof_next_hop_face }
    }
}

/// What a fetch has come to since it was looked at last.
pub(crate) enum FetchStep {
    /// A packet was refused.
    Refused(RefusedPacketInfo),
    /// Segments have come.
    Segments,
    /// It is over.
    Over(Result<(), FetchFailure>),
    /// There is nothing new before the next packet or deadline.
    Waiting,
}

impl Client {
    /// Looks at a fetch; segments that have come are put into `segments`, which is empty.
    pub(crate) fn poll_fetch(&mut self, id: FetchId, segments: &mut Vec<Segment>) -> FetchStep {
        if let Some(refused) = self.session.poll_refused(id) {
            return FetchStep::Refused(refused);
        }
        self.session.poll_segments(id, SEGMENTS, segments);
        if !segments.is_empty() {
            return FetchStep::Segments;
        }
        match self.session.fetch(id).map(VerifiedFetch::outcome) {
            None => FetchStep::Over(Err(FetchFailure::Interrupted)),
            Some(Some(outcome)) => FetchStep::Over(outcome.map_err(FetchFailure::Fetch)),
            Some(None) => FetchStep::Waiting,
        }
    }

    /// Takes back the memory of segments that are done with.
    pub(crate) fn recycle(&mut self, segments: &mut Vec<Segment>) {
        segments.drain(..).for_each(|segment| self.connection.recycle(segment.data));
    }

    /// Runs a fetch until the object is complete, and gives it back with how it ended. Interests that come
    /// meanwhile are answered by what is [attached](Client::serve), or kept for [`Client::next`], as is what
    /// comes of other requests.
    ///
    /// While the forwarder is away the fetch waits. What was on its way counts as lost then, so that it is
    /// asked for again as often as the fetcher asks for anything.
    pub fn fetch(
        &mut self,
        fetch: VerifiedFetch,
        reader: &mut dyn Reader,
        options: &FetchOptions,
    ) -> (VerifiedFetch, Result<(), FetchFailure>) {
        let id = self.session.begin_fetch(fetch, options.next_hops());
        let outcome = self.drive(id, reader, options);
        (self.session.give_back(id), outcome)
    }

    fn drive(
        &mut self,
        id: FetchId,
        reader: &mut dyn Reader,
        options: &FetchOptions,
    ) -> Result<(), FetchFailure> {
        let mut segments: Vec<Segment> = Vec::with_capacity(SEGMENTS);
        let mut outage: Option<(Instant, ClientError)> = None;
        loop {
            match self.poll_fetch(id, &mut segments) {
                FetchStep::Refused(refused) => {
                    reader.refused(refused);
                    continue;
                }
                FetchStep::Segments => {
                    reader.segments(&segments)?;
                    self.recycle(&mut segments);
                    continue;
                }
                FetchStep::Over(outcome) => return outcome,
                FetchStep::Waiting => {}
            }
            let goes_on = self.session.fetch(id).is_some_and(|fetch| reader.progress(fetch.fetcher()));
            if !goes_on {
                return Err(FetchFailure::Interrupted);
            }
            match (self.is_gone(), outage.take()) {
                (true, Some((begun, why))) if self.now().saturating_since(begun) > options.max_outage => {
                    return Err(why.into());
                }
                (true, begun) => outage = begun,
                (false, _) => {}
            }
            if let Err(error) = self.turn(Instant::NEVER) {
                if !self.note_outage(&error) {
                    return Err(error.into());
                }
                outage.get_or_insert((self.now(), error));
            }
        }
    }
}
