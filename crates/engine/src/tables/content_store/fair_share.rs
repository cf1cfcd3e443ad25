//! Admission by fair shares: nobody fills the store with what he alone asks for.
//!
//! Data is kept when its name was asked for by the same face before, not long ago, and while that face has
//! not more than its share of the store. Who asks for ever new names gets nothing kept; who asks for a few
//! again and again gets his share, and no more. All faces that have asked for something twice of late have
//! equal shares, so that one that asks alone has all of it.

use packet::NameHash;
use packet::time::{Duration, Instant};

use super::CachedId;
use crate::face_id::FaceId;

/// Faces of which is remembered what they have asked for; at the limit the one that was silent for longest is
/// forgotten.
pub(crate) const MAX_FACES: usize = 64;

/// Bits by which a face's names are remembered, in each of two generations, and names that they are for.
const BITS: usize = 1 << 16;
const MAX_NAMES: u32 = 1 << 13;

/// A face that asked for nothing twice for so long has no share.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// What is known of a face.
#[derive(Debug)]
struct Share {
    face: FaceId,
    last: Instant,
    /// When it last asked for something that it had asked for before: only then it wants a share.
    wanted: Option<Instant>,
    /// Names that were asked for: of late, and before that.
    recent: Vec<u64>,
    before: Vec<u64>,
    names: u32,
    /// Entries of the store that are there because of it.
    kept: u32,
}

/// The shares of all faces. Empty, and without memory, while another placement is in force.
#[derive(Debug, Default)]
pub(crate) struct FairShares {
    shares: Vec<Share>,
    /// By entry, for which face it is kept; entries of other times for none.
    owners: Vec<Option<FaceId>>,
}

impl FairShares {
    /// Whether Data of this name, for which `face` has asked, is kept in a store of `room` entries. `drawn`
    /// are random bits.
    pub(crate) fn admit(
        &mut self,
        now: Instant,
        (hash, face): (NameHash, FaceId),
        room: u32,
        drawn: u64,
    ) -> bool {
        let active = self.shares.iter().filter(|share| share.is_active(now) && share.face != face).count();
        let names = room.saturating_mul(4).clamp(64, MAX_NAMES);
        let Some(share) = self.share_of(now, face) else { return false };
        if !share.note(hash, names) {
            return false;
        }
        share.wanted = Some(now);
        let fair = room / u32::try_from(active + 1).unwrap_or(u32::MAX).max(1);
        // Whoever has his share may still renew what is in it, a little at a time.
        let renews = share.kept < fair.saturating_add(fair / 8) && drawn.is_multiple_of(4);
        active == 0 || share.kept < fair || renews
    }

    /// Entry `id` has come because of `face`. What was in its place before has left.
    pub(crate) fn note_kept(&mut self, id: CachedId, face: FaceId) {
        let place = id.0 as usize;
        if self.owners.len() <= place {
            self.owners.resize(place + 1, None);
        }
        let before = self.owners.get_mut(place).and_then(|owner| owner.replace(face));
        for share in &mut self.shares {
            if Some(share.face) == before {
                share.kept = share.kept.saturating_sub(1);
            }
            if share.face == face {
                share.kept = share.kept.saturating_add(1);
            }
        }
    }

    pub(crate) fn footprint_bytes(&self) -> usize {
        let words: usize = self.shares.iter().map(|share| share.recent.len() + share.before.len()).sum();
        words * 8
            + self.shares.capacity() * size_of::<Share>()
            + self.owners.capacity() * size_of::<Option<FaceId>>()
    }

    fn share_of(&mut self, now: Instant, face: FaceId) -> Option<&mut Share> {
        if let Some(place) = self.shares.iter().position(|share| share.face == face) {
            let share = self.shares.get_mut(place)?;
            share.last = now;
            return Some(share);
        }
        if self.shares.len() >= MAX_FACES {
            let places = self.shares.iter().enumerate();
            let silent = places.min_by_key(|(_, share)| share.last).map(|(place, _)| place)?;
            self.shares.swap_remove(silent);
        }
        self.shares.push(Share {
            face,
            last: now,
            wanted: None,
            recent: vec![0; BITS / 64],
            before: vec![0; BITS / 64],
            names: 0,
            // What may be there of an earlier time does not count: to look for it would cost a look at the
            // whole store for each face that comes.
            kept: 0,
        });
        self.shares.last_mut()
    }
}

impl Share {
    fn is_active(&self, now: Instant) -> bool {
        self.wanted.is_some_and(|wanted| now.saturating_since(wanted) < MAX_IDLE)
    }

    /// Remembers a name; true if it was remembered before.
    fn note(&mut self, hash: NameHash, most: u32) -> bool {
        let bits = [hash.0, hash.0 >> 32].map(|bits| bits as usize % BITS);
        let has = |words: &[u64]| {
            bits.iter().all(|bit| words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1))
        };
        let (is_recent, was_before) = (has(&self.recent), has(&self.before));
        if !is_recent {
            if self.names >= most {
                std::mem::swap(&mut self.recent, &mut self.before);
                self.recent.fill(0);
                self.names = 0;
            }
            for bit in bits {
                if let Some(word) = self.recent.get_mut(bit / 64) {
                    *word |= 1 << (bit % 64);
                }
            }
            self.names += 1;
        }
        is_recent || was_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HONEST: FaceId = FaceId(1);
    const ATTACKER: FaceId = FaceId(2);

    fn hash(number: u64) -> NameHash {
        NameHash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number << 40))
    }

    /// Asks, and puts what is admitted into the next entry of a store of a hundred.
    struct Store(FairShares, u32);

    impl Store {
        fn ask(&mut self, face: FaceId, name: u64) -> bool {
            let is_admitted = self.0.admit(Instant::ZERO, (hash(name), face), 100, name);
            if is_admitted {
                self.0.note_kept(CachedId(self.1 % 100), face);
                self.1 += 1;
            }
            is_admitted
        }

        fn kept(&self, face: FaceId) -> usize {
            self.0.owners.iter().filter(|owner| **owner == Some(face)).count()
        }
    }

    #[test]
    fn what_is_asked_for_once_is_not_kept_and_the_second_time_it_is() {
        let mut store = Store(FairShares::default(), 0);
        assert!((0..60).all(|name| !store.ask(HONEST, name)));
        assert!((0..60).all(|name| store.ask(HONEST, name)));
        let forgotten = (1000..2000).filter(|name| store.ask(HONEST, *name)).count();
        assert!(forgotten < 10, "a stream of new names: {forgotten}");
        assert!(!store.ask(HONEST, 1), "after so many others it is forgotten");
    }

    #[test]
    fn two_who_ask_have_a_half_each_and_one_alone_has_all() {
        let mut store = Store(FairShares::default(), 0);
        for name in (0..100).chain(0..100) {
            store.ask(HONEST, name);
        }
        assert_eq!(store.kept(HONEST), 100);
        for name in (0..40).flat_map(|_| 5000..5100) {
            store.ask(ATTACKER, name);
        }
        let kept = store.kept(ATTACKER);
        assert!((45..=57).contains(&kept), "{kept}");
        assert_eq!(store.kept(HONEST), 100 - kept);
    }
}
