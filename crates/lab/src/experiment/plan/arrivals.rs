//! When a download begins and which file it fetches, where that is not one after the other.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values that many plans have in common, such as the requests of a trace in each case of a sweep.
#[derive(Clone, PartialEq)]
pub struct Shared<T>(Arc<[T]>);

impl<T> From<Vec<T>> for Shared<T> {
    fn from(list: Vec<T>) -> Self {
        Shared(list.into())
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().take(10)).finish_non_exhaustive()
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Shared::from)
    }
}

/// What decides about the downloads of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ArrivalsPlan {
    /// A workload by its name and parameters, whose items are files.
    Workload(String),
    /// A trace.
    Trace(ReplayPlan),
}

impl ArrivalsPlan {
    /// How many downloads it comes to, of which `count` are the most; nothing where it goes on until it is
    /// stopped.
    pub(crate) fn ordered(&self, count: u32) -> Option<u64> {
        let own = match self {
            ArrivalsPlan::Workload(text) => parameter(text, "limit").and_then(|limit| limit.parse().ok()),
            ArrivalsPlan::Trace(trace) => Some(trace.own().count() as u64),
        };
        let most = (count < u32::MAX).then(|| u64::from(count));
        own.into_iter().chain(most).min()
    }
}

/// A parameter of a workload that is written as in `zipf/rate~20/limit~100`.
pub(crate) fn parameter<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split('/')
        .filter_map(|part| part.split_once('~'))
        .find(|(word, _)| *word == key)
        .map(|(_, value)| value)
}

/// Of how many nodes this is which: they take requests, or whatever else there is, in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct Turn {
    /// Which, counted from 0.
    pub number: usize,
    /// Of how many.
    pub nodes: usize,
}

impl Turn {
    /// The only one.
    pub const ALONE: Turn = Turn { number: 0, nodes: 1 };
}

impl From<(usize, usize)> for Turn {
    fn from((number, nodes): (usize, usize)) -> Self {
        Turn { number, nodes }
    }
}

impl From<Turn> for (usize, usize) {
    fn from(turn: Turn) -> Self {
        (turn.number, turn.nodes)
    }
}

/// A trace, or the part of it that one node replays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayPlan {
    /// When each request is made, in nanoseconds from the first one, and for which file.
    pub requests: Shared<(u64, u32)>,
    /// How many of them are replayed.
    pub first: usize,
    /// How many times as fast as it was recorded.
    pub speed: f64,
    /// Which of them are this node's.
    pub turn: Turn,
}

impl ReplayPlan {
    /// What this node asks for: nanoseconds from the begin, and the file.
    pub fn own(&self) -> impl Iterator<Item = (u64, u32)> {
        let Turn { number, nodes } = self.turn;
        let own = self.requests.iter().take(self.first).skip(number).step_by(nodes.max(1));
        own.map(|(at, file)| ((*at as f64 / self.speed) as u64, *file))
    }
}
