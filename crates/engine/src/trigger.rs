//! Why a strategy is asked.

/// Why the strategy is called about an Interest that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Nobody waited for it before.
    New,
    /// Somebody waits for it already: the same consumer again, or another.
    Again,
    /// Something else happened to a pending Interest.
    Other,
}
