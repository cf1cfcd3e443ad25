//! Folders for tests.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of a test's own, which goes with it. Tests of one process give it different names.
#[derive(Debug)]
pub struct TestFolder(pub PathBuf);

impl TestFolder {
    /// A new, empty folder.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn new(name: &str) -> Self {
        let folder = TestFolder::absent(name);
        std::fs::create_dir_all(&folder.0).unwrap_or_else(|error| panic!("{}: {error}", folder.0.display()));
        folder
    }

    /// A new, empty folder with a number behind the name, for what tests of one process make several of.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn numbered(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        TestFolder::new(&format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// A place where nothing is, for what makes a folder itself.
    pub fn absent(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cairn-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        TestFolder(path)
    }
}

impl Deref for TestFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for TestFolder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
