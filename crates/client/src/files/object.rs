//! An object in a file or in memory: its segments are read where their packets leave from, a few ahead when
//! they are asked for one after the other.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt as _;

use flow::source::{Reply, Source, SourceError};
use flow::{OpenSegment, Publication, PublishError, SegmentMemory, SegmentRange};
use packet::{Data, Interest};

/// Segments that are read at once when one is asked for after the one before it: as many as a system call is
/// worth, and as stay in a processor's cache until they are asked for.
const READ_AHEAD: u64 = 16;

/// Bytes of packets that are kept if to sign them took a key, so that one that is asked for again soon need
/// not be signed again: what is on its way at any time. What is asked for later comes from content stores. A
/// digest costs no more than to keep the packet would.
pub(super) const CACHE_BYTES: usize = 4 << 20;

/// Where the bytes of an object are.
#[derive(Debug)]
pub enum Bytes {
    /// In a file, from its beginning.
    File(File),
    /// In memory.
    Memory(Vec<u8>),
}

impl Bytes {
    /// Reads the bytes of one segment.
    pub(super) fn read(&self, range: SegmentRange, into: &mut [u8]) -> io::Result<()> {
        match self {
            Bytes::File(file) => file.read_exact_at(into, range.offset_bytes),
            Bytes::Memory(bytes) => {
                let start = usize::try_from(range.offset_bytes).unwrap_or(usize::MAX);
                let part = bytes.get(start..).and_then(|rest| rest.get(..into.len()));
                part.map(|part| into.copy_from_slice(part)).ok_or(io::ErrorKind::UnexpectedEof.into())
            }
        }
    }

    /// How many segments are worth reading at once.
    fn read_ahead(&self) -> u64 {
        match self {
            Bytes::File(_) => READ_AHEAD,
            Bytes::Memory(_) => 1,
        }
    }
}

/// Answers for one version of an object: segments, metadata, and the manifest if there is one. Keeps packets
/// that were dear to make.
#[derive(Debug)]
pub struct ObjectSource {
    publication: Publication,
    bytes: Bytes,
    memory: SegmentMemory,
    /// Read, and not asked for yet.
    ahead: VecDeque<OpenSegment>,
    /// The one behind those that were read last.
    next: u64,
    cache: BTreeMap<u64, Data>,
    cached: VecDeque<u64>,
    cached_bytes: usize,
    max_cached_bytes: usize,
}

impl ObjectSource {
    /// Answers for `publication`, whose bytes are in `bytes`; `are_dear` says whether each segment costs a
    /// signature with a key.
    pub fn new(publication: Publication, bytes: Bytes, are_dear: bool) -> Self {
        ObjectSource {
            publication,
            bytes,
            memory: SegmentMemory::new(),
            ahead: VecDeque::new(),
            next: 0,
            cache: BTreeMap::new(),
            cached: VecDeque::new(),
            cached_bytes: 0,
            max_cached_bytes: if are_dear { CACHE_BYTES } else { 0 },
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
            self.bytes.read(range, &mut content).map_err(SourceError::Read)?;
            self.publication.list_segment(&content)?;
            if range.segment % 256 == 0 {
                progress(range.offset_bytes);
            }
        }
        Ok(())
    }

    /// The packet of a segment.
    fn packet(&mut self, segment: u64) -> Result<Data, SourceError> {
        if let Some(data) = self.cache.get(&segment) {
            return Ok(data.clone());
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
        self.keep(segment, &data);
        Ok(data)
    }

    /// Reads a segment, and those behind it if it is asked for in its turn.
    fn read(&mut self, segment: u64) -> Result<OpenSegment, SourceError> {
        // What was read for somebody who does not come for it makes room.
        self.ahead.pop_front();
        let last = self.publication.last_segment();
        let range = self.publication.range(segment).ok_or(PublishError::NoSegment { segment, last })?;
        let in_turn = segment == self.next;
        let count = if in_turn { self.bytes.read_ahead() } else { 1 };
        let mut first = self.publication.open_segment(segment, &mut self.memory)?;
        let mut others = Vec::new();
        for other in segment + 1..(segment + count).min(last + 1) {
            others.push(self.publication.open_segment(other, &mut self.memory)?);
        }
        if !read_all(&self.bytes, range.offset_bytes, &mut first, &mut others) {
            others.clear();
            self.bytes.read(range, first.content_mut()).map_err(SourceError::Read)?;
        }
        if in_turn || self.ahead.is_empty() {
            self.next = segment + 1 + others.len() as u64;
        }
        self.ahead.extend(others);
        Ok(first)
    }

    /// Keeps a packet for those who ask for it again.
    fn keep(&mut self, segment: u64, data: &Data) {
        let size = data.wire().len();
        if size > self.max_cached_bytes {
            return;
        }
        // The oldest go first, and before the next is made: its memory is used again then.
        while self.cached_bytes + 2 * size > self.max_cached_bytes {
            let Some(oldest) = self.cached.pop_front() else { break };
            self.cached_bytes -= self.cache.remove(&oldest).map_or(0, |data| data.wire().len());
        }
        self.cached_bytes += size;
        self.cache.insert(segment, data.clone());
        self.cached.push_back(segment);
    }
}

impl Source for ObjectSource {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let answer = self.publication.answer(interest)?;
        Reply::of_object(interest, answer, |range| self.packet(range.segment))
    }
}

/// Reads segments that lie one behind the other with one system call; says whether it brought all.
fn read_all(bytes: &Bytes, offset_bytes: u64, first: &mut OpenSegment, others: &mut [OpenSegment]) -> bool {
    let Bytes::File(file) = bytes else { return false };
    let mut places = vec![IoSliceMut::new(first.content_mut())];
    places.extend(others.iter_mut().map(|open| IoSliceMut::new(open.content_mut())));
    let wanted: usize = places.iter().map(|place| place.len()).sum();
    // Whatever is wrong is found, and said, when the first of them is read alone.
    rustix::io::preadv(file, &mut places, offset_bytes).is_ok_and(|count| count == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow::PublicationConfig;
    use trust::Signer;

    /// A file that nothing but its descriptor leads to.
    fn file_of(name: &str, bytes: &[u8]) -> File {
        let folder = testkit::folder::TestFolder::new(&format!("segments-{name}"));
        std::fs::write(folder.join("file"), bytes).unwrap();
        File::open(folder.join("file")).unwrap()
    }

    fn segments(name: &str, bytes: &[u8], are_dear: bool) -> ObjectSource {
        let file = file_of(name, bytes);
        let name = "/lab/file".parse().unwrap();
        let mut config = PublicationConfig::new(name, 1, bytes.len() as u64, Signer::digest());
        config.segment_size = flow::SegmentSize::Content(1000);
        ObjectSource::new(Publication::new(config).unwrap(), Bytes::File(file), are_dear)
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
                assert!(segments.cached_bytes <= CACHE_BYTES);
            }
            assert!(segments.packet(101).is_err());
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_served_as_far_as_it_reaches() {
        let mut segments = segments("short", &[3; 20_000], false);
        assert_eq!(segments.packet(0).unwrap().content(), [3; 1000]);
        (segments.bytes, segments.next) = (Bytes::File(file_of("cut", &[3; 2500])), 1);
        segments.ahead.clear();
        assert_eq!(segments.packet(1).unwrap().content(), [3; 1000]);
        assert!(segments.packet(2).is_err());
    }
}
