//! How several datasets write packets by kind and direction.

use packet::PacketCounts;
use packet::error::DecodeError;

use crate::fields::write_number;
use crate::types;

/// Reads the counts. `number` reads one of them, and says what becomes of one that is missing.
pub(super) fn read_packet_counts(
    number: impl Fn(u32, &'static str) -> Result<u64, DecodeError>,
) -> Result<PacketCounts, DecodeError> {
    Ok(PacketCounts {
        in_interests: number(types::N_IN_INTERESTS, "NInInterests")?,
        in_data: number(types::N_IN_DATA, "NInData")?,
        in_nacks: number(types::N_IN_NACKS, "NInNacks")?,
        out_interests: number(types::N_OUT_INTERESTS, "NOutInterests")?,
        out_data: number(types::N_OUT_DATA, "NOutData")?,
        out_nacks: number(types::N_OUT_NACKS, "NOutNacks")?,
    })
}

/// Writes the counts.
pub(super) fn write_packet_counts(counts: &PacketCounts, out: &mut Vec<u8>) {
    write_number(out, types::N_IN_INTERESTS, Some(counts.in_interests));
    write_number(out, types::N_IN_DATA, Some(counts.in_data));
    write_number(out, types::N_IN_NACKS, Some(counts.in_nacks));
    write_number(out, types::N_OUT_INTERESTS, Some(counts.out_interests));
    write_number(out, types::N_OUT_DATA, Some(counts.out_data));
    write_number(out, types::N_OUT_NACKS, Some(counts.out_nacks));
}
