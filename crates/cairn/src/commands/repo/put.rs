//! `cairn repo put`: a file becomes an object of a repository.

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flow::{Publication, PublicationConfig, SegmentSize};
use packet::time::Duration;
use packet::{Data, Dialect, Name};
use repo::service::unix_now;
use repo::{Rejection, Selection, Store};
use serde_json::json;

use super::folder::{FolderArguments, close};
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::signing::SigningArguments;
use crate::tool::sized::{self, Sized};
use crate::tool::units::{content_size, duration, show_size};
use crate::tool::{ToolError, output};

/// Put a file (or standard input) into a repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Names are those of `cairn put`. When the command ends, all of the object would survive a power cut. When it fails or is interrupted, \
nothing of it is kept. A version that is stored already is refused.

Examples:
  cairn repo put store /lab/film -f film.mp4
  cairn repo put store /lab/film -f film.mp4 -S /lab/alice

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct PutArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The name.
    name: Name,
    /// The file; standard input if it is left out. Of a pipe a copy lies among the temporary files meanwhile.
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
        let interrupt = Interrupt::catch()?;
        let content = sized::open(self.file.as_deref(), &interrupt)?;
        let size = content.bytes;
        let mut store = self.folder.open_or_make(u64::MAX)?;
        let version = unix_now().as_millis();
        let mut config = PublicationConfig::new(self.name.clone(), version, size, self.signing.signer()?);
        config.segment_size = self.size;
        config.freshness = self.freshness;
        let publication = Publication::new(config)?;
        let object = Selection::Object(Dialect::Ndn, publication.name().clone());
        if !store.select(&object).is_empty() {
            // What a version means never changes: others may have it, and half of each would be neither.
            let name = publication.name();
            close(store)?;
            return Err(ToolError::other(format_args!(
                "{name} is stored already; delete it first, or put another version"
            )));
        }
        let stored = self.store(&mut store, &publication, &content, &interrupt);
        if stored.is_err() {
            store.delete(unix_now(), &object).map_err(ToolError::other)?;
        }
        close(store)?;
        stored?;
        let (name, segments) = (publication.name(), publication.last_segment() + 1);
        if self.json {
            output::json(&json!({ "name": name.to_string(), "bytes": size, "segments": segments }))?;
        } else if !self.quiet {
            tell!("stored {} in {segments} segments as {name}", show_size(size as f64));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl PutArguments {
    /// Stores all segments, each read when its turn comes.
    fn store(
        &self,
        store: &mut Store,
        publication: &Publication,
        from: &Sized,
        interrupt: &Interrupt,
    ) -> Result<(), ToolError> {
        let called = self.file.as_deref().unwrap_or(Path::new("standard input"));
        let mut progress = Progress::new(self.quiet, "storing");
        let mut content = Vec::new();
        for segment in 0..=publication.last_segment() {
            let Some(range) = publication.range(segment) else { continue };
            if interrupt.came() {
                return Err(ToolError::other("interrupted before all was stored"));
            }
            // A segment is smaller than a packet.
            content.resize(usize::try_from(range.len_bytes).unwrap_or(0), 0);
            from.file.read_exact_at(&mut content, range.offset_bytes).map_err(ToolError::file(called))?;
            insert(store, &publication.segment(segment, &content)?)?;
            progress.set(range.offset_bytes + range.len_bytes, Some(from.bytes));
        }
        store.commit().map_err(ToolError::other)?;
        progress.finish();
        Ok(())
    }
}

/// Packets are committed when they are so many bytes: a larger group would be no faster, and takes memory.
const COMMIT_BYTES: u64 = 4 << 20;

/// Inserts a packet; what waits is committed when it is much.
pub(super) fn insert(store: &mut Store, data: &Data) -> Result<(), ToolError> {
    if store.open_bytes() >= COMMIT_BYTES {
        store.commit().map_err(ToolError::other)?;
    }
    match store.insert(unix_now(), data) {
        Ok(_) => Ok(()),
        Err(Rejection::TooManyOpen) => {
            store.commit().map_err(ToolError::other)?;
            store.insert(unix_now(), data).map(|_| ()).map_err(refused)
        }
        Err(refusal) => Err(refused(refusal)),
    }
}

fn refused(refusal: Rejection) -> ToolError {
    ToolError::other(format!("the repository refuses: {refusal}"))
}
