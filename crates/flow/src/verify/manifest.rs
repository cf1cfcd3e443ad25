//! With a manifest: one signature for all, and a hash for each segment.

use std::collections::{BTreeMap, VecDeque};

use packet::time::Instant;
use packet::{Component, Data, Dialect, Interest, NackReason, Name, NameRef, Now};
use trust::manifest::{
    ManifestError, ManifestLimits, ManifestReader, SegmentVerdict, manifest_name, object_of,
};

use super::unverified::{Unverified, UnverifiedKind};

use super::requests::Requests;
use super::{Cost, Summary, VerificationError, VerificationOutcome, Verifier, may_pass};

/// Packets of the manifest that are asked for at once.
const WINDOW: usize = 8;

/// Packets of the manifest that may turn out to be forged, or damaged in somebody's cache, before the
/// manifest itself counts as such.
const MAX_FORGED: u32 = 4;

/// Segments that wait for the part of the manifest that speaks of them.
const MAX_HELD: usize = 64 << 10;

/// Verifies segments by the object's manifest, whose first packet another verifier vouches for.
pub struct ManifestVerifier {
    /// Verifies metadata, and the first packet of the manifest.
    root: Box<dyn Verifier>,
    reader: Option<Reading>,
    requests: Requests<Name>,
    held: BTreeMap<u64, Data>,
    verdicts: VecDeque<VerificationOutcome>,
    /// Why there is no manifest to verify by.
    broken: Option<VerificationError>,
    verified: u64,
    /// Segments below this one were delivered.
    delivered: u64,
    limits: ManifestLimits,
    cost: Cost,
}

struct Reading {
    name: Name,
    reader: ManifestReader,
    /// The packet that will be asked for next.
    next_asked: u64,
    last: Option<u64>,
    first_is_verified: bool,
    first: Option<Data>,
    /// Packets that were not what they should be.
    forged: u32,
}

impl ManifestVerifier {
    /// Verifies by a manifest whose first packet `root` vouches for. `seed` decides nonces.
    pub fn new(root: Box<dyn Verifier>, seed: u64) -> Self {
        ManifestVerifier {
            root,
            reader: None,
            requests: Requests::new(Dialect::Ndn, seed),
            held: BTreeMap::new(),
            verdicts: VecDeque::new(),
            broken: None,
            verified: 0,
            delivered: 0,
            limits: ManifestLimits::default(),
            cost: Cost::default(),
        }
    }

    /// The same, keeping at most so much of the manifest. What is larger is read as the object is delivered.
    pub fn with_limits(self, limits: ManifestLimits) -> Self {
        ManifestVerifier { limits, ..self }
    }

    /// Begins with the manifest as soon as the object's name is known.
    fn begin(&mut self, segment: NameRef<'_>) {
        let object = segment.prefix(segment.component_count().saturating_sub(1)).to_name();
        match manifest_name(&object) {
            Ok(name) => {
                let mut reader = ManifestReader::new(object, self.limits);
                reader.forget_below(self.delivered);
                self.reader = Some(Reading {
                    name,
                    reader,
                    next_asked: 0,
                    last: None,
                    first_is_verified: false,
                    first: None,
                    forged: 0,
                });
                self.ask();
            }
            Err(error) => self.broken = Some(ManifestError::from(error).into()),
        }
    }

    /// Asks for more of the manifest, as far as the window allows.
    fn ask(&mut self) {
        let Some(reading) = &mut self.reader else { return };
        // How many there are is known from the first one.
        let end = reading.last.map_or(1, |last| last.saturating_add(1));
        while self.requests.len() < WINDOW
            && reading.next_asked < end
            && reading.reader.has_room_beside(self.requests.len())
        {
            self.requests.ask_for(&reading.name, reading.next_asked);
            reading.next_asked += 1;
        }
    }

    /// A packet was not the one it should be: asks for it again, unless that has happened too often.
    fn ask_again(&mut self, number: u64, problem: VerificationError) {
        let Some(reading) = &mut self.reader else { return };
        reading.forged += 1;
        if reading.forged >= MAX_FORGED {
            return self.give_up(problem);
        }
        self.requests.ask_for(&reading.name, number);
    }

    /// Goes on after the reader has taken in a packet, or refused it.
    fn go_on(&mut self, taken: Result<(), ManifestError>) {
        match taken {
            Ok(()) => {}
            // Which may be one that came early, and not the one that was taken in now.
            Err(error @ ManifestError::Digest(number)) => self.ask_again(number, error.into()),
            Err(error) => self.give_up(error.into()),
        }
        self.verify_held();
        self.ask();
    }

    fn take_manifest_packet(&mut self, now: Now, data: &Data) {
        let Some(reading) = &mut self.reader else { return };
        let number = data.name().last().and_then(Component::number);
        if number == Some(0) {
            if !reading.first_is_verified {
                reading.first = Some(data.clone());
                self.root.handle_packet(
                    now,
                    Unverified { subject: UnverifiedKind::Segment(0), data: data.clone() },
                );
                self.collect_root();
            }
            return;
        }
        self.cost.hashed_bytes += data.wire().len() as u64;
        let taken = reading.reader.handle_packet(data);
        self.go_on(taken);
    }

    /// Takes the verdict on the first packet.
    fn collect_root(&mut self) {
        while let Some(verdict) = self.root.poll_outcome() {
            if verdict.subject == UnverifiedKind::Discovery {
                self.verdicts.push_back(verdict);
                continue;
            }
            let Some(reading) = &mut self.reader else { continue };
            let Some(first) = reading.first.take() else { continue };
            if let Some(refused) = verdict.refused {
                self.ask_again(0, VerificationError::Manifest(Box::new(refused)));
                continue;
            }
            reading.first_is_verified = true;
            let last = first.ndn().and_then(|view| view.final_block()).and_then(Component::number);
            reading.last = Some(last.unwrap_or(0));
            let taken = reading.reader.handle_first(&first);
            self.go_on(taken);
        }
    }

    fn verify_held(&mut self) {
        let Some(reading) = &self.reader else { return };
        let known = reading.reader.known_segments();
        let complete = reading.reader.is_complete();
        while let Some(entry) = self.held.first_entry() {
            if *entry.key() >= known && !complete {
                return;
            }
            let (segment, data) = entry.remove_entry();
            self.cost.hashed_bytes += data.wire().len() as u64;
            let refused = VerificationError::of_listed(reading.reader.verify(&data));
            self.verified += u64::from(refused.is_none());
            self.verdicts
                .push_back(VerificationOutcome { subject: UnverifiedKind::Segment(segment), refused });
        }
    }

    fn give_up(&mut self, problem: VerificationError) {
        for segment in std::mem::take(&mut self.held).into_keys() {
            let refused = Some(problem.clone());
            self.verdicts
                .push_back(VerificationOutcome { subject: UnverifiedKind::Segment(segment), refused });
        }
        self.broken.get_or_insert(problem);
    }
}

impl Verifier for ManifestVerifier {
    fn handle_packet(&mut self, now: Now, packet: Unverified) {
        let subject = packet.subject;
        let verdict = |refused| VerificationOutcome { subject, refused };
        let UnverifiedKind::Segment(segment) = subject else {
            // Which version is the latest is not for the manifest to say, but for whoever vouches for the
            // manifest.
            self.root.handle_packet(now, packet);
            return self.collect_root();
        };
        if self.reader.is_none() && self.broken.is_none() {
            self.begin(packet.data.name());
        }
        if let Some(problem) = &self.broken {
            return self.verdicts.push_back(verdict(Some(problem.clone())));
        }
        let Some(reading) = &self.reader else { return };
        match reading.reader.verify(&packet.data) {
            SegmentVerdict::Unknown if self.held.len() < MAX_HELD => {
                self.held.insert(segment, packet.data);
            }
            read => {
                self.cost.hashed_bytes += packet.data.wire().len() as u64;
                let refused = VerificationError::of_listed(read);
                self.verified += u64::from(refused.is_none());
                self.verdicts.push_back(verdict(refused));
            }
        }
    }

    fn handle_data(&mut self, now: Now, data: &Data) -> bool {
        if self.requests.answered(data.name()) {
            self.take_manifest_packet(now, data);
            return true;
        }
        let ours = self.root.handle_data(now, data);
        self.collect_root();
        // A late copy of a manifest packet is nobody else's either.
        ours || object_of(data.name()).is_some()
    }

    fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason) {
        if self.requests.contains(name) && may_pass(reason) {
            return;
        }
        if self.requests.answered(name) {
            self.give_up(VerificationError::ManifestNack { name: name.to_name(), reason });
        } else {
            self.root.handle_nack(now, name, reason);
            self.collect_root();
        }
    }

    fn handle_timeout(&mut self, now: Now) {
        if let Some(name) = self.requests.take_failed(now.instant) {
            self.give_up(VerificationError::ManifestTimeout(name));
        }
        self.root.handle_timeout(now);
        self.collect_root();
    }

    fn handle_delivered(&mut self, segment: u64) {
        self.delivered = segment;
        if let Some(reading) = &mut self.reader {
            reading.reader.forget_below(segment);
        }
        // There may be room for more of the manifest now.
        self.ask();
    }

    fn poll_outcome(&mut self) -> Option<VerificationOutcome> {
        self.verdicts.pop_front()
    }

    fn digest_of(&self, segment: u64) -> Option<[u8; 32]> {
        self.reader.as_ref()?.reader.digest_of(segment)
    }

    fn hopeless(&self) -> Option<&VerificationError> {
        self.broken.as_ref()
    }

    fn poll_interest(&mut self, now: Now) -> Option<Interest> {
        self.requests.poll(now.instant).or_else(|| self.root.poll_interest(now))
    }

    fn next_deadline(&self) -> Instant {
        self.requests.next_deadline().min(self.root.next_deadline())
    }

    fn take_cost(&mut self) -> Cost {
        let mut cost = std::mem::take(&mut self.cost);
        cost += self.root.take_cost();
        cost
    }

    fn summary(&self) -> Summary {
        let root = self.root.summary();
        let text = match &self.broken {
            Some(problem) => problem.to_string(),
            None => format!(
                "{} segments are as its manifest lists them; of the manifest: {}",
                self.verified, root.text
            ),
        };
        Summary { text, ..root }
    }
}
