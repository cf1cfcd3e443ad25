//! One fuzzing process: started, watched, and its end understood.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::report::Report;
use super::{Target, compile};

/// Longer inputs than any packet, so that size limits are met.
const MAX_INPUT_BYTES: usize = 9000;
/// An input that takes this long is a hang. libFuzzer looks at the clock on the wall, and on a busy machine a
/// process may well stand still for ten seconds.
const TIMEOUT_SECONDS: u64 = 60;
/// More memory than this is a leak: every table and buffer is bounded.
const MEMORY_MB: u64 = 2048;
/// Lines of libFuzzer's output that are kept for a failure's report.
const TAIL_LINES: usize = 60;

/// One process that is to be run.
pub(super) struct Campaign<'a> {
    pub(super) root: &'a Path,
    pub(super) target: &'static Target,
    pub(super) seconds: u64,
    pub(super) seed: u64,
    /// Number of seeds in the corpus, for the report.
    pub(super) seeds: usize,
    /// Show libFuzzer's output while it runs.
    pub(super) echo: bool,
}

pub(super) enum Verdict {
    Passed,
    /// The input that made the target fail.
    Crashed(PathBuf),
}

impl Campaign<'_> {
    pub(super) fn run(&self) -> Result<(Verdict, Report), String> {
        let name = self.target.name;
        let corpus = self.root.join("fuzz/corpus").join(name);
        let artifacts = self.root.join("fuzz/artifacts").join(name);
        for folder in [&corpus, &artifacts] {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let mut command = Command::new(compile::binary(self.root, name)?);
        command
            .arg(format!("-max_total_time={}", self.seconds))
            .arg(format!("-seed={}", self.seed))
            .arg(format!("-max_len={MAX_INPUT_BYTES}"))
            .arg(format!("-timeout={TIMEOUT_SECONDS}"))
            .arg(format!("-rss_limit_mb={MEMORY_MB}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-print_final_stats=1", "-reload=1"])
            .arg(&corpus)
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| format!("cannot start the target {name}: {error}"))?;
        let stderr = child.stderr.take().ok_or("the target has no standard error")?;
        let mut report = Report::new(name, self.seeds);
        let mut tail = Vec::new();
        let mut artefact = None;
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line.map_err(|error| format!("reading from the target {name}: {error}"))?;
            let line = String::from_utf8_lossy(&line).into_owned();
            if self.echo && !line.contains(" # Uses: ") {
                println!("{line}");
            }
            report.read_line(&line);
            if let Some((_, path)) = line.split_once("Test unit written to ") {
                artefact = Some(PathBuf::from(path.trim()));
            }
            tail.push(line);
            if tail.len() > TAIL_LINES {
                tail.remove(0);
            }
        }
        let status = child.wait().map_err(|error| format!("waiting for the target {name}: {error}"))?;
        match artefact {
            Some(artefact) => {
                if !self.echo && name != super::CANARY.name {
                    println!("{}", tail.join("\n"));
                }
                Ok((Verdict::Crashed(artefact), report))
            }
            None if status.success() => Ok((Verdict::Passed, report)),
            None => Err(format!("the target {name} ended with {status}:\n{}", tail.join("\n"))),
        }
    }
}

/// What to do with an input that made a target fail.
pub(super) fn explain_crash(root: &Path, target: &Target, artefact: &Path) -> String {
    let bytes = std::fs::read(artefact).unwrap_or_default();
    let path = artefact.strip_prefix(root).unwrap_or(artefact).display();
    let name = target.name;
    let mut text = format!(
        "the target {name} failed on {} bytes\n  input: {path}\n  again: cargo xtask fuzz run {name} {path}\n",
        bytes.len()
    );
    match target.seed_kinds {
        [] => text.push_str("  then:  make a unit test of it, with these bytes as its input:\n"),
        kinds => text.push_str(&format!(
            "  then:  make a vector of it in vectors/, with what the decoder should say:\n\n\
             ;; source: fuzzing\n;; kind: {}\n;; error: FIELD RULE\n",
            kinds.join(" or ")
        )),
    }
    for chunk in bytes.chunks(32) {
        text.push('\n');
        text.extend(chunk.iter().map(|byte| format!("{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_crash_is_explained_with_the_command_that_repeats_it_and_the_bytes() {
        let folder = TestFolder::new("crash");
        let file = folder.join("found");
        std::fs::write(&file, [0x05, 0xff]).unwrap();
        let target = Target { name: "x", about: "", seed_kinds: &["ndn-name"] };
        let text = explain_crash(&folder, &target, &file);
        assert!(text.contains("cargo xtask fuzz run x found"), "{text}");
        assert!(text.ends_with(";; kind: ndn-name\n;; error: FIELD RULE\n\n05ff"), "{text}");
    }
}
