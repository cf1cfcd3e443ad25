//! Named data networking for applications: one dependency with all that they need.
//!
//! ```no_run
//! use cairn::{Duration, InterestBuilder, Trust};
//!
//! let mut client = cairn::connect()?;
//! // One Interest and its Data.
//! let data = client.ask(&InterestBuilder::new("/lab/hello".parse()?), Duration::from_secs(4))?;
//! println!("{}", String::from_utf8_lossy(data.content()));
//! // An object of any size. The caller says whom to trust.
//! let fetched = client.get(&"/lab/file".parse()?, Trust::anybody()).into_file("file")?;
//! println!("{} bytes; {}", fetched.bytes, fetched.summary.text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what | how |
//! |---|---|
//! | ask for one Data | [`Client::ask`]; many at once: [`Client::express`], [`Client::next`] |
//! | get an object, verified | [`Client::get`] with a [`Trust`], into memory or a file |
//! | answer under a prefix | [`Client::serve`] with a [`Source`], such as [`answer_with`] a function |
//! | register, unregister | [`Client::register`], [`Client::unregister`] |
//! | sign | [`Identity`], [`Signer`] |
//! | verify | [`SignatureVerifier`](trust::SignatureVerifier), [`Validator`](trust::Validator) |
//!
//! One connection does all of that at the same time: the client answers Interests while a fetch runs.
//! `examples/` has a program for each row but registering, which is serving without a source.
//!
//! # Features
//! - `async`: `AsyncClient` does the same for tasks of tokio.
//! - `command`, on by default: the forwarding engine, the repository, the simulator, and [`command`], the
//!   whole command `cairn`, to which a program can add strategies, controllers, eviction policies (of content
//!   stores and of repositories) and workloads of its own.
//! - `gateway`, on by default: `cairn gateway` in that command.
//!
//! With `default-features = false` only what applications need is built: no forwarder, no simulator, no
//! command line.

#[cfg(feature = "async")]
pub use client::AsyncClient;
pub use client::files::FileObject;
pub use client::{
    AskError, Client, ClientError, Event, FetchFailure, Fetched, Get, ManagementError, ManagementRequest,
    NoResponse, Remote, RequestId, RetryPolicy, Trust, Unsendable, WhenGone,
};
pub use flow::source::{Generator, MemoryObject, Packets, Reply, Source, SourceError, answer_with};
pub use flow::{Authenticity, ControllerSpec, Progress, Publication, PublicationConfig};
pub use packet::ndn::{DataBuilder, InterestBuilder};
pub use packet::time::{Duration, Instant};
pub use packet::{
    AnyName, BuildInterest, Component, Data, Dialect, Interest, LinkHeader, NackReason, Name, NameRef,
};
pub use trust::{Certificate, KeyKind, Policy, PrivateKey, PublicKey, Signer, UnixTime, ValidityPeriod};

/// The crates underneath, whole.
pub use {client, flow, link, management, packet, trust};
#[cfg(feature = "command")]
pub use {engine, repo, sim};

mod identity;

pub use identity::{Identity, IdentityError};

#[cfg(feature = "command")]
#[macro_use]
mod tool;
#[cfg(feature = "command")]
mod builder;
#[cfg(feature = "command")]
mod commands;
#[cfg(feature = "command")]
mod ndnldc;

#[cfg(feature = "command")]
pub use builder::{CommandBuilder, command};

/// Connects to the forwarder that is meant when none is named, as other NDN applications find it: see
/// [`Remote::default_forwarder`]. Should it go away, the client connects again.
///
/// # Errors
/// The environment names something that is no address, or nobody is there.
pub fn connect() -> Result<Client, ClientError> {
    Client::connect(&Remote::default_forwarder()?)
}
