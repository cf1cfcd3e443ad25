//! Numbers that are types of their own, and what is found by them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use engine::FaceId;

/// A number that tells one of many things of a kind, in the order in which they were added.
pub(crate) trait Id: Copy {
    fn from_index(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $visibility:vis $id:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $id(pub u32);

        impl Id for $id {
            #[inline(always)]
            fn from_index(index: usize) -> Self {
                $id(index as u32)
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )+};
}

ids! {
    /// Number of a node or host, from zero, in the order they were added.
    pub NodeId;
    /// Number of a link, from zero, in the order they were added.
    pub LinkId;
    /// Number of an application, from zero, in the order they were added.
    pub AppId;
    /// An end of a link, in the order in which its nodes were named.
    pub EndId;
    /// One direction of a link, or all of a link that several share.
    pub(crate) ChannelId;
    /// The services at the ends of a link that carries frames.
    pub(crate) FramedId;
    /// A packet in flight.
    pub(crate) PacketId;
    /// A frame in flight.
    pub(crate) FrameId;
    /// A packet, or a frame, that goes on out of order.
    pub(crate) HeldId;
    /// Something that the owner of the network planned.
    pub(crate) PlanId;
    /// A part of a network that runs on a core of its own.
    pub(crate) PartId;
    /// Nodes that stay together in one part.
    pub(crate) ClusterId;
    /// An object of a catalogue, in the order of popularity.
    pub(crate) ObjectId;
    /// A place for an object in a cache.
    pub(crate) SlotId;
    /// A node's cache that has room, in the order of the nodes.
    pub(crate) CacheId;
    /// Somebody from whom requests come, in the order in which they were named.
    pub(crate) ReceiverId;
    /// Somebody who has objects for good, in the order in which they were named.
    pub(crate) SourceId;
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

/// Things of a kind, found by their own kind of number.
#[derive(Debug)]
pub(crate) struct Arena<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena { items: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Arena<I, T> {
    /// The number of the thing that is added next.
    #[inline]
    pub(crate) fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.items.push(item);
        id
    }

    #[inline]
    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    pub(crate) fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn into_values(self) -> std::vec::IntoIter<T> {
        self.items.into_iter()
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }
}

impl<I, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<L: IntoIterator<Item = T>>(items: L) -> Self {
        Arena { items: items.into_iter().collect(), id: PhantomData }
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
