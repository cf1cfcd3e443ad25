//! How a crate says why packets end in it: one table gives the enum, its words, and its counters.

/// Makes an enum of drop reasons, and counters for them, from one table, so that the word in a counter, a log
/// line, a trace, `cairn status`, the metrics and the documentation is the same. `cargo xtask tidy` sees to
/// it that a reason's word is its name: who drops for the same reason uses the same name.
///
/// ```
/// cairn_packet::drop_reasons! {
///     /// Why a parcel was not delivered.
///     pub enum DropReason {
///         /// Nobody lives there.
///         NoAddressee = "no-addressee",
///         /// It does not fit through the door.
///         TooLarge = "too-large",
///     }
///
///     /// How often each reason occurred.
///     pub struct DropCounters;
/// }
///
/// let mut drops = DropCounters::default();
/// assert_eq!(drops.count(DropReason::TooLarge).as_str(), "too-large");
/// assert_eq!(drops.get(DropReason::TooLarge), 1);
/// assert_eq!(DropReason::NoAddressee.explanation(), "Nobody lives there.");
/// ```
#[macro_export]
macro_rules! drop_reasons {
    (
        $(#[$about:meta])*
        pub enum $Reason:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }

        $(#[$counters_about:meta])*
        pub struct $Counters:ident;
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Reason {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $Reason {
            /// All reasons, in the order of their counters.
            pub const ALL: &'static [$Reason] = &[$($Reason::$variant,)+];

            /// The word used for this reason everywhere.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($Reason::$variant => $word,)+
                }
            }

            /// What the reason means, in sentences.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $($Reason::$variant => concat!($($doc, "\n",)+).trim_ascii(),)+
                }
            }
        }

        impl ::std::fmt::Display for $Reason {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::error::Error for $Reason {}

        $(#[$counters_about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Counters([u64; $Reason::ALL.len()]);

        impl $Counters {
            /// How often `reason` occurred.
            pub fn get(&self, reason: $Reason) -> u64 {
                self.0.get(reason as usize).copied().unwrap_or(0)
            }

            /// All reasons with their counts, zeros included.
            pub fn iter(&self) -> impl Iterator<Item = ($Reason, u64)> + '_ {
                $Reason::ALL.iter().copied().zip(self.0)
            }

            /// The sum over all reasons.
            pub fn total(&self) -> u64 {
                self.0.iter().sum()
            }

            /// The words of the reasons that occurred, with their counts.
            pub fn occurred(&self) -> Vec<(&'static str, u64)> {
                let occurred = self.iter().filter(|(_, count)| *count > 0);
                occurred.map(|(reason, count)| (reason.as_str(), count)).collect()
            }

            /// Takes over what another counted, as a node does from a face that goes.
            pub fn absorb(&mut self, other: &$Counters) {
                for (reason, count) in other.iter() {
                    self.add(reason, count);
                }
            }

            /// Counts `reason` several times.
            pub fn add(&mut self, reason: $Reason, times: u64) {
                if let Some(counter) = self.0.get_mut(reason as usize) {
                    *counter += times;
                }
            }

            /// Counts `reason` once and gives it back, for `Err(drops.count(reason))`.
            pub fn count(&mut self, reason: $Reason) -> $Reason {
                self.add(reason, 1);
                reason
            }
        }

        impl Default for $Counters {
            fn default() -> Self {
                $Counters([0; $Reason::ALL.len()])
            }
        }
    };
}
