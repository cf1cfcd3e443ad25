//! What an agent has sent of its content, by the second: what remains for caches to have answered.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use formats::csv;
use packet::time::Instant;

use crate::memory_files;

/// How the name of the table begins; the node's name follows.
pub(crate) const SERVED: &str = "served-";
/// Its columns: the second, the content's place in the plan, the file, how often these segments of it had
/// been sent by then, Data packets, their bytes of content, and how many of the packets were the first of a
/// file.
const HEAD: [&str; 7] = ["second", "content", "file", "time", "packets", "bytes", "objects"];

/// A segment that was sent more often counts as sent so often, so that rows do not grow with requests.
const MAX_TIMES: u32 = 1000;

/// A segment: its content, file and number.
type Segment = (usize, u32, u64);

/// What was sent in a second of a content's file, of segments that were sent so many times.
type Key = (u64, usize, u32, u32);

/// Sums by second, content, file, and how often a segment was sent.
#[derive(Debug, Default)]
pub(super) struct ServedLog {
    sums: BTreeMap<Key, [u64; 3]>,
    /// How often each segment was sent.
    sent: HashMap<Segment, u32>,
}

impl ServedLog {
    /// A segment was sent.
    pub(super) fn note(&mut self, now: Instant, (content, file, segment): Segment, bytes: usize) {
        let times = self.sent.entry((content, file, segment)).or_default();
        *times = times.saturating_add(1).min(MAX_TIMES);
        let sums = self.sums.entry((now.as_nanos() / 1_000_000_000, content, file, *times)).or_default();
        for (sum, more) in sums.iter_mut().zip([1, bytes as u64, u64::from(segment == 0)]) {
            *sum += more;
        }
    }

    /// Writes the table into the folder.
    pub(super) fn write(&self, folder: &Path, node: &str) -> io::Result<()> {
        let rows = self.sums.iter().map(|(key, [packets, bytes, objects])| {
            let (second, content, file, times) = *key;
            [second, content as u64, file.into(), times.into(), *packets, *bytes, *objects]
                .map(|number| number.to_string())
        });
        let head = HEAD.map(str::to_owned);
        memory_files::write(
            &folder.join(format!("{SERVED}{node}.csv")),
            csv::to_string([head].into_iter().chain(rows)),
        )
    }
}

#[cfg(test)]
mod tests {
    use packet::time::Duration;

    use super::*;

    #[test]
    fn rows_do_not_grow_with_requests_for_one_segment() {
        let mut log = ServedLog::default();
        for second in 0..3 {
            for _ in 0..2 * MAX_TIMES {
                log.note(Instant::ZERO + Duration::from_secs(second), (0, 0, 0), 10);
            }
        }
        assert_eq!(log.sums.len(), MAX_TIMES as usize + 2, "and one in each second behind");
        let packets: u64 = log.sums.values().map(|[packets, ..]| packets).sum();
        assert_eq!(packets, 6 * u64::from(MAX_TIMES));
    }
}
