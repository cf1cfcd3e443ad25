//! NFD's management protocol against a node made of a few vectors: what is answered, what is done, and what
//! is passed over in silence.
#![allow(clippy::unwrap_used, reason = "tests")]

mod acceptance;
mod datasets;
mod delegates;
mod faces;
mod fake_node;
mod forwarder;
mod hostile;
mod keys;
mod manager;
mod no_data_plane;
mod precedence;
mod restart;
mod revoked;
mod routes;
