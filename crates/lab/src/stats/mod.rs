//! Numbers from numbers: summaries of one repeat, means with confidence over repeats.

mod confidence;
mod counted;
mod difference;
mod fairness;
mod mean;
mod orders;
mod summary;
mod unseen;

pub use confidence::{Estimate, student_t};
pub use counted::{Counted, pooled};
pub use difference::{Interval, Level, Sample};
pub use fairness::fairness;
pub use mean::mean;
pub use orders::{ByOrder, Claim, Compared, DrawnOrders, FEWEST_ORDERS, MANY_ORDERS, OfOrders};
pub use summary::Summary;
pub use unseen::{ENOUGH, FEWEST, are_equal, may_differ};
