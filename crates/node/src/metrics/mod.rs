//! Metrics for Prometheus: what the node's counters say, as text over HTTP.

mod connection;
mod connections;
mod server;
mod text;

pub(crate) use self::server::MetricsServer;
