//! What can be done for packets before they are received: memory fetched, answers recognised.

use packet::{Dialect, PrefixHashes};
use smallvec::SmallVec;

use crate::engine::Engine;
use crate::face::FaceId;
use crate::tables::answers_due::DueAnswer;
use crate::tables::entry_id::EntryId;
use crate::tables::fib::FibNode;

/// A packet that is about to be received, for [`Engine::prepare`].
#[derive(Clone, Copy, Debug)]
pub struct Upcoming<'a> {
    /// The language it is written in.
    pub dialect: Dialect,
    /// Hashes of its name.
    pub hashes: &'a PrefixHashes,
    /// Its nonce, if it is an Interest.
    pub nonce: Option<packet::Nonce>,
}

impl Engine {
    /// Whether a Data that has arrived by `face` is the one that the face was to send next by all likelihood; `name` is its name in canonical
    /// form, which need not have been looked into. If it is, the name is known, need not be hashed, and
    /// [`receive_due_answer`](Self::receive_due_answer) takes the Data. Ask once for each Data.
    #[inline]
    pub fn due_answer(&mut self, face: FaceId, dialect: Dialect, name: &[u8]) -> Option<DueAnswer> {
        let (due, hash) =
            self.faces.get_mut(face)?.answers_due.guess(&mut self.pending, face, dialect, name)?;
        self.index.prefetch(hash);
        self.store.prefetch_place(hash);
        Some(due)
    }

    /// Hints that this packet will be received after some dozens of others, so that the places where the tables are asked for it are
    /// fetched meanwhile. [`prepare`](Self::prepare) goes on from there.
    #[inline]
    pub fn expect(&self, packet: Upcoming<'_>) {
        let hash = packet.hashes.whole();
        self.index.prefetch(hash);
        match packet.nonce {
            Some(nonce) => self.dead_nonces.prefetch(hash, nonce),
            None => self.store.prefetch_place(hash),
        }
    }

    /// Hints that these packets will be received next, so that the memory they will touch is fetched while others are worked
    /// on. Call [`expect`](Self::expect) for each of a batch of some dozens of packets, then this for all, then receive them one by one.
    /// There may be `due_answers` among them beside those of `batch`, for which all else has been fetched.
    #[inline]
    pub fn prepare<'a>(&mut self, batch: impl Iterator<Item = Upcoming<'a>> + Clone, due_answers: usize) {
        let mut data = due_answers;
        for packet in batch.clone() {
            let fib = &self.fibs[packet.dialect as usize];
            if packet.nonce.is_none() {
                data += 1;
            } else if !fib.is_small() {
                fib.prefetch(packet.hashes);
            }
        }
        let victims = self.store.prefetch_victims(data);
        // What the index refers to, and then the names there, each fetched while the others are looked at.
        let mut found: SmallVec<[EntryId; 64]> = SmallVec::new();
        let mut routes: SmallVec<[(Dialect, FibNode); 64]> = SmallVec::new();
        for packet in batch {
            let mut known = false;
            for id in self.index.candidates(packet.hashes.whole()).map(EntryId::from_raw) {
                match id {
                    EntryId::Pending(id) => self.pending.prefetch(id),
                    EntryId::Cached(id) => self.store.prefetch(id),
                }
                found.push(id);
                known = true;
            }
            // What is pending or kept already will hardly need a route.
            let fib = &self.fibs[packet.dialect as usize];
            if packet.nonce.is_some() && !known && !fib.is_small() {
                let node = fib.prefetch_match(packet.hashes);
                self.route_hints.note(packet.hashes.whole(), node);
                routes.push((packet.dialect, node));
            }
        }
        for (dialect, node) in routes {
            self.fibs[dialect as usize].prefetch_name(node);
        }
        self.store.prefetch_removal(&self.index, &victims);
        for id in found {
            match id {
                EntryId::Pending(id) => self.pending.prefetch_name(id),
                EntryId::Cached(id) => self.store.prefetch_name(id),
            }
        }
    }
}
