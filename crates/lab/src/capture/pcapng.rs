//! The pcapng format, as far as a capture of Ethernet interfaces needs it: written as packets come, read one
//! by one.

use std::io::{self, Read, Write};

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const ETHERNET: u16 = 1;
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;
const OPTION_RECEIVED: u16 = 4;
const OPTION_DROPPED: u16 = 5;
const OPTION_FLAGS: u16 = 2;
/// No block of ours is longer; one that claims to be is damage.
const LONGEST_BLOCK_BYTES: u32 = 1 << 20;

/// Which way a frame went, seen from the node that captured it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To this node.
    In,
    /// From this node.
    Out,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The interface, counted from 0 in the file.
    pub interface: u32,
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Which way it went.
    pub direction: Direction,
    /// Bytes it had on the wire.
    pub length: u32,
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
}

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a file with these interfaces.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn new(out: W, interfaces: &[&str], snap_bytes: u32) -> io::Result<Self> {
        let mut writer = Writer { out, block: Vec::new() };
        writer.write(SECTION, |block| {
            block.extend(BYTE_ORDER.to_le_bytes());
            block.extend([1, 0, 0, 0]);
            block.extend(u64::MAX.to_le_bytes());
        })?;
        for name in interfaces {
            writer.write(INTERFACE, |block| {
                block.extend(ETHERNET.to_le_bytes());
                block.extend([0, 0]);
                block.extend(snap_bytes.to_le_bytes());
                option(block, OPTION_NAME, name.as_bytes());
                option(block, OPTION_RESOLUTION, &[9]);
                block.extend([0; 4]);
            })?;
        }
        Ok(writer)
    }

    /// Adds a frame, of which `bytes` were kept.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn frame(
        &mut self,
        interface: u32,
        time_ns: u64,
        direction: Direction,
        length: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        self.write(ENHANCED_PACKET, |block| {
            block.extend(interface.to_le_bytes());
            let [a, b, c, d, e, f, g, h] = time_ns.to_le_bytes();
            block.extend([e, f, g, h, a, b, c, d]);
            block.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            block.extend(length.to_le_bytes());
            block.extend_from_slice(bytes);
            pad(block);
            let flags: u32 = if direction == Direction::In { 1 } else { 2 };
            option(block, OPTION_FLAGS, &flags.to_le_bytes());
            block.extend([0; 4]);
        })
    }

    /// Ends the file with what an interface received and missed.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn statistics(
        &mut self,
        interface: u32,
        time_ns: u64,
        received: u64,
        dropped: u64,
    ) -> io::Result<()> {
        self.write(STATISTICS, |block| {
            block.extend(interface.to_le_bytes());
            let [a, b, c, d, e, f, g, h] = time_ns.to_le_bytes();
            block.extend([e, f, g, h, a, b, c, d]);
            option(block, OPTION_RECEIVED, &received.to_le_bytes());
            option(block, OPTION_DROPPED, &dropped.to_le_bytes());
            block.extend([0; 4]);
        })
    }

    /// Hands everything to the file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn write(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
        fill(&mut self.block);
        let length = u32::try_from(self.block.len() + 4).unwrap_or(u32::MAX).to_le_bytes();
        self.block.splice(4..8, length);
        self.block.extend(length);
        self.out.write_all(&self.block)
    }
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend(code.to_le_bytes());
    block.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_le_bytes());
    block.extend_from_slice(value);
    pad(block);
}

/// Reads a capture that [`Writer`] wrote.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    /// What statistics blocks said was dropped.
    dropped: u64,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    #[must_use]
    pub fn new(input: R) -> Self {
        Reader { input, dropped: 0 }
    }

    /// Frames that the capture missed, as far as has been read.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The next frame, or nothing at the end. A capture that was cut off ends at its last whole frame.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is no capture.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let mut head = [0; 8];
            if !fill(&mut self.input, &mut head)? {
                return Ok(None);
            }
            let [a, b, c, d, e, f, g, h] = head;
            let kind = u32::from_le_bytes([a, b, c, d]);
            let length = u32::from_le_bytes([e, f, g, h]);
            if !(12..=LONGEST_BLOCK_BYTES).contains(&length) {
                let message = format!("a block of {length} bytes is not one of a capture");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            let mut body = vec![0; usize::try_from(length).unwrap_or(12) - 8];
            if !fill(&mut self.input, &mut body)? {
                return Ok(None);
            }
            match kind {
                ENHANCED_PACKET => {
                    if let Some(frame) = frame(&body) {
                        return Ok(Some(frame));
                    }
                }
                STATISTICS => self.dropped += dropped(&body).unwrap_or(0),
                _ => {}
            }
        }
    }
}

/// Fills the buffer. False when the input ends before.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn number(body: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?))
}

fn frame(body: &[u8]) -> Option<Frame> {
    let time_ns = (u64::from(number(body, 4)?) << 32) | u64::from(number(body, 8)?);
    let kept = usize::try_from(number(body, 12)?).ok()?;
    let bytes = body.get(20..20usize.checked_add(kept)?)?.to_vec();
    let options = 20 + kept.next_multiple_of(4);
    let flags = find_option(body, options, OPTION_FLAGS).and_then(|value| number(value, 0)).unwrap_or(1);
    let direction = if flags & 3 == 2 { Direction::Out } else { Direction::In };
    Some(Frame { interface: number(body, 0)?, time_ns, direction, length: number(body, 16)?, bytes })
}

fn find_option(body: &[u8], mut at: usize, wanted: u16) -> Option<&[u8]> {
    loop {
        let head = number(body, at)?;
        let (code, length) = ((head & 0xFFFF) as u16, (head >> 16) as usize);
        if code == 0 {
            return None;
        }
        let value = body.get(at + 4..at + 4 + length)?;
        if code == wanted {
            return Some(value);
        }
        at += 4 + length.next_multiple_of(4);
    }
}

fn dropped(body: &[u8]) -> Option<u64> {
    let value = find_option(body, 12, OPTION_DROPPED)?;
    Some(u64::from_le_bytes(value.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, &["to-b", "to-c"], 500).unwrap();
        writer.frame(1, 0x1234_5678_9ABC_DEF0, Direction::Out, 1514, &[1, 2, 3, 4, 5]).unwrap();
        writer.frame(0, 7, Direction::In, 60, &[9; 60]).unwrap();
        writer.statistics(0, 8, 12, 3).unwrap();
        bytes
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes = written();
        let mut reader = Reader::new(bytes.as_slice());
        let first = reader.next_frame().unwrap().unwrap();
        assert_eq!((first.interface, first.time_ns, first.length), (1, 0x1234_5678_9ABC_DEF0, 1514));
        assert_eq!((first.direction, first.bytes), (Direction::Out, vec![1, 2, 3, 4, 5]));
        let second = reader.next_frame().unwrap().unwrap();
        assert_eq!((second.direction, second.bytes.len()), (Direction::In, 60));
        assert!(reader.next_frame().unwrap().is_none());
        assert_eq!(reader.dropped(), 3);
    }

    #[test]
    fn a_capture_that_was_cut_off_ends_at_its_last_whole_frame() {
        let bytes = written();
        for end in 0..bytes.len() {
            let mut reader = Reader::new(&bytes[..end]);
            let mut frames = 0;
            while reader.next_frame().unwrap().is_some() {
                frames += 1;
            }
            assert!(frames <= 2);
        }
    }

    #[test]
    fn every_block_is_a_multiple_of_four_bytes_and_says_its_length_twice() {
        let bytes = written();
        let mut at = 0;
        let mut kinds = Vec::new();
        while at < bytes.len() {
            let length = number(&bytes, at + 4).unwrap();
            assert_eq!(length % 4, 0);
            assert_eq!(number(&bytes, at + length as usize - 4), Some(length));
            kinds.push(number(&bytes, at).unwrap());
            at += length as usize;
        }
        assert_eq!(kinds, [SECTION, INTERFACE, INTERFACE, ENHANCED_PACKET, ENHANCED_PACKET, STATISTICS]);
    }
}
