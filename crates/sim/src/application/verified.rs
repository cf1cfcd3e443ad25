//! An application that fetches an object and verifies it, at the cost of its node's processor.

use flow::verify::{Cost, Verifier};
use flow::{FetchConfig, FetchError, Fetcher, Segment, Verification, VerifiedFetch};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name, Now, UnixTime};

use super::{Application, Context};
use crate::error::SimError;
use crate::into_name::IntoName;

/// Segments that are taken from the fetch at once.
const SEGMENTS: usize = 64;

/// How long verification keeps a processor busy, at full capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerificationTime {
    /// For each signature that is checked with a key.
    pub signature: Duration,
    /// For each 1024 bytes that are hashed.
    pub hashed_kibibyte: Duration,
}

impl VerificationTime {
    /// For all of this.
    fn of(self, cost: Cost) -> Duration {
        let signatures = self.signature.as_nanos().saturating_mul(cost.signatures);
        let hashing = u128::from(self.hashed_kibibyte.as_nanos()) * u128::from(cost.hashed_bytes) / 1024;
        let hashing = u64::try_from(hashing).unwrap_or(u64::MAX);
        Duration::from_nanos(signatures.saturating_add(hashing))
    }
}

/// Fetches one object of which every packet is verified before it counts, by the machine that the client
/// library drives. Its content is thrown away.
///
/// What the verifier computes is charged to the [processor](crate::Network::set_processor) of the node, if it
/// has one: packets that come meanwhile wait.
pub struct VerifiedFetcher {
    name: Name,
    config: FetchConfig,
    start_at: Duration,
    /// The time of the calendar at which the simulation begins.
    epoch: UnixTime,
    charge: VerificationTime,
    /// Until the fetch begins.
    verifier: Option<Box<dyn Verifier>>,
    fetch: Option<VerifiedFetch>,
    charged: Duration,
    content_bytes: u64,
    refused: u64,
    completed_at: Option<Instant>,
}

impl VerifiedFetcher {
    /// Fetches the object of this name, with or without its version, in the dialect of the face that it is
    /// behind, and has `verifier` look at all that comes. Certificates count as they would in 2023, unless
    /// [`VerifiedFetcher::epoch`] says otherwise.
    ///
    /// # Errors
    /// Not a name.
    pub fn new(
        name: impl IntoName,
        config: FetchConfig,
        verifier: Box<dyn Verifier>,
    ) -> Result<Self, SimError> {
        Ok(VerifiedFetcher {
            name: name.into_name()?,
            config: FetchConfig { verification: Verification::Owner, ..config },
            start_at: Duration::ZERO,
            epoch: UnixTime::from_secs(1_700_000_000),
            charge: VerificationTime::default(),
            verifier: Some(verifier),
            fetch: None,
            charged: Duration::ZERO,
            content_bytes: 0,
            refused: 0,
            completed_at: None,
        })
    }

    /// Beginning at this time, on the clock of its node.
    pub fn start_at(self, start_at: Duration) -> Self {
        VerifiedFetcher { start_at, ..self }
    }

    /// With this time of the calendar where the simulation begins.
    pub fn epoch(self, epoch: UnixTime) -> Self {
        VerifiedFetcher { epoch, ..self }
    }

    /// With verification taking so long; none otherwise.
    pub fn charge(self, charge: VerificationTime) -> Self {
        VerifiedFetcher { charge, ..self }
    }

    /// The fetch; `None` before it has begun.
    pub fn fetch(&self) -> Option<&VerifiedFetch> {
        self.fetch.as_ref()
    }

    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<Result<(), FetchError>> {
        self.fetch.as_ref()?.outcome()
    }

    /// Bytes of content that were verified.
    pub fn content_bytes(&self) -> u64 {
        self.content_bytes
    }

    /// Packets that were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// How long the processor was busy with verification, at full capacity.
    pub fn charged(&self) -> Duration {
        self.charged
    }

    /// When the object was complete, on the clock of its node.
    pub fn completed_at(&self) -> Option<Instant> {
        self.completed_at
    }

    fn now(&self, context: &Context<'_>) -> Now {
        let instant = context.now();
        let since = instant.saturating_since(Instant::ZERO).as_millis();
        Now { instant, unix: UnixTime::from_millis(self.epoch.as_millis().saturating_add(since)) }
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        let now = self.now(context);
        let Some(fetch) = &mut self.fetch else { return };
        let mut segments: Vec<Segment> = Vec::new();
        loop {
            fetch.poll_segments(SEGMENTS, &mut segments);
            if segments.is_empty() {
                break;
            }
            let bytes = segments.drain(..).map(|segment| segment.data.content().len() as u64);
            self.content_bytes += bytes.sum::<u64>();
        }
        while fetch.poll_refused().is_some() {
            self.refused += 1;
        }
        let time = self.charge.of(fetch.take_cost());
        self.charged += time;
        context.charge(time);
        if fetch.outcome().is_some() {
            if fetch.fetcher().is_complete() {
                self.completed_at.get_or_insert(now.instant);
            }
            return context.wake_at(Instant::NEVER);
        }
        while let Some((interest, _)) = fetch.poll_interest(now) {
            context.send_interest(interest);
        }
        context.wake_at(fetch.next_deadline());
    }
}

impl std::fmt::Debug for VerifiedFetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut form = f.debug_struct("VerifiedFetcher");
        form.field("name", &self.name).field("fetch", &self.fetch).field("charged", &self.charged);
        form.finish_non_exhaustive()
    }
}

impl Application for VerifiedFetcher {
    fn start(&mut self, context: &mut Context<'_>) {
        context.wake_at(Instant::ZERO + self.start_at);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        let now = self.now(context);
        if let Some(verifier) = self.verifier.take() {
            let seed = context.random().next_u64();
            let config = FetchConfig { dialect: context.dialect(), ..self.config.clone() };
            let fetcher = Fetcher::new(self.name.clone(), config, now.instant, seed);
            self.fetch = Some(VerifiedFetch::new(fetcher, verifier));
        } else if let Some(fetch) = &mut self.fetch {
            fetch.handle_timeout(now);
        }
        self.go_on(context);
    }

    fn handle_data(&mut self, context: &mut Context<'_>, data: &Data, header: &LinkHeader) {
        let now = self.now(context);
        if let Some(fetch) = &mut self.fetch {
            fetch.handle_data(now, data, header);
        }
        self.go_on(context);
    }

    fn handle_nack(&mut self, context: &mut Context<'_>, interest: &Interest, reason: NackReason) {
        let now = self.now(context);
        if let Some(fetch) = &mut self.fetch {
            fetch.handle_nack(now, interest.name(), reason);
        }
        self.go_on(context);
    }
}
