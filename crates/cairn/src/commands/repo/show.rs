//! `cairn repo list`, `info` and `stats`.

use std::process::ExitCode;

use clap::Args;
use packet::name::name_in_dialect;
use repo::Object;
use serde_json::{Value, json};

use super::folder::{FolderArguments, matching};
use super::pattern::NameGlob;
use crate::tool::units::show_size;
use crate::tool::{ToolError, output};

/// List the objects of a repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn repo list store
  cairn repo list store '/lab/*/v=*' --json

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct ListArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Which; all if left out.
    patterns: Vec<NameGlob>,
    /// Print JSON, a line for each object.
    #[arg(long)]
    json: bool,
}

impl ListArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let store = self.folder.open_to_read()?;
        let mut rows = Vec::new();
        for id in matching(&store, &self.patterns) {
            let Some(object) = store.catalogue().get(id) else { continue };
            if self.json {
                output::json_line(&shown(object))?;
            } else {
                rows.push(row(object));
            }
        }
        if !self.json {
            output::table(&["segments", "bytes", "state", "name"], &rows)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn row(object: &Object) -> Vec<String> {
    let mut state = vec![if object.is_complete() { "complete" } else { "part" }];
    if object.pinned {
        state.push("pinned");
    }
    let segments = object.extents.segment_count().to_string();
    vec![segments, show_size(object.bytes as f64), state.join(", "), name(object)]
}

/// As it is shown, with its dialect.
pub(super) fn name(object: &Object) -> String {
    object.name().map_or_else(String::new, |object| name_in_dialect(object.dialect, object.name))
}

fn shown(object: &Object) -> Value {
    json!({
        "name": name(object),
        "segments": object.extents.segment_count(),
        "last_segment": object.final_segment,
        "bytes": object.bytes,
        "complete": object.is_complete(),
        "pinned": object.pinned,
        "fresh_until_unix_ms": object.fresh_until.as_millis(),
        "runs": object.extents.run_count(),
    })
}

/// Show all that is known of an object.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn repo info store /lab/film

Exit codes: 0 done; 1 failure, or there is no such object; 2 wrong usage.")]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Which.
    pattern: NameGlob,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl InfoArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let store = self.folder.open_to_read()?;
        let found = matching(&store, std::slice::from_ref(&self.pattern));
        if found.is_empty() {
            return Err(ToolError::other("there is no such object"));
        }
        for object in found.into_iter().filter_map(|id| store.catalogue().get(id)) {
            if self.json {
                output::json(&shown(object))?;
                continue;
            }
            output::pair("name", name(object))?;
            output::pair("segments", object.extents.segment_count())?;
            let last = object.final_segment.map_or_else(|| "unknown".to_owned(), |last| last.to_string());
            output::pair("last segment", last)?;
            output::pair("complete", if object.is_complete() { "yes" } else { "no" })?;
            output::pair("bytes", show_size(object.bytes as f64))?;
            output::pair("pinned", if object.pinned { "yes" } else { "no" })?;
            output::pair("runs on the disk", object.extents.run_count())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Show how much a repository holds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn repo stats store --json

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct StatsArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl StatsArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let store = self.folder.open_to_read()?;
        let stats = store.stats();
        if self.json {
            output::json(&json!({
                "objects": stats.objects,
                "segments": stats.segments,
                "bytes": stats.bytes,
                "volumes": stats.volumes,
                "disk_bytes": stats.disk_bytes,
                "memory_bytes": stats.memory_bytes,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        output::pair("objects", stats.objects)?;
        output::pair("segments", stats.segments)?;
        output::pair("bytes", show_size(stats.bytes as f64))?;
        output::pair("volumes", stats.volumes)?;
        output::pair("bytes on the disk", show_size(stats.disk_bytes as f64))?;
        output::pair("memory", show_size(stats.memory_bytes as f64))?;
        Ok(ExitCode::SUCCESS)
    }
}
