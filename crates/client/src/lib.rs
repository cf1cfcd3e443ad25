//! Applications on real sockets: a connection to a forwarder, consumers and producers.
//!
//! A [`Connection`] is one socket with NDNLPv2 on it: Interests, Data and Nacks go in and come out, many for
//! each system call. It blocks, with a deadline, and one thread is enough; there is nothing to spawn and
//! nothing to await. On top of it:
//!
//! - [`Client::express`] asks for one Data, or for many at once, and says what came of each;
//! - [`fetch()`] runs a `flow::Fetcher` to its end, with a [`flow::verify::Verifier`] that checks what comes;
//! - [`Client::register`] asks the forwarder for Interests under a prefix, and [`Client::next`] hands them
//!   out; [`flow::source::serve`] answers them from a source of Data, such as a file or folder in [`files`];
//! - when the forwarder goes away the client connects again and registers again, see [`Client::when_gone`].
//!
//! ```no_run
//! use client::{Client, Event, Remote};
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

mod back_off;
mod client;
mod clock;
mod connection;
mod error;
mod fetch;
pub mod files;
mod input;
mod pending;
mod printable;
mod refused;
mod remote;
mod serve;
mod socket;
mod trains;

pub use back_off::{BackOff, BackOffConfig};
pub use client::{Client, Event, Outage, OutageCounters, WhenGone};
pub use clock::Clock;
pub use connection::{Connection, Counters, Incoming};
pub use error::ClientError;
pub use fetch::{FetchFailure, FetchOptions, OutagePolicy, Reader, fetch, fetch_with};
pub use pending::RequestId;
pub use printable::{is_unprintable, printable};
pub use refused::Refused;
pub use remote::{Family, Host, Remote, RemoteError};
