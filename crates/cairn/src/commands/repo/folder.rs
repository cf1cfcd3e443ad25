//! A repository's folder, opened by a tool.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use formats::printable::printable_path;
use packet::ccnx::{AnswerOriginKind, InterestFields};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::{Data, Dialect, NameHasher};
use repo::disk::{Disk, OverlayDisk, RealDisk};
use repo::eviction::DeletionRule;
use repo::{Answer, CommitError, Limits, Object, ObjectId, Store, StoreConfig, StoreKeys};
use system::unix_now;

use super::pattern::NameGlob;
use crate::tool::ToolError;

/// Which repository.
#[derive(Debug, Args)]
pub(super) struct FolderArguments {
    /// The folder of the repository.
    folder: PathBuf,
}

impl FolderArguments {
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// Opens a repository that is there.
    pub(super) fn open(&self) -> Result<Store, ToolError> {
        self.require()?;
        self.open_or_make(u64::MAX)
    }

    /// Opens a repository that is there for somebody who only looks: where nothing can be written, as on a
    /// read-only mount, what opening would mend on the disk is mended in memory.
    pub(super) fn open_to_read(&self) -> Result<Store, ToolError> {
        if self.require()?.is_writable() {
            return self.open_or_make(u64::MAX);
        }
        let folder = printable_path(&self.folder);
        tell!("cairn: {folder} cannot be written: it is read as it is, and nothing in it changes");
        let disk = OverlayDisk::open(&self.folder).map_err(ToolError::file(&self.folder))?;
        self.open_on(Arc::new(disk), u64::MAX)
    }

    /// Whether nothing in the folder can be written.
    pub(super) fn is_read_only(&self) -> bool {
        RealDisk::open(&self.folder).is_ok_and(|disk| !disk.is_writable())
    }

    /// The folder, if there is a repository in it: whoever only looks makes nothing that was not there.
    fn require(&self) -> Result<RealDisk, ToolError> {
        if !self.folder.is_dir() {
            let why = format!("there is no folder {}", printable_path(&self.folder));
            return Err(ToolError::other(why));
        }
        let disk = RealDisk::open(&self.folder).map_err(ToolError::file(&self.folder))?;
        if !Store::is_on(&disk).map_err(ToolError::file(&self.folder))? {
            let why = format!("there is no repository in {}", printable_path(&self.folder));
            return Err(ToolError::other(why));
        }
        Ok(disk)
    }

    /// Opens it, and makes it if it is not there. With more than `max_bytes` objects are evicted, if there is
    /// a policy.
    pub(super) fn open_or_make(&self, max_bytes: u64) -> Result<Store, ToolError> {
        let disk = RealDisk::open(&self.folder).map_err(|error| self.wrong(&error))?;
        self.open_on(Arc::new(disk), max_bytes)
    }

    fn wrong(&self, why: &dyn std::fmt::Display) -> ToolError {
        ToolError::other(format!("the repository at {}: {why}", printable_path(&self.folder)))
    }

    fn open_on(&self, disk: Arc<dyn Disk>, max_bytes: u64) -> Result<Store, ToolError> {
        let mut random = Random::from_seed(client::Clock::seed());
        let mut key = || [random.next_u64(), random.next_u64()];
        let keys = StoreKeys { records: key(), names: NameHasher::new(key()) };
        let config = StoreConfig {
            holder: "a cairn repo command".to_owned(),
            limits: Limits { max_bytes, max_objects: u32::MAX, ..Limits::default() },
            deletion: DeletionRule { threshold_bytes: max_bytes, ratio: 0.25 },
            ..StoreConfig::default()
        };
        let (store, recovery) = Store::open(disk, config, keys).map_err(|error| self.wrong(&error))?;
        if recovery.rebuilt {
            let (objects, damaged) = (store.catalogue().len(), recovery.damaged);
            tell!(
                "cairn: the index was lost and has been made anew: {objects} objects; {damaged} records or \
                 stretches of the volumes are not as they were written"
            );
        }
        if recovery.missing > 0 {
            tell!("cairn: {} objects are lost: their volumes are not there", recovery.missing);
        }
        Ok(store)
    }
}

/// Brings the index up to date, so that whoever opens the folder next need not read the log. Where that
/// fails, as on a full disk, all is in the log.
pub(super) fn close(mut store: Store) -> Result<(), ToolError> {
    store.commit().map_err(not_committed)?;
    if let Err(error) = store.checkpoint() {
        tell!("cairn: {error}; all is stored, and opening it takes longer until the index can be written");
    }
    Ok(())
}

/// Packets that were not stored.
pub(super) fn not_committed(error: CommitError) -> ToolError {
    ToolError::other(format_args!("the repository refuses: {}", error.reason))
}

/// The objects that any of the patterns means; all if there is none.
pub(super) fn matching(store: &Store, patterns: &[NameGlob]) -> Vec<ObjectId> {
    let is_meant = |object: &Object| {
        let name = object.name();
        patterns.is_empty()
            || name.is_some_and(|object| {
                patterns.iter().any(|pattern| pattern.matches(object.dialect, object.name))
            })
    };
    store.catalogue().iter().filter(|(_, object)| is_meant(object)).map(|(id, _)| id).collect()
}

/// The numbers of an object's segments.
pub(super) fn segments(object: &Object) -> impl Iterator<Item = u32> + use<'_> {
    let mut next = object.extents.first_segment();
    std::iter::from_fn(move || {
        let segment = next?;
        next = object.extents.next_segment(segment + 1);
        Some(segment)
    })
}

/// Reads one packet of an object; `None` if it cannot be read, and then the object has been dropped.
pub(super) fn read(store: &mut Store, id: ObjectId, segment: u32) -> Result<Option<Data>, ToolError> {
    let Some(name) = store.catalogue().get(id).and_then(Object::name) else { return Ok(None) };
    let packet = name.packet_name(segment);
    let interest = match name.dialect {
        Dialect::Ndn => InterestBuilder::new(packet).build()?,
        Dialect::Ccnx => {
            // No longer names, and also what has been there for long.
            let fields = InterestFields {
                max_suffix_components: Some(1),
                answer_origin_kind: AnswerOriginKind::new(7),
                ..InterestFields::default()
            };
            fields.build(&packet)?
        }
    };
    Ok(match store.answer(unix_now(), &interest) {
        Some(Answer::Data(data)) => Some(data),
        _ => None,
    })
}
