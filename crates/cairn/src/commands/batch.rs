//! `cairn batch`: many management commands over one connection.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use formats::printable::printable_path;

use super::content_store::ContentStoreArguments;
use super::face::FaceArguments;
use super::route::RouteArguments;
use super::status::StatusArguments;
use super::strategy::StrategyArguments;
use crate::tool::forwarder::{Forwarder, ForwarderArguments};
use crate::tool::{ToolError, finish, input};

/// Carry out management commands from a file, one a line, over one connection.
#[derive(Debug, Args)]
#[command(after_help = "\
A line is what would stand behind `cairn`: status, face, route, strategy and cs. Empty lines and what follows a # are passed over; \
words with blanks in them stand in quotation marks.

  face create udp://router.example.net
  route add /lab udp://router.example.net --cost 10
  strategy set /lab multicast

Examples:
  cairn batch setup.txt
  echo 'cs erase /' | cairn batch -

Exit codes: 0 all done; 1 a command failed, and those behind it were not tried unless --keep-going; 2 wrong usage.")]
pub(crate) struct BatchArguments {
    /// The file; - for standard input.
    file: PathBuf,
    /// Go on after a command that fails.
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    forwarder: ForwarderArguments,
}

/// One line.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(subcommand)]
    command: Managed,
}

#[derive(Debug, Subcommand)]
enum Managed {
    Status(StatusArguments),
    Face(FaceArguments),
    Route(RouteArguments),
    Strategy(StrategyArguments),
    Cs(ContentStoreArguments),
}

impl BatchArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.try_run())
    }

    fn try_run(&self) -> Result<ExitCode, ToolError> {
        let text = String::from_utf8(input(Some(&self.file))?)
            .map_err(|_| ToolError::other(format!("{}: not a text", printable_path(&self.file))))?;
        // A file that cannot be understood changes nothing.
        let lines = read(&text)?;
        let mut forwarder = self.forwarder.forwarder()?;
        let mut failed = 0;
        for (number, line) in &lines {
            let Err(error) = line.run_on(&mut forwarder) else { continue };
            if error.is_closed_pipe() {
                // The command was carried out, and so are those that come.
                continue;
            }
            failed += 1;
            let error = ToolError::other(format!("line {number}: {error}"));
            if !self.keep_going {
                return Err(error);
            }
            tell!("cairn: {error}");
        }
        Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl Managed {
    fn run_on(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let shared = forwarder.json;
        forwarder.json |= self.forwarder().json;
        let outcome = match self {
            Managed::Status(arguments) => arguments.run_on(forwarder),
            Managed::Face(arguments) => arguments.run_on(forwarder),
            Managed::Route(arguments) => arguments.run_on(forwarder),
            Managed::Strategy(arguments) => arguments.run_on(forwarder),
            Managed::Cs(arguments) => arguments.run_on(forwarder),
        };
        forwarder.json = shared;
        outcome
    }

    fn forwarder(&self) -> &ForwarderArguments {
        match self {
            Managed::Status(arguments) => &arguments.forwarder,
            Managed::Face(arguments) => &arguments.forwarder,
            Managed::Route(arguments) => &arguments.forwarder,
            Managed::Strategy(arguments) => &arguments.forwarder,
            Managed::Cs(arguments) => &arguments.forwarder,
        }
    }
}

/// The commands of a batch with the numbers of their lines.
fn read(text: &str) -> Result<Vec<(usize, Managed)>, ToolError> {
    let mut lines = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let words = words(line).map_err(|problem| ToolError::other(format!("line {number}: {problem}")))?;
        if words.is_empty() {
            continue;
        }
        let parsed = Line::try_parse_from(words).map_err(|error| {
            ToolError::other(format!("line {number}: {}", error.render().to_string().trim()))
        })?;
        if parsed.command.forwarder().names_a_forwarder() {
            let problem = "all lines concern one forwarder; say which behind `cairn batch`";
            return Err(ToolError::other(format!("line {number}: {problem}")));
        }
        lines.push((number, parsed.command));
    }
    Ok(lines)
}

/// Splits a line into words as a shell would: quotation marks keep blanks, a backslash keeps any letter, #
/// begins a comment.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '#' if word.is_none() => break,
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => {
                let kept = letters.next().ok_or("there is nothing behind the last \\")?;
                word.get_or_insert_default().push(kept);
            }
            quote @ ('"' | '\'') => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a quotation mark is not closed")? {
                        end if end == quote => break,
                        '\\' if quote == '"' => word.extend(letters.next()),
                        inside => word.push(inside),
                    }
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        for (line, expected) in [
            ("", &[][..]),
            ("  # nothing", &[]),
            ("cs erase /a # all of it", &["cs", "erase", "/a"]),
            ("a  b\tc", &["a", "b", "c"]),
            ("a 'b c' \"d \\\" e\" f\\ g ''", &["a", "b c", "d \" e", "f g", ""]),
            ("/a#b", &["/a#b"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        assert!(words("a 'b").is_err() && words("a \\").is_err());
    }

    #[test]
    fn a_batch_is_understood_before_anything_is_done() {
        let commands = read("face list\n\n# comment\nroute add /a 261 --cost 5\ncs info --json\n").unwrap();
        assert_eq!(commands.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 4, 5]);
        for (text, problem) in [
            ("face list\nface lst", "line 2"),
            ("peek /a", "line 1"),
            ("face list --connect tcp://h", "all lines concern one forwarder"),
            ("face show 'x", "quotation mark"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
