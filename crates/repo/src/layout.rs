//! Records laid out one behind the other, to be written: headers and zeros side by side in memory, large
//! payloads where they are already.

use std::io::{self, IoSlice};

use packet::Buffer;

use crate::disk::DiskFile;

/// Payloads of fewer bytes are copied, which costs less than to tell the system of one part more.
const COPIED_BYTES: usize = 1024;

/// What a record carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload<'a> {
    /// A few bytes.
    Bytes(&'a [u8]),
    /// A packet.
    Packet(&'a Buffer),
}

impl Payload<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Payload::Bytes(bytes) => bytes,
            Payload::Packet(packet) => packet,
        }
    }
}

/// Bytes to be written to one place.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    bytes: Vec<u8>,
    /// Payloads that were not copied, each behind so many of the bytes.
    payloads: Vec<(usize, Buffer)>,
    len_bytes: u64,
}

impl Layout {
    /// Lets go of all that is in it.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.payloads.clear();
        self.len_bytes = 0;
    }

    pub(crate) fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Zeros up to this length.
    pub(crate) fn pad_to(&mut self, len_bytes: u64) {
        let missing = len_bytes.saturating_sub(self.len_bytes);
        self.bytes.resize(self.bytes.len() + missing as usize, 0);
        self.len_bytes += missing;
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.len_bytes += bytes.len() as u64;
    }

    pub(crate) fn put_payload(&mut self, payload: Payload<'_>) {
        match payload {
            Payload::Packet(packet) if packet.len() >= COPIED_BYTES => {
                self.payloads.push((self.bytes.len(), packet.clone()));
                self.len_bytes += packet.len() as u64;
            }
            _ => self.put(payload.bytes()),
        }
    }

    /// Writes all of it.
    pub(crate) fn write_to(&self, file: &dyn DiskFile, offset: u64) -> io::Result<()> {
        let (mut parts, mut at) = (Vec::with_capacity(2 * self.payloads.len() + 1), 0);
        for (behind, payload) in &self.payloads {
            parts.push(IoSlice::new(self.bytes.get(at..*behind).unwrap_or_default()));
            parts.push(IoSlice::new(payload));
            at = *behind;
        }
        parts.push(IoSlice::new(self.bytes.get(at..).unwrap_or_default()));
        file.write_parts_at(offset, &mut parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk as _, RealDisk, SimulatedDisk};
    use testkit::folder::TestFolder;

    #[test]
    fn what_is_laid_out_in_parts_is_written_as_one_piece_on_any_disk() {
        let mut layout = Layout::default();
        let mut expected = Vec::new();
        // More parts than the system takes at once.
        for number in 0..2000_usize {
            let packet =
                Buffer::from(vec![number as u8; if number % 3 == 0 { 10 } else { COPIED_BYTES + number }]);
            let padded = (expected.len() + number % 7) as u64;
            layout.pad_to(padded);
            expected.resize(padded as usize, 0);
            layout.put(&[1, 2, 3]);
            expected.extend([1, 2, 3]);
            layout.put_payload(Payload::Packet(&packet));
            expected.extend(packet.iter());
            assert_eq!(layout.len_bytes(), expected.len() as u64);
        }
        let folder = TestFolder::absent("repo-layout");
        let files = [
            RealDisk::open(&folder.0).unwrap().open("a", true).unwrap(),
            SimulatedDisk::new(1).open("a", true).unwrap(),
        ];
        for file in files {
            layout.write_to(&*file, 100).unwrap();
            assert_eq!(file.len_bytes().unwrap(), 100 + expected.len() as u64);
            let mut written = vec![9; expected.len()];
            file.read_at(100, &mut written).unwrap();
            assert!(written == expected);
        }
        layout.clear();
        assert_eq!((layout.len_bytes(), layout.payloads.len()), (0, 0));
    }
}
