//! The programs in `examples/` do what they say, on a node of their own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use world::World;

/// Cargo builds examples for the tests of their package, beside its binaries.
fn example(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_cairn")).with_file_name("examples").join(name);
    assert!(
        path.is_file(),
        "{name} is not built: `cargo build --examples`, or `cargo test` without `--test`"
    );
    path
}

fn command(world: &World, name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(example(name));
    command
        .args(arguments)
        .current_dir(&world.folder)
        .env("NDN_CLIENT_TRANSPORT", format!("unix://{}", world.socket().display()))
        .stdin(Stdio::null());
    command
}

/// What an example prints that ends well.
fn prints(mut command: Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {} {errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_consumer_gets_what_the_producer_answers() {
    let mut world = World::new();
    world.start_command(command(&world, "producer", &["/lab/hello"]), "answering under /lab/hello");
    let told = prints(command(&world, "consumer", &["/lab/hello"]));
    assert_eq!(told, "/lab/hello: hello, visitor 1\n");
}

#[test]
fn a_file_is_transferred_whole() {
    let mut world = World::new();
    world.write("file", &world::bytes(300_000));
    world.start_command(command(&world, "transfer", &["put", "/lab/file", "file"]), "is published");
    let told = prints(command(&world, "transfer", &["get", "/lab/file", "copy"]));
    assert!(told.starts_with("300000 bytes of /lab/file/v="), "{told}");
    assert_eq!(world.read("copy"), world::bytes(300_000));
}

#[test]
fn each_of_two_people_hears_what_the_other_says() {
    let mut world = World::new();
    let talk = |world: &mut World, me, peer: &str, line: &'static [u8], hears: &str| {
        let mut chat = command(world, "chat", &["/room", me, peer]);
        let (reader, mut writer) = std::io::pipe().unwrap();
        chat.stdin(reader);
        writer.write_all(line).unwrap();
        world.start_command(chat, hears);
    };
    talk(&mut world, "alice", "bob", b"hello, Bob\n", "alice is in /room");
    talk(&mut world, "bob", "alice", b"hello, Alice\n", "alice: hello, Bob");
    talk(&mut world, "carol", "bob", b"", "bob: hello, Alice");
}

#[test]
fn a_service_is_believed_by_its_certificate_and_another_is_not() {
    let mut world = World::new();
    world.start_command(command(&world, "service", &["run", "/lab/sum", "one"]), "summing under /lab/sum");
    let told = prints(command(&world, "service", &["ask", "/lab/sum", "one", "2", "3"]));
    assert_eq!(told, "5, says /lab/sum\n");
    world.start_command(command(&world, "service", &["run", "/lab/other", "two"]), "summing under");
    let forged = command(&world, "service", &["ask", "/lab/sum", "two", "4", "5"]).output().unwrap();
    assert!(!forged.status.success() && forged.stdout.is_empty(), "{forged:?}");
}

#[test]
fn rules_let_an_author_write_under_her_own_name_and_nowhere_else() {
    let world = World::new();
    let told = prints(command(&world, "rules", &[]));
    assert!(told.contains("/lab/blog/alice/one: Names, not places."), "{told}");
    assert!(told.contains("/lab/blog/bob/one is refused"), "{told}");
    assert!(told.contains("no rule lets /lab/people/alice sign"), "{told}");
}

#[test]
fn a_strategy_a_controller_a_policy_and_a_workload_of_ones_own_work_in_the_simulator() {
    let told = prints(Command::new(example("strategy")));
    let numbers: Vec<u64> = told
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect();
    let [received, left, right] = numbers[..] else { panic!("{told}") };
    assert!(received > 100 && left.abs_diff(right) <= 1, "{told}");
    let told = prints(Command::new(example("controller")));
    let rates: Vec<f64> =
        told.lines().filter_map(|line| line.split(": ").nth(1)?.split(' ').next()?.parse().ok()).collect();
    assert!(rates.len() == 2 && rates.iter().all(|rate| *rate > 8.0), "{told}");
    let told = prints(Command::new(example("eviction")));
    assert_eq!(told.lines().count(), 3, "{told}");
    assert!(told.starts_with("oldest: 0."), "{told}");
    let told = prints(Command::new(example("object_eviction")));
    assert_eq!(told.lines().count(), 3, "{told}");
    assert!(told.starts_with("largest: 0."), "{told}");
    // Page n is complete after n times 51 ms, of which ten are for ten packets, and n - 1 pauses of half a
    // second: the 19th after 9.97 s.
    let told = prints(Command::new(example("workload")));
    assert_eq!(told, "19 pages of 10 objects\n");
}

#[cfg(feature = "async")]
#[test]
fn tasks_share_a_connection() {
    let world = World::new();
    // Of each of ten objects the metadata or its first segment, and 100,000 bytes.
    let told = prints(command(&world, "tasks", &["/lab/tasks"]));
    let bytes: u64 = told.split(' ').next().unwrap().parse().unwrap();
    assert!((1_000_000..1_100_000).contains(&bytes) && told.ends_with("bytes in ten tasks\n"), "{told}");
}

#[test]
fn every_example_is_short_and_is_run_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let tests = include_str!("examples.rs");
    let table = include_str!("../../../docs/library.md");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let (lines, code) = (text.lines().count(), text.lines().filter(is_code).count());
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(lines < 60, "{name} has {lines} lines");
        assert!(tests.contains(&format!("\"{name}\"")), "{name} is not run");
        // One row has three of them, in this order; a repository's eviction policy is not compared.
        let parts = ["strategy", "eviction", "workload"];
        let is_listed = match parts.iter().position(|part| *part == name) {
            Some(place) => table
                .lines()
                .find_map(|line| {
                    line.strip_prefix("| a strategy, an eviction policy, a workload of your own |")
                })
                .and_then(|row| row.split(['|', ',']).nth(place))
                .is_some_and(|count| count.trim() == code.to_string()),
            None => name == "object_eviction" || table.contains(&format!(" {code} (`{name}`)")),
        };
        assert!(is_listed, "docs/library.md does not say that {name} has {code} lines of code");
        count += 1;
    }
    assert_eq!(count, 12);
}
