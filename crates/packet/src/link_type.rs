//! How many peers a link leads to.

/// How many peers a face reaches, and its link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// One.
    #[default]
    PointToPoint,
    /// All on a shared medium that carries a packet to everybody at once. Without Nacks and without
    /// reliability.
    MultiAccess,
    /// Some on a wireless medium; what came in may have to go out again to reach the others. Otherwise as
    /// [`LinkType::MultiAccess`].
    AdHoc,
}

impl LinkType {
    /// Is there exactly one peer?
    #[must_use]
    pub const fn is_point_to_point(self) -> bool {
        matches!(self, LinkType::PointToPoint)
    }
}
