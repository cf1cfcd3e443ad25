//! Two runs side by side.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use lab::report::RunData;
use lab::run::RunFolder;

type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Means of every measure of every case in both runs, and how far they are apart.
pub(super) fn compare(a: &Path, b: &Path, json: bool) -> Outcome {
    let read = |path: &Path| -> Result<RunData, Box<dyn Error>> {
        let folder = RunFolder::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(RunData::read(&folder)?)
    };
    let (first, second) = (read(a)?, read(b)?);
    let mut rows = Vec::new();
    for case in &first.cases {
        let Some(other) = second.cases.iter().find(|other| other.plan.case == case.plan.case) else {
            continue;
        };
        let keys = |case: &lab::report::CaseData| -> BTreeSet<String> {
            case.results.iter().flat_map(|result| result.values.keys().cloned()).collect()
        };
        for key in keys(case).intersection(&keys(other)) {
            let (Some(left), Some(right)) = (case.estimate(key, "mean"), other.estimate(key, "mean")) else {
                continue;
            };
            rows.push((case.plan.case.clone(), key.clone(), left, right));
        }
    }
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "A: {} ({}, {})", first.record.title, first.record.backend, first.record.began)?;
    writeln!(out, "B: {} ({}, {})", second.record.title, second.record.backend, second.record.began)?;
    let mut last = None;
    for (case, key, left, right) in &rows {
        if last != Some(case) && !case.is_empty() {
            writeln!(out, "\n{case}")?;
        }
        last = Some(case);
        let ratio =
            if left.mean == 0.0 { String::new() } else { format!("{:>8.2}×", right.mean / left.mean) };
        writeln!(out, "  {key:<34} {:>16.3} {:>16.3} {ratio}", left.mean, right.mean)?;
    }
    if rows.is_empty() {
        return Err("the two runs have no case in common".into());
    }
    Ok(ExitCode::SUCCESS)
}
