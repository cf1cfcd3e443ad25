//! Numbers from numbers: summaries of one repeat, means with confidence over repeats.

mod confidence;
mod counted;
mod difference;
mod fairness;
mod interval;
mod mean;
mod orders;
mod student;
mod summary;
mod unseen;

pub use confidence::Estimate;
pub use counted::{Counted, pooled};
pub use difference::Sample;
pub use fairness::fairness;
pub use interval::{Interval, Level};
pub use mean::mean;
pub use orders::{ByOrder, Claim, Compared, DrawnOrders, FEWEST_ORDERS, MANY_ORDERS, OfOrders};
pub use student::student_t;
pub use summary::Summary;
pub use unseen::{ENOUGH, FEWEST, are_equal, may_differ};
