//! The numbers that faces get.

use engine::FaceId;

/// The numbers of faces that are yet to come.
pub(in crate::plane) struct Numbers {
    next: u32,
    /// The same for faces inside the process, while there are reserved ones.
    next_inner: u32,
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers { next: FaceId::LAST_RESERVED.0 + 1, next_inner: 1 }
    }
}

/// NFD has a meaning for the two reserved numbers behind this one.
const LAST_INNER: u32 = 253;

impl Numbers {
    /// Gives a number out, never again. They last for 2³² faces; then there are no new ones.
    pub(in crate::plane) fn take(&mut self, is_inner: bool) -> Option<FaceId> {
        let is_reserved = is_inner && self.next_inner <= LAST_INNER;
        let next = if is_reserved { &mut self.next_inner } else { &mut self.next };
        let id = FaceId(*next);
        *next = next.checked_add(1)?;
        Some(id)
    }
}
