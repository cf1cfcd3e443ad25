//! The memory of answers that nobody needs any more, for those that are read next: new memory would be filled
//! with zeros before it is read to, which costs as much as reading from the page cache does.

use std::collections::VecDeque;

use packet::{Buffer, SpareBuffer};

/// Bytes of memory that answers may keep from being given back.
const MAX_BYTES: usize = 2 << 20;
/// Answers looked at for the memory of one.
const MAX_LOOKED_AT: usize = 2;

/// The latest answers, the oldest first.
#[derive(Debug, Default)]
pub(super) struct AnswerMemory {
    given: VecDeque<Buffer>,
    bytes: usize,
}

impl AnswerMemory {
    /// Takes note of an answer that is given away.
    pub(super) fn note(&mut self, wire: &Buffer) {
        self.bytes += wire.footprint_bytes();
        self.given.push_back(wire.clone());
        while self.bytes > MAX_BYTES {
            self.oldest();
        }
    }

    /// Memory for `len_bytes`, if the oldest answers are gone and were as large. Those that are still in use
    /// are forgotten: somebody keeps them.
    pub(super) fn take(&mut self, len_bytes: usize) -> Option<SpareBuffer> {
        let gone = |buffer: Buffer| buffer.reclaim().filter(|spare| spare.capacity_bytes() >= len_bytes);
        (0..MAX_LOOKED_AT).find_map(|_| self.oldest().and_then(gone))
    }

    fn oldest(&mut self) -> Option<Buffer> {
        let oldest = self.given.pop_front()?;
        self.bytes -= oldest.footprint_bytes();
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_again_once_nobody_needs_the_answer_and_only_where_it_is_large_enough() {
        let mut memory = AnswerMemory::default();
        let answer = Buffer::from(vec![1; 100]);
        memory.note(&answer);
        drop(answer);
        assert!(memory.take(100).is_some_and(|spare| spare.capacity_bytes() == 100));
        assert!(memory.take(1).is_none(), "it was given twice");
        memory.note(&Buffer::from(vec![1; 100]));
        assert!(memory.take(101).is_none());
    }

    #[test]
    fn answers_that_somebody_keeps_are_not_overwritten_and_do_not_stand_in_the_way() {
        let mut memory = AnswerMemory::default();
        let kept = Buffer::from(vec![1; 100]);
        memory.note(&kept);
        memory.note(&Buffer::from(vec![2; 100]));
        let mut spare = memory.take(100).unwrap();
        spare.memory_mut().fill(3);
        assert_eq!(kept[..], [1; 100]);
        assert!(memory.given.is_empty() && memory.bytes == 0);
    }

    #[test]
    fn no_more_memory_is_held_than_allowed() {
        let mut memory = AnswerMemory::default();
        for number in 0..1000 {
            memory.note(&Buffer::from(vec![1; 1 + number * 60]));
            let held: usize = memory.given.iter().map(Buffer::footprint_bytes).sum();
            assert!(held == memory.bytes && held <= MAX_BYTES);
        }
    }
}
