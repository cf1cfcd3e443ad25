//! The files of the repository, as the rules see them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::process;

/// Text files by path relative to the repository's root, with `/` between folders.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Every text file that is tracked or could be: new files count before they are added, ignored ones
    /// never.
    pub(crate) fn of_repository() -> Result<Self, String> {
        let root = root()?;
        let listing =
            process::output("git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"], &root)?;
        let mut files = BTreeMap::new();
        for path in listing.split('\0').filter(|path| !path.is_empty()) {
            // A deleted file is still listed, and a binary one is not text: neither has words to check.
            if let Ok(text) = std::fs::read_to_string(root.join(path)) {
                files.insert(path.to_owned(), text);
            }
        }
        Ok(Tree { files })
    }

    /// All files in order of their paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// All Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// The text of one file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Folder names directly below `crates/` that hold a crate.
    pub(crate) fn crates(&self) -> Vec<&str> {
        self.iter()
            .map(|(path, _)| path)
            .filter_map(|path| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
            .filter(|name| !name.contains('/'))
            .collect()
    }

    /// A tree made of the given paths and texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Tree { files: files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect() }
    }
}

/// The root of the repository that this was started in by `cargo`, which tells where it is. Where this was
/// built says less: two checkouts that share a target folder share this program, too.
pub(crate) fn root() -> Result<PathBuf, String> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    own.as_deref()
        .unwrap_or(Path::new(env!("CARGO_MANIFEST_DIR")))
        .parent()
        .map(Path::to_path_buf)
        .ok_or_else(|| "xtask has no parent folder".to_owned())
}
