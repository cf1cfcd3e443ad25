//! All objects, in memory: found by name, in order, by number.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use packet::{Dialect, NameRef};

use crate::key::{Key, prefix_key};
use crate::memory_objects::HotObjects;
use crate::object::{Object, ObjectId};

/// All objects.
#[derive(Debug, Default)]
pub struct Catalogue {
    objects: Vec<Option<Object>>,
    free: Vec<ObjectId>,
    by_key: BTreeMap<Key, ObjectId>,
    /// What others see of objects; one that changes is not among them.
    hot: Arc<HotObjects>,
}

impl Catalogue {
    /// Those objects, whose keys are in order.
    pub(crate) fn of_sorted(objects: Vec<Object>) -> Self {
        let keys = objects.iter().enumerate().map(|(id, object)| (object.key.clone(), id as ObjectId));
        Catalogue {
            by_key: keys.collect(),
            // In the same memory.
            objects: objects.into_iter().map(Some).collect(),
            ..Catalogue::default()
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// One object.
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id as usize)?.as_ref()
    }

    /// One object, to be changed.
    pub fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.hot.hide(id);
        self.objects.get_mut(id as usize)?.as_mut()
    }

    /// The object with this key.
    pub fn find(&self, key: &[u8]) -> Option<ObjectId> {
        self.by_key.get(key).copied()
    }

    /// Adds an object whose key and number are new.
    pub fn add(&mut self, object: Object) -> ObjectId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.objects.push(None);
            (self.objects.len() - 1) as ObjectId
        });
        self.by_key.insert(object.key.clone(), id);
        if let Some(place) = self.objects.get_mut(id as usize) {
            *place = Some(object);
        }
        id
    }

    /// Takes an object out.
    pub fn remove(&mut self, id: ObjectId) -> Option<Object> {
        self.hot.hide(id);
        let object = self.objects.get_mut(id as usize)?.take()?;
        self.by_key.remove(&object.key);
        self.free.push(id);
        Some(object)
    }

    /// All objects whose names begin with `prefix`, in canonical order of names.
    pub fn below(&self, dialect: Dialect, prefix: NameRef<'_>) -> impl Iterator<Item = ObjectId> {
        self.below_key(prefix_key(dialect, prefix))
    }

    /// All objects whose keys begin with `start`.
    pub(crate) fn below_key(&self, start: Vec<u8>) -> impl Iterator<Item = ObjectId> {
        let bounds = (Bound::Included(start.as_slice()), Bound::Unbounded);
        let range = self.by_key.range::<[u8], _>(bounds);
        range.take_while(move |(key, _)| key.starts_with(&start)).map(|(_, &id)| id)
    }

    /// The same, the last one first.
    pub(crate) fn below_key_reversed(&self, start: &[u8]) -> impl Iterator<Item = ObjectId> + use<'_> {
        // No component begins with a byte of ones, so this is behind all that begin with `start`.
        let end = [start, &[0xff; 4]].concat();
        let bounds = (Bound::Included(start), Bound::Included(end.as_slice()));
        let range = self.by_key.range::<[u8], _>(bounds);
        range.rev().map(|(_, &id)| id)
    }

    /// The first object whose key is `from` or behind it.
    pub(crate) fn first_from(&self, from: &[u8]) -> Option<(&Key, ObjectId)> {
        let bounds = (Bound::Included(from), Bound::Unbounded);
        self.by_key.range::<[u8], _>(bounds).next().map(|(key, &id)| (key, id))
    }

    /// The key of the last object before `end`.
    pub(crate) fn last_before(&self, end: &[u8]) -> Option<&Key> {
        let bounds = (Bound::Unbounded, Bound::Excluded(end));
        self.by_key.range::<[u8], _>(bounds).next_back().map(|(key, _)| key)
    }

    /// Objects that the data plane reads by itself.
    pub(crate) fn hot(&self) -> &Arc<HotObjects> {
        &self.hot
    }

    /// All objects, in canonical order of names.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.by_key.values().filter_map(|&id| Some((id, self.get(id)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectName;
    use packet::Name;

    fn catalogue(uris: &[&str]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (number, uri) in uris.iter().enumerate() {
            let name: Name = uri.parse().unwrap();
            let key = ObjectName::of_packet(Dialect::Ndn, name.as_ref()).0.key();
            catalogue.add(Object::new(key.into(), number as u64));
        }
        catalogue
    }

    #[test]
    fn what_is_below_a_prefix_is_found_in_order_from_either_side() {
        let long = format!("/a/c/{}", "x".repeat(70_00));
        let catalogue = catalogue(&["/b", "/a/c", &long, "/ab", "/a", "/a/v=2/seg=0", "/a/v=10/seg=3"]);
        let prefix: Name = "/a".parse().unwrap();
        let names = |ids: Vec<ObjectId>| -> Vec<u64> {
            ids.iter().map(|&id| catalogue.get(id).unwrap().number).collect()
        };
        assert_eq!(names(catalogue.below(Dialect::Ndn, prefix.as_ref()).collect()), [4, 1, 2, 5, 6]);
        let key = prefix_key(Dialect::Ndn, prefix.as_ref());
        assert_eq!(names(catalogue.below_key_reversed(&key).collect()), [6, 5, 2, 1, 4]);
        assert_eq!(catalogue.below(Dialect::Ccnx, prefix.as_ref()).count(), 0);
    }

    #[test]
    fn places_are_used_again_and_numbers_are_not() {
        let mut catalogue = catalogue(&["/a", "/b"]);
        let a = catalogue.iter().next().unwrap().0;
        assert_eq!(catalogue.remove(a).unwrap().number, 0);
        assert!(catalogue.get(a).is_none());
        let c = catalogue.add(Object::new([1, 8, 1, 99, 0, 1][..].into(), 7));
        assert_eq!((a, catalogue.get(c).unwrap().number, catalogue.len()), (c, 7, 2));
    }
}
