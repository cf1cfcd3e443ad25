//! Slurm, by its own commands: what submits a job, and what says which of its tasks are left.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::SlurmError;

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
    pub fn find(folders: impl IntoIterator<Item = PathBuf>) -> Result<Self, SlurmError> {
        let folders: Vec<PathBuf> = folders.into_iter().collect();
        let find = |name: &'static str| {
            let places = folders.iter().map(|folder| folder.join(name));
            places.into_iter().find(|path| path.is_file()).ok_or(SlurmError::NoCommand(name))
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
    ) -> Result<String, SlurmError> {
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
        if is_id { Ok(id.to_owned()) } else { Err(SlurmError::NoJob(said)) }
    }

    /// Which tasks of jobs wait or run.
    ///
    /// # Errors
    ///
    /// What `squeue` says.
    pub fn tasks(&self, jobs: &[String]) -> Result<Tasks, SlurmError> {
        let mut tasks = Tasks::default();
        // One by one: a job that is forgotten, as all are some time after their end, is an error.
        for job in jobs {
            let words = ["--noheader", "--array", "--format=%K|%T|%r", "--jobs", job];
            match run(&self.squeue, &words.map(OsString::from)) {
                Ok(lines) => lines.lines().for_each(|line| tasks.add(line)),
                Err(error) if error.is_of_forgotten_job() => {}
                Err(error) => return Err(error),
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
fn output(folder: &Path) -> Result<String, SlurmError> {
    let plain = folder.to_str().filter(|text| !text.contains(['\\', '\n']));
    let error = || SlurmError::Folder(folder.to_owned());
    Ok(format!("{}/part-%a.txt", plain.ok_or_else(error)?.replace('%', "%%")))
}

/// What a command prints; what it complains of where it fails.
fn run(program: &Path, words: &[OsString]) -> Result<String, SlurmError> {
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|source| SlurmError::NotStarted { program: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = if said.is_empty() { output.status.to_string() } else { said.join("; ") };
    let command = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(SlurmError::Failed { command, said })
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
    fn a_job_that_the_cluster_has_forgotten_is_told_from_other_failures() {
        let failed = |said: &str| SlurmError::Failed { command: "squeue".to_owned(), said: said.to_owned() };
        assert!(failed("slurm_load_jobs error: Invalid job id specified").is_of_forgotten_job());
        assert!(!failed("Unable to contact slurm controller").is_of_forgotten_job());
    }

    #[test]
    fn tasks_are_named_in_ranges() {
        let of = |numbers: &[u32]| ranges(&numbers.iter().copied().collect());
        assert_eq!(of(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(of(&[4]), "4");
    }

    #[test]
    fn what_slurm_would_read_in_a_folder_s_name_is_escaped_or_refused() {
        assert_eq!(output(Path::new("/runs/100 %a")).unwrap(), "/runs/100 %%a/part-%a.txt");
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
        let why = Cluster::find([PathBuf::from("/nowhere")]).unwrap_err().to_string();
        assert!(why.starts_with("sbatch is not in PATH") && why.contains("CAIRN_SLURM"), "{why}");
    }
}
