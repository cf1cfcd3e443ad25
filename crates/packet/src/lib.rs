//! What is on the wire: names, Interests, Data and Nacks, the link headers that travel with them, and the
//! encodings of both dialects, NDN and CCNx.
//!
//! A packet is decoded once. Decoding checks everything, finds the components of the name and hashes it under
//! a secret key in one pass, which notes where each prefix ends: the hash of a prefix is finished when it is
//! asked for. Nobody downstream parses bytes again. Views such as
//! [`ndn::InterestView`] borrow the bytes and allocate nothing; owned packets, [`Interest`] and [`Data`],
//! share the received [`Buffer`] and are cheap to clone. Both dialects decode into the same two types.
//!
//! ```
//! use cairn_packet::ndn::InterestBuilder;
//! use cairn_packet::{Interest, NameHasher, PrefixHashes};
//!
//! let sent = InterestBuilder::new("/lab/file/v=1".parse()?).can_be_prefix(true).nonce(7).build()?;
//!
//! let hasher = NameHasher::new([1, 2]);
//! let mut hashes = PrefixHashes::default();
//! let received = Interest::decode_ndn_hashed(sent.wire().clone(), &hasher, &mut hashes)?;
//! assert_eq!(received.name().to_string(), "/lab/file/v=1");
//! assert!(received.can_be_prefix());
//! let prefix = hasher.hash(received.dialect(), received.name().prefix(2).components());
//! assert_eq!(hashes.prefix(2), Some(prefix.whole()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - [`name`]: names, their canonical form and order, their URIs. [`hash`]: the keyed hashes.
//! - [`Packet`], [`interest`], [`data`], [`link_header`]: the model that the rest of Cairn works with.
//! - [`ndn`]: NDN packet format v0.3, and NDNLPv2 in [`ndn::lp`].
//! - [`ccnx`]: ccnb of CCNx 0.8, its management objects, and NDNLP v1.
//! - [`time`], [`random`], [`buffer`]: what protocol code uses instead of clocks, system entropy and receive
//!   buffers.
//! - [`error`]: what is wrong with a packet: the field, the byte, the rule.
//! - [`units`], [`percent`], [`parameters`], [`hex`]: how quantities, settings such as `aimd/beta~0.7` and
//!   bytes are read and written, the same in every command and file. [`registry`]: kinds of a thing by name,
//!   to which programs add their own.

mod brief;
pub mod buffer;
mod build_interest;
pub mod ccnx;
mod counters;
pub mod data;
mod dialect;
mod doubling_wait;
mod drop_reasons;
pub mod error;
mod explicit_rate;
pub mod hash;
pub mod hex;
pub mod interest;
pub mod link_header;
mod link_type;
mod matching;
pub mod name;
pub mod ndn;
mod now;
mod packet;
mod packet_counts;
pub mod parameters;
pub mod percent;
mod quantile;
pub mod random;
pub mod registry;
mod round_trip;
mod sip_hash;
mod span;
pub mod time;
pub mod units;
mod unix_time;

/// The type of Ethernet frames that carry packets of either dialect, as assigned by IEEE.
pub const ETHERTYPE: u16 = 0x8624;

pub use buffer::{Buffer, MemoryId, SpareBuffer};
pub use build_interest::BuildInterest;
pub use data::{ContentType, Data};
pub use dialect::Dialect;
pub use doubling_wait::DoublingWait;
pub use error::{DecodeError, EncodeError, Rule};
pub use explicit_rate::ExplicitRate;
pub use hash::{HashedPrefix, NameHash, NameHasher, PrefixHashes};
pub use interest::{Interest, InterestTemplate, Nonce};
pub use link_header::{CachePolicy, LinkHeader, NackReason, PitToken};
pub use link_type::LinkType;
pub use name::{AnyName, Component, ComponentKind, Name, NameRef, NameScope, WireName};
pub use now::Now;
pub use packet::{Packet, PacketKind};
pub use packet_counts::PacketCounts;
pub use quantile::{median, quantile};
pub use round_trip::{SmoothedRoundTrip, TimeoutBounds};
pub use sip_hash::SipHash;
pub use unix_time::UnixTime;
