//! Which of several engines of one node a packet belongs to.
//!
//! Interests go by a prefix of their name, so that all packets of one object meet in the same tables. Data and Nacks
//! return to where their Interest went out, which their PIT token says.

use packet::{PitToken, PrefixHashes};

use crate::tables::pending::PendingId;

/// Divides names among the engines of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardMap {
    shards: u16,
    prefix_components: usize,
}

impl ShardMap {
    /// Divides among `shards` engines (at least one) by the first `prefix_components` components of names. With
    /// few components, all of an object stays together; with many, the load spreads better.
    pub fn new(shards: u16, prefix_components: usize) -> Self {
        ShardMap { shards: shards.max(1), prefix_components }
    }

    /// The engine for an Interest, or for Data without a token, by the hashes of its name.
    pub fn shard_of(&self, hashes: &PrefixHashes) -> u16 {
        let prefix = self.prefix_components.min(hashes.longest_known_prefix());
        let hash = hashes.prefix(prefix).unwrap_or_else(|| hashes.whole());
        // The low bits of the hash select buckets inside the engine; the high ones are still unused.
        ((u128::from(hash.0) * u128::from(self.shards)) >> 64) as u16
    }
}

/// The engine whose Interest this token came with; `None` if it is not one of this node's tokens.
///
/// A token comes back from a neighbour and may be anything: whoever uses it checks that the engine exists, and the engine
/// itself finds its pending Interest by name.
pub fn shard_of_token(token: &PitToken) -> Option<u16> {
    match token.as_bytes() {
        &[high, low, _, _, _, _] => Some(u16::from_be_bytes([high, low])),
        _ => None,
    }
}

/// The token of a pending Interest: the engine that holds it and its number there. Six bytes, because one widespread
/// implementation takes no other length.
pub(crate) fn token(shard: u16, id: PendingId) -> PitToken {
    let [a, b] = shard.to_be_bytes();
    let [c, d, e, f] = id.0.to_be_bytes();
    PitToken::new(&[a, b, c, d, e, f]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Dialect, Name, NameHasher};

    fn hashes(uri: &str) -> PrefixHashes {
        NameHasher::new([1, 2])
            .hash(Dialect::Ndn, uri.parse::<Name>().unwrap_or_else(|_| Name::root()).components())
    }

    #[test]
    fn all_packets_under_a_prefix_go_to_one_shard_and_prefixes_spread_evenly() {
        let map = ShardMap::new(4, 2);
        let mut load = [0; 4];
        for object in 0..4000 {
            let shard = map.shard_of(&hashes(&format!("/site/{object}")));
            assert_eq!(map.shard_of(&hashes(&format!("/site/{object}/v=1/seg=9"))), shard);
            load[usize::from(shard)] += 1;
        }
        assert!(load.iter().all(|&load| (900..1100).contains(&load)), "{load:?}");
        assert!(map.shard_of(&hashes("/")) < 4 && ShardMap::new(0, 0).shard_of(&hashes("/a")) == 0);
    }

    #[test]
    fn a_token_leads_back_to_its_shard() {
        assert_eq!(shard_of_token(&token(513, PendingId(7))), Some(513));
        assert_eq!(shard_of_token(&PitToken::NONE), None);
        assert_eq!(PitToken::new(&[1; 8]).as_ref().and_then(shard_of_token), None);
    }
}
