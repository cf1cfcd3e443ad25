//! What runs found, one row for each statement, as Markdown and as JSON: the page of results is made of it.

use std::fmt::Write;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::data::{CaseData, RunData};
use super::ranges;
use super::verdict::{Outcome, Verdict, VerdictNumbers, numbers, verdicts};
use crate::experiment::backends::{HOSTS, NETNS, VIRTUAL_TIME};
use crate::prose::{capitalised, code, ended, indented, name, sentence, sentences, wrapped};
use crate::run::StartCommand;
use crate::stats::Claim;

/// A statement and what came of it. In JSON all of it is one object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The run that it is of.
    #[serde(flatten)]
    pub run: RowRun,
    /// What is stated.
    #[serde(flatten)]
    pub statement: RowStatement,
    /// What was found.
    #[serde(flatten)]
    pub finding: RowFinding,
    /// What it was held against.
    pub bound: String,
    /// What fails where the statement's cause is taken away.
    #[serde(flatten)]
    pub control: RowControl,
    /// What came of it.
    #[serde(flatten)]
    pub verdict: RowVerdict,
}

/// The run that a statement was judged in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowRun {
    /// The experiment.
    pub experiment: String,
    /// The backend.
    pub backend: String,
    /// The command that gives it.
    pub command: String,
    /// A hash of what the run was of: see [`RunData::plan_hash`].
    pub plan: String,
    /// Is the run complete? Of one that is not nothing is testable.
    pub complete: bool,
    /// What has to be known of the run's folder: what is not as the run left it, and what nobody would see
    /// changed.
    pub notes: Vec<String>,
}

/// What is stated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowStatement {
    /// The case.
    pub case: String,
    /// The statement.
    pub say: String,
    /// The same as a list begins with it, where what it goes on with does not stand before it.
    #[serde(skip)]
    pub begun: String,
    /// What the paper says.
    pub paper: Option<String>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowFinding {
    /// The measure.
    pub measure: String,
    /// What was measured, with half the width of its 95 % interval.
    pub measured: String,
    /// That, its bounds and what its controls brought as numbers; nothing where nothing was measured.
    pub numbers: Option<VerdictNumbers>,
    /// What the number rests on: samples, or an assumption about repeats; empty where it rests on nothing
    /// else.
    pub details: String,
}

/// The controls of a statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowControl {
    /// Its controls, what they change and what they came to, or why it has none.
    #[serde(rename = "control")]
    pub words: String,
    /// The same where what they change stands elsewhere.
    #[serde(skip)]
    pub alone: String,
}

/// What came of a statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowVerdict {
    /// Its words.
    #[serde(rename = "verdict")]
    pub words: &'static str,
    /// Where it hangs on the order of what happens at one instant, of what it is confirmed or contradicted.
    pub of: Option<Claim>,
    /// How many drawn orders the number is of, where it hangs on them or may do so.
    pub drawn_orders: Option<u64>,
    /// Both in words.
    #[serde(skip)]
    pub said: String,
    /// Its reason, where it has one.
    pub why: String,
}

/// The command that gives a run. What it was begun with does not say where the file of machines is, which its
/// folder has.
pub(super) fn command(run: &RunData) -> String {
    // A path says where somebody's files were, and nothing to anybody else.
    let short = |file: &str| match file.rsplit_once('/') {
        Some((_, name)) if file.starts_with('/') => format!("experiments/{name}"),
        _ => file.to_owned(),
    };
    let said = StartCommand::of(&run.record, &run.experiment.text).map(|said| said.of_file(short));
    let least =
        || format!("cairn lab run experiments/{}.toml --on {}", run.record.experiment, run.record.backend);
    let hosts = if run.folder.hosts().is_file() { " --hosts hosts.toml" } else { "" };
    said.and_then(|said| said.command()).unwrap_or_else(least) + hosts
}

/// The controls of a statement and what they came to. Where it is not confirmed that is what each of them is
/// said to be beside its numbers.
fn control(verdict: &Verdict, numbers: Option<&VerdictNumbers>) -> String {
    let words = verdict.control_words();
    let outcomes = numbers.filter(|_| verdict.outcome != Outcome::Confirmed);
    let outcomes = outcomes.map_or(&[][..], |numbers| numbers.controls.as_slice());
    let said: Vec<String> = match outcomes {
        [] => return words,
        [one] => vec![one.outcome.clone()],
        several => several.iter().map(|one| format!("“{}” {}", one.name, one.outcome)).collect(),
    };
    format!("{words}: {}", said.join(", "))
}

fn row(run: &RunData, verdict: Verdict) -> Row {
    let measured = match verdict.found() {
        (found, Some(spread)) => format!("{found} {spread}"),
        (found, None) => found,
    };
    let numbers = numbers(run, &verdict);
    Row {
        run: RowRun {
            experiment: run.record.experiment.clone(),
            backend: run.record.backend.clone(),
            command: command(run),
            plan: run.plan_hash(),
            complete: run.record.complete,
            notes: run.notes(),
        },
        control: RowControl {
            words: control(&verdict, numbers.as_ref()),
            alone: verdict.control_words_alone(),
        },
        verdict: RowVerdict {
            words: verdict.words(),
            of: verdict.of,
            drawn_orders: verdict.measured.and_then(|found| Some(found.orders?.drawn)),
            said: verdict.said(),
            why: verdict.why,
        },
        statement: RowStatement {
            case: verdict.case,
            begun: begun(run, &verdict.say),
            say: verdict.say,
            paper: verdict.paper,
        },
        finding: RowFinding {
            measure: verdict.measure,
            measured,
            numbers,
            details: verdict.details.join(", "),
        },
        bound: verdict.bound,
    }
}

/// Every row of these runs.
#[must_use]
pub fn result_rows(runs: &[RunData]) -> Vec<Row> {
    let rows = |run| verdicts(run).into_iter().map(move |verdict| row(run, verdict));
    runs.iter().flat_map(rows).collect()
}

const HEAD: &str = "\
# What the experiments show

<!-- Generated from the folders of runs by `cairn lab results FOLDER… --markdown`. Nothing here is typed. -->

";

const VERDICTS: &str = "
## How to read it

Each statement stands in an experiment file. Below it are what the paper says, what was measured and what it
was held against, and before it one of four verdicts:

- **confirmed**: all of the 95 % interval is as stated, and the control run, which differs in nothing but the
  keys that stand with its name before the statements, fails the statement, too, in valid runs. That these
  keys are the cause that the paper names is what the file says. Without a control it is *confirmed, no
  control stated*, and *control not run* says the same of one that exists.
- **contradicted**: none of the interval is as stated. Where two measures are compared, that is the interval
  [of their difference](lab-statistics.md#differences); for *the same* it is the one of 90 %.
- **by construction**: it is as stated, because the setting leaves nothing else; the reason is the file's, and
  stands beside with the values of the keys that it names.
- **not testable here**: everything else, with the reason: no valid run, too uncertain, a share of the
  processor that is kept too coarsely, a statement for another backend, or a control in which it holds as
  well or which is not valid itself.

± is half the width of Student's 95 % confidence interval over repeats. Of fewer than five that are random, or
fewer than 59 that are equal, the interval that decides [is wider](lab.md#verdicts). From five on that differ
it is assumed that all repeats would spread as these do, and said so. Where a part of a whole was counted, the
counts stand beside, and the interval that decides is no narrower than they leave it. *In each of 3* says that
all repeats brought the same number, from which no interval follows; *exactly* says that nothing in the
experiment is random and nothing hangs on [the order of what happens at one instant](lab.md#one-instant). *5
drawn orders* says that it may hang on that order. Then a verdict is *of most orders*: all of five or more
that were drawn, and the planned one, say so. Only of twenty or more that say different things it is *on the
mean of the orders*. What links carry in a second is written in bits.
";

/// The page of results. `pictures` is the folder of the figures over parameters as the page names it, which
/// shows them if it is said; [`write_results_pictures`] writes them.
#[must_use]
pub fn results_markdown(runs: &[RunData], pictures: Option<&str>) -> String {
    let mut page = HEAD.to_owned();
    counts(&mut page, runs);
    overview(&mut page, runs);
    contradicted(&mut page, runs);
    page.push_str(VERDICTS);
    ranges::chapter(&mut page, runs, pictures);
    for (backend, title) in BACKENDS {
        let mut runs = runs.iter().filter(|run| run.record.backend == backend).peekable();
        if runs.peek().is_some() {
            let _ = write!(page, "\n## {title}\n");
        }
        runs.for_each(|run| section(&mut page, run, pictures));
    }
    page
}

/// Writes the figures over parameters of these runs, for [`results_markdown`].
///
/// # Errors
///
/// When the folder or a file cannot be written.
pub fn write_results_pictures(runs: &[RunData], folder: &Path) -> io::Result<()> {
    ranges::write_pictures(runs, folder)
}

const BACKENDS: [(&str, &str); 3] =
    [(VIRTUAL_TIME, "In virtual time"), (NETNS, "On real forwarders"), (HOSTS, "On hosts of their own")];

/// What came of all statements.
fn counts(page: &mut String, runs: &[RunData]) {
    let all: Vec<Verdict> = runs.iter().flat_map(verdicts).collect();
    let count = |outcome| all.iter().filter(|verdict| verdict.outcome == outcome).count();
    let sentence = format!(
        "Of {} statements in {} runs of experiments {} are confirmed ({} of them without a control) and {} \
         contradicted; {} hold by construction, and {} cannot be tested here. One that is judged at several values of \
         a parameter counts once for each of them.",
        all.len(),
        runs.len(),
        count(Outcome::Confirmed),
        all.iter().filter(|verdict| verdict.is_without_control()).count(),
        count(Outcome::Contradicted),
        count(Outcome::ByConstruction),
        count(Outcome::NotTestable),
    );
    page.push_str(&wrapped(&sentence));
}

/// Which statements were contradicted, and by what. Of those that are judged at several values of a parameter
/// another chapter says where they hold.
fn contradicted(page: &mut String, runs: &[RunData]) {
    let has_several_backends =
        runs.windows(2).any(|two| matches!(two, [a, b] if a.record.backend != b.record.backend));
    let beside = match runs.iter().any(|run| !ranges::judged_at_several(run).is_empty()) {
        true => {
            ", beside statements that are judged at [several values of a parameter](#where-conclusions-hold)"
        }
        false => "",
    };
    let mut heading = format!("\n{}\n", wrapped(&format!("Contradicted are{beside}:")));
    for run in runs {
        let title = BACKENDS.iter().find(|(backend, _)| *backend == run.record.backend);
        let title = title.filter(|_| has_several_backends).map_or("", |(_, title)| title);
        let where_it_ran =
            if title.is_empty() { String::new() } else { format!(" ({})", title.to_lowercase()) };
        let several = ranges::judged_at_several(run);
        let is_meant = |found: &Verdict| {
            found.outcome == Outcome::Contradicted
                && !several.contains(&(found.say.clone(), of_any_case(&found.measure).to_owned()))
        };
        for verdict in verdicts(run).into_iter().filter(is_meant) {
            let row = row(run, verdict);
            let statement = format!(
                "{}: {}{where_it_ran}. {} is {}, and should be: {}.",
                name(&row.run.experiment),
                statement(&row),
                code(&row.finding.measure),
                row.finding.measured,
                sentences(&row.bound)
            );
            page.push_str(&std::mem::take(&mut heading));
            page.push_str(&indented("- ", "  ", &statement));
        }
    }
}

/// A statement as a sentence begins, also one that goes on with another. The name of a node stays as it is.
pub(super) fn begun(run: &RunData, say: &str) -> String {
    let say = say.trim_start_matches("… ");
    let is_of_name = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    let first = say.split(|letter: char| !is_of_name(letter)).next().unwrap_or_default();
    // A node may be called like a word, such as `router` or `a`.
    let is_no_word = first.len() == say.len() || first.contains(|letter: char| letter.is_ascii_digit());
    let is_node = |case: &CaseData| case.plan.node(first).is_some();
    match is_no_word && run.cases.iter().any(is_node) {
        true => say.to_owned(),
        false => capitalised(say),
    }
}

/// The statement with its case.
fn statement(row: &Row) -> String {
    let say = sentences(&row.statement.begun);
    if row.statement.case.is_empty() { say } else { format!("{say} ({})", name(&row.statement.case)) }
}

/// How many statements of each run have which verdict.
fn overview(page: &mut String, runs: &[RunData]) {
    let words = Outcome::ALL.map(Outcome::word).join(" | ");
    let _ = write!(page, "\n| experiment | backend | {words} |\n|---|---|---:|---:|---:|---:|\n");
    let mut sums = [0; 4];
    for run in runs {
        let found = verdicts(run);
        let counts = Outcome::ALL.map(|word| found.iter().filter(|verdict| verdict.outcome == word).count());
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let counts = counts.map(|count| count.to_string()).join(" | ");
        let _ = writeln!(page, "| {} | {} | {counts} |", name(&run.record.experiment), run.record.backend);
    }
    let _ = writeln!(page, "| all | | {} |", sums.map(|sum| sum.to_string()).join(" | "));
}

fn section(page: &mut String, run: &RunData, pictures: Option<&str>) {
    let all = run.cases.iter().chain(&run.controls);
    let (mut repeats, mut valid) = (0, 0);
    for case in all {
        repeats += case.results.len();
        valid += case.results.iter().filter(|result| result.is_valid()).count();
    }
    let _ = write!(page, "\n### {}: {}\n\n", name(&run.record.experiment), name(&run.record.title));
    let commit = run.record.program.build.commit.as_deref().unwrap_or("unknown");
    let tree = if run.record.program.build.clean == Some(true) { "" } else { " with changes" };
    // A run with `--only` is a part of its experiment, and says so.
    let planned = run.experiment.plans(&run.record.backend).unwrap_or_default();
    let planned = planned.iter().filter(|plan| plan.control.is_none()).count();
    let part = match run.cases.len() {
        cases if cases < planned => format!(", {cases} of {planned} cases"),
        _ => String::new(),
    };
    let part = if run.record.complete { part } else { format!("{part}, **not complete**") };
    if let Some(source) = &run.experiment.file.source {
        let _ = writeln!(page, "{}", wrapped(&sentences(&sentence(source))));
    }
    let made = format!(
        "{}, commit {}{tree}, plan {}; {valid} of {repeats} runs valid, controls included.",
        run.record.began,
        commit.get(..12).unwrap_or(commit),
        run.plan_hash()
    );
    let _ = write!(page, "{}{part},\n{}", code(&command(run)), wrapped(&made));
    if let Some(folder) = pictures {
        ranges::pictures(page, run, folder);
    }
    page.push('\n');
    let found = verdicts(run);
    controls(page, &found);
    // Lost repeats, those of controls among them, and what was changed.
    for fault in &run.faults {
        page.push_str(&indented(
            "- ",
            "  ",
            &format!("**Not as the run left it**: {}", sentences(&sentence(fault))),
        ));
    }
    if let Some(unhashed) = &run.unhashed {
        page.push_str(&indented("- ", "  ", &format!("**{}**.", capitalised(unhashed))));
    }
    let stated = together(found.into_iter().map(|verdict| row(run, verdict)));
    if stated.is_empty() {
        page.push_str("Nothing is stated. `cairn lab show` prints what was measured.\n");
    }
    stated.iter().for_each(|rows| statements(page, rows));
}

/// What each control of these statements changes, once, as it is named below.
fn controls(page: &mut String, verdicts: &[Verdict]) {
    let mut told: Vec<&str> = Vec::new();
    for (name, changed) in verdicts.iter().flat_map(|verdict| verdict.controls.iter().zip(&verdict.changed)) {
        if !changed.is_empty() && !told.contains(&name.as_str()) {
            told.push(name);
            page.push_str(&wrapped(&sentences(&sentence(&format!("Control “{name}”: {changed}")))));
            page.push('\n');
        }
    }
}

/// Rows of one statement together, where the first of them comes. That a sentence stands twice is not enough,
/// such as one that goes on with the one before it.
fn together(rows: impl Iterator<Item = Row>) -> Vec<Vec<Row>> {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        let is_of = |group: &&mut Vec<Row>| {
            let first = group.first();
            first.is_some_and(|first| {
                first.statement.say == row.statement.say
                    && of_any_case(&first.finding.measure) == of_any_case(&row.finding.measure)
            })
        };
        match groups.iter_mut().find(is_of) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// A measure without the case that it is of.
pub(super) fn of_any_case(measure: &str) -> &str {
    measure.split_once(" @ ").map_or(measure, |(measure, _)| measure)
}

/// A statement with its verdict, or with those of all cases that it was judged in.
fn statements(page: &mut String, rows: &[Row]) {
    let why = |row: &Row| match row.verdict.why.as_str() {
        "" => String::new(),
        why => format!(" {}", sentences(&sentence(why))),
    };
    let found = |row: &Row| {
        let details =
            if row.finding.details.is_empty() { String::new() } else { format!(", {}", row.finding.details) };
        let measured =
            format!("Measured: {} is {}{details}.", code(&row.finding.measure), row.finding.measured);
        format!(
            "{measured} Held against: {}. Control: {}.",
            sentences(&row.bound),
            sentences(&row.control.alone)
        )
    };
    let Some(first) = rows.first() else { return };
    let is_one = rows.len() == 1;
    let head = match is_one {
        true => format!("**{}**: {}{}", first.verdict.said, ended(&statement(first)), why(first)),
        false => sentences(&ended(&first.statement.begun)),
    };
    page.push_str(&indented("- ", "  ", &head));
    if let Some(paper) = &first.statement.paper {
        page.push_str(&indented("  - ", "    ", &sentences(&sentence(&format!("The paper: {paper}")))));
    }
    for row in rows {
        let entry = match is_one {
            true => found(row),
            false => format!(
                "**{}** ({}).{} {}",
                row.verdict.said,
                name(&row.statement.case),
                why(row),
                found(row)
            ),
        };
        page.push_str(&indented("  - ", "    ", &entry));
    }
}
