//! NDNLP version 1: the link protocol for CCNx, as its paper describes it (NDN-0006, "NDNLP: A Link Protocol
//! for NDN", Shi and Zhang).
//!
//! [`LinkService`] is one end of a link connection. Its parts have the paper's names: the partial message
//! store, the acknowledgement queue, the sent packet store.
//!
//! ```
//! use cairn_link::v1::{Config, LinkService};
//! use packet::Buffer;
//! use packet::random::Random;
//! use packet::time::Instant;
//!
//! let now = Instant::ZERO;
//! let config = Config { request_acks: true, ..Config::default() };
//! let mut near = LinkService::new(config.clone(), Random::from_seed(1))?;
//! let mut far = LinkService::new(config, Random::from_seed(2))?;
//!
//! near.send(now, Buffer::from(vec![0x2a; 6994]))?;
//! let mut frame = Vec::new();
//! let mut frames = 0;
//! while near.poll_transmit(now, &mut frame).is_some() {
//!     far.receive(now, &frame)?;
//!     frame.clear();
//!     frames += 1;
//! }
//! assert_eq!(frames, 5); // as in the paper's figure 4
//! assert_eq!(far.poll_deliver().map(|message| message.len()), Some(6994));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Beside the paper and ndnld
//!
//! Where the paper and its implementation, ndnld of 2012, differ, this follows the paper; where the paper
//! leaves something open, the choice is:
//!
//! | | paper | ndnld | here |
//! |---|---|---|---|
//! | incomplete messages | discarded "after some time" | kept for ever | discarded after [`Config::partial_timeout`] |
//! | pre-allocation | to be limited | up to 1 MiB a message | [`Config::max_preallocated_bytes`], then a list of fragments |
//! | repeated packets | fragments already there are ignored | a repeated whole message is delivered again | acknowledged again and dropped |
//! | acknowledgements | leave within the acknowledge time | every acknowledge time, the first at once | within the acknowledge time, ascending |
//! | retry count | retries beside the first transmission | the same, but zero gives one | the paper's |
//! | after the last retry | open | the packet is forgotten at once | after one more retransmit time, the message is lost |
//! | flag RLA | "bit 0" | `0x8000` | `0x8000` |
//! | messages | CCNx messages | must be one whole ccnb element | not looked into: whoever decodes the message checks that |
//!
//! Acknowledgements ascend across the wrap of the sequence. A message that is lost is reported, and its other
//! packets are forgotten.
//!
//! Ports, addresses and the control protocol are not the link service's business.

mod acknowledgements;
mod config;
mod outgoing;
mod pacing;
mod partial_messages;
mod sent_packets;
mod service;
mod timings;

pub use config::{Config, ConfigError, MIN_MTU_BYTES, UDP_MTU_BYTES};
pub use pacing::PacingConfig;
pub use service::{Counters, LinkService, Usage};
pub use timings::Timings;

/// The dialect of the messages that NDNLP v1 carries.
pub const DIALECT: packet::Dialect = packet::Dialect::Ccnx;
