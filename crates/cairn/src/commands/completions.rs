//! `cairn completions` and `cairn man`: what is generated from the commands themselves.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::tool::{ToolError, finish, output};

/// Print a script that completes `cairn` commands in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn completions bash > ~/.local/share/bash-completion/completions/cairn
  cairn completions zsh > ~/.zfunc/_cairn
  cairn completions fish > ~/.config/fish/completions/cairn.fish")]
pub(crate) struct CompletionArguments {
    /// The shell.
    shell: Shell,
}

impl CompletionArguments {
    pub(crate) fn run(&self) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "cairn", &mut script);
        finish(output::bytes(&script).map(|()| ExitCode::SUCCESS).map_err(ToolError::from))
    }
}

/// Write manual pages, one for each command, into a folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn man /usr/local/share/man/man1
  cairn man . && man ./cairn-get.1")]
pub(crate) struct ManArguments {
    /// The folder; it is made if it is not there.
    folder: PathBuf,
}

impl ManArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(write_pages(&self.folder).map(|()| ExitCode::SUCCESS))
    }
}

fn write_pages(folder: &Path) -> Result<(), ToolError> {
    std::fs::create_dir_all(folder).map_err(ToolError::file(folder))?;
    // A page about each `help` would say nothing.
    let mut command = crate::Arguments::command().disable_help_subcommand(true);
    command.build();
    clap_mangen::generate_to(command, folder).map_err(ToolError::file(folder))
}
