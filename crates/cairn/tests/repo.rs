//! Repositories, as people use them: in a folder, beside a forwarder, and inside one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use world::{World, bytes};

const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn objects_are_put_listed_got_and_deleted_and_a_dry_run_deletes_nothing() {
    let world = World::new();
    let film = bytes(100_000);
    world.write("film", &film);
    world.good(&["repo", "put", "store", "/lab/film/v=1", "-f", "film"]);
    world.good(&["repo", "put", "store", "/lab/film/v=2", "-f", "node.toml"]);
    // By a pipe, which does not say how long it is.
    assert!(world.run_with(&["repo", "put", "store", "/lab/song", "-s", "1000"], &film).status.success());
    world.good(&["repo", "get", "store", "/lab/song", "-o", "song"]);
    assert!(world.read("song") == film);
    let info = world.json(&["repo", "info", "store", "/lab/film/v=1"]);
    assert_eq!((&info["segments"], &info["complete"]), (&13.into(), &true.into()));
    assert_eq!(world.good(&["repo", "list", "store", "/*/film", "--json"]).lines().count(), 2);

    world.good(&["repo", "get", "store", "/lab/film/v=1", "-o", "one"]);
    world.good(&["repo", "get", "store", "/lab/film", "-o", "newest"]);
    assert!(world.read("one") == film && world.read("newest") == world.read("node.toml"));

    let would = world.json(&["repo", "delete", "store", "/lab/film", "--dry-run"]);
    assert_eq!((&would["objects"], &would["segments"]), (&2.into(), &14.into()));
    assert_eq!(world.json(&["repo", "stats", "store"])["objects"], 3);
    let deleted = world.json(&["repo", "delete", "store", "/lab/film"]);
    assert_eq!((&deleted["objects"], &deleted["bytes"]), (&would["objects"], &would["bytes"]));
    assert_eq!(world.json(&["repo", "stats", "store"])["objects"], 1);
    assert_eq!(world.run(&["repo", "get", "store", "/lab/film"]).status.code(), Some(1));
    assert_eq!(world.run(&["repo", "info", "store", "/lab/film"]).status.code(), Some(1));
    world.good(&["repo", "pin", "store", "/lab/song"]);
    assert_eq!(world.json(&["repo", "info", "store", "/lab/song"])["pinned"], true);
    assert_eq!(world.run(&["repo", "list", "nowhere"]).status.code(), Some(1));
}

#[test]
fn who_only_looks_makes_no_repository_and_who_names_nothing_deletes_nothing() {
    let world = World::new();
    std::fs::create_dir(world.path("other")).unwrap();
    for command in [&["list"][..], &["stats"], &["verify"], &["compact"], &["export"]] {
        let looked = world.run(&[&["repo"], command, &["other"]].concat());
        assert_eq!(looked.status.code(), Some(1), "{command:?}");
        assert!(String::from_utf8_lossy(&looked.stderr).contains("there is no repository in other"));
    }
    assert_eq!(std::fs::read_dir(world.path("other")).unwrap().count(), 0);
    world.good(&["repo", "put", "store", "/lab/für uns", "-f", "node.toml"]);
    world.good(&["repo", "put", "store", "ccnx:/lab/c", "-f", "node.toml"]);
    // As a variable that is not set.
    assert_eq!(world.run(&["repo", "delete", "store", ""]).status.code(), Some(2));
    assert_eq!(world.json(&["repo", "stats", "store"])["objects"], 2);
    for pattern in ["/lab/für*", "ndn:/lab/f%c3%bcr uns"] {
        let deleted = world.json(&["repo", "delete", "store", pattern, "-n"]);
        assert!(deleted["names"][0].as_str().unwrap().starts_with("/lab/f%C3%BCr%20uns/v="), "{deleted}");
    }
    let deleted = world.json(&["repo", "delete", "store", "ccnx:/"]);
    assert!(deleted["names"][0].as_str().unwrap().starts_with("ccnx:/lab/c/"), "{deleted}");
    // The index can be lost; whoever opens the folder is told.
    std::fs::remove_file(world.path("store/index.redb")).unwrap();
    let told = world.run(&["repo", "list", "store"]);
    assert!(String::from_utf8_lossy(&told.stderr).contains("made anew: 1 objects"), "{told:?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_read_and_stays_as_it_is() {
    if !rustix::process::geteuid().is_root() {
        // Only root can mount it so.
        return;
    }
    let world = World::new();
    let film = bytes(100_000);
    world.write("film", &film);
    world.good(&["repo", "put", "store", "/lab/film", "-f", "film"]);
    world.good(&["repo", "put", "store", "/lab/song", "-f", "node.toml"]);
    // A packet is not as it was written, and behind the last one lies what whoever opens the folder cuts off.
    let volume = std::fs::read_dir(world.path("store")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["reserve", "index.redb"];
    let volume = volume
        .filter(|path| !others.iter().any(|other| path.ends_with(other)))
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(volume).unwrap();
    file.write_all_at(b"flipped", 60_000).unwrap();
    file.write_all_at(&[7; 5000], file.metadata().unwrap().len()).unwrap();
    let files = || {
        let mut files: Vec<_> = std::fs::read_dir(world.path("store"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let script = "mount --bind store store && mount -o remount,ro,bind store && \
        for what in list stats verify \"delete store /lab/song\"; do \
        case $what in delete*) \"$0\" repo $what;; *) \"$0\" repo $what store;; esac; echo \"code $?\"; done; \
        \"$0\" repo get store /lab/song -o song; echo \"code $?\"; \"$0\" repo verify store --json";
    let like = world.command(&[]);
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", script]).arg(like.get_program()).current_dir(world.path(""));
    shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    let (told, problems) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let codes: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("code ")).collect();
    assert_eq!(codes, ["0", "0", "1", "1", "0"], "{told}{problems}");
    assert!(told.contains("/lab/song/v="), "{told}");
    let json = told.rsplit_once("code 0\n").unwrap().1;
    let verified: serde_json::Value = serde_json::from_str(json).unwrap();
    assert!(verified["damaged"][0].as_str().unwrap().starts_with("/lab/film/v="), "{verified}");
    assert_eq!(verified["dropped"].as_array().unwrap().len(), 0, "{verified}");
    assert!(problems.contains("1 objects damaged, which stay"), "{problems}");
    assert!(problems.contains("Read-only file system"), "what deletes is refused: {problems}");
    assert!(world.read("song") == world.read("node.toml"));
    assert!(files() == before);
}

/// More than the commands below may take.
const LARGE_FILE_BYTES: u64 = 160 << 20;
/// Memory that they may take, with the pages of the command itself.
const BUDGET_BYTES: u64 = 96 << 20;

/// A large file, different in each of its mebibytes.
fn large_file(world: &World) {
    let file = std::fs::File::create(world.path("large")).unwrap();
    file.set_len(LARGE_FILE_BYTES).unwrap();
    for mebibyte in 0..LARGE_FILE_BYTES >> 20 {
        file.write_all_at(&bytes(5000)[mebibyte as usize..], mebibyte << 20).unwrap();
    }
}

fn is_same(world: &World, one: &str, other: &str) -> bool {
    Command::new("cmp").arg(world.path(one)).arg(world.path(other)).status().unwrap().success()
}

/// A line of what the system says about a process; `None` when it has ended.
fn status_line(child: &Child, word: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix(word))?.trim().to_owned())
}

/// Waits for the end of a process; returns how it ended, and the most memory that it was seen to have.
fn watch(mut child: Child) -> (ExitStatus, u64) {
    let (until, mut most) = (Instant::now() + TIMEOUT, 0);
    loop {
        // The system itself remembers the most; nothing is missed but the last instant.
        let peak =
            status_line(&child, "VmHWM:").and_then(|line| line.strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(peak.unwrap_or_default() << 10);
        if let Some(status) = child.try_wait().unwrap() {
            return (status, most);
        }
        assert!(Instant::now() < until, "it does not end");
        std::thread::yield_now();
    }
}

#[test]
fn a_file_larger_than_the_memory_that_may_be_taken_is_put_and_got_by_segments() {
    let world = World::new();
    large_file(&world);
    for command in [
        &["repo", "put", "store", "/lab/large", "-f", "large", "-q"][..],
        &["repo", "get", "store", "/lab/large", "-o", "got"],
    ] {
        let (status, peak) = watch(world.command(command).spawn().unwrap());
        assert!(status.success() && peak > 0, "{command:?}");
        assert!(peak < BUDGET_BYTES, "{command:?} took {peak} bytes");
    }
    assert!(is_same(&world, "large", "got"));
    std::fs::remove_file(world.path("got")).unwrap();
    // By pipes, which have no length.
    let mut put = world.command(&["repo", "put", "store", "/lab/piped", "-q"]);
    let mut cat = Command::new("cat").arg(world.path("large")).stdout(Stdio::piped()).spawn().unwrap();
    let (status, peak) = watch(put.stdin(cat.stdout.take().unwrap()).spawn().unwrap());
    cat.wait().unwrap();
    assert!(status.success() && peak < BUDGET_BYTES, "{status} {peak}");
    let mut get = world.command(&["repo", "get", "store", "/lab/piped"]);
    get.stdout(std::fs::File::create(world.path("got")).unwrap());
    let (status, peak) = watch(get.spawn().unwrap());
    assert!(status.success() && peak < BUDGET_BYTES, "{status} {peak}");
    assert!(is_same(&world, "large", "got"));
}

#[test]
fn who_waits_for_more_to_publish_can_be_interrupted_and_leaves_nothing() {
    let world = World::new();
    for command in [
        &["repo", "put", "store", "/lab/song"][..],
        &["put", "/lab/song", "--repo", "/lab/repo"],
        &["put", "/x"],
    ] {
        let mut child = world
            .command(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&bytes(100_000)).unwrap();
        // It catches signals before it reads.
        let until = Instant::now() + TIMEOUT;
        let catches = |mask: String| u64::from_str_radix(&mask, 16).unwrap() & 2 != 0;
        while !status_line(&child, "SigCgt:").is_some_and(catches) {
            assert!(Instant::now() < until, "{command:?} catches no signal");
        }
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        assert_eq!(watch(child).0.code(), Some(1), "{command:?}");
    }
    assert!(!world.path("store").exists());
}

#[test]
fn a_put_that_fails_half_way_leaves_nothing() {
    let world = World::new();
    // A file that says that it is longer than what can be read of it.
    let put = ["repo", "put", "store", "/lab/short", "-s", "1", "-f", "/sys/kernel/uevent_seqnum"];
    assert_eq!(world.run(&put).status.code(), Some(1));
    let stats = world.json(&["repo", "stats", "store"]);
    assert_eq!((&stats["objects"], &stats["segments"]), (&0.into(), &0.into()));
}

#[test]
fn a_version_that_is_stored_is_not_put_again_and_stays_as_it_was() {
    let world = World::new();
    world.write("file", &bytes(50_000));
    world.write("other", &bytes(30_000));
    world.good(&["repo", "put", "store", "/lab/a/v=1", "-f", "file"]);
    let again = world.run(&["repo", "put", "store", "/lab/a/v=1", "-f", "other"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("/lab/a/v=1 is stored already"));
    world.good(&["repo", "put", "store", "/lab/a/v=2", "-f", "other"]);
    world.good(&["repo", "get", "store", "/lab/a/v=1", "-o", "again"]);
    assert!(world.read("again") == world.read("file"));
}

#[test]
fn a_trace_is_replayed_with_the_policies_that_were_named() {
    let world = World::new();
    world.write("trace", b"1,film,700\n2,song,300\n3,film,700\n");
    let replay = ["repo", "replay", "trace", "--max-bytes", "5000"];
    let found = world.json(&[&replay[..], &["--eviction", "delete-queue/inclusion~0.5"]].concat());
    assert_eq!(
        (&found["requests"], &found["objects"], &found["bytes"]),
        (&3.into(), &2.into(), &1700.into())
    );
    assert_eq!(found["policies"][0]["hits"], 1);
    assert_eq!((&found["schedule_hits"], &found["bound_hits"]), (&1.into(), &1.into()));
    let all = world.good(&replay);
    assert!(all.contains("s3-fifo") && all.contains("3 requests for 2 objects"), "{all}");
    world.write("trace", b"1,film,700\n2,song,many\n");
    let broken = world.run(&replay);
    assert!(String::from_utf8_lossy(&broken.stderr).contains("trace: request 2: its size"));
}

#[test]
fn what_is_exported_can_be_imported_and_what_is_spoilt_is_found_and_dropped() {
    let world = World::new();
    world.write("file", &bytes(50_000));
    world.good(&["repo", "put", "store", "/lab/a", "-f", "file"]);
    world.good(&["repo", "put", "store", "/lab/b", "-f", "file"]);
    world.good(&["repo", "export", "store", "/lab/a", "-o", "packets"]);
    let imported = world.json(&["repo", "import", "copy", "packets"]);
    assert_eq!((&imported["packets"], &imported["bytes"]), (&7.into(), &world.read("packets").len().into()));
    world.good(&["repo", "get", "copy", "/lab/a", "-o", "again"]);
    assert!(world.read("again") == world.read("file"));
    assert_eq!(world.json(&["repo", "verify", "copy"])["packets"], 7);
    world.good(&["repo", "put", "copy", "ccnx:/lab/c", "-f", "file"]);
    let segments = &world.json(&["repo", "stats", "copy"])["segments"];
    assert!(segments.as_u64().unwrap() > 7);
    assert_eq!(&world.json(&["repo", "verify", "copy"])["packets"], segments, "in whatever dialect");
    world.good(&["repo", "delete", "copy", "ccnx:/lab/c"]);

    // One byte of the content changes on the disk.
    let mut packets = world.read("packets");
    packets.truncate(packets.len() - 10);
    world.write("cut", &packets);
    let cut = world.run(&["repo", "import", "part", "cut"]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&cut.stderr).contains("in the middle of the packet"));
    assert_eq!(world.json(&["repo", "stats", "part"])["segments"], 6);
    let volume = std::fs::read_dir(world.path("copy")).unwrap().map(|entry| entry.unwrap().path());
    let needle = world.read("file")[20_000..20_100].to_vec();
    let mut spoilt = 0;
    for path in volume.filter(|path| path.is_file()) {
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(place) = bytes.windows(needle.len()).position(|part| part == needle) {
            bytes[place] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            spoilt += 1;
        }
    }
    assert_eq!(spoilt, 1);
    let verified = world.run(&["repo", "verify", "copy", "--json"]);
    assert_eq!(verified.status.code(), Some(1));
    let verified: serde_json::Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert!(verified["dropped"][0].as_str().unwrap().starts_with("/lab/a/v="));
    assert_eq!(world.json(&["repo", "stats", "copy"])["objects"], 0);
}

#[test]
fn a_repository_serves_beside_a_forwarder_and_takes_packets_by_tcp() {
    let mut world = World::new();
    let film = bytes(200_000);
    world.write("film", &film);
    world.good(&["repo", "put", "store", "/lab/film", "-f", "film"]);
    world.good(&["repo", "put", "other", "/lab/song", "-f", "film"]);
    let packets = world.run(&["repo", "export", "other"]).stdout;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.start(&["repo", "run", "store", "/lab", "--bulk", &port.to_string()], "serving 1 objects");
    for discovery in ["metadata", "prefix"] {
        world.good(&["get", "/lab/film", "-D", discovery, "-o", discovery, "-q"]);
        assert!(world.read(discovery) == film, "{discovery}");
    }
    let busy = world.run(&["repo", "stats", "store"]);
    assert_eq!(busy.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&busy.stderr).contains("in use by a cairn repo command (process"));

    TcpStream::connect(port).unwrap().write_all(&packets).unwrap();
    let until = Instant::now() + TIMEOUT;
    while !world.run(&["get", "/lab/song", "-D", "metadata", "-o", "song", "-q"]).status.success() {
        assert!(Instant::now() < until, "what was inserted by TCP can be got");
    }
    assert!(world.read("song") == film);
    assert_eq!(world.interrupt_last(), Some(0));
    assert_eq!(world.json(&["repo", "stats", "store"])["objects"], 2);
}

#[test]
fn an_object_is_handed_over_by_who_may_and_by_nobody_else_and_stays_when_its_publisher_is_gone() {
    let mut world = World::new();
    let film = bytes(200_000);
    world.write("film", &film);
    for identity in ["/lab", "/lab/alice", "/eve"] {
        world.good(&["key", "new", identity]);
    }
    world.good(&["cert", "export", "/lab", "-o", "lab.cert"]);
    world.good(&["cert", "request", "/lab/alice", "-o", "alice.req"]);
    world.good(&["cert", "sign", "alice.req", "--by", "/lab", "--issuer", "lab", "-o", "alice.cert"]);
    world.good(&["cert", "import", "alice.cert"]);
    let run = ["repo", "run", "store", "/lab", "--name", "/lab/repo"];
    let refused = world.run(&run);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nobody may give commands"));
    world.start(&[&run[..], &["--anchor", "lab.cert"]].concat(), "serving 0 objects");
    let put = ["put", "/lab/alice/film", "-f", "film", "--repo", "/lab/repo"];
    for stranger in ["/eve", "digest"] {
        let refused = world.run(&[&put[..], &["-S", stranger]].concat());
        assert_eq!(refused.status.code(), Some(1), "{stranger}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("does not take commands of this key"));
    }
    world.good(&[&put[..], &["-S", "/lab/alice"]].concat());
    // Its publisher has ended.
    world.good(&["get", "/lab/alice/film", "-D", "prefix", "-o", "got", "-q"]);
    assert!(world.read("got") == film);
    assert_eq!(world.interrupt_last(), Some(0));
    let stats = world.json(&["repo", "stats", "store"]);
    assert_eq!((&stats["objects"], &stats["segments"]), (&1.into(), &25.into()));
}

#[test]
fn four_lines_of_configuration_keep_what_passed_by_when_its_producer_and_the_node_are_gone() {
    let mut world = World::new();
    let file = bytes(100_000);
    world.write("file", &file);
    let mut config = world.read("node.toml");
    config.extend_from_slice(b"[[repository]]\npath = 'cache'\nprefixes = ['/lab']\nmax_bytes = 100000000\n");
    world.write("node.toml", &config);
    world.replace_node();
    world.start(&["put", "/lab/file", "-f", "file"], "published");
    world.good(&["get", "/lab/file", "-o", "first", "-q"]);
    assert_eq!(world.interrupt_last(), Some(0));
    let until = Instant::now() + TIMEOUT;
    while world.json(&["status"])["totals"]["repositories"][0]["segments"] != 13 {
        assert!(Instant::now() < until, "{}", world.json(&["status"]));
    }
    world.replace_node();
    world.good(&["get", "/lab/file", "-D", "metadata", "-o", "again", "-q"]);
    assert!(world.read("again") == file);
    let status = world.good(&["status"]);
    assert!(status.contains("Repository at cache"), "{status}");
}

#[test]
fn deletions_for_the_papers_requests_are_timed_in_three_layouts_and_leave_nothing_behind() {
    let world = World::new();
    let bench = ["bench", "deletions", "--megabytes", "100", "--deletions", "2", "--percent", "25"];
    let timed = world.json(&[&bench[..], &["--folder", "."]].concat());
    let rows = timed["rows"].as_array().unwrap();
    let layouts: Vec<_> = rows.iter().map(|row| row["layout"].as_str().unwrap()).collect();
    assert_eq!(layouts, ["copy and swap", "a file for each object", "holes"]);
    for row in rows {
        let seconds = |part: &str| row[part].as_f64().unwrap();
        assert_eq!((&row["deletions"], &row["percent"]), (&2.into(), &25.into()));
        assert!(seconds("clean_up_seconds") > 0.0 && row["deletions_a_day"].as_u64().unwrap() > 0);
        // Only the paper's way copies what stays.
        assert_eq!(seconds("copy_seconds") > 0.0, row["layout"] == "copy and swap");
    }
    let mut left = std::fs::read_dir(world.path(".")).unwrap().flatten();
    assert!(!left.any(|entry| entry.file_name().to_string_lossy().contains("bench")));
}
