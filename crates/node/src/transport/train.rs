//! Datagrams of one face on their way out, collected over a turn so that they leave in trains.

use std::io::IoSlice;
use std::ops::Range;

use packet::Buffer;
use system::trains::TrainLimits;

use super::FrameSink;

/// Frames in the order in which they leave. Large packets are not copied: a frame holds a reference to their
/// bytes.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    frames: Vec<Frame>,
    /// Large packets, each of one frame.
    packets: Vec<Buffer>,
    /// The heads of the frames, and small packets whole.
    heads: Vec<u8>,
    /// How much of `heads` belongs to complete frames.
    heads_complete: usize,
    len_bytes: usize,
    /// Whether all frames so far have the length of the first.
    uniform: bool,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    head_start: u32,
    head_len: u32,
    /// Which of the large packets follows the head, if its length is not zero.
    packet: u32,
    packet_len: u32,
}

/// Frames of an outbox that may leave as one train, and the length of each but the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) frames: Range<usize>,
    pub(crate) segment: usize,
    pub(crate) len_bytes: usize,
}

/// Smaller packets are copied: a slice more costs the kernel about as much.
const SMALLEST_SHARED_BYTES: usize = 512;

impl Frame {
    #[inline]
    fn len(&self) -> usize {
        (self.head_len + self.packet_len) as usize
    }

    #[inline]
    fn head_range(&self) -> Range<usize> {
        self.head_start as usize..(self.head_start + self.head_len) as usize
    }
}

impl Outbox {
    pub(crate) fn frames(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Whether another frame like the last one would be more than so many frames or bytes.
    #[inline]
    pub(crate) fn is_full(&self, frames: usize, bytes: usize) -> bool {
        let next = self.frames.last().map_or(0, Frame::len);
        self.frames.len() >= frames || self.len_bytes + next > bytes
    }

    /// Each frame by itself, in two parts that follow each other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = [&[u8]; 2]> {
        self.frames.iter().map(|frame| {
            [
                self.heads.get(frame.head_range()).unwrap_or_default(),
                self.packet_of(frame).map(|packet| &**packet).unwrap_or_default(),
            ]
        })
    }

    #[inline]
    fn packet_of(&self, frame: &Frame) -> Option<&Buffer> {
        if frame.packet_len > 0 { self.packets.get(frame.packet as usize) } else { None }
    }

    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.packets.clear();
        self.heads.clear();
        (self.heads_complete, self.len_bytes) = (0, 0);
    }

    /// Brings frames of equal length together, the longest first, and otherwise leaves their order. What
    /// stands in nobody's order of arrival but the link's own must not be moved.
    pub(crate) fn group_by_length(&mut self) {
        if !self.uniform && self.frames.len() > 2 {
            self.frames.sort_by_key(|frame| std::cmp::Reverse(frame.len()));
        }
    }

    /// The longest run from frame number `first` on.
    pub(crate) fn run(&self, first: usize, limits: TrainLimits) -> Option<Run> {
        let train = limits.train_of(self.frames.get(first..)?.iter().map(Frame::len))?;
        let frames = first..first + train.datagrams;
        Some(Run { frames, segment: train.segment, len_bytes: train.len_bytes })
    }

    /// Adds the bytes of some frames to `slices`. What follows each other in memory is one slice.
    pub(crate) fn gather<'a>(&'a self, frames: Range<usize>, slices: &mut Vec<IoSlice<'a>>) {
        let mut heads = 0..0;
        let mut packets: Option<(&Buffer, &Buffer)> = None;
        for frame in self.frames.get(frames).unwrap_or_default() {
            let head = frame.head_range();
            if !head.is_empty() {
                push_packets(packets.take(), slices);
                if heads.end == head.start {
                    heads.end = head.end;
                } else {
                    self.push_heads(std::mem::replace(&mut heads, head), slices);
                }
            }
            let Some(packet) = self.packet_of(frame) else { continue };
            self.push_heads(std::mem::replace(&mut heads, 0..0), slices);
            packets = match packets {
                Some((first, last)) if last.is_followed_by(packet) => Some((first, packet)),
                before => {
                    push_packets(before, slices);
                    Some((packet, packet))
                }
            };
        }
        push_packets(packets, slices);
        self.push_heads(heads, slices);
    }

    #[inline]
    fn push_heads<'a>(&'a self, heads: Range<usize>, slices: &mut Vec<IoSlice<'a>>) {
        if !heads.is_empty() {
            slices.push(IoSlice::new(self.heads.get(heads).unwrap_or_default()));
        }
    }
}

/// Adds the packets from the first to the last of some that follow each other in memory.
#[inline]
fn push_packets<'a>(packets: Option<(&'a Buffer, &'a Buffer)>, slices: &mut Vec<IoSlice<'a>>) {
    if let Some(bytes) = packets.and_then(|(first, last)| first.through(last)) {
        slices.push(IoSlice::new(bytes));
    }
}

impl FrameSink for Outbox {
    #[inline]
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.heads
    }

    #[inline]
    fn end_frame(&mut self, packet: Option<Buffer>) {
        let (mut number, mut packet_len) = (0, 0);
        if let Some(packet) = packet {
            if packet.len() < SMALLEST_SHARED_BYTES {
                self.heads.extend_from_slice(&packet);
            } else {
                (number, packet_len) = (self.packets.len() as u32, packet.len() as u32);
                self.packets.push(packet);
            }
        }
        let frame = Frame {
            head_start: self.heads_complete as u32,
            head_len: (self.heads.len() - self.heads_complete) as u32,
            packet: number,
            packet_len,
        };
        let length = frame.len();
        self.uniform = self.frames.first().is_none_or(|first| self.uniform && first.len() == length);
        self.heads_complete = self.heads.len();
        self.len_bytes += length;
        self.frames.push(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: TrainLimits = TrainLimits { datagrams: 4, bytes: 1000, largest_datagram: 500 };

    /// Frames of some lengths, each full of its number, every other one with a packet of its own.
    fn outbox(lengths: &[usize]) -> Outbox {
        let mut outbox = Outbox::default();
        for (number, &length) in lengths.iter().enumerate() {
            let head = if number % 2 == 0 { length } else { length.min(3) };
            outbox.bytes().extend(std::iter::repeat_n(number as u8, head));
            let packet = Buffer::from(vec![number as u8; length - head]);
            outbox.end_frame((!packet.is_empty()).then_some(packet));
        }
        outbox
    }

    /// The frames of each run: number and length.
    fn runs(outbox: &Outbox, limits: TrainLimits) -> Vec<Vec<(u8, usize)>> {
        let (mut first, mut runs) = (0, Vec::new());
        while let Some(run) = outbox.run(first, limits) {
            let mut slices = Vec::new();
            outbox.gather(run.frames.clone(), &mut slices);
            let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            assert_eq!(bytes.len(), run.len_bytes);
            let frames = bytes.chunks(run.segment);
            assert!(frames.clone().all(|frame| frame.iter().all(|byte| *byte == frame[0])));
            runs.push(frames.map(|frame| (frame[0], frame.len())).collect());
            first = run.frames.end;
        }
        runs
    }

    fn lengths(runs: &[Vec<(u8, usize)>]) -> Vec<Vec<usize>> {
        runs.iter().map(|run| run.iter().map(|frame| frame.1).collect()).collect()
    }

    #[test]
    fn a_run_has_frames_of_one_length_and_perhaps_a_shorter_one_at_the_end() {
        let outbox = outbox(&[100, 100, 60, 100, 200]);
        assert_eq!(lengths(&runs(&outbox, LIMITS)), [vec![100, 100, 60], vec![100], vec![200]]);
    }

    #[test]
    fn a_run_keeps_to_its_limits() {
        assert_eq!(lengths(&runs(&outbox(&[10; 9]), LIMITS)), [vec![10; 4], vec![10; 4], vec![10]]);
        assert_eq!(lengths(&runs(&outbox(&[400; 3]), LIMITS)), [vec![400; 2], vec![400]]);
        assert_eq!(lengths(&runs(&outbox(&[501, 501]), LIMITS)), [vec![501], vec![501]]);
    }

    #[test]
    fn packets_large_enough_to_be_shared_leave_whole_and_in_their_place() {
        let outbox = outbox(&[1200, 1200, 1200, 1200, 700]);
        let frames = [(0, 1200), (1, 1200), (2, 1200), (3, 1200), (4, 700)];
        assert_eq!(runs(&outbox, TrainLimits::KERNEL), [frames.to_vec()]);
        let whole: Vec<_> = outbox.iter().map(|[head, packet]| head.len() + packet.len()).collect();
        assert_eq!(whole, [1200, 1200, 1200, 1200, 700]);
    }

    #[test]
    fn grouping_brings_equal_lengths_together_and_changes_no_frame() {
        let mut outbox = outbox(&[10, 30, 10, 30, 10, 20]);
        outbox.group_by_length();
        let grouped = [vec![(1, 30), (3, 30), (5, 20)], vec![(0, 10), (2, 10), (4, 10)]];
        assert_eq!(runs(&outbox, LIMITS), grouped);
    }
}
