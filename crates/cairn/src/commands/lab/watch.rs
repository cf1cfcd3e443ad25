//! Follow a run that goes on in another terminal, by the files it writes.

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lab::run::RunFolder;

type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Prints the state of every node until the run is complete.
pub(super) fn watch(folder: Option<PathBuf>, runs: &Path) -> Outcome {
    let folder = super::runs::find(folder, runs)?;
    let mut out = std::io::stdout().lock();
    let live = out.is_terminal();
    loop {
        let record = folder.record()?;
        let lines = state(&folder, record.cases.len(), record.repeats);
        if live {
            write!(out, "\x1b[H\x1b[J")?;
        }
        writeln!(out, "{} — {}", record.title, folder.path().display())?;
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        if record.complete {
            writeln!(out, "complete: {}", folder.report().display())?;
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// How many repeats are done, and the last line of each forwarder's log of the one that runs.
fn state(folder: &RunFolder, cases: usize, repeats: u32) -> Vec<String> {
    let places = || (0..cases).flat_map(|case| (0..repeats).map(move |repeat| (case, repeat)));
    let done =
        places().filter(|(case, repeat)| folder.repeat(*case, *repeat).join("result.json").is_file()).count();
    let mut lines = vec![format!("{done} of {} repeats done", places().count())];
    let running = places()
        .map(|(case, repeat)| folder.repeat(case, repeat))
        .find(|place| place.join("raw").is_dir() && !place.join("result.json").is_file());
    let Some(place) = running else { return lines };
    let mut files: Vec<PathBuf> = std::fs::read_dir(place.join("raw"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "csv"))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("forwarder-")))
        .collect();
    files.sort();
    lines.push(format!("{:<14} {:>9} {:>9} {:>9} {:>9}", "node", "pending", "names", "cpu %", "MB"));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let Some(last) = text.lines().skip(1).last() else { continue };
        let fields: Vec<&str> = last.split(',').collect();
        let field = |index: usize| fields.get(index).copied().unwrap_or("");
        let memory = field(6).parse::<f64>().unwrap_or(0.0) / 1e6;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().replace("forwarder-", "");
        lines.push(format!("{name:<14} {:>9} {:>9} {:>9} {memory:>9.1}", field(2), field(1), field(5)));
    }
    lines
}
