//! `cairn sim run FILE`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use packet::time::Duration;
use toml::Table;

use super::output::{self, Format, Group};
use super::scenario::Scenario;
use super::summary::{Outcome, outcome};
use super::sweep::{self, Point};
use super::{Failure, build, study, workers};
use crate::tool::output as print;

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The scenario, in TOML (or JSON, if the name ends so).
    file: PathBuf,
    /// Begin with this seed, whatever the file says.
    #[arg(long)]
    seed: Option<u64>,
    /// Run with so many seeds, one after the other, whatever the file says.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    repeats: Option<u64>,
    /// Write the traces that the file asks for into this folder, one folder for each run; or the tables and
    /// figures of a study.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// What trace files look like.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Runs at a time; as many as there are cores, otherwise. The results are the same with any number.
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// Print everything as JSON.
    #[arg(long)]
    json: bool,
}

/// One run to be done.
struct Job {
    scenario: Scenario,
    point: usize,
    seed: u64,
}

impl Run {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let text = crate::tool::files::read_text(&self.file)
            .map_err(|error| format!("{}: {error}", self.file.display()))?;
        let table = self.parse(&text)?;
        match table.get("kind").and_then(toml::Value::as_str) {
            // There nodes are tables by name, here they are a list.
            None if table.get("node").is_some_and(toml::Value::is_table) => {
                let file = self.file.display();
                Err(format!("{file}: this is an experiment of the lab; run it with: cairn lab run {file}")
                    .into())
            }
            None | Some("network") => self.run_network(&text, table),
            Some(kind) if lab::study::KINDS.contains(&kind) => study::run(
                &self.file,
                &text,
                self.out.as_deref(),
                self.workers.map(NonZeroUsize::get),
                self.json,
            ),
            Some(other) => {
                let (file, kinds) = (self.file.display(), lab::study::KINDS.join(", "));
                Err(format!("{file}: kind {other:?} is not known; there are network, {kinds}").into())
            }
        }
    }

    fn parse(&self, text: &str) -> Result<Table, Failure> {
        let file = self.file.display();
        if self.is_json() {
            let value: serde_json::Value =
                serde_json::from_str(text).map_err(|error| format!("{file}: {error}"))?;
            return Ok(Table::try_from(value).map_err(|error| format!("{file}: {error}"))?);
        }
        Ok(text.parse::<Table>().map_err(|error| format!("{file}: {error}"))?)
    }

    fn is_json(&self) -> bool {
        self.file.extension().is_some_and(|extension| extension == "json")
    }

    fn run_network(&self, text: &str, table: Table) -> Result<ExitCode, Failure> {
        let (scenario, groups) = self.groups(text, table)?;
        if self.json {
            print::json(&output::json(&groups))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = Vec::new();
        self.print(&mut text, &scenario, &groups)?;
        print::text(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Does all runs of a scenario.
    fn groups(&self, text: &str, mut table: Table) -> Result<(Scenario, Vec<Group>), Failure> {
        let file = self.file.display();
        // From the text first, for errors that name the line.
        let scenario: Scenario = if self.is_json() {
            serde_json::from_str(text).map_err(|error| format!("{file}: {error}"))?
        } else {
            toml::from_str(text).map_err(|error| format!("{file}: {error}"))?
        };
        table.remove("sweep");
        let points = sweep::points(&scenario.sweep).map_err(|error| format!("{file}: {error}"))?;
        let jobs = self.jobs(&scenario, &table, &points)?;
        let folder = self.file.parent().unwrap_or(Path::new("")).to_owned();
        let results =
            workers::do_all(&jobs, self.workers.map_or_else(workers::cores, NonZeroUsize::get), |job| {
                self.run_one(job, &folder)
            });
        let mut groups: Vec<Group> =
            points.into_iter().map(|point| Group { point, outcomes: Vec::new() }).collect();
        for (job, result) in jobs.iter().zip(results) {
            let outcome = result.map_err(|error| format!("{file}, seed {}: {error}", job.seed))?;
            if let Some(group) = groups.get_mut(job.point) {
                group.outcomes.push(outcome);
            }
        }
        Ok((scenario, groups))
    }

    fn jobs(&self, scenario: &Scenario, table: &Table, points: &[Point]) -> Result<Vec<Job>, Failure> {
        let mut jobs = Vec::new();
        for (place, point) in points.iter().enumerate() {
            let mut changed = table.clone();
            sweep::apply(&mut changed, point)?;
            let scenario: Scenario = match point.is_empty() {
                true => scenario.clone(),
                false => changed.try_into().map_err(|error| {
                    let shown: Vec<String> =
                        point.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                    format!("{}, with {}: {error}", self.file.display(), shown.join(", "))
                })?,
            };
            let first = self.seed.unwrap_or(scenario.seed);
            let repeats = self.repeats.unwrap_or(scenario.repeats).max(1);
            for seed in first..first.saturating_add(repeats) {
                jobs.push(Job { scenario: scenario.clone(), point: place, seed });
            }
        }
        Ok(jobs)
    }

    fn run_one(&self, job: &Job, folder: &Path) -> Result<Outcome, Failure> {
        if job.scenario.duration.0 == Duration::ZERO {
            return Err("duration must be more than zero".into());
        }
        let mut built = build::build(&job.scenario, folder, job.seed)?;
        built.network.run_for(job.scenario.duration.0)?;
        if let Some(out) = &self.out {
            let name = format!("point-{}-seed-{}", job.point, job.seed);
            output::write_traces(&built.network, &out.join(name), self.format)?;
        }
        Ok(outcome(&built, job.seed, job.scenario.duration.0))
    }

    fn print(&self, mut to: impl Write, scenario: &Scenario, groups: &[Group]) -> Result<(), Failure> {
        if let Some(title) = &scenario.title {
            writeln!(to, "{}", print::printable(title))?;
        }
        if let [Group { outcomes, .. }] = groups
            && let [outcome] = outcomes.as_slice()
        {
            output::print_consumers(&mut to, outcome)?;
            writeln!(to)?;
        }
        output::print_groups(&mut to, groups)?;
        let hash = groups.iter().flat_map(|group| &group.outcomes).fold(0u64, |hash, outcome| {
            (hash ^ outcome.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
        });
        writeln!(to, "trace hash {hash:016x}")?;
        Ok(())
    }
}

#[cfg(test)]
mod page_for_beginners;
#[cfg(test)]
mod tests;
