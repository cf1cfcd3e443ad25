//! pcapng: a section, an interface for each face, and a block for each frame.
//!
//! Whatever a face's transport, its frames are written as Ethernet frames of NDN's type, 0x8624, which the
//! NDN dissectors of Wireshark know. The addresses are made up: 02:4e for the node, 02:46 and the face's
//! number for the face.

use std::collections::BTreeMap;
use std::io::{self, Write};

use engine::FaceId;
use link::Direction;

use super::Captured;
use crate::transport::ethernet::ETHERTYPE;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

/// Writes captured frames.
pub struct Writer<W: Write> {
    output: W,
    /// The interfaces written so far, by face.
    interfaces: BTreeMap<FaceId, u32>,
    /// Nanoseconds since 1970 of the node's time zero.
    epoch_nanos: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    pub(crate) fn new(mut output: W, epoch_nanos: u64) -> io::Result<Self> {
        let mut body = Vec::new();
        body.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        body.extend_from_slice(&1u16.to_le_bytes());
        body.extend_from_slice(&0u16.to_le_bytes());
        // The length of the section is not known.
        body.extend_from_slice(&u64::MAX.to_le_bytes());
        option(&mut body, 4, concat!("cairn ", env!("CARGO_PKG_VERSION")).as_bytes());
        end_of_options(&mut body);
        block(&mut output, SECTION_HEADER, &body)?;
        Ok(Writer { output, interfaces: BTreeMap::new(), epoch_nanos })
    }

    /// Adds a frame.
    pub(crate) fn write(&mut self, captured: &Captured) -> io::Result<()> {
        let interface = match self.interfaces.get(&captured.face) {
            Some(interface) => *interface,
            None => self.add_interface(captured)?,
        };
        let nanos = self.epoch_nanos.saturating_add(captured.at.as_nanos());
        let length = (captured.frame.len() + 14) as u32;
        let mut body = Vec::with_capacity(captured.frame.len() + 64);
        body.extend_from_slice(&interface.to_le_bytes());
        body.extend_from_slice(&((nanos >> 32) as u32).to_le_bytes());
        body.extend_from_slice(&(nanos as u32).to_le_bytes());
        body.extend_from_slice(&length.to_le_bytes());
        body.extend_from_slice(&length.to_le_bytes());
        let [a, b, c, d] = captured.face.0.to_be_bytes();
        let (node, face) = ([0x02, 0x4e, 0, 0, 0, 0], [0x02, 0x46, a, b, c, d]);
        let (to, from, flags) = match captured.direction {
            Direction::In => (node, face, 1u32),
            Direction::Out => (face, node, 2),
        };
        body.extend_from_slice(&to);
        body.extend_from_slice(&from);
        body.extend_from_slice(&ETHERTYPE.to_be_bytes());
        body.extend_from_slice(&captured.frame);
        pad(&mut body);
        option(&mut body, 2, &flags.to_le_bytes());
        end_of_options(&mut body);
        block(&mut self.output, PACKET, &body)
    }

    fn add_interface(&mut self, captured: &Captured) -> io::Result<u32> {
        let number = self.interfaces.len() as u32;
        let mut body = Vec::new();
        body.extend_from_slice(&ETHERNET.to_le_bytes());
        body.extend_from_slice(&0u16.to_le_bytes());
        // No limit to what is kept of a frame.
        body.extend_from_slice(&0u32.to_le_bytes());
        option(&mut body, 2, format!("face {}", captured.face).as_bytes());
        option(&mut body, 3, captured.remote.as_bytes());
        // Time in units of 10^-9 seconds.
        option(&mut body, 9, &[9]);
        end_of_options(&mut body);
        block(&mut self.output, INTERFACE, &body)?;
        self.interfaces.insert(captured.face, number);
        Ok(number)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    pad(body);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend_from_slice(&[0; 4]);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn block(output: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    output.write_all(&kind.to_le_bytes())?;
    output.write_all(&length)?;
    output.write_all(body)?;
    output.write_all(&length)
}

#[cfg(test)]
mod tests {
    use packet::time::Instant;

    use super::*;

    #[test]
    fn a_file_is_made_of_blocks_that_say_their_length_at_both_ends() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 1_700_000_000_000_000_000).unwrap();
        for (face, direction, length) in
            [(256, Direction::In, 7), (257, Direction::Out, 8), (256, Direction::Out, 8800)]
        {
            let frame = vec![5; length];
            let at = Instant::from_secs(2);
            writer
                .write(&Captured { face: FaceId(face), remote: "udp4://x".into(), direction, at, frame })
                .unwrap();
        }
        let mut kinds = Vec::new();
        let mut rest = &file[..];
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        while !rest.is_empty() {
            let length = word(rest, 4) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(rest, length - 4) as usize, length);
            kinds.push(word(rest, 0));
            if word(rest, 0) == PACKET {
                let (kept, real) = (word(rest, 20), word(rest, 24));
                assert_eq!(kept, real);
                assert_eq!(rest[28 + 12..28 + 14], [0x86, 0x24]);
                let nanos = u64::from(word(rest, 12)) << 32 | u64::from(word(rest, 16));
                assert_eq!(nanos, 1_700_000_002_000_000_000);
            }
            rest = &rest[length..];
        }
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE, PACKET, INTERFACE, PACKET, PACKET]);
    }
}
