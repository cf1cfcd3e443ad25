//! What `docs/first-simulation.md` shows is what comes out. Its Rust is compiled and run with the
//! documentation of the crate `sim`.

use std::path::Path;

use clap::Parser;

use super::*;

const PAGE: &str = include_str!("../../../../../../docs/first-simulation.md");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    run: Run,
}

/// The blocks of one language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// What a line that begins with `cairn sim run` runs.
fn command(line: &str) -> Run {
    let mut run = Command::parse_from(line.split_whitespace().skip(2)).run;
    run.file = Path::new(REPOSITORY).join(run.file);
    run
}

/// What it prints.
fn printed(run: &Run) -> Result<String, Failure> {
    let text = std::fs::read_to_string(&run.file)?;
    let (scenario, groups) = run.groups(&text, run.parse(&text)?)?;
    let mut out = Vec::new();
    run.print(&mut out, &scenario, &groups)?;
    Ok(String::from_utf8(out)?.trim_end().to_owned())
}

#[test]
fn every_command_of_the_page_prints_what_stands_below_it() -> Result<(), Failure> {
    let texts = blocks("text");
    let shown: Vec<_> = texts
        .windows(2)
        .filter(|pair| pair[0].starts_with("cairn sim run") && !pair[0].contains("--out"))
        .collect();
    for pair in &shown {
        assert_eq!(printed(&command(pair[0]))?, pair[1], "{}", pair[0]);
    }
    assert_eq!(shown.len(), 3);
    Ok(())
}

#[test]
fn the_folder_that_the_page_lists_has_these_files() -> Result<(), Failure> {
    let texts = blocks("text");
    let pair = texts.windows(2).find(|pair| pair[0].contains("--out")).ok_or("no such command")?;
    let [line, list] = pair[0].lines().collect::<Vec<_>>()[..] else { return Err("two lines".into()) };
    let folder = std::env::temp_dir().join(format!("cairn-page-{}", std::process::id()));
    let mut run = command(line);
    let out = run.out.replace(folder.clone()).ok_or("--out")?;
    printed(&run)?;
    let listed = list.strip_prefix("ls ").and_then(|path| Path::new(path).strip_prefix(&out).ok());
    let mut names: Vec<String> = std::fs::read_dir(folder.join(listed.ok_or("another folder")?))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_, Failure>>()?;
    std::fs::remove_dir_all(&folder)?;
    names.sort();
    assert_eq!(names, pair[1].split_whitespace().collect::<Vec<_>>());
    Ok(())
}

#[test]
fn the_scenario_of_the_page_is_the_file_that_it_names() -> Result<(), Failure> {
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
