//! Cairn's own task runner: `cargo xtask <command>`.
//!
//! Everything that continuous integration does is one of these commands, so it can be done the same way at a
//! desk. The runner needs one third-party crate, for the pixels of figures; it must build in seconds on a
//! machine that has only cargo.
#![expect(clippy::print_stdout, reason = "a task runner talks to its user on standard output")]

mod bench;
mod ci;
mod dissectors;
mod enemies;
mod fuzz;
mod interop;
mod licences;
mod manifest;
mod memory;
mod packages;
mod pictures;
mod process;
mod python;
mod repository;
mod source;
mod swarm;
mod table;
mod test_suite;
mod tidy;
mod tree;
mod worst_cases;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <command>

  ci [smoke|full] [--fail-fast]   everything that must pass before a merge (default: full)
  tidy                            the project's rules that a compiler does not check
  licences                        licences, sources and duplicate versions of third-party crates
  fuzz list                       the fuzz targets
  fuzz smoke [--seconds N] [--json]
                                  every target for N seconds (default 5), the canary first
  fuzz run TARGET [--seconds N] [--jobs N] [--json]
                                  one target (default 60 seconds)
  fuzz run TARGET FILE            one input again, as after a crash
  swarm [--seeds N] [--seed S]    N random networks (default 100) that must heal, from seed S (default 0)
  repository [--rounds N]         a repository killed N times (default 50) while it stores and deletes
  interop [--write] [WORD...]     other people's software against ours; --write makes docs/interop.md of it
  dissectors [WORD...]            the plugins for Wireshark over captures, vectors and broken packets
  enemies [--short] [--list] [--attack NAME]... [--json FILE] [--seed N]
                                  attacks on a running node, and what honest traffic loses by them (as root)
  memory                          the unsafe code under valgrind and Miri
  worst-cases                     what the worst packets cost the engine, counted by valgrind
  pictures                        figures of reports as rsvg-convert draws them, pixel by pixel
  python [PYTEST-ARGUMENT...]     the Python package: its wheel, its tests and notebooks
  bench [CRATE] [ARGUMENT...]     the benchmarks, of all crates or of one
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["ci", rest @ ..] => ci::run(rest),
        ["tidy"] => tidy::run(),
        ["licences"] => licences::run(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["dissectors", rest @ ..] => dissectors::run(rest),
        ["enemies", rest @ ..] => enemies::run(rest),
        ["interop", rest @ ..] => interop::run(rest),
        ["memory"] => {
            memory::run().map(|missing| missing.iter().for_each(|what| println!("NOT RUN: {what}")))
        }
        ["worst-cases"] => {
            worst_cases::run().map(|missing| missing.iter().for_each(|what| println!("NOT RUN: {what}")))
        }
        ["pictures"] => {
            pictures::run().map(|missing| missing.iter().for_each(|what| println!("NOT RUN: {what}")))
        }
        ["repository", rest @ ..] => repository::run(rest),
        ["swarm", rest @ ..] => swarm::run(rest),
        ["python", rest @ ..] => python::run(rest).map(|missing| {
            missing.iter().for_each(|what| println!("NOT RUN: {what}"));
        }),
        ["bench", rest @ ..] => bench::run(rest),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("no such command: `{}`\n\n{USAGE}", words.join(" "))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
