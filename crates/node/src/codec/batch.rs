//! Packets that have been decoded and wait for the engine: it works on dozens at a time, fetching ahead what they will touch.

use std::num::NonZeroU32;

use engine::{DueAnswer, Engine, FaceId, Upcoming};
use packet::time::Instant;
use packet::{
    Buffer, Data, Dialect, Interest, LinkHeader, NackReason, NameHasher, NameRef, Nonce, PrefixHashes,
};

/// A network packet. Its kind takes a whole word, so that what lies behind is moved in whole words, too, which is quicker.
#[derive(Debug)]
#[repr(u64)]
pub(crate) enum Packet {
    Interest(Interest),
    Data(Data),
    /// Data that was recognised without a look into its name; there are no hashes of it.
    DueAnswer(Data, DueAnswer),
    Nack(Interest, NackReason),
}

impl Packet {
    #[inline]
    fn name(&self) -> NameRef<'_> {
        match self {
            Packet::Interest(packet) | Packet::Nack(packet, _) => packet.name(),
            Packet::Data(packet) | Packet::DueAnswer(packet, _) => packet.name(),
        }
    }
}

#[derive(Debug)]
struct Arrival {
    face: FaceId,
    /// Which of the headers came with it, if any did.
    header: Option<NonZeroU32>,
    packet: Packet,
}

/// Packets on their way from the codecs to the engine.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// The face whose frames are being decoded.
    pub(crate) face: FaceId,
    /// The memory that its frames lie in, if large packets may stay there.
    pub(crate) memory: Option<Buffer>,
    waiting: Vec<Arrival>,
    /// What came with those packets that something came with, counted from one.
    headers: Vec<LinkHeader>,
    /// The hashes of each, and spare places behind them, which decoding fills before it is known whether the packet is good.
    hashes: Vec<PrefixHashes>,
    /// How many of those that wait are due answers.
    due_answers: usize,
}

/// As many as the engine prepares together.
const PREPARED: usize = 32;

impl Arrivals {
    /// Packets that wait, at most, before they should be handed over.
    pub(crate) const FULL: usize = 64;

    pub(crate) fn new() -> Self {
        Arrivals {
            face: FaceId(0),
            memory: None,
            waiting: Vec::new(),
            headers: Vec::new(),
            hashes: Vec::new(),
            due_answers: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Where the hashes of the next packet go.
    #[inline]
    pub(crate) fn next_hashes(&mut self) -> &mut PrefixHashes {
        let place = self.waiting.len();
        if self.hashes.len() <= place {
            self.hashes.resize_with(place + 1, PrefixHashes::default);
        }
        &mut self.hashes[place]
    }

    /// Hashes the name of the next packet to where its hashes go.
    #[inline]
    pub(crate) fn hash_next(&mut self, hasher: &NameHasher, dialect: Dialect, name: NameRef<'_>) {
        self.next_hashes();
        let Some((before, [hashes, ..])) = self.hashes.split_at_mut_checked(self.waiting.len()) else {
            return;
        };
        match (self.waiting.last(), before.last()) {
            (Some(Arrival { packet, .. }), Some(known)) if !matches!(packet, Packet::DueAnswer(..)) => {
                hasher.hash_after(dialect, (packet.name(), known), name, hashes);
            }
            _ => hasher.hash_into(dialect, name.components(), hashes),
        }
    }

    /// Tells the engine of the next packet, whose hashes are in [`next_hashes`](Self::next_hashes), before that is made.
    #[inline(always)]
    pub(crate) fn announce_next(&self, engine: &Engine, dialect: Dialect, nonce: Option<Nonce>) {
        if let Some(hashes) = self.hashes.get(self.waiting.len()) {
            engine.expect(Upcoming { dialect, hashes, nonce });
        }
    }

    /// Adds a packet whose hashes are in [`next_hashes`](Self::next_hashes).
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: Packet, header: Option<LinkHeader>) {
        let header = header.and_then(|header| {
            self.headers.push(header);
            NonZeroU32::new(self.headers.len() as u32)
        });
        self.waiting.push(Arrival { face: self.face, header, packet });
    }

    /// Adds a Data that the engine has recognised.
    #[inline(always)]
    pub(crate) fn push_due_answer(&mut self, data: Data, due: DueAnswer, header: Option<LinkHeader>) {
        // All packets have a place for hashes, so that the places have the numbers of their packets.
        self.next_hashes();
        self.due_answers += 1;
        self.push(Packet::DueAnswer(data, due), header);
    }

    /// Hands all packets to the engine.
    pub(crate) fn hand_over(&mut self, now: Instant, engine: &mut Engine) {
        static PLAIN: LinkHeader = LinkHeader::NONE;
        let mut hashes = self.hashes.chunks(PREPARED);
        let mut waiting = self.waiting.drain(..);
        while let Some(hashes) = hashes.next().filter(|_| waiting.len() > 0) {
            let batch = waiting.as_slice().iter().zip(hashes).take(PREPARED);
            let upcoming = batch.filter_map(|(arrival, hashes)| upcoming(&arrival.packet, hashes));
            engine.prepare(upcoming, self.due_answers.min(PREPARED));
            for (hashes, arrival) in hashes.iter().zip(waiting.by_ref()) {
                let Arrival { face, header, packet } = arrival;
                let header =
                    header.and_then(|place| self.headers.get(place.get() as usize - 1)).unwrap_or(&PLAIN);
                match packet {
                    Packet::Interest(packet) => engine.receive_interest(now, face, packet, hashes, header),
                    Packet::Data(packet) => engine.receive_data(now, face, packet, hashes, header),
                    Packet::DueAnswer(packet, due) => {
                        self.due_answers -= 1;
                        engine.receive_due_answer(now, face, packet, due, header);
                    }
                    Packet::Nack(packet, reason) => {
                        engine.receive_nack(now, face, &packet, reason, hashes);
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
fn upcoming<'h>(packet: &Packet, hashes: &'h PrefixHashes) -> Option<Upcoming<'h>> {
    let (dialect, nonce) = match packet {
        Packet::Interest(packet) | Packet::Nack(packet, _) => (packet.dialect(), packet.nonce()),
        Packet::Data(packet) => (packet.dialect(), None),
        Packet::DueAnswer(..) => return None,
    };
    Some(Upcoming { dialect, hashes, nonce })
}
