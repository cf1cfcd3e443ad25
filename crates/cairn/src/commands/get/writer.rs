//! What is fetched, on its way to where it goes.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

use client::{Reader, RefusedPacketInfo};
use flow::{Fetcher, Segment};
use packet::time::{Duration, Instant};

use super::listing::ListingWriter;
use super::output::{standard_output, write_segments};
use super::refetch::RefusedPackets;
use super::space_left::SpaceLeft;
use crate::tool::content::ContentWriter;
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::{ToolError, files};

/// Where the object goes.
pub(super) enum Target {
    Output(BufWriter<ContentWriter<File>>),
    List(ListingWriter<io::Stdout>),
    /// What is no file: a device, a pipe.
    Special(BufWriter<File>, PathBuf),
    /// A file with `.part` behind its name until it is whole. Not that of `client::Get::into_file`, which
    /// goes if the fetch fails: this one stays, and a later run goes on with it.
    File {
        out: BufWriter<File>,
        part: PathBuf,
        notes: PathBuf,
        path: PathBuf,
        noted: bool,
    },
}

impl Target {
    /// What is written to.
    pub(super) fn file(&self) -> io::Result<File> {
        match self {
            Target::Output(out) => out.get_ref().get_ref().try_clone(),
            Target::Special(out, _) | Target::File { out, .. } => out.get_ref().try_clone(),
            Target::List(_) => standard_output().map(ContentWriter::into_inner),
        }
    }
}

/// Takes what is fetched, and shows how far it is.
pub(super) struct Writer {
    pub(super) target: Target,
    pub(super) room: SpaceLeft,
    pub(super) progress: Progress,
    pub(super) interrupt: Interrupt,
    pub(super) bytes: u64,
    pub(super) refusals: RefusedPackets,
    pub(super) skipped_bytes: u64,
    pub(super) last_shown: Instant,
    pub(super) clock: client::Clock,
}

impl Reader for Writer {
    fn segments(&mut self, segments: &[Segment]) -> io::Result<()> {
        let bytes = segments.iter().map(|segment| segment.data.content().len() as u64).sum::<u64>();
        self.room.take(bytes)?;
        self.bytes += bytes;
        match &mut self.target {
            Target::Output(out) => write_segments(out, segments),
            Target::List(out) => segments.iter().try_for_each(|segment| out.write(segment.data.content())),
            Target::Special(out, _) => write_segments(out, segments),
            Target::File { out, notes, noted, .. } => {
                if let Some(first) = segments.first().filter(|_| !*noted) {
                    // The name of a segment less its number, and how long a segment is: enough to go on from
                    // here.
                    let name = first.data.name();
                    let object = name.prefix(name.component_count().saturating_sub(1));
                    let text = format!("{object:#} {}\n", first.data.content().len());
                    files::create(notes, false)?.write_all(text.as_bytes())?;
                    *noted = true;
                }
                write_segments(out, segments)
            }
        }
    }

    fn refused(&mut self, refused: RefusedPacketInfo) {
        self.refusals.add(refused);
    }

    fn progress(&mut self, fetcher: &Fetcher) -> bool {
        let now = self.clock.now();
        if now.saturating_since(self.last_shown) > Duration::from_millis(100) {
            self.last_shown = now;
            let progress = fetcher.progress();
            self.progress
                .set(self.skipped_bytes + self.bytes, progress.total_bytes.or_else(|| estimate(fetcher)));
        }
        !self.interrupt.came()
    }
}

impl Writer {
    /// Puts the object where it belongs if it is complete.
    pub(super) fn close(&mut self, complete: bool) -> Result<(), ToolError> {
        match &mut self.target {
            Target::Output(out) => out.flush()?,
            Target::List(out) => out.finish()?,
            Target::Special(out, path) => out.flush().map_err(ToolError::file(&*path))?,
            Target::File { out, part, notes, path, noted } => {
                out.flush().map_err(ToolError::file(&*part))?;
                if complete {
                    std::fs::rename(&*part, &*path).map_err(ToolError::file(&*path))?;
                    let _ = std::fs::remove_file(notes);
                } else if !*noted {
                    // Nothing came: nothing is left behind.
                    let _ = std::fs::remove_file(part);
                }
            }
        }
        Ok(())
    }

    /// Whether a later run finds something to go on from.
    pub(super) fn can_go_on(&self) -> bool {
        matches!(self.target, Target::File { noted: true, .. })
    }

    /// What could not be written, and where.
    pub(super) fn output_error(&self, error: io::Error) -> ToolError {
        match &self.target {
            Target::File { part, .. } => ToolError::file(part)(error),
            Target::Special(_, path) => ToolError::file(path)(error),
            Target::Output(_) | Target::List(_) => error.into(),
        }
    }
}

/// How many bytes it will be, if only the number of segments is known.
fn estimate(fetcher: &Fetcher) -> Option<u64> {
    let progress = fetcher.progress();
    let each = progress.content_bytes.checked_div(progress.segments)?;
    // The number is a stranger's word.
    Some(progress.total_segments?.saturating_mul(each))
}
