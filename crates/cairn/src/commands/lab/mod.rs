//! `cairn lab`: experiments.

mod files;
mod internal;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

/// What can be done with experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment and write its report.
    Run(run::RunArguments),
    /// Go on with a run that was interrupted.
    Resume {
        /// The run's folder.
        folder: PathBuf,
    },
    /// Look for mistakes in an experiment file, without starting anything.
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Write a small experiment to begin with.
    New {
        /// The file to write.
        file: PathBuf,
        /// Its title.
        #[arg(long, default_value = "A first experiment")]
        title: String,
    },
    /// Print the reference of the experiment file.
    Reference,
    /// Parts of a run that are processes of their own.
    #[command(subcommand, hide = true)]
    Internal(internal::Internal),
}

impl Command {
    /// Does what was asked.
    pub(crate) fn run(self) -> ExitCode {
        let outcome = match self {
            Command::Run(arguments) => run::run(arguments),
            Command::Resume { folder } => run::go_on(&folder),
            Command::Check { files } => files::check(&files),
            Command::New { file, title } => files::new(&file, &title),
            Command::Reference => files::print_reference(),
            Command::Internal(part) => part.run(),
        };
        match outcome {
            Ok(code) => code,
            Err(error) => {
                eprintln!("cairn lab: {error}");
                ExitCode::FAILURE
            }
        }
    }
}
