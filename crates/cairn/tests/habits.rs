//! What people and scripts rely on whatever the command: closed pipes, full disks, exit codes, what is left
//! behind and what is not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::fs::File;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use world::{World, bytes};

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Commands that print more than a pipe's reader who has gone away wants.
const TALKATIVE: &[&[&str]] = &[
    &["status", "--all"],
    &["status", "--json"],
    &["route", "list"],
    &["face", "list"],
    &["node", "config", "--sample"],
    &["completions", "bash"],
    &["peek", "-P", "-f", "/localhost/nfd/status/general"],
    &["bench", "forward", "--only", "start", "--no-ndnd"],
    &["bench", "forward", "--only", "start", "--no-ndnd", "--json"],
    &["sim", "run", "line.toml"],
    &["sim", "run", "line.toml", "--json"],
];

/// A network in virtual time, for a moment.
const LINE: &str = r#"
title = "Two nodes"
duration = "100 ms"
routes = "shortest"
topology = { kind = "chain", nodes = 2 }
[producer.movie]
at = "node-1"
prefix = "/movie"
[consumer.viewer]
kind = "rate"
at = "node-0"
prefix = "/movie"
rate = "100/s"
"#;

#[test]
fn that_nobody_reads_on_is_no_error_of_ours() {
    let world = World::new();
    world.write("line.toml", LINE.as_bytes());
    for arguments in TALKATIVE {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = world.command(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!((output.status.code(), errors(&output)), (Some(0), String::new()), "{arguments:?}");
    }
}

#[test]
fn a_batch_is_carried_out_to_its_end_though_nobody_reads_on() {
    let world = World::new();
    world.write("batch", b"status\ncs info\nstrategy set /a multicast\nstrategy set /b multicast\n");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = world.command(&["batch", "batch"]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), errors(&output)), (Some(0), String::new()));
    assert!(world.good(&["strategy", "list"]).contains("/b "));
}

#[test]
fn a_bad_address_of_the_forwarder_is_told_with_where_it_stands() {
    let world = World::new();
    let mut status = world.command(&["status"]);
    let output = status.env("NDN_CLIENT_TRANSPORT", "nowhere").output().unwrap();
    assert!(errors(&output).contains("NDN_CLIENT_TRANSPORT: \"nowhere\""), "{}", errors(&output));
    world.write(".ndn/client.conf", b"transport=nowhere\n");
    let mut status = world.command(&["status"]);
    let output = status.env_remove("NDN_CLIENT_TRANSPORT").env("HOME", &*world.folder).output().unwrap();
    assert!(errors(&output).contains(".ndn/client.conf: \"nowhere\""), "{}", errors(&output));
}

#[test]
fn a_file_runs_by_either_command_and_real_forwarders_refuse_what_they_lack() {
    let world = World::new();
    world.write("line.toml", LINE.as_bytes());
    let hash =
        |printed: String| printed.lines().find(|line| line.starts_with("trace hash")).map(str::to_owned);
    let by_sim = hash(world.good(&["sim", "run", "line.toml"]));
    assert!(by_sim.is_some());
    assert_eq!(by_sim, hash(world.good(&["lab", "run", "line.toml", "--on", "sim"])));
    let output = world.run(&["lab", "run", "line.toml", "--on", "netns"]);
    assert_eq!(output.status.code(), Some(1));
    let errors_of = errors(&output);
    assert!(errors_of.contains("line.toml:6: producer: only in virtual time: "), "{errors_of}");
    assert!(errors_of.contains("line.toml:9: consumer: only in virtual time: "), "{errors_of}");
    let written = world.good(&["lab", "new", "lab.toml", "--json"]);
    assert!(written.contains("\"file\": \"lab.toml\""), "{written}");
    world.good(&["sim", "run", "lab.toml"]);
    let (watched, reference) =
        (world.good(&["lab", "watch", "--json"]), world.good(&["lab", "reference", "--json"]));
    assert!(watched.contains("\"complete\":true"), "{watched}");
    assert!(reference.contains("\"tables\""), "{reference}");
    world.write("never.toml", LINE.replace("100 ms", "0 s").as_bytes());
    let output = world.run(&["sim", "run", "never.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("an experiment must last"), "{}", errors(&output));
}

#[test]
fn a_study_is_checked_run_listed_and_shown_like_any_experiment_and_not_on_real_forwarders() {
    let world = World::new();
    let study = include_str!("../../../experiments/clock-linear.toml");
    let short = study.replace("other_starts = 24", "other_starts = 0").replace("\"10 s\"", "\"1 s\"");
    world.write("clocks.toml", short.as_bytes());
    assert!(world.good(&["lab", "check", "clocks.toml"]).contains("sound: a study; only in virtual time"));
    let hash = |printed: &str| printed.lines().find(|line| line.starts_with("Hash over")).map(str::to_owned);
    // In so short a time the rate does not reach what the paper says: that is contradicted, as in any run.
    let contradicted = |arguments: &[&str]| {
        let output = world.run(arguments);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {}", errors(&output));
        let told = errors(&output);
        (String::from_utf8_lossy(&output.stdout).into_owned(), told)
    };
    let (by_sim, told) = contradicted(&["sim", "run", "clocks.toml", "--out", "one"]);
    assert!(hash(&by_sim).is_some() && by_sim.contains("contradicted"), "{by_sim}");
    assert!(told.contains("(100 %)"), "progress is told without a terminal, too: {told}");
    assert_eq!(hash(&by_sim), hash(&contradicted(&["lab", "run", "clocks.toml", "--on", "sim"]).0));
    assert_eq!(hash(&by_sim), hash(&contradicted(&["lab", "show", "one"]).0));
    let (json, _) = contradicted(&["lab", "show", "one", "--json"]);
    assert!(json.contains("\"exit_code\": 3") && json.contains("\"conclusion\": \"contradicted\""), "{json}");
    for arguments in [&["lab", "results", "one"][..], &["lab", "compare", "one", "one"]] {
        let refused = world.run(arguments);
        assert_eq!(refused.status.code(), Some(1));
        assert!(errors(&refused).contains("is of a study"), "{}", errors(&refused));
    }
    assert!(world.good(&["lab", "list"]).contains("Clock study, linear network"));
    let refused = world.run(&["lab", "run", "clocks.toml", "--on", "netns"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors(&refused).contains("study: only in virtual time"), "{}", errors(&refused));
    let refused = world.run(&["sim", "run", "clocks.toml", "--only", "x"]);
    assert!(errors(&refused).contains("has no cases"), "{}", errors(&refused));
}

#[test]
fn every_file_of_the_folder_of_experiments_is_of_the_one_language() {
    let world = World::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let mut files = Vec::new();
    for folder in [root.to_owned(), format!("{root}/validation"), format!("{root}/validation/causes")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                files.push(path.to_string_lossy().into_owned());
            }
        }
    }
    let arguments: Vec<&str> = ["lab", "check"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let said = world.good(&arguments);
    assert_eq!(said.lines().filter(|line| line.contains(": sound: ")).count(), files.len(), "{said}");
}

#[test]
fn a_full_disk_is_told_in_words_and_a_full_log_ends_nothing() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let world = World::new();
    world.write("line.toml", LINE.as_bytes());
    for arguments in TALKATIVE {
        let output = world.command(arguments).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let errors = errors(&output);
        assert!(errors.contains("No space left") && !errors.contains("panicked"), "{arguments:?}: {errors}");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let mute = world.command(arguments).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(mute.code(), Some(1), "{arguments:?}");
    }
    let mut put = world.command(&["put", "/lab/x", "--idle", "10ms"]);
    assert_eq!(put.stderr(full()).status().unwrap().code(), Some(0));
}

#[test]
fn a_fetch_ends_before_the_disk_is_full_or_where_it_is_told_to() {
    let mut world = World::new();
    world.write("file", &bytes(30_000_000));
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    let limited = world.run(&["get", "/lab/file", "-q", "--max-size", "100k"]);
    assert_eq!((limited.status.code(), limited.stdout.len() <= 100_000), (Some(1), true));
    assert!(errors(&limited).contains("--max-size allows (100 kB)"), "{}", errors(&limited));
    assert!(world.run(&["get", "/lab/file", "-q", "--max-size", "30M"]).status.success());
    if !rustix::process::geteuid().is_root() {
        // Only root can make a small disk.
        return;
    }
    // Into a file, into another that the shell opened, and what is left free then, in kB.
    let script = "mount -t tmpfs -o size=10m cairn-small \"$PWD\" && cd \"$PWD\" && \
        \"$0\" get /lab/file -q -o out; echo $?; df --output=avail -k . | tail -n 1; rm out.*; \
        \"$0\" get /lab/file -q > out; echo $?; df --output=avail -k . | tail -n 1";
    let disk = world.write("disk/nothing", b"").parent().unwrap().to_owned();
    let like = world.command(&[]);
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", script]).arg(like.get_program()).current_dir(disk);
    shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<u64> = told.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [1, first_free, 1, second_free] = numbers[..] else { panic!("{told} {}", errors(&output)) };
    assert!(first_free > 256 && second_free > 256, "{told}");
    let problem = errors(&output);
    assert!(problem.matches("stopped before it is full").count() == 2, "{problem}");
    assert!(problem.contains("go on with --resume"), "{problem}");
}

#[test]
fn what_is_no_file_is_written_into_and_not_replaced() {
    let mut world = World::new();
    let file = bytes(50_000);
    world.write("file", &file);
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    let pipe = world.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reading = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    world.good(&["get", "-q", "/lab/file", "-o", "pipe"]);
    assert!(reading.join().unwrap() == file);
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
}

#[test]
fn a_fetch_that_brought_nothing_leaves_nothing_behind() {
    let world = World::new();
    assert_eq!(world.run(&["get", "/lab/nothing", "-o", "out"]).status.code(), Some(1));
    assert!(!world.path("out").exists() && !world.path("out.part").exists());
}

#[test]
fn a_fetch_that_is_broken_off_twice_goes_on_by_the_segments_it_began_with() {
    let mut world = World::new();
    let file = bytes(3 * 8000 + 700);
    world.write("file", &file);
    world.start(&["put", "/lab/file/v=9", "-f", "file"], "published");
    world.write("out.part", &file[..3 * 8000]);
    world.write("out.part.name", b"/lab/file/v=9 8000\n");
    // The last segment, which is short, does not fit the second time.
    let get = world.command(&["get", "-q", "/lab/file", "-o", "out", "--resume"]);
    let mut limited = Command::new("prlimit");
    limited.arg("--fsize=24100").arg(get.get_program()).args(get.get_args()).current_dir(&world.folder);
    limited.envs(get.get_envs().filter_map(|(key, value)| Some((key, value?))));
    assert!(!limited.stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(world.read("out.part").len(), 24_100);
    world.good(&["get", "-q", "/lab/file", "-o", "out", "--resume"]);
    assert!(world.read("out") == file);
}

#[test]
fn a_listing_reads_back_as_names_whatever_the_files_are_called() {
    let mut world = World::new();
    for odd in ["with space", "seg=1", "...", "new\nline", "\u{1b}[2J", "100%", "ü"] {
        world.write(&format!("folder/{odd}"), odd.as_bytes());
    }
    world.start(&["serve", "folder", "/lab/files"], "serving");
    let listing = world.good(&["get", "-q", "--list", "/lab/files"]);
    assert_eq!(listing.lines().count(), 7, "{listing}");
    let mut contents: Vec<String> =
        listing.lines().map(|name| world.good(&["get", "-q", &format!("/lab/files/{name}")])).collect();
    contents.sort();
    assert_eq!(contents, ["\u{1b}[2J", "...", "100%", "new\nline", "seg=1", "with space", "ü"]);
}

#[test]
fn a_secret_is_for_its_owner_also_where_a_file_was_before() {
    let world = World::new();
    world.good(&["key", "new", "/lab"]);
    for (name, format) in [("a", "safebag"), ("b", "ndnd"), ("c", "pkcs8")] {
        let path = world.write(name, b"old");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        world.good(&["key", "export", "/lab", "-f", format, "-o", name]);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{format}");
    }
    let mut unprotected = world.command(&["key", "export", "/lab", "-o", "d"]);
    let output = unprotected.env("CAIRN_PASSPHRASE", "").output().unwrap();
    assert!(errors(&output).contains("empty passphrase") && !world.path("d").exists());
}

#[test]
fn wrong_usage_is_told_from_failure() {
    let world = World::new();
    for arguments in [
        &["ping", "/lab", "-i", "0"][..],
        &["status", "--watch", "50ms"],
        &["traffic", "consume", "/lab/{seq}"],
        &["get", "lab"],
        &["node", "config"],
        &["traffic", "consume", "/lab/{seq}", "--window", "0"],
        &["traffic", "produce", "/lab", "--nack", "2"],
        &["sim", "run", "line.toml", "--repeats", "0"],
        &["sim", "run", "line.toml", "--workers", "0"],
        &["sim", "swarm", "--seeds", "0"],
        &["lab", "run", "lab.toml", "--repeats", "0"],
    ] {
        assert_eq!(world.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    // Whoever reads JSON is told as of every other error.
    for arguments in [&["lab", "check", "--json"][..], &["lab", "results", "x", "--json", "--markdown"]] {
        let output = world.run(arguments);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let why = told["error"].as_str().unwrap();
        assert!(told["exit_code"] == 2 && why.starts_with("the ") && why.contains("Usage"), "{told}");
        assert!(output.status.code() == Some(2) && errors(&output).contains("error: the "));
    }
    let output = world.run(&["lab", "shell", "--", "x", "--json"]);
    assert!(output.stdout.is_empty(), "that is for the other command");
}

#[test]
fn a_configuration_is_checked_to_its_last_word() {
    let world = World::new();
    world.good(&["node", "config", "node.toml"]);
    for (text, expected) in [
        ("[content_store]\neviction = \"fifo\"\n", "there is no policy fifo"),
        ("[[face]]\nremote = \"udp4://example.net\"\n", "not canonical"),
        ("[[face]]\nremote = \"udp4://127.0.0.1:9\"\nroutes = [\"a\"]\n", "starts with /"),
        ("[[strategy]]\nprefix = \"/a\"\nstrategy = \"none\"\n", "no strategy none"),
        ("[[authorize]]\ncertificate = \"missing.cert\"\n", "missing.cert: No such file"),
        ("[log]\nfilter = \"x=loud\"\n", "log filter x=loud"),
        ("[udp]\nlisten = 5\n", "line 2"),
        ("[udp]\nlisten = [\"127.0.0.1\"]\n", "line 2: not a numeric address with a port"),
        ("[tcp]\nlisten = [\"127.0.0.1:70000\"]\n", "line 2: not a numeric address with a port up to 65535"),
    ] {
        world.write("bad.toml", text.as_bytes());
        for arguments in [&["node", "config", "bad.toml"][..], &["node", "run", "-c", "bad.toml"]] {
            let output = world.run(arguments);
            let errors = errors(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {text}: {errors}");
            assert!(errors.contains(expected), "{arguments:?} {text}: {errors}");
            assert!(errors.contains("bad.toml") || errors.contains("log filter"), "{arguments:?}: {errors}");
        }
    }
}

#[test]
fn captures_are_found_where_the_forwarder_is_and_end_in_good_order() {
    let world = World::new();
    let refused = world.run(&["capture", "--face", "9999", "-w", "none.pcapng"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors(&refused).contains("there is no face 9999"), "{}", errors(&refused));
    let mut capture = world.command(&["capture", "-w", "all.pcapng"]);
    let mut capture = capture.stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !std::fs::metadata(world.path("all.pcapng")).is_ok_and(|file| file.len() > 500) {
        assert!(Instant::now() < deadline, "nothing was captured");
        world.good(&["status"]);
    }
    assert!(Command::new("kill").args(["-INT", &capture.id().to_string()]).status().unwrap().success());
    assert_eq!(capture.wait().unwrap().code(), Some(0));
    let told = String::from_utf8(world::all(capture.stderr.take().unwrap())).unwrap();
    assert!(told.contains("bytes captured"), "{told}");
}
