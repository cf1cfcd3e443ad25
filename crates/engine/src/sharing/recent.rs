//! Names that were on the link lately.

use packet::NameHash;
use packet::time::{Duration, Instant};

/// Names remembered for each face; a newer one takes the place of an older one.
const PLACES: usize = 4096;

/// Which names were on the link, and when last. Room for a fixed number; two names may share a place, and the
/// older is forgotten then, which costs a packet that need not have been sent.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// Empty until the first name.
    places: Box<[(NameHash, Instant)]>,
}

impl Recent {
    pub(crate) fn note(&mut self, now: Instant, name: NameHash) {
        if self.places.is_empty() {
            self.places = vec![(NameHash::default(), Instant::ZERO); PLACES].into();
        }
        if let Some(place) = self.places.get_mut(place_of(name)) {
            *place = (name, now);
        }
    }

    /// When the name was there last, as far as that is known.
    pub(crate) fn last(&self, name: NameHash) -> Option<Instant> {
        self.places.get(place_of(name)).filter(|(known, _)| *known == name).map(|(_, at)| *at)
    }

    /// Whether the name was there at most `span` ago.
    pub(crate) fn is_within(&self, now: Instant, name: NameHash, span: Duration) -> bool {
        self.last(name).is_some_and(|at| now.saturating_since(at) < span)
    }
}

fn place_of(name: NameHash) -> usize {
    (name.0 % PLACES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_remembered_for_the_span_asked_about_and_a_newer_one_takes_its_place() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut recent = Recent::default();
        assert!(!recent.is_within(at(0), NameHash(7), Duration::from_secs(1)));
        recent.note(at(5), NameHash(7));
        assert!(recent.is_within(at(14), NameHash(7), Duration::from_millis(10)));
        assert!(!recent.is_within(at(15), NameHash(7), Duration::from_millis(10)));
        recent.note(at(6), NameHash(7 + PLACES as u64));
        assert_eq!(recent.last(NameHash(7)), None);
        assert_eq!(recent.last(NameHash(7 + PLACES as u64)), Some(at(6)));
    }
}
