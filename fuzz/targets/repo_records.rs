//! Volumes of the repository: whatever lies in one, reading it ends, tiles it, finds what was written soundly
//! and nothing that was not, and finds the same in pieces as in one.

#![no_main]

use arbitrary::Arbitrary;
use packet::{Dialect, NameHash};
use repo::UnixTime;
use repo::extent::UNIT_BYTES;
use repo::record::{Format, HEADER_BYTES, Header, RecordKind, ScanFinding, scan};

/// Where the bytes lie.
const VOLUME: u32 = 3;
const START: u64 = 64;

#[derive(Arbitrary, Debug)]
enum Part {
    /// A sound record.
    Record { kind: u8, segment: u32, object: u64, payload: Vec<u8> },
    /// A hole, or padding.
    Zeros(u8),
    /// What lies in a hostile packet, or on a broken disk.
    Bytes(Vec<u8>),
}

#[derive(Arbitrary, Debug)]
struct Input {
    parts: Vec<Part>,
    /// Bits that are flipped afterwards.
    flips: Vec<u32>,
    cut: u16,
    piece: u16,
}

libfuzzer_sys::fuzz_target!(|input: Input| {
    let format = Format::new([5, 6]);
    let mut bytes = Vec::new();
    let mut written = Vec::new();
    for part in input.parts.iter().take(64) {
        append(&format, part, &mut bytes, &mut written);
    }
    let mut touched = Vec::new();
    let flips = if bytes.is_empty() { &[][..] } else { &input.flips };
    for flip in flips.iter().take(8) {
        let at = *flip as usize / 8 % bytes.len();
        bytes[at] ^= 1 << (flip % 8);
        touched.push(at);
    }
    let left = bytes.len().saturating_sub(input.cut as usize);
    bytes.truncate(left);

    let whole = findings(&format, &bytes, bytes.len().max(1));
    // A piece must hold the largest record.
    let largest = written.iter().map(|&(start, end, _)| end - start).max().unwrap_or(0) + HEADER_BYTES + 16;
    assert_eq!(whole, findings(&format, &bytes, largest + input.piece as usize), "in pieces");
    for (start, end, header) in &written {
        let is_whole = *end <= bytes.len() && !touched.iter().any(|at| (*start..*end).contains(at));
        let is_found =
            whole.iter().any(|(at, found)| *at == START + *start as u64 && *found == Some(*header));
        assert!(is_found == is_whole || is_found && touched_twice(&touched), "{header:?}");
    }
    for (at, found) in whole.iter().filter(|(_, found)| found.is_some()) {
        let place = (at - START) as usize;
        assert!(
            written.iter().any(|&(start, _, header)| start == place && Some(header) == *found),
            "nobody wrote it"
        );
    }
});

/// A bit that was flipped twice is as it was.
fn touched_twice(touched: &[usize]) -> bool {
    touched.iter().enumerate().any(|(index, at)| touched[..index].contains(at))
}

fn append(format: &Format, part: &Part, bytes: &mut Vec<u8>, written: &mut Vec<(usize, usize, Header)>) {
    match part {
        Part::Zeros(units) => bytes.resize(bytes.len() + *units as usize * UNIT_BYTES as usize, 0),
        Part::Bytes(junk) => bytes.extend(junk.iter().take(4096)),
        Part::Record { kind, segment, object, payload } => {
            let kinds = [RecordKind::Data, RecordKind::Delete, RecordKind::DeleteSegments, RecordKind::Pin];
            let header = Header {
                kind: kinds[*kind as usize % kinds.len()],
                dialect: if kind & 0x80 == 0 { Dialect::Ndn } else { Dialect::Ccnx },
                payload_bytes: payload.len() as u32,
                payload_crc: repo::record::payload_crc(payload),
                segment: *segment,
                object: *object,
                name_hash: NameHash(object ^ 7),
                arrival: UnixTime::from_millis(u64::from(*segment)),
            };
            let start = bytes.len();
            bytes.extend(format.header(&header, VOLUME, START + start as u64));
            bytes.extend(payload);
            written.push((start, bytes.len(), header));
        }
    }
    bytes.resize(bytes.len().next_multiple_of(UNIT_BYTES as usize), 0);
}

/// What is found, by place: records as such, anything else as nothing.
fn findings(format: &Format, bytes: &[u8], piece: usize) -> Vec<(u64, Option<Header>)> {
    let (mut found_all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let end = (at + piece).min(bytes.len());
        let is_last = end == bytes.len();
        let mut behind = START + at as u64;
        let done = scan(format, &bytes[at..end], VOLUME, START + at as u64, is_last, &mut |place, found| {
            assert!(place >= behind, "in order, without overlap");
            match found {
                ScanFinding::Record(header, payload) => {
                    assert_eq!(payload.len(), header.payload_bytes as usize);
                    behind = place + header.record_bytes() as u64;
                    found_all.push((place, Some(header)));
                }
                ScanFinding::BadPayload(_) => behind = place + HEADER_BYTES as u64,
                ScanFinding::Garbage(bytes) => behind = place + bytes,
            }
        });
        assert!(done > 0 && done <= end - at, "it ends");
        at += done;
    }
    found_all
}
