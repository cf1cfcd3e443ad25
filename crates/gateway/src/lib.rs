//! A gateway between HTTP and named data: web browsers, players, wget and curl read objects of a named data
//! network, and web servers become producers.
//!
//! A [`Server`] listens for HTTP. `GET /ndn/lab/film.mp4` finds the newest version of `/lab/film.mp4`,
//! fetches it as fast as the client takes it, verifies every packet, and sends no byte that was refused.
//! It answers ranges, conditional requests and HEAD as web servers do, and shows folders as pages.
//!
//! ```no_run
//! use cairn_gateway::{GatewayConfig, Server, TrustPolicy};
//! use client::{AsyncClient, Remote, Trust};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = AsyncClient::connect(&Remote::default_forwarder()?).await?;
//! let config = GatewayConfig::new(TrustPolicy::new(Trust::anybody));
//! let server = Server::bind("127.0.0.1:8080".parse()?, client, config).await?;
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//! - [`name_path`], [`range`], [`conditions`]: parse requests of strangers, without I/O. `guard` decides
//!   whether a client may ask at all.
//! - `resolve`: finds a name's version and size. `stream`: fetches the bytes at the pace of the client.
//!   `object`: makes a response of both.
//! - `own_page`: the page at `/` with the forwarder's state and names, and `transfers` under way. `pages`:
//!   folders and errors as pages.
//! - [`origin`]: a web server as a producer.
//! - `gateway`: one request; `server`: connections. [`Limits`] limits both.

mod access_log;
pub mod conditions;
mod connections;
mod content_type;
mod counters;
mod failure;
mod fields;
mod gateway;
mod guard;
mod limits;
pub mod name_path;
mod object;
pub mod origin;
mod outgoing;
mod own_page;
mod pages;
pub mod range;
mod reply;
mod resolve;
mod server;
mod stream;
mod transfers;
mod trust_policy;
mod until;
mod write_timeout;

pub use access_log::WriteLine;
pub use gateway::GatewayConfig;
pub use limits::Limits;
pub use server::Server;
pub use trust_policy::TrustPolicy;
