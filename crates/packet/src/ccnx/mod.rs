//! The CCNx dialect: ccnb of CCNx 0.8, and the NDNLP v1 link protocol that was written for it.
//!
//! CCNx 0.8 is what NDN grew out of: an Interest asks for a name or a prefix of it, with
//! [selectors](InterestFields) to choose among the answers, and a signed ContentObject answers. On the wire
//! both are binary XML, in which an element says what it is but not how long it is. The layers, from the
//! bottom:
//!
//! * [`block`], [`dtag`], [`reader`], [`framer`]: the encoding; nothing in them knows what an Interest is.
//! * [`name`], [`markers`], [`uri`], [`exclude`], [`selectors`], [`signed_info`], [`ticks`]: the parts that
//!   messages are made of.
//! * [`interest`], [`content_object`], [`pdu`], [`message`]: what is sent between hosts; [`matching`]: which
//!   of them belong together.
//! * [`management`]: what is in the Content of the messages that control ccnd, ndnld and repositories.
//! * [`ndnlp`]: the packets that carry messages over one link.
//!
//! Decoders borrow: a view holds the received bytes and the places of the fields, everything in it has been
//! checked, and nothing was copied. They are strict where being lenient would give one message two spellings,
//! or where every CCNx peer is strict, too: elements stand in one order and unknown ones are refused.
//! Encoders write what decoders accept, into a buffer whose length was known beforehand.
//!
//! ```
//! use cairn_packet::ccnx::{ContentObjectFields, ContentObjectView, InterestFields, InterestView};
//! use cairn_packet::ccnx::{SignedInfo, Ticks, matches, uri};
//! use cairn_packet::EncodeError;
//!
//! let prefix = uri::parse("ccnx:/parc.com/hello")?;
//! let interest = InterestFields { nonce: Some(b"once"), ..InterestFields::default() }.encode(&prefix)?;
//!
//! let name = uri::parse("ccnx:/parc.com/hello/=FD0499602D2000")?;
//! let object = ContentObjectFields {
//!     name: (&name).into(),
//!     signed_info: SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0)),
//!     content: b"world",
//! };
//! let object = object.encode(None, |signed_bytes| Ok::<_, EncodeError>(sign(signed_bytes)))?;
//!
//! assert!(matches(&InterestView::decode(&interest)?, &ContentObjectView::decode(&object)?));
//! # fn sign(_: &[u8]) -> [u8; 16] { [0; 16] }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod block;
pub mod bloom;
pub mod content_object;
pub mod dtag;
pub mod exclude;
pub mod framer;
pub mod interest;
pub mod management;
pub mod markers;
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
pub use exclude::{Exclude, ExcludeEntry, ExcludeRef, SortedExclude};
pub use framer::{Framer, message_len};
pub use interest::{InterestFields, InterestView};
pub use matching::{matches, matches_with_digest};
pub use message::Message;
pub use name::{CcnxNameRef, NameSource};
pub use pdu::SequenceNumber;
pub use reader::Reader;
pub use selectors::{AnswerOriginKind, ChildSelector, PublisherId, PublisherIdKind, Scope};
pub use signed_info::{ContentKind, KeyLocator, SignedInfo};
pub use ticks::Ticks;

pub(crate) use interest::{with_nonce, without_face_id};
pub(crate) use name::LazyCanonical;

use crate::error::{DecodeError, Rule};
use crate::span::Span;

/// The port of CCNx over UDP and TCP (`CCN_DEFAULT_UNICAST_PORT` of CCNx 0.8).
pub const PORT: u16 = 9695;

/// The largest Interest or ContentObject that is read. CCNx 0.8.2 refuses longer Interests.
pub const MAX_MESSAGE_BYTES: usize = 65_535;

/// The largest Interest or ContentObject that is written, which is as much as every CCNx peer reads.
pub const MAX_ENCODED_BYTES: usize = 8_800;

/// Reads `wire`, all of which is to be one message, called `what`.
#[inline(always)]
fn whole_message<'a>(wire: &'a [u8], what: &'static str) -> Result<Reader<'a>, DecodeError> {
    if wire.len() > MAX_MESSAGE_BYTES {
        let rule = Rule::TooLarge { size: wire.len(), limit: MAX_MESSAGE_BYTES };
        return Err(DecodeError::new(what, 0, rule));
    }
    Ok(Reader::new(wire, what))
}

/// Reads the message that `bytes` begin with, called `what`.
#[inline(always)]
fn first_message<'a>(bytes: &'a [u8], what: &'static str) -> Reader<'a> {
    Reader::new(bytes.get(..MAX_MESSAGE_BYTES).unwrap_or(bytes), what)
}

/// Where in `wire` the bytes of `part` are, which were borrowed from it.
#[inline]
fn span_in(wire: &[u8], part: &[u8]) -> Span {
    let start = part.as_ptr() as usize - wire.as_ptr() as usize;
    Span::new(start, start + part.len())
}
