//! `cairn bench repository`: what a repository costs on this machine, and what it must not cost.

mod curve;
mod disk;
mod memory;
mod neighbours;
mod peers;
mod router;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;

pub(super) use disk::delete_in_parts;

use super::own_folder;
use super::report::number;
use crate::tool::units::show_size;
use crate::tool::{ToolError, output};

/// How to measure a repository.
#[derive(Debug, Args)]
#[command(after_help = "\
All of it happens in one run on one file system: what others would do with the same bytes stands beside it. The folder needs twice \
the bytes that are stored. ndn-python-repo is measured too if it is in PATH.

Examples:
  cairn bench repository
  cairn bench repository --full --folder /var/lib     8 GiB on the disk that matters
  cairn bench repository --json > numbers.json

Exit codes: 0 done, whatever the numbers are; 1 failure; 2 wrong usage.")]
pub(crate) struct RepositoryArguments {
    /// Megabytes that are stored, of 1,000,000 bytes.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(64..=1_000_000))]
    megabytes: u64,
    /// Store 8 GiB.
    #[arg(long, conflicts_with = "megabytes")]
    full: bool,
    /// Where to put what is stored, for the time of the measurement; the folder for temporary files if left
    /// out.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Draw what the router does each 10 ms while the repository deletes into this file; the numbers go into
    /// a file beside it that ends in .csv.
    #[arg(long, value_name = "FILE.svg")]
    curve: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What a number must be.
#[derive(Clone, Copy, Debug)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// It stands there to compare with.
    Nothing,
}

/// One number.
#[derive(Debug)]
struct Row {
    what: String,
    measured: f64,
    unit: &'static str,
    bound: Bound,
    /// Stands in place of the number, if there is none.
    note: &'static str,
}

impl Row {
    fn new(what: impl Into<String>, measured: f64, unit: &'static str, bound: Bound) -> Self {
        Row { what: what.into(), measured, unit, bound, note: "" }
    }

    /// Why there is no number.
    fn note(what: impl Into<String>, note: &'static str) -> Self {
        Row { what: what.into(), measured: f64::NAN, unit: "", bound: Bound::Nothing, note }
    }

    /// How much of what is allowed was used: above one the number is not what it must be.
    fn ratio(&self) -> Option<f64> {
        match self.bound {
            Bound::AtMost(bound) => Some(self.measured / bound),
            Bound::AtLeast(bound) => Some(bound / self.measured),
            Bound::Nothing => None,
        }
    }
}

/// Content of a segment, and segments of an object.
const SEGMENT_BYTES: u64 = 8000;
const SEGMENTS: u64 = 512;

/// What other people's repositories are given, unless all is asked for.
const PEER_BYTES: u64 = 64_000_000;

/// What is stored, and where.
struct Stage {
    folder: Folder,
    objects: u64,
    progress: ProgressBar,
}

/// A folder that is gone afterwards.
pub(super) struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    /// Below the one that is given, or where there is room.
    pub(super) fn make(below: Option<&Path>) -> Result<Self, ToolError> {
        let path = match below {
            Some(folder) => folder.join(format!("cairn-bench-{}", std::process::id())),
            None => own_folder()?,
        };
        std::fs::create_dir_all(&path).map_err(ToolError::file(&path))?;
        Ok(Folder(path))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Stage {
    fn bytes(&self) -> u64 {
        self.objects * SEGMENTS * SEGMENT_BYTES
    }

    /// Objects of which a deletion takes every one: a quarter of all, among the others.
    fn goes(object: u64) -> bool {
        object % 4 == 3
    }

    fn name(object: u64, segment: u64) -> String {
        let word = if Stage::goes(object) { "gone" } else { "kept" };
        format!("/{word}/{object}/v=1/seg={segment}")
    }
}

/// Measures everything, and prints it.
pub(super) fn run(arguments: &RepositoryArguments) -> Result<(), ToolError> {
    let bytes = if arguments.full { 8 << 30 } else { arguments.megabytes * 1_000_000 };
    let folder = Folder::make(arguments.folder.as_deref())?;
    check_room(&folder.0, bytes.saturating_mul(2))?;
    let progress = ProgressBar::new_spinner();
    progress.enable_steady_tick(Duration::from_millis(250));
    let objects = (bytes / (SEGMENTS * SEGMENT_BYTES)).max(8);
    let stage = Stage { folder, objects, progress };
    // Others take minutes for what ours does in seconds.
    let peer_bytes = if arguments.full { 1_000_000_000 } else { PEER_BYTES };
    let mut rows = Vec::new();
    let measured = disk::measure(&stage, &mut rows)
        .and_then(|()| router::measure(&stage, &mut rows))
        .and_then(|()| neighbours::measure(&stage, &mut rows))
        .and_then(|()| match &arguments.curve {
            Some(file) => curve::measure(&stage, file, &mut rows),
            None => Ok(()),
        })
        .and_then(|()| disk::measure_copy_and_swap(&stage, &mut rows))
        .and_then(|()| memory::measure(&mut rows))
        .and_then(|()| peers::measure(&stage, peer_bytes, &mut rows));
    stage.progress.finish_and_clear();
    // What was measured until then is told all the same.
    print(&stage, &rows, arguments.json)?;
    measured
}

pub(super) fn check_room(folder: &Path, wanted: u64) -> Result<(), ToolError> {
    let disk = rustix::fs::statvfs(folder).map_err(std::io::Error::from).map_err(ToolError::file(folder))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < wanted {
        let (wanted, free) = (show_size(wanted as f64), show_size(free as f64));
        let why = format!("{wanted} of room are needed at {}, and {free} are free", folder.display());
        return Err(ToolError::other(why));
    }
    Ok(())
}

fn print(stage: &Stage, rows: &[Row], as_json: bool) -> std::io::Result<()> {
    if as_json {
        let rows = rows.iter().map(|row| {
            let must = match row.bound {
                Bound::AtMost(bound) => json!({ "at_most": bound }),
                Bound::AtLeast(bound) => json!({ "at_least": bound }),
                Bound::Nothing => json!(null),
            };
            json!({
                "what": row.what,
                "measured": row.measured.is_finite().then_some(row.measured),
                "note": row.note,
                "unit": row.unit,
                "must": must,
                "ratio": row.ratio(),
            })
        });
        let rows: Vec<_> = rows.collect();
        return output::json(&json!({ "stored_bytes": stage.bytes(), "rows": rows }));
    }
    output::line(format_args!("{} stored in segments of 8 kB", show_size(stage.bytes() as f64)))?;
    let shown = |row: &Row| {
        let must = match row.bound {
            Bound::AtMost(bound) => format!("≤ {}", number(bound)),
            Bound::AtLeast(bound) => format!("≥ {}", number(bound)),
            Bound::Nothing => String::new(),
        };
        let ratio = row.ratio().map(|ratio| format!("{ratio:.2}"));
        let verdict = match row.ratio() {
            Some(ratio) if ratio > 1.0 => "not met",
            Some(_) => "met",
            None => "",
        };
        let measured = match row.note {
            "" => format!("{} {}", number(row.measured), row.unit),
            note => note.to_owned(),
        };
        vec![row.what.clone(), measured, must, ratio.unwrap_or_default(), verdict.to_owned()]
    };
    let rows: Vec<_> = rows.iter().map(shown).collect();
    output::table(&["what", "measured", "must", "of what is allowed", ""], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_above_one_says_that_the_number_is_not_what_it_must_be() {
        let ratio = |measured, bound| Row::new("x", measured, "s", bound).ratio();
        assert_eq!(ratio(3.0, Bound::AtMost(2.0)), Some(1.5));
        assert_eq!(ratio(30.0, Bound::AtLeast(60.0)), Some(2.0));
        assert_eq!(ratio(120.0, Bound::AtLeast(60.0)), Some(0.5));
        assert_eq!(ratio(1.0, Bound::Nothing), None);
    }

    #[test]
    fn a_quarter_of_the_objects_goes_by_one_prefix() {
        let gone = (0..1000).filter(|&object| Stage::name(object, 7).starts_with("/gone/")).count();
        assert_eq!(gone, 250);
    }
}
