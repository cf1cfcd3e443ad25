//! What ccnd offers beside forwarding, by its names for it.

use crate::ccnx::markers;
use crate::error::DecodeError;
use crate::name::{Component, Name};

/// The component that names ccnd among the services of a place.
const CCND: &[u8] = b"ccnd";

/// The word of each of ccnd's strategies, and the word in NFD's names for the one that does the same, or
/// comes nearest to it. Of several that one comes nearest to, the first is the same.
const STRATEGIES: [(&str, &str); 4] = [
    ("default", "best-route"),
    ("loadsharing", "load-balance"),
    ("parallel", "multicast"),
    ("null", "multicast"),
];

/// What the names of ccnd's services at a place begin with: `<place>/%C1.M.SRV/ccnd`.
///
/// # Errors
/// `place` is too long.
pub fn ccnd_prefix(place: &[u8]) -> Result<Name, DecodeError> {
    Name::from_components([place, markers::SERVICE, CCND].map(Component::generic))
}

/// What the name of the object with its key begins with: `<place>/%C1.M.SRV/ccnd/KEY`.
///
/// # Errors
/// `place` is too long.
pub fn ccnd_key_prefix(place: &[u8]) -> Result<Name, DecodeError> {
    ccnd_prefix(place)?.with(Component::generic(b"KEY"))
}

/// The strategy, by the word in NFD's names, that does what ccnd's strategy with this word does.
pub fn strategy_of_ccnd(word: &str) -> Option<&'static str> {
    STRATEGIES.iter().find(|(ccnd, _)| *ccnd == word).map(|(_, nfd)| *nfd)
}

/// The word of ccnd's strategy that does the same as the one with this word in NFD's names.
pub fn strategy_in_ccnd(word: &[u8]) -> Option<&'static str> {
    STRATEGIES.iter().find(|(_, nfd)| nfd.as_bytes() == word).map(|(ccnd, _)| *ccnd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_strategy_has_a_word_on_either_side_and_the_one_that_does_nothing_is_never_chosen() {
        for (ccnd, nfd) in [("default", "best-route"), ("loadsharing", "load-balance")] {
            assert_eq!(strategy_of_ccnd(ccnd), Some(nfd));
            assert_eq!(strategy_in_ccnd(nfd.as_bytes()), Some(ccnd));
        }
        assert_eq!(strategy_of_ccnd("null"), Some("multicast"));
        assert_eq!(strategy_in_ccnd(b"multicast"), Some("parallel"));
        assert_eq!(strategy_in_ccnd(b"self-learning"), None);
    }
}
