//! Packets one behind the other: the format of exported objects, and what other repositories take by TCP
//! ("bulk insertion"). Each is a Data of NDN as it is on the wire; nothing stands between them.

use std::io::{self, Read};

use packet::ndn::data_len;
use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::{Buffer, Data, DecodeError};

/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;

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

/// Takes packets out of a stream of bytes, of which it holds little more than one packet.
#[derive(Debug)]
pub struct DataStream<R> {
    from: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes before those that are held.
    passed: u64,
}

impl<R: Read> DataStream<R> {
    /// Reads from here.
    pub fn new(from: R) -> Self {
        DataStream { from, bytes: vec![0; READ_BYTES + MAX_PACKET_BYTES], start: 0, end: 0, passed: 0 }
    }

    /// Where the next packet begins, in bytes from the beginning.
    pub fn position(&self) -> u64 {
        self.passed + self.start as u64
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The stream cannot be read or is no sequence of packets; nothing behind that can be made out.
    pub fn next_data(&mut self) -> Result<Option<Data>, StreamError> {
        loop {
            let held = self.bytes.get(self.start..self.end).unwrap_or_default();
            let position = self.position();
            if let Some(len) = data_len(held).map_err(|_| StreamError::NoData(position))?
                && let Some(wire) = held.get(..len)
            {
                let data = Data::decode_ndn(Buffer::copy_from(wire));
                self.start += len;
                return data.map(Some).map_err(|error| StreamError::Decode(position, error));
            }
            if self.read()? == 0 {
                return if self.start == self.end { Ok(None) } else { Err(StreamError::CutOff(position)) };
            }
        }
    }

    /// Reads more behind what is held.
    fn read(&mut self) -> io::Result<usize> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.passed += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        loop {
            // What is held is less than a packet, so there is room.
            match self.from.read(self.bytes.get_mut(self.end..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    let read = read?;
                    self.end += read;
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
                assert_eq!(stream.next_data().unwrap().unwrap().wire(), packet.wire());
            }
            assert!(stream.next_data().unwrap().is_none());
            assert_eq!(stream.position(), bytes.len() as u64);
        }
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
