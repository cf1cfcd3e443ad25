//! A node's and a link's number in a plan: types of their own, so that neither is taken for the other.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::{LinkPlan, NodePlan};

/// A number by which one thing of an [`IndexVec`] is found.
pub trait PlanIndex: Copy {
    /// The number of what stands at a place, counted from zero.
    fn from_place(place: usize) -> Self;
    /// The place, counted from zero.
    fn place(self) -> usize;
}

macro_rules! indices {
    ($($(#[doc = $doc:literal])+ $index:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $index(pub usize);

        impl PlanIndex for $index {
            fn from_place(place: usize) -> Self {
                $index(place)
            }

            fn place(self) -> usize {
                self.0
            }
        }

        impl fmt::Display for $index {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )+};
}

indices! {
    /// A node's place in [`Plan::nodes`](super::Plan::nodes).
    NodeIndex;
    /// A link's place in [`Plan::links`](super::Plan::links).
    LinkIndex;
}

/// The nodes of a plan.
pub type Nodes = IndexVec<NodeIndex, NodePlan>;
/// The links of a plan.
pub type Links = IndexVec<LinkIndex, LinkPlan>;

/// Things of a kind, found by their own kind of number; in a file a plain list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    #[serde(skip)]
    index: PhantomData<fn(I)>,
}

impl<I: PlanIndex, T> IndexVec<I, T> {
    /// One for each of what another list has, in its order.
    pub fn filled(like: &IndexVec<I, impl Sized>, item: T) -> Self
    where
        T: Clone,
    {
        vec![item; like.len()].into()
    }

    /// Adds one at the end, and says its number.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_place(self.items.len() - 1)
    }

    /// The one of that number.
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.place())
    }

    /// The one of that number, to be changed.
    pub fn get_mut(&mut self, index: I) -> Option<&mut T> {
        self.items.get_mut(index.place())
    }

    /// All, without numbers.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// All numbers, in their order.
    pub fn indices(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_place)
    }

    /// All with their numbers.
    pub fn indexed(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(place, item)| (I::from_place(place), item))
    }

    /// The number of the first that is so.
    pub fn position(&self, is_so: impl FnMut(&T) -> bool) -> Option<I> {
        self.items.iter().position(is_so).map(I::from_place)
    }
}

impl<I, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        IndexVec { items, index: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<L: IntoIterator<Item = T>>(items: L) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> IntoIterator for IndexVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IndexVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

/// What a slice can without numbers.
impl<I, T> Deref for IndexVec<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for IndexVec<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: PlanIndex, T> Index<I> for IndexVec<I, T> {
    type Output = T;

    fn index(&self, index: I) -> &T {
        &self.items[index.place()]
    }
}

impl<I: PlanIndex, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.place()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_a_plan_is_a_plain_list_in_a_file() {
        let mut list: IndexVec<NodeIndex, &str> = IndexVec::default();
        assert_eq!(list.push("a"), NodeIndex(0));
        assert_eq!(list.push("b"), NodeIndex(1));
        let written = serde_json::to_string(&(&list, LinkIndex(4))).unwrap();
        assert_eq!(written, r#"[["a","b"],4]"#);
        let read: (IndexVec<NodeIndex, String>, LinkIndex) = serde_json::from_str(&written).unwrap();
        assert_eq!(read.0[NodeIndex(1)], "b");
        assert_eq!(read.0.position(|name| name == "b"), Some(NodeIndex(1)));
        assert_eq!(read.1, LinkIndex(4));
    }
}
