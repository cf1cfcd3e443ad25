//! A run in virtual time leaves a report that holds what its experiment asks for, on the screen and on paper.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;
use std::path::Path;

use cairn_lab::report::{
    Comparison, Outcome, RunData, results_markdown, verdicts, write_report, write_results_pictures,
};
use cairn_lab::run::RunFolder;
use common::run_in_virtual_time;
use testkit::experiment::ROW;
use testkit::folder::TestFolder;

const HEAD: &str = r#"
title = "Two rates & a report"
about = "A few files over `three` nodes."
duration = "4 s"
repeats = 6
"#;

/// Keys of the row's download, and what follows it.
const WORKLOADS: &str = r#"
rate = "2/s"

[load.b]
at = "b"
cpu = "0 %"
busy = "1 s"
idle = "1 s"

[[case]]
name = "plain"

[[case]]
name = "loaded"
set = { "load.b.cpu" = "50 %" }

[[sweep]]
key = "link.*.rate"
values = ["5 Mbit/s", "10 Mbit/s"]

[[figure]]
title = "One node"
paper = "figure 7"
shows = "files from start to stop"
form = "over-time"
show = ["transfers", "pending", "load"]

[[figure]]
title = "Every node"
form = "every-node"
show = ["pending", "goodput"]
cases = "plain"

[[figure]]
title = "Bars"
form = "per-node"
show = ["cpu", "table_bytes"]

[[figure]]
title = "Scenarios"
form = "per-case"
show = ["goodput"]
cases = "10 Mbit/s"

[[figure]]
title = "Where it holds"
form = "over-parameter"
show = ["goodput"]
of = "sum"

[[figure]]
title = "Who competes"
form = "over-time"
show = ["loads"]
cases = "loaded"

[[expect]]
say = "Every file arrives soon"
value = "files.duration.max"
at_most = 2.9

[[expect]]
say = "A file takes no time at all"
paper = "it takes some"
value = "files.duration"
at_most = 0.000001
"#;

/// A folder that is gone when the test is.
struct RunsFolder(TestFolder);

impl RunsFolder {
    fn new(name: &str) -> Self {
        RunsFolder(TestFolder::new(name))
    }

    fn run(&self) -> RunFolder {
        run_in_virtual_time("two", &format!("{HEAD}{ROW}{WORKLOADS}"), &self.0)
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_report_holds_what_was_asked_for_and_every_figure_leaves_its_numbers() {
    let place = RunsFolder::new("whole");
    let folder = place.run();
    let page = read(&write_report(&folder).unwrap());
    for words in [
        "Two rates &amp; a report",
        "A few files over <code>three</code> nodes.",
        "One node. After the paper&#39;s figure 7. The paper shows: files from start to stop.",
        "Otherwise than expected: “A file takes no time at all”",
        "it takes some",
        "Six graphs of every node",
        "± 90 %",
        "Is it valid?",
        "cairn lab run experiment.toml --on sim --repeats 6",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let competing = "A competing process took 50\u{a0}% of the processor";
    assert_eq!(page.matches(competing).count(), 2, "a load of nothing is not told of");
    let paper = fs::read(folder.path().join("report.pdf")).unwrap();
    assert!(paper.starts_with(b"%PDF-") && paper.len() > 20_000);
    let figures = folder.path().join("figures");
    for number in 1..=6 {
        let file = |ending: &str| figures.join(format!("figure-{number:02}.{ending}"));
        let drawn = read(&file("svg"));
        assert!(drawn.contains("<text") && !drawn.contains("NaN"), "figure {number}");
        assert!(read(&file("csv")).lines().count() > 3, "figure {number}");
        assert!(fs::read(file("parquet")).unwrap().ends_with(b"PAR1"), "figure {number}");
    }
    // Two variants below each other with two quantities beside each other: each chart names its variant.
    let bars = read(&figures.join("figure-03.svg"));
    for (words, charts) in [(">plain<", 2), (">loaded<", 2), (">Processor (%)<", 2)] {
        assert_eq!(bars.matches(words).count(), charts, "{words}");
    }
    assert_eq!(bars.matches(">rate 5 Mbit/s<").count(), 4, "once in the key of each chart");
    // Two variants, two quantities, two rates, three nodes.
    let rows = read(&figures.join("figure-03.csv"));
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 2 * 3);
    // Over the rate, in the unit of the sweep, a line for each node, and a chart for each of two variants.
    let over = read(&figures.join("figure-05.svg"));
    assert!(
        over.contains(">rate (Mbit/s)<") && over.contains(">loaded: Goodput towards the consumer, sum ("),
        "{over}"
    );
    assert_eq!(over.matches("<polyline").count(), 2 * 3);
    assert_eq!(read(&figures.join("figure-05.csv")).lines().count(), 1 + 2 * 2 * 3);
    // Busy from 0 s and from 2 s of four, in two cases; and nothing of the cases whose load takes nothing.
    let competing = read(&figures.join("figure-06.csv"));
    assert_eq!(competing.matches("busy from").count(), 2 * 2, "{competing}");
    assert_eq!(
        read(&figures.join("figure-06.svg")).matches("b: 50 % taken from 2.000 s to 3.000 s").count(),
        2
    );
    let every = fs::read_dir(&figures).unwrap().flatten().map(|entry| entry.path());
    let drawings = every.filter(|path| path.extension().is_some_and(|ending| ending == "svg")).count();
    assert!(drawings > 4 * (3 * 6 + 6 + 1), "{drawings} drawings");
    assert!(read(&folder.path().join("results.csv")).lines().count() > 4 * 2 * 20);
}

/// Names as long as they may be, at many nodes, with numbers of many digits.
const LONG: &str = r#"
title = "Names as long as they may be"
duration = "4 s"

[node]
a-designated-router-here = { cpu = "12.5 %" }
another-router-of-many-1 = {}
another-router-of-many-2 = {}
a-producer-of-everything = {}
n5 = {}
n6 = {}
n7 = {}
n8 = {}

[defaults.link]
rate = "12.345678 Mbit/s"
delay = "1.5 ms"
loss = "0.125 %"
kind = "tcp"

[link]
first = { between = ["a-designated-router-here", "another-router-of-many-1"] }
second = { between = ["another-router-of-many-1", "another-router-of-many-2"] }
third = { between = ["another-router-of-many-2", "a-producer-of-everything"] }
n5-n6 = {}
n6-n7 = {}
n7-n8 = {}
sixth = { between = ["n8", "a-designated-router-here"] }
seventh = { between = ["n5", "a-producer-of-everything"] }

[[route]]
prefix = "/files"
path = ["a-designated-router-here", "another-router-of-many-1", "another-router-of-many-2", "a-producer-of-everything"]

[content.a-file-like-any-other-one]
prefix = "/files"
at = "a-producer-of-everything"
count = 30
size = "40 kB"

[download.a-download-of-everything]
at = "a-designated-router-here"
content = "a-file-like-any-other-one"
rate = "20/s"

[load.a-process-that-competes]
at = "a-designated-router-here"
cpu = "33.3 %"
busy = "300 ms"
idle = "700 ms"

[load.another-that-competes]
at = "another-router-of-many-1"
busy = "300 ms"
idle = "700 ms"
start = "400 ms"

[gates]
unfinished = "100 %"

[[case]]
name = "a single point of weakness at the second router of the path, with equal routers before and behind it"

[[case]]
name = "another"

[[sweep]]
key = "link.first.rate"
values = ["1.25 Mbit/s", "2.5 Mbit/s", "5 Mbit/s", "10 Mbit/s"]
label = "the rate of the first link of the path"

[[figure]]
title = "A title that says at length what is to be seen in a figure of the form over-time, and what the paper has to say of it"
form = "over-time"
show = ["transfers", "loads", "pending", "load", "goodput"]

[[figure]]
title = "Who competes"
form = "over-time"
show = ["loads"]

[[figure]]
title = "Every node"
form = "every-node"
show = ["pending", "goodput", "throughput", "table_bytes"]

[[figure]]
title = "Bars"
form = "per-node"
show = ["busy", "table_bytes", "goodput"]

[[figure]]
title = "Cases"
form = "per-case"
show = ["goodput", "pending"]

[[figure]]
title = "Over the rate"
form = "over-parameter"
show = ["goodput", "pending"]

[[figure]]
title = "Over the rate at one node"
form = "over-parameter"
at = "a-designated-router-here"
show = ["load"]
"#;

#[test]
fn every_figure_has_a_number_of_its_own_and_a_caption() {
    let place = RunsFolder::new("numbers");
    let page = read(&write_report(&place.run()).unwrap());
    let captions: Vec<&str> = page
        .split("<figcaption>")
        .skip(1)
        .map(|rest| rest.split_once("</figcaption>").map_or(rest, |(caption, _)| caption))
        .collect();
    assert_eq!(captions.len(), page.matches("<figure>").count());
    let mut numbers: Vec<usize> = captions
        .iter()
        .map(|caption| {
            let (number, words) = caption.strip_prefix("Figure ").unwrap().split_once(". ").unwrap();
            assert!(words.len() > 8 && words.ends_with('.'), "{caption}");
            number.parse().unwrap()
        })
        .collect();
    // What was asked for comes first, and has the numbers of its files.
    assert_eq!(numbers.get(..6), Some([1, 2, 3, 4, 5, 6].as_slice()));
    assert!(captions[2].starts_with("Figure 3. Bars."), "{}", captions[2]);
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=captions.len()).collect::<Vec<_>>());
}

#[test]
fn no_words_of_a_report_lie_on_others_or_leave_their_figure() {
    let place = RunsFolder::new("layout");
    let shipped = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../experiments/{name}.toml"));
        (name.to_owned(), read(&path))
    };
    let texts = [("long".to_owned(), LONG.to_owned()), ("two".to_owned(), format!("{HEAD}{ROW}{WORKLOADS}"))];
    for (name, text) in texts.into_iter().chain([shipped("quickstart")]) {
        let folder = run_in_virtual_time(&name, &text, &place.0);
        let drawings = cairn_lab::report::drawings(&folder).unwrap();
        assert!(drawings.len() > 10, "{name}");
        let wrong = drawings.iter().flat_map(|(figure, drawing)| {
            drawing.misplaced().into_iter().map(move |words| format!("{figure}: {words}"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert_eq!(wrong, [""; 0], "{name}");
    }
}

#[test]
fn verdicts_are_written_in_the_unit_of_their_measure() {
    let place = RunsFolder::new("verdicts");
    let run = RunData::read(&place.run()).unwrap();
    let verdicts = verdicts(&run);
    assert_eq!(verdicts.len(), 2 * 4, "both expectations in each case");
    let slow = verdicts.iter().find(|verdict| verdict.measure == "files.duration").unwrap();
    assert_eq!((slow.outcome, slow.unit), (Outcome::Contradicted, "s"));
    assert!(slow.found().0.ends_with("\u{a0}s") && slow.found().1.is_some(), "{:?}", slow.found());
}

#[test]
fn the_page_of_results_says_where_conclusions_hold_and_shows_the_figures_over_their_parameter() {
    let place = RunsFolder::new("ranges");
    let runs = [RunData::read(&place.run()).unwrap()];
    let folder = place.0.join("pictures");
    write_results_pictures(&runs, &folder).unwrap();
    let page = results_markdown(&runs, Some("pictures"));
    let lines = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "## Where conclusions hold",
        "**two**, over rate: [figure 5](pictures/two-figure-05.svg).",
        "- A file takes no time at all: *contradicted* with plain at 5 Mbit/s, 10 Mbit/s, and with loaded at 5 Mbit/s, \
         10 Mbit/s.",
        "![Where it holds](pictures/two-figure-05.svg)",
        "- A file takes no time at all. - The paper: it takes some. - **contradicted** (plain, rate 5 Mbit/s). Measured:",
    ] {
        assert!(lines.contains(words), "{words} in {page}");
    }
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["two-figure-05.svg"], "those over a parameter alone");
    assert!(read(&folder.join("two-figure-05.svg")).starts_with("<svg"));
    let without = results_markdown(&runs, None);
    assert!(without.contains("**two**, over rate: figure 5.") && !without.contains("svg"), "{without}");
}

#[test]
fn two_runs_with_one_seed_do_not_differ() {
    let place = RunsFolder::new("comparison");
    let read = |folder: &RunFolder| RunData::read(folder).unwrap();
    let comparison = Comparison::of(read(&place.run()), read(&place.run()));
    assert!(comparison.pairs.len() > 4 * 20, "{} measures", comparison.pairs.len());
    for pair in &comparison.pairs {
        assert_eq!(pair.a, pair.b, "{} in {}", pair.measure, pair.case);
        // What tables take is another number with another seed.
        let is_exact = pair.exact == [true; 2];
        assert!(pair.differs() == Some(false) || !is_exact && pair.differs().is_none(), "{}", pair.measure);
    }
    let exact = comparison.pairs.iter().filter(|pair| pair.exact == [true; 2]).count();
    assert!(exact > 4 * 10, "{exact} exact measures");
    let summary = comparison.summary();
    assert_eq!(summary.len(), 2, "the same plan, and valid: {summary:?}");
    assert!(summary[1].ends_with("of these it is said of most orders."), "{}", summary[1]);
    assert!(summary[0].contains(" 0 differ beyond"), "{}", summary[0]);
    let page = self::read(&comparison.write(&place.0.join("side-by-side")).unwrap());
    assert!(page.contains("two runs side by side") && page.contains("Every node over time"));
}

#[test]
fn a_comparison_says_first_that_plans_differ_and_that_a_side_is_not_valid() {
    let place = RunsFolder::new("sides");
    let run = |head: &str| {
        let text =
            format!("title = 'Row'\nuntil_done = true\n{head}\n[defaults.link]\nrate = '5 Mbit/s'\n{ROW}");
        RunData::read(&run_in_virtual_time("row", &text, &place.0)).unwrap()
    };
    // Three files over 5 Mbit/s do not arrive in so short a time.
    let summary = Comparison::of(run("duration = '20 s'"), run("duration = '1.2 s'")).summary();
    assert!(summary[0].starts_with("Not the same plan: Row: "), "{summary:?}");
    assert!(summary[0].contains("schedule.duration: 20 s / 1.2 s"), "{summary:?}");
    assert!(summary.iter().all(|line| line.ends_with('.')), "{summary:?}");
    assert!(summary[1].starts_with("Not valid in B: Row: 1 of 1 repeats: transfers"), "{summary:?}");
}
