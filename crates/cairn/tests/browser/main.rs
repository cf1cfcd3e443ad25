//! A real browser before the gateway and the node: pages play, read and ask, and may do no more than that.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod chromium;
mod players;
mod site;
mod video;

#[path = "../world/mod.rs"]
#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use chromium::Chromium;
use serde_json::{Value, json};
use site::Site;
use world::World;

/// A gateway that publishes this world's folder `files` as `/home/files`, and its address.
fn gateway(world: &mut World) -> SocketAddr {
    world.start(&["serve", "files", "/home/files"], "serving");
    let address = free_address();
    world.start(
        &["gateway", "run", "--listen", &address.to_string(), "--access-log", "access.log"],
        &format!("http://{address}"),
    );
    address
}

/// One that nobody listened at a moment ago.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn status_of(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_film_plays_and_seeks_in_a_browser_and_most_of_it_is_never_fetched() {
    let Some(chromium) = Chromium::find() else { return };
    let mut world = World::new();
    // Several times what a browser reads ahead, however slowly it plays: some 30 MB.
    let film = video::film(60, 3_000_000);
    world.write("files/film.webm", &film);
    let address = gateway(&mut world);
    let site = Site::start(&include_str!("film.html").replace("GATEWAY", &address.to_string()));
    let seen = chromium.visit(&world, &site);
    assert_eq!(seen["error"], Value::Null, "{seen}");
    assert_eq!((&seen["duration"], &seen["width"]), (&json!(60), &json!(64)), "{seen}");
    let time = |key: &str| seen[key].as_f64().unwrap();
    assert!(time("played") > 0.3 && time("played") < 5.0, "{seen}");
    assert!(time("sought") >= 50.0 && time("played_on") > time("sought"), "{seen}");
    // The browser asked for the end of the file by a range, and did not read through the middle to get there.
    let log = String::from_utf8(world.read("access.log")).unwrap();
    let parts: Vec<&str> = log.lines().filter(|line| line.contains("film.webm")).collect();
    assert!(parts.iter().any(|line| line.contains(" 206 ")), "{log}");
    let sent = parts.iter().filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum::<usize>();
    assert!(sent > 0 && sent < film.len() / 2, "{sent} of {} bytes\n{log}", film.len());
}

#[test]
fn players_of_hls_and_of_dash_play_seek_and_change_the_quality_by_playlists_as_the_web_has_them() {
    let (Some(chromium), Some(scripts)) = (Chromium::find(), players::scripts()) else { return };
    let mut world = World::new();
    players::write_film(&world, 60);
    let address = gateway(&mut world);
    let page = include_str!("players/players.html").replace("GATEWAY", &address.to_string());
    let site = Site::start(&page);
    for (path, script) in scripts {
        site.offer(path, script);
    }
    let seen = chromium.visit(&world, &site);
    let log = String::from_utf8(world.read("access.log")).unwrap();
    assert_eq!(seen["error"], Value::Null, "{seen}\n{log}");
    for player in ["hls", "dash"] {
        let seen = &seen[player];
        assert_eq!((&seen["duration"], &seen["width"]), (&json!(60), &json!(64)), "{player}: {seen}");
        let time = |key: &str| seen[key].as_f64().unwrap();
        assert!(time("played") > 0.3 && time("played") < 10.0, "{player}: {seen}");
        assert!(time("played_on") >= 50.3 && time("played_on") < 60.0, "{player}: {seen}");
    }
    // Both began in the low quality, by a file a second, and went on in the high one, by ranges.
    let of = |path: &str| log.lines().filter(|line| line.contains(path)).collect::<Vec<_>>();
    let served = |path: &str, status: &str| of(path).iter().any(|line| line.contains(status));
    assert!(served("film/low/1.m4s", " 200 ") && served("film/high/film.mp4", " 206 "), "{log}");
    let refused = |line: &&str| [" 4", " 5"].iter().any(|class| line.contains(&format!("\"{class}")));
    assert_eq!(of("/film/").into_iter().filter(refused).collect::<Vec<_>>(), [""; 0], "{log}");
}

#[test]
fn a_page_of_another_origin_reads_objects_but_neither_status_nor_metrics() {
    let Some(chromium) = Chromium::find() else { return };
    let mut world = World::new();
    world.write("files/note.txt", b"for everybody");
    let address = gateway(&mut world);
    // A program on this host may read what the page must not.
    for path in ["/-/status.json", "/-/metrics"] {
        assert!(status_of(address, path).contains(" 200 "), "{path}");
    }
    let site = Site::start(&include_str!("foreign.html").replace("GATEWAY", &address.to_string()));
    let seen = chromium.visit(&world, &site);
    assert_eq!(seen["note"], "for everybody", "{seen}");
    assert_eq!((&seen["status"], &seen["metrics"]), (&json!("refused"), &json!("refused")), "{seen}");
}

#[test]
fn the_gateways_own_page_shows_the_forwarder_and_that_of_a_folder_its_files() {
    let Some(chromium) = Chromium::find() else { return };
    let mut world = World::new();
    world.write("files/note.txt", b"for everybody");
    let address = gateway(&mut world);
    let page = chromium.page(&world, &format!("http://{address}/"));
    let version = env!("CARGO_PKG_VERSION");
    assert!(page.contains(version), "no version {version} in {page}");
    assert!(page.contains("contentstore://"), "no face of the forwarder in {page}");
    assert!(page.contains("<a href=\"/ndn/home/files\">/home/files</a>"), "no name to open in {page}");
    let folder = chromium.page(&world, &format!("http://{address}/ndn/home/files/"));
    assert!(folder.contains("note.txt"), "{folder}");
}

/// What a page got by WebSocket: of an object, and below `/localhost`.
fn asked_by_websocket(chromium: &Chromium, site: &Site, local_origins: &[&str]) -> (Value, Value) {
    let mut world = World::with_websocket(local_origins);
    world.write("files/note.txt", b"for everybody");
    world.start(&["serve", "files", "/home/files"], "serving");
    let channels = world.good(&["face", "channels"]);
    let channel =
        channels.lines().find(|line| line.contains("ws://")).unwrap_or_else(|| panic!("{channels}"));
    let port = channel.rsplit(':').next().unwrap().trim();
    let interest = |name: &str| {
        let name: packet::Name = name.parse().unwrap();
        let interest = packet::ndn::InterestBuilder::new(name).can_be_prefix(true).nonce(7).build().unwrap();
        packet::hex::encode(interest.wire())
    };
    let page = include_str!("websocket.html")
        .replace("PORT", port)
        .replace("LOCALHOST", &interest("/localhost/nfd/status/general"))
        .replace("OBJECT", &interest("/home/files/note.txt"));
    site.show(&page);
    let seen = chromium.visit(&world, site);
    assert_eq!(seen["error"], Value::Null, "{seen}");
    (seen["object"].clone(), seen["localhost"].clone())
}

#[test]
fn a_page_that_opens_a_websocket_to_the_node_is_a_neighbour_and_no_local_application() {
    let Some(chromium) = Chromium::find() else { return };
    let site = Site::empty();
    assert_eq!(asked_by_websocket(&chromium, &site, &[]), (json!("data"), json!("nothing")));
    // Only where the administrator names its origin.
    let origin = format!("http://{}", site.address());
    assert_eq!(asked_by_websocket(&chromium, &site, &[&origin]), (json!("data"), json!("data")));
}
