//! Seeded randomness. Every owner of a state machine gives it one [`Random`]; same seed, same run.

mod gamma;
mod log_normal;
mod normal;
mod pareto;
mod zipf;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

pub use gamma::Gamma;
pub use log_normal::LogNormal;
pub use normal::StandardNormal;
pub use pareto::BoundedPareto;
pub use zipf::{Zipf, ZipfError};

/// A seeded stream of random numbers (xoshiro256++): portable and repeatable, not for keys.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Xoshiro256PlusPlus,
}

impl Random {
    /// The stream of `seed`.
    pub fn from_seed(seed: u64) -> Self {
        Random { generator: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The stream that belongs to (`root_seed`, `stream_id`), independent of every other id, so that adding
    /// one node or link to an experiment does not shift the others.
    pub fn derive(root_seed: u64, stream_id: u64) -> Self {
        // Two rounds of a bijective mixer keep (seed, id) and (id, seed) apart.
        Random::from_seed(mix(mix(root_seed ^ 0x6361_6972_6e21_0001) ^ stream_id))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number in `0..bound`, uniform to within 2^-64; zero when `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from the exponential distribution with the mean 1, such as gaps between independent events
    /// have.
    pub fn exponential(&mut self) -> f64 {
        // `libm`, which computes the same everywhere.
        -libm::log(1.0 - self.unit())
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_numbers() {
        // Written down once, so that a changed generator cannot go unnoticed.
        let mut random = Random::from_seed(42);
        assert_eq!(random.next_u64(), 15021278609987233951);
        assert_eq!(random.next_u64(), 5881210131331364753);
    }

    #[test]
    fn derived_streams_differ_and_are_not_symmetric() {
        let first = |seed, id| Random::derive(seed, id).next_u64();
        assert_ne!(first(1, 2), first(2, 1));
        assert_ne!(first(1, 2), first(1, 3));
    }

    #[test]
    fn exponential_gaps_have_their_mean_and_forget_how_long_they_were_waited_for() {
        let mut random = Random::from_seed(3);
        let gaps: Vec<f64> = (0..100_000).map(|_| random.exponential()).collect();
        let mean = |gaps: &[f64]| gaps.iter().sum::<f64>() / gaps.len() as f64;
        let left: Vec<f64> = gaps.iter().filter(|gap| **gap > 1.0).map(|gap| gap - 1.0).collect();
        assert!((mean(&gaps) - 1.0).abs() < 0.01 && (mean(&left) - 1.0).abs() < 0.02);
    }

    #[test]
    fn numbers_below_a_bound_reach_every_value_and_never_the_bound() {
        let mut random = Random::from_seed(1);
        let mut seen = [0u32; 7];
        for _ in 0..7_000 {
            seen[random.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
