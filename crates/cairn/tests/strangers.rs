//! What strangers put before the tools: in folders, in files, in rooms, and in caches.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use client::{Client, Happening, Remote};
use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{Component, ComponentKind, Name};
use world::{World, bytes};

#[test]
fn planted_links_beside_the_output_lead_nowhere() {
    let mut world = World::new();
    let file = bytes(20_000);
    world.write("file", &file);
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    let victim = world.write("victim", b"precious");
    for planted in ["out.part", "out.part.name"] {
        symlink(&victim, world.path(planted)).unwrap();
    }
    world.good(&["get", "/lab/file", "-o", "out", "-q"]);
    assert!(world.read("out") == file && world.read("victim") == b"precious");

    // Nor is what somebody else left gone on with.
    symlink(&victim, world.path("again.part")).unwrap();
    world.write("again.part.name", b"/lab/file/v=1 8000\n");
    let resumed = world.run(&["get", "/lab/file", "-o", "again", "--resume", "-q"]);
    assert_eq!(resumed.status.code(), Some(4), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(world.read("victim") == b"precious");
}

#[test]
fn keys_certificates_and_captures_are_not_written_through_the_link_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        // Only root can make links that belong to others.
        return;
    }
    let world = World::new();
    let victim = world.write("victim", b"precious");
    world.good(&["key", "new", "/lab"]);
    for (planted, arguments) in [
        ("cert", &["cert", "export", "/lab", "-o", "cert"][..]),
        ("key", &["key", "export", "/lab", "-o", "key"]),
        ("frames", &["capture", "-w", "frames", "--seconds", "0.1"]),
        ("object", &["get", "/lab/none", "-o", "object", "-q"]),
    ] {
        symlink(&victim, world.path(planted)).unwrap();
        std::os::unix::fs::lchown(world.path(planted), Some(65_534), None).unwrap();
        let output = world.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("somebody else"), "{arguments:?}: {errors}");
        assert!(world.read("victim") == b"precious", "{arguments:?}");
    }
}

#[test]
fn a_file_that_never_ends_is_refused_wherever_one_is_read() {
    let world = World::new();
    for arguments in [
        &["node", "config", "/dev/zero"][..],
        &["lab", "check", "/dev/zero"],
        &["lab", "run", "/dev/zero"],
        &["sim", "run", "/dev/zero"],
        &["get", "/lab/x", "--rules", "/dev/zero"],
        &["get", "/lab/x", "--anchor", "/dev/zero"],
        &["key", "import", "/dev/zero"],
        &["cert", "import", "/dev/zero"],
    ] {
        let output = world.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("more than 16 MiB"), "{arguments:?}: {errors}");
    }
}

fn member(world: &World, nick: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = world.command(&["chat", "/room/lab", "--nick", nick, "--stay"]);
    let mut child =
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("you are "), "{line}");
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

#[test]
fn two_members_of_one_name_are_both_heard_and_told_apart() {
    let world = World::new();
    let (mut listener, mut heard) = member(&world, "ann");
    let (mut first, _out) = member(&world, "bob");
    first.stdin.as_mut().unwrap().write_all(b"from the first\n").unwrap();
    let mut line = String::new();
    heard.read_line(&mut line).unwrap();
    assert_eq!(line, "/bob: from the first\n");
    let (mut second, mut also_heard) = member(&world, "bob");
    second.stdin.as_mut().unwrap().write_all(b"from the second\n").unwrap();
    line.clear();
    heard.read_line(&mut line).unwrap();
    assert_eq!(line, "/bob (2): from the second\n");
    // The second hears the first, too.
    line.clear();
    also_heard.read_line(&mut line).unwrap();
    assert_eq!(line, "/bob (2): from the first\n");
    for child in [&mut listener, &mut first, &mut second] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn what_is_said_turns_no_text_and_hides_nothing() {
    let world = World::new();
    let (mut listener, mut heard) = member(&world, "ann");
    let said = "left \u{202e}thgir\u{2066} wi\u{200b}de \u{1b}]0;title\u{7} \u{9b}31m\n";
    assert!(
        world
            .run_with(&["chat", "/room/lab", "--nick", "\u{202e}bob\u{1b}[2J"], said.as_bytes())
            .status
            .success()
    );
    let mut line = String::new();
    heard.read_line(&mut line).unwrap();
    listener.kill().unwrap();
    listener.wait().unwrap();
    assert!(line.contains("left ") && line.contains("thgir"), "{line:?}");
    for odd in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{1b}', '\u{7}', '\u{9b}'] {
        assert!(!line.contains(odd), "{line:?}");
    }
}

/// Answers for metadata with a lie that caches keep for an hour, until it is told to stop.
fn forge(remote: &Remote, prefix: &Name, stop: &AtomicBool, ready: &std::sync::Barrier) {
    let mut client = Client::connect(remote).unwrap();
    client.register(prefix).unwrap();
    ready.wait();
    while !stop.load(Ordering::Relaxed) {
        let until = client.now() + Duration::from_millis(20);
        if let Some(Happening::Interest { header, .. }) = client.next(Some(until)).unwrap() {
            let number =
                |kind, value: u8| Component::new(kind, std::slice::from_ref(Box::leak(Box::new(value))));
            let name = prefix.with(number(ComponentKind::VERSION, 9)).unwrap();
            let name = name.with(number(ComponentKind::SEGMENT, 0)).unwrap();
            let lie = DataBuilder::new(name).freshness(Duration::from_secs(3600)).content(b"forged".to_vec());
            client.reply(&lie.build_with_digest().unwrap(), &header).unwrap();
        }
    }
}

#[test]
fn forged_metadata_in_the_cache_and_a_forger_with_the_longer_route_do_not_stop_a_fetch() {
    let mut world = World::new();
    world.good(&["key", "new", "/lab", "--kind", "ed25519"]);
    world.good(&["cert", "export", "/lab", "-o", "root.cert"]);
    let file = bytes(100_000);
    world.write("file", &file);
    let remote = Remote::Unix(world.socket());
    let (stop, ready) = (AtomicBool::new(false), std::sync::Barrier::new(2));
    let metadata: Name = "/lab/file/32=metadata".parse().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| forge(&remote, &metadata, &stop, &ready));
        ready.wait();
        // The forger came first, and of two next hops at one cost the older face is preferred.
        world.start(&["put", "/lab/file", "-f", "file", "-S", "/lab"], "published");
        let got = world.run(&["get", "/lab/file", "--anchor", "root.cert", "-D", "metadata"]);
        // It has left, and its lie is still in the cache.
        let lie = world.run(&["peek", "-P", "-f", "/lab/file/32=metadata", "--json"]);
        stop.store(true, Ordering::Relaxed);
        let errors = String::from_utf8_lossy(&got.stderr);
        assert!(got.status.success() && got.stdout == file, "{errors}");
        assert!(errors.contains("refused /lab/file/32=metadata/v=9/seg=0/sha256digest="), "{errors}");
        assert!(errors.contains("from face "), "{errors}");
        assert!(lie.status.success());
    });
    let got = world.run(&["get", "/lab/file", "--anchor", "root.cert", "-D", "metadata"]);
    let errors = String::from_utf8_lossy(&got.stderr);
    assert!(got.status.success() && got.stdout == file, "{errors}");
}
