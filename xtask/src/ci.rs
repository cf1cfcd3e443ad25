//! `cargo xtask ci`: the one entry for continuous integration, the same at a desk.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::test_suite::FEATURES;
use crate::{
    enemies, fuzz, interop, licences, memory, packages, pictures, process, python, repository, swarm, table,
    test_suite, tidy, tree, worst_cases,
};

/// One thing that must pass.
struct Step {
    name: &'static str,
    /// Left out of a smoke run.
    only_in_full: bool,
    run: fn(&CiContext) -> Result<Outcome, String>,
}

enum Outcome {
    Passed,
    /// Something failed beside other work and passed alone; it is shown.
    PassedAlone(String),
    /// It could not run here; the reason is shown, and what stands in for it.
    Absent(String),
}

/// What the steps need to know.
struct CiContext {
    root: PathBuf,
}

const STEPS: &[Step] = &[
    Step { name: "tools", only_in_full: false, run: tools },
    Step { name: "format", only_in_full: false, run: format },
    Step { name: "tidy", only_in_full: false, run: |_| tidy::run().map(passed) },
    Step { name: "licences", only_in_full: false, run: |_| licences::run().map(passed) },
    Step { name: "clippy", only_in_full: false, run: clippy },
    Step { name: "tests", only_in_full: false, run: run_tests },
    Step { name: "what tests need of the system", only_in_full: false, run: needs },
    Step {
        name: "examples in the docs",
        only_in_full: false,
        run: |context| {
            context.cargo(&[
                "test",
                "--workspace",
                "--features",
                FEATURES,
                "--locked",
                "--doc",
                "--no-fail-fast",
            ])
        },
    },
    Step { name: "docs", only_in_full: true, run: docs },
    Step {
        name: "library without the command",
        only_in_full: true,
        run: |context| {
            context.cargo(&["check", "--package", "cairn", "--no-default-features", "--lib", "--locked"])
        },
    },
    Step { name: "engine without a system", only_in_full: true, run: wasm },
    Step {
        name: "pictures",
        only_in_full: true,
        run: |_| pictures::run().map(|missing| unless_missing(&missing)),
    },
    Step {
        name: "python",
        only_in_full: true,
        run: |_| python::run(&[]).map(|missing| unless_missing(&missing)),
    },
    Step { name: "repository", only_in_full: true, run: |_| repository::run(&[]).map(passed) },
    Step { name: "swarm", only_in_full: true, run: |_| swarm::run(&[]).map(passed) },
    Step {
        name: "memory",
        only_in_full: true,
        run: |_| memory::run().map(|missing| unless_missing(&missing)),
    },
    Step {
        name: "worst cases",
        only_in_full: true,
        run: |_| worst_cases::run().map(|missing| unless_missing(&missing)),
    },
    Step { name: "interop", only_in_full: true, run: |_| interop::run(&[]).map(passed) },
    Step { name: "enemies", only_in_full: true, run: |_| attacks() },
    Step { name: "fuzz smoke", only_in_full: true, run: |_| fuzz::run(&["smoke"]).map(passed) },
];

/// Runs the steps. All of them, unless `--fail-fast` asks to stop at the first failure.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let (mut full, mut fail_fast) = (true, false);
    for word in words {
        match *word {
            "full" => full = true,
            "smoke" => full = false,
            "--fail-fast" => fail_fast = true,
            _ => {
                return Err(format!(
                    "ci does not know `{word}`; it takes `smoke` or `full`, and `--fail-fast`"
                ));
            }
        }
    }
    let context = CiContext { root: tree::root()? };
    let steps: Vec<&Step> = STEPS.iter().filter(|step| full || !step.only_in_full).collect();
    let mut results = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        println!("\n=== {}/{} {}", number + 1, steps.len(), step.name);
        let start = Instant::now();
        let result = (step.run)(&context);
        if let Err(message) = &result {
            println!("{message}");
        }
        let failed = result.is_err();
        results.push((step.name, result, start.elapsed()));
        if failed && fail_fast {
            break;
        }
    }
    summarise(&results, steps.len())
}

fn summarise(results: &[(&str, Result<Outcome, String>, Duration)], steps: usize) -> Result<(), String> {
    let row = |(name, result, time): &(&str, Result<Outcome, String>, Duration)| {
        let verdict = match result {
            Ok(Outcome::Passed) => "passed",
            Ok(Outcome::PassedAlone(_)) => "passed, some only alone",
            Ok(Outcome::Absent(_)) => "NOT RUN",
            Err(_) => "FAILED",
        };
        vec![(*name).to_owned(), verdict.to_owned(), format!("{:.1} s", time.as_secs_f64())]
    };
    println!(
        "\n=== summary\n{}",
        table::render(&["step", "result", "time"], &results.iter().map(row).collect::<Vec<_>>())
    );
    for (name, result, _) in results {
        match result {
            Ok(Outcome::Passed) => {}
            Ok(Outcome::PassedAlone(what)) => println!("PASSED ONLY ALONE: {name}: {what}"),
            Ok(Outcome::Absent(reason)) => println!("NOT RUN: {name}: {reason}"),
            Err(why) => println!("FAILED: {name}: {why}"),
        }
    }
    println!("{}", counted(results, steps));
    let failed: Vec<&str> =
        results.iter().filter(|(_, result, _)| result.is_err()).map(|(name, ..)| *name).collect();
    match (failed.is_empty(), steps - results.len()) {
        (true, _) => Ok(()),
        (false, 0) => Err(format!("failed: {}", failed.join(", "))),
        (false, left) => Err(format!("failed: {}; {left} steps were not started", failed.join(", "))),
    }
}

/// How many steps came to what.
fn counted(results: &[(&str, Result<Outcome, String>, Duration)], steps: usize) -> String {
    let count = |wanted: fn(&Result<Outcome, String>) -> bool| {
        results.iter().filter(|(_, result, _)| wanted(result)).count()
    };
    let passed = count(|result| matches!(result, Ok(Outcome::Passed | Outcome::PassedAlone(_))));
    let absent = count(|result| matches!(result, Ok(Outcome::Absent(_))));
    let failed = count(Result::is_err);
    let left = steps - results.len();
    let left = if left > 0 { format!(", {left} not started") } else { String::new() };
    format!("{steps} steps: {passed} passed, {failed} failed, {absent} NOT RUN{left}")
}

/// Absent as a whole if a part of it was.
fn unless_missing(missing: &[String]) -> Outcome {
    if missing.is_empty() { Outcome::Passed } else { Outcome::Absent(missing.join("; ")) }
}

fn passed((): ()) -> Outcome {
    Outcome::Passed
}

impl CiContext {
    fn cargo(&self, arguments: &[&str]) -> Result<Outcome, String> {
        process::run("cargo", arguments, &self.root, &[]).map(passed)
    }
}

/// Makes sure that the programs the other steps need are there, and prints their versions.
fn tools(context: &CiContext) -> Result<Outcome, String> {
    for component in ["rustfmt", "clippy"] {
        let program = if component == "rustfmt" { "fmt" } else { component };
        if !process::succeeds("cargo", &[program, "--version"]) {
            println!("{component} is missing: asking rustup for it");
            process::run("rustup", &["component", "add", component], &context.root, &[])?;
        }
    }
    for (program, arguments) in
        [("rustc", &["--version"][..]), ("cargo", &["--version"]), ("cargo", &["clippy", "--version"])]
    {
        process::run(program, arguments, &context.root, &[])?;
    }
    Ok(Outcome::Passed)
}

/// The workspace, and the fuzz targets and the Python package, which are workspaces of their own.
fn format(context: &CiContext) -> Result<Outcome, String> {
    context.cargo(&["fmt", "--all", "--check"])?;
    context.cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])?;
    context.cargo(&["fmt", "--manifest-path", "python/Cargo.toml", "--check"])
}

fn clippy(context: &CiContext) -> Result<Outcome, String> {
    let what = ["clippy", "--workspace", "--features", FEATURES, "--all-targets", "--locked"];
    context.cargo(&[&what[..], &["--", "-D", "warnings"]].concat())
}

/// Whether namespaces, Slurm, a browser with players, and servers for SSH and HTTP are here. A system without
/// them leaves tests out, and that is a line of the summary.
fn needs(context: &CiContext) -> Result<Outcome, String> {
    let missing = missing(context);
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Absent(format!("tests that need {} checked nothing", missing.join(", and "))))
}

/// What some tests need and this system does not have.
fn missing(context: &CiContext) -> Vec<String> {
    let mut missing = Vec::new();
    if !process::succeeds("unshare", &["--net", "--pid", "--fork", "true"]) {
        missing.push("network namespaces (run as root)".to_owned());
    }
    if let Err(why) = packages::sshd(&context.root) {
        missing.push(format!("an SSH server ({why})"));
    }
    if let Err(why) = packages::http(&context.root) {
        missing.push(format!("HTTP servers ({why})"));
    }
    if let Err(why) = packages::browser(&context.root) {
        missing.push(format!("a browser ({why})"));
    }
    if let Err(why) = packages::players(&context.root) {
        missing.push(format!("players of HLS and DASH ({why})"));
    }
    if let Err(why) = packages::slurm(&context.root) {
        missing.push(format!("Slurm ({why})"));
    }
    missing
}

/// Unit and integration tests. Their output is shown as it comes: continuous integration reads its closing
/// lines.
fn run_tests(context: &CiContext) -> Result<Outcome, String> {
    // Tests run the examples, which are built as programs only if one asks for it.
    let examples = ["build", "--workspace", "--features", FEATURES, "--locked", "--examples"];
    process::run("cargo", &examples, &context.root, &[])?;
    let excuse: &[(&str, &str)] =
        if missing(context).is_empty() { &[] } else { &[("CAIRN_TESTS_WITHOUT_RIGHTS", "1")] };
    Ok(match test_suite::run(&context.root, excuse)? {
        test_suite::Verdict::Passed => Outcome::Passed,
        test_suite::Verdict::PassedAlone(names) => Outcome::PassedAlone(names.join(", ")),
    })
}

fn docs(context: &CiContext) -> Result<Outcome, String> {
    let arguments = ["doc", "--workspace", "--features", FEATURES, "--locked", "--no-deps"];
    process::run("cargo", &arguments, &context.root, &[("RUSTDOCFLAGS", "-D warnings")]).map(passed)
}

/// The short form of the attacks, with demands that hold on a busy machine, too.
fn attacks() -> Result<Outcome, String> {
    match enemies::missing() {
        Some(missing) => {
            Ok(Outcome::Absent(format!("the attacks need {missing}; nothing stands in for them")))
        }
        None => enemies::run(&["--short"]).map(passed),
    }
}

/// Compiles the engine for a target that has no clock, no sockets, no files and no threads: the proof that it
/// needs none.
fn wasm(context: &CiContext) -> Result<Outcome, String> {
    const TARGET: &str = "wasm32-unknown-unknown";
    if !context.root.join("crates/engine").exists() {
        return Ok(Outcome::Absent("there is no engine yet".to_owned()));
    }
    let installed =
        process::output("rustup", &["target", "list", "--installed"], &context.root).unwrap_or_default();
    let is_installed = installed.lines().any(|line| line == TARGET);
    if !is_installed && !process::succeeds("rustup", &["target", "add", TARGET]) {
        let reason = format!(
            "the target {TARGET} is not installed and cannot be; tidy's purity rule stands in for it"
        );
        return Ok(Outcome::Absent(reason));
    }
    context.cargo(&["check", "--locked", "--target", TARGET, "--package", "cairn-engine"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(
        name: &'static str,
        result: Result<Outcome, String>,
    ) -> (&'static str, Result<Outcome, String>, Duration) {
        (name, result, Duration::ZERO)
    }

    #[test]
    fn one_failed_step_fails_the_run_and_is_named() {
        let results = [
            result("a", Ok(Outcome::Passed)),
            result("b", Err("no".into())),
            result("c", Ok(Outcome::Passed)),
        ];
        assert_eq!(summarise(&results, 3), Err("failed: b".to_owned()));
        assert_eq!(summarise(&results, 5), Err("failed: b; 2 steps were not started".to_owned()));
    }

    #[test]
    fn a_step_that_cannot_run_here_does_not_fail_the_run() {
        assert_eq!(summarise(&[result("a", Ok(Outcome::Absent("no such thing".into())))], 1), Ok(()));
    }

    #[test]
    fn what_did_not_run_is_counted_and_not_among_what_passed() {
        let results = [
            result("a", Ok(Outcome::Passed)),
            result("b", Ok(Outcome::Absent("no such thing".into()))),
            result("c", Err("no".into())),
        ];
        assert_eq!(counted(&results, 3), "3 steps: 1 passed, 1 failed, 1 NOT RUN");
        assert_eq!(counted(&results, 5), "5 steps: 1 passed, 1 failed, 1 NOT RUN, 2 not started");
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(run(&["fast"]).unwrap_err().contains("`fast`"));
    }
}
