//! The tools, as people use them, over a real node.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use serde_json::Value;
use world::{World, bytes};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn pings_are_answered_and_counted() {
    let mut world = World::new();
    world.start(&["pingserver", "/lab", "--quiet"], "PING SERVER");
    let statistics = json(&world.good(&["ping", "/lab", "-c", "20", "-i", "1ms", "--json"]));
    assert_eq!((&statistics["answered"], &statistics["loss_percent"]), (&20.into(), &0.0.into()));
    assert!(statistics["round_trip_ms"]["p99"].as_f64().unwrap() > 0.0);
    assert_eq!(world.interrupt_last(), Some(0));

    let lost = world.run(&["ping", "/lab", "-c", "2", "-i", "1ms", "-o", "200ms", "--json"]);
    assert_eq!(lost.status.code(), Some(1));
    assert_eq!(json(&String::from_utf8(lost.stdout).unwrap())["answered"], 0);
}

#[test]
fn a_poke_is_peeked_and_exit_codes_are_those_of_ndn_tools() {
    let mut world = World::new();
    world.write("hello", b"hello");
    world.start(&["poke", "/lab/hello", "--file", "hello", "--freshness", "1s", "--last"], "waiting");
    let described = json(&world.good(&["peek", "/lab/hello", "--json"]));
    assert_eq!(described["name"], "/lab/hello");
    assert_eq!((&described["content_bytes"], &described["freshness_ms"]), (&5.into(), &1000.into()));
    // From the cache of the node now.
    assert_eq!(world.good(&["peek", "-p", "/lab/hello"]), "hello");

    let nack = world.run(&["peek", "-p", "/nowhere"]);
    assert_eq!((nack.status.code(), &nack.stdout[..]), (Some(4), &b"no-route\n"[..]));
    assert_eq!(world.run(&["peek"]).status.code(), Some(2));
    assert_eq!(world.run(&["poke", "/lab/x", "-w", "50ms"]).status.code(), Some(3));
    let nobody = world.run(&["peek", "/a", "--connect", "unix:///nonexistent.sock"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("cairn node run"));
}

#[test]
fn what_is_put_is_got_whole_and_without_an_anchor_it_says_so() {
    let mut world = World::new();
    let file = bytes(300_000);
    world.write("file", &file);
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    let got = world.run(&["get", "/lab/file"]);
    assert!(got.status.success() && got.stdout == file);
    let told = String::from_utf8_lossy(&got.stderr);
    assert!(told.contains("\nthe object is complete, its signer not verified: "), "{told}");
    for discovery in ["metadata", "prefix"] {
        world.good(&["get", "/lab/file", "-D", discovery, "-o", discovery, "-q"]);
        assert!(world.read(discovery) == file, "{discovery}");
    }
    let nothing = world.run(&["get", "/lab/other", "-q"]);
    assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(1), 0));
    assert_eq!(world.run(&["get", "/lab/file", "-o", "no/such/folder"]).status.code(), Some(4));
    assert_eq!(world.interrupt_last(), Some(0));
}

#[test]
fn an_empty_object_and_one_from_standard_input_are_objects_too() {
    let mut world = World::new();
    world.write("empty", b"");
    world.start(&["put", "/lab/empty", "-f", "empty"], "published");
    assert_eq!(world.good(&["get", "/lab/empty"]), "");
    let mut put = world.command(&["put", "/lab/input/v=3"]);
    put.stdin(std::fs::File::open(world.write("input", b"from a pipe")).unwrap());
    world.start_command(put, "published");
    assert_eq!(world.good(&["get", "/lab/input/v=3"]), "from a pipe");
    assert_eq!(world.good(&["get", "/lab/input"]), "from a pipe");
}

#[test]
fn with_an_anchor_signed_objects_are_trusted_and_others_refused() {
    let mut world = World::new();
    world.certify_alice();
    let file = bytes(100_000);
    world.write("file", &file);
    world.start(&["put", "/lab/alice/signed", "-f", "file", "-S", "/lab/alice"], "published");
    world.start(&["put", "/lab/alice/listed", "-f", "file", "-S", "/lab/alice", "--manifest"], "published");
    world.start(&["put", "/lab/alice/plain", "-f", "file"], "published");
    world.start(&["put", "/lab/bob/stolen", "-f", "file", "-S", "/lab/alice"], "published");

    let anchor = ["--anchor", "root.cert"];
    let get = |arguments: &[&str]| world.run(&[&["get"], arguments, &anchor].concat());
    for arguments in [&["/lab/alice/signed"][..], &["/lab/alice/listed", "--manifest"]] {
        let got = get(arguments);
        let errors = String::from_utf8_lossy(&got.stderr);
        assert!(got.status.success() && got.stdout == file, "{arguments:?}: {errors}");
        assert!(errors.contains("trusted: ") && !errors.contains("not trusted"), "{errors}");
    }
    for arguments in [
        &["/lab/alice/plain"][..],
        &["/lab/alice/listed"],
        &["/lab/alice/plain", "--manifest"],
        &["/lab/bob/stolen"],
    ] {
        let refused = get(arguments);
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(5), 0), "{arguments:?}");
    }
    // Where there is no manifest, asking for one again and again would bring none.
    let none = get(&["/lab/alice/signed", "--manifest"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(5), 0));
    assert!(String::from_utf8_lossy(&none.stderr).contains("it has no manifest"));
    let peek = |name: &str| world.run(&["peek", "-p", "-P", name, "--anchor", "root.cert"]).status.code();
    assert_eq!(
        (peek("/lab/alice/signed/32=metadata"), peek("/lab/alice/plain/32=metadata")),
        (Some(0), Some(5))
    );
    world.good(&["key", "new", "/lab/eve"]);
    world.good(&["cert", "export", "/lab/eve", "-o", "eve.cert"]);
    assert_eq!(world.run(&["get", "/lab/alice/signed", "--anchor", "eve.cert"]).status.code(), Some(5));

    world.write(
        "rules.toml",
        b"anchors = [\"root.cert\"]\n[[rule]]\nname = \"/lab/bob/**\"\nsigner = \"/lab/alice\"\n\
          [[rule]]\npacket = \"certificate\"\nname = \"/lab/*/KEY/**\"\nsigner = \"/lab\"\n",
    );
    let by_rules = |name: &str| world.run(&["get", "-q", name, "--rules", "rules.toml"]).status.code();
    assert_eq!((by_rules("/lab/bob/stolen"), by_rules("/lab/alice/signed")), (Some(0), Some(5)));
    assert!(world.good(&["cert", "check", "alice.cert", "--anchor", "root.cert"]).contains("trusted"));
    assert_eq!(world.run(&["cert", "check", "alice.cert", "--anchor", "eve.cert"]).status.code(), Some(5));
}

#[test]
fn a_fetch_that_was_broken_off_goes_on_where_it_was() {
    let mut world = World::new();
    let file = bytes(200_000);
    world.write("file", &file);
    world.start(&["put", "/lab/file/v=9", "-f", "file"], "published");
    // As a run leaves it that was stopped in the middle of the fourth segment.
    world.write("out.part", &file[..3 * 8000 + 100]);
    world.write("out.part.name", b"/lab/file/v=9 8000\n");
    let got = world.run(&["get", "/lab/file", "-o", "out", "--resume", "--json"]);
    assert!(got.status.success(), "{}", String::from_utf8_lossy(&got.stderr));
    assert!(world.read("out") == file);
    let report = json(&String::from_utf8(got.stderr).unwrap());
    assert_eq!(report["bytes"], 200_000 - 24_000);
    assert!(!world.path("out.part").exists() && !world.path("out.part.name").exists());
}

#[test]
fn keys_travel_in_safe_bags_and_listings_tell_all() {
    let world = World::new();
    world.certify_alice();
    world.good(&["key", "export", "/lab/alice", "-o", "alice.safebag"]);
    world.good(&["key", "delete", "/lab/alice", "--yes"]);
    assert_eq!(world.run(&["key", "export", "/lab/alice"]).status.code(), Some(1));
    assert!(world.good(&["key", "import", "alice.safebag"]).contains("/lab/alice/KEY/"));
    let listed = json(&world.good(&["key", "list", "--json"]));
    let identities: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["identity"].as_str().unwrap()).collect();
    assert_eq!(identities, ["/lab", "/lab/alice"]);
    // The certificate that the lab issued came along, and is the default again.
    let certificates = listed[1]["keys"][0]["certificates"].as_array().unwrap().clone();
    assert_eq!((certificates.len(), &certificates[0]["self_signed"]), (1, &false.into()));
    let shown = json(&world.good(&["cert", "show", "/lab/alice", "--json"]));
    assert_eq!((&shown[0]["issuer_id"], &shown[0]["valid_now"]), (&"lab".into(), &true.into()));

    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(world.path("alice.safebag")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut wrong = world.command(&["key", "import", "alice.safebag"]);
    let output = wrong.env("CAIRN_PASSPHRASE", "wrong").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("passphrase"));
}

#[test]
fn what_is_not_in_the_key_store_is_not_there_to_be_listed_or_deleted() {
    let world = World::new();
    world.good(&["key", "new", "/lab"]);
    for arguments in [["key", "list", "/nobody"], ["key", "delete", "/nobody"]] {
        let output = world.run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("is not in the key store") && !errors.contains("[y/N]"), "{errors}");
    }
    let listed = json(&world.good(&["key", "list", "/lab", "--json"]));
    let certificate = listed[0]["keys"][0]["certificates"][0]["name"].as_str().unwrap();
    for name in ["/lab", listed[0]["keys"][0]["name"].as_str().unwrap(), certificate] {
        let output = world.run(&["key", "delete", name]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("[y/N]"), "{name}");
    }
    world.good(&["key", "delete", "--yes", certificate]);
    assert!(world.good(&["key", "list", "/lab"]).contains("/lab/KEY/"));
}

#[test]
fn a_check_says_whose_certificate_it_lacks() {
    let world = World::new();
    world.certify_alice();
    assert!(world.good(&["cert", "check", "alice.cert", "--anchor", "root.cert"]).contains("trusted"));
    world.good(&["key", "new", "/other"]);
    world.good(&["cert", "export", "/other", "-o", "other.cert"]);
    let output = world.run(&["cert", "check", "alice.cert", "--anchor", "other.cert"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5));
    assert!(errors.contains("it leads to /lab/KEY/") && errors.contains("--with"), "{errors}");
}

#[test]
fn a_folder_is_served_with_listings_and_nothing_beside_it() {
    let mut world = World::new();
    let file = bytes(50_000);
    world.write("folder/file", &file);
    world.write("folder/sub/deep", b"deep");
    world.write("secret", b"secret");
    std::os::unix::fs::symlink("../secret", world.path("folder/link")).unwrap();
    world.start(&["serve", "folder", "/lab/files"], "serving");
    let got = world.run(&["get", "/lab/files/file"]);
    assert!(got.stdout == file, "{}", String::from_utf8_lossy(&got.stderr));
    assert_eq!(world.good(&["get", "--list", "/lab/files"]), "file\nsub/\n");
    assert_eq!(world.good(&["get", "--list", "/lab/files/sub"]), "deep\n");
    assert_eq!(world.good(&["get", "-D", "prefix", "/lab/files/sub/deep"]), "deep");
    for missing in ["/lab/files/none", "/lab/files/link", "/lab/files/file/32=ls"] {
        assert_eq!(world.run(&["get", "-q", missing]).status.code(), Some(3), "{missing}");
    }
    // `.....` in a URI is a component of two periods; it is not even refused.
    let outside = world.run(&["get", "-q", "/lab/files/...../secret", "-l", "200ms", "-r", "0"]);
    assert_eq!((outside.status.code(), outside.stdout.len()), (Some(1), 0));
    // What changes is another version.
    world.write("folder/sub/deep", b"changed");
    let again = loop {
        let text = world.good(&["get", "/lab/files/sub/deep"]);
        if text != "deep" {
            break text;
        }
    };
    assert_eq!(again, "changed");
}

#[test]
fn traffic_counts_what_it_sends_and_gets() {
    let mut world = World::new();
    world.start(&["traffic", "produce", "/load", "--size", "100-200", "--nack", "0.2"], "answering");
    let arguments =
        ["traffic", "consume", "/load/{seq}", "--window", "16", "--count", "1k", "--json", "--seed", "1"];
    let output = world.run(&arguments);
    assert_eq!(output.status.code(), Some(1), "a fifth comes back");
    let result = json(&String::from_utf8(output.stdout).unwrap());
    let number = |key: &str| result[key].as_u64().unwrap();
    assert_eq!((number("sent"), number("data") + number("nacks"), number("timeouts")), (1000, 1000, 0));
    assert!((100..300).contains(&number("nacks")), "{result}");
    assert!((100 * number("data")..=200 * number("data")).contains(&number("content_bytes")));

    let timed =
        world.run(&["traffic", "consume", "/load/{seq}", "--rate", "1k/s", "--for", "100ms", "--json"]);
    let sent = json(&String::from_utf8(timed.stdout).unwrap())["sent"].as_u64().unwrap();
    assert!((1..=101).contains(&sent), "{sent} in a tenth of a second");
}

#[test]
fn a_room_hears_what_is_said_in_it() {
    let mut world = World::new();
    let mut listener = world.command(&["chat", "/room/lab", "--nick", "ann", "--stay"]);
    let mut listener =
        listener.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    world.start(&["chat", "/room/lab", "--nick", "cyn", "--stay"], "you are /cyn in /room/lab");
    let said = world.run_with(&["chat", "/room/lab", "--nick", "bob"], b"hello\nescape \x1b[31m\n\xfcber\n");
    assert!(said.status.success());
    let _ = listener.kill();
    let heard = String::from_utf8(world::all(listener.stdout.take().unwrap())).unwrap();
    let _ = listener.wait();
    assert!(heard.contains("/bob: hello\n"), "{heard}");
    assert!(heard.contains("/bob: escape \u{fffd}[31m\n"), "{heard}");
    assert!(heard.contains("/bob: \u{fffd}ber\n"), "{heard}");
}

#[test]
fn manual_pages_and_completions_cover_every_command() {
    let world = World::new();
    world.good(&["man", "man"]);
    for command in
        ["get", "put", "ping", "peek", "serve", "chat", "traffic-consume", "key-new", "cert-sign", "node-run"]
    {
        let page = String::from_utf8(world.read(&format!("man/cairn-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH OPTIONS"), "{command}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(world.good(&["completions", shell]).contains("pingserver"), "{shell}");
    }
}
