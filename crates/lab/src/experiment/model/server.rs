//! Programs that serve files or are proxies.

use super::is_empty;
use crate::experiment::reference::describe::tables;

tables! {
    /// A program that serves files or is a proxy for another node's. The lab starts it with a configuration
    /// of its own and waits until it answers; its processor time and memory count as its node's. It is found
    /// in PATH, or below a folder in `CAIRN_LAB_TOOLS`.
    Server as "node.server" {
        /// `lighttpd` and `nginx` serve files by HTTP; `squid`, `nginx` and `varnish` are proxies with a
        /// cache; `cairn` serves files as named data; `cairn-gateway` is an HTTP proxy that fetches what it
        /// is asked for as named data.
        software: String,
        /// `stock`, as it comes; or `tuned`: one request for all who ask at once, the cache in memory,
        /// sendfile; for `cairn`, a signed manifest instead of a signature in each packet.
        setting: Option<String> = "stock",
        /// The node whose server it is a proxy for.
        upstream: Option<String> = "none: it serves the `content` of its node",
    }
}
