//! What a holder of a network answers.

use serde::{Deserialize, Serialize};

/// No request and no reply is longer.
pub(super) const MAX_LINE_BYTES: u64 = 64 << 10;

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reply {
    /// Why it was refused; nothing when it is done.
    pub(super) refused: Option<String>,
}
