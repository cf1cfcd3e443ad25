//! How an expectation names a number: `n2.pending.max`, `files.goodput.mean @ small`.

use std::fmt;
use std::str::FromStr;

use super::plan::{Activity, Plan};

/// What is measured at a node, at each sample or by the second.
pub const NODE_SERIES: &[(&str, &str)] = &[
    ("cpu", "processor time used by the forwarder and the node's server, in percent of a core"),
    (
        "busy",
        "the same in percent of the node's share, or of a core; in virtual time, of what `load` and `capacity` leave of it",
    ),
    ("waited", "time the forwarder could have run and did not because no processor was free, in percent"),
    (
        "throttled",
        "time the forwarder's share kept it from running, in percent, summed over processors as the kernel does; real forwarders only",
    ),
    ("memory", "resident memory of the forwarder's process and its server's, in bytes; real forwarders only"),
    (
        "table_bytes",
        "what tables and packets take by the engine's own account, in bytes; virtual time only; the seed that hashes them changes it",
    ),
    ("names", "names the forwarder knows"),
    (
        "pending",
        "pending Interests; mean and max are exact in virtual time, and of samples on real forwarders, whose question is not in it",
    ),
    ("propagated", "Interests forwarded, in a second; a word of the CCNx testbed report, as is the next"),
    (
        "noted",
        "Interests received and not forwarded, in a second: joined to a pending one, answered from the content store, or dropped",
    ),
    ("cached", "Data packets in the content store; mean and max as those of `pending`"),
    ("answered", "Interests of neighbours and applications that were answered from elsewhere, in a second"),
    ("expired", "Interests that were given up because no answer came, in a second"),
    (
        "in_interests",
        "Interests received in the measuring window; here and below real forwarders count the lab's questions, too",
    ),
    ("out_interests", "Interests sent"),
    ("in_data", "Data packets received"),
    ("out_data", "Data packets sent"),
    ("in_nacks", "Nacks received"),
    ("out_nacks", "Nacks sent"),
    ("satisfied", "Interests that were answered from elsewhere"),
    ("unsatisfied", "Interests that were given up because no answer came"),
    ("hits", "Interests that the content store answered, in the whole run"),
    (
        "misses",
        "Interests that it could not answer; on real forwarders the lab's own questions are among them",
    ),
    ("goodput", "bytes of Data packets on the watched link, in a second"),
    ("goodput_interests", "bytes of Interest packets on the watched link, in a second"),
    ("throughput", "bytes of frames with Data on the watched link, in a second"),
    ("throughput_interests", "bytes of frames in the Interests' direction on the watched link, in a second"),
    (
        "retransmissions",
        "the same Interest again on the watched link: the same packet, or its origin asks once more; in a second",
    ),
    (
        "repeated_names",
        "other Interests on the watched link for a name that was asked for before, in a second",
    ),
    (
        "load",
        "part of the watched link's rate that is used in the Data's direction, copies counted, in percent",
    ),
];

/// What a node comes to while the workloads run, in network namespaces: one number each.
pub const NODE_TOTALS: &[(&str, &str)] = &[
    ("processor", "processor time of the node's forwarder, server and clients, in seconds"),
    ("sent", "bytes of all frames that the node sent over its links"),
    ("received", "bytes of all frames that came to it over its links"),
    ("requests", "requests that its server answered, as the server counts them"),
    ("request_hits", "of these, those that its cache answered"),
    ("request_misses", "of these, those that the server had to ask for elsewhere"),
];

/// What is measured of a workload.
pub const WORKLOAD_VALUES: &[(&str, &str)] = &[
    ("started", "how many transfers, pings or Interests were begun"),
    ("finished", "how many were answered or completed"),
    ("unfinished", "how many were not, at the end"),
    (
        "loss",
        "the part that was not, in percent: of Interests waited for as long as they live; of a consumer, what it gave up",
    ),
    ("goodput", "content bytes of completed transfers, in a second"),
    ("throughput", "bytes of Data packets that came to all nodes of a consumer, in a second of the run"),
    ("fairness", "Jain's index over the nodes of a consumer: 1 when all got as much"),
    ("duration", "seconds a completed transfer took"),
    ("rtt", "round-trip time in milliseconds"),
    ("retransmissions", "Interests sent again"),
    ("nacks", "Nacks received"),
    ("refused", "packets that a consumer with `verify` did not believe; virtual time only"),
];

/// What is measured of a content, by what its producer has sent. A workload may have the same name.
pub const CONTENT_VALUES: &[(&str, &str)] = &[
    ("served", "Data packets that its producer sent"),
    ("served_bytes", "bytes of content in them"),
    ("served_objects", "how many of these packets were the first of a file"),
    (
        "object_hits",
        "the part of downloads whose first segment its producer did not send, but for what it sent again, in percent",
    ),
    (
        "byte_hits",
        "the part of the bytes of downloads that its producer did not send, but for what it sent again, in percent",
    ),
];

/// What is measured of a prefix that `measure.prefixes` names, at all clients together and in the whole run.
pub const PREFIX_VALUES: &[(&str, &str)] = &[
    ("asked", "Interests that clients sent for names below it, those that ask again among them"),
    ("satisfied", "of these, Interests that Data answered"),
    ("refused", "of these, Interests that a Nack answered"),
    ("timed_out", "of these, Interests that nothing answered while the run lasted"),
    (
        "hits",
        "of the satisfied ones, those that never came to the producer: a cache or a pending Interest answered; not known of a `server`",
    ),
];

/// The subject of what is measured of the network as a whole.
pub const NETWORK: &str = "network";

/// What is measured of it, in the whole run. What nobody tells has no value.
pub const NETWORK_VALUES: &[(&str, &str)] = &[
    ("hops", "packets that crossed a link; on real forwarders, that came over one"),
    (
        "data_hops",
        "links that Data crossed until a client had it: all that came over links, by all that applications got",
    ),
    (
        "cache_hits",
        "the part of lookups in all content stores that found something, in percent; real ones count the lab's questions",
    ),
    ("link_drops", "packets that links dropped; virtual time only"),
    ("engine_drops", "packets that forwarders dropped; virtual time only"),
    ("nacks_sent", "Nacks that forwarders sent"),
];

/// How many numbers become one.
pub const SUMMARIES: &[&str] =
    &["mean", "min", "max", "median", "p5", "p95", "p99", "deviation", "last", "sum", "count"];

/// A number in the results of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// A node or a workload.
    pub subject: String,
    /// What of it.
    pub quantity: String,
    /// How many numbers become one; the mean when nothing is said.
    pub summary: String,
    /// In which case; `None` is the case that is being judged.
    pub case: Option<String>,
}

/// Why a text does not name a number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a measure; write for example n2.pending.max, or files.goodput @ case")]
pub struct MeasureError(String);

/// Quantities that are parts in percent, and 100 at most.
const PARTS: &[&str] = &["loss", "object_hits", "byte_hits", "cache_hits"];

impl Measure {
    /// The most that one of its numbers can be, where that is known without any repeat.
    pub(crate) fn most(&self) -> Option<f64> {
        let is_bounded = !matches!(self.summary.as_str(), "deviation" | "sum" | "count");
        match self.quantity.as_str() {
            part if is_bounded && PARTS.contains(&part) => Some(100.0),
            "fairness" if is_bounded => Some(1.0),
            _ => None,
        }
    }
}

/// Columns of watched links that no statement names, and tables of all numbers have.
const OF_WATCHED_LINKS: &[&str] = &["interests", "data"];

impl Measure {
    /// The unit that it is written in, in statements and in `results.csv`; nothing where it is a bare number.
    /// What is asked again is counted by the second at nodes, and as a whole elsewhere.
    pub(crate) fn unit(&self, is_of_node: bool) -> &'static str {
        let of_one = match self.quantity.as_str() {
            "cpu" | "busy" | "waited" | "throttled" | "load" | "loss" | "object_hits" | "byte_hits"
            | "cache_hits" => "%",
            "memory" | "table_bytes" | "sent" | "received" | "served_bytes" => "B",
            "goodput" | "goodput_interests" | "throughput" | "throughput_interests" => "B/s",
            "propagated" | "noted" | "answered" | "expired" | "repeated_names" => "1/s",
            "retransmissions" if is_of_node => "1/s",
            link if is_of_node && OF_WATCHED_LINKS.contains(&link) => "1/s",
            "duration" | "processor" => "s",
            "rtt" => "ms",
            _ => "",
        };
        let is_series = is_of_node
            && (NODE_SERIES.iter().any(|(word, _)| *word == self.quantity)
                || OF_WATCHED_LINKS.contains(&self.quantity.as_str()));
        match (self.summary.as_str(), of_one) {
            ("count", _) => "",
            // The sum over a time of what is counted by the second is the total.
            ("sum", "B/s") if is_series => "B",
            ("sum", "1/s") if is_series => "",
            _ => of_one,
        }
    }

    /// The same in a plan, which knows what its subject is.
    pub(crate) fn unit_in(&self, plan: &Plan) -> &'static str {
        self.unit(plan.node(&self.subject).is_some())
    }
}

/// What a node has at a moment.
const LEVELS: &[&str] = &["memory", "table_bytes", "names", "pending", "cached"];
/// What a node did since the sample before: its mean and its sum are exact, however many samples there are.
const RATES: &[&str] = &["cpu", "busy", "waited", "throttled", "propagated", "noted", "answered", "expired"];
/// Levels that virtual time integrates from change to change.
const INTEGRATED: &[&str] = &["pending", "cached"];

impl Measure {
    /// Does the number differ with the seed where nothing else does? Tables are hashed with it, so that what
    /// they take is another number of bytes.
    pub(crate) fn is_of_hashes(&self) -> bool {
        self.quantity == "table_bytes"
    }

    /// Is it a number of the whole run, whichever part of that is measured?
    pub(crate) fn is_of_whole_run(&self, plan: &Plan) -> bool {
        let is_one = |list: &[(&str, &str)]| list.iter().any(|(word, _)| *word == self.quantity);
        if plan.node(&self.subject).is_some() {
            return is_one(NODE_TOTALS) || matches!(self.quantity.as_str(), "hits" | "misses");
        }
        let of_workload = plan.workloads.iter().find(|workload| workload.measured_as() == self.subject);
        let counts_all = |does: &Activity| matches!(does, Activity::Consume(_) | Activity::Flood { .. });
        self.subject == NETWORK
            || self.subject.starts_with('/')
            || !is_one(CONTENT_VALUES) && of_workload.is_some_and(|workload| counts_all(&workload.does))
    }

    /// Does the number depend on how often samples are taken?
    pub(crate) fn is_of_samples(&self, plan: &Plan, is_virtual: bool) -> bool {
        let (quantity, summary) = (self.quantity.as_str(), self.summary.as_str());
        let is_exact = if RATES.contains(&quantity) {
            matches!(summary, "mean" | "sum")
        } else {
            is_virtual && INTEGRATED.contains(&quantity) && matches!(summary, "mean" | "sum" | "max")
        };
        let is_sampled = RATES.contains(&quantity) || LEVELS.contains(&quantity);
        is_sampled && !is_exact && plan.node(&self.subject).is_some()
    }
}

impl FromStr for Measure {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let (path, case) = match text.split_once(" @ ") {
            Some((path, case)) => (path, Some(case.trim().to_owned())),
            None => (text, None),
        };
        let error = || MeasureError(text.to_owned());
        if path.trim().starts_with('/') {
            return of_prefix(path.trim(), case).ok_or_else(error);
        }
        let mut parts = path.trim().split('.');
        let subject = parts.next().filter(|part| !part.is_empty()).ok_or_else(error)?;
        let quantity = parts.next().filter(|part| !part.is_empty()).ok_or_else(error)?;
        let summary = parts.next().unwrap_or("mean");
        if parts.next().is_some() {
            return Err(error());
        }
        Ok(Measure {
            subject: subject.to_owned(),
            quantity: quantity.to_owned(),
            summary: summary.to_owned(),
            case,
        })
    }
}

/// A measure of a prefix, in whose components there may be dots, too.
fn of_prefix(path: &str, case: Option<String>) -> Option<Measure> {
    let (rest, last) = path.rsplit_once('.')?;
    let (path, summary) = if SUMMARIES.contains(&last) { (rest, last) } else { (path, "mean") };
    let (subject, quantity) = path.rsplit_once('.').filter(|(_, quantity)| !quantity.is_empty())?;
    Some(Measure {
        subject: subject.to_owned(),
        quantity: quantity.to_owned(),
        summary: summary.to_owned(),
        case,
    })
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.subject, self.quantity, self.summary)?;
        match &self.case {
            Some(case) => write!(f, " @ {case}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_reads_back_as_it_was_written() {
        for text in ["n2.pending.max", "files.goodput.mean @ rate 10/s"] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        assert_eq!("n2.pending".parse::<Measure>().unwrap().summary, "mean");
        let of_prefix = "/a.b/v=1.hits @ x".parse::<Measure>().unwrap();
        assert_eq!(of_prefix.to_string(), "/a.b/v=1.hits.mean @ x");
        assert_eq!("/a.satisfied.max".parse::<Measure>().unwrap().subject, "/a");
        assert!("/a".parse::<Measure>().is_err() && "/a.max".parse::<Measure>().is_err());
        assert!("n2".parse::<Measure>().is_err());
        assert!("a.b.c.d".parse::<Measure>().is_err());
    }
}
