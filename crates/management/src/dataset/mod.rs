//! Status datasets: what a forwarder says about itself.
//!
//! A dataset is a sequence of items, cut into segments without regard to where items begin. Decoders of some
//! implementations demand every field at its place, so items are written in exactly one order; reading is
//! tolerant, as it is for commands.

mod channel;
mod content_store;
mod face;
mod fib;
mod general;
mod packet_counts;
mod rib;
mod strategy;
mod totals;

use packet::error::DecodeError;
use packet::ndn::tlv::Reader;

use crate::fields::{self, Fields};

pub use channel::ChannelStatus;
pub use content_store::CsInfo;
pub use face::FaceStatus;
pub use fib::{FibEntry, NextHopRecord};
pub use general::GeneralStatus;
pub use rib::{RibEntry, Route};
pub use strategy::StrategyChoice;
pub use totals::{Dropped, RepositoryTotals, Totals};

/// An item of a dataset that is a list.
pub trait DatasetItem: Sized + sealed::Fields {
    /// The item alone, element type and length included.
    fn encode(&self) -> Vec<u8> {
        encode_list(std::slice::from_ref(self))
    }
}

impl<T: sealed::Fields> DatasetItem for T {}

pub(crate) mod sealed {
    use super::{DecodeError, Fields as FieldReader};

    /// How an item is read and written.
    pub trait Fields: Sized {
        /// TLV-TYPE of the item.
        const KIND: u32;
        /// Its name in the specification.
        const FIELD: &'static str;
        #[allow(private_interfaces, reason = "sealed: nobody else can call it")]
        fn read(fields: &FieldReader<'_>) -> Result<Self, DecodeError>;
        fn write(&self, out: &mut Vec<u8>);
    }
}

/// The content of the dataset that lists `items`.
pub fn encode_list<T: DatasetItem>(items: &[T]) -> Vec<u8> {
    let mut out = Vec::new();
    for item in items {
        fields::write_container(&mut out, T::KIND, |out| item.write(out));
    }
    out
}

/// The items in the content of a dataset. Elements of other types are passed over.
///
/// # Errors
/// A malformed element, or an item with a field missing or malformed.
pub fn decode_list<T: DatasetItem>(content: &[u8]) -> Result<Vec<T>, DecodeError> {
    let list = Fields::new(Reader::new(content, T::FIELD))?;
    list.all(T::KIND).map(|element| T::read(&list.inside(element, T::FIELD)?)).collect()
}
