//! Reading what the writer wrote.

use std::io::{self, Read};

use super::{Direction, ENHANCED_PACKET, OPTION_DROPPED, OPTION_FLAGS, STATISTICS};

/// No block of ours is longer; one that claims to be is damage.
const MAX_BLOCK_BYTES: u32 = 1 << 20;

/// A frame that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFrame {
    /// The interface, counted from 0 in the file.
    pub interface: u32,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// Which way it went; in, if the file does not say it.
    pub direction: Direction,
    /// Bytes it had on the wire.
    pub length: u32,
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
}

/// Reads a capture that [`Writer`](super::Writer) wrote.
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
    /// When the file cannot be read or is no capture.
    pub fn next_frame(&mut self) -> io::Result<Option<RecordedFrame>> {
        loop {
            let mut head = [0; 8];
            if !fill(&mut self.input, &mut head)? {
                return Ok(None);
            }
            let [a, b, c, d, e, f, g, h] = head;
            let kind = u32::from_le_bytes([a, b, c, d]);
            let length = u32::from_le_bytes([e, f, g, h]);
            if !(12..=MAX_BLOCK_BYTES).contains(&length) {
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

fn frame(body: &[u8]) -> Option<RecordedFrame> {
    let time_ns = (u64::from(number(body, 4)?) << 32) | u64::from(number(body, 8)?);
    let kept = usize::try_from(number(body, 12)?).ok()?;
    let bytes = body.get(20..20usize.checked_add(kept)?)?.to_vec();
    let options = 20 + kept.next_multiple_of(4);
    let flags = find_option(body, options, OPTION_FLAGS).and_then(|value| number(value, 0)).unwrap_or(1);
    let direction = if flags & 3 == 2 { Direction::Out } else { Direction::In };
    Some(RecordedFrame { interface: number(body, 0)?, time_ns, direction, length: number(body, 16)?, bytes })
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
    use super::super::tests::written;
    use super::*;

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
}
