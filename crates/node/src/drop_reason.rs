//! Why a face or the node let a frame go: one list for counters, logs, metrics, status output and documentation.

use std::fmt;

macro_rules! drop_reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+) => {
        /// Why a transport, or the node around its faces, dropped a frame or a connection.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum DropReason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl DropReason {
            /// All reasons, in the order of their counters.
            pub const ALL: &[DropReason] = &[$(DropReason::$variant,)+];

            /// The word used for this reason everywhere.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(DropReason::$variant => $word,)+
                }
            }

            /// What the reason means, in sentences.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(DropReason::$variant => concat!($($doc, "\n",)+).trim_ascii(),)+
                }
            }
        }
    };
}

drop_reasons! {
    /// To be sent: the peer reads too slowly and as much waits for it as may.
    SendQueueFull = "send-queue-full",
    /// To be sent: the face is not connected at present.
    FaceDown = "face-down",
    /// To be sent: the system refused the frame.
    SocketError = "socket-error",
    /// To be sent: the frame is larger than the system sends on this path.
    TooLargeForPath = "too-large-for-path",
    /// Received: a stream that is no sequence of frames, or has a frame that is too large; the connection was closed.
    BrokenStream = "broken-stream",
    /// Received: a stream that stopped in the middle of a frame for too long; the connection was closed.
    StalledStream = "stalled-stream",
    /// Received: a frame from a stranger that is not worth a face.
    Stranger = "stranger",
    /// Received: a frame or a connection from a stranger while there are as many faces made on demand as there may be.
    TooManyFaces = "too-many-faces",
    /// Received: a frame or a connection from a stranger whose address has as many faces made on demand as one may have.
    AddressShare = "address-share",
    /// A face made on demand was closed so that somebody else gets its place: it was idle, or its address had most of them.
    GaveWay = "gave-way",
    /// Received: a connection that the system could not give a descriptor for.
    OutOfDescriptors = "out-of-descriptors",
    /// Received: an Ethernet frame larger than the interface was said to take.
    Truncated = "truncated",
    /// Received: an Ethernet frame with the tag of another VLAN than the interface's own.
    OtherNetwork = "other-network",
    /// Received: frames on an interface that came faster than they were read; counted once for each time.
    RingOverrun = "ring-overrun",
    /// Received: a frame for a face that is gone.
    NoFace = "no-face",
    /// For the node itself: management has more to do than may wait.
    ManagementBusy = "management-busy",
    /// A tap on the face, such as an impairment, dropped the frame.
    Tapped = "tapped",
    /// A tap delayed the frame, and as many are delayed as may be.
    TooManyDelayed = "too-many-delayed",
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A counter for every [`DropReason`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounters([u64; DropReason::ALL.len()]);

impl DropCounters {
    /// How often `reason` occurred.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.0.get(reason as usize).copied().unwrap_or(0)
    }

    /// All reasons with their counts, zeros included.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.iter().copied().zip(self.0)
    }

    /// The words of the reasons that occurred, with their counts.
    pub fn occurred(&self) -> Vec<(&'static str, u64)> {
        self.iter().filter(|(_, count)| *count > 0).map(|(reason, count)| (reason.as_str(), count)).collect()
    }

    pub(crate) fn count(&mut self, reason: DropReason) {
        self.add(reason, 1);
    }

    pub(crate) fn add(&mut self, reason: DropReason, times: u64) {
        if let Some(counter) = self.0.get_mut(reason as usize) {
            *counter += times;
        }
    }

    /// Takes over what another counted, as a face does for the node when it goes.
    pub(crate) fn absorb(&mut self, other: &DropCounters) {
        for (reason, count) in other.iter() {
            self.add(reason, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_lower_case_and_explained() {
        for (at, reason) in DropReason::ALL.iter().enumerate() {
            let word = reason.as_str();
            assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{word}");
            assert!(DropReason::ALL[..at].iter().all(|other| other.as_str() != word), "{word} twice");
            assert!(reason.explanation().ends_with('.'), "{word}");
        }
    }

    #[test]
    fn each_reason_has_a_counter_of_its_own() {
        let mut drops = DropCounters::default();
        for (times, &reason) in DropReason::ALL.iter().enumerate() {
            drops.add(reason, times as u64);
        }
        for (times, &reason) in DropReason::ALL.iter().enumerate() {
            assert_eq!(drops.get(reason), times as u64);
        }
        assert_eq!(drops.occurred().len(), DropReason::ALL.len() - 1);
    }
}
