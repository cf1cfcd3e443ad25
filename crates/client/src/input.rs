//! Bytes that were read, and the frames in them.

use std::ops::Range;

use packet::DecodeError;
use packet::time::Instant;

use crate::datagrams::Train;

/// Bytes read from the socket at once.
const READ_BYTES: usize = 256 << 10;

/// What was read last, and how far its frames were taken.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    /// Where the next frame begins.
    start: usize,
    /// Where the bytes that were read end.
    end: usize,
    /// The length of all datagrams in it but the last, which may be shorter. `None`: a stream, in which
    /// frames tell their length.
    stride: Option<usize>,
    /// When it was read.
    pub(crate) read_at: Instant,
}

impl Input {
    pub(crate) fn new(is_datagrams: bool) -> Self {
        let stride = is_datagrams.then_some(1);
        Input { bytes: vec![0; READ_BYTES], start: 0, end: 0, stride, read_at: Instant::ZERO }
    }

    /// Where the next frame is; `None` if it is not whole yet. `frame_len` says how long the frame is that a
    /// stream begins with.
    pub(crate) fn next_frame(
        &mut self,
        frame_len: impl FnOnce(&[u8]) -> Result<Option<usize>, DecodeError>,
    ) -> Result<Option<Range<usize>>, DecodeError> {
        let rest = self.bytes.get(self.start..self.end).unwrap_or_default();
        let length = match self.stride {
            Some(stride) => Some(stride.min(rest.len())).filter(|length| *length > 0),
            None => frame_len(rest)?,
        };
        let start = self.start;
        self.start += length.unwrap_or(0);
        Ok(length.map(|length| start..start + length))
    }

    /// Room for what is read next, behind what is less than a frame.
    pub(crate) fn make_room(&mut self) -> &mut [u8] {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// So much was read into that room.
    pub(crate) fn handle_read(&mut self, now: Instant, train: Train) {
        self.read_at = now;
        self.end += train.length;
        self.stride = self.stride.map(|_| train.stride);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::lp::frame_len;
    use packet::ndn::tlv;

    /// What comes out when so many bytes are read at a time.
    fn frames(bytes: &[u8], at_once: usize) -> Result<Vec<Vec<u8>>, DecodeError> {
        let mut input = Input::new(false);
        let mut frames = Vec::new();
        for part in bytes.chunks(at_once) {
            input.make_room()[..part.len()].copy_from_slice(part);
            input.handle_read(Instant::ZERO, Train { length: part.len(), stride: 1 });
            while let Some(frame) = input.next_frame(frame_len)? {
                frames.push(input.bytes[frame].to_vec());
            }
        }
        Ok(frames)
    }

    #[test]
    fn frames_come_out_of_a_stream_as_they_went_in_however_it_is_cut() {
        let expected: Vec<Vec<u8>> = (0..100usize)
            .map(|number| {
                let mut frame = Vec::new();
                tlv::write_element(&mut frame, 100, &vec![number as u8; number * 83]);
                frame
            })
            .collect();
        for at_once in [1, 2, 3, 1000, 9000, READ_BYTES] {
            assert_eq!(frames(&expected.concat(), at_once).as_ref(), Ok(&expected), "{at_once} at once");
        }
    }

    #[test]
    fn what_cannot_be_a_frame_is_refused_before_it_has_all_come() {
        assert!(frames(&[100, 254, 0, 0, 36, 0], 1).is_err());
        assert!(frames(&[100, 253, 0, 5], 4).is_err());
        assert!(frames(&[100, 255, 255, 255, 255, 255, 255, 255, 255, 255], 10).is_err());
    }

    #[test]
    fn datagrams_that_came_together_are_cut_where_they_were_joined() {
        let mut input = Input::new(true);
        for (length, stride, expected) in [(10, 4, &[0, 4, 8, 10][..]), (7, 7, &[0, 7]), (0, 1, &[0])] {
            input.make_room();
            input.handle_read(Instant::ZERO, Train { length, stride });
            let found: Vec<_> = std::iter::from_fn(|| input.next_frame(frame_len).unwrap()).collect();
            let bounds: Vec<_> = expected.windows(2).map(|ends| ends[0]..ends[1]).collect();
            assert_eq!(found, bounds);
        }
    }
}
