//! What the tools do while the node is gone, and when another has taken its place.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use world::{World, bytes};

const TIMEOUT: Duration = Duration::from_secs(120);

/// Runs a command again and again until it ends well; gives what it printed.
fn until_it_works(world: &World, arguments: &[&str]) -> String {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let output = world.run(arguments);
        if output.status.success() {
            return String::from_utf8_lossy(&output.stdout).into_owned();
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(Instant::now() < deadline, "cairn {arguments:?}: {} {errors}", output.status);
    }
}

#[test]
fn who_serves_over_datagrams_takes_back_its_registration_when_a_signal_ends_it() {
    let mut world = World::neighbourly();
    let config = [&world.read("node.toml")[..], b"[management]\nlocalhop = true\n"].concat();
    world.write("node.toml", &config);
    world.replace_node();
    world.write("folder/file", b"bytes");
    let forwarder = world.udp();
    for (arguments, ready) in [
        (&["put", "/lab/left", "-f", "folder/file"][..], "published"),
        (&["serve", "folder", "/lab/left"], "serving"),
        (&["pingserver", "/lab/left"], "PING SERVER"),
        (&["poke", "/lab/left", "--file", "folder/file"], "waiting"),
        (&["traffic", "produce", "/lab/left"], "answering"),
    ] {
        for signal in ["-TERM", "-INT"] {
            world.start(&[arguments, &["--connect", &forwarder]].concat(), ready);
            assert!(world.good(&["route", "list"]).contains("/lab/left"), "{arguments:?}");
            let code = if arguments[0] == "poke" { 3 } else { 0 };
            assert_eq!(world.end_last(signal), Some(code), "{arguments:?} {signal}");
            assert!(!world.good(&["route", "list"]).contains("/lab/left"), "{arguments:?} {signal}");
        }
    }
}

/// Kills of the node, one after another. Who serves waits twice as long after each that follows soon.
const KILLS: usize = 6;

/// The prefixes that applications have registered.
fn registered(world: &World) -> Vec<String> {
    let routes = world.json(&["route", "list"]);
    let prefixes = routes.as_array().unwrap().iter().map(|route| route["prefix"].as_str().unwrap());
    prefixes.filter(|prefix| !prefix.starts_with("/localhost")).map(str::to_owned).collect()
}

#[test]
fn producers_answer_again_each_time_that_the_node_was_killed_and_another_started() {
    let mut world = World::new();
    let file = bytes(50_000);
    world.write("file", &file);
    world.write("folder/inside", b"inside");
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    world.start(&["serve", "folder", "/lab/folder"], "serving");
    world.start(&["pingserver", "/lab/ping-server", "--quiet"], "PING SERVER");
    world.start(&["traffic", "produce", "/lab/load"], "answering");
    let mut chat = world.command(&["chat", "/room/lab", "--nick", "ann", "--stay"]);
    chat.stdin(Stdio::null());
    world.start_command(chat, "you are /ann in /room/lab");
    let before = registered(&world);
    assert_eq!(before.len(), 6, "four producers, and of chat a room and a member: {before:?}");
    for _ in 0..KILLS {
        world.replace_node();
        let deadline = Instant::now() + TIMEOUT;
        while registered(&world) != before {
            assert!(Instant::now() < deadline, "{:?} of {before:?}", registered(&world));
        }
        let got = until_it_works(&world, &["get", "/lab/file", "-q", "-o", "got"]);
        assert!(got.is_empty() && world.read("got") == file);
        assert_eq!(until_it_works(&world, &["get", "/lab/folder/inside", "-q"]), "inside");
        until_it_works(&world, &["ping", "/lab/ping-server", "-c", "1", "-o", "500ms", "-q"]);
        until_it_works(&world, &["peek", "/lab/load/1", "-w", "500ms", "--json"]);
    }
}

#[test]
fn an_outage_is_told_once_and_its_end_too() {
    let mut world = World::new();
    let mut server = world
        .command(&["pingserver", "/lab", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    out.read_line(&mut ready).unwrap();
    world.kill_node();
    let mut err = BufReader::new(server.stderr.take().unwrap());
    let mut begun = String::new();
    err.read_line(&mut begun).unwrap();
    assert!(begun.contains("waiting for it to come back"), "{begun}");
    // Long enough for several attempts; what matters is what is told, not when.
    assert_ne!(world.run(&["ping", "/lab", "-c", "1"]).status.code(), Some(0));
    world.replace_node_that_is_gone();
    let mut over = String::new();
    err.read_line(&mut over).unwrap();
    assert!(over.contains("again, after"), "{over}");
    world.good(&["ping", "/lab", "-c", "3", "-i", "1ms"]);
    rustix::process::kill_process(rustix::process::Pid::from_child(&server), rustix::process::Signal::INT)
        .unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_fetch_goes_on_after_the_node_was_killed_and_another_started() {
    let mut world = World::new();
    let file = bytes(3_000_000);
    world.write("file", &file);
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    let mut get = world
        .command(&["get", "/lab/file", "-q", "-p", "fixed/window~2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = get.stdout.take().unwrap();
    let mut got = vec![0; 400_000];
    out.read_exact(&mut got).unwrap();
    world.replace_node();
    out.read_to_end(&mut got).unwrap();
    let ended = get.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && got == file, "{} of {} bytes; {errors}", got.len(), file.len());
    assert!(errors.contains("waiting for it to come back") && errors.contains("again, after"), "{errors}");
}

#[test]
fn pings_that_wait_for_the_node_are_answered_by_the_next() {
    let mut world = World::new();
    world.start(&["pingserver", "/lab", "--quiet"], "PING SERVER");
    let mut ping = world
        .command(&["ping", "/lab", "-c", "200", "-i", "10ms", "-o", "60s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(ping.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("content from") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "no ping was answered");
    }
    world.replace_node();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    ping.wait().unwrap();
    let mut errors = String::new();
    ping.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    // Those that reach the node before the server has registered again may come back for want of a route;
    // none is given up.
    assert!(rest.contains("200 sent") && rest.contains(" 0 timeouts"), "{rest}");
    assert!(errors.contains("again, after"), "{errors}");
}

#[test]
fn people_in_a_room_hear_each_other_again_after_the_node_was_killed() {
    let mut world = World::new();
    let mut ann = world.command(&["chat", "/room/lab", "--nick", "ann", "--stay"]);
    let mut ann = ann.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(ann.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("you are /ann in /room/lab"), "{line}");
    world.replace_node();
    while !line.contains("again, after") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let said = world.run_with(&["chat", "/room/lab", "--nick", "bob"], b"hello\n");
    assert!(said.status.success(), "{said:?}");
    let mut heard = String::new();
    let mut out = BufReader::new(ann.stdout.take().unwrap());
    out.read_line(&mut heard).unwrap();
    assert_eq!(heard, "/bob: hello\n");
    ann.stdin.take().unwrap().write_all(b"bye\n").unwrap();
    ann.kill().unwrap();
    ann.wait().unwrap();
}
