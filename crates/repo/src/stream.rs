//! Packets one behind the other: the format of exported objects, and what other repositories take by TCP
//! ("bulk insertion"). Each is a Data of NDN as it is on the wire; nothing stands between them.
//! Where it is allowed, there may be objects of CCNx as well: so a ccnr keeps what it stores (`repoFile1`).

use std::collections::VecDeque;
use std::io::{self, Read};

use packet::ccnx::{MAX_MESSAGE_BYTES, message_len};
use packet::ndn::data_len;
use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::{Buffer, Data, DecodeError, Dialect, SpareBuffer};

/// Bytes read at once.
const READ_BYTES: usize = 128 << 10;
/// Blocks of memory that are filled again when the packets in them have gone.
const MAX_BLOCKS: usize = 32;

/// Why a stream ends before its end.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something that is no Data, or one that is too large.
    #[error("at byte {0} there begins no Data packet")]
    NoData(u64),
    /// The last packet is not whole.
    #[error("it ends in the middle of the packet that begins at byte {0}")]
    CutOff(u64),
    /// A packet that cannot be decoded.
    #[error("the packet at byte {0}: {1}")]
    Decode(u64, DecodeError),
}

/// Takes packets out of a stream of bytes.
///
/// Packets that come in a block of memory which is half full or more stay in it, so that they are not copied;
/// it is filled again when they have gone. Of a block that holds less they are copied: whoever keeps packets
/// keeps at most twice their bytes.
#[derive(Debug)]
pub struct DataStream<R> {
    from: R,
    /// What was read last.
    block: Buffer,
    /// Where in it the next packet begins.
    start: usize,
    /// Blocks with packets that somebody may still have, in order.
    lent: VecDeque<Buffer>,
    block_bytes: usize,
    /// Bytes before the block.
    passed: u64,
    takes_ccnx: bool,
}

impl<R: Read> DataStream<R> {
    /// Reads from here.
    pub fn new(from: R) -> Self {
        DataStream::with_room(from, MAX_PACKET_BYTES, false)
    }

    /// The same for packets of NDN and of CCNx, which their first bytes tell apart.
    pub fn of_both_dialects(from: R) -> Self {
        DataStream::with_room(from, MAX_PACKET_BYTES.max(MAX_MESSAGE_BYTES), true)
    }

    fn with_room(from: R, most: usize, takes_ccnx: bool) -> Self {
        let block_bytes = READ_BYTES + most;
        let block = SpareBuffer::new(block_bytes).into_buffer(0);
        DataStream { from, block, start: 0, lent: VecDeque::new(), block_bytes, passed: 0, takes_ccnx }
    }

    /// Where the next packet begins, in bytes from the beginning.
    pub fn position(&self) -> u64 {
        self.passed + self.start as u64
    }

    /// Whether all of the next packet has been read already, so that [`next_data`](Self::next_data) waits for
    /// nobody.
    pub fn holds_next(&self) -> bool {
        let held = self.block.get(self.start..).unwrap_or_default();
        // What begins otherwise is looked at by who takes it.
        matches!(data_len(held), Ok(Some(len)) if len <= held.len())
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The stream cannot be read or is no sequence of packets; nothing behind that can be made out.
    pub fn next_data(&mut self) -> Result<Option<Data>, StreamError> {
        loop {
            let held = self.block.get(self.start..).unwrap_or_default();
            let position = self.position();
            let dialect = Dialect::of_data(held).filter(|_| self.takes_ccnx).unwrap_or(Dialect::Ndn);
            let len = match dialect {
                Dialect::Ndn => data_len(held).ok(),
                Dialect::Ccnx => {
                    message_len(held).ok().filter(|_| held.len() <= MAX_MESSAGE_BYTES || ends(held))
                }
            };
            if let Some(len) = len.ok_or(StreamError::NoData(position))?
                && let Some(wire) = self.wire(len)
            {
                self.start += len;
                return Data::decode(dialect, wire)
                    .map(Some)
                    .map_err(|error| StreamError::Decode(position, error));
            }
            if self.read()? == 0 {
                let is_whole = self.start == self.block.len();
                return if is_whole { Ok(None) } else { Err(StreamError::CutOff(position)) };
            }
        }
    }

    /// The next `len` bytes, if they have come.
    fn wire(&self, len: usize) -> Option<Buffer> {
        let wire = self.block.slice(self.start..self.start.checked_add(len)?)?;
        Some(if self.block.is_small_part() { Buffer::copy_from(&wire) } else { wire })
    }

    /// Reads more behind what is held.
    fn read(&mut self) -> io::Result<usize> {
        let block = std::mem::replace(&mut self.block, Buffer::copy_from(&[]));
        let held = self.start..block.len();
        let end = held.len();
        let mut memory = if block.is_shared() {
            let mut memory = self.free_block();
            if let (Some(place), Some(held)) = (memory.memory_mut().get_mut(..end), block.get(held)) {
                place.copy_from_slice(held);
            }
            self.lend(block);
            memory
        } else {
            // Nobody has anything of it, so it is filled further.
            let mut memory = block.reclaim().unwrap_or_else(|| SpareBuffer::new(self.block_bytes));
            memory.memory_mut().copy_within(held, 0);
            memory
        };
        self.passed += std::mem::take(&mut self.start) as u64;
        // What is held is less than a packet, so there is room.
        let read = loop {
            match self.from.read(memory.memory_mut().get_mut(end..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.block = memory.into_buffer(end + *read.as_ref().unwrap_or(&0));
        read
    }

    /// The oldest block that was lent, if all of its packets have gone; or a new one.
    fn free_block(&mut self) -> SpareBuffer {
        let is_free = self.lent.front().is_some_and(|oldest| !oldest.is_shared());
        let oldest = if is_free { self.lent.pop_front() } else { None };
        oldest.and_then(Buffer::reclaim).unwrap_or_else(|| SpareBuffer::new(self.block_bytes))
    }

    /// Keeps a block in mind until its packets have gone.
    fn lend(&mut self, block: Buffer) {
        if self.lent.len() == MAX_BLOCKS {
            // Who has its packets keeps it.
            self.lent.pop_front();
        }
        self.lent.push_back(block);
    }
}

/// Whether a message of CCNx ends where it may at the latest.
fn ends(held: &[u8]) -> bool {
    let most = held.get(..MAX_MESSAGE_BYTES).unwrap_or(held);
    matches!(message_len(most), Ok(Some(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ccnx_data;
    use packet::ndn::DataBuilder;

    /// Gives a few bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(into.len()).min(self.0.len());
            let (now, later) = self.0.split_at(len);
            into[..len].copy_from_slice(now);
            self.0 = later;
            Ok(len)
        }
    }

    fn packets() -> Vec<Data> {
        let sizes = [0, 1, 100, 300, 8000, 3];
        let packet = |(number, size): (usize, &usize)| {
            let name = format!("/a/seg={number}").parse().unwrap();
            DataBuilder::new(name).content(vec![6; *size]).build_with_digest().unwrap()
        };
        sizes.iter().enumerate().map(packet).collect()
    }

    fn bytes() -> Vec<u8> {
        packets().iter().flat_map(|data| data.wire().to_vec()).collect()
    }

    #[test]
    fn packets_come_out_whole_however_the_bytes_come_in() {
        let bytes = bytes();
        for step in [1, 7, 1000, usize::MAX] {
            let mut stream = DataStream::new(Trickle(&bytes, step));
            for packet in packets() {
                let (passed, is_held) = (stream.passed, stream.holds_next());
                assert_eq!(stream.next_data().unwrap().unwrap().wire(), packet.wire());
                assert!(!is_held || stream.passed == passed, "what is held needs no reading");
                assert!(is_held || step < usize::MAX || packet.content().is_empty(), "all was read at once");
            }
            assert!(stream.next_data().unwrap().is_none());
            assert_eq!(stream.position(), bytes.len() as u64);
        }
    }

    #[test]
    fn packets_of_full_blocks_share_their_memory_and_those_of_scarce_ones_have_their_own() {
        let packet = |number: u64| {
            let name = format!("/a/seg={number}").parse().unwrap();
            DataBuilder::new(name).content(vec![number as u8; 8000]).build_with_digest().unwrap()
        };
        let bytes: Vec<u8> = (0..2000).flat_map(|number| packet(number).wire().to_vec()).collect();
        for (step, keeps, is_shared) in [(usize::MAX, 0, true), (usize::MAX, 100, true), (9000, 3, false)] {
            let mut stream = DataStream::new(Trickle(&bytes, step));
            let (mut kept, mut shared) = (VecDeque::new(), 0);
            for number in 0..2000 {
                let data = stream.next_data().unwrap().unwrap();
                assert_eq!(data.wire(), packet(number).wire());
                shared += u64::from(data.wire().footprint_bytes() > READ_BYTES);
                kept.push_back((number, data));
                if kept.len() > keeps {
                    let (number, data) = kept.pop_front().unwrap();
                    assert_eq!(data.wire(), packet(number).wire(), "memory was filled again too early");
                }
                assert!(stream.lent.len() <= MAX_BLOCKS);
            }
            // The last block may hold little.
            assert_eq!(shared >= 1900, is_shared, "{shared}");
            assert!(is_shared || shared == 0);
        }
    }

    #[test]
    fn objects_of_ccnx_come_out_whole_between_data_of_ndn_where_they_are_allowed() {
        let object = ccnx_data("ccnx:/a/=00", &[7; 5000], Some(0));
        let all = [packets()[3].clone(), object.clone(), object.clone(), packets()[1].clone()];
        let bytes: Vec<u8> = all.iter().flat_map(|data| data.wire().to_vec()).collect();
        for step in [1, 1000, usize::MAX] {
            let mut stream = DataStream::of_both_dialects(Trickle(&bytes, step));
            let mut lens = Vec::new();
            while let Some(data) = stream.next_data().unwrap() {
                lens.push((data.dialect(), data.wire().len()));
            }
            assert_eq!(lens.len(), 4);
            assert_eq!((lens[1], lens[2]), ((Dialect::Ccnx, object.wire().len()), lens[1]));
        }
        let mut ndn_alone = DataStream::new(&object.wire()[..]);
        assert!(matches!(ndn_alone.next_data(), Err(StreamError::NoData(0))));
        let cut = &object.wire()[..4000];
        assert!(matches!(DataStream::of_both_dialects(cut).next_data(), Err(StreamError::CutOff(0))));
        // An element that does not end is not waited for.
        let endless = [&[0x04, 0x82][..], &[0x02, 0xaa].repeat(50_000)].concat();
        assert!(matches!(
            DataStream::of_both_dialects(&endless[..]).next_data(),
            Err(StreamError::NoData(0))
        ));
    }

    #[test]
    fn what_is_no_sequence_of_data_is_refused_with_its_place() {
        let good = packets()[2].wire().to_vec();
        let at = good.len() as u64;
        for (tail, is_cut) in [
            (&[5, 3, 7, 1, 1][..], false),
            (&[6, 0xfd, 0xff, 0xff], false),
            (&[6, 0xff, 0, 0, 0, 1, 0, 0, 0, 0], false),
            (&[0xfd, 0, 6, 0], false),
            (&[6, 10, 7], true),
            (&[6], true),
        ] {
            let all = [&good, tail].concat();
            let mut stream = DataStream::new(&all[..]);
            assert!(stream.next_data().unwrap().is_some());
            match stream.next_data() {
                Err(StreamError::NoData(place)) if !is_cut => assert_eq!(place, at),
                Err(StreamError::CutOff(place)) if is_cut => assert_eq!(place, at),
                other => panic!("{tail:?}: {other:?}"),
            }
        }
    }
}
