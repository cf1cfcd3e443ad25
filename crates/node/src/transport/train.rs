//! Datagrams of one face on their way out, collected over a turn so that they leave in trains.

use packet::Buffer;

use crate::codec::FrameSink;

/// Frames one behind the other, with their lengths.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    lengths: Vec<u32>,
    /// How much of `bytes` belongs to complete frames.
    complete: usize,
    /// Whether all frames so far have the length of the first.
    uniform: bool,
}

/// A part of an outbox that may leave as one train: where it lies, and the length of its frames but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) segment: usize,
}

/// What limits a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    /// Frames in one.
    pub(crate) frames: usize,
    /// Bytes in one.
    pub(crate) bytes: usize,
    /// Larger frames go alone.
    pub(crate) largest_frame: usize,
}

impl Outbox {
    pub(crate) fn frames(&self) -> usize {
        self.lengths.len()
    }

    pub(crate) fn len_bytes(&self) -> usize {
        self.complete
    }

    /// The bytes of a run.
    pub(crate) fn run_bytes(&self, run: Run) -> &[u8] {
        self.bytes.get(run.start..run.end).unwrap_or_default()
    }

    /// Each frame by itself.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.lengths.iter().map(move |&length| {
            let end = start + length as usize;
            let frame = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            frame
        })
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
        self.complete = 0;
    }

    /// Brings frames of equal length together, the longest first, and otherwise leaves their order. What stands in nobody's
    /// order of arrival but the link's own must not be moved.
    pub(crate) fn group_by_length(&mut self, spare: &mut Vec<u8>) {
        if self.uniform || self.lengths.len() < 3 {
            return;
        }
        let mut order: Vec<(u32, usize)> = Vec::with_capacity(self.lengths.len());
        let mut start = 0;
        for &length in &self.lengths {
            order.push((length, start));
            start += length as usize;
        }
        order.sort_by_key(|&(length, _)| std::cmp::Reverse(length));
        spare.clear();
        for &(length, start) in &order {
            spare.extend_from_slice(self.bytes.get(start..start + length as usize).unwrap_or_default());
        }
        self.lengths.clear();
        self.lengths.extend(order.iter().map(|&(length, _)| length));
        std::mem::swap(&mut self.bytes, spare);
    }

    /// The first run from frame number `first` on, which begins at byte `start`, and how many frames it has.
    pub(crate) fn run(&self, first: usize, start: usize, limits: RunLimits) -> Option<(Run, usize)> {
        let lengths = self.lengths.get(first..)?;
        let (&segment, rest) = lengths.split_first()?;
        let segment = segment as usize;
        let (mut frames, mut end) = (1, start + segment);
        if segment <= limits.largest_frame {
            for &length in rest {
                let length = length as usize;
                if length > segment || frames >= limits.frames || end + length - start > limits.bytes {
                    break;
                }
                frames += 1;
                end += length;
                if length < segment {
                    break;
                }
            }
        }
        Some((Run { start, end, segment }, frames))
    }
}

impl FrameSink for Outbox {
    #[inline]
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    #[inline]
    fn end_frame(&mut self, packet: Option<&Buffer>) {
        if let Some(packet) = packet {
            self.bytes.extend_from_slice(packet);
        }
        let length = (self.bytes.len() - self.complete) as u32;
        self.uniform = self.lengths.first().is_none_or(|&first| self.uniform && first == length);
        self.lengths.push(length);
        self.complete = self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RunLimits = RunLimits { frames: 4, bytes: 1000, largest_frame: 500 };

    fn outbox(lengths: &[usize]) -> Outbox {
        let mut outbox = Outbox::default();
        for (number, &length) in lengths.iter().enumerate() {
            outbox.bytes().extend(std::iter::repeat_n(number as u8, length));
            outbox.end_frame(None);
        }
        outbox
    }

    /// The lengths of the frames of each run.
    fn runs(outbox: &Outbox, limits: RunLimits) -> Vec<Vec<usize>> {
        let (mut first, mut start, mut runs) = (0, 0, Vec::new());
        while let Some((run, frames)) = outbox.run(first, start, limits) {
            runs.push(outbox.run_bytes(run).chunks(run.segment).map(<[u8]>::len).collect());
            (first, start) = (first + frames, run.end);
        }
        runs
    }

    #[test]
    fn a_run_has_frames_of_one_length_and_perhaps_a_shorter_one_at_the_end() {
        let outbox = outbox(&[100, 100, 60, 100, 200]);
        assert_eq!(runs(&outbox, LIMITS), [vec![100, 100, 60], vec![100], vec![200]]);
    }

    #[test]
    fn a_run_keeps_to_its_limits() {
        assert_eq!(runs(&outbox(&[10; 9]), LIMITS), [vec![10; 4], vec![10; 4], vec![10]]);
        assert_eq!(runs(&outbox(&[400; 3]), LIMITS), [vec![400; 2], vec![400]]);
        assert_eq!(runs(&outbox(&[501, 501]), LIMITS), [vec![501], vec![501]]);
    }

    #[test]
    fn grouping_brings_equal_lengths_together_and_changes_no_frame() {
        let mut outbox = outbox(&[10, 30, 10, 30, 10, 20]);
        outbox.group_by_length(&mut Vec::new());
        let frames: Vec<_> = outbox.iter().map(|frame| (frame[0], frame.len())).collect();
        assert_eq!(frames, [(1, 30), (3, 30), (5, 20), (0, 10), (2, 10), (4, 10)]);
        assert!(outbox.iter().all(|frame| frame.iter().all(|byte| *byte == frame[0])));
        assert_eq!(runs(&outbox, LIMITS), [vec![30, 30, 20], vec![10; 3]]);
    }
}
