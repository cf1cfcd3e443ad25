//! What a receiver rebuilds.

use super::ParityConfig;
use super::block::{BlockView, MAX_FRAMES, xor_into};
use super::frame_hash::frame_hash;
use super::recent_frames::RecentFrames;

/// Frames are kept for so many after a parity frame was heard: where nobody sends any, none need be.
const LISTENED_FOR: u32 = 4096;

/// What came of a parity frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rebuilt {
    /// The one frame that had not come. [`ParityReceiver::give_back`] takes its memory again.
    Frame(Vec<u8>),
    /// All of its frames had come.
    Nothing,
    /// More than one had not come, as far as is known.
    TooManyMissing,
    /// It is malformed, or what came out is not what it names.
    Wrong,
}

/// The frames of a face that came last, and what of them is missing by what parity frames tell.
#[derive(Debug)]
pub(crate) struct ParityReceiver {
    max_frames: usize,
    max_bytes: usize,
    /// Nothing until the first parity frame.
    recent: Option<RecentFrames>,
    /// Frames that are kept yet.
    listens_for: u32,
    rebuilt: Vec<u8>,
}

impl ParityReceiver {
    pub(crate) fn new(config: &ParityConfig) -> Self {
        ParityReceiver {
            max_frames: config.max_recent_frames,
            max_bytes: config.max_recent_bytes,
            recent: None,
            listens_for: 0,
            rebuilt: Vec::new(),
        }
    }

    /// A frame has come.
    #[inline]
    pub(crate) fn note(&mut self, frame: &[u8]) {
        if self.listens_for > 0 {
            self.keep(frame);
        }
    }

    fn keep(&mut self, frame: &[u8]) {
        self.listens_for -= 1;
        if self.listens_for == 0 {
            self.recent = None;
        }
        if super::is_in_blocks(frame)
            && let Some(recent) = &mut self.recent
        {
            recent.push(frame_hash(frame), frame);
        }
    }

    /// A parity frame has come.
    pub(crate) fn rebuild(&mut self, value: &[u8]) -> Rebuilt {
        self.listens_for = LISTENED_FOR;
        let (max_frames, max_bytes) = (self.max_frames, self.max_bytes);
        let recent: &RecentFrames =
            self.recent.get_or_insert_with(|| RecentFrames::new(max_frames, max_bytes));
        let Some(block) = BlockView::decode(value) else { return Rebuilt::Wrong };
        let (mut missing, mut frames) = (None, [&[][..]; MAX_FRAMES]);
        for (hash, place) in block.hashes().zip(&mut frames) {
            match recent.find(hash) {
                Some(frame) => *place = frame,
                None if missing.is_some() => return Rebuilt::TooManyMissing,
                None => missing = Some(hash),
            }
        }
        let Some(hash) = missing else { return Rebuilt::Nothing };
        let rebuilt = &mut self.rebuilt;
        rebuilt.clear();
        rebuilt.extend_from_slice(block.xor);
        let mut length = block.lengths;
        for frame in frames {
            length ^= frame.len() as u16;
            xor_into(rebuilt, frame);
        }
        let length = usize::from(length);
        if length > rebuilt.len() {
            return Rebuilt::Wrong;
        }
        rebuilt.truncate(length);
        if frame_hash(rebuilt) == hash { Rebuilt::Frame(std::mem::take(rebuilt)) } else { Rebuilt::Wrong }
    }

    /// Takes the memory of a frame that was rebuilt, for the next one.
    pub(crate) fn give_back(&mut self, frame: Vec<u8>) {
        self.rebuilt = frame;
    }

    /// Whether frames are kept at present.
    #[cfg(test)]
    fn is_listening(&self) -> bool {
        self.recent.is_some()
    }
}

#[cfg(test)]
mod tests {
    use packet::ndn::lp::LpPacketView;
    use proptest::prelude::*;

    use super::super::block::OpenBlock;
    use super::*;

    fn parity_of(frames: &[Vec<u8>]) -> Vec<u8> {
        let mut block = OpenBlock::default();
        frames.iter().for_each(|frame| block.add(frame));
        let mut wire = Vec::new();
        block.encode(&mut wire);
        LpPacketView::decode(&wire).unwrap().parity.to_vec()
    }

    /// One that has heard a parity frame before, and so keeps what comes.
    fn listening() -> ParityReceiver {
        let mut receiver = ParityReceiver::new(&ParityConfig::default());
        assert!(!receiver.is_listening());
        receiver.rebuild(&[]);
        receiver
    }

    fn receiver_of(frames: &[Vec<u8>], without: &[usize]) -> ParityReceiver {
        let mut receiver = listening();
        for (place, frame) in frames.iter().enumerate() {
            if !without.contains(&place) {
                receiver.note(frame);
            }
        }
        receiver
    }

    /// Data, by their outermost type, all different.
    fn any_frames() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let body = proptest::collection::vec(any::<u8>(), 0..300);
        proptest::collection::vec(body, 2..32).prop_map(|bodies| {
            let numbered = |(place, body): (usize, Vec<u8>)| [&[6, place as u8][..], &body].concat();
            bodies.into_iter().enumerate().map(numbered).collect()
        })
    }

    proptest! {
        #[test]
        fn whichever_one_of_the_frames_is_missing_it_is_rebuilt_as_it_was(
            frames in any_frames(), missing in any::<prop::sample::Index>()
        ) {
            let missing = missing.index(frames.len());
            let mut receiver = receiver_of(&frames, &[missing]);
            let parity = parity_of(&frames);
            prop_assert_eq!(receiver.rebuild(&parity), Rebuilt::Frame(frames[missing].clone()));
            receiver.note(&frames[missing]);
            prop_assert_eq!(receiver.rebuild(&parity), Rebuilt::Nothing);
        }

        #[test]
        fn of_two_that_are_missing_neither_is_rebuilt(
            frames in any_frames(), first in any::<prop::sample::Index>(), by in any::<prop::sample::Index>()
        ) {
            let first = first.index(frames.len());
            let second = (first + 1 + by.index(frames.len() - 1)) % frames.len();
            let mut receiver = receiver_of(&frames, &[first, second]);
            prop_assert_eq!(receiver.rebuild(&parity_of(&frames)), Rebuilt::TooManyMissing);
        }

        #[test]
        fn a_forged_parity_frame_gives_nothing_but_a_frame_of_the_hash_that_it_names(
            frames in any_frames(), forged in proptest::collection::vec(any::<u8>(), 0..400),
            at in any::<prop::sample::Index>(), value in 1u8..
        ) {
            let mut receiver = receiver_of(&frames, &[0]);
            prop_assert!(!matches!(receiver.rebuild(&forged), Rebuilt::Frame(_)));
            let mut changed = parity_of(&frames);
            let at = at.index(changed.len());
            changed[at] ^= value;
            if let Rebuilt::Frame(frame) = receiver.rebuild(&changed) {
                // A byte behind the end of the frame that was rebuilt means nothing.
                prop_assert_eq!(&frame, &frames[0]);
            }
        }
    }

    #[test]
    fn nothing_is_kept_before_a_parity_frame_was_heard_or_long_after_the_last() {
        let frames: Vec<Vec<u8>> = (0..4).map(|place| vec![6, place]).collect();
        let mut receiver = ParityReceiver::new(&ParityConfig::default());
        receiver.note(&frames[0]);
        assert!(!receiver.is_listening());
        receiver.rebuild(&parity_of(&frames));
        for _ in 0..LISTENED_FOR {
            assert!(receiver.is_listening());
            receiver.note(&frames[0]);
        }
        assert!(!receiver.is_listening());
    }

    #[test]
    fn frames_of_other_senders_between_those_of_a_block_change_nothing() {
        let frames: Vec<Vec<u8>> = (0..12).map(|place| vec![6, place]).collect();
        let mut receiver = listening();
        for frame in &frames[1..] {
            receiver.note(frame);
            receiver.note(&[6, 100 + frame[1], 7]);
        }
        assert_eq!(receiver.rebuild(&parity_of(&frames)), Rebuilt::Frame(frames[0].clone()));
    }
}
