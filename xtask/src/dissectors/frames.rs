//! Captures made for a check: payloads in frames of Ethernet, UDP and TCP, written as pcapng.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use formats::pcapng::{Frame, Interface, Writer};

/// The port of CCNx 0.8.
pub(super) const CCNX: u16 = 9695;
/// The port of NDN.
pub(super) const NDN: u16 = 6363;
/// The type of Ethernet frames that carry NDN.
const ETHERTYPE: [u8; 2] = [0x86, 0x24];
/// Where clients come from.
const CLIENT: u16 = 40000;

/// Which way a frame goes between two hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    There,
    Back,
}

impl Direction {
    /// The one and the other, in this way's order.
    fn order<T>(self, first: T, second: T) -> (T, T) {
        match self {
            Direction::There => (first, second),
            Direction::Back => (second, first),
        }
    }
}

/// A frame: its time in microseconds, and its bytes.
pub(super) struct Sent {
    pub(super) micros: u64,
    pub(super) bytes: Vec<u8>,
}

fn addressed(way: Direction, kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let (from, to) = way.order([2, 0xcc, 0, 0, 0, 1], [2, 0xcc, 0, 0, 0, 2]);
    [&to[..], &from, &kind, payload].concat()
}

/// A frame of Ethernet for named data.
pub(super) fn ethernet(way: Direction, payload: &[u8]) -> Vec<u8> {
    addressed(way, ETHERTYPE, payload)
}

fn ip(way: Direction, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let (from, to) = way.order([192, 0, 2, 1], [192, 0, 2, 2]);
    let length = (20 + payload.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    packet.extend([from, to].concat());
    packet.extend(payload);
    addressed(way, [8, 0], &packet)
}

/// A packet of an IP protocol.
pub(super) fn ip_packet(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ip(Direction::There, protocol, payload)
}

/// A datagram to or from `port`.
pub(super) fn udp(way: Direction, port: u16, payload: &[u8]) -> Vec<u8> {
    let (from, to) = way.order(CLIENT, port);
    let length = (8 + payload.len()) as u16;
    let header = [from.to_be_bytes(), to.to_be_bytes(), length.to_be_bytes(), [0, 0]].concat();
    ip(way, 17, &[&header[..], payload].concat())
}

/// A segment of the connection from `client` to `port`, its payload beginning at byte `at` of the stream.
pub(super) fn tcp(client: u16, port: u16, at: usize, payload: &[u8]) -> Vec<u8> {
    let sequence = (1000 + at as u32).to_be_bytes();
    let ports = [client.to_be_bytes(), port.to_be_bytes()].concat();
    // Data offset 5, PSH and ACK, a window, no checksum.
    let rest = [0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0];
    ip(Direction::There, 6, &[&ports[..], &sequence, &[0, 0, 0, 1], &rest, payload].concat())
}

/// Frames a millisecond apart.
pub(super) fn in_turn(frames: Vec<Vec<u8>>) -> Vec<Sent> {
    frames.into_iter().zip(0..).map(|(bytes, at)| Sent { micros: at * 1000, bytes }).collect()
}

/// Writes a capture. Of each frame `snap_bytes` are kept at most.
pub(super) fn write(path: &Path, frames: &[Sent], snap_bytes: usize) -> Result<(), String> {
    let shown = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut writer = Writer::new(BufWriter::new(File::create(path).map_err(shown)?), "").map_err(shown)?;
    let interface = Interface { name: "eth0", ..Interface::default() };
    let interface = writer.interface(&interface).map_err(shown)?;
    for Sent { micros, bytes } in frames {
        let kept = bytes.get(..snap_bytes).unwrap_or(bytes);
        let (time_ns, length) = (micros * 1000, bytes.len() as u32);
        let frame = Frame { interface, time_ns, direction: None, length, parts: &[kept] };
        writer.frame(&frame).map_err(shown)?;
    }
    writer.flush().map_err(shown)
}

/// No limit to what is kept.
pub(super) const WHOLE: usize = usize::MAX;
