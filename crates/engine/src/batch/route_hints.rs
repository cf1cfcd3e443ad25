//! Where the routes of names that were prepared lately are, so that a batch that was prepared is not searched
//! twice.
//!
//! A hint is only ever a guess that saves a search: it is checked against the name, and all are forgotten
//! when routes change.

use packet::NameHash;

use crate::tables::fib::FibNode;

/// Places for hints; a new one replaces the old one in its place.
const PLACES: usize = 256;

/// A small table from names, by hash, to nodes of the routing table. It takes no memory until the first hint
/// is noted.
#[derive(Debug, Default)]
pub(crate) struct RouteHints {
    places: Option<Box<Places>>,
}

type Places = [(NameHash, Option<FibNode>); PLACES];

impl RouteHints {
    /// Notes where the longest match of a name is.
    #[inline]
    pub(crate) fn note(&mut self, name: NameHash, node: FibNode) {
        let places = self.places.get_or_insert_with(|| Box::new([(NameHash(0), None); PLACES]));
        places[place(name)] = (name, Some(node));
    }

    /// What was noted for a name, if it was not replaced since.
    #[inline]
    pub(crate) fn get(&self, name: NameHash) -> Option<FibNode> {
        let (noted, node) = self.places.as_ref()?[place(name)];
        if noted == name { node } else { None }
    }

    /// Forgets everything, because routes have changed.
    pub(crate) fn clear(&mut self) {
        if let Some(places) = &mut self.places {
            places.fill((NameHash(0), None));
        }
    }
}

#[inline(always)]
fn place(name: NameHash) -> usize {
    name.0 as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::fib::Fib;
    use crate::tables::fib::StrategyId;

    #[test]
    fn a_hint_is_for_its_name_alone_until_it_is_replaced_or_cleared() {
        let fib = Fib::new(10, NameHash(0), StrategyId(0));
        let node = fib.longest_match(packet::NameRef::ROOT, &packet::PrefixHashes::default());
        let mut hints = RouteHints::default();
        assert_eq!(hints.get(NameHash(0)), None);
        hints.note(NameHash(7), node);
        assert_eq!((hints.get(NameHash(7)), hints.get(NameHash(7 + 256))), (Some(node), None));
        hints.note(NameHash(7 + 256), node);
        assert_eq!(hints.get(NameHash(7)), None);
        hints.clear();
        assert_eq!(hints.get(NameHash(7 + 256)), None);
    }
}
