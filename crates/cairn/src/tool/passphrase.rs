//! Passphrases: from a file, from the environment, or typed where nobody sees it.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::ToolError;

/// Where a passphrase comes from.
#[derive(Clone, Debug, Args)]
pub(crate) struct PassphraseArguments {
    /// A file whose first line is the passphrase. Left out: CAIRN_PASSPHRASE from the environment, or asked
    /// for at the terminal.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

impl PassphraseArguments {
    /// The passphrase for a new secret, which is asked for twice.
    pub(crate) fn choose(&self) -> Result<Vec<u8>, ToolError> {
        match self.read(true)? {
            passphrase if passphrase.is_empty() => {
                Err(ToolError::other("an empty passphrase protects nothing"))
            }
            passphrase => Ok(passphrase),
        }
    }

    /// The passphrase that opens a secret.
    pub(crate) fn recall(&self) -> Result<Vec<u8>, ToolError> {
        self.read(false)
    }

    fn read(&self, again: bool) -> Result<Vec<u8>, ToolError> {
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
    // Whoever gives up with Ctrl-C wants to see again what is typed.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let (asked, shown, at) = (signals.handle(), before.clone(), terminal.try_clone()?);
    let watch = std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _ = tcsetattr(&at, OptionalActions::Flush, &shown);
            std::process::exit(128 + signal);
        }
    });
    write!(&terminal, "{prompt}")?;
    tcsetattr(&terminal, OptionalActions::Flush, &silent).map_err(failed)?;
    let read = BufReader::new(&terminal).read_line(&mut line);
    asked.close();
    let _ = watch.join();
    // Whatever happened, the terminal must show again what is typed.
    tcsetattr(&terminal, OptionalActions::Flush, &before).map_err(failed)?;
    writeln!(&terminal)?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
