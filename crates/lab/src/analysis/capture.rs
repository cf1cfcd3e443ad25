//! Goodput, throughput and retransmissions by the second, from a capture.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use formats::csv;
use formats::pcapng::{Direction, Reader};
use packet::PacketKind;

use super::repetition::{LinkHistory, Origins, Repetition};
use super::table::Table;
use super::window::LAST_AT;
use crate::capture::dissect::{Dissector, Summary};
use crate::capture::psml::PsmlWriter;
use crate::run;

/// Why a capture could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the capture {} cannot be read: {source}", .file.display())]
pub struct CaptureError {
    /// The file.
    file: PathBuf,
    /// What failed.
    source: io::Error,
}

/// The columns of the table by the second, in the order of the testbed report, and what it leaves out.
pub(crate) const COLUMNS: &[&str] = &[
    "time",
    "goodput",
    "goodput_interests",
    "throughput",
    "throughput_interests",
    "retransmissions",
    "interests",
    "data",
    "nacks",
    "repeated_names",
    LAST_AT,
];

const SECOND_NS: u64 = 1_000_000_000;

/// Where packets are listed, one a line, for people and for tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketFiles<'a> {
    /// The list as compressed CSV.
    pub(super) list: &'a Path,
    /// The list as compressed PSML, when it is wanted.
    pub(super) psml: Option<&'a Path>,
}

/// What is being counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    /// The interface in the file.
    pub(super) interface: u32,
    /// The direction in which Data travels.
    pub(super) data_direction: Direction,
    /// The start of the run.
    pub(super) start_ns: u64,
    /// How long it was. What was captured behind its end does not count.
    pub(super) length_ns: u64,
}

struct Lists {
    csv: csv::Writer<GzEncoder<BufWriter<File>>>,
    psml: Option<PsmlWriter<GzEncoder<BufWriter<File>>>>,
}

impl Lists {
    fn create(files: PacketFiles<'_>) -> io::Result<Self> {
        let packed = |path: &Path| -> io::Result<_> {
            Ok(GzEncoder::new(BufWriter::new(File::create(path)?), Compression::fast()))
        };
        let mut csv = csv::Writer::new(packed(files.list)?);
        csv.row(["time", "direction", "length", "info"])?;
        let psml = files.psml.map(packed).transpose()?.map(PsmlWriter::new).transpose()?;
        Ok(Lists { csv, psml })
    }

    fn add(
        &mut self,
        seconds: f64,
        time_ns: u64,
        outwards: bool,
        length: u32,
        summary: &Summary,
    ) -> io::Result<()> {
        let direction = if outwards { "out" } else { "in" };
        self.csv.field(format_args!("{seconds:.6}"))?;
        self.csv.field(direction)?;
        self.csv.field(length)?;
        self.csv.field(summary.info())?;
        self.csv.end_row()?;
        match &mut self.psml {
            Some(psml) => psml.packet(time_ns, length, summary),
            None => Ok(()),
        }
    }

    fn finish(self) -> io::Result<()> {
        self.csv.finish()?.finish()?.flush()?;
        match self.psml {
            Some(psml) => psml.finish()?.finish()?.flush(),
            None => Ok(()),
        }
    }
}

/// The packets of one frame, by what they are.
#[derive(Debug, Default)]
struct PacketCounts {
    interests: f64,
    repeated: f64,
    same_name: f64,
    data: f64,
    nacks: f64,
}

impl PacketCounts {
    fn of(summary: &Summary, outwards: bool, origins: &Origins, seen: &mut LinkHistory) -> Self {
        let mut counts = PacketCounts::default();
        for packet in &summary.packets {
            match packet.kind {
                Some(PacketKind::Interest) => {
                    counts.interests += 1.0;
                    let name = packet.name.as_ref();
                    match name.map(|name| origins.ask(seen, outwards, name, packet.nonce)) {
                        Some(Repetition::Again) => counts.repeated += 1.0,
                        Some(Repetition::SameName) => counts.same_name += 1.0,
                        Some(Repetition::First) | None => {}
                    }
                }
                Some(PacketKind::Data) => counts.data += 1.0,
                Some(PacketKind::Nack) => counts.nacks += 1.0,
                None => {}
            }
        }
        counts
    }
}

/// Counts a capture by the second, and lists its packets.
///
/// Goodput is what the NDN layer sent: packets with their link headers, and without Ethernet, IP and
/// transport. Throughput is all bytes of all frames. A retransmission is the same Interest again, or one with
/// which the same origin asks once more; other Interests for a name that was seen before in the same
/// direction are counted as repeated names.
///
/// # Errors
///
/// When the capture cannot be read, or the list not written.
pub(super) fn analyse_capture(
    file: &Path,
    view: View,
    files: PacketFiles<'_>,
    origins: &Origins,
) -> Result<Table, CaptureError> {
    let failed = |source| CaptureError { file: file.to_owned(), source };
    let mut reader = Reader::new(run::open_archived(file).map_err(failed)?);
    let mut lists = Lists::create(files).map_err(failed)?;
    let mut table = Table::new(COLUMNS);
    table.rows = (0..view.length_ns.div_ceil(SECOND_NS).max(1))
        .map(|second| {
            let mut row = vec![0.0; COLUMNS.len()];
            if let Some(time) = row.first_mut() {
                *time = second as f64;
            }
            row
        })
        .collect();
    let mut dissector = Dissector::default();
    let mut seen = LinkHistory::default();
    while let Some(frame) = reader.next_frame().map_err(failed)? {
        if frame.interface != view.interface {
            continue;
        }
        let with_data = frame.direction == view.data_direction;
        let summary = dissector.dissect(&frame.bytes, frame.length).unwrap_or_default();
        let nanoseconds = frame.time_ns as i128 - view.start_ns as i128;
        let seconds = nanoseconds as f64 / 1e9;
        let outwards = frame.direction == Direction::Out;
        lists.add(seconds, frame.time_ns, outwards, frame.length, &summary).map_err(failed)?;
        let counts = PacketCounts::of(&summary, outwards, origins, &mut seen);
        if nanoseconds >= i128::from(view.length_ns) {
            continue;
        }
        let second = usize::try_from(nanoseconds.div_euclid(i128::from(SECOND_NS))).ok();
        let Some(row) = second.and_then(|second| table.rows.get_mut(second)) else { continue };
        let [_, goodput, goodput_back, throughput, throughput_back, again, i, d, n, same, last_at] =
            row.as_mut_slice()
        else {
            continue;
        };
        let (good, through) = if with_data { (goodput, throughput) } else { (goodput_back, throughput_back) };
        *good += f64::from(summary.payload);
        *through += f64::from(frame.length);
        *again += counts.repeated;
        *i += counts.interests;
        *d += counts.data;
        *n += counts.nacks;
        *same += counts.same_name;
        // Frames that hold no packet come whenever they like.
        if counts.interests + counts.data + counts.nacks > 0.0 {
            *last_at = last_at.max(seconds);
        }
    }
    lists.finish().map_err(failed)?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;
    use formats::pcapng::{Frame, Interface, Writer};
    use packet::ndn::{DataBuilder, InterestBuilder};

    /// A UDP datagram in an Ethernet frame.
    fn frame(payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend(u16::try_from(28 + payload.len()).unwrap().to_be_bytes());
        frame
            .extend([0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x18, 0xdb, 0x18, 0xdb, 0, 0, 0, 0]);
        frame.extend(payload);
        frame
    }

    #[test]
    fn goodput_throughput_and_retransmissions_are_told_apart_by_direction_and_second() {
        let folder = TestFolder::new("capture-test");
        let file = folder.join("capture.pcapng");
        let ask = |nonce| {
            let interest = InterestBuilder::new("/a/1".parse().unwrap()).nonce(nonce).build().unwrap();
            frame(interest.wire())
        };
        let content = vec![7; 300];
        let data = DataBuilder::new("/a/1".parse().unwrap()).content(content).build_with_digest().unwrap();
        let answer = frame(data.wire());
        let second = 1_000_000_000;
        let mut writer = Writer::new(File::create(&file).unwrap(), "").unwrap();
        let interface = writer.interface(&Interface { name: "to-b", ..Interface::default() }).unwrap();
        let mut add = |at_ns: u64, direction, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap();
            let (time_ns, direction) = (5 * second + at_ns, Some(direction));
            writer.frame(&Frame { interface, time_ns, direction, length, parts: &[bytes] }).unwrap();
        };
        add(0, Direction::Out, &ask(1));
        add(second / 2, Direction::Out, &ask(2));
        add(second + 1, Direction::In, &answer);
        writer.flush().unwrap();
        let view =
            View { interface: 0, data_direction: Direction::In, start_ns: 5 * second, length_ns: 2 * second };
        let list = folder.join("packets.csv.gz");
        let analyse = |origins: &Origins| {
            analyse_capture(&file, view, PacketFiles { list: &list, psml: None }, origins).unwrap()
        };
        let mut origins = Origins::default();
        let table = analyse(&origins);
        assert_eq!(table.column("retransmissions"), [0.0, 0.0], "another Interest for the same name");
        assert_eq!(table.column("repeated_names"), [1.0, 0.0]);
        origins.note(&"/a/1".parse().unwrap(), 2);
        let table = analyse(&origins);
        assert_eq!(table.column("retransmissions"), [1.0, 0.0], "the same transfer asks again");
        assert_eq!(table.column("repeated_names"), [0.0, 0.0]);
        assert_eq!(table.column("interests"), [2.0, 0.0]);
        assert_eq!(table.column("data"), [0.0, 1.0]);
        assert_eq!(table.column(LAST_AT), [0.5, 1.0 + 1e-9]);
        assert_eq!(table.column("goodput"), [0.0, data.wire().len() as f64]);
        assert_eq!(table.column("throughput"), [0.0, answer.len() as f64]);
        assert_eq!(table.column("throughput_interests"), [2.0 * ask(1).len() as f64, 0.0]);
    }
}
