//! Applications on real sockets: a connection to a forwarder, consumers and producers.
//!
//! A [`Connection`] is one socket to a forwarder, in the dialect that it speaks: Interests, Data and Nacks go
//! in and come out, many for each system call. It blocks, with a deadline, and one thread is enough. With the
//! feature `async`, `AsyncClient` does the same in tasks of tokio. On top of a connection:
//!
//! - [`Client::ask`] asks for one Data; [`Client::express`] for many at once, and [`Client::next`] says what
//!   came of each;
//! - [`Client::get`] fetches an object into memory, a file or anything that can be written to, and verifies
//!   every packet as [`Trust`] says; [`Client::fetch`] is the same with everything in one's own hands;
//! - [`Client::serve`] answers Interests under a prefix from a source of Data, such as a file or folder in
//!   [`files`], a function, or packets in memory, while the client does anything else, a fetch too;
//! - [`Client::register`] asks the forwarder for Interests under a prefix, and [`Client::next`] hands them
//!   out;
//! - when the forwarder goes away the client connects again and registers again, see [`Client::when_gone`].
//!
//! ```no_run
//! use cairn_client::{Client, Event, Remote};
//! use packet::ndn::{DataBuilder, InterestBuilder};
//! use packet::time::Duration;
//!
//! let mut client = Client::connect(&Remote::default_forwarder()?)?;
//! client.express(&InterestBuilder::new("/lab/hello".parse()?).can_be_prefix(true), Duration::from_secs(4))?;
//! match client.next(None)? {
//!     Some(Event::Data { data, .. }) => println!("{} bytes", data.content().len()),
//!     other => println!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to connect is found as other NDN applications find it, see [`Remote::default_forwarder`].

mod arrivals;
#[cfg(feature = "async")]
mod asynchronous;
mod back_off;
mod ccnd;
mod client;
mod codec;
mod connection;
mod datagrams;
mod error;
mod event;
pub mod files;
mod get;
mod input;
mod management_request;
mod pending;
mod proofs;
mod refused_packet;
mod remote;
mod retry;
mod session;
mod socket;

pub use arrivals::Counters;
#[cfg(feature = "async")]
pub use asynchronous::AsyncClient;
pub use back_off::{BackOff, BackOffConfig};
pub use client::fetching::{FetchFailure, FetchOptions, Reader};
pub use client::{AskError, Client, Outage, OutageCounters, WhenGone};
pub use connection::Connection;
pub use error::{ClientError, Unsendable};
pub use event::Event;
pub use formats::printable::{is_unprintable, printable};
pub use get::{Fetched, Get, Trust};
pub use management_request::{ManagementError, ManagementRequest, NoResponse};
pub use pending::RequestId;
pub use refused_packet::{ClaimedSigner, RefusedPacketInfo};
pub use remote::{Family, Host, Remote, RemoteError};
pub use retry::{RetryPolicy, accepted};
pub use system::Clock;
