//! What a Cairn node adds to `status/general`: how much memory is held for whom, and what was dropped and
//! why.
//!
//! The addition is one element behind those of the protocol, of a type that readers who do not know it must
//! pass over (packet format v0.3, section 1.3: even and not below 32). Of other forwarders it is not there.

use packet::error::DecodeError;

use crate::fields::{self, Fields};
use crate::types;

/// Memory in use and what was dropped, over all faces, past ones included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Faces.
    pub faces: u64,
    /// Bytes that wait for peers to read.
    pub queued_bytes: u64,
    /// Bytes of incomplete packets.
    pub reassembly_bytes: u64,
    /// Bytes that pending Interests take.
    pub pit_bytes: u64,
    /// Bytes of Data in the content store.
    pub cs_bytes: u64,
    /// Bytes of all tables of the forwarder, packets not counted.
    pub table_bytes: u64,
    /// Routes in the RIB.
    pub rib_routes: u64,
    /// Bytes of their names and announcements.
    pub rib_bytes: u64,
    /// What all of it together may take, in bytes; 0 where the node does not tell.
    pub memory_budget_bytes: u64,
    /// What was dropped, each reason once.
    pub drops: Vec<Dropped>,
    /// What was done on links that nodes share, each number with its word.
    pub sharing: Vec<(String, u64)>,
    /// Repositories on disks.
    pub repositories: Vec<RepositoryTotals>,
}

/// What a repository holds and has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositoryTotals {
    /// Its folder.
    pub path: String,
    /// Numbers, each with its word.
    pub numbers: Vec<(String, u64)>,
}

/// How often something was dropped for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The part of the forwarder: `engine`, `link` or `transport`; or `verification` of what was kept.
    pub layer: String,
    /// The reason, in the word that counters and logs have for it.
    pub reason: String,
    /// How often.
    pub count: u64,
}

impl Totals {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        fields::write_container(out, types::CAIRN_TOTALS, |out| {
            for (kind, number) in [
                (types::CAIRN_FACES, self.faces),
                (types::CAIRN_QUEUED_BYTES, self.queued_bytes),
                (types::CAIRN_REASSEMBLY_BYTES, self.reassembly_bytes),
                (types::CAIRN_PIT_BYTES, self.pit_bytes),
                (types::CAIRN_CS_BYTES, self.cs_bytes),
                (types::CAIRN_TABLE_BYTES, self.table_bytes),
                (types::CAIRN_RIB_ROUTES, self.rib_routes),
                (types::CAIRN_RIB_BYTES, self.rib_bytes),
                (types::CAIRN_MEMORY_BUDGET_BYTES, self.memory_budget_bytes),
            ] {
                fields::write_number(out, kind, Some(number));
            }
            for dropped in &self.drops {
                fields::write_container(out, types::CAIRN_DROPPED, |out| {
                    fields::write_text(out, types::CAIRN_LAYER, Some(&dropped.layer));
                    fields::write_text(out, types::CAIRN_REASON, Some(&dropped.reason));
                    fields::write_number(out, types::COUNT, Some(dropped.count));
                });
            }
            if !self.sharing.is_empty() {
                fields::write_container(out, types::CAIRN_SHARING, |out| write_numbers(out, &self.sharing));
            }
            for repository in &self.repositories {
                fields::write_container(out, types::CAIRN_REPOSITORY, |out| {
                    fields::write_text(out, types::CAIRN_PATH, Some(&repository.path));
                    write_numbers(out, &repository.numbers);
                });
            }
        });
    }

    /// Reads them, if they are there.
    pub(super) fn read(general: &Fields<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(element) = general.first(types::CAIRN_TOTALS) else { return Ok(None) };
        let fields = general.inside(element, "CairnTotals")?;
        let count = |kind| Ok::<u64, DecodeError>(fields.number(kind, "CairnTotals")?.unwrap_or(0));
        let drops = fields.all(types::CAIRN_DROPPED).map(|element| {
            let fields = fields.inside(element, "CairnDropped")?;
            Ok(Dropped {
                layer: fields.required_text(types::CAIRN_LAYER, "CairnLayer")?,
                reason: fields.required_text(types::CAIRN_REASON, "CairnReason")?,
                count: fields.required_number(types::COUNT, "Count")?,
            })
        });
        let repositories = fields.all(types::CAIRN_REPOSITORY).map(|element| {
            let fields = fields.inside(element, "CairnRepository")?;
            let path = fields.required_text(types::CAIRN_PATH, "CairnPath")?;
            Ok(RepositoryTotals { path, numbers: read_numbers(&fields)? })
        });
        let sharing = match fields.first(types::CAIRN_SHARING) {
            Some(element) => read_numbers(&fields.inside(element, "CairnSharing")?)?,
            None => Vec::new(),
        };
        Ok(Some(Totals {
            sharing,
            faces: count(types::CAIRN_FACES)?,
            queued_bytes: count(types::CAIRN_QUEUED_BYTES)?,
            reassembly_bytes: count(types::CAIRN_REASSEMBLY_BYTES)?,
            pit_bytes: count(types::CAIRN_PIT_BYTES)?,
            cs_bytes: count(types::CAIRN_CS_BYTES)?,
            table_bytes: count(types::CAIRN_TABLE_BYTES)?,
            rib_routes: count(types::CAIRN_RIB_ROUTES)?,
            rib_bytes: count(types::CAIRN_RIB_BYTES)?,
            memory_budget_bytes: count(types::CAIRN_MEMORY_BUDGET_BYTES)?,
            drops: drops.collect::<Result<_, DecodeError>>()?,
            repositories: repositories.collect::<Result<_, DecodeError>>()?,
        }))
    }
}

fn write_numbers(out: &mut Vec<u8>, numbers: &[(String, u64)]) {
    for (word, number) in numbers {
        fields::write_container(out, types::CAIRN_NUMBER, |out| {
            fields::write_text(out, types::CAIRN_WORD, Some(word));
            fields::write_number(out, types::COUNT, Some(*number));
        });
    }
}

fn read_numbers(fields: &Fields<'_>) -> Result<Vec<(String, u64)>, DecodeError> {
    let numbers = fields.all(types::CAIRN_NUMBER).map(|element| {
        let fields = fields.inside(element, "CairnNumber")?;
        let word = fields.required_text(types::CAIRN_WORD, "CairnWord")?;
        Ok((word, fields.required_number(types::COUNT, "Count")?))
    });
    numbers.collect()
}
