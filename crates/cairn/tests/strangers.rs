//! What strangers put before the tools: in folders, in files, in rooms, and in caches.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use flow::naming::Metadata;
use packet::ndn::lp::LpPacketView;
use packet::ndn::{DataBuilder, SignatureInfoBuilder, SignatureType};
use packet::{Buffer, ContentType, Data, Interest, Name};
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
        ("frames", &["capture", "-w", "frames", "--for", "100ms"]),
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

/// A neighbour that answers what it can with lies, for as long as it lives.
struct Forger {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Forger {
    fn start(lies: Vec<Data>) -> Forger {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (address, until) = (socket.local_addr().unwrap(), is_over.clone());
        let thread = std::thread::spawn(move || {
            let mut datagram = [0; 9000];
            while !until.load(Ordering::Relaxed) {
                let Ok((length, from)) = socket.recv_from(&mut datagram) else { continue };
                let frame = LpPacketView::decode(&datagram[..length]).ok();
                let packet = frame.and_then(|frame| frame.fragment).map(Buffer::copy_from);
                let interest = packet.and_then(|packet| Interest::decode_ndn(packet).ok());
                if let Some(lie) = interest.and_then(|asked| lies.iter().find(|lie| asked.matches(lie))) {
                    let _ = socket.send_to(lie.wire(), from);
                }
            }
        });
        Forger { address, is_over, thread: Some(thread) }
    }

    fn uri(&self) -> String {
        format!("udp4://{}", self.address)
    }
}

impl Drop for Forger {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Metadata that says it is signed with the key of `/lab`, and is not. Caches keep it for an hour.
fn lie(world: &World, object: &str) -> Data {
    let key = world.good(&["cert", "list"]);
    let key: Name =
        key.split_whitespace().find(|word| word.starts_with("/lab/KEY/")).unwrap().parse().unwrap();
    let name: Name = format!("{object}/32=metadata/v=9/seg=0").parse().unwrap();
    let mut told = Vec::new();
    Metadata {
        name: format!("{object}/v=9").parse().unwrap(),
        last_segment: Some(0),
        segment_bytes: None,
        size_bytes: None,
    }
    .encode(&mut told);
    let lie = DataBuilder::new(name).freshness(packet::time::Duration::from_secs(3600)).content(told);
    let info = SignatureInfoBuilder::new(SignatureType::ED25519).key_name(&key);
    lie.build_signed(&info, |_| vec![7; 64]).unwrap()
}

fn face_of(world: &World, forger: &Forger) -> String {
    let faces = world.json(&["face", "list"]);
    let is_forgers = |face: &&serde_json::Value| face["remote"] == forger.uri();
    faces.as_array().unwrap().iter().find(is_forgers).unwrap()["face_id"].to_string()
}

/// A world in which `/lab` signs, and a forger is asked first for what is under `/lab/file`.
fn world_with_a_forger() -> (World, Forger, String) {
    let world = World::neighbourly();
    world.good(&["key", "new", "/lab", "--kind", "ed25519"]);
    world.good(&["cert", "export", "/lab", "-o", "root.cert"]);
    let forger = Forger::start(vec![lie(&world, "/lab/file")]);
    world.good(&["route", "add", "/lab/file", &forger.uri()]);
    let face = face_of(&world, &forger);
    // The lie is in the store before anybody else is there.
    world.good(&["peek", "-P", "-f", "/lab/file/32=metadata"]);
    (world, forger, face)
}

/// What has to be told of the forger.
fn assert_told(errors: &str, face: &str) {
    let from = format!("from face {face}:");
    let told = errors.lines().find(|line| line.starts_with("cairn: refused ") && line.contains(&from));
    let told = told.unwrap_or_else(|| panic!("{from:?} in {errors}"));
    for part in ["/lab/file/32=metadata/v=9/seg=0/sha256digest=", "signed by /lab/KEY/"] {
        assert!(told.contains(part), "{part:?} in {told}");
    }
    // The store of this host is no neighbour.
    assert!(!errors.contains("from face 254"), "{errors}");
}

#[test]
fn a_neighbour_that_forges_metadata_is_told_of_and_does_not_stop_a_fetch() {
    let (mut world, forger, face) = world_with_a_forger();
    let file = bytes(100_000);
    world.write("file", &file);
    world.start(&["put", "/lab/file", "-f", "file", "-S", "/lab"], "published");
    // The producer is asked at the same cost or a lower one: at any rate the store answers first.
    let got = world.run(&["get", "/lab/file", "--anchor", "root.cert", "-D", "metadata"]);
    let errors = String::from_utf8_lossy(&got.stderr);
    assert!(got.status.success() && got.stdout == file, "{errors}");
    assert!(errors.contains("refused /lab/file/32=metadata/v=9/seg=0/sha256digest="), "{errors}");

    // Where the forger is the next hop by the longest match, another one is asked.
    world.good(&["route", "add", "/lab/file/32=metadata", &forger.uri(), "--capture"]);
    world.good(&["cs", "erase", "/lab"]);
    let got = world.run(&["get", "/lab/file", "--anchor", "root.cert", "-D", "metadata"]);
    let errors = String::from_utf8_lossy(&got.stderr);
    assert!(got.status.success() && got.stdout == file, "{errors}");
    assert_told(&errors, &face);
}

#[test]
fn with_nobody_but_a_forger_a_fetch_fails_in_its_time_and_says_what_to_do() {
    let (world, _forger, face) = world_with_a_forger();
    let got = world.run(&["get", "/lab/file", "--anchor", "root.cert", "-D", "metadata", "-r", "1"]);
    let errors = String::from_utf8_lossy(&got.stderr);
    assert_eq!((got.status.code(), got.stdout.len()), (Some(5), 0), "{errors}");
    assert_told(&errors, &face);
    assert!(errors.contains("cairn cs erase /lab/file/32=metadata"), "{errors}");
    assert!(errors.contains(&format!("cairn face show {face}")), "{errors}");
}

/// A world in which `/lab` certifies `/lab/alice`; with the names of her certificate and her key.
fn world_of_alice() -> (World, String, String) {
    let world = World::neighbourly();
    world.certify_alice();
    let name = world.json(&["cert", "show", "alice.cert"])[0]["name"].as_str().unwrap().to_owned();
    let key = name.rsplitn(3, '/').last().unwrap().to_owned();
    (world, name, key)
}

/// A packet that says this key has signed it.
fn forged(name: &str, signer: &str, content_type: ContentType) -> Data {
    let signer: Name = signer.parse().unwrap();
    let info = SignatureInfoBuilder::new(SignatureType::SHA256_WITH_ECDSA).key_name(&signer);
    let data = DataBuilder::new(name.parse().unwrap()).content_type(content_type).content(b"lie".to_vec());
    let data = data.freshness(packet::time::Duration::from_secs(3600));
    data.build_signed(&info, |_| vec![7; 70]).unwrap()
}

#[test]
fn whatever_an_asked_neighbour_forges_is_had_from_somebody_else_and_told_of() {
    let file = bytes(30_000);
    let object = "/lab/alice/file/v=9";
    let segment = format!("{object}/seg=1");
    let manifest = format!("{object}/32=manifest/seg=0");
    for case in ["segment", "certificate", "manifest"] {
        let (mut world, certificate, key) = world_of_alice();
        world.write("file", &file);
        let blob = ContentType::BLOB;
        let (lies, prefixes, told) = match case {
            "segment" => (vec![forged(&segment, &key, blob)], vec![&*segment], &segment),
            "certificate" => {
                (vec![forged(&certificate, "/lab/KEY/1", ContentType::KEY)], vec![&*key], &certificate)
            }
            _ => (vec![forged(&manifest, &key, blob)], vec![&*manifest], &manifest),
        };
        // Its face is the older one, so it comes first at the same cost.
        let forger = Forger::start(lies);
        for prefix in prefixes {
            world.good(&["route", "add", prefix, &forger.uri(), "--cost", "0"]);
        }
        let option: &[&str] = if case == "manifest" { &["--manifest"] } else { &[] };
        world.start(&[&["put", object, "-f", "file", "-S", "/lab/alice"], option].concat(), "published");
        let got = world.run(&[&["get", object, "--anchor", "root.cert"], option].concat());
        let errors = String::from_utf8_lossy(&got.stderr);
        assert!(got.status.success() && got.stdout == file, "{case}: {errors}");
        let (told, face) = (format!("refused {told}/sha256digest="), face_of(&world, &forger));
        let from = format!("from face {face}:");
        assert!(errors.lines().any(|line| line.contains(&told) && line.contains(&from)), "{case}: {errors}");
    }
}

/// Metadata of version 99 that says this key has signed it.
fn metadata_signed_by(object: &str, signer: &str) -> Data {
    let mut told = Vec::new();
    let name = format!("{object}/v=99").parse().unwrap();
    Metadata { name, last_segment: Some(0), segment_bytes: None, size_bytes: None }.encode(&mut told);
    let info = SignatureInfoBuilder::new(SignatureType::SHA256_WITH_ECDSA).key_name(&signer.parse().unwrap());
    let data = DataBuilder::new(format!("{object}/32=metadata/v=99/seg=0").parse().unwrap()).content(told);
    let data = data.freshness(packet::time::Duration::from_secs(3600));
    data.build_signed(&info, |_| vec![7; 70]).unwrap()
}

#[test]
fn what_is_signed_with_a_key_that_nobody_has_is_had_from_somebody_else_and_told_of() {
    let (file, none) = (bytes(30_000), "/lab/alice/KEY/none");
    for (case, object) in [("metadata", "/lab/alice/file"), ("segment", "/lab/alice/file/v=9")] {
        let (mut world, ..) = world_of_alice();
        world.write("file", &file);
        let lie = match case {
            "metadata" => metadata_signed_by(object, none),
            _ => forged(&format!("{object}/seg=1"), none, ContentType::BLOB),
        };
        let told = format!("refused {}/sha256digest=", lie.name());
        let forger = Forger::start(vec![lie]);
        // Whoever is asked for that key is silent, as it goes where a name leads to a whole network.
        for prefix in [object, "/lab/alice"] {
            world.good(&["route", "add", prefix, &forger.uri(), "--cost", "0"]);
        }
        world.start(&["put", object, "-f", "file", "-S", "/lab/alice"], "published");
        if case == "segment" {
            world.good(&["route", "add", &format!("{object}/seg=1"), &forger.uri(), "--cost", "0"]);
        }
        let got = world.run(&["get", object, "--anchor", "root.cert"]);
        let errors = String::from_utf8_lossy(&got.stderr);
        assert!(got.status.success() && got.stdout == file, "{case}: {errors}");
        let from = format!("from face {}:", face_of(&world, &forger));
        let is_told = |line: &str| line.contains(&told) && line.contains(&from) && line.contains(none);
        assert!(errors.lines().any(is_told), "{case}: {errors}");
    }
}

#[test]
fn a_line_break_in_the_name_of_a_file_begins_no_line() {
    let world = World::new();
    let name = "bad\ncairn: all is well\u{1b}[2J.x";
    world.write(name, b"x");
    for arguments in [
        &["cert", "check", name, "--anchor", name][..],
        &["cert", "show", name],
        &["key", "import", name],
        &["node", "config", name],
        &["lab", "check", name],
        &["get", "/lab/x", "--rules", name],
    ] {
        let output = world.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("bad"), "{arguments:?}: {errors}");
        let odd = errors.lines().find(|line| line.starts_with("cairn: all is well"));
        assert!(odd.is_none() && !errors.contains('\u{1b}'), "{arguments:?}: {errors}");
    }
}
