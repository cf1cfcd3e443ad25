//! When the data plane works: what it waits for, when it stays awake, and what happens at a time.

pub(in crate::plane) mod alarms;
pub(in crate::plane) mod busy_poll;
pub(in crate::plane) mod schedule;
pub(in crate::plane) mod sleep;
pub(in crate::plane) mod watchdog;
