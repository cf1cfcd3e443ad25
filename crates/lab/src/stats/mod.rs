//! Numbers from numbers: summaries of one repeat, means with confidence over repeats.

mod confidence;
mod difference;
mod equal;
mod fairness;
mod summary;

pub use confidence::{Estimate, student_t};
pub use difference::{Interval, Level, Sample};
pub use equal::{ENOUGH_EQUAL, Kind, are_equal, may_differ};
pub use fairness::fairness;
pub use summary::Summary;
