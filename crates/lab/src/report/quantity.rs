//! What is drawn of a node: each measure with its title, its unit, and the factor from the measure to the
//! unit.

use super::data::CaseData;
use crate::analysis::Window;
use crate::experiment::plan::NodeIndex;
use crate::figure::Axis;
use crate::stats::Summary;

/// A measure of a node as people read it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity {
    /// The measure.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) factor: f64,
}

const fn of(key: &'static str, title: &'static str, unit: &'static str, factor: f64) -> Quantity {
    Quantity { key, title, unit, factor }
}

/// The testbed report's six graphs of a node. Memory is one of two things: what a process takes, or what
/// tables take.
pub(crate) const SIX: [Quantity; 7] = [
    of("cpu", "Processor", "%", 1.0),
    of("memory", "Resident memory", "B", 1.0),
    of("table_bytes", "Memory of tables and packets", "B", 1.0),
    of("pending", "Pending Interests", "", 1.0),
    of("goodput", "Goodput towards the consumer", "bit/s", 8.0),
    of("goodput_interests", "Goodput towards the producer", "bit/s", 8.0),
    of("retransmissions", "Interest retransmissions", "1/s", 1.0),
];

const OTHERS: [Quantity; 31] = [
    of("busy", "Processor, part of the node's share", "%", 1.0),
    of("waited", "Waiting for a processor", "%", 1.0),
    of("throttled", "Kept from running by the share", "%", 1.0),
    of("repeated_names", "Interests for names asked before", "1/s", 1.0),
    of("names", "Names known", "", 1.0),
    of("propagated", "Interests propagated", "1/s", 1.0),
    of("noted", "Interests noted", "1/s", 1.0),
    of("cached", "Data packets cached", "", 1.0),
    of("answered", "Interests answered from elsewhere", "1/s", 1.0),
    of("expired", "Interests given up", "1/s", 1.0),
    of("in_interests", "Interests received so far", "", 1.0),
    of("out_interests", "Interests sent so far", "", 1.0),
    of("in_data", "Data packets received so far", "", 1.0),
    of("out_data", "Data packets sent so far", "", 1.0),
    of("in_nacks", "Nacks received so far", "", 1.0),
    of("out_nacks", "Nacks sent so far", "", 1.0),
    of("satisfied", "Interests answered from elsewhere so far", "", 1.0),
    of("unsatisfied", "Interests given up so far", "", 1.0),
    of("hits", "Interests that the content store answered", "", 1.0),
    of("misses", "Interests that it could not answer", "", 1.0),
    of("throughput", "Throughput towards the consumer", "bit/s", 8.0),
    of("throughput_interests", "Throughput towards the producer", "bit/s", 8.0),
    of("load", "Network load", "%", 1.0),
    of("processor", "Processor time of all", "s", 1.0),
    of("sent", "Bytes sent", "B", 1.0),
    of("received", "Bytes received", "B", 1.0),
    of("requests", "Requests answered", "", 1.0),
    of("request_hits", "Requests that a cache answered", "", 1.0),
    of("request_misses", "Requests that had to be asked for elsewhere", "", 1.0),
    // Of workloads.
    of("duration", "Time of a download", "s", 1.0),
    of("rtt", "Round trip", "ms", 1.0),
];

/// The measure of that name.
pub(crate) fn quantity(key: &str) -> Option<Quantity> {
    SIX.into_iter().chain(OTHERS).find(|quantity| quantity.key == key)
}

impl Quantity {
    /// Its numbers over time at a node, in its unit, in the repeat that is shown.
    pub(crate) fn points(&self, case: &CaseData, node: NodeIndex) -> Vec<(f64, f64)> {
        let Some(data) = case.shown.nodes.get(node) else { return Vec::new() };
        let mut points = data.log.points("time", self.key);
        // A row of the link's table is a rate over its length: it is drawn in its middle.
        let window = case.results.get(case.shown_repeat).and_then(|result| result.window).unwrap_or_default();
        points.extend(window.drawn(&data.traffic, self.key));
        points.retain(|(at, _)| *at >= 0.0);
        points.into_iter().map(|(at, value)| (at, value * self.factor)).collect()
    }

    /// The mean over what counts of the repeat that is shown, of what flows over a node's link, and from when
    /// until when that is.
    pub(crate) fn mean(&self, case: &CaseData, node: NodeIndex) -> Option<(f64, Window)> {
        let window = case.results.get(case.shown_repeat)?.window?;
        let bins = window.of_bins(&case.shown.nodes.get(node)?.traffic, self.key);
        Some((Summary::weighed(&bins)?.mean * self.factor, window))
    }

    /// Its greatest number at any node.
    pub(crate) fn most(&self, case: &CaseData) -> f64 {
        let nodes = case.plan.nodes.ids();
        let values = nodes.flat_map(|node| self.points(case, node)).map(|(_, value)| value);
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// An axis from zero that reaches at least this far. Without a name: the chart's title says what it is.
    pub(crate) fn axis(&self, most: f64) -> Axis {
        Axis::new("", self.unit).showing(0.0, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::measure::{NODE_SERIES, NODE_TOTALS};

    #[test]
    fn everything_that_is_measured_at_a_node_can_be_drawn() {
        for (key, _) in NODE_SERIES.iter().chain(NODE_TOTALS) {
            assert!(quantity(key).is_some(), "{key}");
        }
    }
}
