//! An object on its way into a repository of CCNx.

use packet::ccnx::{InterestFields, Scope, markers};
use packet::{Component, Data, EncodeError, Interest, Name};

use crate::fetch::{SegmentFetch, SegmentFetchConfig};

/// Packets of an object that may wait for the disk before more of it is asked for.
const MAX_STORING: usize = 64;

/// What is to be fetched and stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// All segments of the object of this name.
    Object(Name),
    /// The packet of this name and digest. If the last component is a segment number, all segments after it
    /// as well.
    Packet(Name, [u8; 32]),
}

/// A fetch, with what it fetches.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) target: Target,
    /// The object whose segments are fetched; the packet's name if it has no segment number.
    pub(super) object: Name,
    is_segmented: bool,
    fetch: SegmentFetch,
    first: u64,
    scope: Option<Scope>,
    /// Packets that wait for the disk.
    storing: usize,
    /// More was to be asked for, and too many waited; how often that began and was not counted yet.
    is_held: bool,
    holds: u64,
    /// Packets that would survive a power cut.
    pub(super) stored: u64,
    knows_last: bool,
    has_failed: bool,
}

impl Job {
    pub(super) fn new(target: Target, scope: Option<Scope>) -> Self {
        let (object, segment) = match &target {
            Target::Object(name) => (name.clone(), Some(0)),
            Target::Packet(name, _) => {
                let last = name.as_ref().last();
                match last.and_then(|last| markers::parse_segment(last.value)) {
                    Some(segment) => (name.prefix(name.as_ref().component_count() - 1), Some(segment)),
                    None => (name.clone(), None),
                }
            }
        };
        let first = segment.unwrap_or(0);
        let last = segment.is_none().then_some(0);
        Job {
            target,
            object,
            is_segmented: segment.is_some(),
            fetch: SegmentFetch::new(SegmentFetchConfig::CCNX, first, last),
            first,
            scope,
            storing: 0,
            is_held: false,
            holds: 0,
            stored: 0,
            knows_last: last.is_some(),
            has_failed: false,
        }
    }

    /// The next Interest to be sent now.
    pub(super) fn poll_interest(
        &mut self,
        now: packet::time::Instant,
    ) -> Option<Result<Interest, EncodeError>> {
        if self.storing >= MAX_STORING {
            self.holds += u64::from(!std::mem::replace(&mut self.is_held, true));
            return None;
        }
        self.is_held = false;
        let segment = self.fetch.poll_request(now)?;
        Some(self.interest(segment))
    }

    /// How often nothing more was asked for because too many packets waited for the disk, since it was asked
    /// last.
    pub(super) fn take_holds(&mut self) -> u64 {
        std::mem::take(&mut self.holds)
    }

    fn interest(&self, segment: u64) -> Result<Interest, EncodeError> {
        let (name, suffix) = match &self.target {
            Target::Packet(name, digest) if segment == self.first => {
                (name.with(Component::generic(digest))?, 0)
            }
            _ => (self.object.with(Component::generic(&markers::segment(segment)))?, 1),
        };
        let fields = InterestFields {
            max_suffix_components: Some(suffix),
            scope: self.scope,
            ..InterestFields::default()
        };
        fields.build(&name)
    }

    /// Which segment a packet is, if this waits for it.
    pub(super) fn awaited(&self, data: &Data) -> Option<u64> {
        let segment = self.segment_of(data).filter(|&segment| self.fetch.awaits(segment))?;
        let is_other = match &self.target {
            Target::Packet(_, digest) => segment == self.first && data.implicit_digest() != *digest,
            Target::Object(_) => false,
        };
        (!is_other).then_some(segment)
    }

    /// This packet has come, and is going to be stored.
    pub(super) fn handle_data(&mut self, segment: u64, data: &Data) {
        let last = data.ccnx().and_then(|object| object.final_block_id()).and_then(markers::parse_segment);
        self.knows_last |= last.is_some();
        if self.fetch.handle_segment(segment, last) {
            self.storing += 1;
        }
    }

    /// What has come is not to be stored. The right one may still come: whoever can answer must not be able
    /// to end this.
    pub(super) fn handle_refused(&mut self, segment: u64) {
        self.fetch.handle_failure(segment);
    }

    /// Which segment a packet is, if it is one of this object.
    fn segment_of(&self, data: &Data) -> Option<u64> {
        if !self.is_segmented {
            return (data.name() == self.object.as_ref()).then_some(0);
        }
        let count = self.object.as_ref().component_count();
        if data.component_count() != count + 1 || !self.object.as_ref().is_prefix_of(data.name()) {
            return None;
        }
        markers::parse_segment(data.name().last()?.value)
    }

    /// A packet is stored, or was refused.
    pub(super) fn handle_stored(&mut self, is_stored: bool) {
        self.storing = self.storing.saturating_sub(1);
        if is_stored {
            self.stored += 1;
        } else {
            self.give_up();
        }
    }

    /// Asks for nothing more.
    pub(super) fn give_up(&mut self) {
        self.has_failed = true;
        self.fetch.stop();
    }

    pub(super) fn handle_timeout(&mut self, now: packet::time::Instant) {
        self.fetch.handle_timeout(now);
    }

    pub(super) fn next_deadline(&self) -> packet::time::Instant {
        self.fetch.next_deadline()
    }

    /// Whether all of it is stored, once nothing more is to be expected.
    pub(super) fn outcome(&self) -> Option<bool> {
        let outcome = self.fetch.outcome().filter(|_| self.storing == 0)?;
        Some(outcome && self.knows_last && !self.has_failed)
    }
}
