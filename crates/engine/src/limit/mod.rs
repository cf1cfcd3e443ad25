//! Limits on what one face, one route or one name may use.

mod token_bucket;

pub use token_bucket::TokenBucket;
