//! Traces of requests, in all formats: what is read is bounded, ends at its first mistake, and is the same
//! whether it comes at once or in pieces; a policy that replays it serves no more than was asked for.

#![no_main]

use cairn_fuzz::small_reads::SmallReads;
use repo::eviction::{DeleteQueue, DeletionRule};
use repo::trace::{Entry, Objects, RequestTraceFormat, TraceReader, replay};

fn entries(bytes: &[u8], length: usize, format: RequestTraceFormat) -> (Vec<Entry>, bool) {
    let mut reader = TraceReader::new(SmallReads(bytes, length), format);
    let mut entries = Vec::new();
    let whole = loop {
        match reader.next() {
            Some(Ok(entry)) => entries.push(entry),
            Some(Err(_)) => break false,
            None => break true,
        }
    };
    assert!(reader.next().is_none());
    (entries, whole)
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for (_, format) in RequestTraceFormat::ALL {
        let (read, whole) = entries(bytes, usize::MAX, format);
        assert_eq!((&read, whole), (&entries(bytes, 3, format).0, entries(bytes, 3, format).1));
        // A request takes a byte and an end of line at least, or a record.
        assert!(read.len() <= bytes.len() / 2 + 1);
        let mut objects = Objects::default();
        let requests: Vec<_> = read
            .into_iter()
            .map(|entry| objects.number(Entry { bytes: entry.bytes % 1000, ..entry }))
            .collect();
        let rule = DeletionRule { threshold_bytes: 2000, ratio: 0.25 };
        let outcome = replay(&requests, rule, DeleteQueue::default(), 0);
        assert_eq!(outcome.requests, requests.len() as u64);
        let again = requests.len() - objects.len();
        assert!(outcome.hits <= again as u64 && outcome.hit_bytes <= outcome.bytes);
    }
});
