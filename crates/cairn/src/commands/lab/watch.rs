//! Follow a run that goes on in another terminal, by the files it writes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use lab::analysis::Table;
use lab::run::{RunFolder, RunRecord};
use serde_json::{Value, json};

use super::Outcome;
use super::terminal::is_terminal;
use super::verdicts::Form;
use crate::tool::ToolError;
use crate::tool::output::{self, printable};

/// How many marks a node's history has.
const MARKS: usize = 32;
/// When nothing was written for so long, the run may be gone.
const QUIET: Duration = Duration::from_secs(30);

/// Shows the state of every node until the run is complete.
pub(super) fn watch(folder: Option<PathBuf>, runs: &Path, form: Form) -> Outcome {
    let folder = super::runs::find(folder, runs)?;
    if form == Form::Json {
        return watch_for_programs(&folder);
    }
    let mut out = std::io::stdout().lock();
    let live = is_terminal(&out);
    let pause = Duration::from_millis(if live { 500 } else { 5000 });
    loop {
        let record = folder.record().map_err(ToolError::file(folder.path()))?;
        let lines = state(&folder, &record);
        if live {
            // Home, and clear what is below.
            write!(out, "\x1b[H\x1b[J")?;
        }
        let head = format!("{} ({}) — {}", record.title, record.backend, folder.path().display());
        for line in std::iter::once(&head).chain(&lines) {
            writeln!(out, "{}", printable(line))?;
        }
        out.flush()?;
        if record.complete {
            writeln!(out, "complete: {}", folder.report().display())?;
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(pause);
    }
}

/// The same as a line of JSON each time.
fn watch_for_programs(folder: &RunFolder) -> Outcome {
    loop {
        let record = folder.record().map_err(ToolError::file(folder.path()))?;
        let RunProgress { done, all, running } = RunProgress::of(folder, &record);
        let running = running.map(|(case, repeat)| {
            let name = record.cases.get(case).map(String::as_str).unwrap_or_default();
            let raw = folder.repeat(case, repeat).join("raw");
            let quiet = quiet(&raw).map(|quiet| quiet.as_secs());
            let nodes: Vec<Value> = logs(&raw).iter().filter_map(|file| last_line(file)).collect();
            json!({ "case": name, "repeat": repeat + 1, "quiet_seconds": quiet, "nodes": nodes })
        });
        output::json_line(&json!({
            "folder": folder.path().display().to_string(),
            "complete": record.complete,
            "done": done,
            "repeats": all,
            "running": running,
        }))?;
        if record.complete {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_secs(5));
    }
}

/// A node, and the last line of its forwarder's log by the names of its columns.
fn last_line(file: &Path) -> Option<Value> {
    let table = Table::read(trust::whole_file::open(file).ok()?).ok()?;
    let mut last = serde_json::Map::new();
    let name = file.file_stem().unwrap_or_default().to_string_lossy().replace("forwarder-", "");
    last.insert("node".to_owned(), name.into());
    for (column, value) in table.columns.iter().zip(table.rows.last()?) {
        last.insert(column.clone(), json!(value));
    }
    Some(Value::Object(last))
}

/// How far a run is.
struct RunProgress {
    done: usize,
    all: usize,
    /// The case and the repeat, both from 0, that go on now.
    running: Option<(usize, u32)>,
}

impl RunProgress {
    fn of(folder: &RunFolder, record: &RunRecord) -> Self {
        let places: Vec<(usize, u32)> = (0..record.cases.len())
            .flat_map(|case| (0..record.repeats).map(move |repeat| (case, repeat)))
            .collect();
        let is_done = |place: &&(usize, u32)| folder.repeat(place.0, place.1).join("result.json").is_file();
        let is_begun = |place: &&(usize, u32)| folder.repeat(place.0, place.1).join("raw").is_dir();
        let running = places.iter().find(|place| is_begun(place) && !is_done(place)).copied();
        RunProgress { done: places.iter().filter(is_done).count(), all: places.len(), running }
    }
}

/// How many repeats are done, and what the forwarders' logs of the one that runs say.
fn state(folder: &RunFolder, record: &RunRecord) -> Vec<String> {
    let RunProgress { done, all, running } = RunProgress::of(folder, record);
    let mut lines = vec![format!("{} {done} of {all} repeats done", bar(done, all))];
    let Some((case, repeat)) = running else { return lines };
    let name = record.cases.get(case).map(String::as_str).unwrap_or_default();
    let title = if name.is_empty() { String::new() } else { format!("{name}, ") };
    lines.push(format!("now: {title}repeat {}", repeat + 1));
    let raw = folder.repeat(case, repeat).join("raw");
    let files = logs(&raw);
    if let Some(quiet) = quiet(&raw).filter(|quiet| *quiet > QUIET) {
        lines.push(format!(
            "Nothing was written for {} s. If it was interrupted: cairn lab resume {}",
            quiet.as_secs(),
            folder.path().display()
        ));
    }
    if !files.is_empty() {
        lines.push(format!(
            "{:<12} {:>8} {:>8} {:>7} {:>8}  {:<MARKS$}",
            "node", "seconds", "pending", "cpu %", "MB", "pending, so far"
        ));
    }
    for file in files {
        let Some(table) = trust::whole_file::open(&file).ok().and_then(|file| Table::read(file).ok()) else {
            continue;
        };
        let column = |name: &str| table.column(name);
        let last = |name: &str| column(name).into_iter().rfind(|value| value.is_finite()).unwrap_or(0.0);
        let times = column("time");
        let seconds = last("time") - times.first().copied().unwrap_or(0.0);
        let node = file.file_stem().unwrap_or_default().to_string_lossy().replace("forwarder-", "");
        lines.push(format!(
            "{node:<12} {seconds:>8.0} {:>8.0} {:>7.0} {:>8.1}  {}",
            last("pending"),
            last("cpu"),
            last("memory") / 1e6,
            history(&column("pending"))
        ));
    }
    lines
}

/// Forwarder logs, by name.
fn logs(raw: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(raw).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("forwarder-") && name.ends_with(".csv")
    };
    let mut files: Vec<PathBuf> = entries.filter(is_log).collect();
    files.sort();
    files
}

/// How long ago anything was written.
fn quiet(raw: &Path) -> Option<Duration> {
    let entries = fs::read_dir(raw).ok()?.flatten();
    let latest = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()?;
    SystemTime::now().duration_since(latest).ok()
}

fn bar(done: usize, all: usize) -> String {
    (0..20).map(|mark| if mark * all.max(1) < done * 20 { '█' } else { '·' }).collect()
}

/// Numbers as marks of different height, the greatest of each stretch.
fn history(values: &[f64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let mark = |stretch: &[f64]| {
        let part = stretch.iter().copied().fold(0.0, f64::max) / most;
        let height = (part * 7.0).round() as usize;
        HEIGHTS.get(height).copied().unwrap_or('█')
    };
    values.chunks(values.len().div_ceil(MARKS).max(1)).map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_short_and_shows_its_peak() {
        let mut values = vec![1.0; 400];
        values[200] = 8.0;
        values[3] = f64::NAN;
        let history = history(&values);
        assert!(history.chars().count() <= MARKS, "{history}");
        assert_eq!(history.chars().filter(|mark| *mark == '█').count(), 1);
    }

    #[test]
    fn nothing_done_is_an_empty_bar_and_everything_a_full_one() {
        assert_eq!((bar(0, 4), bar(4, 4)), ("·".repeat(20), "█".repeat(20)));
        assert_eq!(bar(0, 0), "·".repeat(20));
    }
}
