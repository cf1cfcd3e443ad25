//! Who holds the memory of packets of one kind, such as incomplete ones: when all together take too much,
//! those of whoever holds most go.

use std::collections::{BTreeSet, HashMap};

use engine::FaceId;

use crate::origin::Owner;

/// What packets of one kind take, by face and by owner.
#[derive(Debug, Default)]
pub(in crate::plane) struct Partials {
    held: HashMap<FaceId, (Owner, usize)>,
    owners: HashMap<Owner, (usize, BTreeSet<(usize, FaceId)>)>,
    by_bytes: BTreeSet<(usize, Owner)>,
    total_bytes: usize,
}

impl Partials {
    pub(in crate::plane) fn total_bytes(&self) -> usize {
        self.total_bytes
    }

    /// A face holds so much now.
    pub(in crate::plane) fn set(&mut self, face: FaceId, owner: Owner, bytes: usize) {
        if let Some((owner, before)) = self.held.remove(&face) {
            self.total_bytes -= before;
            if let Some((sum, faces)) = self.owners.get_mut(&owner) {
                self.by_bytes.remove(&(*sum, owner));
                *sum -= before;
                faces.remove(&(before, face));
                if faces.is_empty() {
                    self.owners.remove(&owner);
                } else {
                    self.by_bytes.insert((*sum, owner));
                }
            }
        }
        if bytes == 0 {
            return;
        }
        self.held.insert(face, (owner, bytes));
        self.total_bytes += bytes;
        let (sum, faces) = self.owners.entry(owner).or_default();
        self.by_bytes.remove(&(*sum, owner));
        *sum += bytes;
        faces.insert((bytes, face));
        self.by_bytes.insert((*sum, owner));
    }

    /// The face that holds most among those of the owner that holds most.
    pub(in crate::plane) fn heaviest(&self) -> Option<FaceId> {
        let (_, owner) = self.by_bytes.last()?;
        let (_, faces) = self.owners.get(owner)?;
        faces.last().map(|(_, face)| *face)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Origin;

    #[test]
    fn many_faces_of_one_address_go_before_one_of_another_that_holds_more_than_each() {
        let mut partials = Partials::default();
        let flood = Owner::Origin(Origin::Address(system::AddressPrefix::V4(1)));
        (0..100).for_each(|face| partials.set(FaceId(face), flood, 1000 + face as usize));
        partials.set(FaceId(500), Owner::Origin(Origin::Address(system::AddressPrefix::V4(2))), 8000);
        partials.set(FaceId(501), Owner::Face(FaceId(501)), 9000);
        for expected in (10..100).rev() {
            assert_eq!(partials.heaviest(), Some(FaceId(expected)));
            partials.set(FaceId(expected), flood, 0);
        }
        partials.set(FaceId(501), Owner::Face(FaceId(501)), 20_000);
        assert_eq!(partials.heaviest(), Some(FaceId(501)));
        (0..600).for_each(|face| partials.set(FaceId(face), flood, 0));
        assert_eq!((partials.total_bytes(), partials.heaviest()), (0, None));
        assert!(partials.held.is_empty() && partials.owners.is_empty() && partials.by_bytes.is_empty());
    }
}
