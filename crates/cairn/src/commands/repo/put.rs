//! `cairn repo put`: a file becomes an object of a repository.

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use client::files::CcnxFileObject;
use flow::{CcnxPublication, Publication, PublicationConfig, SegmentSize};
use packet::ccnx::Ticks;
use packet::time::Duration;
use packet::{AnyName, Data, Dialect, Name};
use repo::{Rejection, Selection, Store};
use serde_json::json;
use system::unix_now;

use super::folder::{FolderArguments, close, not_committed};
use crate::tool::ccnx::{SEGMENT_BYTES, segment_bytes};
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::regular_file::{self, RegularFile};
use crate::tool::signing::SigningArguments;
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
  cairn repo put store ccnx:/lab/film -f film.mp4

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct PutArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The name; `ccnx:/…` makes an object of CCNx.
    name: AnyName,
    /// The file; standard input if it is left out. Of a pipe a copy lies among the temporary files meanwhile.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Bytes of content in a segment; 8000 if it is left out, 4096 in CCNx.
    #[arg(short, long, value_name = "BYTES", value_parser = content_size)]
    size: Option<SegmentSize>,
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
        let content = regular_file::open(self.file.as_deref(), &interrupt)?;
        let size = content.bytes;
        let mut store = self.folder.open_or_make(u64::MAX)?;
        let mut object = match self.name.dialect {
            Dialect::Ndn => self.object(content)?,
            Dialect::Ccnx => self.object_of_ccnx(content)?,
        };
        let name = AnyName { dialect: self.name.dialect, name: object.name.clone() };
        let selection = Selection::Object(name.dialect, object.name.clone());
        if !store.select(&selection).is_empty() {
            // What a version means never changes: others may have it, and half of each would be neither.
            close(store)?;
            return Err(ToolError::other(format_args!(
                "{name} is stored already; delete it first, or put another version"
            )));
        }
        let stored = self.store(&mut store, &mut object, size, &interrupt);
        if stored.is_err() {
            // It commits what is open first. Where that fails, as on a full disk, nothing is open afterwards.
            let mut delete = || store.delete(unix_now(), &selection);
            let deleted = delete().or_else(|_| delete());
            deleted.map_err(ToolError::other)?;
        }
        close(store)?;
        stored?;
        let segments = object.last_segment + 1;
        if self.json {
            output::json(&json!({ "name": name.to_string(), "bytes": size, "segments": segments }))?;
        } else if !self.quiet {
            tell!("stored {} in {segments} segments as {name}", show_size(size as f64));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is stored: a name with its version, and a packet for each segment, made when its turn comes.
struct Segments {
    name: Name,
    last_segment: u64,
    segment_bytes: u64,
    make: Box<dyn FnMut(u64) -> Result<Data, ToolError>>,
}

impl PutArguments {
    fn object(&self, content: RegularFile) -> Result<Segments, ToolError> {
        let name = self.name.name.clone();
        let mut config =
            PublicationConfig::new(name, unix_now().as_millis(), content.bytes, self.signing.signer()?);
        config.segment_size = self.size.unwrap_or_default();
        config.freshness = self.freshness;
        let publication = Publication::new(config)?;
        let called = self.file.clone().unwrap_or_else(|| "standard input".into());
        let (name, last_segment) = (publication.name().clone(), publication.last_segment());
        let segment_bytes = publication.segment_bytes();
        let mut bytes = Vec::new();
        let make = move |segment| {
            if let Some(range) = publication.range(segment) {
                // A segment is smaller than a packet.
                bytes.resize(usize::try_from(range.len_bytes).unwrap_or(0), 0);
                let read = content.file.read_exact_at(&mut bytes, range.offset_bytes);
                read.map_err(ToolError::file(Path::new(&called)))?;
            }
            Ok(publication.segment(segment, &bytes)?)
        };
        Ok(Segments { name, last_segment, segment_bytes, make: Box::new(make) })
    }

    fn object_of_ccnx(&self, content: RegularFile) -> Result<Segments, ToolError> {
        let segment_bytes = self.size.map_or(Ok(SEGMENT_BYTES), segment_bytes)?;
        let (name, now) = (self.name.name.clone(), Ticks::from(unix_now()));
        let signer = self.signing.ccnx_signer()?;
        let publication = CcnxPublication::new(name, now, content.bytes, segment_bytes, signer)?
            .with_freshness_seconds(Ticks::whole_seconds(self.freshness));
        let (name, last_segment) = (publication.name().clone(), publication.last_segment());
        let mut source = CcnxFileObject::new(publication, content.file);
        let make = move |segment| source.packet(segment).map_err(ToolError::other);
        Ok(Segments { name, last_segment, segment_bytes, make: Box::new(make) })
    }

    /// Stores all segments.
    fn store(
        &self,
        store: &mut Store,
        object: &mut Segments,
        size_bytes: u64,
        interrupt: &Interrupt,
    ) -> Result<(), ToolError> {
        let mut progress = Progress::new(self.quiet, "storing");
        for segment in 0..=object.last_segment {
            if interrupt.came() {
                return Err(ToolError::other("interrupted before all was stored"));
            }
            insert(store, &(object.make)(segment)?)?;
            progress.set(size_bytes.min((segment + 1) * object.segment_bytes), Some(size_bytes));
        }
        store.commit().map_err(not_committed)?;
        progress.finish();
        Ok(())
    }
}

/// Packets are committed when they are so many bytes: a larger group would be no faster, and takes memory.
const COMMIT_BYTES: u64 = 4 << 20;

/// Inserts a packet; what waits is committed when it is much.
pub(super) fn insert(store: &mut Store, data: &Data) -> Result<(), ToolError> {
    if store.open_bytes() >= COMMIT_BYTES {
        store.commit().map_err(not_committed)?;
        // Whoever opens the folder after this was killed should not have to read all of it again. The log has
        // everything where the index cannot be written.
        let _ = store.checkpoint_if_due();
    }
    match store.insert(unix_now(), data) {
        Ok(_) => Ok(()),
        Err(Rejection::TooManyOpen) => {
            store.commit().map_err(not_committed)?;
            store.insert(unix_now(), data).map(|_| ()).map_err(refused)
        }
        Err(refusal) => Err(refused(refusal)),
    }
}

fn refused(refusal: Rejection) -> ToolError {
    ToolError::other(format!("the repository refuses: {refusal}"))
}
