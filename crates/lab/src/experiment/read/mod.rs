//! Reading an experiment: syntax, keys, types, sense, in this order, and every mistake with its line.

pub(super) mod findings;
mod locate;
pub(super) mod named_files;
pub(super) mod origin;
pub(super) mod recorded;
mod seeded;
mod studies;
mod swept;

use std::path::Path;

use toml::{Table, Value};
use trust::whole_file;

use self::findings::Finding;
use self::locate::{Locator, in_words, problem_of};
use self::named_files::{Files, named_files};
use self::origin::Origins;
use self::swept::SweepBeside;
use crate::experiment::backends;
use crate::experiment::bounds;
use crate::experiment::cases::controls;
use crate::experiment::cases::{self, Variant};
use crate::experiment::check::expectations;
use crate::experiment::check::figures;
use crate::experiment::check::judgeable::Judgeable;
use crate::experiment::check::lacks;
use crate::experiment::check::notes;
use crate::experiment::check::one_line;
use crate::experiment::model::{Expect, File};
use crate::experiment::plan::Plan;
use crate::experiment::problem::{Problem, Problems, suggest};
use crate::experiment::reference::earlier;
use crate::experiment::resolve::resolve;

/// An experiment file that has passed every check.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The file's name without its ending.
    pub name: String,
    /// The text as it was given.
    pub text: String,
    /// The file as it was given.
    pub file: File,
    /// Files that it names, such as that of its topology, by the names it gives them.
    pub files: Files,
    shown: String,
    content: Table,
    swept: Option<SweepBeside>,
}

impl Experiment {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// Every mistake that was found, with line and suggestion.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        Experiment::read_as(path, true)
    }

    /// Reads the file of a run that is there already. Whether its statements can all be judged is not asked
    /// any more: the report says so of each.
    ///
    /// # Errors
    ///
    /// Every mistake that was found, with line and suggestion.
    pub fn read_recorded(path: &Path) -> Result<Self, Problems> {
        Experiment::read_as(path, false)
    }

    fn read_as(path: &Path, is_new: bool) -> Result<Self, Problems> {
        let shown = path.display().to_string();
        let name =
            path.file_stem().map_or_else(|| "experiment".to_owned(), |stem| stem.to_string_lossy().into());
        match whole_file::read_text(path, whole_file::MAX_BYTES) {
            Ok(text) => Experiment::parsed(path.parent(), &name, &shown, &text, is_new),
            Err(error) => Err(Problems::unreadable(shown, &error)),
        }
    }

    /// Checks a text that names no other files.
    ///
    /// # Errors
    ///
    /// Every mistake that was found, with line and suggestion.
    pub fn parse(name: &str, shown: &str, text: &str) -> Result<Self, Problems> {
        Experiment::parse_in(None, name, shown, text)
    }

    /// Checks a text. Files that it names are looked for in `folder`.
    ///
    /// # Errors
    ///
    /// Every mistake that was found, with line and suggestion.
    pub fn parse_in(folder: Option<&Path>, name: &str, shown: &str, text: &str) -> Result<Self, Problems> {
        Experiment::parsed(folder, name, shown, text, true)
    }

    /// Checks a text, of an experiment that is still to be run or of one that was.
    fn parsed(
        folder: Option<&Path>,
        name: &str,
        shown: &str,
        text: &str,
        is_new: bool,
    ) -> Result<Self, Problems> {
        let problems = |list: Vec<Problem>| Problems { file: shown.to_owned(), list: merged(list) };
        let locator = Locator::new(text).map_err(|problem| problems(vec![problem]))?;
        let unknown = locator.unknown_keys();
        if !unknown.is_empty() {
            return Err(problems(unknown));
        }
        let mut file: File =
            toml::from_str(text).map_err(|error| problems(vec![problem_of(text, &error)]))?;
        bounds::in_units(&mut file);
        let mut content: Table =
            toml::from_str(text).map_err(|error| problems(vec![problem_of(text, &error)]))?;
        earlier::rename(&mut content);
        let files = named_files(&content, folder);
        let (name, shown) = (name.to_owned(), shown.to_owned());
        let experiment = Experiment { name, text: text.to_owned(), file, files, shown, content, swept: None };
        let mut judgeable = Judgeable::default();
        let mut findings = if is_new { one_line::findings(&experiment.content) } else { Vec::new() };
        for backend in backends::ALL {
            match experiment.plans(backend) {
                Ok(plans) if is_new => judgeable.add(&experiment, backend, &plans),
                Ok(_) => {}
                Err(more) => findings.extend(more),
            }
        }
        if findings.is_empty() {
            findings = judgeable.findings();
        }
        if findings.is_empty() { Ok(experiment) } else { Err(located(&experiment.shown, &locator, findings)) }
    }

    /// What is told of statements that are sound, each with its line: that a run contradicts one, whatever
    /// happens in it, or that its repeats hardly show how rare losses spread.
    #[must_use]
    pub fn notes(&self) -> Problems {
        let none = Problems { file: self.shown.clone(), list: Vec::new() };
        Locator::new(&self.text).map_or(none, |locator| located(&self.shown, &locator, notes::notes(self)))
    }

    /// The file, as it was called.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// What the file holds, table by table.
    pub(crate) fn content(&self) -> &Table {
        &self.content
    }

    /// What a backend lacks to carry it out, each key with its line and the reason; nothing when it can.
    ///
    /// # Errors
    ///
    /// What it lacks.
    pub fn can_run_on(&self, backend: &str) -> Result<(), Problems> {
        let mut findings = Vec::new();
        // What a case says stands at its own line.
        let plain = [(self.content.clone(), Origins::default())];
        let of_cases = self.contents(backend).unwrap_or_default();
        for (content, origins) in plain.iter().chain(&of_cases) {
            for finding in lacks::on(backend, content) {
                let is_told =
                    |other: &Finding| other.message == finding.message && other.key.starts_with(&finding.key);
                if !findings.iter().any(is_told) {
                    let place = origins.place(&self.content, &finding.key);
                    findings.push(Finding { place, ..finding });
                }
            }
        }
        if findings.is_empty() {
            return Ok(());
        }
        let locator = Locator::new(&self.text)
            .map_err(|problem| Problems { file: self.shown.clone(), list: vec![problem] })?;
        Err(located(&self.shown, &locator, findings))
    }

    /// The content of every case on a backend, with where it was said.
    fn contents(&self, backend: &str) -> Result<Vec<(Table, Origins)>, Vec<Finding>> {
        let variants = self.variants(backend)?.1;
        Ok(variants.into_iter().map(|variant| (variant.content, variant.origins)).collect())
    }

    /// The file with what is said of a backend in it, and its cases.
    pub(super) fn variants(&self, backend: &str) -> Result<(File, Vec<Variant>), Vec<Finding>> {
        let (base, content, origins) = self.on(backend)?;
        let variants = cases::variants(&base, &content, &origins)?;
        Ok((base, variants))
    }

    /// What tells each case on a backend from others, by their names; nothing if that cannot be said.
    #[must_use]
    pub fn factors(&self, backend: &str) -> Vec<(String, Vec<(String, Value)>)> {
        let variants = self.variants(backend).map(|(_, variants)| variants).unwrap_or_default();
        variants.into_iter().map(|variant| (variant.name, variant.factors)).collect()
    }

    /// The plan of every case on a backend; a study has none.
    ///
    /// # Errors
    ///
    /// What is wrong with the file on that backend.
    pub fn plans(&self, backend: &str) -> Result<Vec<Plan>, Vec<Finding>> {
        let mut findings = Vec::new();
        for name in self.file.on.keys().filter(|name| !backends::ALL.contains(&name.as_str())) {
            findings.push(Finding {
                key: format!("on.{name}"),
                message: format!("there is no backend called `{name}`"),
                suggestion: Some(suggest(name, backends::ALL)),
                ..Finding::default()
            });
        }
        for (number, expect) in self.file.expect.iter().enumerate() {
            for name in expect.on.iter().filter(|name| !backends::ALL.contains(&name.as_str())) {
                findings.push(Finding {
                    key: format!("expect.{number}.on"),
                    message: format!("there is no backend called `{name}`, so nothing would judge this"),
                    suggestion: Some(suggest(name, backends::ALL)),
                    ..Finding::default()
                });
            }
        }
        if self.file.study.is_some() {
            findings.extend(studies::findings(&self.file, &self.content, &self.files));
            return if findings.is_empty() { Ok(Vec::new()) } else { Err(findings) };
        }
        let (base, variants) = self.variants(backend)?;
        let names: Vec<String> = variants.iter().map(|variant| variant.name.clone()).collect();
        let mut plans = Vec::new();
        for variant in &variants {
            match self.plan(variant, backend, None) {
                Ok(plan) => {
                    findings.extend(expectations::findings(&plan, &names));
                    findings.extend(figures::findings(&self.file, &plan, &names));
                    plans.push(plan);
                }
                Err(more) => findings.extend(more),
            }
        }
        match controls::controls(&base, &variants) {
            Ok(controls) => {
                let mut without = Vec::new();
                for (control, variant) in controls {
                    match self.plan(&variant, backend, None) {
                        Ok(plan) => without.push((variant.key, Plan { control: Some(control), ..plan })),
                        Err(more) => findings.extend(more),
                    }
                }
                findings.extend(controls::idle(&plans, &without));
                plans.extend(without.into_iter().map(|(_, plan)| plan));
            }
            Err(more) => findings.extend(more),
        }
        findings.dedup();
        if findings.is_empty() { Ok(plans) } else { Err(findings) }
    }

    /// The file with what is said of a backend in it, its content, and where that was said.
    fn on(&self, backend: &str) -> Result<(File, Table, Origins), Vec<Finding>> {
        let (mut content, mut origins) = (self.content.clone(), Origins::default());
        let set = format!("on.{backend}.set");
        if let Some(change) = self.file.on.get(backend) {
            cases::apply_all(&mut content, &mut origins, &change.set, &origin::plain(&set))?;
        }
        match reread(&content) {
            Ok(base) => Ok((base, content, origins)),
            Err(unreadable) => Err(self.unreadable(&origins, &set, unreadable)),
        }
    }

    /// That a file cannot be read any more with what was set in it, at the first value that makes it so.
    fn unreadable(&self, origins: &Origins, key: &str, last: Unreadable) -> Vec<Finding> {
        let first = origins.first_wrong(&self.content, reread, cases::set_again);
        let (mut place, unreadable) = first.unwrap_or((origin::plain(key), last));
        // A key that does not exist is no value's fault.
        if unreadable.has_unknown_key
            && let [sweep, number, _, _] = place.as_slice()
            && sweep == "sweep"
        {
            place = origin::plain(&format!("sweep.{number}.key"));
        }
        vec![Finding { key: key.to_owned(), message: unreadable.message, suggestion: None, place }]
    }

    pub(super) fn plan(
        &self,
        variant: &Variant,
        backend: &str,
        seed: Option<u64>,
    ) -> Result<Plan, Vec<Finding>> {
        let file = reread(&variant.content)
            .map_err(|unreadable| self.unreadable(&variant.origins, &variant.key, unreadable))?;
        let seed = seed.or(file.seed).unwrap_or(1);
        let mut plan = resolve(&file, &variant.name, &self.files, seed).map_err(|findings| {
            let placed = |finding: Finding| Finding {
                place: variant.origins.place(&self.content, &finding.key),
                ..finding
            };
            findings.into_iter().map(placed).collect::<Vec<_>>()
        })?;
        plan.scaling = self.file.on.get(backend).map(|change| change.why.clone());
        let is_here = |expect: &Expect| expect.on.is_empty() || expect.on.iter().any(|name| name == backend);
        let (here, elsewhere) = plan.evaluation.expectations.into_iter().partition(is_here);
        (plan.evaluation.expectations, plan.evaluation.elsewhere) = (here, elsewhere);
        Ok(plan)
    }
}

/// Findings with their lines.
fn located(shown: &str, locator: &Locator<'_>, findings: Vec<Finding>) -> Problems {
    let located = findings.into_iter().map(|finding| Problem {
        line: locator.line(&if finding.place.is_empty() {
            origin::plain(&finding.key)
        } else {
            finding.place
        }),
        key: finding.key,
        message: finding.message,
        suggestion: finding.suggestion,
    });
    Problems { file: shown.to_owned(), list: merged(located.collect()) }
}

/// The mistakes by line, each once: what is wrong in one line for several nodes is one. Of those that quote
/// the same name in the same words only the first is told, with the lines of the others: a name that is
/// written wrong in one place is often used in many.
fn merged(mut list: Vec<Problem>) -> Vec<Problem> {
    list.sort_by_key(|problem| problem.line);
    let mut once: Vec<(Problem, Vec<usize>)> = Vec::new();
    for problem in list {
        let is_same = |other: &Problem| {
            let is_quoted = other.message.contains('`');
            other.message == problem.message && (is_quoted || other.line == problem.line && problem.line > 0)
        };
        match once.iter_mut().find(|(other, _)| *other == problem || is_same(other)) {
            Some((first, lines)) if first.line != problem.line && !lines.contains(&problem.line) => {
                lines.push(problem.line);
            }
            Some(_) => {}
            None => once.push((problem, Vec::new())),
        }
    }
    let told = once.into_iter().map(|(mut problem, lines)| {
        if !lines.is_empty() {
            let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
            problem.message += &format!(" (and in line {})", lines.join(", "));
        }
        problem
    });
    told.collect()
}

/// Why a changed table is no file any more.
struct Unreadable {
    message: String,
    /// Whether it holds a key that no table knows, whatever its value is.
    has_unknown_key: bool,
}

/// A changed table as a typed file again.
fn reread(content: &Table) -> Result<File, Unreadable> {
    let text = toml::to_string(content)
        .map_err(|error| Unreadable { message: error.to_string(), has_unknown_key: false })?;
    let mut file: File = toml::from_str(&text).map_err(|error| Unreadable {
        message: in_words(error.message()).0,
        has_unknown_key: Locator::new(&text).is_ok_and(|locator| !locator.unknown_keys().is_empty()),
    })?;
    bounds::in_units(&mut file);
    Ok(file)
}

#[cfg(test)]
mod tests;
