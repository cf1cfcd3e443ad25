//! Limits on what one face, one route or one name may use.

mod leaky_bucket;
mod rate_control;
mod release_queue;
mod token_bucket;

pub use leaky_bucket::LeakyBucket;
pub(crate) use rate_control::{Admission, RateControl, ShapedInterest};
pub use rate_control::{RateControlConfig, RateMethod};
pub(crate) use release_queue::ReleaseQueue;
pub use token_bucket::{RateLimit, TokenBucket};
