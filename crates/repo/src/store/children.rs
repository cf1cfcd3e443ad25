//! Which components stand behind a prefix in the names of stored packets.

use packet::{Component, Dialect, NameRef};

use super::Store;
use crate::key::{ObjectName, prefix_key};
use crate::limits::Rejection;
use crate::object::ObjectId;

/// Components that are listed, and their bytes.
const MAX_COMPONENTS: usize = 65_536;
const MAX_BYTES: usize = 1 << 20;

/// What stands behind a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// The components, each once, in canonical order.
    pub components: Vec<Vec<u8>>,
    /// Whether there are more, which were left out.
    pub is_cut: bool,
    /// How often the store has changed: as long as this is the same, so is the rest.
    pub changes: u64,
}

impl Store {
    /// How often it has changed since it was opened.
    pub fn changes(&self) -> u64 {
        let counters = &self.history.counters;
        let dropped = self.history.rejections.get(Rejection::Corrupt);
        counters.insertions + counters.deletions + counters.evictions + dropped
    }

    /// The components behind `prefix` in the names of stored packets.
    pub fn children(&self, dialect: Dialect, prefix: NameRef<'_>) -> Children {
        let mut children = Children { changes: self.changes(), ..Children::default() };
        let (start, count) = (prefix_key(dialect, prefix), prefix.component_count());
        let mut bytes = 0;
        let mut add = |children: &mut Children, component: &[u8]| {
            bytes += component.len();
            children.is_cut |= children.components.len() >= MAX_COMPONENTS || bytes > MAX_BYTES;
            if !children.is_cut {
                children.components.push(component.to_vec());
            }
            !children.is_cut
        };
        let mut from = start.clone();
        while let Some((key, id)) =
            self.objects.catalogue.first_from(&from).filter(|(key, _)| key.starts_with(&start))
        {
            let Some(name) = ObjectName::from_key(key).map(|object| object.name) else { break };
            let Some(child) = name.component(count) else {
                if !self.segments_of(id, &mut |component| add(&mut children, component)) {
                    break;
                }
                // The next key is the first that is greater.
                from = [key.as_ref(), &[0]].concat();
                continue;
            };
            if !add(&mut children, child.value) {
                break;
            }
            from = start.clone();
            child.append_to(&mut from);
            // No component begins with a byte of ones, so this is behind all names with this component.
            from.extend_from_slice(&[0xff; 4]);
        }
        children.components.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        children.components.dedup();
        children
    }

    /// The components by which an object's packets tell their numbers; stops when `tell` says so.
    fn segments_of(&self, id: ObjectId, tell: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Some(object) = self.objects.catalogue.get(id) else { return true };
        let Some(name) = object.name().filter(|name| name.form != crate::key::SegmentForm::Single) else {
            return true;
        };
        let mut next = object.extents.first_segment();
        while let Some(segment) = next {
            let packet = name.packet_name(segment);
            let component = packet.as_ref().last().unwrap_or(Component::generic(&[]));
            if !tell(component.value) {
                return false;
            }
            next = object.extents.next_segment(segment + 1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use packet::NameHasher;
    use packet::ccnx::uri;

    use super::*;
    use crate::disk::SimulatedDisk;
    use crate::testing::ccnx_data;
    use crate::{StoreConfig, StoreKeys};
    use packet::UnixTime;

    #[test]
    fn each_component_behind_a_prefix_is_listed_once_in_canonical_order() {
        let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
        let disk = Arc::new(SimulatedDisk::new(1));
        let (mut store, _) = Store::open(disk, StoreConfig::default(), keys).unwrap();
        for name in ["/f", "/f/b/%00", "/f/b/%00%01", "/f/aa/x", "/f/aa/y", "/f/c", "/f/%00", "/ff/z"] {
            let data = ccnx_data(&format!("ccnx:{name}"), b"content", None);
            store.insert(UnixTime::from_millis(1), &data).unwrap();
        }
        let before = store.changes();
        store.commit().unwrap();
        let children = |uri: &str| store.children(Dialect::Ccnx, uri::parse(uri).unwrap().as_ref());
        let below = children("ccnx:/f");
        assert!(below.changes > before && !below.is_cut);
        let expected: [&[u8]; 4] = [&[0], b"b", b"c", b"aa"];
        assert_eq!(below.components, expected);
        assert_eq!(children("ccnx:/f/b").components, [&[0][..], &[0, 1]]);
        assert_eq!(children("ccnx:/").components, [&b"f"[..], b"ff"]);
        assert!(children("ccnx:/f/c").components.is_empty());
        assert!(store.children(Dialect::Ndn, NameRef::ROOT).components.is_empty());
    }
}
