//! `status/general`: the forwarder as a whole. Not a list: its fields stand in the content without a
//! container.

use packet::PacketCounts;
use packet::error::DecodeError;
use packet::ndn::tlv::Reader;

use super::Totals;
use super::packet_counts::{read_packet_counts, write_packet_counts};
use crate::fields::{self, Fields};
use crate::types;

/// The forwarder as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneralStatus {
    /// Its version, in words of its own.
    pub version: String,
    /// When it was started, in milliseconds since the Unix epoch.
    pub start_timestamp_ms: u64,
    /// What time it is there, in milliseconds since the Unix epoch.
    pub current_timestamp_ms: u64,
    /// Nodes of the tree of names that its tables share.
    pub name_tree_entries: u64,
    /// Prefixes with next hops.
    pub fib_entries: u64,
    /// Pending Interests.
    pub pit_entries: u64,
    /// Prefixes that strategies measure.
    pub measurements_entries: u64,
    /// Data in the content store.
    pub cs_entries: u64,
    /// Packets received and sent.
    pub packets: PacketCounts,
    /// Pending Interests that were answered.
    pub satisfied_interests: u64,
    /// Pending Interests that ran out.
    pub unsatisfied_interests: u64,
    /// What only Cairn tells.
    pub totals: Option<Totals>,
}

impl GeneralStatus {
    /// The content of the dataset.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        fields::write_text(&mut out, types::NFD_VERSION, Some(&self.version));
        for (kind, number) in [
            (types::START_TIMESTAMP, self.start_timestamp_ms),
            (types::CURRENT_TIMESTAMP, self.current_timestamp_ms),
            (types::N_NAME_TREE_ENTRIES, self.name_tree_entries),
            (types::N_FIB_ENTRIES, self.fib_entries),
            (types::N_PIT_ENTRIES, self.pit_entries),
            (types::N_MEASUREMENTS_ENTRIES, self.measurements_entries),
            (types::N_CS_ENTRIES, self.cs_entries),
        ] {
            fields::write_number(&mut out, kind, Some(number));
        }
        write_packet_counts(&self.packets, &mut out);
        fields::write_number(&mut out, types::N_SATISFIED_INTERESTS, Some(self.satisfied_interests));
        fields::write_number(&mut out, types::N_UNSATISFIED_INTERESTS, Some(self.unsatisfied_interests));
        if let Some(totals) = &self.totals {
            totals.write(&mut out);
        }
        out
    }

    /// Reads the content of the dataset. Counters that a forwarder does not have count as zero.
    ///
    /// # Errors
    /// A malformed element, or no version or times.
    pub fn decode(content: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(Reader::new(content, "GeneralStatus"))?;
        let count = |kind, field| Ok::<u64, DecodeError>(fields.number(kind, field)?.unwrap_or(0));
        Ok(GeneralStatus {
            version: fields.required_text(types::NFD_VERSION, "NfdVersion")?,
            start_timestamp_ms: fields.required_number(types::START_TIMESTAMP, "StartTimestamp")?,
            current_timestamp_ms: fields.required_number(types::CURRENT_TIMESTAMP, "CurrentTimestamp")?,
            name_tree_entries: count(types::N_NAME_TREE_ENTRIES, "NNameTreeEntries")?,
            fib_entries: count(types::N_FIB_ENTRIES, "NFibEntries")?,
            pit_entries: count(types::N_PIT_ENTRIES, "NPitEntries")?,
            measurements_entries: count(types::N_MEASUREMENTS_ENTRIES, "NMeasurementsEntries")?,
            cs_entries: count(types::N_CS_ENTRIES, "NCsEntries")?,
            packets: read_packet_counts(count)?,
            satisfied_interests: count(types::N_SATISFIED_INTERESTS, "NSatisfiedInterests")?,
            unsatisfied_interests: count(types::N_UNSATISFIED_INTERESTS, "NUnsatisfiedInterests")?,
            totals: Totals::read(&fields)?,
        })
    }
}
