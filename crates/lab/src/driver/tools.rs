//! Programs of others: found in PATH, or below a folder into which packages were unpacked; never installed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{DriverError, Launch};

/// The environment variable that names folders with unpacked packages, as PATH names folders with programs.
pub const TOOLS: &str = "CAIRN_LAB_TOOLS";

/// Folders with programs, in a system and in an unpacked package.
const FOLDERS: &[&str] = &["usr/sbin", "usr/bin", "usr/local/sbin", "usr/local/bin", "sbin", "bin"];

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its file.
    pub program: PathBuf,
    /// Where its package was unpacked; the system's root when it is installed.
    root: PathBuf,
}

impl Tool {
    /// Looks for a program of a package of the distribution.
    ///
    /// # Errors
    ///
    /// When it is nowhere; the error names the package.
    pub fn find(program: &'static str, package: &'static str) -> Result<Self, DriverError> {
        let folders = |variable: &str| std::env::var_os(variable).unwrap_or_default();
        Tool::find_in(&folders("PATH"), &folders(TOOLS), program).ok_or_else(|| DriverError::Unable {
            software: "the lab",
            what: format!("find the program `{program}`"),
            instead: format!("install the package {package}, or unpack it and name the folder in {TOOLS}"),
        })
    }

    fn find_in(path: &OsStr, tools: &OsStr, program: &str) -> Option<Self> {
        let system = Path::new("/");
        let in_path = std::env::split_paths(path).map(|folder| (folder.join(program), system.to_owned()));
        let below =
            |root: PathBuf| FOLDERS.iter().map(move |folder| (root.join(folder).join(program), root.clone()));
        let unpacked = std::env::split_paths(tools).filter(|root| root.is_absolute()).flat_map(below);
        // What is not for everybody is in no user's PATH.
        let installed = below(system.to_owned());
        let mut places = in_path.chain(unpacked).chain(installed);
        places.find(|(file, _)| file.is_file()).map(|(program, root)| Tool { program, root })
    }

    /// A file of the same system or package.
    #[must_use]
    pub fn beside(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// How it is started with these arguments.
    #[must_use]
    pub fn launch<W: Into<OsString>>(&self, arguments: impl IntoIterator<Item = W>) -> Launch {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Launch { program: self.program.clone(), arguments, environment: self.environment() }
    }

    /// What an unpacked program needs to find its libraries.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        if self.root == Path::new("/") {
            return Vec::new();
        }
        let library = self.root.join("usr/lib");
        let below = std::fs::read_dir(&library).into_iter().flatten().flatten().map(|entry| entry.path());
        let of_machine = |path: &PathBuf| path.to_string_lossy().ends_with("-linux-gnu");
        let paths: Vec<PathBuf> = below.filter(of_machine).chain([library.clone()]).collect();
        let joined = std::env::join_paths(paths).unwrap_or_default();
        vec![("LD_LIBRARY_PATH".into(), joined)]
    }

    /// The first line of what it says when it is asked for its version.
    #[must_use]
    pub fn version(&self, argument: &str) -> String {
        let mut command = std::process::Command::new(&self.program);
        let output = command.arg(argument).envs(self.environment()).output();
        // Some say it among their errors.
        let said = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
        let text = String::from_utf8_lossy(&said).into_owned();
        text.lines().find(|line| !line.trim().is_empty()).unwrap_or("unknown").trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn what_is_in_path_goes_before_what_was_unpacked_and_what_is_nowhere_names_its_package() {
        let folder = TestFolder::absent("tools");
        for place in ["path", "root/usr/sbin", "root/usr/lib/x86_64-linux-gnu"] {
            std::fs::create_dir_all(folder.join(place)).unwrap();
        }
        for file in ["path/both", "root/usr/sbin/both", "root/usr/sbin/one"] {
            std::fs::write(folder.join(file), "").unwrap();
        }
        let (path, tools) = (folder.join("path").into_os_string(), folder.join("root").into_os_string());
        let found = |program| Tool::find_in(&path, &tools, program);
        let both = found("both").unwrap();
        assert_eq!((both.program.clone(), both.environment()), (folder.join("path/both"), Vec::new()));
        let one = found("one").unwrap();
        assert_eq!(one.beside("usr/share"), folder.join("root/usr/share"));
        let libraries = one.environment().remove(0).1.into_string().unwrap();
        assert!(libraries.contains("root/usr/lib/x86_64-linux-gnu:"), "{libraries}");
        assert_eq!(found("neither"), None);
        let error = Tool::find("cairn-has-no-such-program", "some-package").unwrap_err().to_string();
        assert!(error.contains("install the package some-package"), "{error}");
    }
}
