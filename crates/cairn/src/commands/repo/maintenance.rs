//! `cairn repo verify` and `compact`.

use std::process::ExitCode;

use clap::Args;
use packet::time::Duration;
use repo::{Event, PendingMaintenance};
use serde_json::json;
use system::unix_now;

use super::folder::{FolderArguments, close, matching, segments};
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::units::show_size;
use crate::tool::{ToolError, output};

/// Read everything, and drop what is not as it was written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn repo verify store

Where the folder cannot be written, as on a read-only mount, nothing is dropped.

Exit codes: 0 all is as it was written; 1 failure, or objects are not, which are named; 2 wrong usage.")]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl VerifyArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut store = self.folder.open_to_read()?;
        let (total, mut read_bytes, mut packets) = (store.bytes(), 0, 0_u64);
        let mut progress = Progress::new(self.json, "verifying");
        for id in matching(&store, &[]) {
            let Some(object) = store.catalogue().get(id) else { continue };
            let numbers: Vec<u32> = segments(object).collect();
            for segment in numbers {
                if let Some(data) = store.read_segment(unix_now(), id, segment) {
                    packets += 1;
                    read_bytes += data.wire().len() as u64;
                    progress.set(read_bytes, Some(total));
                }
            }
            if interrupt.came() {
                break;
            }
        }
        progress.finish();
        let damaged: Vec<String> =
            std::iter::from_fn(|| store.poll_event()).map(|Event::Corrupt(name)| name.to_string()).collect();
        close(store)?;
        // Dropped in memory only, where nothing can be written.
        let is_read_only = self.folder.is_read_only();
        if self.json {
            let dropped = if is_read_only { &[][..] } else { &damaged };
            let shown =
                json!({ "packets": packets, "bytes": read_bytes, "damaged": damaged, "dropped": dropped });
            output::json(&shown)?;
        } else {
            for name in &damaged {
                output::line(name)?;
            }
            let (size, count) = (show_size(read_bytes as f64), damaged.len());
            let what = if is_read_only { "damaged, which stay" } else { "dropped" };
            tell!("{packets} packets, {size} are as they were written; {count} objects {what}");
        }
        Ok(if damaged.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Give back the room of what was deleted.
#[derive(Debug, Args)]
#[command(after_help = "\
A running repository does that by itself, a little at a time.

Examples:
  cairn repo compact store

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct CompactArguments {
    #[command(flatten)]
    folder: FolderArguments,
}

impl CompactArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut store = self.folder.open()?;
        let before = store.stats().disk_bytes;
        store.checkpoint().map_err(ToolError::other)?;
        // Nobody else is kept waiting by the disk, so the pauses are left out.
        let mut now = unix_now();
        while !interrupt.came() {
            match store.maintain(now).map_err(ToolError::other)? {
                PendingMaintenance::More => {}
                PendingMaintenance::Later(when) => now = when.after(Duration::from_millis(1)),
                PendingMaintenance::Idle => break,
            }
        }
        store.checkpoint().map_err(ToolError::other)?;
        let after = store.stats().disk_bytes;
        close(store)?;
        tell!("{} on the disk before, {} now", show_size(before as f64), show_size(after as f64));
        Ok(ExitCode::SUCCESS)
    }
}
