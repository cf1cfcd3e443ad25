//! What can be wrong with the building of a network.

use engine::{RouteError, SetStrategyError, StrategyError};
use packet::name::UriError;
use packet::random::ZipfError;
use packet::time::Instant;
use packet::{DecodeError, EncodeError};
use thiserror::Error;

use crate::arena::{AppId, LinkId, NodeId};

/// Why a network could not be built as asked, or a run ended early.
#[derive(Debug, Error)]
pub enum SimError {
    /// There is no node of this number.
    #[error("there is no node {0}; nodes are numbered from 0 in the order they were added")]
    NoNode(NodeId),
    /// There is no link of this number.
    #[error("there is no link {0}; links are numbered from 0 in the order they were added")]
    NoLink(LinkId),
    /// There is no application of this number.
    #[error("there is no application {0}")]
    NoApplication(AppId),
    /// Two nodes that are not neighbours.
    #[error("no link joins node {0} to node {1}")]
    NotLinked(NodeId, NodeId),
    /// A node that is at no end of a link.
    #[error("node {0} is at no end of link {1}")]
    NotAtLink(NodeId, LinkId),
    /// A link needs two ends at least.
    #[error("a link needs at least two different nodes")]
    TooFewEnds,
    /// A host has neither tables nor routes.
    #[error("a host has no engine: routes and strategies belong on a node (`add_node`)")]
    NoEngine,
    /// A name that cannot be read.
    #[error("{uri:?} is not a name: {source}")]
    Name {
        /// What was given.
        uri: String,
        /// What is wrong with it.
        source: UriError,
    },
    /// A packet that cannot be.
    #[error("the packet cannot be encoded: {0}")]
    Encode(#[from] EncodeError),
    /// A name or packet that breaks a rule.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A route that the table refuses.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// A strategy that cannot be had.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// A strategy that cannot be chosen.
    #[error(transparent)]
    SetStrategy(#[from] SetStrategyError),
    /// A link service that makes no sense.
    #[error("the link service makes no sense: {0}")]
    LinkService(#[from] link::v2::ConfigError),
    /// A link service of NDNLP v1 that makes no sense.
    #[error("the link service of NDNLP v1 makes no sense: {0}")]
    LinkServiceOfV1(#[from] link::v1::ConfigError),
    /// NDNLP v1 joins two.
    #[error("a link of NDNLP v1 has two ends")]
    TooManyEnds,
    /// So much happened at one instant that it will hardly ever end: packets run in a circle of links without
    /// delay, or an application wakes itself at once again and again.
    #[error(
        "time stands still at {0}: more than ten million events at one instant; either packets run in a circle of links \
         without delay, or somebody asks without end for what its own node answers at once"
    )]
    TimeStandsStill(Instant),
    /// No such catalogue.
    #[error(transparent)]
    Catalogue(#[from] ZipfError),
    /// A parameter out of its range.
    #[error("{what} is {value}, but must be {must}")]
    OutOfRange {
        /// Which parameter.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
}
