//! The link protocol of CCNx in virtual time: its frames are those of the paper's captures.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs::File;
use std::path::Path;

use cairn_lab::experiment::Experiment;
use cairn_lab::run::{RunFolder, execute};
use formats::pcapng::Reader;
use packet::ccnx::ndnlp::LinkPacket;
use testkit::folder::TestFolder;

const ETHERNET_BYTES: usize = 14;

/// A frame as the paper's captures show it.
#[derive(Debug)]
struct CapturedFrame {
    time_ns: u64,
    length: usize,
    info: String,
}

/// What crosses the link in a run of the case of that name.
fn frames(only: &str) -> Vec<CapturedFrame> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/link-frames.toml");
    let experiment = Experiment::read(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
    let runs = TestFolder::absent(&format!("links-{}", only.len()));
    let mut options = common::options(&runs);
    options.only = Some(only.to_owned());
    options.controls = false;
    options.repeats = Some(1);
    let folder = execute(&experiment, &options, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    captured(&folder)
}

/// What crossed the link in the first repeat of the run's only case.
fn captured(folder: &RunFolder) -> Vec<CapturedFrame> {
    let file = folder.repeat(0, 0).join("trace/link-r0-r1.pcapng");
    let mut reader =
        Reader::new(File::open(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    let mut list = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        let (length, time_ns) = (frame.bytes.len(), frame.time_ns);
        let info = match LinkPacket::decode(&frame.bytes[ETHERNET_BYTES..]).unwrap() {
            LinkPacket::Data(data) if data.fragment.count > 1 => {
                format!("Data {:012x} {}/{}", data.sequence.get(), data.fragment.index, data.fragment.count)
            }
            LinkPacket::Data(data) => format!("Data {:012x}", data.sequence.get()),
            LinkPacket::Ack(ack) => format!("Ack {:012x}", ack.blocks().next().unwrap().base.get()),
        };
        list.push(CapturedFrame { time_ns, length, info });
    }
    list
}

#[test]
fn an_object_of_6600_bytes_has_the_frames_of_figure_4() {
    let all = frames("no loss");
    let fragments: Vec<&CapturedFrame> = all.iter().filter(|frame| frame.info.contains('/')).collect();
    let lengths: Vec<usize> = fragments.iter().map(|frame| frame.length).collect();
    assert_eq!(lengths, [1514, 1514, 1514, 1514, 1248], "{all:?}");
    let first = fragments[0].info.strip_suffix(" 0/5").unwrap().replace("Data", "Ack");
    let acks: Vec<&CapturedFrame> = all.iter().filter(|frame| frame.info == first).collect();
    assert_eq!(acks.iter().map(|ack| ack.length).collect::<Vec<_>>(), [43], "{all:?}");
    let waited_ms = (acks[0].time_ns - fragments[4].time_ns) / 1_000_000;
    assert!(waited_ms <= 301, "acknowledged after {waited_ms} ms");
}

#[test]
fn a_fragment_that_was_lost_comes_again_after_a_second_as_in_figure_5() {
    let all = frames("5 % loss");
    let mut gaps_ms = Vec::new();
    for (place, frame) in all.iter().enumerate().filter(|(_, frame)| frame.info.starts_with("Data")) {
        let before = all[..place].iter().rev().find(|before| before.info == frame.info);
        gaps_ms.extend(before.map(|before| (frame.time_ns - before.time_ns) / 1_000_000));
    }
    assert!(gaps_ms.len() > 10, "only {} frames were sent again", gaps_ms.len());
    assert!(gaps_ms.iter().all(|gap| (1000..1010).contains(gap)), "{gaps_ms:?}");
}
