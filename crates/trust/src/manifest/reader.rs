//! The fetcher's side: from manifest packets to verdicts on segments.

use std::collections::{BTreeMap, VecDeque};

use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::{Data, Name};

use super::format::{Content, Digest};
use super::{ManifestError, object_of, segment_number};

/// Digests that one packet can hold: it may have 8,800 bytes.
const MAX_DIGESTS: u64 = (MAX_PACKET_BYTES / 32) as u64;

/// How much a [`ManifestReader`] keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestLimits {
    /// Digests of segments that were not delivered yet; 32 bytes each.
    pub segments: u64,
    /// Manifest packets whose predecessor is still missing; up to 8,800 bytes each.
    pub early_packets: usize,
}

impl Default for ManifestLimits {
    /// A million segments (8 GB in segments of 8 kB) and 64 early packets.
    fn default() -> Self {
        ManifestLimits { segments: 1 << 20, early_packets: 64 }
    }
}

/// What a manifest says about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentVerdict {
    /// It is the one the publisher signed for.
    Verified,
    /// It is not: changed, or somebody else's.
    Forged,
    /// The part of the manifest that speaks of it is not here yet.
    Unknown,
    /// The manifest is complete and does not speak of it.
    NotInObject,
}

/// Reads a manifest in whatever order its packets come, and verifies segments.
///
/// The owner first has the signature of packet 0 checked, by a validator or against one key, and then hands
/// it in with [`ManifestReader::handle_first`]: everything else follows from it by hashes. It asks for no
/// packet that [`ManifestReader::has_room_beside`] has no room for.
#[derive(Clone, Debug)]
pub struct ManifestReader {
    object: Name,
    limits: ManifestLimits,
    /// Digests of the segments from `base` on.
    digests: VecDeque<Digest>,
    base: u64,
    /// Segments below this one were delivered, or are not wanted.
    delivered: u64,
    expected: Expected,
    next_number: u64,
    early: BTreeMap<u64, Data>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Nobody has vouched for packet 0 yet.
    First,
    /// The next packet has this digest.
    Packet(Digest),
    /// There is no next packet.
    Nothing,
}

impl ManifestReader {
    /// Reads the manifest of the object with this name, version included.
    pub fn new(versioned: Name, limits: ManifestLimits) -> Self {
        ManifestReader {
            object: versioned,
            limits,
            digests: VecDeque::new(),
            base: 0,
            delivered: 0,
            expected: Expected::First,
            next_number: 0,
            early: BTreeMap::new(),
        }
    }

    /// The manifest packet that is needed next; `None` when all are here.
    pub fn wanted_packet(&self) -> Option<u64> {
        (self.expected != Expected::Nothing).then_some(self.next_number)
    }

    /// Whether there is room for one more packet beside `others` that were asked for already. If not, what
    /// was delivered is to be told with [`ManifestReader::forget_below`] first.
    pub fn has_room_beside(&self, others: usize) -> bool {
        let coming = (others + self.early.len()) as u64;
        // One packet at a time always has room when nothing is kept, whatever the limit.
        let nothing_is_kept = coming == 0 && self.digests.is_empty();
        nothing_is_kept || self.digests.len() as u64 + (coming + 1) * MAX_DIGESTS <= self.limits.segments
    }

    /// How many segments are known to belong to the object, from the first on.
    pub fn known_segments(&self) -> u64 {
        self.base + self.digests.len() as u64
    }

    /// Whether all packets of the manifest are here, so that [`ManifestReader::known_segments`] is the
    /// object's number.
    pub fn is_complete(&self) -> bool {
        self.expected == Expected::Nothing
    }

    /// Takes packet 0, whose signature the owner has checked and found to be of somebody it trusts.
    ///
    /// # Errors
    /// A packet that is not the first one of this object's manifest, or is malformed.
    pub fn handle_first(&mut self, trusted: &Data) -> Result<(), ManifestError> {
        if self.number_of(trusted)? != 0 {
            return Err(ManifestError::Name(trusted.name().to_string()));
        }
        if self.expected == Expected::First {
            self.take(trusted)?;
            self.take_early()?;
        }
        Ok(())
    }

    /// Takes any packet of the manifest but the first; nobody need have checked it. What comes early is kept
    /// until its predecessors are here.
    ///
    /// # Errors
    /// Not a packet of this manifest, not the one that was announced, or too many at once. The packet is then
    /// dropped, and may be asked for again.
    pub fn handle_packet(&mut self, packet: &Data) -> Result<(), ManifestError> {
        let number = self.number_of(packet)?;
        if number < self.next_number {
            return Ok(());
        }
        if number == 0 {
            // Only the owner can vouch for it.
            return Err(ManifestError::Name(packet.name().to_string()));
        }
        if self.expected == Expected::Nothing {
            return Err(ManifestError::Discontinuous(number));
        }
        if number > self.next_number || self.expected == Expected::First {
            if self.early.len() >= self.limits.early_packets && !self.early.contains_key(&number) {
                return Err(ManifestError::TooManyEarly(self.limits.early_packets));
            }
            self.early.insert(number, packet.clone());
            return Ok(());
        }
        self.take(packet)?;
        self.take_early()
    }

    /// What the manifest says about `segment`, whose last component is its number.
    pub fn verify(&self, segment: &Data) -> SegmentVerdict {
        let name = segment.name();
        let Some(number) = segment_number(name) else { return SegmentVerdict::NotInObject };
        if name.prefix(name.component_count() - 1) != self.object.as_ref() {
            return SegmentVerdict::NotInObject;
        }
        let index = number.checked_sub(self.base).and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.digests.get(index)) {
            Some(digest) if *digest == crate::sha256(segment.wire()) => SegmentVerdict::Verified,
            Some(_) => SegmentVerdict::Forged,
            None if self.is_complete() || number < self.base => SegmentVerdict::NotInObject,
            None => SegmentVerdict::Unknown,
        }
    }

    /// The implicit digest that the manifest lists for a segment, if that part of it is here and the
    /// segment was not delivered.
    pub fn digest_of(&self, segment: u64) -> Option<[u8; 32]> {
        let index = usize::try_from(segment.checked_sub(self.base)?).ok()?;
        self.digests.get(index).copied()
    }

    /// Forgets what it knows of segments below `number`, and what it will hear of them: they have been
    /// verified and delivered.
    pub fn forget_below(&mut self, number: u64) {
        self.delivered = self.delivered.max(number);
        while self.base < self.delivered && self.digests.pop_front().is_some() {
            self.base += 1;
        }
    }

    fn number_of(&self, packet: &Data) -> Result<u64, ManifestError> {
        let name = packet.name();
        match (object_of(name), segment_number(name)) {
            (Some(object), Some(number)) if object == self.object.as_ref() => Ok(number),
            _ => Err(ManifestError::Name(name.to_string())),
        }
    }

    /// Takes the packet with number `next_number`, if it is the announced one.
    fn take(&mut self, packet: &Data) -> Result<(), ManifestError> {
        let number = self.next_number;
        match self.expected {
            Expected::First => {}
            Expected::Packet(digest) if digest == crate::sha256(packet.wire()) => {}
            Expected::Packet(_) => return Err(ManifestError::Digest(number)),
            Expected::Nothing => return Err(ManifestError::Discontinuous(number)),
        }
        let content = Content::decode(packet.content())?;
        if content.first_segment != self.known_segments() {
            return Err(ManifestError::Discontinuous(number));
        }
        let known = content.first_segment + content.digests.len() as u64;
        if known.saturating_sub(self.base.max(self.delivered)) > self.limits.segments {
            return Err(ManifestError::TooMany(self.limits.segments));
        }
        self.digests.extend(content.digests);
        self.forget_below(self.delivered);
        self.expected = content.next.map_or(Expected::Nothing, Expected::Packet);
        self.next_number += 1;
        Ok(())
    }

    /// Takes packets that came early, as far as they go on without a gap.
    fn take_early(&mut self) -> Result<(), ManifestError> {
        while let Some(packet) = self.early.remove(&self.next_number) {
            self.take(&packet)?;
        }
        Ok(())
    }
}
