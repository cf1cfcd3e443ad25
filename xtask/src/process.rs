//! Running other programs.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program with its output visible; fails if it does.
pub(crate) fn run(
    program: &str,
    arguments: &[&str],
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<(), String> {
    let status = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .status()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{program} {}` failed: {status}", arguments.join(" ")))
    }
}

/// Runs a program and gives what it printed on standard output; its errors stay visible.
pub(crate) fn output(program: &str, arguments: &[&str], folder: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{program} {}` failed: {}", arguments.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{program}` printed something that is not UTF-8"))
}

/// True if the program starts and succeeds. Nothing is shown.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
