//! What a test needs of the machine, and does not have everywhere.
//!
//! A test that quietly checks nothing is worse than none: what is missing fails the test, unless
//! [`WITHOUT_RIGHTS`] says that this is all right; then the test says on standard error what was not checked.

/// Set to anything, tests leave out what this user may not do.
pub const WITHOUT_RIGHTS: &str = "CAIRN_TESTS_WITHOUT_RIGHTS";

/// Passes on what a test needs.
///
/// # Panics
///
/// When it is missing and nothing says that this is all right.
pub fn needed<T, E: std::fmt::Display>(what: &str, given: Result<T, E>) -> Option<T> {
    match given {
        Ok(given) => Some(given),
        Err(why) => {
            let excused = std::env::var_os(WITHOUT_RIGHTS).is_some();
            assert!(
                excused,
                "this test needs {what}, which this machine does not have: {why}. Set {WITHOUT_RIGHTS}=1 to leave such tests out"
            );
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
