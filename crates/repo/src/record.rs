//! Records: what a volume consists of.
//!
//! A record is a header of 48 bytes and a payload, and starts at a multiple of 16 bytes. Between records
//! there are zeros only: the rest of a place, or what was deleted. The header carries a check under the
//! secret key of the store, so that nobody can have a Data stored whose content looks like records; the
//! payload has a CRC-32.
//!
//! | bytes | what |
//! |---|---|
//! | 0–1 | `c5 1e` |
//! | 2 | kind |
//! | 3 | dialect |
//! | 4–7 | bytes of the payload |
//! | 8–11 | CRC-32 of the payload |
//! | 12–15 | segment |
//! | 16–23 | number of the object, never used again |
//! | 24–31 | hash of the packet's whole name under the store's key |
//! | 32–39 | when the packet came, in milliseconds since 1970 |
//! | 40–47 | check of all that, and of the volume and the place it was written to |
//!
//! Numbers are little-endian. A record that was copied elsewhere byte by byte is therefore no record there.

use packet::{Component, ComponentKind, Dialect, NameHash, NameHasher, NameRef};

use crate::extent::UNIT_BYTES;
use packet::UnixTime;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 48;
/// The largest payload.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 16;

const MAGIC: [u8; 2] = [0xc5, 0x1e];

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// This packet belongs to the object. The payload is its wire bytes.
    Data = 1,
    /// The object is gone.
    Delete = 2,
    /// Segments of the object are gone: from the header's number to the one in the payload.
    DeleteSegments = 3,
    /// The object must not be evicted.
    Pin = 4,
    /// The object may be evicted again.
    Unpin = 5,
}

impl RecordKind {
    fn of(byte: u8) -> Option<Self> {
        [RecordKind::Data, RecordKind::Delete, RecordKind::DeleteSegments, RecordKind::Pin, RecordKind::Unpin]
            .into_iter()
            .find(|&kind| kind as u8 == byte)
    }
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the record says.
    pub kind: RecordKind,
    /// The language of the packet.
    pub dialect: Dialect,
    /// Bytes of the payload.
    pub payload_bytes: u32,
    /// CRC-32 of the payload.
    pub payload_crc: u32,
    /// The packet's number in its object.
    pub segment: u32,
    /// The object's number.
    pub object: u64,
    /// Hash of the packet's name.
    pub name_hash: NameHash,
    /// When the packet came.
    pub arrival: UnixTime,
}

impl Header {
    /// Bytes of header and payload.
    pub fn record_bytes(&self) -> usize {
        HEADER_BYTES + self.payload_bytes as usize
    }

    /// The same, units that were begun as a whole.
    pub fn footprint_bytes(&self) -> u64 {
        (self.record_bytes() as u64).next_multiple_of(UNIT_BYTES)
    }
}

/// The checksum of a payload.
pub fn payload_crc(payload: &[u8]) -> u32 {
    crc32fast::hash(payload)
}

/// Writes and checks records under the key of a store.
#[derive(Clone, Debug)]
pub struct Format {
    hasher: NameHasher,
}

impl Format {
    /// Of the store with this secret key.
    pub fn new(key: [u64; 2]) -> Self {
        Format { hasher: NameHasher::new(key) }
    }

    /// The hash of a packet's name in its header.
    pub fn name_hash(&self, dialect: Dialect, name: NameRef<'_>) -> NameHash {
        self.hasher.hash(dialect, name.components()).whole()
    }

    /// The header's bytes for the record at `offset` of `volume`.
    pub fn header(&self, header: &Header, volume: u32, offset: u64) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut writer = Writer(&mut bytes);
        writer.put(&MAGIC);
        writer.put(&[header.kind as u8, header.dialect as u8]);
        writer.put(&header.payload_bytes.to_le_bytes());
        writer.put(&header.payload_crc.to_le_bytes());
        writer.put(&header.segment.to_le_bytes());
        writer.put(&header.object.to_le_bytes());
        writer.put(&header.name_hash.0.to_le_bytes());
        writer.put(&header.arrival.as_millis().to_le_bytes());
        let check = self.check(&bytes, volume, offset);
        if let Some(place) = bytes.last_chunk_mut() {
            *place = check.to_le_bytes();
        }
        bytes
    }

    /// Reads the header at the start of `bytes`, which lie at `offset` of `volume`; `None` if there is none,
    /// or a broken one.
    pub fn read_header(&self, bytes: &[u8], volume: u32, offset: u64) -> Option<Header> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let mut reader = Reader(bytes);
        if reader.take()? != MAGIC {
            return None;
        }
        let [kind, dialect] = reader.take()?;
        let header = Header {
            kind: RecordKind::of(kind)?,
            dialect: Dialect::from_number(dialect)?,
            payload_bytes: u32::from_le_bytes(reader.take()?),
            payload_crc: u32::from_le_bytes(reader.take()?),
            segment: u32::from_le_bytes(reader.take()?),
            object: u64::from_le_bytes(reader.take()?),
            name_hash: NameHash(u64::from_le_bytes(reader.take()?)),
            arrival: UnixTime::from_millis(u64::from_le_bytes(reader.take()?)),
        };
        let check = u64::from_le_bytes(reader.take()?);
        let is_sound =
            header.payload_bytes as usize <= MAX_PAYLOAD_BYTES && check == self.check(bytes, volume, offset);
        is_sound.then_some(header)
    }

    /// Reads the whole record at the start of `bytes`; `None` if anything in it is not as it was written.
    pub fn read<'b>(&self, bytes: &'b [u8], volume: u32, offset: u64) -> Option<(Header, &'b [u8])> {
        let header = self.read_header(bytes, volume, offset)?;
        let payload = bytes.get(HEADER_BYTES..header.record_bytes())?;
        (payload_crc(payload) == header.payload_crc).then_some((header, payload))
    }

    fn check(&self, header: &[u8; HEADER_BYTES], volume: u32, offset: u64) -> u64 {
        let mut where_it_is = [0; 12];
        let mut writer = Writer(&mut where_it_is);
        writer.put(&volume.to_le_bytes());
        writer.put(&offset.to_le_bytes());
        // A type of component that no name in a packet has beside an 8-byte word, so that no name hashes
        // alike.
        let parts = [&header[..HEADER_BYTES - 8], &where_it_is];
        let components = parts.map(|part| Component::new(ComponentKind::BYTE_OFFSET, part));
        let mut hashes = packet::PrefixHashes::default();
        let mut pass = self.hasher.begin(Dialect::Ndn, &mut hashes);
        components.into_iter().for_each(|component| pass.component(component));
        pass.finish();
        hashes.whole().0
    }
}

/// One finding of a [`scan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanFinding<'b> {
    /// A sound record.
    Record(Header, &'b [u8]),
    /// A header without the payload that belongs to it.
    BadPayload(Header),
    /// Something that is neither a record nor zeros, of so many bytes.
    Garbage(u64),
}

/// Shows `see` all that lies in `bytes`, the part of `volume` from `offset` on (a multiple of 16), and its
/// place. Returns how many bytes are done with: whatever is left may be the start of a record, unless these
/// bytes are the `last` ones.
pub fn scan<'b>(
    format: &Format,
    bytes: &'b [u8],
    volume: u32,
    offset: u64,
    last: bool,
    see: &mut dyn FnMut(u64, ScanFinding<'b>),
) -> usize {
    let unit = UNIT_BYTES as usize;
    let mut at = 0;
    let mut garbage = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.len() < HEADER_BYTES && !last {
            break;
        }
        let place = offset + at as u64;
        let Some(header) = format.read_header(rest, volume, place) else {
            if rest.iter().take(unit).any(|&byte| byte != 0) {
                garbage += rest.len().min(unit) as u64;
            } else if garbage > 0 {
                see(place - garbage, ScanFinding::Garbage(garbage));
                garbage = 0;
            }
            at += rest.len().min(unit);
            continue;
        };
        let whole = header.footprint_bytes() as usize;
        if rest.len() < whole && !last {
            break;
        }
        if garbage > 0 {
            see(place - garbage, ScanFinding::Garbage(garbage));
            garbage = 0;
        }
        match format.read(rest, volume, place) {
            Some((header, payload)) => see(place, ScanFinding::Record(header, payload)),
            None => see(place, ScanFinding::BadPayload(header)),
        }
        at += whole.min(rest.len());
    }
    if garbage > 0 {
        see(offset + at as u64 - garbage, ScanFinding::Garbage(garbage));
    }
    at
}

struct Writer<'a>(&'a mut [u8]);

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        if let Some((place, rest)) = std::mem::take(&mut self.0).split_at_mut_checked(bytes.len()) {
            place.copy_from_slice(bytes);
            self.0 = rest;
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (value, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::random::Random;

    fn record(format: &Format, object: u64, payload: &[u8], offset: u64) -> Vec<u8> {
        let header = Header {
            kind: RecordKind::Data,
            dialect: Dialect::Ndn,
            payload_bytes: payload.len() as u32,
            payload_crc: crc32fast::hash(payload),
            segment: 3,
            object,
            name_hash: NameHash(9),
            arrival: UnixTime::from_millis(77),
        };
        let mut bytes = format.header(&header, 5, offset).to_vec();
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes
    }

    fn findings(format: &Format, bytes: &[u8]) -> Vec<String> {
        let mut seen = Vec::new();
        let done = scan(format, bytes, 5, 64, true, &mut |at, found| {
            seen.push(match found {
                ScanFinding::Record(header, _) => format!("{at}: {}", header.object),
                ScanFinding::BadPayload(header) => format!("{at}: bad {}", header.object),
                ScanFinding::Garbage(bytes) => format!("{at}: garbage {bytes}"),
            });
        });
        assert_eq!(done, bytes.len());
        seen
    }

    #[test]
    fn records_are_found_between_zeros_and_garbage() {
        let format = Format::new([1, 2]);
        let mut volume = record(&format, 1, b"hello", 64);
        volume.extend([0; 160]);
        let offset = |volume: &Vec<u8>| 64 + volume.len() as u64;
        volume.extend(record(&format, 2, &[7; 100], offset(&volume)));
        volume.extend([9; 40]);
        volume.extend([0; 8]);
        volume.extend(record(&format, 3, b"", offset(&volume)));
        assert_eq!(findings(&format, &volume), ["64: 1", "288: 2", "448: garbage 48", "496: 3"]);
    }

    #[test]
    fn any_flipped_bit_is_noticed_and_costs_one_record() {
        let format = Format::new([1, 2]);
        let mut volume = record(&format, 1, &[3; 20], 64);
        volume.extend(record(&format, 2, &[4; 20], 64 + volume.len() as u64));
        for bit in 0..(HEADER_BYTES + 20) * 8 {
            let mut broken = volume.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let seen = findings(&format, &broken);
            assert!(!seen.contains(&"64: 1".to_owned()), "bit {bit}");
            assert!(seen.contains(&"144: 2".to_owned()), "bit {bit}");
        }
    }

    #[test]
    fn a_record_under_another_key_or_at_another_place_is_none() {
        let format = Format::new([1, 2]);
        let bytes = record(&format, 1, b"hello", 64);
        assert!(format.read(&bytes, 5, 64).is_some());
        assert!(Format::new([1, 3]).read(&bytes, 5, 64).is_none());
        assert!(format.read(&bytes, 6, 64).is_none() && format.read(&bytes, 5, 80).is_none());
    }

    #[test]
    fn in_pieces_the_same_is_found_as_in_one() {
        let format = Format::new([1, 2]);
        let mut random = Random::from_seed(8);
        let mut volume = Vec::new();
        for object in 0..50 {
            let payload = vec![1; random.below(300) as usize];
            volume.extend(record(&format, object, &payload, 64 + volume.len() as u64));
            volume.extend(vec![0; random.below(4) as usize * 16]);
        }
        let whole = findings(&format, &volume);
        let (mut seen, mut start, mut end) = (Vec::new(), 0, 0);
        while start < volume.len() {
            end = (end + random.below(500) as usize).min(volume.len());
            let last = end == volume.len();
            start += scan(&format, &volume[start..end], 5, 64 + start as u64, last, &mut |at, found| {
                assert!(matches!(found, ScanFinding::Record(..)));
                seen.push(at);
            });
        }
        let places: Vec<String> = seen.iter().map(|at| format!("{at}:")).collect();
        assert_eq!(places.len(), whole.len());
        assert!(whole.iter().zip(&places).all(|(found, place)| found.starts_with(place.as_str())));
    }
}
