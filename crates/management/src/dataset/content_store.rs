//! `cs/info`: the content store.

use packet::error::DecodeError;

use super::sealed;
use crate::fields::{self, Fields};
use crate::types;
use crate::values::CsFlags;

/// The content store as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsInfo {
    /// Most packets it may hold.
    pub capacity: u64,
    /// What it does.
    pub flags: CsFlags,
    /// Packets it holds.
    pub entries: u64,
    /// Interests it answered.
    pub hits: u64,
    /// Interests it could not answer.
    pub misses: u64,
}

impl sealed::Fields for CsInfo {
    const KIND: u32 = types::DATASET_ITEM;
    const FIELD: &'static str = "CsInfo";

    #[allow(private_interfaces, reason = "sealed")]
    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        Ok(CsInfo {
            capacity: fields.required_number(types::CAPACITY, "Capacity")?,
            flags: CsFlags(fields.required_number(types::FLAGS, "Flags")?),
            entries: fields.required_number(types::N_CS_ENTRIES, "NCsEntries")?,
            hits: fields.required_number(types::N_HITS, "NHits")?,
            misses: fields.required_number(types::N_MISSES, "NMisses")?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        fields::write_number(out, types::CAPACITY, Some(self.capacity));
        fields::write_number(out, types::FLAGS, Some(self.flags.0));
        fields::write_number(out, types::N_CS_ENTRIES, Some(self.entries));
        fields::write_number(out, types::N_HITS, Some(self.hits));
        fields::write_number(out, types::N_MISSES, Some(self.misses));
    }
}
