//! How a run is done once more: the command that does it, with everything that was said with it, fit to be
//! pasted.

use std::fs;
use std::path::Path;

use super::begun::not_begun;
use super::error::RunError;
use super::folder::{RunFolder, RunRecord};
use super::start_command::StartCommand;
use crate::analysis::{NETWORK_FILE, RAW};
use crate::backend::VIRTUAL_TIME;
use crate::experiment::Experiment;
use crate::experiment::backends::{HOSTS, NETNS};
use crate::experiment::plan::TraceFormat;

/// A word of a command as a shell takes it.
#[must_use]
pub fn pasted(word: &str) -> String {
    let is_plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-' | '+' | ':' | '@' | ',')
    };
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A path of a command as a shell takes it.
#[must_use]
pub fn pasted_path(path: &Path) -> String {
    pasted(&path.display().to_string())
}

/// How a format of traces is said.
pub(super) fn said_format(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Csv => "csv",
        TraceFormat::Parquet => "parquet",
    }
}

/// The command that carries out a file as a run was. One of an earlier version has not noted all that was
/// said.
fn command_of(folder: &RunFolder, record: &RunRecord, file: &str, hosts: &Path) -> String {
    let least = || format!(" --on {} --repeats {}", pasted(&record.backend), record.repeats);
    let words = StartCommand::of(record, "").map_or_else(least, |said| said.options);
    format!("cairn lab run {}{words}{}", pasted(file), said_elsewhere(folder, record, &words, hosts))
}

/// What else makes a run what it was, and is not among the words that its record has noted.
fn said_elsewhere(folder: &RunFolder, record: &RunRecord, words: &str, hosts: &Path) -> String {
    let format = record.trace_format.filter(|_| !words.contains(" --format "));
    let format = format.map(|format| format!(" --format {}", said_format(format)));
    let hosts = folder.hosts().is_file().then(|| format!(" --hosts {}", pasted_path(hosts)));
    format.into_iter().chain(hosts).collect()
}

/// The command that runs an experiment once more as a run was, from its copy in the folder.
pub(crate) fn command_again(folder: &RunFolder, record: &RunRecord) -> String {
    command_of(folder, record, &folder.experiment().display().to_string(), &folder.hosts())
}

/// The same of a copy that stands beside who reads it.
pub(crate) fn command_beside(folder: &RunFolder, record: &RunRecord) -> String {
    let command = command_of(folder, record, "experiment.toml", Path::new("hosts.toml"));
    match command.contains(" --repeats ") {
        true => command,
        false => format!("{command} --repeats {}", record.repeats),
    }
}

/// The same of a run whose record is lost, as far as its files show what was said with it.
pub(super) fn guessed_command(folder: &RunFolder) -> String {
    let raw = folder.repeat(0, 0).join(RAW);
    let (backend, hosts) = match () {
        () if folder.hosts().is_file() => (HOSTS, format!(" --hosts {}", pasted_path(&folder.hosts()))),
        () if raw.is_dir() && !raw.join(NETWORK_FILE).is_file() => (NETNS, String::new()),
        () => (VIRTUAL_TIME, String::new()),
    };
    let is_there = |repeat: &u32| folder.repeat(0, *repeat).is_dir();
    let repeats = (0..).take_while(is_there).count();
    let stated = || {
        let plans = Experiment::read_recorded(&folder.experiment()).ok()?.plans(backend).ok()?;
        Some(plans.first()?.schedule.repeats as usize)
    };
    // Fewer may be those of a run that was interrupted.
    let is_more = stated().is_some_and(|stated| repeats > stated);
    let repeats = if is_more { format!(" --repeats {repeats}") } else { String::new() };
    format!("cairn lab run {} --on {backend}{hosts}{repeats}", pasted_path(&folder.experiment()))
}

/// The experiment of a run, from its copy in the folder.
///
/// # Errors
///
/// When that is empty, gone, or cannot be read; with what to do.
pub(crate) fn experiment_of(folder: &RunFolder, record: &RunRecord) -> Result<Experiment, RunError> {
    let path = folder.experiment();
    Experiment::read_recorded(&path).map_err(|problems| {
        let text = fs::read_to_string(&path);
        let what = match text {
            Ok(text) if text.trim().is_empty() => "its experiment.toml is empty".to_owned(),
            Err(_) if !path.is_file() => "its experiment.toml is missing".to_owned(),
            _ => {
                format!("its experiment.toml cannot be read any more ({})", first_line(&problems.to_string()))
            }
        };
        let why = "it says what was measured, so nothing can be told without it; put it back";
        let again = || {
            let said = StartCommand::of(record, "")?;
            let more = said_elsewhere(folder, record, &said.options, &folder.hosts());
            Some(format!(", or start anew, where it was begun, with: {}{more}", said.command()?))
        };
        let again = again().unwrap_or_default();
        not_begun(folder, format!("{what}, and {why}{again}"))
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_take_apart_is_quoted_and_no_other_is() {
        assert_eq!(pasted("runs/a-1.toml"), "runs/a-1.toml");
        assert_eq!(pasted("my runs/it's"), "'my runs/it'\\''s'");
        assert_eq!([pasted(""), pasted("a;b"), pasted("$HOME")], ["''", "'a;b'", "'$HOME'"]);
    }
}
