//! What can be done for packets before they are received.

use packet::{Dialect, Interest, NameHash, Nonce, Packet, PrefixHashes};
use smallvec::SmallVec;

use super::answers_due::DueAnswer;
use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::tables::entry_id::EntryId;
use crate::tables::fib::FibNode;

/// A packet that is about to be received.
#[derive(Clone, Copy, Debug)]
pub struct Upcoming<'a> {
    /// The language it is written in.
    pub dialect: Dialect,
    /// Hashes of its name.
    pub hashes: &'a PrefixHashes,
    /// Its nonce, if it is an Interest.
    pub nonce: Option<Nonce>,
}

impl<'a> Upcoming<'a> {
    /// What there is to know of a packet before.
    #[inline(always)]
    pub fn of(packet: &Packet, hashes: &'a PrefixHashes) -> Self {
        Upcoming { dialect: packet.dialect(), hashes, nonce: packet.nonce() }
    }
}

/// What there is to know of a packet that will be received after some dozens of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The hash of its name.
    pub(super) hash: NameHash,
    /// Its nonce, if it is an Interest.
    pub(super) nonce: Option<Nonce>,
}

impl Expected {
    #[inline(always)]
    pub(super) fn of(packet: Upcoming<'_>) -> Self {
        Expected { hash: packet.hashes.whole(), nonce: packet.nonce }
    }
}

/// Hints that these packets, some dozens at most, will be received next, so that the memory they will touch
/// is fetched while others are worked on. Never changes what the engine does. [`Arrivals`](super::Arrivals)
/// does this for its own packets.
#[inline]
pub fn prefetch<'a>(engine: &mut Engine, batch: impl Iterator<Item = Upcoming<'a>> + Clone) {
    batch.clone().for_each(|packet| engine.expect(Expected::of(packet)));
    engine.prepare(batch, 0);
}

impl Engine {
    /// The Interest that a Data which has arrived by `face` answers by all likelihood; see
    /// [`Arrivals::due_answer`](super::Arrivals::due_answer).
    #[inline]
    pub(super) fn due_answer(
        &mut self,
        face: FaceId,
        is_it: impl Fn(&Interest) -> bool,
    ) -> Option<(DueAnswer, Expected)> {
        let answers_due = &mut self.faces.get_mut(face)?.answers_due;
        let (due, hash) = answers_due.guess(&mut self.tables.pending, face, is_it)?;
        Some((due, Expected { hash, nonce: None }))
    }

    /// Hints that this packet will be received after some dozens of others, so that the places where the
    /// tables are asked for it are fetched meanwhile. [`prepare`](Self::prepare) goes on from there.
    #[inline(always)]
    pub(super) fn expect(&self, Expected { hash, nonce }: Expected) {
        self.tables.index.prefetch(hash);
        match nonce {
            Some(nonce) => self.tables.dead_nonces.prefetch(hash, nonce),
            None => self.tables.store.prefetch_place(hash),
        }
    }

    /// Fetches what these packets, which were [expected](Self::expect) one by one, will touch. There may be
    /// `due_answers` among them beside those of `batch`, for which all else has been fetched.
    #[inline]
    pub(super) fn prepare<'a>(
        &mut self,
        batch: impl Iterator<Item = Upcoming<'a>> + Clone,
        due_answers: usize,
    ) {
        let mut data = due_answers;
        for packet in batch.clone() {
            let fib = &self.tables.fibs[packet.dialect as usize];
            if packet.nonce.is_none() {
                data += 1;
            } else if !fib.is_small() {
                fib.prefetch(packet.hashes);
            }
        }
        let victims = self.tables.store.prefetch_victims(data);
        // What the index refers to, and then the names there, each fetched while the others are looked at.
        let mut found: SmallVec<[EntryId; 64]> = SmallVec::new();
        let mut routes: SmallVec<[(Dialect, FibNode); 64]> = SmallVec::new();
        for packet in batch {
            let mut known = false;
            for id in self.tables.index.candidates(packet.hashes.whole()).map(EntryId::from_raw) {
                match id {
                    EntryId::Pending(id) => self.tables.pending.prefetch(id),
                    EntryId::Cached(id) => self.tables.store.prefetch(id),
                }
                found.push(id);
                known = true;
            }
            // What is pending or kept already will hardly need a route.
            let fib = &self.tables.fibs[packet.dialect as usize];
            if packet.nonce.is_some() && !known && !fib.is_small() {
                let node = fib.prefetch_match(packet.hashes);
                self.tables.route_hints.note(packet.hashes.whole(), node);
                routes.push((packet.dialect, node));
            }
        }
        for (dialect, node) in routes {
            self.tables.fibs[dialect as usize].prefetch_name(node);
        }
        self.tables.store.prefetch_removal(&self.tables.index, &victims);
        for id in found {
            match id {
                EntryId::Pending(id) => self.tables.pending.prefetch_name(id),
                EntryId::Cached(id) => self.tables.store.prefetch_name(id),
            }
        }
    }
}
