//! What an agent has sent of its content, by the second: what remains for caches to have answered.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use formats::csv;
use packet::time::Instant;

use crate::memory_files;

/// How the name of the table begins; the node's name follows.
pub(crate) const SERVED: &str = "served-";
/// Its columns: the second, the content's place in the plan, Data packets, their bytes of content, and how
/// many of the packets were the first of a file.
const HEAD: [&str; 5] = ["second", "content", "packets", "bytes", "objects"];

/// Sums by second and content.
#[derive(Debug, Default)]
pub(super) struct ServedLog(BTreeMap<(u64, usize), [u64; 3]>);

impl ServedLog {
    /// A segment was sent.
    pub(super) fn note(&mut self, now: Instant, content: usize, segment: u64, bytes: usize) {
        let sums = self.0.entry((now.as_nanos() / 1_000_000_000, content)).or_default();
        for (sum, more) in sums.iter_mut().zip([1, bytes as u64, u64::from(segment == 0)]) {
            *sum += more;
        }
    }

    /// Writes the table into the folder.
    pub(super) fn write(&self, folder: &Path, node: &str) -> io::Result<()> {
        let rows = self.0.iter().map(|((second, content), [packets, bytes, objects])| {
            [*second, *content as u64, *packets, *bytes, *objects].map(|number| number.to_string())
        });
        let head = HEAD.map(str::to_owned);
        memory_files::write(
            &folder.join(format!("{SERVED}{node}.csv")),
            csv::to_string([head].into_iter().chain(rows)),
        )
    }
}
