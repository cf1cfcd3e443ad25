//! NDNLPv2: the link protocol of NDN faces.
//!
//! [`LinkService`] is one end of a link. Its parts: the fragmenter decides how to cut packets that exceed the
//! MTU, the reassembler puts them together, reliability numbers, acknowledges and repeats transmissions, the
//! congestion marker watches the send queue, parity lets many receivers rebuild what each of them missed.
//!
//! ```
//! use cairn_link::v2::{Config, EndpointId, LinkService};
//! use packet::random::Random;
//! use packet::time::Instant;
//! use packet::{Buffer, LinkHeader};
//!
//! let now = Instant::ZERO;
//! let config = Config { transport_mtu_bytes: Some(100), ..Config::default() };
//! let mut near = LinkService::new(config.clone(), Random::from_seed(1))?;
//! let mut far = LinkService::new(config, Random::from_seed(2))?;
//!
//! let mut data = vec![0x06, 200];
//! data.resize(202, 0xda);
//! near.send(now, LinkHeader::default(), None, Buffer::from(data.clone()))?;
//!
//! let mut frame = Vec::new();
//! while near.poll_transmit(now, &mut frame).is_some() {
//!     assert!(frame.len() <= 100);
//!     far.receive(now, EndpointId(0), &frame)?;
//!     frame.clear();
//! }
//! let delivery = far.poll_deliver().unwrap();
//! assert_eq!(*delivery.packet, *data);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod congestion;
mod fields;
mod fragmenter;
mod outgoing;
mod pacing;
mod parity;
mod reassembler;
mod reliability;
mod report;
mod results;
mod rto;
mod service;

pub use config::{
    Config, ConfigError, FragmentationConfig, MIN_MTU_BYTES, ReassemblyConfig, ReliabilityConfig,
};
pub use congestion::CongestionConfig;
pub use pacing::echo::answer_echo;
pub use pacing::{MIN_STOCK_BUFFER_BYTES, PacingConfig};
pub use parity::ParityConfig;
pub use report::{Counters, ParityCounters, Usage};
pub use results::{Delivery, EndpointId, Framed, Received};
pub use service::LinkService;

/// The dialect of the packets that NDNLPv2 carries.
pub const DIALECT: packet::Dialect = packet::Dialect::Ndn;
