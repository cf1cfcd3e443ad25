//! The frames that came last, by their hashes.

use std::collections::VecDeque;

/// Frames one behind the other in memory of a fixed size; the oldest make room for new ones.
#[derive(Debug)]
pub(crate) struct RecentFrames {
    bytes: Box<[u8]>,
    /// The oldest first.
    frames: VecDeque<StoredFrame>,
    max_frames: usize,
    /// Where the next one goes, if there is room behind it.
    next: usize,
}

#[derive(Clone, Copy, Debug)]
struct StoredFrame {
    hash: u64,
    start: usize,
    len: usize,
}

impl RecentFrames {
    pub(crate) fn new(max_frames: usize, max_bytes: usize) -> Self {
        RecentFrames {
            bytes: vec![0; max_bytes].into(),
            frames: VecDeque::with_capacity(max_frames + 1),
            max_frames,
            next: 0,
        }
    }

    /// Takes a copy of a frame. One that is longer than all there is room for is not kept.
    pub(crate) fn push(&mut self, hash: u64, frame: &[u8]) {
        let len = frame.len();
        if len > self.bytes.len() || self.max_frames == 0 {
            return;
        }
        let mut start = self.next;
        if start + len > self.bytes.len() {
            // What lies behind here is older than what lies at the beginning.
            while self.frames.front().is_some_and(|stored| stored.start >= self.next) {
                self.frames.pop_front();
            }
            start = 0;
        }
        let end = start + len;
        let is_in_the_way = |stored: &StoredFrame| stored.start < end && stored.start + stored.len > start;
        while self.frames.len() >= self.max_frames || self.frames.front().is_some_and(is_in_the_way) {
            self.frames.pop_front();
        }
        if let Some(bytes) = self.bytes.get_mut(start..end) {
            bytes.copy_from_slice(frame);
            self.frames.push_back(StoredFrame { hash, start, len });
            self.next = end;
        }
    }

    /// The frame of this hash. Those that came last are found first.
    pub(crate) fn find(&self, hash: u64) -> Option<&[u8]> {
        let stored = self.frames.iter().rev().find(|stored| stored.hash == hash)?;
        self.bytes.get(stored.start..stored.start + stored.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frames_are_found_as_they_came_and_never_more_than_there_is_room_for() {
        for (max_frames, max_bytes) in [(4, 1000), (100, 300), (7, 64), (1, 61)] {
            let mut recent = RecentFrames::new(max_frames, max_bytes);
            let mut came: Vec<Vec<u8>> = Vec::new();
            for number in 0..2000_usize {
                let frame = vec![number as u8; 1 + number * 7919 % 61];
                recent.push(number as u64, &frame);
                came.push(frame);
                let found = |number: usize| recent.find(number as u64);
                let kept: Vec<usize> = (0..=number).filter(|number| found(*number).is_some()).collect();
                assert!(kept.len() <= max_frames);
                assert!(kept.iter().all(|number| found(*number) == Some(&came[*number])));
                assert!(kept.iter().map(|number| came[*number].len()).sum::<usize>() <= max_bytes);
                // The last, without a gap, and half of the room is used at least, if frames are small.
                let first = kept.first().copied().unwrap_or(number + 1);
                assert!(kept.iter().copied().eq(first..=number), "{kept:?}");
                let used: usize = kept.iter().map(|number| came[*number].len()).sum();
                assert!(first == 0 || kept.len() == max_frames || used + 2 * 61 >= max_bytes);
            }
        }
    }

    #[test]
    fn a_frame_that_is_longer_than_the_room_is_not_kept_and_harms_none() {
        let mut recent = RecentFrames::new(4, 10);
        recent.push(1, &[1; 10]);
        recent.push(2, &[2; 11]);
        assert_eq!(recent.find(1), Some(&[1; 10][..]));
        assert_eq!(recent.find(2), None);
    }
}
