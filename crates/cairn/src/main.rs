//! The one command: `cairn …`.

#[macro_use]
mod tool;
mod commands;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// Forwarding allocates a buffer for each packet; this allocator does that in a few nanoseconds.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Named data networking: a forwarder, its tools, a simulator and a laboratory.
#[derive(Debug, Parser)]
#[command(
    name = "cairn",
    version,
    propagate_version = true,
    after_help = "\
Times are written 250ms, 1.5s, 2m, 1h, 3d or 1y, and a bare number counts milliseconds; sizes in bytes 8000, 8k or 64KiB; rates 100/s or 6k/m.

Examples:
  cairn node run &                      a forwarder, with nothing to configure
  cairn put /lab/file -f file &         publish a file
  cairn get /lab/file -o copy           fetch it, on this host or on any other that has a route to it
  cairn route add /lab udp://router     names under /lab are reached by way of another forwarder
  cairn status --watch                  what the forwarder does
  cairn lab run quickstart.toml         an experiment with real forwarders, and a report about it

Exit codes: 0 done; 1 failure; 2 wrong usage; others as the page of each command says."
)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    Arguments::parse().command.run()
}
