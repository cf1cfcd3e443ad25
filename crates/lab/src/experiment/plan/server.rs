//! Servers and their clients, complete.

use serde::{Deserialize, Serialize};

use super::NodeIndex;

/// A program that serves files or is a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlan {
    /// Which.
    pub software: ServerSoftware,
    /// With the settings for this work, and not as it comes?
    pub tuned: bool,
    /// The node whose server it is a proxy for; one without serves the files of its node.
    pub upstream: Option<NodeIndex>,
}

/// The servers that the lab can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerSoftware {
    /// A web server.
    Lighttpd,
    /// A web server, and a proxy with a cache.
    Nginx,
    /// A proxy with a cache.
    Squid,
    /// A proxy with a cache.
    Varnish,
    /// `cairn put`.
    Cairn,
    /// `cairn gateway`.
    Gateway,
}

impl ServerSoftware {
    /// The words by which an experiment names them.
    pub const WORDS: &[(&str, ServerSoftware)] = &[
        ("lighttpd", ServerSoftware::Lighttpd),
        ("nginx", ServerSoftware::Nginx),
        ("squid", ServerSoftware::Squid),
        ("varnish", ServerSoftware::Varnish),
        ("cairn", ServerSoftware::Cairn),
        ("cairn-gateway", ServerSoftware::Gateway),
    ];

    /// Can it serve files of its own?
    #[must_use]
    pub fn serves_files(self) -> bool {
        matches!(self, ServerSoftware::Lighttpd | ServerSoftware::Nginx | ServerSoftware::Cairn)
    }

    /// Can it be a proxy for another server?
    #[must_use]
    pub fn is_proxy(self) -> bool {
        !matches!(self, ServerSoftware::Lighttpd | ServerSoftware::Cairn)
    }
}

/// The programs that fetch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FetchClient {
    /// GNU Wget.
    Wget,
    /// curl.
    Curl,
    /// `cairn get`.
    Cairn,
}

impl FetchClient {
    /// The words by which an experiment names them.
    pub const WORDS: &[(&str, FetchClient)] =
        &[("wget", FetchClient::Wget), ("curl", FetchClient::Curl), ("cairn", FetchClient::Cairn)];

    /// The command's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FetchClient::Wget => "wget",
            FetchClient::Curl => "curl",
            FetchClient::Cairn => "cairn",
        }
    }
}

/// What a client fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchPlan {
    /// By which program.
    pub client: FetchClient,
    /// The content's place in [`Plan::contents`](super::Plan::contents).
    pub content: usize,
    /// The node whose server is asked; nothing for named data.
    pub from: Option<NodeIndex>,
}
