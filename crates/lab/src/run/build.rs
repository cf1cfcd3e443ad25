//! What program made a run: its commit, whether its sources were as committed, and its bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use trust::Sha256;

/// The sources a program was built from, as its build saw them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit; nothing when it was not built from a repository.
    pub commit: Option<String>,
    /// Were the sources as committed?
    pub clean: Option<bool>,
}

/// A program that took part in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// What it was built from.
    #[serde(flatten)]
    pub build: Build,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
}

impl Program {
    /// The program in a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn of(build: Build, file: &Path) -> io::Result<Self> {
        let mut input = File::open(file)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = input.read(&mut buffer)?;
            let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { break };
            hasher.update(read);
        }
        let sha256 = packet::hex::encode(&hasher.finish());
        Ok(Program { build, sha256 })
    }

    /// In words, for people.
    #[must_use]
    pub fn words(&self) -> String {
        let commit = self.build.commit.as_deref().unwrap_or("unknown");
        let tree = match self.build.clean {
            Some(true) => "sources as committed",
            Some(false) => "with changes that are not committed",
            None => "built outside of a repository",
        };
        format!("commit {commit}, {tree}; SHA-256 {}", self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_program_is_known_by_its_bytes() {
        let folder = TestFolder::new("program");
        let file = folder.join("program");
        std::fs::write(&file, "abc").unwrap();
        let build = Build { commit: Some("1234".to_owned()), clean: Some(false) };
        let program = Program::of(build, &file).unwrap();
        assert!(program.sha256.starts_with("ba7816bf8f01cfea"), "{}", program.sha256);
        assert!(program.words().contains("not committed"), "{}", program.words());
    }
}
