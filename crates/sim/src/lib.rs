//! A network in virtual time: links, clocks, queues, nodes and applications.
//!
//! The nodes are the very engines that the daemon runs, and where it is asked for, links run the very link
//! services. What is simulated is the rest: how fast links are, how long their queues, how far apart the
//! nodes, how coarse their clocks. A [`Network`] owns no clock, no socket and no file, and all its randomness
//! comes from one seed: the same calls do the same to the bit, on any machine.
//!
//! ```
//! use packet::time::Duration;
//! use cairn_sim::{Consumer, LinkConfig, Network, Producer, Queue};
//!
//! // Two consumers share a bottleneck of 10 Mbit/s on the way to two producers.
//! let mut network = Network::new(7);
//! let fast = LinkConfig::ideal().mbps(100.0).millis(1);
//! let bottleneck = LinkConfig::ideal().mbps(10.0).millis(20).queue(Queue::packets(100));
//! let dumbbell = network.dumbbell(2, &fast, &bottleneck)?;
//!
//! let mut consumers = Vec::new();
//! for (left, right, prefix) in [(0, 0, "/news"), (1, 1, "/video")] {
//!     network.add_producer(dumbbell.right[right], prefix, Producer::of_packet_size(1250))?;
//!     consumers.push(network.add_application(dumbbell.left[left], Consumer::window(prefix, 30)?)?);
//! }
//! network.route_shortest_paths()?;
//! network.run_for(Duration::from_secs(10))?;
//!
//! let megabits = |id| network.consumer(id).map_or(0.0, |r| r.packet_bytes as f64 * 8.0 / 10.0 / 1e6);
//! let (news, video) = (megabits(consumers[0]), megabits(consumers[1]));
//! assert!(news + video > 9.5 && (news / video - 1.0).abs() < 0.1, "{news} {video}");
//! # Ok::<(), cairn_sim::SimError>(())
//! ```
//!
//! # Where things are
//! - [`Network`]: how a network is built, run, changed and looked at.
//! - [`LinkConfig`], [`Queue`], [`Faults`], [`ProcessorConfig`], [`Clock`]: what is simulated, and how.
//! - [`Application`]: what runs at the ends, and [`Consumer`], [`Producer`], [`Flooder`];
//!   [`TransferConsumer`], [`WorkloadConsumer`], [`FileFetcher`], [`VerifiedFetcher`] and [`Publisher`] drive
//!   the machines of the crate `flow`; [`SourceProducer`] answers from any of its sources;
//!   [`CheckedConsumer`] and [`CheckedProducer`] tell what must not happen, for tests.
//! - [`study_cache`], [`CacheNetwork`]: caches without packets.
//! - [`Network::set_cores`]: several cores for one network.
//! - [`Network::add_tap`]: whatever watches or changes the frames of a face, as in the daemon.
//! - [`paths`]: shortest paths, also of networks that are not simulated.
//! - [`trace`]: what happened, as records, tables and capture files.
//! - [`swarm`]: random networks that must heal.
//! - [`arena`]: numbers that are types of their own, and lists found by them.
//! - [`topology`]: networks of many nodes, drawn or read from other people's files.

mod application;
pub mod arena;
mod caches;
mod core;
mod dialect;
mod error;
mod events;
mod into_name;
mod link;
mod network;
mod node;
mod occupancy;
mod parallel;
pub mod paths;
pub mod swarm;
pub mod topology;
pub mod trace;

/// The Rust in the page for beginners is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/first-simulation.md")]
pub struct FirstSimulation;

pub use application::{
    Application, CheckedConsumer, CheckedProducer, Consumer, ConsumerReport, Context, Fetched, FileFetcher,
    Flooder, FlooderReport, NumberedNames, Outcome, Produce, Producer, ProducerReport, Publisher,
    SourceProducer, TransferConsumer, VerificationTime, VerifiedFetcher, WorkloadConsumer, number_of,
};
pub use arena::{AppId, EndId, LinkId, NodeId};
pub use caches::{
    CacheNetwork, CacheNetworkError, CacheNetworkReport, CacheReport, CopyPlacement, study_cache,
    study_eviction,
};
pub use dialect::request::Request;
pub use error::SimError;
pub use events::simultaneous::SimultaneousOrder;
pub use into_name::IntoName;
pub use link::{
    ChannelCounters, CoDel, CoDelAction, Faults, Framing, LinkConfig, LinkDropCounters, LinkDropReason, Queue,
};
pub use network::Network;
pub use network::checks::InvariantViolation;
pub use node::clock::Clock;
pub use node::cpu_share::{CpuQuota, CpuShare};
pub use node::processor::{FaceTimes, KindTimes, ProcessorConfig};
pub use node::waking::{KindWaking, Waking};
pub use occupancy::{Occupancy, OccupancyKnot};
pub use topology::Dumbbell;
pub use trace::{Trace, TraceConfig};
