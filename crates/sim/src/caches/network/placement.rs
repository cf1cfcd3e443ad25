//! On which nodes of the way back copies are left.

use std::str::FromStr;

use engine::CachePlacement;
use packet::random::Random;
use packet::registry::UnknownWord;

use super::paths::{CachePaths, Stop};
use crate::arena::CacheId;

/// On which of the nodes between who has an object and who asked for it a copy is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CopyPlacement {
    /// As each node decides by itself, which is what forwarders can do.
    ByNode(CachePlacement),
    /// On one of them, each as likely.
    OneAtRandom,
    /// On each with a probability that grows towards the receiver and with the room on the rest of the path,
    /// by this much (ProbCache; Psaras, Chai and Pavlou, TPDS 2014). The authors take 10.
    ProbCache(f64),
    /// On the one that lies on most shortest paths, of equals on the one nearest to the receiver (cache less
    /// for more; Chai, He, Psaras and Pavlou, Networking 2012).
    MostCentral,
    /// On the first from the receiver, which is the only one that is asked.
    Edge,
}

impl Default for CopyPlacement {
    fn default() -> Self {
        CopyPlacement::ByNode(CachePlacement::default())
    }
}

impl FromStr for CopyPlacement {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        // A fair share is one of a face, and there are no faces here.
        if let Ok(placement) = text.parse::<CachePlacement>()
            && placement != CachePlacement::FairShare
        {
            return Ok(CopyPlacement::ByNode(placement));
        }
        let weight = || {
            let weight = text.strip_prefix("prob-cache~")?.parse::<f64>().ok()?;
            (weight > 0.0 && weight <= 1e6).then_some(weight)
        };
        Ok(match text {
            "one-at-random" => CopyPlacement::OneAtRandom,
            "most-central" => CopyPlacement::MostCentral,
            "edge" => CopyPlacement::Edge,
            _ => CopyPlacement::ProbCache(
                weight().ok_or_else(|| UnknownWord::new("placement", text, CopyPlacement::WORDS))?,
            ),
        })
    }
}

impl CopyPlacement {
    /// The words for all of them, two with their parameters.
    pub const WORDS: [&str; 8] = [
        "everywhere",
        "leave-copy-down",
        "local-consumers",
        "probability~0.5",
        "one-at-random",
        "prob-cache~10",
        "most-central",
        "edge",
    ];

    /// How many of so many caches on a path are asked.
    #[inline(always)]
    pub(super) fn reach(self, caches: usize) -> usize {
        if self == CopyPlacement::Edge { caches.min(1) } else { caches }
    }

    /// Leaves copies in caches of a path, of which the first `missed` did not have the object and the next
    /// did, if there is one.
    #[inline]
    pub(super) fn leave(
        self,
        path: &[Stop],
        missed: usize,
        paths: &CachePaths,
        random: &mut Random,
        put: &mut impl FnMut(CacheId),
    ) {
        let Some((last, _)) = path[..missed].split_last() else { return };
        match self {
            CopyPlacement::ByNode(CachePlacement::Everywhere | CachePlacement::FairShare) => {
                path[..missed].iter().rev().for_each(|stop| put(stop.cache));
            }
            CopyPlacement::ByNode(CachePlacement::LeaveCopyDown) => put(last.cache),
            CopyPlacement::ByNode(CachePlacement::Probability(probability)) => {
                for stop in path[..missed].iter().rev() {
                    if probability.is_met(random.next_u64()) {
                        put(stop.cache);
                    }
                }
            }
            CopyPlacement::ByNode(CachePlacement::LocalConsumers) => {
                // Only the receiver's own node has an application that waits.
                if let Some(own) = path.first().filter(|stop| stop.hops == 0) {
                    put(own.cache);
                }
            }
            CopyPlacement::OneAtRandom => put(path[random.below(missed as u64) as usize].cache),
            CopyPlacement::ProbCache(weight) => prob_cache(weight, path, missed, paths, random, put),
            CopyPlacement::MostCentral => {
                let central = |stop: &Stop| paths.centrality[stop.cache];
                // Of equals the first.
                let mut best = path[0];
                for stop in &path[1..missed] {
                    if central(stop) > central(&best) {
                        best = *stop;
                    }
                }
                put(best.cache);
            }
            CopyPlacement::Edge => put(path[0].cache),
        }
    }
}

/// ProbCache: the room that is left between here and the receiver, counted from the node before, times how
/// far the copy has come already, as a part of all caches and to the power of their number.
fn prob_cache(
    weight: f64,
    path: &[Stop],
    missed: usize,
    paths: &CachePaths,
    random: &mut Random,
    put: &mut impl FnMut(CacheId),
) {
    let powers = paths.powers.of(missed + usize::from(missed < path.len()));
    for (place, power) in (0..missed).rev().zip(powers) {
        let stop = path[place];
        let own = paths.room[stop.cache];
        let before = path.get(place + 1).filter(|before| before.hops == stop.hops + 1);
        let before = before.map_or(0.0, |before| paths.room[before.cache]);
        let rest = stop.room_so_far + before;
        let probability = rest / (weight * own) * power;
        if random.chance(probability) {
            put(stop.cache);
        }
    }
}
