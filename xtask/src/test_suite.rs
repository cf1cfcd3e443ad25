//! The workspace's tests, and once more, alone, each that failed beside others.
//!
//! Some tests run a node, its tools and their clocks as processes. On a machine that is busy with something
//! else one of them may miss a deadline of its own. So what failed runs once more with nothing beside it: if
//! it fails again, the step fails; if it passes, the summary names it and the step does not fail.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process;

/// Features that are off by default, and are tested all the same.
pub(crate) const FEATURES: &str = "cairn/async";

/// What came of the tests.
pub(crate) enum Verdict {
    Passed,
    /// These failed beside others and passed alone.
    PassedAlone(Vec<String>),
}

const ALL_TESTS: &[&str] =
    &["test", "--workspace", "--features", FEATURES, "--locked", "--lib", "--bins", "--tests"];

/// The program of the tests whose main file this is (`crates/…/src/lib.rs`, `crates/…/tests/….rs`), as it was
/// built for [`run`], or is built now.
pub(crate) fn program(root: &Path, source: &str) -> Result<String, String> {
    let build = [ALL_TESTS, &["--no-run", "--message-format", "json-render-diagnostics"]].concat();
    let built = process::output("cargo", &build, root)?;
    program_of(&built, source).ok_or_else(|| format!("cargo names no program for the tests of {source}"))
}

fn program_of(built: &str, source: &str) -> Option<String> {
    let source = format!("/{source}\"");
    let field = |line: &str| Some(line.split_once("\"executable\":\"")?.1.split_once('"')?.0.to_owned());
    // A library as such has none, and its tests have one.
    built.lines().filter(|line| line.contains(&source)).find_map(field)
}

/// Runs all tests; the output is shown as it comes.
pub(crate) fn run(root: &Path, variables: &[(&str, &str)]) -> Result<Verdict, String> {
    let all = [ALL_TESTS, &["--no-fail-fast"]].concat();
    let Err(failed) = cargo(&all, root, variables)? else { return Ok(Verdict::Passed) };
    if failed.is_empty() {
        return Err("cargo failed, and not by tests alone".to_owned());
    }
    let names: Vec<&str> = failed.iter().map(String::as_str).collect();
    println!("\nonce more, alone: {}", names.join(", "));
    let alone = [&all[..], &["--", "--exact", "--test-threads", "1"], &names[..]].concat();
    match cargo(&alone, root, variables)? {
        Ok(()) => Ok(Verdict::PassedAlone(failed.into_iter().collect())),
        Err(again) => Err(format!("failed, and failed alone: {}", Vec::from_iter(again).join(", "))),
    }
}

/// Runs cargo and shows what it prints; `Ok(Err(…))` are tests that failed.
fn cargo(
    arguments: &[&str],
    root: &Path,
    variables: &[(&str, &str)],
) -> Result<Result<(), BTreeSet<String>>, String> {
    let cannot = |error: std::io::Error| format!("cannot run cargo: {error}");
    let mut child = Command::new("cargo")
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let (Some(out), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("cargo has no output".to_owned());
    };
    let errors = std::thread::spawn(move || pass_on(errors, &mut std::io::stderr()));
    let mut said = pass_on(out, &mut std::io::stdout());
    said.push_str(&errors.join().unwrap_or_default());
    if child.wait().map_err(cannot)?.success() { Ok(Ok(())) } else { Ok(Err(failures(&said))) }
}

/// Shows lines as they come, and gives them back.
fn pass_on(from: impl Read, to: &mut impl Write) -> String {
    let mut said = String::new();
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        // Whoever does not read any more does not stop the tests.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        said.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    said
}

/// The names in lines `test NAME ... FAILED`; none if a program ended before it had counted its tests, for
/// what it did not run is not known.
fn failures(said: &str) -> BTreeSet<String> {
    let counted = |line: &str| {
        line.strip_prefix("test result: FAILED.")?
            .split(';')
            .nth(1)?
            .trim()
            .split(' ')
            .next()?
            .parse::<usize>()
            .ok()
    };
    let counted: usize = said.lines().filter_map(counted).sum();
    let named =
        said.lines().filter(|line| line.starts_with("test ") && line.ends_with(" ... FAILED")).count();
    if counted != named || said.contains("(signal: ") {
        return BTreeSet::new();
    }
    let name = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(name.strip_suffix(" - should panic").unwrap_or(name).to_owned())
    };
    said.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
test an_ordinary_one ... ok
test parts::one_that_fails ... FAILED
test one_that_should - should panic ... FAILED
test ignored ... ignored
test result: FAILED. 1 passed; 2 failed; 1 ignored
error: test failed, to rerun pass `-p cairn --test tools`
";

    #[test]
    fn failed_tests_are_found_in_what_cargo_prints() {
        assert_eq!(Vec::from_iter(failures(SAID)), ["one_that_should", "parts::one_that_fails"]);
    }

    #[test]
    fn the_program_of_a_test_is_found_by_its_main_file() {
        let line = |source: &str, executable: &str| {
            format!(
                r#"{{"target":{{"src_path":"/x/{source}","test":true}},"executable":{executable},"fresh":true}}"#
            )
        };
        let built = [
            line("crates/a/src/lib.rs", "null"),
            line("crates/a/src/lib.rs", r#""/t/a-1""#),
            line("crates/a/tests/lib.rs", r#""/t/b-2""#),
        ]
        .join("\n");
        assert_eq!(program_of(&built, "crates/a/src/lib.rs").as_deref(), Some("/t/a-1"));
        assert_eq!(program_of(&built, "a/tests/lib.rs").as_deref(), Some("/t/b-2"));
        assert_eq!(program_of(&built, "crates/c/src/lib.rs"), None);
    }

    #[test]
    fn a_program_that_crashed_excuses_nobody() {
        let crashed = "error: process didn't exit successfully: `tools` (signal: 6, SIGABRT)";
        assert!(failures(&format!("{SAID}{crashed}")).is_empty());
        assert!(failures(&SAID.replace("2 failed", "3 failed")).is_empty());
    }

    #[test]
    fn what_passed_or_did_not_compile_names_nothing() {
        assert!(failures("test a ... ok\nerror: could not compile `cairn`\n").is_empty());
    }

    #[test]
    fn output_is_passed_on_as_it_came_also_if_it_is_no_text() {
        let (mut shown, bytes) = (Vec::new(), b"one\n\xff two\nend");
        assert_eq!(pass_on(&bytes[..], &mut shown), "one\n\u{fffd} two\nend");
        assert_eq!(shown, bytes);
    }
}
