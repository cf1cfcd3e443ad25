//! Parts of a run that are processes of their own. People do not call them.

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use lab::backend::hosts::remote;
use lab::backend::machine::{idle_inhibitor, load};
use lab::backend::netns::{guard, world};
use lab::order::{ORDER_FILE, Order, read_json};

use super::Outcome;
use crate::tool::ToolError;

/// The processes of a run.
#[derive(Debug, Subcommand)]
pub(crate) enum Internal {
    /// Watches over a world and cleans up behind it.
    Guard {
        /// The folder with the order.
        folder: PathBuf,
    },
    /// Carries one repeat out.
    World {
        /// The folder with the order.
        folder: PathBuf,
    },
    /// Holds a network that stays, in the background.
    Hold {
        /// Its name.
        name: String,
    },
    /// Runs one share of a sweep on a cluster.
    Part {
        /// The sweep's folder.
        folder: PathBuf,
        /// The share, by number from 1.
        number: u32,
    },
    /// Serves and loads at one node.
    Agent {
        /// The file with the job.
        job: PathBuf,
    },
    /// Works on a host for a lab at the other end of standard input and output.
    Remote {
        /// The folder to work in; it is taken away at the end.
        folder: PathBuf,
    },
    /// Becomes a program that ends with the process that started it.
    Leash {
        /// The program and its arguments.
        #[arg(last = true, required = true)]
        words: Vec<OsString>,
    },
    /// Takes processor time.
    Burn {
        /// With so many threads.
        threads: usize,
    },
    /// Keeps processors from sleeping.
    KeepAwake,
}

impl Internal {
    pub(super) fn run(self) -> Outcome {
        if let Internal::Hold { name } = &self {
            return super::live::hold_in_background(name);
        }
        self.work().map_err(ToolError::other)
    }

    fn work(self) -> Result<ExitCode, Box<dyn Error>> {
        match self {
            Internal::Guard { folder } => {
                let order: Order = read_json(&folder.join(ORDER_FILE))?;
                let code = guard::run(&order.programs.cairn, &folder, order.owner)?;
                return Ok(ExitCode::from(u8::try_from(code.clamp(0, 255)).unwrap_or(1)));
            }
            Internal::World { folder } => world::run(&folder)?,
            Internal::Hold { .. } => {}
            Internal::Part { folder, number } => super::slurm::part(&folder, number)?,
            Internal::Agent { job } => lab::agent::run(&job)?,
            Internal::Remote { folder } => remote::run(&folder)?,
            Internal::Leash { words } => {
                let (program, arguments) = words.split_first().ok_or("there is no program to start")?;
                match remote::leash(program, arguments)? {}
            }
            Internal::Burn { threads } => load::burn(threads),
            Internal::KeepAwake => idle_inhibitor::keep_awake()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
