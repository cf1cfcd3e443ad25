//! `fib/list`: where Interests go.

use packet::Name;
use packet::error::DecodeError;

use super::sealed;
use crate::fields::{self, Fields};
use crate::types;

/// A prefix and where Interests under it may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibEntry {
    /// The prefix.
    pub prefix: Name,
    /// The faces, cheapest first.
    pub next_hops: Vec<NextHopRecord>,
}

/// A face that leads to a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHopRecord {
    /// The face.
    pub face_id: u64,
    /// What it costs.
    pub cost: u64,
}

impl sealed::Fields for FibEntry {
    const KIND: u32 = types::DATASET_ITEM;
    const FIELD: &'static str = "FibEntry";

    #[allow(private_interfaces, reason = "sealed")]
    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let records = fields.all(types::NEXT_HOP_RECORD).map(|element| {
            let record = fields.inside(element, "NextHopRecord")?;
            Ok(NextHopRecord {
                face_id: record.required_number(types::FACE_ID, "FaceId")?,
                cost: record.required_number(types::COST, "Cost")?,
            })
        });
        Ok(FibEntry { prefix: fields.required_name()?, next_hops: records.collect::<Result<_, _>>()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        fields::write_name(out, &self.prefix);
        for record in &self.next_hops {
            fields::write_container(out, types::NEXT_HOP_RECORD, |out| {
                fields::write_number(out, types::FACE_ID, Some(record.face_id));
                fields::write_number(out, types::COST, Some(record.cost));
            });
        }
    }
}
