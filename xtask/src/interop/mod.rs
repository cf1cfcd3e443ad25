//! `cargo xtask interop`: other people's NDN software against ours, on this machine.
//!
//! Every peer is installed in a pinned version from the registry it is published in, into `target/interop`;
//! nothing is skipped because it is not there. What comes out is the table in `docs/interop.md`.

mod cases;
mod page;
mod peers;
mod processes;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::{process, table, tree};
use peers::Peers;
use processes::Scratch;

/// How long a case may take, all attempts included.
const CASE_LIMIT: Duration = Duration::from_secs(40);

/// One thing that a peer and Cairn do together.
struct Case {
    /// Whose software.
    peer: &'static str,
    /// Over which link they meet.
    link: &'static str,
    /// What is done, as a sentence.
    what: &'static str,
    run: fn(&InteropContext, &'static str) -> Result<(), String>,
}

/// What the cases need.
struct InteropContext {
    root: PathBuf,
    cairn: PathBuf,
    peers: Peers,
    scratch: Scratch,
}

/// How a case ended.
struct Outcome {
    case: &'static Case,
    result: Result<(), String>,
    time: Duration,
}

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let mut write = false;
    let mut wanted = Vec::new();
    for word in words {
        match *word {
            "--write" => write = true,
            flag if flag.starts_with('-') => {
                return Err(format!(
                    "interop does not know `{flag}`; it takes --write and words to select cases by"
                ));
            }
            word => wanted.push(word),
        }
    }
    let root = tree::root()?;
    process::run("cargo", &["build", "--locked", "--package", "cairn"], &root, &[])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let peers = peers::install(&root, &target.join("interop"))?;
    let context = InteropContext { cairn: target.join("debug/cairn"), peers, scratch: Scratch::new()?, root };
    let selected = cases::ALL.iter().filter(|case| {
        let line = format!("{} {} {}", case.peer, case.link, case.what);
        wanted.iter().all(|word| line.contains(word))
    });
    let mut outcomes = Vec::new();
    for case in selected {
        let start = Instant::now();
        let result = (case.run)(&context, case.link);
        let verdict = if result.is_ok() { "works" } else { "FAILS" };
        println!("{verdict}: {}, {}: {}", case.peer, case.link, case.what);
        if let Err(problem) = &result {
            println!("    {}", problem.replace('\n', "\n    "));
        }
        outcomes.push(Outcome { case, result, time: start.elapsed() });
    }
    report(&context, &outcomes, write, wanted.is_empty())
}

fn report(
    context: &InteropContext,
    outcomes: &[Outcome],
    write: bool,
    is_complete: bool,
) -> Result<(), String> {
    let row = |outcome: &Outcome| {
        let verdict = if outcome.result.is_ok() { "works" } else { "FAILS" };
        vec![
            format!("{}, {}: {}", outcome.case.peer, outcome.case.link, outcome.case.what),
            verdict.to_owned(),
            format!("{:.1} s", outcome.time.as_secs_f64()),
        ]
    };
    println!(
        "\n{}",
        table::render(&["case", "result", "time"], &outcomes.iter().map(row).collect::<Vec<_>>())
    );
    let failed = outcomes.iter().filter(|outcome| outcome.result.is_err()).count();
    if is_complete {
        let page = page::render(&context.peers, outcomes);
        let path = context.root.join("docs/interop.md");
        if write {
            std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
        } else if failed == 0 && std::fs::read_to_string(&path).unwrap_or_default() != page {
            return Err(
                "docs/interop.md says something else than these results: run `cargo xtask interop --write`"
                    .to_owned(),
            );
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} cases failed", outcomes.len())) }
}
