//! Captured frames as pcapng: an interface for each face, and a block for each frame.
//!
//! Whatever a face's transport, its frames are written as Ethernet frames of NDN's type, which the NDN
//! dissectors of Wireshark know. The addresses are made up: 02:4e for the node, 02:46 and the face's number
//! for the face.

use std::collections::BTreeMap;
use std::io::{self, Write};

use engine::FaceId;
use formats::pcapng::{self, Frame, Interface};
use link::Direction;
use packet::ETHERTYPE;

use super::Captured;

/// Bytes of the made-up header.
const HEADER_BYTES: usize = 14;

/// Writes captured frames.
pub struct Writer<W: Write> {
    file: pcapng::Writer<W>,
    /// The interfaces written so far, by face.
    interfaces: BTreeMap<FaceId, u32>,
    /// Nanoseconds since 1970 of the node's time zero.
    epoch_nanos: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    pub(crate) fn new(output: W, epoch_nanos: u64) -> io::Result<Self> {
        let file = pcapng::Writer::new(output, concat!("cairn ", env!("CARGO_PKG_VERSION")))?;
        Ok(Writer { file, interfaces: BTreeMap::new(), epoch_nanos })
    }

    /// Adds a frame.
    pub(crate) fn write(&mut self, captured: &Captured) -> io::Result<()> {
        let interface = match self.interfaces.get(&captured.face) {
            Some(interface) => *interface,
            None => self.add_interface(captured)?,
        };
        let [a, b, c, d] = captured.face.0.to_be_bytes();
        let (node, face) = ([0x02, 0x4e, 0, 0, 0, 0], [0x02, 0x46, a, b, c, d]);
        let (to, from, direction) = match captured.direction {
            Direction::In => (node, face, pcapng::Direction::In),
            Direction::Out => (face, node, pcapng::Direction::Out),
        };
        self.file.frame(&Frame {
            interface,
            time_ns: self.epoch_nanos.saturating_add(captured.at.as_nanos()),
            direction: Some(direction),
            length: (captured.frame.len() + HEADER_BYTES) as u32,
            // Wireshark's NDN dissectors take frames of this type, whatever they had been carried by.
            parts: &[&to, &from, &ETHERTYPE.to_be_bytes(), &captured.frame],
        })
    }

    fn add_interface(&mut self, captured: &Captured) -> io::Result<u32> {
        let name = format!("face {}", captured.face);
        let interface = Interface { name: &name, description: &captured.remote, snap_bytes: 0 };
        let number = self.file.interface(&interface)?;
        self.interfaces.insert(captured.face, number);
        Ok(number)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use packet::time::Instant;

    use super::*;

    const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    const INTERFACE: u32 = 1;
    const PACKET: u32 = 6;

    #[test]
    fn each_face_is_an_interface_before_its_first_frame() {
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
