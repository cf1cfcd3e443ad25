//! What a test needs of the machine, and does not have everywhere.
//!
//! A test that quietly checks nothing is worse than none. Where [`STRICT`] is set, as continuous integration does, a machine that lacks
//! something fails the test; elsewhere the test says on standard error what was not checked.

/// The environment variable that turns what is missing into a failure.
pub const STRICT: &str = "CAIRN_TEST_STRICT";

/// Passes on what a test needs; when it is missing the test fails, or says so and has nothing to check.
///
/// # Panics
///
/// When it is missing and [`STRICT`] is set.
pub fn needed<T, E: std::fmt::Display>(what: &str, given: Result<T, E>) -> Option<T> {
    match given {
        Ok(given) => Some(given),
        Err(why) => {
            let strict = std::env::var_os(STRICT).is_some_and(|value| !value.is_empty() && value != "0");
            assert!(!strict, "{STRICT} is set and this machine has no {what}: {why}");
            eprintln!("NOT CHECKED: this machine has no {what}: {why}");
            None
        }
    }
}

/// Network namespaces, as root or in a user namespace of one's own.
pub fn namespaces() -> Option<()> {
    let output = std::process::Command::new("unshare").args(["--net", "--pid", "--fork", "true"]).output();
    let allowed = match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("unshare: {error}")),
    };
    needed("network namespaces", allowed)
}
