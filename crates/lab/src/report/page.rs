//! The page itself.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::data::{CaseData, ReportError, RunData};
use super::figures::{Figure, Studio, write_results};
use super::svg::escape;
use super::verdict::{Verdict, verdicts};
use super::{repeat_it, style, summary, tables};
use crate::run::RunFolder;

/// Makes the report of a run, its figures and its table of results. Returns the page's path.
///
/// # Errors
///
/// When nothing of the run is complete, or files cannot be read or written.
pub fn write_report(folder: &RunFolder) -> Result<PathBuf, ReportError> {
    let run = RunData::read(folder)?;
    let studio = Studio::new(&run)?;
    let verdicts = verdicts(&run);
    let mut page = String::new();
    head(&mut page, &run, &verdicts);
    section(&mut page, "topology", "Topology");
    show(&mut page, &[studio.topology()?], "");
    routes(&mut page, &run);
    if !verdicts.is_empty() {
        section(&mut page, "expectations", "Expected and measured");
        page.push_str(&tables::verdicts(&verdicts));
        intervals(&mut page, &run);
    }
    if run.cases.len() > 1 {
        section(&mut page, "comparison", "Cases side by side");
        let many = "<p>Bars are means over the time of a run and over repeats, marks their standard deviation over repeats.</p>";
        page.push_str(many);
        show(&mut page, &studio.comparison()?, "pictures");
    }
    for (number, case) in run.cases.iter().enumerate() {
        self::case(&mut page, &studio, number, case, run.cases.len() > 1)?;
    }
    section(&mut page, "validity", "Is it valid?");
    page.push_str(
        "<p>A run that fails one of these gates is marked, and left out of every mean. Lines of forwarder logs without \
         an answer are dropped and counted.</p>",
    );
    page.push_str(&tables::gates(&run));
    section(&mut page, "again", "How to do it again");
    page.push_str(&repeat_it::section(&run));
    page.push_str("</main></body></html>\n");
    write_results(&run, &folder.path().join("results.csv"))?;
    let path = folder.report();
    fs::write(&path, page)?;
    Ok(path)
}

fn section(page: &mut String, anchor: &str, title: &str) {
    let _ = writeln!(page, "<h2 id=\"{anchor}\">{}</h2>", escape(title));
}

fn head(page: &mut String, run: &RunData, verdicts: &[Verdict]) {
    let title = escape(&run.record.title);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{}{}{}</style></head><body><main>\n",
        style::VARIABLES,
        style::PAGE,
        style::DRAWING
    );
    let place = match run.record.backend.as_str() {
        "netns" => "on real forwarders in network namespaces",
        "sim" => "in virtual time",
        other => other,
    };
    let _ = writeln!(
        page,
        "<p class=\"soft\">Cairn lab · {} · {place}</p><h1>{title}</h1>",
        escape(&run.record.began)
    );
    if let Some(source) = &run.experiment.file.source {
        let _ = writeln!(page, "<p class=\"source soft\">{}</p>", escape(source));
    }
    if let Some(about) = &run.experiment.file.about {
        let _ = writeln!(page, "<p>{}</p>", escape(about.trim()));
    }
    page.push_str("<div class=\"facts\">");
    for (value, name) in summary::facts(run, verdicts) {
        let _ =
            write!(page, "<div class=\"fact\"><b>{}</b><span>{}</span></div>", escape(&value), escape(&name));
    }
    page.push_str("</div>\n");
    for warning in summary::warnings(run) {
        let _ = writeln!(page, "<p class=\"warning\">{}</p>", escape(&warning));
    }
    for case in &run.cases {
        if run.cases.len() > 1 {
            let _ = writeln!(page, "<h3>{}</h3>", escape(case.name()));
        }
        let _ = writeln!(page, "<p>{}</p>", escape(&summary::sentences(case).join(" ")));
    }
    if !run.record.complete {
        page.push_str("<p class=\"warning\">This run is not complete: what is there so far is shown.</p>\n");
    }
}

/// Pictures in a grid, or one below the other.
fn show(page: &mut String, figures: &[Figure], class: &str) {
    let _ = write!(page, "<div class=\"{class}\">");
    for figure in figures {
        let caption = if figure.caption.is_empty() {
            String::new()
        } else {
            format!("<figcaption>{}</figcaption>", escape(&figure.caption))
        };
        let _ = writeln!(page, "<figure>{}{caption}</figure>", figure.html);
    }
    page.push_str("</div>\n");
}

fn routes(page: &mut String, run: &RunData) {
    let Some(case) = run.cases.first() else { return };
    for route in &case.plan.routes {
        let path: Vec<&str> = route.path.iter().map(|node| case.plan.node_name(*node)).collect();
        let (prefix, path) = (escape(&route.prefix), escape(&path.join(" → ")));
        let _ = writeln!(page, "<p class=\"soft\">Interests for <code>{prefix}</code> go {path}.</p>");
    }
}

fn intervals(page: &mut String, run: &RunData) {
    let text = if run.record.repeats > 1 {
        "± is half the width of the 95 % confidence interval over repeats, by Student's t."
    } else {
        "With a single repeat nothing can be said about confidence: set <code>repeats</code>."
    };
    let _ = writeln!(page, "<p class=\"soft\">{text}</p>");
}

fn case(
    page: &mut String,
    studio: &Studio<'_>,
    number: usize,
    case: &CaseData,
    many: bool,
) -> Result<(), ReportError> {
    let title = if many { format!("Case: {}", case.name()) } else { "What was measured".to_owned() };
    section(page, &format!("case-{}", number + 1), &title);
    let valid = case.results.iter().filter(|result| result.is_valid()).count();
    let _ = writeln!(
        page,
        "<p class=\"soft\">Numbers are means over {valid} valid of {} repeats; graphs show repeat {}, from its start on.</p>",
        case.results.len(),
        case.shown_repeat + 1
    );
    page.push_str(&tables::workloads(case));
    page.push_str("<h3>All nodes</h3>\n");
    show(page, &studio.side_by_side(number, case)?, "pictures");
    page.push_str(&tables::nodes(case));
    let transfers = studio.transfers(number, case)?;
    if !transfers.is_empty() {
        page.push_str("<h3>Transfers</h3>\n");
        show(page, &transfers, "");
    }
    let round_trips = studio.round_trips(number, case)?;
    if !round_trips.is_empty() {
        page.push_str("<h3>Round trips</h3>\n");
        show(page, &round_trips, "");
    }
    page.push_str("<details><summary>Six graphs of every node, on common scales</summary>\n");
    for node in 0..case.plan.nodes.len() {
        let _ = writeln!(page, "<h3>{}</h3>", escape(case.plan.node_name(node)));
        show(page, &studio.six(number, case, node)?, "pictures");
    }
    page.push_str("</details>\n");
    Ok(())
}
