//! `cairn repo delete` and `pin`.

use std::process::ExitCode;

use clap::Args;
use repo::{ObjectId, PendingMaintenance, Store};
use serde_json::json;
use system::unix_now;

use super::folder::{FolderArguments, close, matching};
use super::pattern::NameGlob;
use super::show::name;
use crate::tool::units::show_size;
use crate::tool::{ToolError, output};

/// Delete objects.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn repo delete store '/lab/film' --dry-run       what would be deleted
  cairn repo delete store '/lab/*/v=1' '/old'

Exit codes: 0 done, also if there was nothing to delete; 1 failure; 2 wrong usage.")]
pub(crate) struct DeleteArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Which.
    #[arg(required = true)]
    patterns: Vec<NameGlob>,
    /// Only say what would be deleted.
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl DeleteArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let mut store = self.folder.open()?;
        let ids = matching(&store, &self.patterns);
        let names: Vec<String> = names(&store, &ids).collect();
        // With few syncs, for there may be a million.
        let sum = match self.dry_run {
            true => store.would_delete_all(&ids),
            false => store.delete_all(unix_now(), &ids).map_err(ToolError::other)?,
        };
        if !self.dry_run {
            while store.maintain(unix_now()).map_err(ToolError::other)? == PendingMaintenance::More {}
            close(store)?;
        }
        if self.json {
            output::json(&json!({
                "dry_run": self.dry_run,
                "objects": sum.objects,
                "segments": sum.segments,
                "bytes": sum.bytes,
                "names": names,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for name in &names {
            output::line(name)?;
        }
        let what = if self.dry_run { "would delete" } else { "deleted" };
        let (objects, segments) = (sum.objects, sum.segments);
        tell!("{what} {objects} objects, {segments} segments, {}", show_size(sum.bytes as f64));
        Ok(ExitCode::SUCCESS)
    }
}

/// Keep objects from being evicted, or let them go again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn repo pin store '/lab/film'
  cairn repo pin store '/lab/film' --off

Exit codes: 0 done; 1 failure, or there is no such object; 2 wrong usage.")]
pub(crate) struct PinArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Which.
    #[arg(required = true)]
    patterns: Vec<NameGlob>,
    /// Let them go again.
    #[arg(long)]
    off: bool,
}

impl PinArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let mut store = self.folder.open()?;
        let found = matching(&store, &self.patterns);
        if found.is_empty() {
            return Err(ToolError::other("there is no such object"));
        }
        store.pin(unix_now(), &found, !self.off).map_err(ToolError::other)?;
        for name in names(&store, &found) {
            output::line(name)?;
        }
        close(store)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn names(store: &Store, ids: &[ObjectId]) -> impl Iterator<Item = String> {
    ids.iter().filter_map(|&id| store.catalogue().get(id)).map(name)
}
