//! Rows of the index. Each ends in a CRC-32 of itself and its key.

use crate::extent::Extent;
use crate::object::Object;
use packet::UnixTime;

use super::Checkpoint;

const PINNED: u8 = 1;
const NO_FINAL_SEGMENT: u32 = u32::MAX;

pub(super) fn write_object(object: &Object, out: &mut Vec<u8>) {
    out.clear();
    out.push(if object.pinned { PINNED } else { 0 });
    out.extend_from_slice(&object.number.to_le_bytes());
    out.extend_from_slice(&object.final_segment.unwrap_or(NO_FINAL_SEGMENT).to_le_bytes());
    out.extend_from_slice(&object.fresh_until.as_millis().to_le_bytes());
    for run in object.extents.iter() {
        for number in [run.volume, run.unit, run.stride_units, run.last_bytes, run.first, run.count] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    let crc = crc(&object.key, out);
    out.extend_from_slice(&crc.to_le_bytes());
}

pub(super) fn read_object(key: &[u8], row: &[u8]) -> Option<Object> {
    let (mut rest, stored_crc) = row.split_last_chunk::<4>()?;
    if crc(key, rest) != u32::from_le_bytes(*stored_crc) {
        return None;
    }
    let flags = take::<1>(&mut rest)?;
    let mut object = Object::new(key.into(), u64::from_le_bytes(take(&mut rest)?));
    object.pinned = flags[0] & PINNED != 0;
    object.final_segment =
        Some(u32::from_le_bytes(take(&mut rest)?)).filter(|&last| last != NO_FINAL_SEGMENT);
    object.fresh_until = UnixTime::from_millis(u64::from_le_bytes(take(&mut rest)?));
    object.name()?;
    while !rest.is_empty() {
        let mut number = || Some(u32::from_le_bytes(take(&mut rest)?));
        let run = Extent {
            volume: number()?,
            unit: number()?,
            stride_units: number()?,
            last_bytes: number()?,
            first: number()?,
            count: number()?,
        };
        run.next_unit()?;
        if !object.extents.push(run) {
            return None;
        }
        object.bytes += run.bytes();
    }
    Some(object)
}

pub(super) fn write_checkpoint(checkpoint: &Checkpoint) -> Vec<u8> {
    let mut out = Vec::with_capacity(40);
    for number in [checkpoint.key[0], checkpoint.key[1], checkpoint.offset, checkpoint.next_object] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&checkpoint.volume.to_le_bytes());
    let crc = crc(&[], &out);
    out.extend_from_slice(&crc.to_le_bytes());
    out
}

pub(super) fn read_checkpoint(row: &[u8]) -> Option<Checkpoint> {
    let (mut rest, stored_crc) = row.split_last_chunk::<4>()?;
    if crc(&[], rest) != u32::from_le_bytes(*stored_crc) {
        return None;
    }
    let mut number = || Some(u64::from_le_bytes(take(&mut rest)?));
    let (key, offset, next_object) = ([number()?, number()?], number()?, number()?);
    Some(Checkpoint { key, offset, next_object, volume: u32::from_le_bytes(take(&mut rest)?) })
}

fn crc(key: &[u8], row: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(row);
    hasher.finalize()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (value, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ObjectName;
    use packet::{Dialect, Name};

    #[test]
    fn rows_are_read_as_they_were_written_and_not_with_a_flipped_bit() {
        let name: Name = "/a/v=1/seg=0".parse().unwrap();
        let key = ObjectName::of_packet(Dialect::Ndn, name.as_ref()).0.key();
        let mut object = Object::new(key.clone().into(), 7);
        object.pinned = true;
        object.final_segment = Some(12);
        object.fresh_until = UnixTime::from_millis(1234);
        for first in [0, 10] {
            let run = Extent { volume: 2, unit: 4, stride_units: 510, last_bytes: 99, first, count: 3 };
            assert!(object.extents.push(run));
        }
        let mut row = Vec::new();
        write_object(&object, &mut row);
        let again = read_object(&key, &row).unwrap();
        assert_eq!((again.number, again.pinned, again.final_segment), (7, true, Some(12)));
        assert_eq!((again.extents, again.fresh_until), (object.extents, object.fresh_until));
        for bit in 0..row.len() * 8 {
            let mut broken = row.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            assert!(read_object(&key, &broken).is_none(), "bit {bit}");
        }
        let checkpoint = Checkpoint { key: [1, 2], volume: 3, offset: 4, next_object: 5 };
        assert_eq!(read_checkpoint(&write_checkpoint(&checkpoint)), Some(checkpoint));
    }
}
