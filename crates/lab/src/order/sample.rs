//! A line of a forwarder's log: what it answered when it was asked for its counters, and what its processor
//! did. Every backend writes the same columns, but for two that only one kind of log has.

use formats::csv;

/// What a forwarder said of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Answer {
    /// Names that it knows.
    pub(crate) names: u64,
    /// Pending Interests.
    pub(crate) pending: u64,
    /// Interests sent on, in a second since the last answer.
    pub(crate) propagated: f64,
    /// Interests received and not sent on, in a second: joined to a pending one, answered from the cache, or
    /// dropped.
    pub(crate) noted: f64,
    /// Packets in the content store.
    pub(crate) cached: u64,
    /// Since it began, as all below.
    pub(crate) in_interests: u64,
    pub(crate) out_interests: u64,
    pub(crate) in_data: u64,
    pub(crate) out_data: u64,
    pub(crate) in_nacks: u64,
    pub(crate) out_nacks: u64,
    pub(crate) satisfied: u64,
    pub(crate) unsatisfied: u64,
}

/// What was seen of its processor and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Load {
    /// Processor time in percent of a core.
    pub(crate) cpu: f64,
    /// What its process takes, or in virtual time its tables and packets, in bytes.
    pub(crate) memory_bytes: u64,
    /// Time without a processor that others had, in percent.
    pub(crate) waited: f64,
    /// Time that its share denied, in percent. Only logs of processes have it.
    pub(crate) throttled: f64,
    /// Processor time in percent of what the node has, in virtual time; of others it follows from the share.
    pub(crate) busy: Option<f64>,
}

/// What a log is of: a process, or virtual time. What tables take is not what a process takes, and has
/// another name. Virtual time knows what a competing load takes from a share, and does not tell for how long
/// a share keeps a forwarder from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogOf {
    Process,
    VirtualTime,
}

/// The columns, with their line's end.
pub(crate) fn head(of: LogOf) -> String {
    let (memory, last) = match of {
        LogOf::Process => ("memory", "throttled"),
        LogOf::VirtualTime => ("table_bytes", "busy"),
    };
    let mut columns = vec!["time", "names", "pending", "propagated", "noted", "cpu", memory, "cached"];
    columns.extend(["in_interests", "out_interests", "in_data", "out_data", "in_nacks", "out_nacks"]);
    columns.extend(["satisfied", "unsatisfied", "waited", last]);
    csv::to_string([columns])
}

/// A line at a moment in nanoseconds. Without an answer its fields stay empty, which makes the line invalid,
/// as in the testbed report.
pub(crate) fn line(at_ns: u64, answer: Option<&Answer>, load: &Load) -> String {
    let Load { cpu, memory_bytes, waited, throttled, busy } = load;
    let count = |of: fn(&Answer) -> u64| answer.map_or_else(String::new, |answer| of(answer).to_string());
    let rate =
        |of: fn(&Answer) -> f64| answer.map_or_else(String::new, |answer| format!("{:.3}", of(answer)));
    let fields = [
        format!("{}.{:09}", at_ns / 1_000_000_000, at_ns % 1_000_000_000),
        count(|answer| answer.names),
        count(|answer| answer.pending),
        rate(|answer| answer.propagated),
        rate(|answer| answer.noted),
        format!("{cpu:.2}"),
        memory_bytes.to_string(),
        count(|answer| answer.cached),
        count(|answer| answer.in_interests),
        count(|answer| answer.out_interests),
        count(|answer| answer.in_data),
        count(|answer| answer.out_data),
        count(|answer| answer.in_nacks),
        count(|answer| answer.out_nacks),
        count(|answer| answer.satisfied),
        count(|answer| answer.unsatisfied),
        format!("{waited:.2}"),
        format!("{:.2}", busy.unwrap_or(*throttled)),
    ];
    csv::to_string([fields])
}

/// The file in which a node's content store tells what it has done.
pub(crate) fn store_file(node: &str) -> String {
    format!("store-{node}.csv")
}

/// Its content: Interests that the content store has answered, and those that it could not.
pub(crate) fn store(hits: u64, misses: u64) -> String {
    csv::to_string([["hits".to_owned(), "misses".to_owned()], [hits.to_string(), misses.to_string()]])
}

/// The file in which a forwarder tells what its faces have carried.
pub(crate) fn faces_file(node: &str) -> String {
    format!("faces-{node}.csv")
}

/// What the faces of a node have carried in a run, without questions to its management.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Packets that came from neighbours.
    pub(crate) link_packets: u64,
    /// Data among them.
    pub(crate) link_data: u64,
    /// Data that applications of this node got.
    pub(crate) application_data: u64,
    /// Nacks that it sent.
    pub(crate) nacks_sent: u64,
}

impl Carried {
    /// The content of [`faces_file`].
    pub(crate) fn table(&self) -> String {
        let numbers = [self.link_packets, self.link_data, self.application_data, self.nacks_sent];
        let columns = ["link_packets", "link_data", "application_data", "nacks_sent"];
        csv::to_string([columns.map(str::to_owned), numbers.map(|number| number.to_string())])
    }
}

/// The file in which virtual time tells how full a node's tables were: entries times seconds since the start,
/// and the most entries at once since the line before that tells them. What a moment does not tell is empty.
pub(crate) fn occupancy_file(node: &str) -> String {
    format!("occupancy-{node}.csv")
}

/// Its columns.
pub(crate) const OCCUPANCY_COLUMNS: [&str; 5] = ["time", "pending", "cached", "pending_most", "cached_most"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Table;

    #[test]
    fn a_line_has_a_field_for_every_column_and_without_an_answer_is_invalid() {
        let answer = Answer { pending: 7, unsatisfied: 9, propagated: 1.5, ..Answer::default() };
        for (of, busy, last) in
            [(LogOf::Process, None, ("throttled", 3.25)), (LogOf::VirtualTime, Some(12.5), ("busy", 12.5))]
        {
            let load = Load { cpu: 50.0, throttled: 3.25, busy, ..Load::default() };
            let text = head(of) + &line(1_500_000_000, Some(&answer), &load) + &line(2, None, &load);
            let table = Table::read(text.as_bytes()).unwrap_or_default();
            let first = |column: &str| table.column(column).first().copied();
            assert_eq!(first("time"), Some(1.5));
            assert_eq!((first("pending"), first("unsatisfied")), (Some(7.0), Some(9.0)));
            assert_eq!((first("propagated"), first(last.0)), (Some(1.5), Some(last.1)));
            assert_eq!(first("throttled").is_some(), of == LogOf::Process);
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            assert!(table.column("pending").get(1).is_some_and(|value| value.is_nan()));
        }
    }
}
