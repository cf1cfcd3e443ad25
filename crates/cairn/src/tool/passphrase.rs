//! Passphrases: from a file, from the environment, or typed where nobody sees it.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::ToolError;

/// Where a passphrase comes from.
#[derive(Clone, Debug, Args)]
pub(crate) struct PassphraseArguments {
    /// A file whose first line is the passphrase. Left out: CAIRN_PASSPHRASE from the environment, or asked for at the terminal.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

impl PassphraseArguments {
    /// The passphrase; `again` asks for it twice.
    pub(crate) fn read(&self, again: bool) -> Result<Vec<u8>, ToolError> {
        if let Some(path) = &self.passphrase_file {
            let bytes = super::input(Some(path))?;
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            return Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec());
        }
        if let Ok(text) = std::env::var("CAIRN_PASSPHRASE") {
            return Ok(text.into_bytes());
        }
        let first = ask("Passphrase: ")?;
        if again && ask("Once more: ")? != first {
            return Err(ToolError::other("the two passphrases are not the same"));
        }
        Ok(first.into_bytes())
    }
}

/// Asks at the terminal, which shows nothing meanwhile.
fn ask(prompt: &str) -> Result<String, ToolError> {
    let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| {
        ToolError::other(
            "there is no terminal to ask for a passphrase: use --passphrase-file or CAIRN_PASSPHRASE",
        )
    })?;
    let failed = |error: rustix::io::Errno| ToolError::File { path: "/dev/tty".into(), error: error.into() };
    let before = tcgetattr(&terminal).map_err(failed)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    let mut line = String::new();
    write!(&terminal, "{prompt}")?;
    tcsetattr(&terminal, OptionalActions::Flush, &silent).map_err(failed)?;
    let read = BufReader::new(&terminal).read_line(&mut line);
    // Whatever happened, the terminal must show again what is typed.
    tcsetattr(&terminal, OptionalActions::Flush, &before).map_err(failed)?;
    writeln!(&terminal)?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
