//! Which processes a test has left.

use std::path::Path;

/// The command lines of processes that name the folder in them, or work below it.
///
/// # Panics
///
/// When `/proc` cannot be read.
#[must_use]
#[allow(clippy::expect_used, reason = "a test stops where something is not as it must be")]
pub fn of(folder: &Path) -> Vec<String> {
    let wanted = folder.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("a list of processes").flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let works_at = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if line.contains(&wanted) || works_at.starts_with(folder) {
            found.push(line);
        }
    }
    found
}
