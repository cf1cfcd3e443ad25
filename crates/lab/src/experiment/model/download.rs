//! Downloads: by the lab's own clients, or by programs that are known to it.

use super::is_empty;
use crate::experiment::reference::describe::tables;
use crate::experiment::resolve::choice::Choice;
use crate::experiment::units::{Frequency, Span};

tables! {
    /// Downloads of files, one after the other or many at once.
    Download as "download" {
        /// The node that asks; with several nodes each does, and all are measured together. Nodes that are
        /// drawn at random are drawn anew for each repeat.
        at: Choice,
        /// Only the first so many of these nodes.
        first: Option<u32> = "all",
        /// The program that fetches: `wget` or `curl` from the server of a node, `cairn` for `cairn get`. It
        /// writes files, which are compared with what was served. In network namespaces only.
        client: Option<String> = "the lab's own, which compares what it gets",
        /// The nodes whose servers `wget` and `curl` ask: with several, the nodes in `at` take them in turn.
        from: Vec<String> = "none",
        /// The name of the content.
        content: String,
        /// How many new downloads begin in a second.
        rate: Option<Frequency> = "the next begins when the one before is done",
        /// How many downloads there are; file numbers start over when there are more downloads than files.
        count: Option<u32> = "as many as there are files",
        /// How many may be under way at once; further ones wait.
        at_once: Option<u32> = "no limit",
        /// Which file is fetched when: a workload by its name and parameters, such as
        /// `zipf/rate~20/spacing~poisson`. Its items are the files.
        workload: Option<String> = "`rate` and `count` say it, file after file",
        /// Requests that somebody has recorded. Several nodes take them in turn.
        trace: Option<Replay> = "none",
        /// The congestion controller: `fixed`, `aimd`, `cubic`, or any other by its name and parameters, as
        /// in `pcon/beta~0.8`, which then sets its window itself.
        controller: Option<String> = "cubic",
        /// Interests in flight for one file with the controller `fixed`; the initial window of `aimd` and
        /// `cubic`.
        window: Option<u32> = "16 for fixed, 2 for others",
        /// Whether each segment is verified when it comes: one that the content's owner has not made is
        /// refused, and asked for again. Otherwise a file with such a segment is wrong, and does not count.
        verify: Option<bool> = "false",
        /// How long an Interest lives.
        lifetime: Option<Span> = "4 s",
        /// When the first begins.
        start: Option<Span> = "1 s",
        /// When no further one begins, with `workload` or `trace`. Those under way go on.
        stop: Option<Span> = "with the experiment",
    }

    /// A trace that is replayed: each request is a download, or an Interest of `traffic`, at its time from
    /// the first request on. The objects are the files of the content, in the order in which they appear;
    /// `trace` below `[content.NAME.sizes]` makes as many, each of the size that the trace says.
    Replay as "download.trace" {
        /// The trace's file, beside the experiment.
        file: String,
        /// How it is written: `csv` (time, object, size, or by a header), `oracle-general` of libCacheSim,
        /// `wiki` of Wikimedia, or `cdn` of webcachesim.
        format: Option<String> = "csv",
        /// How many times as fast it is replayed as it was recorded.
        speed: Option<f64> = "1",
        /// Only the first so many requests.
        requests: Option<u32> = "all, of which there may be a million",
    }
}
