//! Slurm, by its own commands: what submits a job, and what says which of its tasks are left.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The commands of a cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    sbatch: PathBuf,
    squeue: PathBuf,
}

/// Tasks that a cluster still has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Their numbers in the array.
    pub numbers: BTreeSet<u32>,
    /// How many of them run.
    pub running: usize,
    /// Why one that waits does.
    pub reason: Option<String>,
}

impl Cluster {
    /// The commands in the first of these folders that has them.
    ///
    /// # Errors
    ///
    /// When one is in none of them.
    pub fn find(folders: impl IntoIterator<Item = PathBuf>) -> Result<Self, String> {
        let folders: Vec<PathBuf> = folders.into_iter().collect();
        let find = |name: &str| {
            let places = folders.iter().map(|folder| folder.join(name));
            places.into_iter().find(|path| path.is_file()).ok_or_else(|| {
                format!(
                    "{name} is not in PATH: run this where jobs are submitted, or name its folder in CAIRN_SLURM"
                )
            })
        };
        Ok(Cluster { sbatch: find("sbatch")?, squeue: find("squeue")? })
    }

    /// Submits an array job with these tasks, which works in `folder`. Returns its number.
    pub(super) fn submit(
        &self,
        folder: &Path,
        script: &Path,
        tasks: &BTreeSet<u32>,
        options: &[String],
    ) -> Result<String, String> {
        let mut words: Vec<OsString> = ["--parsable", "--chdir"].map(OsString::from).to_vec();
        words.push(folder.into());
        words.push(format!("--array={}", ranges(tasks)).into());
        words.push(format!("--output={}", output(folder)?).into());
        words.extend(options.iter().map(OsString::from));
        words.push(script.into());
        let said = run(&self.sbatch, &words)?;
        // On a cluster of several its name follows.
        let id = said.trim().split(';').next().unwrap_or_default();
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        if is_id { Ok(id.to_owned()) } else { Err(format!("sbatch has said no job: {said}")) }
    }

    /// Which tasks of jobs wait or run.
    ///
    /// # Errors
    ///
    /// What `squeue` says.
    pub fn tasks(&self, jobs: &[String]) -> Result<Tasks, String> {
        let mut tasks = Tasks::default();
        // One by one: a job that is forgotten, as all are some time after their end, is an error.
        for job in jobs {
            let words = ["--noheader", "--array", "--format=%K|%T|%r", "--jobs", job];
            match run(&self.squeue, &words.map(OsString::from)) {
                Ok(lines) => lines.lines().for_each(|line| tasks.add(line)),
                Err(why) if why.contains("Invalid job id") => {}
                Err(why) => return Err(why),
            }
        }
        Ok(tasks)
    }
}

impl Tasks {
    fn add(&mut self, line: &str) {
        let mut fields = line.trim().split('|');
        let Some(number) = fields.next().and_then(|text| text.parse().ok()) else { return };
        self.numbers.insert(number);
        match (fields.next(), fields.next()) {
            (Some("PENDING"), Some(why)) if why != "None" => self.reason = Some(why.to_owned()),
            (Some("PENDING"), _) => {}
            _ => self.running += 1,
        }
    }
}

/// Where tasks print to. Slurm reads `%` in the whole path, and stops reading it at a backslash.
fn output(folder: &Path) -> Result<String, String> {
    let plain = folder.to_str().filter(|text| !text.contains(['\\', '\n']));
    let why = || format!("{}: Slurm cannot print into a folder of this name", folder.display());
    Ok(format!("{}/part-%a.txt", plain.ok_or_else(why)?.replace('%', "%%")))
}

/// What a command prints; what it complains of where it fails.
fn run(program: &Path, words: &[OsString]) -> Result<String, String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(format!("{name}: {}", if said.is_empty() { output.status.to_string() } else { said.join("; ") }))
}

/// Numbers as Slurm reads them: `1-3,7`.
fn ranges(numbers: &BTreeSet<u32>) -> String {
    let mut list: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match list.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => list.push((*number, *number)),
        }
    }
    let words = list
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_named_in_ranges() {
        let of = |numbers: &[u32]| ranges(&numbers.iter().copied().collect());
        assert_eq!(of(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(of(&[4]), "4");
    }

    #[test]
    fn what_slurm_would_read_in_a_folder_s_name_is_escaped_or_refused() {
        assert_eq!(output(Path::new("/runs/100 %a")), Ok("/runs/100 %%a/part-%a.txt".to_owned()));
        assert!(output(Path::new("/runs/back\\slash")).is_err());
    }

    #[test]
    fn who_waits_and_who_runs_is_read_from_the_queue() {
        let mut tasks = Tasks::default();
        for line in ["3|RUNNING|None", " 4|PENDING|Resources", "5|COMPLETING|None", "", "N/A|RUNNING|None"] {
            tasks.add(line);
        }
        let reason = Some("Resources".to_owned());
        assert_eq!(tasks, Tasks { numbers: [3, 4, 5].into(), running: 2, reason });
    }

    #[test]
    fn a_command_that_is_missing_is_named_with_the_way_out() {
        let why = Cluster::find([PathBuf::from("/nowhere")]).unwrap_err();
        assert!(why.starts_with("sbatch is not in PATH") && why.contains("CAIRN_SLURM"), "{why}");
    }
}
