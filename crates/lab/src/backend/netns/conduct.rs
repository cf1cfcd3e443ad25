//! The lab's side of a run in namespaces: order it, follow its events, and let it end in order.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::Child;

use super::guard;
use crate::backend::BackendError;
use crate::backend::machine::cgroup::Controllers;
use crate::order::{Event, ORDER_FILE, OUTCOME_FILE, Order, Outcome, read_json, write_json};

/// Carries an order out below `folder`, and passes on what happens.
///
/// # Errors
///
/// Why it could not be carried out.
pub fn conduct(
    order: &Order,
    folder: &Path,
    mut observe: impl FnMut(&Event),
) -> Result<Outcome, BackendError> {
    let mut guard = begin(order, folder, &mut observe)?;
    // The guard ends the world when this end of the pipe closes.
    let mut held = guard.stdin.take();
    follow(guard, |event| {
        if order.stop.is_asked() {
            held = None;
        }
        observe(event);
    })?;
    drop(held);
    Ok(read_json(&folder.join(OUTCOME_FILE))?)
}

/// Writes an order down and starts the guard of its world.
pub(crate) fn begin(order: &Order, folder: &Path, mut observe: impl FnMut(&Event)) -> io::Result<Child> {
    let cleaned = Controllers::find().clean_leftovers();
    if cleaned > 0 {
        let text = format!("{cleaned} control groups of a run that had been killed were taken away first.");
        observe(&Event::Note { text });
    }
    std::fs::create_dir_all(folder)?;
    write_json(&folder.join(ORDER_FILE), order)?;
    guard::start(&order.programs.cairn, folder)
}

/// Passes on what happens in a world until it has ended.
pub(crate) fn follow(mut guard: Child, mut observe: impl FnMut(&Event)) -> Result<(), BackendError> {
    let mut failed = None;
    let output = guard.stdout.take();
    for line in output.into_iter().flat_map(|output| BufReader::new(output).lines().map_while(Result::ok)) {
        let Ok(event) = serde_json::from_str::<Event>(&line) else { continue };
        observe(&event);
        if let Event::Failed { why } = event {
            failed = Some(why);
        }
    }
    let status = guard.wait()?;
    match failed {
        Some(why) => Err(BackendError::Guard(why)),
        None if !status.success() => Err(BackendError::GuardEnded(status)),
        None => Ok(()),
    }
}
