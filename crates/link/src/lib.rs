//! One hop.
//!
//! A face hands network packets to a link service and puts the frames it gets back on its socket; frames from the
//! socket go in, network packets come out. The service cuts packets that exceed the link's MTU, puts them together
//! again, and, when asked to, notices losses and repairs them.
//!
//! - [`v2`]: NDNLPv2, for NDN faces.
//! - [`v1`]: NDNLP version 1, for CCNx faces.
//! - [`Impairment`] and [`Wire`]: a bad link on purpose, with a seed, for tests, the simulator and the daemon.
//!
//! Nothing here owns a socket, a clock or a thread. Every service has the same four kinds of method: getters;
//! `receive` and `handle_*`, with which the world tells it something; `send`, the one command; and `poll_*` with
//! `next_deadline`, which hand out its effects.
//!
//! Integrity is not a matter of the link: a frame that arrives changed is dropped only when it no longer decodes.
//! What is delivered must be checked by whoever needs to trust it, by the signature it carries.

mod aged_map;
mod drop_reason;
mod impairment;
mod recent_sequences;
mod tap;
pub mod v1;
pub mod v2;
mod wire;

pub use drop_reason::{DropCounters, DropReason};
pub use impairment::{Fault, Impairment, ImpairmentConfig, Judgement};
pub use tap::{Direction, Fate, FrameTap};
pub use wire::Wire;
