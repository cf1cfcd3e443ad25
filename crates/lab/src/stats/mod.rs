//! Numbers from numbers: summaries of one repeat, means with confidence over repeats.

mod confidence;
mod counted;
mod difference;
mod fairness;
mod mean;
mod summary;
mod unseen;

pub use confidence::{Estimate, student_t};
pub use counted::{Counted, pooled};
pub use difference::{Interval, Level, Sample};
pub use fairness::fairness;
pub use mean::mean;
pub use summary::Summary;
pub use unseen::{ENOUGH, FEWEST, are_equal, may_differ};
