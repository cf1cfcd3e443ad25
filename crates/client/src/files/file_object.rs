//! An object in a file: its segments are read where their packets leave from, a few ahead when they are asked
//! for one after the other.

use std::collections::VecDeque;
use std::fs::File;
use std::io::IoSliceMut;
use std::os::unix::fs::FileExt as _;

use flow::source::{Reply, Source, SourceError};
use flow::{OpenSegment, Publication, PublishError, SegmentMemory, SegmentRange};
use packet::{Data, Interest};

use super::packet_cache::{CACHE_BYTES, PacketCache};

/// Segments that are read at once when one is asked for after the one before it: as many as a system call is
/// worth, and as stay in a processor's cache until they are asked for.
const READ_AHEAD: u64 = 16;

/// Answers for one version of an object: segments, metadata, and the manifest if there is one. Keeps packets
/// that were dear to make.
#[derive(Debug)]
pub struct FileObject {
    publication: Publication,
    file: File,
    memory: SegmentMemory,
    /// Read, and not asked for yet.
    ahead: VecDeque<OpenSegment>,
    /// The one behind those that were read last.
    next: u64,
    cache: PacketCache,
}

impl FileObject {
    /// Answers for `publication`, whose bytes are in `file` from its beginning; `are_dear` says whether each
    /// segment costs a signature with a key. A digest costs no more than to keep the packet would.
    pub fn new(publication: Publication, file: File, are_dear: bool) -> Self {
        FileObject {
            publication,
            file,
            memory: SegmentMemory::new(),
            ahead: VecDeque::new(),
            next: 0,
            cache: PacketCache::new(if are_dear { CACHE_BYTES } else { 0 }),
        }
    }

    /// What is published.
    pub fn publication(&self) -> &Publication {
        &self.publication
    }

    /// Hashes all segments and signs the list, if there is to be one; tells `progress` how many bytes it has
    /// come to. To be called before anything is asked for.
    ///
    /// # Errors
    /// The bytes cannot be read, or the list cannot be signed.
    pub fn list(&mut self, mut progress: impl FnMut(u64)) -> Result<(), SourceError> {
        let mut content = Vec::new();
        while let Some(range) = self.publication.next_unlisted() {
            // A segment is smaller than a packet.
            content.resize(usize::try_from(range.len_bytes).unwrap_or(0), 0);
            read_segment(&self.file, range, &mut content)?;
            self.publication.list_segment(&content)?;
            if range.segment % 256 == 0 {
                progress(range.offset_bytes);
            }
        }
        Ok(())
    }

    /// The packet of a segment.
    fn packet(&mut self, segment: u64) -> Result<Data, SourceError> {
        if let Some(data) = self.cache.get(segment) {
            return Ok(data);
        }
        let open = match self.ahead.iter().position(|open| open.segment() == segment) {
            Some(place) => self.ahead.remove(place),
            None => None,
        };
        let open = match open {
            Some(open) => open,
            None => self.read(segment)?,
        };
        let data = self.publication.seal(open, &mut self.memory)?;
        self.cache.keep(segment, &data);
        Ok(data)
    }

    /// Reads a segment, and those behind it if it is asked for in its turn.
    fn read(&mut self, segment: u64) -> Result<OpenSegment, SourceError> {
        // What was read for somebody who does not come for it makes room.
        self.ahead.pop_front();
        let last = self.publication.last_segment();
        let range = self.publication.range(segment).ok_or(PublishError::NoSegment { segment, last })?;
        let in_turn = segment == self.next;
        let count = if in_turn { READ_AHEAD } else { 1 };
        let mut first = self.publication.open_segment(segment, &mut self.memory)?;
        let mut others = Vec::new();
        for other in segment + 1..(segment + count).min(last + 1) {
            others.push(self.publication.open_segment(other, &mut self.memory)?);
        }
        if !read_all(&self.file, range.offset_bytes, &mut first, &mut others) {
            others.clear();
            read_segment(&self.file, range, first.content_mut())?;
        }
        if in_turn || self.ahead.is_empty() {
            self.next = segment + 1 + others.len() as u64;
        }
        self.ahead.extend(others);
        Ok(first)
    }
}

impl Source for FileObject {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let answer = self.publication.answer(interest)?;
        Reply::of_object(interest, answer, |range| self.packet(range.segment))
    }
}

/// Reads the bytes of one segment.
pub(super) fn read_segment(file: &File, range: SegmentRange, into: &mut [u8]) -> Result<(), SourceError> {
    file.read_exact_at(into, range.offset_bytes).map_err(SourceError::Read)
}

/// Reads segments that lie one behind the other with one system call; says whether it brought all.
fn read_all(file: &File, offset_bytes: u64, first: &mut OpenSegment, others: &mut [OpenSegment]) -> bool {
    let mut places = vec![IoSliceMut::new(first.content_mut())];
    places.extend(others.iter_mut().map(|open| IoSliceMut::new(open.content_mut())));
    let wanted: usize = places.iter().map(|place| place.len()).sum();
    // Whatever is wrong is found, and said, when the first of them is read alone.
    rustix::io::preadv(file, &mut places, offset_bytes).is_ok_and(|count| count == wanted)
}

#[cfg(test)]
mod tests {
    use super::super::tests::file_of;
    use super::*;
    use flow::PublicationConfig;
    use trust::Signer;

    fn segments(name: &str, bytes: &[u8], are_dear: bool) -> FileObject {
        let file = file_of(name, bytes);
        let name = "/lab/file".parse().unwrap();
        let mut config = PublicationConfig::new(name, 1, bytes.len() as u64, Signer::digest());
        config.segment_size = flow::SegmentSize::Content(1000);
        FileObject::new(Publication::new(config).unwrap(), file, are_dear)
    }

    #[test]
    fn segments_hold_their_bytes_in_whatever_order_they_are_asked_for() {
        let bytes: Vec<u8> = (0..100_500u32).map(|at| (at / 7) as u8).collect();
        for (name, are_dear) in [("dear", true), ("cheap", false)] {
            let mut segments = segments(name, &bytes, are_dear);
            let backwards = (0..=100).rev();
            let by_two = (0..=100).flat_map(|segment| [segment, segment / 2]);
            let with_gaps = (0..=100).filter(|segment| segment % 5 != 3);
            for segment in (0..=100).chain(backwards).chain(by_two).chain(with_gaps).chain([100, 0, 99]) {
                let data = segments.packet(segment).unwrap();
                let content = &bytes[segment as usize * 1000..][..data.content().len()];
                assert_eq!(data.content(), content, "segment {segment}");
                assert_eq!(data.content().len(), if segment == 100 { 500 } else { 1000 });
                assert!(segments.ahead.len() < 2 * READ_AHEAD as usize);
            }
            assert!(segments.packet(101).is_err());
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_served_as_far_as_it_reaches() {
        let mut segments = segments("short", &[3; 20_000], false);
        assert_eq!(segments.packet(0).unwrap().content(), [3; 1000]);
        (segments.file, segments.next) = (file_of("cut", &[3; 2500]), 1);
        segments.ahead.clear();
        assert_eq!(segments.packet(1).unwrap().content(), [3; 1000]);
        assert!(segments.packet(2).is_err());
    }
}
