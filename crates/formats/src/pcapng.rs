//! pcapng, as far as captures of Ethernet interfaces need it: written as frames come, read one by one. After
//! draft-ietf-opsawg-pcapng.

mod read;

use std::io::{self, Write};

pub use read::{Reader, RecordedFrame};

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
const OPTION_APPLICATION: u16 = 4;
const OPTION_NAME: u16 = 2;
const OPTION_DESCRIPTION: u16 = 3;
const OPTION_RESOLUTION: u16 = 9;
const OPTION_RECEIVED: u16 = 4;
const OPTION_DROPPED: u16 = 5;
const OPTION_FLAGS: u16 = 2;

/// Which way a frame went, seen from the node that captured it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To this node.
    In,
    /// From this node.
    Out,
}

/// An interface that frames are captured at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// What it is called; empty for none.
    pub name: &'a str,
    /// What it is; empty for none.
    pub description: &'a str,
    /// How many bytes of each frame are kept; 0 is no limit.
    pub snap_bytes: u32,
}

/// A frame to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The interface, counted from 0 in the file.
    pub interface: u32,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// Which way it went, if it went any.
    pub direction: Option<Direction>,
    /// Bytes it had on the wire.
    pub length: u32,
    /// The bytes that were kept, one part after the other.
    pub parts: &'a [&'a [u8]],
}

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a file, written by the program `application` if that is not empty.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        let mut writer = Writer { out, block: Vec::new(), interfaces: 0 };
        writer.write(SECTION, |block| {
            block.extend(BYTE_ORDER.to_le_bytes());
            block.extend([1, 0, 0, 0]);
            // The length of the section is not known.
            block.extend(u64::MAX.to_le_bytes());
            if !application.is_empty() {
                option(block, OPTION_APPLICATION, application.as_bytes());
                end_of_options(block);
            }
        })?;
        Ok(writer)
    }

    /// Adds an Ethernet interface; gives its number.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        self.write(INTERFACE, |block| {
            block.extend(ETHERNET.to_le_bytes());
            block.extend([0, 0]);
            block.extend(interface.snap_bytes.to_le_bytes());
            let words = [(OPTION_NAME, interface.name), (OPTION_DESCRIPTION, interface.description)];
            for (code, text) in words.iter().filter(|(_, text)| !text.is_empty()) {
                option(block, *code, text.as_bytes());
            }
            // Times are in units of 10^-9 s.
            option(block, OPTION_RESOLUTION, &[9]);
            end_of_options(block);
        })?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        self.write(ENHANCED_PACKET, |block| {
            block.extend(frame.interface.to_le_bytes());
            block.extend(time(frame.time_ns));
            let kept: usize = frame.parts.iter().map(|part| part.len()).sum();
            block.extend(length_of(kept));
            block.extend(frame.length.to_le_bytes());
            frame.parts.iter().for_each(|part| block.extend_from_slice(part));
            pad(block);
            if let Some(direction) = frame.direction {
                let flags: u32 = if direction == Direction::In { 1 } else { 2 };
                option(block, OPTION_FLAGS, &flags.to_le_bytes());
                end_of_options(block);
            }
        })
    }

    /// Ends the file with what an interface received and missed.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn statistics(
        &mut self,
        interface: u32,
        time_ns: u64,
        received: u64,
        dropped: u64,
    ) -> io::Result<()> {
        self.write(STATISTICS, |block| {
            block.extend(interface.to_le_bytes());
            block.extend(time(time_ns));
            option(block, OPTION_RECEIVED, &received.to_le_bytes());
            option(block, OPTION_DROPPED, &dropped.to_le_bytes());
            end_of_options(block);
        })
    }

    /// Hands everything to the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
        fill(&mut self.block);
        let length = length_of(self.block.len() + 4);
        self.block.splice(4..8, length);
        self.block.extend(length);
        self.out.write_all(&self.block)
    }
}

fn length_of(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes()
}

/// A time, the upper half first.
fn time(nanos: u64) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h] = nanos.to_le_bytes();
    [e, f, g, h, a, b, c, d]
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    // A text that is longer than an option can be is cut: it is for people.
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    block.extend(code.to_le_bytes());
    block.extend((value.len() as u16).to_le_bytes());
    block.extend_from_slice(value);
    pad(block);
}

fn end_of_options(block: &mut Vec<u8>) {
    block.extend([0; 4]);
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn written() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, "a test").unwrap();
        for name in ["to-b", "to-c"] {
            writer.interface(&Interface { name, description: "a link", snap_bytes: 500 }).unwrap();
        }
        let (time_ns, direction) = (0x1234_5678_9ABC_DEF0, Some(Direction::Out));
        let parts: [&[u8]; 2] = [&[1, 2], &[3, 4, 5]];
        writer.frame(&Frame { interface: 1, time_ns, direction, length: 1514, parts: &parts }).unwrap();
        let direction = Some(Direction::In);
        writer.frame(&Frame { interface: 0, time_ns: 7, direction, length: 60, parts: &[&[9; 60]] }).unwrap();
        writer.statistics(0, 8, 12, 3).unwrap();
        bytes
    }

    #[test]
    fn every_block_is_a_multiple_of_four_bytes_and_says_its_length_twice() {
        let bytes = written();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut at = 0;
        let mut kinds = Vec::new();
        while at < bytes.len() {
            let length = word(at + 4);
            assert_eq!(length % 4, 0);
            assert_eq!(word(at + length as usize - 4), length);
            kinds.push(word(at));
            at += length as usize;
        }
        assert_eq!(kinds, [SECTION, INTERFACE, INTERFACE, ENHANCED_PACKET, ENHANCED_PACKET, STATISTICS]);
    }
}
