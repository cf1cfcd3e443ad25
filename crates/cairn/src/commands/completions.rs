//! `cairn completions`: scripts for shells, made from the commands themselves.

use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::tool::{ToolError, finish, output};

/// Print a script that completes `cairn` commands in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn completions bash > ~/.local/share/bash-completion/completions/cairn
  cairn completions zsh > ~/.zfunc/_cairn
  cairn completions fish > ~/.config/fish/completions/cairn.fish

Exit codes: 0 done; 1 the script cannot be written; 2 wrong usage.")]
pub(crate) struct CompletionArguments {
    /// The shell.
    shell: Shell,
}

impl CompletionArguments {
    /// `whole` is the command `cairn` with all that is below it.
    pub(crate) fn run(&self, mut whole: Command) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut whole, "cairn", &mut script);
        finish(output::bytes(&script).map(|()| ExitCode::SUCCESS).map_err(ToolError::from))
    }
}
