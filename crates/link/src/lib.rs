//! What happens between two neighbours: fragmentation, reassembly, acknowledgement, retransmission.
//!
//! A face passes network packets to a link service and sends the frames that it gets back; it passes received
//! frames in and gets network packets. The service fragments packets that exceed the link's MTU, reassembles
//! them at the other end, and, if configured, notices losses and repairs them.
//!
//! - [`v2`]: NDNLPv2, for NDN faces.
//! - [`v1`]: NDNLP version 1, for CCNx faces.
//! - [`Impairment`] and [`Wire`]: a bad link on purpose, with a seed, for the daemon and for tests.
//!   [`FaultStreams`] is what of it the simulator needs.
//!
//! Nothing here owns a socket, a clock or a thread. Every service has the same kinds of method: getters;
//! commands, of which `send` is the one that every packet takes, beside what changes the settings and what
//! makes room (`evict_*`); `receive` and `handle_*`, with which the world tells it something; and `poll_*`
//! with `next_deadline`, which hand out its effects.
//!
//! Four methods of [`v2::LinkService`] exist for speed alone, and do what `send` and `receive` do without a
//! copy where that is possible: `frame` and `frame_bare` give the frame of a packet that needs but one;
//! `receive_frame` and `receive_bare` take what was received in a buffer of its own.
//!
//! ```
//! use cairn_link::v2::{Config, EndpointId, LinkService, ReliabilityConfig};
//! use cairn_link::{Faults, Impairment, Wire};
//! use packet::random::Random;
//! use packet::time::Instant;
//! use packet::{Buffer, LinkHeader};
//!
//! // A link that loses every third frame, and two ends that notice.
//! let config = Config { reliability: Some(ReliabilityConfig::default()), ..Config::default() };
//! let mut near = LinkService::new(config.clone(), Random::from_seed(1))?;
//! let mut far = LinkService::new(config, Random::from_seed(2))?;
//! let lossy = Faults { loss: 0.33, ..Faults::NONE };
//! let mut wire = Wire::new(Impairment::new(lossy.into(), 4), 100);
//!
//! let interest = Buffer::from(vec![0x05, 0x05, 0x07, 0x03, 0x08, 0x01, b'A']);
//! let mut now = Instant::ZERO;
//! near.send(now, LinkHeader::default(), None, interest.clone())?;
//! let delivery = loop {
//!     let mut frame = Vec::new();
//!     while near.poll_transmit(now, &mut frame).is_some() {
//!         wire.send(now, std::mem::take(&mut frame));
//!     }
//!     while let Some(frame) = wire.poll_deliver(now) {
//!         far.receive(now, EndpointId(0), &frame)?;
//!     }
//!     if let Some(delivery) = far.poll_deliver() {
//!         break delivery;
//!     }
//!     // Nothing came through: wait until the sender tries again.
//!     now = near.next_deadline();
//!     assert!(now < Instant::NEVER, "given up after three retries");
//!     near.handle_timeout(now);
//! };
//! assert_eq!(delivery.packet, interest);
//! assert_eq!(now, Instant::from_secs(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A link does not check integrity: it drops a changed frame only if the frame can no longer be decoded.
//! Receivers that need to trust a packet check the signature that the packet carries.

mod aged_map;
mod drop_reason;
mod impairment;
mod recent_sequences;
mod tap;
mod transmission;
pub mod v1;
pub mod v2;
mod wire;

pub use drop_reason::{DropCounters, DropReason};
pub use impairment::{
    Arrivals, Fault, FaultStreams, Faults, Impairment, ImpairmentConfig, ImpairmentVerdict, flip_bit,
};
pub use tap::{Direction, FrameTap, TapVerdict, show_to_taps};
pub use transmission::Transmission;
pub use wire::Wire;
