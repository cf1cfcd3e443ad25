//! The CCNx dialect: ccnb of CCNx 0.8, and the NDNLP v1 link protocol that was written for it.

pub mod block;
pub mod bloom;
pub mod content_object;
pub mod dtag;
pub mod exclude;
pub mod framer;
pub mod interest;
pub mod management;
pub mod matching;
pub mod message;
pub mod name;
pub mod ndnlp;
pub mod pdu;
pub mod reader;
pub mod selectors;
pub mod signed_info;
pub mod ticks;
pub mod uri;

pub use content_object::{ContentObjectFields, ContentObjectView, Signature};
pub use dtag::Dtag;
pub use exclude::{Exclude, ExcludeEntry, ExcludeRef};
pub use framer::{Framer, message_len};
pub use interest::{InterestFields, InterestView};
pub use matching::matches;
pub use message::Message;
pub use name::{CcnxNameRef, NameSource};
pub use pdu::SequenceNumber;
pub use reader::Reader;
pub use selectors::{AnswerOriginKind, ChildSelector, PublisherId, PublisherIdKind, Scope};
pub use signed_info::{ContentKind, KeyLocator, SignedInfo};
pub use ticks::Ticks;

pub(crate) use content_object::Layout as ContentObjectLayout;
pub(crate) use interest::{Layout as InterestLayout, with_nonce};

use crate::span::Span;

/// The largest Interest or ContentObject that is read. CCNx 0.8.2 refuses longer Interests.
pub const MAX_MESSAGE_BYTES: usize = 65_535;

/// The largest Interest or ContentObject that is written, which is as much as every CCNx peer reads.
pub const MAX_ENCODED_BYTES: usize = 8_800;

/// Where in `wire` the bytes of `part` are, which were borrowed from it.
#[inline]
fn span_in(wire: &[u8], part: &[u8]) -> Span {
    let start = part.as_ptr() as usize - wire.as_ptr() as usize;
    Span::new(start, start + part.len())
}
