//! What packets cost on this machine, and how far virtual time is from real forwarders with that.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lab::experiment::Experiment;
use lab::experiment::backends::NETNS;
use lab::experiment::profile::Profile;
use lab::run::Options;
use lab::validation::{self, Validation};

use super::Outcome;
use super::programs::{build, programs};
use super::screen::Screen;
use super::verdicts::Form;
use crate::tool::{ToolError, files, output};

/// How a calibration is made.
#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArguments {
    /// The profile to write; an experiment names it as `profile = "…"`.
    file: PathBuf,
    /// The folder that runs are put in. Those that are there and complete are read, and not run again.
    #[arg(long, default_value = "runs/calibration", value_name = "FOLDER")]
    runs: PathBuf,
    /// How often each experiment is repeated.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// The profile as JSON, too.
    #[arg(long)]
    pub(super) json: bool,
}

/// What is compared, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArguments {
    /// The experiments.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What packets cost, as `cairn lab calibrate` has written it; without it what each experiment says.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// The folder that runs are put in, each as NAME-netns and NAME-sim. Those that are there and complete
    /// are read, and not run again.
    #[arg(long, default_value = "runs/validation", value_name = "FOLDER")]
    runs: PathBuf,
    /// Other numbers of repeats than the experiments say.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// As JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// As tables in Markdown, with the costs of the profile, which it needs; docs/validation.md says what
    /// they hold.
    #[arg(long, conflicts_with = "json", requires = "profile")]
    markdown: bool,
}

/// Runs in namespaces, into this folder.
fn options(runs: &Path, repeats: Option<u32>) -> Result<Options, ToolError> {
    let all = Options::new(NETNS, runs, programs()?);
    Ok(Options { repeats, controls: false, build: build(), ..all })
}

/// Whether the profile can be written when it is known, some minutes from now. What is there stays as it is.
fn look_for_room(file: &Path) -> Result<(), ToolError> {
    let is_new = !file.exists();
    std::fs::File::options().append(true).create(true).open(file).map_err(ToolError::file(file))?;
    if is_new { std::fs::remove_file(file).map_err(ToolError::file(file)) } else { Ok(()) }
}

pub(super) fn calibrate(arguments: &CalibrateArguments) -> Outcome {
    look_for_room(&arguments.file)?;
    let mut screen = Screen::new(false, Form::of(arguments.json))?;
    let options = options(&arguments.runs, Some(arguments.repeats))?;
    let profile =
        validation::calibrate(&options, |progress| screen.show(progress)).map_err(ToolError::other)?;
    let text = profile.to_text().map_err(ToolError::other)?;
    std::fs::write(&arguments.file, &text).map_err(ToolError::file(&arguments.file))?;
    if arguments.json {
        output::json(&serde_json::to_value(&profile).map_err(ToolError::other)?)?;
    } else {
        output::text(text.as_bytes())?;
        output::line(format_args!("profile: {}", arguments.file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads an experiment as both backends shall have it.
fn read(path: &Path, profile: Option<&str>) -> Result<Experiment, ToolError> {
    let text = files::read_text(path).map_err(ToolError::file(path))?;
    // Of what is wrong in the file its own lines are told.
    super::files::read(path).map_err(ToolError::other)?;
    let shown = path.display().to_string();
    let text = validation::same_plan(&text, profile)
        .map_err(|error| ToolError::other(format_args!("{shown}: {}", error.message())))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Experiment::parse_in(path.parent(), &name, &shown, &text).map_err(ToolError::other)
}

pub(super) fn validate(arguments: &ValidateArguments) -> Outcome {
    let given = arguments.profile.as_deref().map(|path| -> Result<(String, Profile), ToolError> {
        let text = files::read_text(path).map_err(ToolError::file(path))?;
        let profile = Profile::parse(&text)
            .map_err(|why| ToolError::other(format_args!("{}: {why}", path.display())))?;
        let whole = path.canonicalize().map_err(ToolError::file(path))?;
        Ok((whole.display().to_string(), profile))
    });
    let given = given.transpose()?;
    let options = options(&arguments.runs, arguments.repeats)?;
    let mut screen = Screen::new(false, Form::of(arguments.json))?;
    let mut list: Vec<Validation> = Vec::new();
    for path in &arguments.files {
        let experiment = read(path, given.as_ref().map(|(place, _)| place.as_str()))?;
        let found = validation::validate(&experiment, &options, |progress| screen.show(progress));
        let found = found.map_err(ToolError::other)?;
        if !arguments.json && !arguments.markdown {
            output::text(validation::text(&found).as_bytes())?;
        }
        list.push(found);
    }
    let within = list.iter().filter(|validation| validation.is_within()).count();
    if arguments.json {
        output::json(&serde_json::to_value(&list).map_err(ToolError::other)?)?;
    } else if let Some((_, profile)) = given.filter(|_| arguments.markdown) {
        output::bytes(validation::page(&list, &profile).as_bytes())?;
    } else {
        let mut out = Vec::new();
        writeln!(out, "{within} of {} experiments have all numbers within their margins", list.len())?;
        output::text(&out)?;
    }
    Ok(ExitCode::from(if within == list.len() { 0 } else { 3 }))
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_profile_that_could_not_be_written_is_refused_before_anything_is_measured() {
        assert!(look_for_room(Path::new("/nosuch/profile.toml")).is_err());
        let folder = TestFolder::new("profile");
        let file = folder.join("profile.toml");
        assert!(look_for_room(&file).is_ok() && !file.exists(), "it leaves nothing");
        std::fs::write(&file, "x").unwrap();
        assert!(look_for_room(&file).is_ok());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
    }
}
