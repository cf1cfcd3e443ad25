//! The management commands against a node of our own, as an operator would use them.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use packet::Component;
use testkit::folder::TestFolder;
use trust::store::KeyStore;
use trust::{KeyKind, PrivateKey, UnixTime, ValidityPeriod};

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A running node, in a folder of its own.
struct Node {
    process: Child,
    folder: TestFolder,
}

impl Node {
    fn start(name: &str, more: &str) -> Node {
        let folder = TestFolder::new(name);
        let config = format!(
            "[udp]\nlisten = [\"127.0.0.1:0\"]\n[tcp]\nlisten = []\n[websocket]\nlisten = []\n\
             [unix]\nlisten = [\"{}\"]\n{more}",
            folder.join("nfd.sock").display()
        );
        let file = folder.join("node.toml");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(["node", "run", "--config"]).arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        let node = Node { process: command.spawn().unwrap(), folder };
        let deadline = Instant::now() + LIMIT;
        while !node.cairn(&["status"]).status.success() {
            assert!(Instant::now() < deadline, "the node does not start");
        }
        node
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(arguments);
        command.env("NDN_CLIENT_TRANSPORT", format!("unix://{}", self.folder.join("nfd.sock").display()));
        command.env("CAIRN_KEYS", self.folder.join("keys"));
        command
    }

    fn cairn(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command that succeeds prints.
    fn say(&self, arguments: &[&str]) -> String {
        let output = self.cairn(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command that fails complains about.
    fn complain(&self, arguments: &[&str]) -> String {
        let output = self.cairn(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.say(&[arguments, &["--json"]].concat())).unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn faces_routes_strategies_and_the_store_are_managed() {
    let node = Node::start("manage", "");
    assert!(node.say(&["face", "create", "udp://127.0.0.1:9"]).ends_with("to udp4://127.0.0.1:9 created\n"));
    let face = node.json(&["face", "create", "udp4://127.0.0.1:9"]);
    assert_eq!((&face["result"], &face["remote"]), (&"exists".into(), &"udp4://127.0.0.1:9".into()));
    // It gets the settings that are given, or they are refused; none are passed over.
    let again = ["face", "create", "udp4://127.0.0.1:9", "--mtu", "1300", "--persistency", "permanent"];
    for result in ["updated", "exists"] {
        let face = node.json(&again);
        assert_eq!((&face["result"], &face["mtu_bytes"]), (&result.into(), &1300.into()));
    }
    let shown = node.json(&["face", "show", "udp4://127.0.0.1:9"]);
    assert_eq!((&shown["mtu_bytes"], &shown["persistency"]), (&1300.into(), &"permanent".into()));
    let problem = node.complain(&["face", "create", "udp4://127.0.0.1:9", "--local-fields", "on"]);
    assert!(problem.contains("local-fields"), "{problem}");
    let number = face["face_id"].to_string();

    // What such a face cannot be is refused as in NFD, and not passed over.
    for wrong in [["--local", "udp4://127.0.0.1:5"], ["--local-fields", "on"], ["--mtu", "63"]] {
        let problem = node.complain(&["face", "create", "udp4://127.0.0.1:11", wrong[0], wrong[1]]);
        assert!(problem.contains("faces/create: 406"), "{problem}");
    }

    let updated = node.json(&["face", "update", &number, "--reliability", "on", "--mtu", "1400"]);
    assert_eq!(updated["mtu_bytes"], 1400);
    let shown = node.json(&["face", "show", "udp://127.0.0.1:9"]);
    assert_eq!(shown["flags"], serde_json::json!(["lp-reliability", "congestion-marking"]));
    let problem = node.complain(&["face", "update", &number, "--local-fields", "on"]);
    assert!(problem.contains("local-fields") && problem.contains("nothing was changed"), "{problem}");

    node.say(&["route", "add", "/lab", "udp://127.0.0.1:9", "--cost", "7", "--expires", "1h"]);
    node.say(&["route", "add", "/lab/x", "udp://127.0.0.1:10"]);
    let routes = node.json(&["route", "list", "/lab"]);
    assert_eq!(routes[0]["routes"][0]["cost"], 7);
    assert_eq!(routes[0]["routes"][0]["origin"], "static");
    let hops = node.json(&["route", "list", "/lab/x", "--next-hops"]);
    assert_eq!(hops[0]["next_hops"].as_array().unwrap().len(), 2, "one of its own, one inherited");
    node.say(&["route", "remove", "/lab/x", "udp://127.0.0.1:10"]);
    assert_eq!(node.json(&["route", "list", "/lab/x"]), serde_json::json!([]));

    assert!(node.say(&["strategy", "set", "/lab", "multicast"]).contains("multicast/v=5"));
    let shown = node.json(&["strategy", "show", "/lab/y"]);
    assert_eq!(shown[0]["strategy"], "/localhost/nfd/strategy/multicast/v=5");
    assert!(node.say(&["strategy", "set", "/lab", "asf/max-timeouts~5"]).contains("asf/v=5/max-timeouts~5"));
    node.say(&["strategy", "unset", "/lab"]);
    assert!(node.complain(&["strategy", "unset", "/"]).contains("cairn strategy set /"));
    assert!(node.complain(&["strategy", "set", "/lab", "nonsense"]).contains("404"));

    assert!(node.say(&["cs", "config", "--capacity", "1k", "--serve", "off"]).contains("capacity 1000"));
    assert_eq!(node.json(&["cs", "info"])["serve"], false);
    assert_eq!(node.json(&["cs", "erase", "/"])["erased"], 0);

    assert!(node.complain(&["face", "destroy", "1"]).contains("the forwarder's own"));
    let problem = node.complain(&["face", "create", "tcp://127.0.0.1:1"]);
    assert!(problem.contains("faces/create: 504") && problem.contains("refused"), "{problem}");
    node.say(&["face", "destroy", &number]);
    assert!(node.complain(&["face", "show", &number]).contains("there is no face"));
    let all = node.json(&["status", "--all"]);
    assert_eq!(all["content_store"]["capacity"], 1000);
    assert_eq!(node.json(&["route", "list", "/lab"]), serde_json::json!([]), "gone with its face");
}

#[test]
fn a_neighbour_whose_command_comes_back_is_told_what_allows_it() {
    let by_datagrams = |node: &Node| {
        let channels = node.json(&["face", "channels"]);
        let mut channels = channels.as_array().unwrap().iter().filter_map(|channel| channel.as_str());
        let channel = channels.find(|channel| channel.starts_with("udp4://")).unwrap().to_owned();
        node.cairn(&["route", "add", "/neighbour", "0", "--connect", &channel])
    };
    let refused = by_datagrams(&Node::start("aloof", ""));
    let problem = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && problem.contains("`localhop = true` below [management]"),
        "{problem}"
    );
    let allowed = by_datagrams(&Node::start("open", "[management]\nlocalhop = true\n"));
    assert!(allowed.status.success(), "{}", String::from_utf8_lossy(&allowed.stderr));
}

#[test]
fn routes_of_the_configuration_are_routes_like_others_at_the_start_and_when_it_is_read_again() {
    let face = |port: u16, prefix: &str| {
        format!("[[face]]\nremote = \"udp4://127.0.0.1:{port}\"\nroutes = [\"{prefix}\"]\n")
    };
    let node = Node::start("configured", &face(9, "/first"));
    let is_static = |prefix: &str| {
        let routes = node.json(&["route", "list", prefix]);
        routes.as_array().unwrap().len() == 1 && routes[0]["routes"][0]["origin"] == "static"
    };
    let until = |prefix: &str| {
        let deadline = Instant::now() + LIMIT;
        while !is_static(prefix) {
            assert!(Instant::now() < deadline, "{prefix} is not in the RIB");
        }
    };
    until("/first");
    let file = node.folder.join("node.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + &face(10, "/second")).unwrap();
    let hup = Command::new("kill").args(["-HUP", &node.process.id().to_string()]).status().unwrap();
    assert!(hup.success());
    until("/second");
    assert!(is_static("/first"));
    node.say(&["route", "remove", "/second", "udp://127.0.0.1:10"]);
    assert_eq!(node.json(&["route", "list", "/second", "--next-hops"]), serde_json::json!([]));
}

#[test]
fn a_batch_does_all_or_stops_at_the_first_failure() {
    let node = Node::start("batch", "");
    let batch = |text: &str, more: &[&str]| {
        let mut command = node.command(&[&["batch", "-"], more].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let good = "# set up\nroute add /a udp://127.0.0.1:9\nstrategy set /a multicast\n";
    assert_eq!(batch(good, &[]), (Some(0), String::new()));
    assert_eq!(node.json(&["route", "list", "/a"]).as_array().unwrap().len(), 1);

    let failing = "face destroy 99999\nroute add /b udp://127.0.0.1:9\n";
    let (code, complaint) = batch(failing, &[]);
    assert!(code == Some(1) && complaint.contains("line 1"), "{complaint}");
    assert_eq!(node.json(&["route", "list", "/b"]), serde_json::json!([]));
    assert_eq!(batch(failing, &["--keep-going"]).0, Some(1));
    assert_eq!(node.json(&["route", "list", "/b"]).as_array().unwrap().len(), 1);
}

#[test]
fn events_are_told_as_they_happen() {
    let node = Node::start("events", "");
    let mut events =
        node.command(&["face", "events", "--json", "--count", "2"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(events.stdout.take().unwrap()).lines();
    // The application that listens is a face too, and so is each that runs a command: wait until it listens,
    // by making things happen until it tells one.
    let (sender, receiver) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        while let Some(Ok(line)) = lines.next() {
            let _ = sender.send(line);
        }
    });
    let deadline = Instant::now() + LIMIT;
    let first = loop {
        node.say(&["status"]);
        match receiver.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => break line,
            Err(_) => assert!(Instant::now() < deadline, "no event"),
        }
    };
    let event: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert!(["created", "destroyed"].contains(&event["event"].as_str().unwrap()), "{event}");
    node.say(&["status"]);
    reader.join().unwrap();
    assert!(events.wait().unwrap().success());
}

#[test]
fn where_keys_are_named_only_their_commands_are_carried_out() {
    let folder = TestFolder::new("operator");
    let store = KeyStore::open(folder.join("keys")).unwrap();
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = UnixTime::from_secs(since.as_secs());
    let validity = ValidityPeriod { not_before: now, not_after: UnixTime::from_secs(since.as_secs() + 3600) };
    let certificate_of = |identity: &str| {
        let key = PrivateKey::generate(KeyKind::EcdsaP256).unwrap();
        let key_id = Component::generic(b"1");
        let stored = store.generate(&identity.parse().unwrap(), key_id, key, now, validity).unwrap();
        stored.default_certificate.unwrap()
    };
    let operator = certificate_of("/operator");
    certificate_of("/stranger");
    let file = folder.join("operator.cert");
    std::fs::write(&file, trust::text::to_base64(operator.data().wire())).unwrap();
    let more =
        format!("[[authorize]]\ncertificate = \"{}\"\nmodules = [\"rib\", \"faces\"]\n", file.display());
    let node = Node::start("keys", &more);
    let as_signed_by = |key: &str, arguments: &[&str]| {
        let mut command = node.command(&[arguments, &["--sign", key]].concat());
        let output = command.env("CAIRN_KEYS", folder.join("keys")).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let add = ["route", "add", "/a", "udp://127.0.0.1:9"];
    assert_eq!(as_signed_by("/operator", &add), (Some(0), String::new()));
    assert_eq!(as_signed_by("/operator", &["route", "remove", "/a", "udp://127.0.0.1:9"]).0, Some(0));
    let (code, complaint) = as_signed_by("/stranger", &add);
    assert!(code == Some(1) && complaint.contains("403"), "{complaint}");
    // It may not do everything.
    let (code, complaint) = as_signed_by("/operator", &["strategy", "set", "/a", "multicast"]);
    assert!(code == Some(1) && complaint.contains("403"), "{complaint}");
}

#[test]
fn who_was_certified_by_an_operator_gives_commands_from_its_own_key_store() {
    let folder = TestFolder::new("delegate");
    let cairn = |keys: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn"));
        command.args(arguments).env("CAIRN_KEYS", folder.join(keys)).current_dir(&folder).output().unwrap()
    };
    // The lab certifies a group, and the group Alice; each has a key store of its own.
    for (keys, arguments) in [
        ("lab", &["key", "new", "/lab"][..]),
        ("lab", &["cert", "export", "/lab", "-o", "lab.cert"]),
        ("group", &["key", "new", "/lab/people"]),
        ("group", &["cert", "request", "/lab/people", "-o", "group.req"]),
        ("lab", &["cert", "sign", "group.req", "--by", "/lab", "-o", "group.cert"]),
        ("group", &["cert", "import", "group.cert"]),
        ("alice", &["key", "new", "/lab/people/alice"]),
        ("alice", &["cert", "request", "/lab/people/alice", "-o", "alice.req"]),
        ("group", &["cert", "sign", "alice.req", "--by", "/lab/people", "-o", "alice.cert"]),
        ("alice", &["cert", "import", "alice.cert"]),
        ("mallory", &["key", "new", "/lab/people/mallory"]),
    ] {
        let output = cairn(keys, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let file = folder.join("lab.cert");
    let authorize = |more: &str| {
        format!("[[authorize]]\ncertificate = \"{}\"\nmodules = [\"rib\", \"faces\"]\n{more}", file.display())
    };
    let add_as = |node: &Node, keys: &str, identity: &str| {
        let mut command = node.command(&["route", "add", "/a", "udp://127.0.0.1:9", "--sign", identity]);
        let output = command.env("CAIRN_KEYS", folder.join(keys)).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let strict = Node::start("strict", &authorize(""));
    let (code, complaint) = add_as(&strict, "alice", "/lab/people/alice");
    assert!(code == Some(1) && complaint.contains("403"), "{complaint}");
    let node = Node::start("delegating", &authorize("delegates = true\n"));
    assert_eq!(add_as(&node, "group", "/lab/people"), (Some(0), String::new()));
    assert_eq!(
        add_as(&node, "alice", "/lab/people/alice"),
        (Some(0), String::new()),
        "the group is known by now, and Alice has only her own certificate"
    );
    let (code, complaint) = add_as(&node, "mallory", "/lab/people/mallory");
    assert!(code == Some(1) && complaint.contains("403"), "{complaint}");
}

#[test]
fn status_tells_what_is_held_and_what_was_dropped_once_or_again_and_again() {
    let node = Node::start("status", "");
    node.say(&["route", "add", "/a", "udp://127.0.0.1:9"]);
    let totals = &node.json(&["status"])["totals"];
    assert_eq!(totals["rib_routes"], node.json(&["route", "list"]).as_array().unwrap().len());
    assert!(
        totals["rib_bytes"].as_u64().unwrap() > 0 && totals["table_bytes"].as_u64().unwrap() > 0,
        "{totals}"
    );
    // An Interest that leads nowhere is dropped, and the reason is told.
    assert!(!node.cairn(&["peek", "/nowhere", "--lifetime", "100ms"]).status.success());
    let status = node.json(&["status"]);
    let drops = status["totals"]["drops"].as_array().unwrap();
    let without_a_way = drops.iter().find(|dropped| dropped["reason"] == "no-next-hop");
    assert!(
        without_a_way
            .is_some_and(|dropped| dropped["layer"] == "engine" && dropped["count"].as_u64() >= Some(1)),
        "{status}"
    );
    // Many have come and gone by now; that the node has told of it, though nobody asked, is no drop.
    assert!(drops.iter().all(|dropped| dropped["reason"] != "unsolicited"), "{status}");
    let text = node.say(&["status"]);
    for line in ["waiting for peers", "routes in the RIB", "Dropped", "no-next-hop"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // However soon it is asked again, the forwarder tells how it is then.
    let watched = node.say(&["status", "--watch", "100ms", "--count", "4"]);
    assert_eq!(watched.matches("running for").count(), 4, "{watched}");
    let asked: std::collections::BTreeSet<&str> =
        watched.lines().filter(|line| line.contains("Interests in")).collect();
    assert_eq!(asked.len(), 4, "{watched}");
    assert!(asked.iter().filter(|line| line.contains("/s)")).count() == 3, "{watched}");
}

/// A tool that goes on while the forwarder is started again, and the lines that it prints and tells.
struct Follower {
    process: Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Follower {
    fn start(mut command: Command) -> Follower {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = std::sync::mpsc::channel();
        let streams: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(process.stdout.take().unwrap()), Box::new(process.stderr.take().unwrap())];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                BufReader::new(stream).lines().map_while(Result::ok).all(|line| send.send(line).is_ok())
            });
        }
        Follower { process, lines }
    }

    fn hears(&self, text: &str, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if line.contains(text) {
                return true;
            }
        }
        false
    }

    fn wait_for(&self, text: &str) {
        assert!(self.hears(text, LIMIT), "nobody says {text:?}");
    }

    /// Ctrl-C ends it well.
    fn interrupt(mut self) {
        let interrupted = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        assert!(interrupted.unwrap().success());
        assert_eq!(self.process.wait().unwrap().code(), Some(0));
    }
}

/// Ends the forwarder as by a crash, and starts it again when `follower` has noticed.
fn restart(node: &mut Node, follower: &Follower) {
    node.process.kill().unwrap();
    node.process.wait().unwrap();
    follower.wait_for("waiting for it to come back");
    let mut again = Command::new(env!("CARGO_BIN_EXE_cairn"));
    again.args(["node", "run", "--config"]).arg(node.folder.join("node.toml"));
    node.process = again.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    follower.wait_for("again");
}

#[test]
fn whoever_watches_a_forwarder_sees_it_again_when_it_has_restarted_and_ctrl_c_ends_it_well() {
    let mut node = Node::start("watch", "");
    let watch = Follower::start(node.command(&["status", "--watch", "1s"]));
    watch.wait_for("pending Interests");
    restart(&mut node, &watch);
    watch.wait_for("pending Interests");
    watch.interrupt();
}

#[test]
fn whoever_listens_to_events_hears_them_again_when_the_forwarder_has_restarted() {
    let mut node = Node::start("events-again", "");
    let events = Follower::start(node.command(&["face", "events", "--json"]));
    // Those who run a command come and go as faces; it takes a moment until somebody listens.
    let hears_one = |node: &Node| {
        let deadline = Instant::now() + LIMIT;
        while !events.hears("created", Duration::from_millis(100)) {
            assert!(Instant::now() < deadline, "no event");
            node.say(&["status"]);
        }
    };
    hears_one(&node);
    restart(&mut node, &events);
    hears_one(&node);
    events.interrupt();
}
