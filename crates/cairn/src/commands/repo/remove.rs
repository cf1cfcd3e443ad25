//! `cairn repo delete` and `pin`.

use std::process::ExitCode;

use clap::Args;
use packet::Dialect;
use repo::{Deleted, Object, PendingMaintenance, Selection};
use serde_json::json;
use system::unix_now;

use super::folder::{FolderArguments, close, matching};
use super::pattern::NameGlob;
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
        let selected = matching(&store, &self.patterns).into_iter().filter_map(|id| {
            let name = store.catalogue().get(id)?.name()?;
            Some(Selection::Object(name.dialect, name.name.to_name()))
        });
        let selections: Vec<Selection> = selected.collect();
        let (mut sum, mut names) = (Deleted::default(), Vec::new());
        for selection in &selections {
            let deleted = match self.dry_run {
                true => store.would_delete(selection),
                false => store.delete(unix_now(), selection).map_err(ToolError::other)?,
            };
            sum.objects += deleted.objects;
            sum.segments += deleted.segments;
            sum.bytes += deleted.bytes;
            if let Selection::Object(Dialect::Ndn | Dialect::Ccnx, name) = selection
                && deleted.objects > 0
            {
                names.push(name.to_string());
            }
        }
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
        for id in found {
            store.pin(unix_now(), id, !self.off).map_err(ToolError::other)?;
            if let Some(object) = store.catalogue().get(id).and_then(Object::name) {
                output::line(object.name.to_name())?;
            }
        }
        close(store)?;
        Ok(ExitCode::SUCCESS)
    }
}
