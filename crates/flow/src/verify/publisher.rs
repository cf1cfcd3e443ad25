//! Objects of CCNx: every signature is checked by the key of the publisher that the packet names.
//!
//! Such a packet carries its publisher's key, or a certificate with it, or the name under which the key is
//! published; the key's digest is in what is signed. So a signature can always be checked, and it says that
//! all packets of one publisher are the same somebody's. Who that is, an anchor says.

use std::cell::OnceCell;
use std::collections::{BTreeMap, VecDeque};

use packet::ccnx::{ContentObjectView, KeyLocator, NameSource};
use packet::time::Instant;
use packet::{Data, Dialect, Interest, NackReason, Name, NameRef, Now, hex};
use trust::{KeyKind, PublicKey, VerifyError, ccnx};

use super::requests::Requests;
use super::unverified::{Unverified, UnverifiedKind};
use super::{Cost, Summary, VerificationError, VerificationOutcome, Verifier, note_signer};

/// Publishers whose keys are kept; an object has one, most often.
const MAX_KEYS: usize = 16;
/// Bits of an RSA key below which it is told how short it is.
const SHORT_KEY_BITS: usize = 2048;

type Digest = [u8; 32];

/// A key that is fetched. Whoever forges a packet can say of anybody's key that it is where it is not, so
/// that name is a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NamedKey {
    publisher: Digest,
    name: Name,
}

/// Verifies by the publisher's own key, and believes only anchors if there are any.
pub struct PublisherVerifier {
    anchors: BTreeMap<Digest, PublicKey>,
    /// Keys that came with packets, or were fetched.
    keys: BTreeMap<Digest, PublicKey>,
    /// Keys that are being fetched.
    asked: Requests<NamedKey>,
    /// What discovery found last: an object's name, and its publisher.
    found: Option<(Name, Digest)>,
    /// Whose segments the object consists of, once one was accepted: without an anchor anybody's signature
    /// counts, but an object is not put together from several publishers' segments.
    pinned: Option<Digest>,
    /// Packets whose publisher's key is being fetched: as many as the fetch keeps at most.
    held: VecDeque<Unverified>,
    verdicts: VecDeque<VerificationOutcome>,
    signers: Vec<String>,
    shortest_bits: Option<usize>,
    cost: Cost,
}

/// Where the key is.
enum KeyLocation {
    Key(PublicKey),
    At(Name),
}

impl PublisherVerifier {
    /// Believes the holders of `anchors`, or anybody whose signature is right if there are none.
    pub fn new(anchors: impl IntoIterator<Item = PublicKey>, seed: u64) -> Self {
        PublisherVerifier {
            anchors: anchors.into_iter().map(|key| (key.digest(), key)).collect(),
            keys: BTreeMap::new(),
            asked: Requests::for_keys(Dialect::Ccnx, seed),
            found: None,
            pinned: None,
            held: VecDeque::new(),
            verdicts: VecDeque::new(),
            signers: Vec::new(),
            shortest_bits: None,
            cost: Cost::default(),
        }
    }

    fn find_key(&self, object: &ContentObjectView<'_>) -> Result<KeyLocation, VerificationError> {
        let publisher = object.publisher();
        if let Some(key) = self.anchors.get(publisher).or_else(|| self.keys.get(publisher)) {
            return Ok(KeyLocation::Key(key.clone()));
        }
        if !self.anchors.is_empty() {
            return Err(VerificationError::NotAnAnchor(*publisher));
        }
        if let Some(key) = ccnx::own_key(object)? {
            return Ok(KeyLocation::Key(key));
        }
        match object.key_locator() {
            Some(KeyLocator::KeyName { .. }) => {
                key_name(object).map(KeyLocation::At).ok_or(VerificationError::NoSignature)
            }
            _ => Err(VerificationError::Signature(VerifyError::NoKey)),
        }
    }

    /// Why a packet that is to be a segment is none of this object's, if it is another publisher's.
    fn refuse_other_publisher(&self, packet: &Unverified, publisher: &Digest) -> Option<VerificationError> {
        if packet.subject == UnverifiedKind::Discovery || !self.anchors.is_empty() {
            return None;
        }
        // What discovery found may be a segment already.
        let is_found = |(object, _): &&(Name, Digest)| *object == object_of(&packet.data);
        let found = self.found.as_ref().filter(is_found).map(|(_, publisher)| publisher);
        let pinned = self.pinned.as_ref().or(found).filter(|pinned| *pinned != publisher)?;
        Some(VerificationError::OtherPublisher { publisher: *publisher, before: *pinned })
    }

    fn note_accepted(&mut self, packet: &Unverified, publisher: Digest) {
        match packet.subject {
            UnverifiedKind::Discovery => self.found = Some((object_of(&packet.data), publisher)),
            UnverifiedKind::Segment(_) => self.pinned = self.pinned.or(Some(publisher)),
        }
    }

    fn look_at(&mut self, now: Instant, packet: Unverified) {
        let Some(object) = packet.data.ccnx() else {
            return self.conclude(packet.subject, Some(VerificationError::NoSignature));
        };
        let publisher = *object.publisher();
        if let Some(refused) = self.refuse_other_publisher(&packet, &publisher) {
            return self.conclude(packet.subject, Some(refused));
        }
        let refused = match self.find_key(&object) {
            Ok(KeyLocation::Key(key)) => self.verify(&object, &key).err().map(VerificationError::from),
            Ok(KeyLocation::At(name)) => {
                let key = NamedKey { publisher, name: name.clone() };
                if self.asked.is_missing(now, &key) {
                    Some(VerificationError::NoKey(publisher))
                } else if self.asked.len() >= MAX_KEYS && !self.asked.has(&key) {
                    Some(VerificationError::TooManyPublishers)
                } else {
                    self.asked.ask_as(key, name);
                    self.held.push_back(packet);
                    return;
                }
            }
            Err(error) => Some(error),
        };
        if refused.is_none() {
            self.note_accepted(&packet, publisher);
        }
        self.conclude(packet.subject, refused);
    }

    fn verify(&mut self, object: &ContentObjectView<'_>, key: &PublicKey) -> Result<(), VerifyError> {
        self.cost.signatures += 1;
        self.cost.hashed_bytes += object.signed_bytes().len() as u64;
        ccnx::verify(object, key)?;
        // A signature by RSA is as long as the key; those of other kinds are short and good.
        if key.kind() == KeyKind::Rsa {
            let bits = object.signature().bits.len() * 8;
            self.shortest_bits = Some(self.shortest_bits.map_or(bits, |shortest| shortest.min(bits)));
        }
        note_signer(&mut self.signers, hex::encode(object.publisher()));
        if self.keys.len() < MAX_KEYS {
            self.keys.insert(*object.publisher(), key.clone());
        }
        Ok(())
    }

    fn conclude(&mut self, subject: UnverifiedKind, refused: Option<VerificationError>) {
        self.verdicts.push_back(VerificationOutcome { subject, refused });
    }

    /// Looks again at what waited for a key.
    fn go_on(&mut self, now: Instant) {
        for packet in std::mem::take(&mut self.held) {
            self.look_at(now, packet);
        }
    }
}

impl Verifier for PublisherVerifier {
    fn handle_packet(&mut self, now: Now, packet: Unverified) {
        self.look_at(now.instant, packet);
    }

    fn handle_data(&mut self, now: Now, data: &Data) -> bool {
        let Some(object) = data.ccnx() else { return false };
        // Only the key itself has its digest, whoever sends it. It is worked out once, however many keys a
        // forger has named in one place.
        let digest = OnceCell::new();
        let found = self.asked.find(|key| {
            key.name.as_ref().is_prefix_of(data.name())
                && *digest.get_or_init(|| trust::sha256(object.content())) == key.publisher
        });
        let Some(digest) = found.map(|key| key.publisher) else { return false };
        match PublicKey::from_spki_of_ccnx(object.content()) {
            Ok(key) if self.keys.len() < MAX_KEYS => {
                self.asked.remove_all(|key| key.publisher == digest);
                self.keys.insert(digest, key);
                self.go_on(now.instant);
            }
            _ => return false,
        }
        true
    }

    fn handle_nack(&mut self, _now: Now, _name: NameRef<'_>, _reason: NackReason) {}

    fn handle_timeout(&mut self, now: Now) {
        while let Some(failed) = self.asked.take_failed(now.instant) {
            let is_its = |packet: &Unverified| {
                packet.data.ccnx().is_some_and(|object| {
                    *object.publisher() == failed.publisher
                        && key_name(&object).is_some_and(|name| name == failed.name)
                })
            };
            let (its, others) = std::mem::take(&mut self.held).into_iter().partition(is_its);
            self.held = others;
            for packet in Vec::from(its) {
                self.conclude(packet.subject, Some(VerificationError::NoKey(failed.publisher)));
            }
        }
    }

    fn poll_outcome(&mut self) -> Option<VerificationOutcome> {
        self.verdicts.pop_front()
    }

    fn poll_interest(&mut self, now: Now) -> Option<Interest> {
        self.asked.poll(now.instant)
    }

    fn next_deadline(&self) -> Instant {
        self.asked.next_deadline()
    }

    fn take_cost(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }

    fn summary(&self) -> Summary {
        let signers = self.signers.join(", ");
        let trusted = !self.anchors.is_empty() && !self.signers.is_empty();
        let mut text = match trusted {
            true => format!("every packet is signed by {signers}, a trust anchor"),
            false => format!(
                "every packet is signed by its publisher {signers}; whose key that is was not checked, for no \
                 trust anchor was given"
            ),
        };
        if let Some(bits) = self.shortest_bits.filter(|bits| *bits < SHORT_KEY_BITS) {
            text.push_str(&format!("; the key has {bits} bits, which somebody with the means can break"));
        }
        Summary { trusted, signers: self.signers.clone(), text }
    }
}

/// Where a packet says that its publisher's key is.
fn key_name(object: &ContentObjectView<'_>) -> Option<Name> {
    match object.key_locator() {
        Some(KeyLocator::KeyName { name: NameSource::Ccnb(name), .. }) => name.to_name().ok(),
        Some(KeyLocator::KeyName { name: NameSource::Canonical(name), .. }) => Some(name.to_name()),
        _ => None,
    }
}

/// The name of the object that a packet is a segment of.
fn object_of(data: &Data) -> Name {
    data.name().prefix(data.name().component_count().saturating_sub(1)).to_name()
}
