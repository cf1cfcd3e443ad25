//! Putting fragments together again (NDNLPv2 digest, section 3).

use std::sync::Arc;

use packet::ndn::lp::LpPacketView;
use packet::ndn::tlv;
use packet::time::{Duration, Instant};
use packet::{Buffer, LinkHeader, NackReason, Rule};

use super::EndpointId;
use super::config::ReassemblyConfig;
use crate::DropReason;
use crate::aged_map::{self, AgedMap};
use crate::drop_reason::DropCounters;

/// Where a frame stands among the fragments of its packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) from: EndpointId,
    pub(crate) sequence: u64,
    pub(crate) index: u64,
    pub(crate) count: u64,
}

/// A packet of which all fragments have arrived.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) packet: Buffer,
    pub(crate) header: LinkHeader,
    pub(crate) nack: Option<NackReason>,
}

/// Incomplete packets by (remote endpoint, Sequence of the first fragment).
///
/// The first fragment says in its first bytes how long the packet is, so the packet is assembled where it
/// will stay: fragments that come in order are copied once. A fragment that comes early is kept until those
/// before it have come.
#[derive(Debug)]
pub(crate) struct Reassembler {
    config: ReassemblyConfig,
    max_packet_bytes: usize,
    store: AgedMap<(EndpointId, u64), Partial>,
}

#[derive(Debug)]
struct Partial {
    count: u64,
    /// The first fragment that is neither in place nor known to be missing; all before it are in place.
    next: u64,
    /// The packet, as long as it will be; `None` until the fragment that says so has come, which is the
    /// first unless it is tiny.
    packet: Option<Arc<[u8]>>,
    /// Bytes of it that are in place.
    filled: usize,
    /// Fragments that came early, last index first.
    early: Vec<EarlyFragment>,
    early_bytes: usize,
    header: LinkHeader,
    nack: Option<NackReason>,
    congestion_mark: u64,
}

#[derive(Debug)]
struct EarlyFragment {
    index: u64,
    bytes: Box<[u8]>,
}

/// What an incomplete packet is charged with, beside the bytes it holds.
const PARTIAL_COST: usize = aged_map::entry_cost::<Partial>();
/// What an early fragment is charged with, beside its bytes.
const EARLY_COST: usize = size_of::<EarlyFragment>() + 16;

impl Reassembler {
    pub(crate) fn new(config: ReassemblyConfig, max_packet_bytes: usize) -> Self {
        Reassembler { config, max_packet_bytes, store: AgedMap::new() }
    }

    /// How many packets are incomplete.
    pub(crate) fn len(&self) -> usize {
        self.store.len()
    }

    /// Memory they take.
    pub(crate) fn bytes(&self) -> usize {
        self.store.bytes()
    }

    /// When the next incomplete packet expires if it is allowed to wait for `at_least`.
    pub(crate) fn next_deadline(&self, at_least: Duration) -> Instant {
        self.store.next_expiry(self.config.timeout.max(at_least))
    }

    /// Discards packets that have waited too long.
    pub(crate) fn handle_timeout(&mut self, now: Instant, at_least: Duration, drops: &mut DropCounters) {
        let timeout = self.config.timeout.max(at_least);
        while self.store.remove_expired(now, timeout).is_some() {
            drops.count(DropReason::PartialExpired);
        }
    }

    /// Takes in one of several fragments. Gives the packet if it was the last one missing.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        position: Position,
        fields: &LpPacketView<'_>,
        fragment: &[u8],
        drops: &mut DropCounters,
    ) -> Result<Option<Assembled>, DropReason> {
        if position.count > u64::from(self.config.max_fragments) {
            return Err(DropReason::TooManyFragments);
        }
        let key = (position.from, position.sequence.wrapping_sub(position.index));
        let place = match self.store.find(&key) {
            Some(place) => {
                let partial = self.store.get_mut(place).ok_or(DropReason::PartialEvicted)?;
                partial.check(&position)?;
                self.store.touch(now, place);
                place
            }
            None => {
                while self.store.len() >= self.config.max_partial_packets {
                    self.store.remove_oldest();
                    drops.count(DropReason::PartialEvicted);
                }
                self.store.insert(now, key, Partial::new(position.count))
            }
        };
        let max_packet_bytes = self.max_packet_bytes;
        let partial = self.store.get_mut(place).ok_or(DropReason::PartialEvicted)?;
        match partial.add(position.index, fields, fragment, max_packet_bytes) {
            Ok(()) if partial.next == partial.count => {
                self.store.remove(place).map_or(Ok(None), |partial| partial.finish().map(Some))
            }
            Ok(()) => {
                let charge = partial.charge();
                self.store.charge(place, charge);
                self.store.make_room(place, self.config.max_partial_bytes, drops).map(|()| None)
            }
            Err(reason) => {
                self.store.remove(place);
                Err(reason)
            }
        }
    }
}

impl Partial {
    fn new(count: u64) -> Self {
        Partial {
            count,
            next: 0,
            packet: None,
            filled: 0,
            early: Vec::new(),
            early_bytes: 0,
            header: LinkHeader::default(),
            nack: None,
            congestion_mark: 0,
        }
    }

    /// Memory this takes.
    fn charge(&self) -> usize {
        let packet = self.packet.as_ref().map_or(0, |packet| packet.len());
        PARTIAL_COST + packet + self.early_bytes + self.early.len() * EARLY_COST
    }

    /// Refuses fragments that contradict or repeat those before.
    fn check(&self, position: &Position) -> Result<(), DropReason> {
        if position.count != self.count {
            return Err(DropReason::FragCountMismatch);
        }
        if position.index < self.next || self.parked_place(position.index).is_ok() {
            return Err(DropReason::DuplicateFragment);
        }
        Ok(())
    }

    /// Adds a fragment that is new. An error spoils the whole packet.
    fn add(
        &mut self,
        index: u64,
        fields: &LpPacketView<'_>,
        fragment: &[u8],
        max_packet_bytes: usize,
    ) -> Result<(), DropReason> {
        // The network-layer fields are those of fragment 0; a mark counts wherever it was made.
        self.congestion_mark = self.congestion_mark.max(fields.congestion_mark);
        if index == 0 {
            self.header = fields.link_header();
            self.nack = fields.nack;
            self.start(fragment, max_packet_bytes)?;
        }
        if index == self.next && self.packet.is_some() {
            self.append(fragment)?;
        } else {
            self.park(index, fragment, max_packet_bytes)?;
            self.start_from_parked(max_packet_bytes)?;
        }
        self.append_parked()
    }

    /// Makes room for the packet that begins with `bytes`, if they say how long it is.
    fn start(&mut self, bytes: &[u8], max_packet_bytes: usize) -> Result<(), DropReason> {
        let Some(len) = announced_len(bytes)? else { return Ok(()) };
        if len > max_packet_bytes as u64 {
            return Err(DropReason::PacketTooLarge);
        }
        if self.count > len {
            return Err(DropReason::MalformedPacket);
        }
        self.packet = Some(zeroed(len as usize));
        Ok(())
    }

    /// The same when the first fragments are so short that the length of the packet is spread over them.
    #[cold]
    fn start_from_parked(&mut self, max_packet_bytes: usize) -> Result<(), DropReason> {
        if self.packet.is_some() {
            return Ok(());
        }
        let in_a_row = self.early.iter().rev().zip(0..).take_while(|(early, index)| early.index == *index);
        let first_bytes: Vec<u8> =
            in_a_row.flat_map(|(early, _)| early.bytes.iter().copied()).take(MAX_HEADER_BYTES).collect();
        self.start(&first_bytes, max_packet_bytes)?;
        let hopeless = self.packet.is_none() && self.early.len() as u64 == self.count;
        if hopeless { Err(DropReason::MalformedPacket) } else { Ok(()) }
    }

    fn append_parked(&mut self) -> Result<(), DropReason> {
        while self.packet.is_some() && self.early.last().is_some_and(|early| early.index == self.next) {
            let Some(early) = self.early.pop() else { break };
            self.early_bytes -= early.bytes.len();
            self.append(&early.bytes)?;
        }
        Ok(())
    }

    fn append(&mut self, fragment: &[u8]) -> Result<(), DropReason> {
        let end = self.filled + fragment.len();
        let target =
            self.packet.as_mut().and_then(Arc::get_mut).and_then(|packet| packet.get_mut(self.filled..end));
        let Some(target) = target else { return Err(DropReason::MalformedPacket) };
        target.copy_from_slice(fragment);
        self.filled = end;
        self.next += 1;
        Ok(())
    }

    fn park(&mut self, index: u64, fragment: &[u8], max_packet_bytes: usize) -> Result<(), DropReason> {
        self.early_bytes += fragment.len();
        if self.filled + self.early_bytes > max_packet_bytes {
            return Err(DropReason::PacketTooLarge);
        }
        if let Err(place) = self.parked_place(index) {
            self.early.insert(place, EarlyFragment { index, bytes: Box::from(fragment) });
        }
        Ok(())
    }

    fn parked_place(&self, index: u64) -> Result<usize, usize> {
        self.early.binary_search_by(|early| index.cmp(&early.index))
    }

    fn finish(mut self) -> Result<Assembled, DropReason> {
        let packet = self.packet.filter(|packet| packet.len() == self.filled);
        let packet = packet.ok_or(DropReason::MalformedPacket)?;
        self.header.congestion_mark = self.congestion_mark;
        Ok(Assembled { packet: Buffer::from(packet), header: self.header, nack: self.nack })
    }
}

/// The longest type and length.
const MAX_HEADER_BYTES: usize = 18;

/// Length of the element that starts with `bytes`, type and length included; `None` if they do not suffice to
/// tell.
fn announced_len(bytes: &[u8]) -> Result<Option<u64>, DropReason> {
    let number = |at| match tlv::read_number(bytes, at) {
        Ok(number) => Ok(Some(number)),
        Err(Rule::Truncated { .. }) => Ok(None),
        Err(_) => Err(DropReason::MalformedPacket),
    };
    let Some((_, length_start)) = number(0)? else { return Ok(None) };
    let Some((length, value_start)) = number(length_start)? else { return Ok(None) };
    Ok(Some(length.saturating_add(value_start as u64)))
}

fn zeroed(len: usize) -> Arc<[u8]> {
    std::iter::repeat_n(0, len).collect()
}
