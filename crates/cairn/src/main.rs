//! The one command: `cairn …`.

mod commands;
mod tool;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// Forwarding allocates a buffer for each packet; this allocator does that in a few nanoseconds.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Named data networking: a forwarder, its tools, a simulator and a laboratory.
#[derive(Debug, Parser)]
#[command(name = "cairn", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    Arguments::parse().command.run()
}
