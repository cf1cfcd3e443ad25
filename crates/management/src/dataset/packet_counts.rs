//! Packets by kind and direction, as several datasets count them.

use packet::error::DecodeError;

use crate::fields::write_number;
use crate::types;

/// How many packets came in and went out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Interests received.
    pub in_interests: u64,
    /// Data received.
    pub in_data: u64,
    /// Nacks received.
    pub in_nacks: u64,
    /// Interests sent.
    pub out_interests: u64,
    /// Data sent.
    pub out_data: u64,
    /// Nacks sent.
    pub out_nacks: u64,
}

impl PacketCounts {
    /// Reads the counts. `number` reads one of them, and says what becomes of one that is missing.
    pub(super) fn read(
        number: impl Fn(u32, &'static str) -> Result<u64, DecodeError>,
    ) -> Result<Self, DecodeError> {
        Ok(PacketCounts {
            in_interests: number(types::N_IN_INTERESTS, "NInInterests")?,
            in_data: number(types::N_IN_DATA, "NInData")?,
            in_nacks: number(types::N_IN_NACKS, "NInNacks")?,
            out_interests: number(types::N_OUT_INTERESTS, "NOutInterests")?,
            out_data: number(types::N_OUT_DATA, "NOutData")?,
            out_nacks: number(types::N_OUT_NACKS, "NOutNacks")?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_number(out, types::N_IN_INTERESTS, Some(self.in_interests));
        write_number(out, types::N_IN_DATA, Some(self.in_data));
        write_number(out, types::N_IN_NACKS, Some(self.in_nacks));
        write_number(out, types::N_OUT_INTERESTS, Some(self.out_interests));
        write_number(out, types::N_OUT_DATA, Some(self.out_data));
        write_number(out, types::N_OUT_NACKS, Some(self.out_nacks));
    }
}
