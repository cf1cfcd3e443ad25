//! Numbers that are types of their own, and what is found by them.
//!
//! ```
//! use cairn_sim::arena::Arena;
//!
//! cairn_sim::ids! {
//!     /// A router's place in a list.
//!     pub RouterId(u32);
//! }
//!
//! let mut names: Arena<RouterId, &str> = Arena::default();
//! let berlin = names.push("Berlin");
//! assert_eq!((berlin, names[berlin]), (RouterId(0), "Berlin"));
//! assert_eq!(names.position(|name| *name == "Paris"), None);
//! ```

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use engine::{CachedId, FaceId};
use serde::{Deserialize, Serialize};

/// A number that tells one of many things of a kind, in the order in which they were added.
pub trait Id: Copy {
    /// The number of what stands at a place, counted from zero.
    fn from_index(index: usize) -> Self;
    /// The place, counted from zero.
    fn index(self) -> usize;
}

/// Declares numbers that are types of their own, each an [`Id`](crate::arena::Id).
#[macro_export]
macro_rules! ids {
    ($($(#[$attribute:meta])+ $visibility:vis $id:ident($number:ty);)+) => {$(
        $(#[$attribute])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $id(pub $number);

        impl $crate::arena::Id for $id {
            #[inline(always)]
            fn from_index(index: usize) -> Self {
                $id(index as $number)
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $id {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::write!(f, "{}", self.0)
            }
        }
    )+};
}

ids! {
    /// Number of a node or host, from zero, in the order they were added.
    pub NodeId(u32);
    /// Number of a link, from zero, in the order they were added.
    pub LinkId(u32);
    /// Number of an application, from zero, in the order they were added.
    pub AppId(u32);
    /// An end of a link, in the order in which its nodes were named.
    pub EndId(u32);
    /// One direction of a link, or all of a link that several share.
    pub(crate) ChannelId(u32);
    /// The services at the ends of a link that carries frames.
    pub(crate) FramedId(u32);
    /// A packet in flight.
    pub(crate) PacketId(u32);
    /// A frame in flight.
    pub(crate) FrameId(u32);
    /// A packet, or a frame, that goes on out of order.
    pub(crate) HeldId(u32);
    /// Something that the owner of the network planned.
    pub(crate) PlanId(u32);
    /// A part of a network that runs on a core of its own.
    pub(crate) PartId(u32);
    /// Nodes that stay together in one part.
    pub(crate) ClusterId(u32);
    /// An object of a catalogue, in the order of popularity.
    pub(crate) ObjectId(u32);
    /// A node's cache that has room, in the order of the nodes.
    pub(crate) CacheId(u32);
    /// Somebody from whom requests come, in the order in which they were named.
    pub(crate) ReceiverId(u32);
    /// Somebody who has objects for good, in the order in which they were named.
    pub(crate) SourceId(u32);
}

/// Faces of a node are numbered from the first that is not reserved.
impl Id for FaceId {
    #[inline(always)]
    fn from_index(index: usize) -> Self {
        FaceId(FaceId::LAST_RESERVED.0 + 1 + index as u32)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.0.wrapping_sub(FaceId::LAST_RESERVED.0 + 1) as usize
    }
}

impl Id for CachedId {
    #[inline(always)]
    fn from_index(index: usize) -> Self {
        CachedId(index as u32)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Things of a kind, found by their own kind of number; in a file a plain list. Without numbers they are a
/// slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arena<I, T> {
    items: Vec<T>,
    #[serde(skip)]
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> Arena<I, T> {
    /// One for each of what another list has, in its order.
    pub fn filled(like: &Arena<I, impl Sized>, item: T) -> Self
    where
        T: Clone,
    {
        vec![item; like.len()].into()
    }

    /// The number of the thing that is added next.
    #[inline]
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    /// Adds one at the end, and says its number.
    #[inline]
    pub fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    /// The one of that number.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The one of that number, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// All, without numbers.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// All numbers, in their order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// All with their numbers.
    pub fn indexed(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// All with their numbers, to be changed.
    pub fn indexed_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> + ExactSizeIterator {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// The number of the first that is so.
    pub fn position(&self, is_so: impl FnMut(&T) -> bool) -> Option<I> {
        self.items.iter().position(is_so).map(I::from_index)
    }
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T> From<Vec<T>> for Arena<I, T> {
    fn from(items: Vec<T>) -> Self {
        Arena { items, id: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<L: IntoIterator<Item = T>>(items: L) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> IntoIterator for Arena<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a Arena<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Arena<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

/// What a slice can without numbers.
impl<I, T> Deref for Arena<I, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for Arena<I, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: Id, T> Index<I> for Arena<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Arena<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// Things that come and go: a number is free for another when its thing has been taken.
#[derive(Debug)]
pub(crate) struct Pool<I, T> {
    slots: Arena<I, T>,
    free: Vec<I>,
}

impl<I, T> Default for Pool<I, T> {
    fn default() -> Self {
        Pool { slots: Arena::default(), free: Vec::new() }
    }
}

impl<I: Id, T: Default> Pool<I, T> {
    pub(crate) fn add(&mut self, item: T) -> I {
        match self.free.pop() {
            Some(id) => {
                self.slots[id] = item;
                id
            }
            None => self.slots.push(item),
        }
    }

    pub(crate) fn get(&self, id: I) -> &T {
        &self.slots[id]
    }

    pub(crate) fn take(&mut self, id: I) -> T {
        self.free.push(id);
        std::mem::take(&mut self.slots[id])
    }
}
