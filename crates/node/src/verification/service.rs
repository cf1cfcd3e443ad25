//! The service that verifies samples.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use engine::{Sample, SamplingConfig};
use flow::verify::{AnchoredVerifier, PublisherVerifier, VerificationError, Verifier};
use flow::{Unverified, UnverifiedKind};
use packet::name::name_in_dialect;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Dialect, Now, Packet};
use system::Clock;
use trust::validator::{ValidationError, ValidatorLimits};
use trust::{Revocations, Validator};

use super::setup::{Trusted, read};
use crate::config::Config;
use crate::inner_service::{InnerService, ServiceThread, open_face};
use crate::remote_control::RemoteControl;
use crate::start_error::StartError;
use crate::sys::random_words;
use crate::transport::inner::{InnerFace, InnerLimits, InnerPacket};
use crate::transport::ring::{RingEnded, RingLimits, RingReceiver, Signal, ring};

/// What may wait for it: certificates.
const LIMITS: InnerLimits = InnerLimits { packets: 256, bytes: 4 << 20 };
/// Bytes of samples that may wait.
const SAMPLE_BYTES: usize = 8 << 20;
/// How often the file with revoked keys is looked at, where there are samples.
const LOOK_FOR_REVOCATIONS: Duration = Duration::from_secs(1);
/// A refusal is told in the log no more often than this.
const TELL: Duration = Duration::from_secs(1);

/// The verifier and what it is reached by.
pub(crate) struct VerificationService {
    clock: Clock,
    remote: RemoteControl,
    samples: RingReceiver<Sample>,
    trusted: Trusted,
    /// Those that the verifier knows.
    revocations: Arc<Revocations>,
    looked_at: Instant,
    random: Random,
    /// Of NDN.
    verifier: AnchoredVerifier,
    /// Of CCNx. It has all keys that it believes, and asks for none.
    publishers: PublisherVerifier,
    /// Samples that a verifier has, by the numbers it knows them by.
    verifying: BTreeMap<u64, Sample>,
    next_number: u64,
    /// Samples that it may have at once.
    at_once: usize,
    /// When the log was told of a refusal.
    told_at: Option<Instant>,
}

impl VerificationService {
    /// Starts it if the configuration names somebody to believe: from now on there are samples.
    ///
    /// # Errors
    /// The configuration makes no sense, or there can be no face or no thread.
    pub(crate) fn start_if_enabled(
        config: &Config,
        clock: Clock,
        remote: &RemoteControl,
    ) -> Result<Option<ServiceThread>, StartError> {
        let Some((sampling, trusted)) = read(config)? else { return Ok(None) };
        let [seed] = random_words()?;
        Ok(Some(Self::start(sampling, trusted, clock, remote.clone(), seed)?))
    }

    fn start(
        sampling: SamplingConfig,
        trusted: Trusted,
        clock: Clock,
        mut remote: RemoteControl,
        seed: u64,
    ) -> std::io::Result<ServiceThread> {
        let face = open_face(&mut remote, "verification", Dialect::Ndn, LIMITS)?;
        let limits = RingLimits { items: sampling.max_waiting, bytes: SAMPLE_BYTES };
        let (sender, samples) = ring(limits, Signal::new()?, Signal::new()?);
        let revocations = trusted.revocations.current();
        let mut random = Random::from_seed(seed);
        let verifier = verifier(&trusted, &revocations, random.next_u64());
        let publishers = PublisherVerifier::new(trusted.publishers.clone(), random.next_u64());
        let at_once = sampling.max_waiting;
        let service = VerificationService {
            clock,
            remote: remote.clone(),
            samples,
            trusted,
            revocations,
            looked_at: clock.now(),
            random,
            verifier,
            publishers,
            verifying: BTreeMap::new(),
            next_number: 0,
            at_once,
            told_at: None,
        };
        let thread = ServiceThread::start("verification", clock, face, service)?;
        remote.call(move |plane| plane.sample_to(sampling, sender));
        Ok(thread)
    }
}

fn verifier(trusted: &Trusted, revocations: &Arc<Revocations>, seed: u64) -> AnchoredVerifier {
    let (policy, anchors) = (trusted.policy.clone(), trusted.anchors.clone());
    let mut validator = Validator::new(policy, anchors, ValidatorLimits::default(), Random::from_seed(seed));
    validator.set_revocations(Arc::clone(revocations));
    AnchoredVerifier::new(validator)
}

impl InnerService for VerificationService {
    fn take_other(&mut self) -> Result<bool, RingEnded> {
        if self.verifying.len() >= self.at_once {
            return Ok(false);
        }
        let Some((sample, _)) = self.samples.pop()? else { return Ok(false) };
        self.take(sample);
        Ok(true)
    }

    fn handle_packet(&mut self, _face: &mut InnerFace, packet: InnerPacket) {
        let now = self.now();
        match packet.packet {
            Packet::Data(data) => drop(self.verifier.handle_data(now, &data)),
            Packet::Nack(interest, reason) => self.verifier.handle_nack(now, interest.name(), reason),
            // Nothing is registered for it.
            Packet::Interest(_) => {}
        }
    }

    fn proceed(&mut self, face: &mut InnerFace) {
        let now = self.now();
        if self.verifier.next_deadline() <= now.instant {
            self.verifier.handle_timeout(now);
        }
        self.pass_on(face);
    }

    /// While it has as many samples as it may, more of them are no reason to wake.
    fn other(&self) -> Option<BorrowedFd<'_>> {
        (self.verifying.len() < self.at_once).then(|| self.samples.as_fd())
    }

    fn next_deadline(&self, _now: Instant) -> Instant {
        self.verifier.next_deadline()
    }
}

impl VerificationService {
    fn now(&self) -> Now {
        self.clock.both()
    }

    fn take(&mut self, sample: Sample) {
        self.apply_revocations();
        let number = self.next_number;
        self.next_number += 1;
        let (data, now) = (sample.data.clone(), self.now());
        let packet = Unverified { subject: UnverifiedKind::Segment(number), data };
        match sample.data.dialect() {
            Dialect::Ndn => self.verifier.handle_packet(now, packet),
            Dialect::Ccnx => self.publishers.handle_packet(now, packet),
        }
        self.verifying.insert(number, sample);
    }

    /// Begins anew if keys have been revoked since: nothing that was believed before is.
    fn apply_revocations(&mut self) {
        let now = self.clock.now();
        if now.saturating_since(self.looked_at) < LOOK_FOR_REVOCATIONS {
            return;
        }
        self.looked_at = now;
        let current = self.trusted.revocations.current();
        if Arc::ptr_eq(&current, &self.revocations) {
            return;
        }
        self.revocations = current;
        self.verifier = verifier(&self.trusted, &self.revocations, self.random.next_u64());
        let now = self.now();
        for (number, sample) in self.verifying.iter().filter(|(_, sample)| sample.data.ndn().is_some()) {
            let data = sample.data.clone();
            self.verifier.handle_packet(now, Unverified { subject: UnverifiedKind::Segment(*number), data });
        }
    }

    /// Sends Interests for certificates, and says what has been found.
    fn pass_on(&mut self, face: &mut InnerFace) {
        let now = self.now();
        while let Some(interest) = self.verifier.poll_interest(now) {
            // One that finds no room is given up by its deadline.
            let _ = face.send(InnerPacket::interest(interest));
        }
        while let Some(outcome) = self.verifier.poll_outcome().or_else(|| self.publishers.poll_outcome()) {
            let UnverifiedKind::Segment(number) = outcome.subject else { continue };
            let Some(sample) = self.verifying.remove(&number) else { continue };
            match outcome.refused {
                None => {}
                Some(why) if is_undecided(&why) => {
                    self.remote.post(Box::new(move |plane| plane.engine.drop_sample(&sample)));
                }
                Some(why) => {
                    self.tell(now.instant, &sample, &why);
                    self.remote.post(Box::new(move |plane| plane.engine.refuse_sample(plane.now, &sample)));
                }
            }
        }
    }

    fn tell(&mut self, now: Instant, sample: &Sample, why: &VerificationError) {
        if self.told_at.is_some_and(|at| now.saturating_since(at) < TELL) {
            return;
        }
        self.told_at = Some(now);
        let (name, face) = (name_in_dialect(sample.data.dialect(), sample.data.name()), sample.face);
        tracing::warn!(%name, %face, "Data that was kept is not to be believed, and has been removed: {why}");
    }
}

/// Whether nobody can say if the packet is right: a certificate could not be had, or there was no room.
fn is_undecided(why: &VerificationError) -> bool {
    matches!(
        why,
        VerificationError::NotTrusted(
            ValidationError::NotFetched { .. }
                | ValidationError::TooManyFetches(_)
                | ValidationError::Full(_)
        )
    )
}
