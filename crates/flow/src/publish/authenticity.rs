//! Who vouches for segments: each of them, or a list of all.

/// What vouches for a publication's segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authenticity {
    /// Every packet has the publisher's signature.
    #[default]
    EachPacket,
    /// Segments carry digests that anybody can make. The publisher signs their list, the manifest, and the
    /// metadata that says which version is the latest. The list must be made before anybody asks; see
    /// [`Publication::next_unlisted`](super::Publication::next_unlisted).
    Manifest,
}
