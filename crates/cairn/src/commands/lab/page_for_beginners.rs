//! What `docs/first-simulation.md` shows is what comes out. Its Rust is compiled and run with the
//! documentation of the crate `sim`.

use std::path::Path;

use clap::Parser;
use lab::report::RunData;
use lab::run::{RunFolder, execute};
use testkit::folder::TestFolder;
use toml::Table;

use super::run::{Arguments, options};
use super::{counts, files};

const PAGE: &str = include_str!("../../../../../docs/first-simulation.md");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    run: Arguments,
}

/// The blocks of one language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// What a line that begins with `cairn sim run` runs, into `folder`.
fn run(line: &str, folder: &Path) -> Result<RunFolder, Failure> {
    let mut arguments = Command::parse_from(line.split_whitespace().skip(2)).run;
    arguments.file = Path::new(REPOSITORY).join(arguments.file);
    arguments.out = Some(folder.to_owned());
    let experiment = files::read(&arguments.file)?;
    Ok(execute(&experiment, &options(&arguments, lab::backend::VIRTUAL_TIME, None)?, |_| {})?)
}

#[test]
fn every_command_of_the_page_prints_what_stands_below_it() -> Result<(), Failure> {
    let texts = blocks("text");
    let shown: Vec<_> = texts
        .windows(2)
        .filter(|pair| pair[0].starts_with("cairn sim run") && !pair[0].contains("--out"))
        .collect();
    for (number, pair) in shown.iter().enumerate() {
        let folder = TestFolder::absent(&format!("page-print-{number}"));
        let done = RunData::read(&run(pair[0], &folder)?)?;
        let printed = String::from_utf8(counts::text(&done)?)?;
        // The last line names the report, which is of the day.
        let (expected, report) = pair[1].rsplit_once('\n').ok_or("one line")?;
        assert_eq!(printed.trim_end(), expected, "{}", pair[0]);
        assert!(report.starts_with("report: "), "{report}");
    }
    assert_eq!(shown.len(), 3);
    Ok(())
}

#[test]
fn the_folder_that_the_page_lists_has_these_files() -> Result<(), Failure> {
    let texts = blocks("text");
    let pair = texts.windows(2).find(|pair| pair[0].contains("--out")).ok_or("no such command")?;
    let [line, list] = pair[0].lines().collect::<Vec<_>>()[..] else { return Err("two lines".into()) };
    let out = Command::parse_from(line.split_whitespace().skip(2)).run.out.ok_or("--out")?;
    let folder = TestFolder::absent("page-list");
    run(line, &folder)?;
    let listed = list.strip_prefix("ls ").and_then(|path| Path::new(path).strip_prefix(&out).ok());
    let mut names: Vec<String> = std::fs::read_dir(folder.join(listed.ok_or("another folder")?))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_, Failure>>()?;
    names.sort();
    assert_eq!(names, pair[1].split_whitespace().collect::<Vec<_>>());
    Ok(())
}

#[test]
fn the_experiment_of_the_page_is_the_file_that_it_names() -> Result<(), Failure> {
    // All but what comes into play later, and comments.
    let read = |text: &str| -> Result<Table, Failure> {
        let mut table: Table = text.parse()?;
        table.remove("trace");
        table.remove("capture");
        Ok(table)
    };
    let experiment =
        |name: &str| std::fs::read_to_string(Path::new(REPOSITORY).join("experiments").join(name));
    let tomls = blocks("toml");
    let [first, change, sweep] = tomls[..] else { return Err("three blocks".into()) };
    let first = read(first)?;
    assert_eq!(first, read(&experiment("first-simulation.toml")?)?);
    let mut second = first;
    second.extend(read(change)?);
    second.insert("title".into(), "Two videos for two".into());
    assert_eq!(second, read(&experiment("two-videos.toml")?)?);
    second.extend(read(sweep)?);
    second.insert("title".into(), "Two videos, and how long the queue is".into());
    assert_eq!(second, read(&experiment("two-videos-queues.toml")?)?);
    Ok(())
}
