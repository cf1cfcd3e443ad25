//! How a run is done once more: the command that does it, with everything that was said with it, fit to be
//! pasted.

use std::fs;
use std::path::Path;

use super::begun::not_begun;
use super::error::RunError;
use super::folder::{RunFolder, RunRecord};
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

/// The words of a command as [`pasted`] has written them.
fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => word.extend(letters.next()),
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The file that a run was begun with, and what was said beside it: the options that there are, for a record
/// may have been changed by anybody, and whoever pastes an advice runs it.
fn said_with(record: &RunRecord) -> Option<(String, String)> {
    const WITH_VALUES: [&str; 5] = ["--repeats", "--seed", "--only", "--shard", "--format"];
    let words = words_of(&record.command);
    let begin = words.iter().position(|word| word == "--on")?;
    let file = words.get(3..begin)?.join(" ");
    let mut said = format!(" --on {}", pasted(&record.backend));
    let mut rest = words.get(begin + 2..)?.iter();
    while let Some(word) = rest.next() {
        if WITH_VALUES.contains(&word.as_str()) {
            said += &format!(" {word} {}", pasted(rest.next()?));
        } else if word == "--no-controls" {
            said += " --no-controls";
        }
    }
    Some((file, said))
}

/// The command that carries out a file as a run was. One of an earlier version has not noted all that was
/// said.
fn command_of(folder: &RunFolder, record: &RunRecord, file: &str, hosts: &Path) -> String {
    let said = said_with(record).map(|(_, said)| said);
    let least = || format!(" --on {} --repeats {}", pasted(&record.backend), record.repeats);
    let mut words = said.unwrap_or_else(least);
    if let Some(format) = record.trace_format.filter(|_| !words.contains(" --format ")) {
        words += &format!(" --format {}", said_format(format));
    }
    if folder.hosts().is_file() {
        words += &format!(" --hosts {}", pasted_path(hosts));
    }
    format!("cairn lab run {}{words}", pasted(file))
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
        let again = said_with(record).map_or_else(String::new, |(file, _)| {
            let command = command_of(folder, record, &file, &folder.hosts());
            format!(", or start anew, where it was begun, with: {command}")
        });
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
        for word in ["runs/a-1.toml", "my runs/it's", "a;b", "\\"] {
            assert_eq!(words_of(&format!("x {} y", pasted(word))), ["x", word, "y"]);
        }
    }
}
