//! What runs found, one row for each statement, as Markdown and as JSON: the page of results is made of it.

use std::fmt::Write;

use serde::Serialize;

use super::data::RunData;
use super::verdict::{Outcome, Verdict, verdicts};
use crate::experiment::backends::{HOSTS, NETNS, VIRTUAL_TIME};
use crate::paragraph::{capitalised, indented, sentence, wrapped};

/// A statement and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The experiment.
    pub experiment: String,
    /// The backend.
    pub backend: String,
    /// The command that gives it.
    pub command: String,
    /// A hash of what the run was of: see [`RunData::plan_hash`].
    pub plan: String,
    /// The case.
    pub case: String,
    /// The statement.
    pub say: String,
    /// What the paper says.
    pub paper: Option<String>,
    /// The measure.
    pub measure: String,
    /// What was measured, with half the width of its 95 % interval.
    pub measured: String,
    /// What the number rests on: samples, or an assumption about repeats; empty where it rests on nothing
    /// else.
    pub details: String,
    /// What it was held against.
    pub bound: String,
    /// Its controls and what they came to, or why it has none.
    pub control: String,
    /// The verdict's words.
    pub verdict: &'static str,
    /// Its reason, where it has one.
    pub why: String,
}

fn command(run: &RunData) -> String {
    if !run.record.command.is_empty() {
        // A path says where somebody's files were, and nothing to anybody else.
        let short = |word: &str| match word.rsplit_once('/') {
            Some((_, name)) if word.starts_with('/') => format!("experiments/{name}"),
            _ => word.to_owned(),
        };
        return run.record.command.split(' ').map(short).collect::<Vec<_>>().join(" ");
    }
    format!("cairn lab run experiments/{}.toml --on {}", run.record.experiment, run.record.backend)
}

fn row(run: &RunData, verdict: Verdict) -> Row {
    let measured = match verdict.found() {
        (found, Some(spread)) => format!("{found} {spread}"),
        (found, None) => found,
    };
    Row {
        experiment: run.record.experiment.clone(),
        backend: run.record.backend.clone(),
        command: command(run),
        plan: run.plan_hash(),
        verdict: verdict.words(),
        control: verdict.control_words(),
        case: verdict.case,
        say: verdict.say,
        paper: verdict.paper,
        measure: verdict.measure,
        measured,
        details: verdict.details.join(", "),
        bound: verdict.bound,
        why: verdict.why,
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

- **confirmed**: all of the 95 % interval is as stated, and the control run, which takes away nothing but the
  cause that the paper names, fails the statement, too, in valid runs. Without a control it is *confirmed, no
  control stated*, and *control not run* says the same of one that exists.
- **contradicted**: none of the interval is as stated. Where two measures are compared, that is the interval
  of their difference, which is taken repeat by repeat; for *the same* it is the one of 90 %.
- **by construction**: it is as stated, because the setting leaves nothing else; the reason stands beside.
- **not testable here**: everything else, with the reason: no valid run, too uncertain, a share of the
  processor that is kept too coarsely, a statement for another backend, or a control in which it holds as
  well or which is not valid itself.

± is half the width of Student's 95 % confidence interval over repeats. Of fewer than five that are random, or
fewer than 59 that are equal, the interval that decides [is wider](lab.md#verdicts). From five on that differ
it is assumed that all repeats would spread as these do, and said so. *In each of 3* says that all repeats
brought the same number, from which no interval follows; *exactly* says that nothing in the experiment is
random, so that one run is enough. What links carry in a second is written in bits.
";

/// The page of results.
#[must_use]
pub fn results_markdown(runs: &[RunData]) -> String {
    let mut page = HEAD.to_owned();
    counts(&mut page, runs);
    overview(&mut page, runs);
    contradicted(&mut page, runs);
    page.push_str(VERDICTS);
    for (backend, title) in BACKENDS {
        let mut runs = runs.iter().filter(|run| run.record.backend == backend).peekable();
        if runs.peek().is_some() {
            let _ = write!(page, "\n## {title}\n");
        }
        runs.for_each(|run| section(&mut page, run));
    }
    page
}

const BACKENDS: [(&str, &str); 3] =
    [(VIRTUAL_TIME, "In virtual time"), (NETNS, "On real forwarders"), (HOSTS, "On hosts of their own")];

/// What came of all statements.
fn counts(page: &mut String, runs: &[RunData]) {
    let all: Vec<Verdict> = runs.iter().flat_map(verdicts).collect();
    let count = |outcome| all.iter().filter(|verdict| verdict.outcome == outcome).count();
    let sentence = format!(
        "Of {} statements in {} runs of experiments {} are confirmed ({} of them without a control) and {} \
         contradicted; {} hold by construction, and {} cannot be tested here.",
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

/// Which statements were contradicted, and by what.
fn contradicted(page: &mut String, runs: &[RunData]) {
    let has_several_backends =
        runs.windows(2).any(|two| matches!(two, [a, b] if a.record.backend != b.record.backend));
    let mut heading = "\nContradicted are:\n\n";
    for run in runs {
        let title = BACKENDS.iter().find(|(backend, _)| *backend == run.record.backend);
        let title = title.filter(|_| has_several_backends).map_or("", |(_, title)| title);
        let where_it_ran =
            if title.is_empty() { String::new() } else { format!(" ({})", title.to_lowercase()) };
        for verdict in verdicts(run).into_iter().filter(|found| found.outcome == Outcome::Contradicted) {
            let row = row(run, verdict);
            let statement = format!(
                "{}: {}{where_it_ran}. `{}` is {}, and should be: {}.",
                row.experiment,
                statement(&row),
                row.measure,
                row.measured,
                row.bound
            );
            page.push_str(std::mem::take(&mut heading));
            page.push_str(&indented("- ", "  ", &statement));
        }
    }
}

/// The statement with its case, as a sentence begins.
fn statement(row: &Row) -> String {
    let say = row.say.trim_start_matches("… ");
    let say = capitalised(say);
    if row.case.is_empty() { say } else { format!("{say} ({})", row.case) }
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
        let _ = writeln!(page, "| {} | {} | {counts} |", run.record.experiment, run.record.backend);
    }
    let _ = writeln!(page, "| all | | {} |", sums.map(|sum| sum.to_string()).join(" | "));
}

fn section(page: &mut String, run: &RunData) {
    let all = run.cases.iter().chain(&run.controls);
    let (mut repeats, mut valid) = (0, 0);
    for case in all {
        repeats += case.results.len();
        valid += case.results.iter().filter(|result| result.is_valid()).count();
    }
    let _ = write!(page, "\n### {}: {}\n\n", run.record.experiment, run.record.title);
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
        let _ = writeln!(page, "{}", wrapped(&sentence(source)));
    }
    let made = format!(
        "{}, commit {}{tree}, plan {}; {valid} of {repeats} runs valid, controls included.",
        run.record.began,
        commit.get(..12).unwrap_or(commit),
        run.plan_hash()
    );
    let _ = writeln!(page, "`{}`{part},\n{}", command(run), wrapped(&made));
    // Lost repeats, those of controls among them, and what was changed.
    for fault in &run.faults {
        page.push_str(&indented("- ", "  ", &format!("**Not as the run left it**: {}", sentence(fault))));
    }
    for verdict in verdicts(run) {
        let row = row(run, verdict);
        let why = if row.why.is_empty() { String::new() } else { format!(" {}", sentence(&row.why)) };
        let verdict = format!("**{}**: {}{why}", row.verdict, sentence(&statement(&row)));
        let mut entry = indented("- ", "  ", &verdict);
        if let Some(paper) = &row.paper {
            entry.push_str(&indented("  - ", "    ", &sentence(&format!("The paper: {paper}"))));
        }
        let details = if row.details.is_empty() { String::new() } else { format!(", {}", row.details) };
        let measured = format!("Measured: `{}` is {}{details}.", row.measure, row.measured);
        let held = format!("{measured} Held against: {}. Control: {}.", row.bound, row.control);
        entry.push_str(&indented("  - ", "    ", &held));
        page.push_str(&entry);
    }
}
