//! Generated files, all as large as each other or each with a size of its own.

use super::is_empty;
use crate::experiment::reference::describe::tables;
use crate::experiment::units::{Size, Span};

tables! {
    /// Files that are generated from the seed and served by a node. File number n is called `<prefix>/<n>`.
    Content as "content" {
        /// The prefix of their names.
        prefix: String,
        /// The node that serves them.
        at: String,
        /// How many files there are.
        count: Option<u32> = "1; as many as a list of sizes or a trace has",
        /// The size of each file.
        size: Option<Size> = "`sizes` says it",
        /// The sizes of files that differ.
        sizes: Option<Sizes> = "`size` says it",
        /// The bytes of content in one Data packet.
        segment: Option<Size> = "4096 B",
        /// How long a segment counts as fresh in a cache.
        freshness: Option<Span> = "1 h",
        /// What signs the segments: `none`, a digest; `owner`, the owner's key, whose identity is the prefix.
        /// Downloads with `verify` then check the signature of each, up to what is believed of the owner.
        key: Option<String> = "none",
        /// What became of the key that the owner had before, and which a registration with the key `stolen`
        /// uses: `valid`, its certificate counts still; `expired`, it has run out in the first second;
        /// `revoked`, the owner has revoked it, and whoever checks keys has the record; `published`, nobody
        /// has the record before the owner publishes it at `revoked_at`.
        earlier_key: Option<String> = "valid",
        /// When the owner begins to publish the record, in a list called `REVOKED` beside the content's
        /// prefix (`/net/REVOKED` for `/net/files`), which is signed with the key of that name's identity
        /// (`/net`). Whoever checks keys has asked for the list from the begin, once a second; routes to it
        /// must be there.
        revoked_at: Option<Span> = "only with `earlier_key = \"published\"`",
    }

    /// Sizes of files: a list, a distribution, or what a file has counted. Those that are drawn are drawn
    /// with the seed of the repeat, alike on every backend.
    Sizes as "content.sizes" {
        /// The size of each file, one after the other, and again from the first where there are more files.
        list: Vec<Size> = "`law`, `file` or `trace` says it",
        /// The distribution: `pareto` with `shape`, `min` and `max`, or `log-normal` with `median`,
        /// `deviation` and `max`.
        law: Option<String> = "`list`, `file` or `trace` says it",
        /// The exponent of `pareto`: the smaller, the more there is in the largest files.
        shape: Option<f64> = "1.2",
        /// The smallest size of `pareto`.
        min or "least": Option<Size> = "1 kB",
        /// The largest size that is drawn.
        max or "most": Option<Size> = "1,000 times the smallest of `pareto`, or the median of `log-normal`",
        /// The size that half of all files of `log-normal` do not reach.
        median: Option<Size> = "10 kB",
        /// The standard deviation of the natural logarithm of `log-normal`.
        deviation: Option<f64> = "1",
        /// A CSV file beside the experiment with a size in bytes in each line, of which each is as likely. If
        /// its first line has names, the column `size`, `bytes` or `obj_size` counts, otherwise the first.
        file: Option<String> = "`list`, `law` or `trace` says it",
        /// A trace beside the experiment: as many files as it has objects, in the order in which they appear,
        /// each of the size that it has there first.
        trace: Option<String> = "`list`, `law`, `file` or `trace` says it",
        /// How the trace is written: `csv`, `oracle-general`, `wiki` or `cdn`.
        format: Option<String> = "csv",
    }
}
