//! `cairn traffic`: makes Interests and Data by recipe, and measures what comes of them.

mod consume;
mod pace;
mod pattern;
mod produce;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::tool::finish;

/// Generate traffic: consumers that ask by a pattern, producers that answer everything.
#[derive(Debug, Args)]
#[command(after_help = "\
Names of consumers are made from a pattern with fields:
  {seq}            a number that grows by one
  {random}         a random number of 64 bits
  {uniform:N}      a number below N, each as likely
  {zipf:N:A}       a number below N, popular ones by Zipf's law with exponent A
  {item}           the number that the workload of --workload asks for

Examples:
  cairn traffic produce /load --size 1k
  cairn traffic consume '/load/{seq}' --rate 1k/s --for 10s
  cairn traffic consume '/load/{zipf:10000:0.8}' --window 64 --count 1M --histogram
  cairn traffic consume '/load/{zipf:100:1}/{uniform:10}' --rate 500/s --poisson --for 1m --json
  cairn traffic consume '/load/{item}' --workload zipf/items~1000/rate~500/spacing~poisson --for 1m

Exit codes: 0 all answered; 1 something was lost or came back, or failed; 2 wrong usage.")]
pub(crate) struct TrafficArguments {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    Consume(consume::ConsumeArguments),
    Produce(produce::ProduceArguments),
}

impl TrafficArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(match &self.role {
            Role::Consume(arguments) => arguments.consume(),
            Role::Produce(arguments) => arguments.produce(),
        })
    }
}
