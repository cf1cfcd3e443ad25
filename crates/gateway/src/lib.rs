//! HTTP and named data side by side: objects of a named data network for web browsers, players, wget and
//! curl, and web servers as producers.
//!
//! A [`Server`] listens for HTTP. `GET /ndn/lab/film.mp4` finds the newest version of `/lab/film.mp4`,
//! fetches it as fast as the client takes it, verifies every packet, and sends no byte that was refused.
//! Parts (Range), conditional requests and HEAD are answered as web servers answer them, folders as pages.
//!
//! ```no_run
//! use cairn_gateway::{GatewayConfig, Server, Trusting};
//! use client::{AsyncClient, Remote, Trust};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = AsyncClient::connect(&Remote::default_forwarder()?).await?;
//! let config = GatewayConfig::new(Trusting::new(Trust::anybody));
//! let server = Server::bind("127.0.0.1:8080".parse()?, client, config).await?;
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//! - [`name_path`], [`range`], [`conditions`]: what a stranger writes in a request, read without I/O. `guard`
//!   decides who may ask at all.
//! - `resolve`: from a name to a version and a size. `stream`: the bytes, at the pace of the client. `object`
//!   puts both together as a response.
//! - [`origin`]: a web server as a producer.
//! - `gateway`: one request; `server`: connections. [`Limits`] bound both.

mod access_log;
pub mod conditions;
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
mod patient;
pub mod range;
mod resolve;
mod server;
mod stream;
mod trusting;
mod until;

pub use access_log::WriteLine;
pub use gateway::GatewayConfig;
pub use limits::Limits;
pub use server::Server;
pub use trusting::Trusting;
