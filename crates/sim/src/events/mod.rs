//! What happens when, and what is on its way meanwhile.

pub(crate) mod in_flight;
pub(crate) mod queue;
pub(crate) mod rank;
pub(crate) mod simultaneous;
