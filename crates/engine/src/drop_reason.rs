//! Why packets end here: one list for counters, logs, traces, status output and documentation.

/// Makes the enum, its list and its words from one table, so that they cannot disagree.
macro_rules! drop_reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+) => {
        /// Why a packet was dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DropReason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl DropReason {
            /// All reasons, in the order of their counters.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$variant),+];

            /// The word used everywhere for this reason.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(DropReason::$variant => $word,)+
                }
            }

            /// What it means, for status output and documentation.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(DropReason::$variant => concat!($($doc),+),)+
                }
            }
        }
    };
}

drop_reasons! {
    /// The packet came from, or would leave by, a face that does not exist.
    UnknownFace = "unknown-face",
    /// The face speaks the other dialect.
    WrongDialect = "wrong-dialect",
    /// The Interest's HopLimit was zero on arrival.
    HopLimitZero = "hop-limit-zero",
    /// The name's scope does not allow the packet to cross this face.
    Scope = "scope",
    /// An Interest with this name and nonce is pending or was seen lately.
    DuplicateNonce = "duplicate-nonce",
    /// The Interest was sent again too soon.
    RetransmissionSuppressed = "retransmission-suppressed",
    /// The face sends more Interests a second than it may.
    InterestRate = "interest-rate",
    /// The face has as many pending Interests as one face may have.
    FacePendingLimit = "face-pending-limit",
    /// The table of pending Interests is full, and this face holds its fair share.
    PendingTableFull = "pending-table-full",
    /// A pending Interest made room for one of a face that holds less than its fair share.
    PendingEvicted = "pending-evicted",
    /// Too many Interests that differ only in their selectors are pending under one name.
    TooManyVariants = "too-many-variants",
    /// The strategy found no face to send the Interest to.
    NoNextHop = "no-next-hop",
    /// The strategy's rate limit towards the next hop is exhausted.
    UpstreamRate = "upstream-rate",
    /// The Interest asked for a next hop that does not exist.
    NextHopGone = "next-hop-gone",
    /// No pending Interest matches the Data.
    Unsolicited = "unsolicited",
    /// No pending Interest was sent to this face with the Nack's nonce.
    UnexpectedNack = "unexpected-nack",
    /// Nacks are only meant for point-to-point links.
    NackOnSharedLink = "nack-on-shared-link",
    /// The Interest could not be given a field that forwarders must add without exceeding the size limit.
    NoRoomForField = "no-room-for-field",
    /// The strategy learned no route that would let the Data travel back.
    NoAnnouncement = "no-announcement",
}

/// A counter for every [`DropReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropCounters([u64; DropReason::ALL.len()]);

impl Default for DropCounters {
    fn default() -> Self {
        DropCounters([0; DropReason::ALL.len()])
    }
}

impl DropCounters {
    /// Packets dropped for `reason`.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All reasons with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.iter().map(|&reason| (reason, self.get(reason)))
    }

    pub(crate) fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_word_and_counter() {
        let mut counters = DropCounters::default();
        let mut words = Vec::new();
        for &reason in DropReason::ALL {
            counters.count(reason);
            assert_eq!(counters.get(reason), 1, "{reason:?}");
            assert!(reason.explanation().ends_with('.'), "{reason:?}");
            words.push(reason.as_str());
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), DropReason::ALL.len());
        assert_eq!(counters.total(), DropReason::ALL.len() as u64);
    }
}
