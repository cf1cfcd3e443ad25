//! What stands in a report, and in which order.

use super::data::{CaseData, RunData};
use super::detailed::{MAX_DETAILED, detailed};
use super::document::{Block, Document, Figure};
use super::verdict::Verdict;
use super::{contour, figures, paper, repeat_it, response, summary, tables};
use crate::experiment::backends::{HOSTS, NETNS, VIRTUAL_TIME};

/// The report of a run.
pub(super) fn document(run: &RunData, verdicts: &[Verdict]) -> Document {
    let place = match run.record.backend.as_str() {
        NETNS => "on real forwarders in network namespaces",
        VIRTUAL_TIME => "in virtual time",
        HOSTS => "on real forwarders on several hosts",
        other => other,
    };
    let mut document = Document {
        title: run.record.title.clone(),
        place: format!("Cairn lab · {} · {place}", run.record.began),
        blocks: Vec::new(),
    };
    let blocks = &mut document.blocks;
    head(blocks, run, verdicts);
    if !verdicts.is_empty() {
        chapter(blocks, "expectations", "Expected and measured");
        let (table, notes) = tables::verdicts(verdicts);
        blocks.push(Block::Table(table));
        blocks.extend(notes.into_iter().map(Block::Remark));
        blocks.push(Block::Remark(certainty(run)));
        if let Some(controls) = tables::controls(run) {
            blocks.push(Block::Heading("Controls: the same without the cause".to_owned()));
            blocks.push(Block::Table(controls));
        }
    }
    sentences(blocks, run);
    let asked = paper::figures(run);
    if !asked.is_empty() {
        let is_paper = run.experiment.file.figure.iter().any(|figure| figure.paper.is_some());
        let title = if is_paper { "The paper's figures, from this run" } else { "What was to be seen" };
        chapter(blocks, "figures", title);
        blocks.extend(asked.into_iter().map(Block::Figure));
    }
    chapter(blocks, "topology", "Topology");
    topology(blocks, run);
    let response = response::figures(run);
    if !response.is_empty() {
        chapter(blocks, "response", "Over what was varied");
        blocks.extend(response.into_iter().map(Block::Figure));
    }
    let contours = contour::figures(run);
    if !contours.is_empty() {
        chapter(blocks, "contours", "Where it holds");
        let both = |(figure, table)| [Block::Figure(figure), Block::Table(table)];
        blocks.extend(contours.into_iter().flat_map(both));
    }
    if (2..=MAX_DETAILED).contains(&run.cases.len()) {
        chapter(blocks, "comparison", "Cases side by side");
        blocks.push(Block::Remark(
            "Bars are means over the time of a run and over repeats, whiskers their standard deviation over repeats."
                .to_owned(),
        ));
        gallery(blocks, figures::means(run));
    }
    for number in detailed(run) {
        if let Some(case) = run.cases.get(number) {
            self::case(blocks, number, case, run.cases.len() > 1);
        }
    }
    validity(blocks, run);
    chapter(blocks, "again", "How to do it again");
    repeat_it::chapter(blocks, run);
    document.numbered(run.experiment.file.figure.len())
}

/// What every repeat was held to before its numbers counted.
fn validity(blocks: &mut Vec<Block>, run: &RunData) {
    chapter(blocks, "validity", "Is it valid?");
    let alone = match run.record.is_virtual() {
        true => {
            " In virtual time nothing stands still and no frame is missed: the gates of a machine are not listed."
        }
        false => " Lines of forwarder logs without an answer are dropped and counted.",
    };
    blocks.push(Block::Paragraph(format!(
        "A run that fails one of these gates is marked, and left out of every mean.{alone}"
    )));
    blocks.push(Block::Table(tables::gates(run)));
}

fn chapter(blocks: &mut Vec<Block>, anchor: &str, title: &str) {
    blocks.push(Block::Chapter { title: title.to_owned(), anchor: anchor.to_owned() });
}

fn gallery(blocks: &mut Vec<Block>, figures: Vec<Figure>) {
    if !figures.is_empty() {
        blocks.push(Block::Gallery(figures));
    }
}

fn table(blocks: &mut Vec<Block>, table: Option<super::document::Table>) {
    blocks.extend(table.map(Block::Table));
}

fn head(blocks: &mut Vec<Block>, run: &RunData, verdicts: &[Verdict]) {
    if let Some(source) = &run.experiment.file.source {
        blocks.push(Block::Remark(source.clone()));
    }
    if let Some(about) = &run.experiment.file.about {
        blocks.push(Block::Paragraph(about.trim().to_owned()));
    }
    blocks.push(Block::Facts(summary::facts(run, verdicts)));
    if !run.record.complete {
        blocks.push(Block::Warning("This run is not complete: what is there so far is shown.".to_owned()));
    }
    blocks.extend(summary::warnings(run).into_iter().map(Block::Warning));
    blocks.extend(summary::outcome(run, verdicts).map(Block::Paragraph));
}

/// What is to be said of each case.
fn sentences(blocks: &mut Vec<Block>, run: &RunData) {
    chapter(blocks, "words", "In words");
    let shown = detailed(run);
    if shown.len() < run.cases.len() {
        let text = format!(
            "Of {} cases {} are told in words and shown in detail, those that are not valid first. Figures over what \
             was varied, tables, results.csv and results.parquet have all.",
            run.cases.len(),
            shown.len()
        );
        blocks.push(Block::Remark(text));
    }
    for case in shown.into_iter().filter_map(|number| run.cases.get(number)) {
        if run.cases.len() > 1 {
            blocks.push(Block::Heading(case.name().to_owned()));
        }
        blocks.push(Block::Paragraph(summary::sentences(case).join(" ")));
    }
}

fn topology(blocks: &mut Vec<Block>, run: &RunData) {
    let Some(case) = run.cases.first() else { return };
    blocks.push(Block::Figure(figures::topology(run, case)));
    for route in &case.plan.routing.routes {
        let path: Vec<&str> = route.path.iter().map(|node| case.plan.node_name(*node)).collect();
        blocks.push(Block::Remark(format!("Interests for `{}` go {}.", route.prefix, path.join(" → "))));
    }
}

/// How well a mean is known, and what the words of the verdicts mean.
fn certainty(run: &RunData) -> String {
    let known = if run.record.repeats > 1 {
        "± is half the width of the 95 % confidence interval over repeats, by Student's t, and the interval that decides is wider with fewer than five repeats of something random, or fewer than 59 that are equal, or where the counts beside a number leave more open; “in each of” says that all repeats brought the same number, from which no interval follows; “exactly” that nothing in the experiment is random; “3 of 5 repeats” that the number rests on those whose order of what happens at one instant was drawn, because it makes a difference."
    } else if run.record.is_virtual() {
        "A single repeat in virtual time is exact where nothing in the experiment is random, and else says nothing of its certainty."
    } else {
        "With a single repeat nothing can be said about confidence: set `repeats`."
    };
    format!(
        "{known} Confirmed: all of the interval is as expected, and the control failed it. Contradicted: none of the interval is. \
         By construction: the setting leaves nothing else. Not testable here: everything else, with the reason."
    )
}

fn case(blocks: &mut Vec<Block>, number: usize, case: &CaseData, is_one_of_many: bool) {
    let title = if is_one_of_many { case.name() } else { "Measured" };
    chapter(blocks, &format!("case-{}", number + 1), title);
    let valid = case.results.iter().filter(|result| result.is_valid()).count();
    let of = case.results.get(case.shown_repeat).and_then(|result| result.window);
    let window = of.map_or_else(String::new, |window| {
        format!(
            " What counts of repeat {} is {:.2} s to {:.2} s.",
            case.shown_repeat + 1,
            window.from,
            window.until
        )
    });
    blocks.push(if case.is_valid() {
        Block::Remark(format!(
            "Numbers are means over {valid} valid of {} repeats; graphs show repeat {}, from its start on.{window}",
            case.results.len(),
            case.shown_repeat + 1
        ))
    } else {
        Block::Warning("Not valid: the graphs below show what went wrong, and no number is taken from them.".to_owned())
    });
    table(blocks, tables::workloads(case));
    table(blocks, tables::prefixes(case));
    blocks.push(Block::Heading("All nodes".to_owned()));
    gallery(blocks, figures::side_by_side(number, case));
    table(blocks, Some(tables::nodes(case)));
    let transfers = figures::transfers(number, case);
    if !transfers.is_empty() {
        blocks.push(Block::Heading("Transfers".to_owned()));
        blocks.extend(transfers.into_iter().map(Block::Figure));
    }
    let round_trips = figures::round_trips(number, case);
    if !round_trips.is_empty() {
        blocks.push(Block::Heading("Round trips".to_owned()));
        blocks.extend(round_trips.into_iter().map(Block::Figure));
    }
    let mut graphs = Vec::new();
    let (drawn, all) = (case.drawn_nodes(), case.plan.nodes.len());
    if drawn.len() < all {
        graphs.push(Block::Remark(format!(
            "Of {all} nodes {} are drawn, of those that do something beside forwarding. Tables have all.",
            drawn.len()
        )));
    }
    for node in drawn {
        graphs.push(Block::Heading(case.plan.node_name(node).to_owned()));
        gallery(&mut graphs, figures::six(number, case, node));
    }
    blocks.push(Block::Folded {
        title: "Six graphs of every node, on common scales".to_owned(),
        blocks: graphs,
    });
    if case.results.len() > 1 {
        let numbers = vec![Block::Table(tables::repeats(case))];
        let title = "Every number over repeats: mean, deviation, confidence".to_owned();
        blocks.push(Block::Folded { title, blocks: numbers });
    }
}
