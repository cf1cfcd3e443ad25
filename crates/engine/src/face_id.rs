//! Numbers of faces.

use std::fmt;

/// Number of a face. The owner gives numbers out and never gives one out twice, so that what is still pending
/// for a face that is gone cannot reach another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceId(pub u32);

impl FaceId {
    /// What Data from the content store names as the face it came from, as in NFD.
    pub const CONTENT_STORE: FaceId = FaceId(254);
    /// What Data from the second store names as the face it came from.
    pub const SECOND_STORE: FaceId = FaceId(253);
    /// Numbers up to this one are reserved; faces to peers begin above.
    pub const LAST_RESERVED: FaceId = FaceId(255);
}

impl fmt::Display for FaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
