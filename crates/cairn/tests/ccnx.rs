//! The tools in CCNx, over a real node: `ccnx:/…` in place of `/…` chooses the dialect.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use cairn::client::Connection;
use cairn::flow::FetchError;
use cairn::{AnyName, Client, Dialect, FetchFailure, KeyKind, PrivateKey, Remote, Trust};
use serde_json::Value;
use world::{World, bytes};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn pings_are_answered_under_names_of_ccnx_and_those_of_ndn_are_others() {
    let mut world = World::with_ccnx();
    world.start(&["pingserver", "ccnx:/lab", "--quiet"], "PING SERVER ccnx:/lab");
    let statistics = json(&world.good(&["ping", "ccnx:/lab", "-c", "10", "-i", "1ms", "--json"]));
    assert_eq!(statistics["answered"], 10);
    // ccnpingserver reads no number of more than 15 digits.
    let line = world.good(&["ping", "ccnx:/lab", "-c", "1"]);
    let number = line.split("seq=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(number.len() <= 15, "{number}");
    let other = world.run(&["ping", "/lab", "-c", "1", "-o", "200ms", "--json"]);
    assert_eq!(other.status.code(), Some(1));
}

#[test]
fn a_producer_of_ccnx_registers_again_when_its_forwarder_has_started_again() {
    let mut world = World::with_ccnx();
    world.start(&["pingserver", "ccnx:/lab", "--quiet"], "PING SERVER ccnx:/lab");
    world.replace_node();
    // Interests come in vain until it has.
    let statistics = world.run(&["ping", "ccnx:/lab", "-c", "100", "-i", "100ms", "-o", "1s", "--json"]);
    let statistics = json(&String::from_utf8(statistics.stdout).unwrap());
    assert!(statistics["answered"].as_u64().unwrap() > 0, "{statistics}");
}

#[test]
fn a_poke_is_peeked_as_an_object_of_ccnx() {
    let mut world = World::with_ccnx();
    world.write("hello", b"hello");
    world.start(&["poke", "ccnx:/lab/hello", "--file", "hello", "--freshness", "10s"], "waiting");
    let described = json(&world.good(&["peek", "ccnx:/lab/hello", "--json"]));
    assert_eq!((&described["name"], &described["type"]), (&"ccnx:/lab/hello".into(), &"data".into()));
    assert_eq!((&described["content_bytes"], &described["freshness_s"]), (&5.into(), &10.into()));
    // From the content store now.
    assert_eq!(world.good(&["peek", "-p", "ccnx:/lab/hello"]), "hello");
    assert_eq!(world.good(&["peek", "-p", "-P", "ccnx:/lab"]), "hello");
    // The name alone is no prefix.
    let timeout = world.run(&["peek", "-p", "ccnx:/lab", "-w", "200ms"]);
    assert_eq!(timeout.status.code(), Some(3));
    let hint = world.run(&["peek", "ccnx:/lab/hello", "-F", "/x"]);
    assert!(hint.status.code() == Some(1) && said(&hint).contains("--hint"));
}

#[test]
fn what_is_put_into_ccnx_is_got_whole_in_its_latest_version() {
    let mut world = World::with_ccnx();
    let (older, newer) = (bytes(50_000), bytes(300_000));
    world.write("older", &older);
    world.write("newer", &newer);
    world.start(&["put", "ccnx:/lab/file", "-f", "older"], "published");
    // From now on the content store has it.
    assert!(world.run(&["get", "ccnx:/lab/file", "-q"]).stdout == older);
    world.start(&["put", "ccnx:/lab/file", "-f", "newer"], "published");
    let got = world.run(&["get", "ccnx:/lab/file"]);
    assert!(got.status.success() && got.stdout == newer, "{}", said(&got));
    assert!(said(&got).contains("no trust anchor"), "{}", said(&got));
    // The key that signed it is the only one that counts where it is named as the anchor.
    let described = json(&world.good(&["peek", "-P", "ccnx:/lab/file", "--json"]));
    assert_eq!(described["publisher"].as_str().unwrap().len(), 64);
    world.write("other.key", b"no key");
    let refused = world.run(&["get", "ccnx:/lab/file", "--anchor", "other.key"]);
    assert_eq!(refused.status.code(), Some(1));
    for option in ["--manifest", "--list", "--fresh"] {
        let refused = world.run(&["get", "ccnx:/lab/file", option]);
        assert!(refused.status.code() == Some(1) && said(&refused).contains(option), "{}", said(&refused));
    }
}

#[test]
fn whatever_get_says_of_an_object_that_is_not_there_has_its_name_as_ccnx_writes_it() {
    let world = World::with_ccnx();
    world.write("file.part", b"x");
    world.write("file.part.name", b"/lab/%FD%01/%00%01 1\n");
    for (asked, shown) in [("ccnx:/", "ccnx:/"), ("ccnx:/lab/%00%01", "ccnx:/lab/=0001")] {
        let missing = world.run(&["get", asked]);
        assert!(said(&missing).contains(&format!("no answer for {shown} after ")), "{}", said(&missing));
        let segment = world.run(&["get", asked, "-D", "none", "-r", "0", "-l", "100ms"]);
        assert!(said(&segment).contains(&format!("segment 0 of {shown} did not come")), "{}", said(&segment));
    }
    let other = world.run(&["get", "ccnx:/other", "-o", "file", "--resume"]);
    assert!(said(&other).contains("is part of ccnx:/lab/=FD01/=0001: delete it"), "{}", said(&other));
}

#[test]
fn an_application_gets_an_object_of_ccnx_by_the_call_that_gets_one_of_ndn() {
    let mut world = World::with_ccnx();
    let bytes = bytes(100_000);
    world.write("file", &bytes);
    world.start(&["put", "ccnx:/lab/file", "-f", "file"], "published");
    let remote: Remote = format!("unix://{}", world.path("ccnd.sock").display()).parse().unwrap();
    let mut client = Client::over(Connection::open_in(Dialect::Ccnx, &remote).unwrap());
    let name: AnyName = "ccnx:/lab/file".parse().unwrap();
    let (got, fetched) = client.get(&name.name, Trust::anybody()).into_memory().unwrap();
    assert!(got == bytes && !fetched.summary.trusted, "{fetched:?}");
    let stranger = PrivateKey::generate(KeyKind::Rsa).unwrap().public_key().unwrap();
    let refused = client.get(&name.name, Trust::publisher(stranger)).into_memory().unwrap_err();
    let words = refused.to_string();
    assert!(matches!(refused, FetchFailure::Fetch(FetchError::NotAccepted { .. })), "{words}");
    assert!(words.contains("ccnx:/lab/file/=FD"), "{words}");
}

#[test]
fn a_folder_is_served_as_objects_of_ccnx_and_nothing_outside_of_it() {
    let mut world = World::with_ccnx();
    let file = bytes(100_000);
    world.write("folder/sub/file", &file);
    world.write("outside", b"secret");
    world.start(&["serve", "folder", "ccnx:/lab/files"], "serving");
    let got = world.run(&["get", "ccnx:/lab/files/sub/file"]);
    assert!(got.status.success() && got.stdout == file, "{}", said(&got));
    for name in ["ccnx:/lab/files/sub", "ccnx:/lab/files/%2E%2E/outside", "ccnx:/lab/files/nothing"] {
        let missing = world.run(&["peek", name, "-w", "200ms"]);
        assert_eq!(missing.status.code(), Some(3), "{name}");
    }
}

#[test]
fn traffic_is_generated_and_answered_in_ccnx() {
    let mut world = World::with_ccnx();
    world.start(&["traffic", "produce", "ccnx:/load", "--size", "100"], "answering under ccnx:/load");
    let asked = ["traffic", "consume", "ccnx:/load/{seq}", "-w", "4", "-c", "40", "--json"];
    let results = json(&world.good(&asked));
    assert_eq!((&results["data"], &results["content_bytes"]), (&40.into(), &4000.into()));
    let mixed = world.run(&["traffic", "consume", "ccnx:/a/{seq}", "/a/{seq}", "-w", "1", "-c", "2"]);
    assert!(mixed.status.code() == Some(1) && said(&mixed).contains("two runs"), "{}", said(&mixed));
}

#[test]
fn links_are_made_listed_and_destroyed_in_our_words_and_in_those_of_ndnldc() {
    let world = World::with_ccnx();
    // Without a socket of UDP there is none to be made.
    let refused = world.run(&["link", "connect", "udp", "127.0.0.9"]);
    assert!(refused.status.code() == Some(1) && said(&refused).contains("no answer"), "{}", said(&refused));
    assert_eq!(world.good(&["link", "list"]), "");
    assert_eq!(world.json(&["link", "list"]), Value::Array(Vec::new()));
    assert_eq!(world.run(&["link", "connect", "ether", "08:00:27:01:01:01"]).status.code(), Some(2));

    let ndnldc = world.path("ndnldc");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cairn"), &ndnldc).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&ndnldc);
        command.env("CCN_LOCAL_SOCKNAME", world.path("ccnd.sock")).args(arguments).output().unwrap()
    };
    let listed = run(&["-l"]);
    assert_eq!((listed.status.code(), &listed.stdout[..]), (Some(0), &b""[..]), "{}", said(&listed));
    let usage = run(&["-c"]);
    assert_eq!(usage.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&usage.stdout).starts_with("ndnldc -c -p udp -h 192.0.2.1\n"));
    let silent = run(&["-d", "-f", "4711"]);
    assert_eq!((silent.status.code(), said(&silent).as_str()), (Some(1), "ccn_get fails with code -1."));
    let nobody = Command::new(&ndnldc).env("CCN_LOCAL_SOCKNAME", "/nonexistent").arg("-l").output().unwrap();
    assert!(nobody.status.code() == Some(1) && said(&nobody).contains("/nonexistent"), "{}", said(&nobody));
}

#[test]
fn what_is_handed_over_to_a_ccnr_survives_its_end_without_a_word_and_is_got_from_it() {
    let mut world = World::with_ccnx();
    let file = bytes(100_000);
    world.write("file", &file);
    let run = ["repo", "run", "store", "ccnx:/lab", "--name", "ccnx:/lab/repo"];
    world.start(&run, "serving 0 objects");
    let put = world.run(&["put", "ccnx:/lab/file", "-f", "file", "--repo", "ccnx:/lab", "--freshness", "1s"]);
    assert!(put.status.success(), "{}", said(&put));
    assert!(said(&put).contains("has stored 25 packets"), "{}", said(&put));
    // Other repositories' names are refused at once.
    for repository in ["/lab/repo", "ccnx:/other"] {
        let refused = world.run(&["put", "ccnx:/lab/file", "-f", "file", "--repo", repository]);
        assert!(refused.status.code() == Some(1) && said(&refused).contains("--repo"), "{}", said(&refused));
    }
    let elsewhere = world.run(&["put", "/lab/file", "-f", "file", "--repo", "ccnx:/lab"]);
    assert!(
        elsewhere.status.code() == Some(1) && said(&elsewhere).contains("--repo"),
        "{}",
        said(&elsewhere)
    );

    assert_eq!(world.end_last("-KILL"), None);
    let listed = world.good(&["repo", "list", "store", "ccnx:/lab/*", "--json"]);
    let listed = json(listed.trim_end());
    assert!(listed["name"].as_str().unwrap().starts_with("ccnx:/lab/file/=FD"), "{listed}");
    assert_eq!((&listed["segments"], &listed["complete"]), (&25.into(), &true.into()));
    let info = json(&world.good(&["repo", "info", "store", "ccnx:/lab/file", "--json"]));
    assert_eq!(info, listed);
    assert_eq!(world.good(&["repo", "list", "store", "/", "--json"]), "");
    // No cache has it any more, and nobody but the repository.
    world.replace_node();
    world.start(&run, "serving 1 objects");
    let got = world.run(&["get", "ccnx:/lab/file", "-q"]);
    assert!(got.status.success() && got.stdout == file, "{}", said(&got));
    let policy = json(&world.good(&["peek", "-P", "ccnx:/lab/repo/data/policy.xml", "--json"]));
    assert!(policy["name"].as_str().unwrap().starts_with("ccnx:/lab/repo/data/policy.xml/=FD"), "{policy}");
    assert_eq!(world.interrupt_last(), Some(0));

    // What it holds can be taken out of the folder, and put into another.
    world.good(&["repo", "get", "store", "ccnx:/lab/file", "-o", "got"]);
    assert!(world.read("got") == file);
    assert_eq!(world.good(&["repo", "export", "store"]), "", "bulk insertion does not take it");
    world.good(&["repo", "export", "store", "ccnx:/", "-o", "repoFile1"]);
    let imported = json(&world.good(&["repo", "import", "copy", "repoFile1", "--json"]));
    assert_eq!(
        (&imported["packets"], &imported["bytes"]),
        (&25.into(), &world.read("repoFile1").len().into())
    );
    world.good(&["repo", "get", "copy", "ccnx:/lab/file", "-o", "again"]);
    assert!(world.read("again") == file);
    assert_eq!(world.run(&["repo", "get", "copy", "ccnx:/lab/other"]).status.code(), Some(1));
}

#[test]
fn a_file_with_a_header_and_merkle_paths_is_stored_with_both_and_got_verified() {
    let mut world = World::with_ccnx();
    let file = bytes(600_000);
    world.write("file", &file);
    world.start(&["repo", "run", "store", "ccnx:/lab"], "serving 0 objects");
    let put = ["put", "ccnx:/lab/file", "-f", "file", "--header", "--merkle", "--repo", "ccnx:/lab"];
    let put = world.run(&put);
    assert!(put.status.success() && said(&put).contains("has stored 148 packets"), "{}", said(&put));
    let got = world.run(&["get", "ccnx:/lab/file", "-q"]);
    assert!(got.status.success() && got.stdout == file, "{}", said(&got));
    assert_eq!(world.interrupt_last(), Some(0));
    // Below its version there is the header, which is no version of it.
    world.good(&["repo", "get", "store", "ccnx:/lab/file", "-o", "again"]);
    assert!(world.read("again") == file);
    let listed = world.good(&["repo", "list", "store", "ccnx:/lab/file", "--json"]);
    let header = listed.lines().map(json).find(|object| object["name"].to_string().contains(".header"));
    let header = header.unwrap()["name"].as_str().unwrap().to_owned();
    world.good(&["repo", "get", "store", &header, "-o", "header"]);
    let header = world.read("header");
    let header = packet::ccnx::management::FileHeader::decode(&header).unwrap();
    assert_eq!((header.count, header.block_size, header.length), (147, 4096, 600_000));
    assert_eq!(header.content_digest, Some(&trust::sha256(&file)[..]));
}

#[test]
fn an_object_put_into_a_folder_is_served_and_verified_and_its_version_is_put_once() {
    let mut world = World::with_ccnx();
    let file = bytes(100_000);
    world.write("file", &file);
    let put = ["repo", "put", "store", "ccnx:/lab/file/=FD06B09380C8D9", "-f", "file"];
    let stored = json(&world.good(&[&put[..], &["--json"]].concat()));
    assert_eq!((&stored["segments"], &stored["bytes"]), (&25.into(), &100_000.into()), "{stored}");
    assert_eq!(stored["name"].as_str(), Some(put[3]));
    let again = world.run(&put);
    assert!(again.status.code() == Some(1) && said(&again).contains("is stored already"), "{}", said(&again));
    let large = world.run(&["repo", "put", "store", "ccnx:/lab/large", "-f", "file", "-s", "8500"]);
    assert!(large.status.code() == Some(1) && said(&large).contains("8000"), "{}", said(&large));
    world.start(&["repo", "run", "store", "ccnx:/lab"], "serving 1 objects");
    let got = world.run(&["get", "ccnx:/lab/file", "-q"]);
    assert!(got.status.success() && got.stdout == file, "{}", said(&got));
}

#[test]
fn a_node_with_a_repository_is_a_ccnr_and_has_what_it_was_given_after_it_was_killed() {
    let mut world = World::with_ccnr("ccnx:/lab");
    let file = bytes(100_000);
    world.write("file", &file);
    let put = ["put", "ccnx:/lab/file", "-f", "file", "--repo", "ccnx:/lab", "--freshness", "1s"];
    let stored = world.run(&put);
    assert!(stored.status.success() && said(&stored).contains("has stored 25 packets"), "{}", said(&stored));
    world.replace_node();
    let got = world.run(&["get", "ccnx:/lab/file", "-q"]);
    assert!(got.status.success() && got.stdout == file, "{}", said(&got));
    let status = world.json(&["status"]);
    assert_eq!(status["totals"]["repositories"][0]["segments"], 25, "{status}");
    // What is not below its names it does not take.
    let other = world.run(&["put", "ccnx:/other/file", "-f", "file", "--repo", "ccnx:/"]);
    assert!(other.status.code() == Some(1) && said(&other).contains("no repository"), "{}", said(&other));
}

/// A member of a room, and what it hears.
fn member(world: &World, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut command = world.command(&[&["chat"], arguments, &["--stay"]].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("you are ccnx:/"), "{line}");
    let heard = BufReader::new(child.stdout.take().unwrap());
    (child, heard)
}

fn line_of(heard: &mut impl std::io::BufRead) -> String {
    let mut line = String::new();
    heard.read_line(&mut line).unwrap();
    line
}

#[test]
fn everybody_in_a_room_of_ccnx_hears_everybody_and_whoever_comes_later_the_last_words() {
    let world = World::with_ccnx();
    let (mut ann, mut ann_hears) = member(&world, &["ccnx:/room/lab", "--nick", "ann"]);
    let (mut bob, mut bob_hears) = member(&world, &["ccnx:/room/lab", "--nick", "bob"]);
    ann.stdin.as_mut().unwrap().write_all(b"hello\n").unwrap();
    assert_eq!(line_of(&mut bob_hears), "ccnx:/ann: hello\n");
    bob.stdin.as_mut().unwrap().write_all(b"escape \x1b[31m\n").unwrap();
    assert_eq!(line_of(&mut ann_hears), "ccnx:/bob: escape \u{fffd}[31m\n");
    let (mut cyn, mut cyn_hears) = member(&world, &["ccnx:/room/lab", "--nick", "cyn"]);
    let mut last_words = [line_of(&mut cyn_hears), line_of(&mut cyn_hears)];
    last_words.sort();
    assert_eq!(last_words, ["ccnx:/ann: hello\n", "ccnx:/bob: escape \u{fffd}[31m\n"]);
    cyn.stdin.as_mut().unwrap().write_all(b"me too\n").unwrap();
    for hears in [&mut ann_hears, &mut bob_hears] {
        assert_eq!(line_of(hears), "ccnx:/cyn: me too\n");
    }
    // The strategy of the room is that which sends to all; no others' is touched.
    let strategies = world.good(&["strategy", "list"]);
    assert!(!strategies.contains("room"), "{strategies}");
    for child in [&mut ann, &mut bob, &mut cyn] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn in_a_room_of_ccnx_strangers_to_the_anchor_are_marked_and_a_signature_is_a_must() {
    let world = World::with_ccnx();
    world.good(&["key", "new", "/lab/ann", "--kind", "rsa"]);
    let (mut ann, _hears) = member(&world, &["ccnx:/room/lab", "-S", "/lab/ann"]);
    ann.stdin.as_mut().unwrap().write_all(b"hello\n").unwrap();
    // Once somebody has heard it, the content store has it.
    let (mut dan, mut dan_hears) = member(&world, &["ccnx:/room/lab", "--nick", "dan"]);
    assert_eq!(line_of(&mut dan_hears), "ccnx:/lab/ann: hello\n");
    let object = world.run(&["peek", "-P", "ccnx:/lab/ann", "-w", "10s"]).stdout;
    let object = packet::ccnx::ContentObjectView::decode(&object).unwrap();
    let Some(packet::ccnx::KeyLocator::Key(key)) = object.key_locator() else { panic!("no key in it") };
    world.write("ann.key", key);
    let (mut bob, mut bob_hears) =
        member(&world, &["ccnx:/room/lab", "--nick", "bob", "--anchor", "ann.key"]);
    assert_eq!(line_of(&mut bob_hears), "ccnx:/lab/ann: hello\n");
    let said = world.run_with(&["chat", "ccnx:/room/lab", "--nick", "cyn"], b"me too\n");
    assert!(said.status.success(), "{}", self::said(&said));
    assert_eq!(line_of(&mut bob_hears), "ccnx:/cyn (not trusted): me too\n");
    for child in [&mut ann, &mut bob, &mut dan] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for (option, value) in [("--sign", "null"), ("--rules", "ann.key"), ("--revocations", "ann.key")] {
        let refused = world.run(&["chat", "ccnx:/room/lab", option, value]);
        assert_eq!(refused.status.code(), Some(1), "{}", self::said(&refused));
    }
}

#[test]
fn pings_and_files_go_from_node_to_node_over_ip_alone() {
    testkit::own_network::run(ping_and_get_over_ip);
}

fn ping_and_get_over_ip() {
    let mut far = World::over_ip("127.0.0.2", None);
    let near = World::over_ip("127.0.0.1", Some(("ip4://127.0.0.2", "ccnx:/far")));
    far.start(&["pingserver", "ccnx:/far", "--quiet"], "PING SERVER ccnx:/far");
    let statistics = json(&near.good(&["ping", "ccnx:/far", "-c", "10", "-i", "1ms", "--json"]));
    assert_eq!(statistics["answered"], 10);
    let file = bytes(300_000);
    far.write("file", &file);
    far.start(&["put", "ccnx:/far/file", "-f", "file"], "published");
    let got = near.run(&["get", "ccnx:/far/file", "-q"]);
    assert!(got.status.success() && got.stdout == file, "{}", said(&got));
    let faces = near.good(&["face", "list"]);
    assert!(faces.contains("ip4://127.0.0.2"), "{faces}");
    // Faces are made by hand, too.
    near.good(&["face", "create", "ip4://127.0.0.3"]);
    assert!(near.good(&["face", "list"]).contains("ip4://127.0.0.3"));
    let missing = near.run(&["face", "create", "ip6://[::1]"]);
    assert!(!missing.status.success() && said(&missing).contains("ccnx.ip"), "{}", said(&missing));
}
