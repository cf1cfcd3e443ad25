//! Limits on what one face, one route or one name may use.

mod leaky_bucket;
mod token_bucket;

pub use leaky_bucket::LeakyBucket;
pub use token_bucket::TokenBucket;
