//! `cairn repo put`: a file becomes an object of a repository.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use flow::{Publication, PublicationConfig, SegmentSize};
use packet::time::Duration;
use packet::{Data, Name};
use repo::service::unix_now;
use repo::{Refusal, Store};
use serde_json::json;

use super::folder::{FolderArguments, close};
use crate::tool::progress::Progress;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{content_size, duration, show_size};
use crate::tool::{ToolError, input, output};

/// Put a file (or standard input) into a repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Names are those of `cairn put`. When the command ends, all of the object would survive a power cut.

Examples:
  cairn repo put store /lab/film -f film.mp4
  cairn repo put store /lab/film -f film.mp4 -S /lab/alice

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct PutArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The name.
    name: Name,
    /// The file; standard input if it is left out.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Bytes of content in a segment.
    #[arg(short, long, value_name = "BYTES", value_parser = content_size, default_value = "8000")]
    size: SegmentSize,
    /// How long segments count as fresh.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    freshness: Duration,
    /// Say nothing.
    #[arg(short, long)]
    quiet: bool,
    /// Say as JSON what was put.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    signing: SigningArguments,
}

impl PutArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let content = input(self.file.as_deref())?;
        let mut store = self.folder.open_or_make(u64::MAX)?;
        let version = unix_now().as_millis();
        let size = content.len() as u64;
        let mut config = PublicationConfig::new(self.name.clone(), version, size, self.signing.signer()?);
        config.segment_size = self.size;
        config.freshness = self.freshness;
        let publication = Publication::new(config)?;
        let mut progress = Progress::new(self.quiet, "storing");
        for segment in 0..=publication.last_segment() {
            let Some(range) = publication.range(segment) else { continue };
            let start = usize::try_from(range.offset_bytes).unwrap_or(usize::MAX);
            let part = content.get(start..).and_then(|rest| rest.get(..range.len_bytes as usize));
            insert(&mut store, &publication.segment(segment, part.unwrap_or_default())?)?;
            progress.set(range.offset_bytes + range.len_bytes, Some(size));
        }
        store.commit().map_err(ToolError::other)?;
        progress.finish();
        close(store)?;
        let (name, segments) = (publication.name(), publication.last_segment() + 1);
        if self.json {
            output::json(&json!({ "name": name.to_string(), "bytes": size, "segments": segments }))?;
        } else if !self.quiet {
            tell!("stored {} in {segments} segments as {name}", show_size(size as f64));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Inserts a packet; what waits is committed when it is as much as may wait.
pub(super) fn insert(store: &mut Store, data: &Data) -> Result<(), ToolError> {
    match store.insert(unix_now(), data) {
        Ok(_) => Ok(()),
        Err(Refusal::TooManyOpen) => {
            store.commit().map_err(ToolError::other)?;
            store.insert(unix_now(), data).map(|_| ()).map_err(refused)
        }
        Err(refusal) => Err(refused(refusal)),
    }
}

fn refused(refusal: Refusal) -> ToolError {
    ToolError::other(format!("the repository refuses: {refusal}"))
}
