//! Scenario files: what they mean, what is wrong with them, and that their results do not depend on the
//! machine's cores.

use std::path::Path;

use super::super::output::json;
use super::super::scenario::Scenario;
use super::*;

const SCENARIO: &str = r#"
duration = "2 s"
repeats = 3
[topology]
kind = "dumbbell"
pairs = 2
[link]
rate = "10 Mbps"
delay = "5 ms"
loss = 0.01
[[producer]]
nodes = "right-0"
prefix = "/data"
[[consumer]]
kind = "window"
nodes = ["left-0", "left-1"]
prefix = "/data"
window = 10
lifetime = "200 ms"
[sweep]
"consumer.0.window" = [5, 20]
"link.loss" = [0.0, 0.05]
"#;

fn run(workers: usize) -> Run {
    Run {
        file: Path::new("scenario.toml").to_owned(),
        seed: None,
        repeats: None,
        out: None,
        format: Format::Csv,
        workers: NonZeroUsize::new(workers),
        json: false,
    }
}

fn results(text: &str, workers: usize) -> Result<Vec<Group>, Failure> {
    let run = run(workers);
    let table = run.parse(text)?;
    run.groups(text, table).map(|(_, groups)| groups)
}

#[test]
fn results_are_the_same_with_any_number_of_workers() -> Result<(), Failure> {
    let one = json(&results(SCENARIO, 1)?);
    assert_eq!(one, json(&results(SCENARIO, 2)?));
    assert_eq!(one, json(&results(SCENARIO, 7)?));
    let points = one.as_array().map_or(0, Vec::len);
    assert_eq!(points, 4);
    Ok(())
}

#[test]
fn sweeps_change_what_they_say_and_repeats_change_the_seed() -> Result<(), Failure> {
    let groups = results(SCENARIO, 2)?;
    let received = |group: &Group| group.outcomes.iter().map(|outcome| outcome.metrics[0].1).sum::<f64>();
    // Keys in order of their names: the window runs slower than the loss.
    assert!(received(&groups[2]) > 2.0 * received(&groups[0]), "a window four times as large fetches more");
    assert!(received(&groups[1]) < received(&groups[0]), "loss costs");
    let seeds: Vec<u64> = groups[1].outcomes.iter().map(|outcome| outcome.seed).collect();
    assert_eq!(seeds, [1, 2, 3]);
    assert_ne!(groups[1].outcomes[0].hash, groups[1].outcomes[1].hash);
    Ok(())
}

#[test]
fn mistakes_are_told_with_the_line_or_the_key() {
    let error = |change: (&str, &str)| {
        let text = SCENARIO.replace(change.0, change.1);
        results(&text, 1).map(drop).map_err(|error| error.to_string()).err().unwrap_or_default()
    };
    assert!(error(("duration = \"2 s\"", "duration = 2")).contains("line 2"));
    assert!(error(("pairs = 2", "pears = 2")).contains("line 6"));
    assert!(error(("pairs = 2", "")).contains("topology.pairs is missing"));
    assert!(error(("\"10 Mbps\"", "\"fast\"")).contains("\"fast\" is not a rate"));
    assert!(error(("\"right-0\"", "\"right-7\"")).contains("producer.0: there is no node \"right-7\""));
    assert_eq!(error(("window = 10", "")), "", "the sweep gives the window");
    assert!(error(("kind = \"window\"", "kind = \"zipf\"")).contains("objects is missing"));
    assert!(error(("\"consumer.0.window\"", "\"consumer.5.window\"")).contains("no entry of that number"));
}

#[test]
fn every_network_among_the_experiments_of_the_repository_can_be_built() -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut count = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path)?;
        let table: Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        if table.get("kind").and_then(toml::Value::as_str) == Some("network") {
            let scenario: Scenario =
                toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            build::build(&scenario, path.parent().unwrap_or(Path::new("")), 1)?;
            count += 1;
        }
    }
    assert!(count >= 6);
    Ok(())
}
