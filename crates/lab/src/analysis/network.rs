//! What virtual time counted of the network as a whole and of each consumer: the file `network.json`.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::memory_files;
use crate::order::read_json;
use crate::stats::fairness;

/// The file among the raw ones.
pub const NETWORK_FILE: &str = "network.json";

/// What was counted in a repeat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkCounts {
    /// A number over every packet: two runs with the same did the same.
    pub trace_hash: String,
    /// The seed that everything in it came from.
    pub seed: u64,
    /// How long it ran, in seconds.
    pub seconds: f64,
    /// Packets that crossed a link.
    pub hops: u64,
    /// Lookups in content stores that found something.
    pub cache_hits: u64,
    /// Those that did not.
    pub cache_misses: u64,
    /// Packets that links dropped.
    pub link_drops: u64,
    /// Packets that forwarders dropped.
    pub engine_drops: u64,
    /// Nacks that forwarders sent.
    pub nacks_sent: u64,
    /// What each consumer did at each of its nodes.
    pub consumers: Vec<ConsumerCounts>,
}

/// What a consumer did at a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConsumerCounts {
    /// Its name in the experiment.
    pub workload: String,
    /// The node.
    pub node: String,
    /// `consumer`, `transfer`, `file` or `flood`.
    pub kind: String,
    /// Names asked for.
    pub asked: u64,
    /// Data that came.
    pub received: u64,
    /// Its bytes: of whole packets, of content for a file.
    pub bytes: u64,
    /// The mean delay of an answer in milliseconds; of transfers the smoothed round trip.
    pub mean_delay_ms: f64,
    /// Interests sent again.
    pub repeated: u64,
    /// Nacks received.
    pub nacks: u64,
    /// Names given up.
    pub failed: u64,
    /// Packets that came and were not believed.
    #[serde(default)]
    pub refused: u64,
    /// Is all that was to be fetched there? Nothing when there is no end to it.
    pub is_complete: Option<bool>,
    /// When the last of it came, in seconds from the start; nothing when it is not complete.
    #[serde(default)]
    pub ended_s: Option<f64>,
}

impl ConsumerCounts {
    /// Megabits a second over the whole run.
    #[must_use]
    pub fn megabits(&self, seconds: f64) -> f64 {
        self.bytes as f64 * 8.0 / 1e6 / seconds.max(1e-9)
    }
}

impl NetworkCounts {
    /// Reads what a repeat has; nothing when it was on real forwarders.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn read(raw: &Path) -> io::Result<Option<Self>> {
        let path = raw.join(NETWORK_FILE);
        if memory_files::is_file(&path) { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// The part of lookups that found something.
    #[must_use]
    pub fn hit_share(&self) -> f64 {
        let all = self.cache_hits + self.cache_misses;
        if all == 0 { 0.0 } else { self.cache_hits as f64 / all as f64 }
    }

    /// Transfers with an end, and those of them that have not come to it.
    pub(super) fn unfinished(&self) -> (usize, usize) {
        let with_end = self.consumers.iter().filter_map(|consumer| consumer.is_complete);
        let (done, open): (Vec<bool>, Vec<bool>) = with_end.partition(|is_complete| *is_complete);
        (done.len() + open.len(), open.len())
    }

    /// Each consumer by its name, with what it did at each of its nodes.
    pub(super) fn by_consumer(&self) -> Vec<(&str, Vec<&ConsumerCounts>)> {
        let mut names: Vec<&str> = self.consumers.iter().map(|consumer| consumer.workload.as_str()).collect();
        names.dedup();
        let of = |name| self.consumers.iter().filter(|consumer| consumer.workload == name).collect();
        names.into_iter().map(|name| (name, of(name))).collect()
    }

    /// The numbers of the network and of each consumer, by measure without summary: one number for each node
    /// where nodes differ in it.
    pub(super) fn values(&self) -> Vec<(String, Vec<f64>)> {
        let mut values = Vec::new();
        let mut put = |key: String, numbers: Vec<f64>| values.push((key, numbers));
        put("network.hops".to_owned(), vec![self.hops as f64]);
        put("network.cache_hits".to_owned(), vec![self.hit_share() * 100.0]);
        put("network.link_drops".to_owned(), vec![self.link_drops as f64]);
        put("network.engine_drops".to_owned(), vec![self.engine_drops as f64]);
        put("network.nacks_sent".to_owned(), vec![self.nacks_sent as f64]);
        for (name, of) in self.by_consumer() {
            let sum = |value: fn(&ConsumerCounts) -> u64| of.iter().map(|one| value(one)).sum::<u64>() as f64;
            let (asked, received) = (sum(|one| one.asked), sum(|one| one.received));
            put(format!("{name}.started"), vec![asked]);
            put(format!("{name}.finished"), vec![received]);
            put(format!("{name}.unfinished"), vec![asked - received]);
            put(format!("{name}.loss"), vec![sum(|one| one.failed) / asked.max(1.0) * 100.0]);
            put(format!("{name}.throughput"), vec![sum(|one| one.bytes) / self.seconds.max(1e-9)]);
            let rates: Vec<f64> = of.iter().map(|one| one.bytes as f64).collect();
            put(format!("{name}.fairness"), vec![fairness(&rates)]);
            put(format!("{name}.rtt"), of.iter().map(|one| one.mean_delay_ms).collect());
            put(format!("{name}.retransmissions"), vec![sum(|one| one.repeated)]);
            put(format!("{name}.nacks"), vec![sum(|one| one.nacks)]);
            put(format!("{name}.refused"), vec![sum(|one| one.refused)]);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_consumer_are_added_up_and_compared() {
        let one = |node: &str, bytes, received| ConsumerCounts {
            workload: "w".to_owned(),
            node: node.to_owned(),
            asked: 10,
            received,
            bytes,
            failed: 10 - received,
            mean_delay_ms: received as f64,
            is_complete: Some(received == 10),
            ..ConsumerCounts::default()
        };
        let consumers = vec![one("a", 3000, 10), one("b", 1000, 5)];
        let counts =
            NetworkCounts { seconds: 2.0, cache_hits: 1, cache_misses: 3, consumers, ..Default::default() };
        let values: std::collections::BTreeMap<String, Vec<f64>> = counts.values().into_iter().collect();
        assert_eq!(values["w.finished"], [15.0]);
        assert_eq!(values["w.loss"], [25.0]);
        assert_eq!(values["w.throughput"], [2000.0]);
        // (3 + 1)² / (2 × (9 + 1))
        assert!((values["w.fairness"][0] - 0.8).abs() < 1e-12);
        assert_eq!(values["w.rtt"], [10.0, 5.0]);
        assert_eq!(values["network.cache_hits"], [25.0]);
        assert_eq!(counts.unfinished(), (2, 1));
    }
}
