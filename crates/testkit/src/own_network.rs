//! Network namespaces of a test's own: what it does to interfaces and addresses there concerns nobody else,
//! and ends with it.

use std::process::Command;

use nix::sched::{CloneFlags, unshare};

use crate::needs::needed;

/// Runs a test in a network of its own, in which there is only a loopback interface that is up. Threads that
/// the test starts, and programs, are in it as well. Where that cannot be had, the test is left out if that
/// [is all right](crate::needs::WITHOUT_RIGHTS).
///
/// # Panics
///
/// When the test does.
pub fn run(test: impl FnOnce() + Send) {
    let within = || {
        let made = unshare(CloneFlags::CLONE_NEWNET).map_err(|error| error.to_string());
        let made = made.and_then(|()| ip("link set lo up"));
        if needed("network namespaces", made).is_some() {
            test();
        }
    };
    // A thread of its own: the one it is called on may have other tests to run.
    let outcome = std::thread::scope(|scope| scope.spawn(within).join());
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

/// Runs the program `ip` with these arguments, which are divided by spaces.
///
/// # Errors
///
/// What it says when it fails.
pub fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("the program `ip` cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
