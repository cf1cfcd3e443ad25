//! Packets that have been decoded and wait for the engine.

use std::num::NonZeroU32;

use packet::time::Instant;
use packet::{Buffer, Data, Dialect, LinkHeader, Nonce, Packet, PrefixHashes, WireName};

use super::ahead::{Expected, Upcoming};
use super::answers_due::DueAnswer;
use crate::arrival::{Arrival, Reception};
use crate::engine::Engine;
use crate::face_id::FaceId;

#[derive(Debug)]
enum ArrivedPacket {
    Packet(Packet),
    /// Data that was recognised without a look into its name; there are no hashes of it.
    DueAnswer(Data, DueAnswer),
}

#[derive(Debug)]
struct QueuedArrival {
    face: FaceId,
    /// Which of the headers came with it, if any did.
    header: Option<NonZeroU32>,
    arrived: ArrivedPacket,
}

/// Packets on their way from the codecs to the engine.
///
/// Have frames decoded by [`decode_ndn`](Self::decode_ndn), [`decode_ccnx`](Self::decode_ccnx) and
/// [`decode_owned`](Self::decode_owned), or [`push`](Self::push) packets. When it
/// [is full](Self::is_full), or nothing more has come, [`hand_over`](Self::hand_over) all.
///
/// ```
/// use cairn_engine::batch::Arrivals;
/// use cairn_engine::{Engine, EngineConfig, FaceConfig, FaceId, NextHop};
/// use packet::ndn::InterestBuilder;
/// use packet::time::Instant;
/// use packet::{Dialect, Name};
///
/// let mut engine = Engine::new(EngineConfig::seeded(1)?)?;
/// for face in [FaceId(256), FaceId(257)] {
///     engine.add_face(Instant::ZERO, face, FaceConfig::remote())?;
/// }
/// let prefix: Name = "/lab".parse()?;
/// let hop = NextHop { face: FaceId(257), cost: 0 };
/// engine.add_route(Instant::ZERO, Dialect::Ndn, prefix.as_ref(), hop)?;
///
/// let mut arrivals = Arrivals::new(FaceId(256));
/// for number in 0..3 {
///     let interest = InterestBuilder::new(format!("/lab/{number}").parse()?).nonce(number).build()?;
///     arrivals.decode_ndn(&mut engine, interest.wire(), None, None)?;
/// }
/// arrivals.hand_over(Instant::ZERO, &mut engine);
/// assert_eq!(std::iter::from_fn(|| engine.poll_transmit()).count(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Arrivals {
    /// The face whose frames are being decoded.
    pub face: FaceId,
    /// The memory that its frames lie in, if large packets may stay there.
    pub memory: Option<Buffer>,
    waiting: Vec<QueuedArrival>,
    /// What came with those packets that something came with, counted from one.
    headers: Vec<LinkHeader>,
    /// The hashes of each, and spare places behind them, which decoding fills before it is known whether the
    /// packet is good.
    hashes: Vec<PrefixHashes>,
    /// How many of those that wait are due answers.
    due_answers: usize,
    /// What the engine has not been told yet of packets that wait.
    untold: Vec<Expected>,
}

/// As many as the engine prepares together.
const PREPARED: usize = 32;
/// Of so many packets the engine is told at once. What is asked for where no address is known yet, as in
/// tables larger than processors have addresses at hand, is waited for one after the other if there is other
/// work in between, and together if there is none.
const TOLD: usize = 16;

impl Arrivals {
    /// Packets that wait, at most, before they should be handed over.
    const FULL: usize = 64;

    /// None yet; frames of `face` are decoded first.
    pub fn new(face: FaceId) -> Self {
        Arrivals {
            face,
            memory: None,
            waiting: Vec::new(),
            headers: Vec::new(),
            hashes: Vec::new(),
            due_answers: 0,
            untold: Vec::with_capacity(TOLD),
        }
    }

    /// Packets that wait.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether none do")]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether it is time to hand over what waits.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= Self::FULL
    }

    /// Where the hashes of the next packet go.
    #[inline]
    pub(super) fn next_hashes(&mut self) -> &mut PrefixHashes {
        let place = self.waiting.len();
        if self.hashes.len() <= place {
            self.hashes.resize_with(place + 1, PrefixHashes::default);
        }
        &mut self.hashes[place]
    }

    /// Hashes the name of the next packet to where its hashes go, and lets the engine know that it will come.
    /// `nonce` is that of an Interest.
    #[inline(always)]
    pub(super) fn hash_next(&mut self, engine: &Engine, name: WireName<'_>, nonce: Option<Nonce>) {
        let hasher = engine.hasher();
        self.next_hashes();
        let Some((before, [hashes, ..])) = self.hashes.split_at_mut_checked(self.waiting.len()) else {
            return;
        };
        let packet_before = match self.waiting.last() {
            Some(QueuedArrival { arrived: ArrivedPacket::Packet(packet), .. }) => Some(packet),
            _ => None,
        };
        let before = packet_before.zip(before.last());
        match name {
            WireName::Ndn(name) => match before.filter(|(packet, _)| packet.dialect() == Dialect::Ndn) {
                Some((packet, known)) => hasher.hash_after((packet.name(), known), name, hashes),
                None => hasher.hash_into(Dialect::Ndn, name.components(), hashes),
            },
            WireName::Ccnx(name) => {
                let before = before.and_then(|(packet, known)| match packet.wire_name() {
                    WireName::Ccnx(before) => Some((before, known)),
                    WireName::Ndn(_) => None,
                });
                hasher.hash_ccnx_after(before, name, hashes);
            }
        }
        let hash = hashes.whole();
        self.announce(engine, Expected { hash, nonce });
    }

    /// Lets the engine know of a packet, together with some others.
    #[inline(always)]
    pub(super) fn announce(&mut self, engine: &Engine, packet: Expected) {
        self.untold.push(packet);
        if self.untold.len() >= TOLD {
            self.tell(engine);
        }
    }

    /// Lets the engine know of all packets of which it does not.
    #[inline]
    fn tell(&mut self, engine: &Engine) {
        self.untold.drain(..).for_each(|packet| engine.expect(packet));
    }

    /// The components on the wire of the last packet's name but for its last one, and how many they are, if
    /// that is of CCNx: the next packet's name probably begins with the same.
    #[inline]
    pub(super) fn last_ccnx_parent(&self) -> Option<(&[u8], usize)> {
        let QueuedArrival { arrived: ArrivedPacket::Packet(packet), .. } = self.waiting.last()? else {
            return None;
        };
        let WireName::Ccnx(name) = packet.wire_name() else { return None };
        let hashes = self.hashes.get(self.waiting.len() - 1)?;
        let bytes = hashes.parent_bytes();
        if bytes == 0 {
            return None;
        }
        Some((name.component_bytes().get(..bytes)?, name.len().checked_sub(1)?))
    }

    /// Adds a packet that is there already, as one of an application inside the process is.
    #[inline(always)]
    pub fn push(&mut self, engine: &Engine, packet: Packet, header: Option<LinkHeader>) {
        self.hash_next(engine, packet.wire_name(), packet.nonce());
        self.push_hashed(packet, header);
    }

    /// Adds a packet whose hashes are where [`next_hashes`](Self::next_hashes) says.
    #[inline(always)]
    pub(super) fn push_hashed(&mut self, packet: Packet, header: Option<LinkHeader>) {
        self.add(ArrivedPacket::Packet(packet), header);
    }

    #[inline(always)]
    fn add(&mut self, arrived: ArrivedPacket, header: Option<LinkHeader>) {
        let header = header.and_then(|header| {
            self.headers.push(header);
            NonZeroU32::new(self.headers.len() as u32)
        });
        self.waiting.push(QueuedArrival { face: self.face, header, arrived });
    }

    /// Adds a Data that was recognised.
    #[inline(always)]
    pub(super) fn push_due_answer(&mut self, data: Data, due: DueAnswer, header: Option<LinkHeader>) {
        // All packets have a place for hashes, so that the places have the numbers of their packets.
        self.next_hashes();
        self.due_answers += 1;
        self.add(ArrivedPacket::DueAnswer(data, due), header);
    }

    /// Hands all packets to the engine.
    pub fn hand_over(&mut self, now: Instant, engine: &mut Engine) {
        static PLAIN: LinkHeader = LinkHeader::NONE;
        self.tell(engine);
        let mut hashes = self.hashes.chunks(PREPARED);
        let mut waiting = self.waiting.drain(..);
        while let Some(hashes) = hashes.next().filter(|_| waiting.len() > 0) {
            let batch = waiting.as_slice().iter().zip(hashes).take(PREPARED);
            let upcoming = batch.filter_map(|(waiting, hashes)| upcoming(&waiting.arrived, hashes));
            engine.prepare(upcoming, self.due_answers.min(PREPARED));
            for (hashes, next) in hashes.iter().zip(waiting.by_ref()) {
                let QueuedArrival { face, header, arrived } = next;
                let header =
                    header.and_then(|place| self.headers.get(place.get() as usize - 1)).unwrap_or(&PLAIN);
                match arrived {
                    ArrivedPacket::Packet(packet) => {
                        engine.receive(Arrival { now, face, hashes, header }, packet);
                    }
                    ArrivedPacket::DueAnswer(packet, due) => {
                        self.due_answers -= 1;
                        engine.receive_due_answer(Reception { now, face, header }, packet, due);
                    }
                }
            }
        }
        drop(waiting);
        self.headers.clear();
    }
}

/// What the engine should know before; `None` for a due answer, of which it knows all.
#[inline(always)]
fn upcoming<'h>(arrived: &ArrivedPacket, hashes: &'h PrefixHashes) -> Option<Upcoming<'h>> {
    match arrived {
        ArrivedPacket::Packet(packet) => Some(Upcoming::of(packet, hashes)),
        ArrivedPacket::DueAnswer(..) => None,
    }
}
