//! Quantities in scenario files: texts with units.

use packet::time::Duration;
use serde::Deserialize as DeriveDeserialize;
use serde::de::{Deserialize, Deserializer, Error};

/// A span of time: `"50 ms"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span(pub(super) Duration);

/// Bits a second: `"10 Mbit/s"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate(pub(super) u64);

/// Bytes: `1250` or `"8 kB"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size(pub(super) u64);

#[derive(DeriveDeserialize)]
#[serde(untagged, expecting = "a number of bytes, or a text such as \"8 kB\"")]
enum NumberOrText {
    Number(u64),
    Text(String),
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        packet::units::duration(&text).map(Span).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        packet::units::rate(&text).map(Rate).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(bytes) => Ok(Size(bytes)),
            NumberOrText::Text(text) => packet::units::bytes(&text).map(Size).map_err(D::Error::custom),
        }
    }
}

/// A node, by its name or by its number.
#[derive(Clone, Debug, PartialEq, DeriveDeserialize)]
#[serde(untagged, expecting = "the name or the number of a node")]
pub(super) enum NodeRef {
    /// Its number, from 0.
    Number(usize),
    /// Its name.
    Name(String),
}

/// Some nodes.
#[derive(Clone, Debug, PartialEq, DeriveDeserialize)]
#[serde(untagged, expecting = "a node, a list of nodes, \"all\", or { random = 10 }")]
pub(super) enum NodeSet {
    /// One, or `"all"`.
    One(NodeRef),
    /// These.
    Several(Vec<NodeRef>),
    /// So many, drawn with the seed of the run.
    Random {
        /// How many.
        random: usize,
    },
}

impl std::fmt::Display for NodeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NodeRef::Number(number) => write!(f, "{number}"),
            NodeRef::Name(name) => write!(f, "{name:?}"),
        }
    }
}
