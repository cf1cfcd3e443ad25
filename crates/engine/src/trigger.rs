//! Why a strategy is asked.

/// Why the strategy is called about an Interest that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Nobody waited for it before.
    New,
    /// Others wait for it already; the face that asks does so for the first time.
    Joined,
    /// The face that asks waits for it already: a retransmission. Or nobody waits any more.
    Again,
    /// Something else happened to a pending Interest.
    Other,
}

impl Trigger {
    /// Whether an Interest arrived that is pending already.
    pub(crate) fn is_of_pending(self) -> bool {
        matches!(self, Trigger::Joined | Trigger::Again)
    }
}
