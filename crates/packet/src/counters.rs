//! How a crate counts what became of something: one table gives the counters and their words.

/// Makes a structure of counters from a table of fields and words, so that none is left out where all are
/// shown. The word is what `cairn status` and the metrics say. Why packets end is counted by
/// [`drop_reasons!`](crate::drop_reasons).
///
/// ```
/// cairn_packet::counters! {
///     /// What became of letters.
///     pub struct PostCounters {
///         /// Letters that were delivered.
///         pub delivered = "delivered",
///         /// Letters for which the bag had no room.
///         pub bag_full = "bag-full",
///     }
/// }
///
/// let mut counters = PostCounters { bag_full: 2, ..PostCounters::default() };
/// counters += &PostCounters { delivered: 7, bag_full: 1 };
/// assert_eq!(counters.numbers(), [("delivered", 7), ("bag-full", 3)]);
/// ```
#[macro_export]
macro_rules! counters {
    (
        $(#[$about:meta])*
        $vis:vis struct $Counters:ident {
            $($(#[$field_about:meta])+ $field_vis:vis $field:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis struct $Counters {
            $($(#[$field_about])+ $field_vis $field: u64,)+
        }

        impl $Counters {
            /// All numbers, each under its word, zeros included.
            $vis fn numbers(&self) -> [(&'static str, u64); [$($word,)+].len()] {
                [$(($word, self.$field),)+]
            }
        }

        impl ::core::ops::AddAssign<&$Counters> for $Counters {
            fn add_assign(&mut self, other: &$Counters) {
                $(self.$field += other.$field;)+
            }
        }
    };
}
