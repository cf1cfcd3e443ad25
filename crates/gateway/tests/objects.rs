//! Objects of named data, as web browsers and players ask for them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::io::{BufReader, Read as _, Write as _};

use client::Trust;
use client::files::Folder;
use common::{World, read_answer};
use flow::source::folder::FolderConfig;
use flow::source::{FolderSource, MemoryObject, Packets, Reply, Source, SourceError, answer_with};
use flow::{Publication, PublicationConfig, SegmentSize};
use management::{FibEntry, GeneralStatus, encode_list};
use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{NackReason, Name, UnixTime};
use testkit::folder::TestFolder;
use trust::Signer;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn bytes(count: u32) -> Vec<u8> {
    (0..count).map(|number| (number / 7 % 251) as u8).collect()
}

/// An object as `cairn put` publishes it.
fn object(uri: &str, bytes: Vec<u8>) -> MemoryObject<Publication, Vec<u8>> {
    let version = 1_700_000_000_123;
    let config = PublicationConfig::new(name(uri), version, bytes.len() as u64, Signer::digest());
    MemoryObject::new(Publication::new(config).unwrap(), bytes)
}

/// An object of a producer whose metadata tells of no sizes, as that of ndnputchunks and ndnd.
fn terse(uri: &str, bytes: Vec<u8>) -> impl Source + Send + 'static {
    let mut object = object(uri, bytes);
    let (prefix, versioned) =
        (name(uri).with(flow::naming::METADATA).unwrap(), object.publication().name().clone());
    answer_with(move |interest| {
        if !prefix.as_ref().is_prefix_of(interest.name()) {
            return object.answer(interest);
        }
        let mut content = Vec::new();
        let metadata = flow::Metadata {
            name: versioned.clone(),
            last_segment: None,
            segment_bytes: None,
            size_bytes: None,
        };
        metadata.encode(&mut content);
        let data = DataBuilder::new(prefix.with(versioned.as_ref().last().unwrap())?).content(content);
        Ok(Reply::Data(data.freshness(Duration::from_millis(10)).build_with_digest()?))
    })
}

/// Says that there is no way to what `source` does not have.
fn or_no_route(mut source: impl Source + Send + 'static) -> impl Source + Send + 'static {
    answer_with(move |interest| {
        Ok(match source.answer(interest)? {
            Reply::NotMine => Reply::Nack(NackReason::NoRoute),
            reply => reply,
        })
    })
}

#[test]
fn an_object_comes_whole_with_what_a_browser_wants_to_know_of_it() {
    let world = World::new(object("/lab/film.mp4", bytes(1_000_000)));
    let answer = world.get("/ndn/lab/film.mp4");
    assert_eq!((answer.status, answer.is_whole), (200, true));
    assert!(answer.body == bytes(1_000_000));
    for (header, value) in [
        ("content-length", "1000000"),
        ("content-type", "video/mp4"),
        ("accept-ranges", "bytes"),
        ("content-location", "/ndn/lab/film.mp4/v=1700000000123"),
        ("last-modified", "Tue, 14 Nov 2023 22:13:20 GMT"),
        ("cache-control", "no-cache"),
        ("access-control-allow-origin", "*"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.header(header), value, "{header}");
    }
    let exact = world.get("/ndn/lab/film.mp4/v=1700000000123");
    assert!(exact.body == answer.body);
    assert_eq!(exact.header("etag"), answer.header("etag"));
    assert!(exact.header("cache-control").contains("immutable"), "{}", exact.header("cache-control"));
    let segment = world.get("/ndn/lab/film.mp4/v=1700000000123/seg=3");
    assert!(segment.body == bytes(1_000_000)[24_000..32_000]);
}

#[test]
fn a_head_is_answered_without_the_object() {
    let world = World::new(object("/lab/film.mp4", bytes(1_000_000)));
    let answer = world.ask("HEAD", "/ndn/lab/film.mp4", &[]);
    assert_eq!((answer.status, answer.header("content-length")), (200, "1000000"));
    assert_eq!(answer.header("content-type"), "video/mp4");
    assert_eq!(world.count_asked("/seg="), 0);
}

#[test]
fn parts_are_sent_and_only_their_segments_are_asked_for() {
    let all = bytes(1_000_000);
    let world = World::new(object("/lab/film.mp4", all.clone()));
    for (range, part) in [
        ("bytes=0-99", 0..100),
        ("bytes=7990-8010", 7990..8011),
        ("bytes=999990-", 999_990..1_000_000),
        ("bytes=-5", 999_995..1_000_000),
        ("bytes=500000-2000000", 500_000..1_000_000),
    ] {
        world.asked.lock().unwrap().clear();
        let answer = world.ask("GET", "/ndn/lab/film.mp4", &[&format!("Range: {range}")]);
        assert_eq!((answer.status, answer.is_whole), (206, true), "{range}");
        let expected = format!("bytes {}-{}/1000000", part.start, part.end - 1);
        assert_eq!(answer.header("content-range"), expected);
        assert!(answer.body == all[part.clone()], "{range}");
        let segments = (part.end - 1) / 8000 - part.start / 8000 + 1;
        assert_eq!(world.count_asked("/seg="), segments, "{range}");
    }
    let beyond = world.ask("GET", "/ndn/lab/film.mp4", &["Range: bytes=1000000-"]);
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */1000000"));
    let senseless = world.ask("GET", "/ndn/lab/film.mp4", &["Range: bytes=9-1"]);
    assert_eq!((senseless.status, senseless.body.len()), (200, 1_000_000));
}

#[test]
fn several_parts_come_in_one_body() {
    let all = bytes(100_000);
    let world = World::new(object("/lab/film.mp4", all.clone()));
    let answer = world.ask("GET", "/ndn/lab/film.mp4", &["Range: bytes=0-9,50000-50099,-3"]);
    assert_eq!((answer.status, answer.is_whole), (206, true));
    let boundary = answer.header("content-type").strip_prefix("multipart/byteranges; boundary=").unwrap();
    let mut expected = Vec::new();
    for part in [0..10, 50_000..50_100, 99_997..100_000] {
        let range = format!("Content-Range: bytes {}-{}/100000", part.start, part.end - 1);
        expected.extend(format!("\r\n--{boundary}\r\nContent-Type: video/mp4\r\n{range}\r\n\r\n").bytes());
        expected.extend_from_slice(&all[part]);
    }
    expected.extend(format!("\r\n--{boundary}--\r\n").bytes());
    assert_eq!(String::from_utf8_lossy(&answer.body), String::from_utf8_lossy(&expected));
}

#[test]
fn who_has_the_object_is_not_sent_it_again() {
    let world = World::new(object("/lab/film.mp4", bytes(50_000)));
    let tag = world.get("/ndn/lab/film.mp4").header("etag").to_owned();
    let ask = |headers: &[&str]| world.ask("GET", "/ndn/lab/film.mp4", headers).status;
    assert_eq!(ask(&[&format!("If-None-Match: {tag}")]), 304);
    assert_eq!(ask(&["If-None-Match: \"other\""]), 200);
    assert_eq!(ask(&["If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT"]), 304);
    assert_eq!(ask(&["If-Match: \"other\""]), 412);
    assert_eq!(ask(&["Range: bytes=0-9", &format!("If-Range: {tag}")]), 206);
    assert_eq!(ask(&["Range: bytes=0-9", "If-Range: \"other\""]), 200, "of another state all is needed");
}

#[test]
fn objects_are_found_whatever_their_producer_tells_of_them() {
    let all = bytes(100_000);
    let world = World::new(terse("/lab/film.mp4", all.clone()));
    let answer = world.get("/ndn/lab/film.mp4");
    assert_eq!((answer.status, answer.header("content-length")), (200, "100000"));
    assert!(answer.body == all);
    let part = world.ask("GET", "/ndn/lab/film.mp4", &["Range: bytes=-10"]);
    assert!(part.body == all[99_990..]);

    // Without metadata, and in one packet that nobody cut.
    let hello =
        DataBuilder::new(name("/lab/hello")).content(b"hello".to_vec()).freshness(Duration::from_secs(1));
    let mut packets = Packets::new([hello.build_with_digest().unwrap()]);
    let world = World::new(answer_with(move |interest| packets.answer(interest)));
    let answer = world.get("/ndn/lab/hello");
    assert_eq!((answer.status, answer.text()), (200, "hello".to_owned()));
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
}

#[test]
fn an_empty_object_is_an_empty_body() {
    let world = World::new(object("/lab/empty.txt", Vec::new()));
    let answer = world.get("/ndn/lab/empty.txt");
    assert_eq!((answer.status, answer.header("content-length"), answer.body.len()), (200, "0", 0));
}

#[test]
fn what_is_not_there_and_who_does_not_answer_are_different_things() {
    let world = World::new(or_no_route(object("/lab/file", bytes(10))));
    let answer = world.get("/ndn/other/file");
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("no-route"), "{}", answer.text());
    assert_eq!(world.get("/ndn/lab/file/v=1").status, 404, "the producer refuses");
    assert_eq!(world.get("/elsewhere").status, 404);
    assert_eq!(world.get("/ndn/a=b").status, 400);
    assert_eq!(world.get("/ndn/localhost/nfd/status/general").status, 403);
    let silent = World::new(answer_with(|_| Ok(Reply::NoReply)));
    let answer = silent.get("/ndn/lab/<file>");
    assert_eq!(answer.status, 400, "a stranger's markup");
    let answer = silent.get("/ndn/lab/file");
    assert_eq!((answer.status, answer.header("content-type")), (504, "text/html; charset=utf-8"));
    assert!(answer.text().contains("<h1>504 Gateway Timeout</h1>"), "{}", answer.text());
}

#[test]
fn what_is_not_trusted_is_not_sent() {
    let key = trust::PrivateKey::generate(trust::KeyKind::EcdsaP256).unwrap();
    let issuer = packet::Component::generic(b"self");
    let validity = trust::ValidityPeriod { not_before: UnixTime::ZERO, not_after: UnixTime::END };
    let key_name = name("/other/KEY/1");
    let anchor = trust::certificate::self_signed(&key, &key_name, issuer, UnixTime::ZERO, validity).unwrap();
    let world = World::with(object("/lab/file", bytes(10)), move || Trust::anchors([anchor.clone()]), |_| {});
    let answer = world.get("/ndn/lab/file");
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert!(answer.body.windows(10).all(|window| window != bytes(10)));
}

#[test]
fn an_object_that_breaks_off_is_not_taken_for_whole() {
    let mut film = object("/lab/film.mp4", bytes(1_000_000));
    let cut = answer_with(move |interest| {
        let last = interest.name().last().and_then(flow::naming::segment_number);
        if last.is_some_and(|segment| segment > 60) {
            return Ok(Reply::Nack(NackReason::NoRoute));
        }
        film.answer(interest)
    });
    let world = World::with(cut, Trust::anybody, |config| {
        config.limits.drought = std::time::Duration::from_millis(500);
    });
    let answer = world.get("/ndn/lab/film.mp4");
    assert_eq!((answer.status, answer.is_whole), (200, false));
    assert!(answer.body == bytes(1_000_000)[..answer.body.len()]);
    assert_eq!(world.metric("broken_total"), 1);
}

#[test]
fn a_folder_is_a_page_and_its_files_are_a_click_away() {
    let folder = TestFolder::new("gateway-folder");
    std::fs::create_dir_all(folder.join("site")).unwrap();
    std::fs::write(folder.join("a & b.txt"), "text").unwrap();
    std::fs::write(folder.join("site/index.html"), "<p>here").unwrap();
    let config = FolderConfig {
        prefix: name("/lab"),
        segment_size: SegmentSize::default(),
        freshness: Duration::from_secs(1),
        metadata_freshness: Duration::from_millis(1),
        signer: Signer::digest(),
    };
    let world = World::new(FolderSource::new(config, Folder::open(&folder).unwrap()));
    let moved = world.get("/ndn/lab");
    assert_eq!((moved.status, moved.header("location")), (301, "/ndn/lab/"));
    let page = world.get("/ndn/lab/");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let text = page.text();
    assert!(text.contains("<a href=\"./a%20%26%20b.txt\">a &amp; b.txt</a>"), "{text}");
    assert!(text.contains("<a href=\"./site/\">site/</a>"), "{text}");
    assert_eq!(world.get("/ndn/lab/a%20%26%20b.txt").text(), "text");
    let site = world.get("/ndn/lab/site/");
    assert_eq!((site.status, site.text()), (200, "<p>here".to_owned()));
    assert!(site.header("content-security-policy").starts_with("sandbox"), "strangers wrote it");
    let listed = world.get("/ndn/lab/site/?list=json");
    assert!(listed.text().contains("\"component\":\"index.html\""), "{}", listed.text());
    assert_eq!(world.get("/ndn/lab/missing.txt").status, 404);
}

#[test]
fn a_client_that_reads_slowly_slows_the_network_down() {
    let world = World::with(object("/lab/film.mp4", bytes(64 << 20)), Trust::anybody, |config| {
        config.limits.buffer_bytes = 256 << 10;
    });
    let mut stream = world.connect();
    stream.write_all(b"GET /ndn/lab/film.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 1000];
    stream.read_exact(&mut first).unwrap();
    // Another client is served meanwhile, so time has passed.
    let mut asked = world.count_asked("/seg=");
    loop {
        for _ in 0..20 {
            world.ask("HEAD", "/ndn/lab/film.mp4", &[]);
        }
        let now = world.count_asked("/seg=");
        if now == asked {
            break;
        }
        asked = now;
    }
    // What the kernel holds for two sockets may be some megabytes.
    assert!(asked < 2000, "{asked} of 8389 segments were asked for although nobody reads");
    let (mut read, mut more) = (1000, vec![0; 1 << 20]);
    while let Ok(count @ 1..) = stream.read(&mut more) {
        read += count;
        if read > 64 << 20 {
            break;
        }
    }
    assert!(read > 64 << 20, "{read} bytes came when it was read on");
}

#[test]
fn a_thousand_clients_that_go_away_take_their_fetches_with_them() {
    let mut world = World::new(object("/lab/film.mp4", bytes(64 << 20)));
    for _ in 0..1000 {
        let mut stream = world.connect();
        stream.write_all(b"GET /ndn/lab/film.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut first = [0; 100];
        stream.read_exact(&mut first).unwrap();
    }
    // More than may fetch at once were begun; others are served all the same.
    for _ in 0..50 {
        assert_eq!(world.ask("GET", "/ndn/lab/film.mp4", &["Range: bytes=0-9"]).status, 206);
    }
    assert!(world.count_asked("/seg=") < 1000 * 1000);
    world.end();
    let log = world.log.lock().unwrap();
    assert_eq!(log.iter().filter(|line| line.contains("HTTP/1.1\" 206 10")).count(), 50);
}

#[test]
fn requests_that_no_browser_makes_are_refused_and_do_no_harm() {
    let world = World::new(object("/lab/file", bytes(10)));
    let huge = format!("GET /ndn/lab/file HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET /ndn/lab/file HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(100));
    for request in [&huge, &many] {
        assert_eq!(world.send(request.as_bytes()).status, 431);
    }
    for (request, status) in [
        ("GET /ndn/lab/file HTTP/1.1\r\n\r\n", 400),
        ("GET /ndn/lab/file HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
        ("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", 405),
        ("POST /ndn/lab/file HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        ("GET /ndn/lab/file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("nonsense\r\n\r\n", 400),
    ] {
        assert_eq!(world.send(request.as_bytes()).status, status, "{request:?}");
    }
    // What follows a body that was not wanted is not taken for another request.
    let mut stream = world.connect();
    let smuggled = "GET /ndn/lab/file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\
                    Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /-/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(smuggled.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    assert_eq!(read_answer(&mut reader, false).status, 400);
    let mut rest = Vec::new();
    let _ = reader.read_to_end(&mut rest);
    assert_eq!(String::from_utf8_lossy(&rest), "");
    assert_eq!(world.get("/ndn/lab/file").status, 200);
}

#[test]
fn pages_of_any_origin_may_read_objects_and_nothing_else() {
    let world = World::new(object("/lab/file", bytes(10)));
    let preflight = world.ask(
        "OPTIONS",
        "/ndn/lab/file",
        &["Origin: https://player.example", "Access-Control-Request-Private-Network: true"],
    );
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").contains("Range"));
    assert_eq!(preflight.header("access-control-allow-private-network"), "true");
    let read = world.ask("GET", "/ndn/lab/file", &["Origin: https://player.example"]);
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, "*"));
    let refused = world.ask("GET", "/-/metrics", &["Origin: https://player.example"]);
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, ""));
}

/// What a forwarder tells of itself; nothing about other names.
fn tell(interest: &packet::Interest) -> Result<Reply, SourceError> {
    let content = match &interest.name().to_string()[..] {
        "/localhost/nfd/status/general" => {
            let version = "a \u{3c}b\u{3e}".to_owned();
            GeneralStatus { version, pit_entries: 7, ..GeneralStatus::default() }.encode()
        }
        "/localhost/nfd/faces/list" => Vec::new(),
        "/localhost/nfd/fib/list" => {
            let entry = |prefix: &str| FibEntry { prefix: name(prefix), next_hops: Vec::new() };
            encode_list(&["/web/a%2Fb", "/", "/localhost/nfd", "/lab"].map(entry))
        }
        _ => return Ok(Reply::NoReply),
    };
    let data = management::segments(&interest.name().to_name(), 1, &content)?.remove(0);
    Ok(Reply::Data(data.build_with_digest()?))
}

#[test]
fn the_page_shows_what_the_forwarder_tells_of_itself_and_only_to_itself() {
    // However many objects are being fetched.
    let world = World::with(answer_with(tell), Trust::anybody, |config| config.limits.fetches = 0);
    let page = world.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'; script-src 'self'"));
    for file in ["/-/page.js", "/-/page.css"] {
        assert!(page.text().contains(file) && world.get(file).status == 200, "{file}");
    }
    let status = world.get("/-/status.json");
    assert_eq!(status.status, 200, "{}", status.text());
    assert!(status.text().contains("\"pit_entries\":7"), "{}", status.text());
    // What is on this host, and the default route, are nothing to open.
    let names: serde_json::Value = serde_json::from_slice(&world.get("/-/names.json").body).unwrap();
    let found = [("/lab", "/ndn/lab"), ("/web/a%2Fb", "/ndn/web/a%2Fb")];
    let found = found.map(|(name, path)| serde_json::json!({ "name": name, "path": path }));
    assert_eq!(names, serde_json::json!({ "prefixes": found, "more": 0 }));
    for path in ["/-/status.json", "/-/names.json"] {
        assert_eq!(world.ask("GET", path, &["Origin: https://evil.example"]).status, 403);
        assert_eq!(world.ask("GET", path, &["Sec-Fetch-Site: cross-site"]).status, 403);
    }
}

#[test]
fn a_transfer_is_shown_until_its_client_has_all_of_it() {
    let size = 16 << 20;
    let mut film = object("/lab/film.mp4", bytes(size));
    let source = answer_with(move |interest: &packet::Interest| match tell(interest)? {
        Reply::NoReply => film.answer(interest),
        reply => Ok(reply),
    });
    let world = World::new(source);
    let transfers = || {
        let status: serde_json::Value = serde_json::from_slice(&world.get("/-/status.json").body).unwrap();
        status["transfers"].as_array().unwrap().clone()
    };
    let mut stream = world.connect();
    stream.write_all(b"GET /ndn/lab/film.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 1000];
    stream.read_exact(&mut first).unwrap();
    let seen = transfers();
    assert_eq!((seen.len(), &seen[0]["total_bytes"]), (1, &serde_json::json!(size)));
    assert!(seen[0]["name"].as_str().unwrap().starts_with("/lab/film.mp4/"), "{seen:?}");
    let sent = seen[0]["sent_bytes"].as_u64().unwrap();
    assert!(sent > 0 && sent < u64::from(size), "{seen:?}");
    let mut rest = vec![0; size as usize - first.len()];
    stream.read_exact(&mut rest).unwrap();
    assert!(stream.read(&mut rest).unwrap() > 0, "the head came before the body");
    while !transfers().is_empty() {}
}

#[test]
fn one_connection_is_enough_for_many_requests_and_the_end_is_orderly() {
    let mut world = World::new(object("/lab/file", bytes(20_000)));
    let stream = world.connect();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    for _ in 0..3 {
        writer.write_all(b"GET /ndn/lab/file HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let answer = read_answer(&mut reader, false);
        assert!(answer.body == bytes(20_000));
    }
    assert_eq!(world.metric("connections"), 2);
    world.end();
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    let log = world.log.lock().unwrap();
    assert!(log[0].ends_with("\"GET /ndn/lab/file HTTP/1.1\" 200 20000"), "{}", log[0]);
}

#[test]
fn a_thousand_clients_that_say_nothing_keep_nobody_from_asking() {
    let world = World::new(object("/lab/file", bytes(10)));
    let idle: Vec<_> = (0..1000).map(|_| world.connect()).collect();
    assert_eq!(world.get("/ndn/lab/file").status, 200);
    drop(idle);
}
