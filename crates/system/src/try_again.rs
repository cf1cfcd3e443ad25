//! What an error says that is none.

use std::io;

/// Whether a call did nothing and the next one may do it: it would have had to wait, also longer than its
/// socket allows, or a signal came in between.
///
/// ```
/// use std::io::{Error, ErrorKind};
///
/// assert!(cairn_system::is_try_again(&Error::from(ErrorKind::WouldBlock)));
/// // A connection whose peer is silent for too long is at its end.
/// assert!(!cairn_system::is_try_again(&Error::from(ErrorKind::TimedOut)));
/// ```
#[inline]
pub fn is_try_again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
