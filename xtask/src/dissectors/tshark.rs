//! Running tshark with the plugins installed as a user would, and reading what it prints.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use testkit::folder::TestFolder;

/// What stands between values of a field that occurs several times.
const BETWEEN: char = '\u{1}';

/// tshark, and a home folder in which only these plugins are installed.
pub(crate) struct Tshark {
    root: PathBuf,
    home: TestFolder,
    next: AtomicU32,
}

/// The values of the fields of one frame, in the order in which they were asked for.
pub(crate) type Row = Vec<Vec<String>>;

impl Tshark {
    /// With the plugins of the repository at `root`.
    pub(crate) fn new(root: &Path) -> Result<Self, String> {
        super::install(root)?;
        let home = TestFolder::numbered("dissectors");
        let plugins = home.join(".local/lib/wireshark/plugins");
        let shown = |error: std::io::Error| format!("{}: {error}", plugins.display());
        std::fs::create_dir_all(&plugins).map_err(shown)?;
        let tshark = Tshark { root: root.to_owned(), home, next: AtomicU32::new(0) };
        // As `make install` does, and docs/wireshark.md says.
        let start = format!("dofile(\"{}\")\n", root.join("wireshark/cairn.lua").display());
        tshark.plant("cairn.lua", &start)?;
        Ok(tshark)
    }

    /// The file `name` of the vectors.
    pub(super) fn vector(&self, name: &str) -> PathBuf {
        self.root.join("vectors").join(name)
    }

    /// A new file for a capture.
    pub(super) fn path(&self, what: &str) -> PathBuf {
        self.home.join(format!("{}-{what}", self.next.fetch_add(1, Ordering::Relaxed)))
    }

    /// Installs one more plugin.
    pub(super) fn plant(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.home.join(".local/lib/wireshark/plugins").join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    fn command(&self, capture: &Path, arguments: &[&str]) -> Result<Command, String> {
        let errors = self.home.join("errors");
        let errors = File::create(&errors).map_err(|error| format!("{}: {error}", errors.display()))?;
        let mut command = Command::new("tshark");
        command.env("HOME", &self.home.0).env_remove("XDG_CONFIG_HOME").env("LC_ALL", "C").env("TZ", "UTC");
        command.arg("-n").arg("-r").arg(capture).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        Ok(command)
    }

    /// What tshark complained of beside what it printed.
    fn errors(&self) -> String {
        let text = std::fs::read_to_string(self.home.join("errors")).unwrap_or_default();
        text.lines().filter(|line| !line.starts_with("Running as user")).collect::<Vec<_>>().join("\n")
    }

    /// Hands every line that tshark prints to `look`.
    pub(super) fn lines(
        &self,
        capture: &Path,
        arguments: &[&str],
        mut look: impl FnMut(&str),
    ) -> Result<(), String> {
        let mut command = self.command(capture, arguments)?;
        let mut child = command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
        if let Some(output) = child.stdout.take() {
            let mut reader = BufReader::new(output);
            let mut line = Vec::new();
            loop {
                line.clear();
                match reader.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => break,
                    Ok(_) => look(String::from_utf8_lossy(&line).trim_end_matches('\n')),
                }
            }
        }
        let status = child.wait().map_err(|error| format!("{command:?}: {error}"))?;
        let errors = self.errors();
        if status.success() && errors.is_empty() {
            Ok(())
        } else {
            Err(format!("{command:?}: {status}\n{errors}"))
        }
    }

    /// The values of `fields` in every frame.
    pub(crate) fn fields(
        &self,
        capture: &Path,
        fields: &[&str],
        arguments: &[&str],
    ) -> Result<Vec<Row>, String> {
        let aggregator = format!("aggregator={BETWEEN}");
        let mut all = vec!["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", &aggregator];
        for field in fields {
            all.extend(["-e", field]);
        }
        all.extend(arguments);
        let mut rows = Vec::new();
        self.lines(capture, &all, |line| {
            let values = |cell: &str| match cell {
                "" => Vec::new(),
                cell => cell.split(BETWEEN).map(str::to_owned).collect(),
            };
            rows.push(line.split('\t').map(values).collect());
        })?;
        Ok(rows)
    }

    /// What is wrong with the frames of a capture: errors of Lua, and what dissectors call an error.
    pub(super) fn faults(&self, capture: &Path, arguments: &[&str]) -> Result<Vec<String>, String> {
        let mut faults = Vec::new();
        let (mut frame, mut is_next) = (String::new(), false);
        self.lines(capture, &[&["-V"], arguments].concat(), |line| {
            if line.starts_with("Frame ") {
                frame = line.split(':').next().unwrap_or_default().to_owned();
            }
            let is_fault = line.contains("Lua Error") || line.contains("[Expert Info (Error/");
            if is_fault && !is_next {
                faults.push(format!("{frame}: {}", line.trim()));
            }
            is_next = is_fault;
        })?;
        Ok(faults)
    }
}
