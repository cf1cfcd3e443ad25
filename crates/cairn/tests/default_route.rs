//! What a default route to a neighbour changes for producers on this host: nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::time::{Duration, Instant};

use world::{World, bytes};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts producers under `/here` that stay.
fn produce(world: &mut World, file: &[u8]) {
    world.write("file", file);
    world.start(&["put", "/here/file", "-f", "file"], "published");
    world.start(&["pingserver", "/here/ping", "--quiet"], "PING SERVER");
    world.write("said", b"good day");
    poke(world);
}

/// Has one Data wait for whoever asks.
fn poke(world: &mut World) {
    world.start(&["poke", "/here/said", "--file", "said"], "waiting for somebody");
}

/// Asks for all of that.
fn consume(world: &World, file: &[u8]) {
    let got = world.run(&["get", "/here/file", "-q"]);
    assert!(got.status.success() && got.stdout == file, "{}", String::from_utf8_lossy(&got.stderr));
    world.good(&["ping", "/here/ping", "-c", "5", "-i", "1ms", "-q"]);
    assert_eq!(world.good(&["peek", "-p", "/here/said"]), "good day");
}

/// Waits until the ping server has registered again.
fn until_pinged(world: &World) {
    let deadline = Instant::now() + TIMEOUT;
    while !world.run(&["ping", "/here/ping", "-c", "1", "-o", "500ms", "-q"]).status.success() {
        assert!(Instant::now() < deadline, "the ping server does not come back");
    }
}

#[test]
fn producers_are_found_beside_a_default_route_whichever_came_first() {
    let file = bytes(50_000);
    let gateway = World::neighbourly();
    for route_is_first in [true, false] {
        let mut world = World::neighbourly();
        let add_route = |world: &World| world.good(&["route", "add", "/", &gateway.udp()]);
        if route_is_first {
            add_route(&world);
        }
        produce(&mut world, &file);
        if !route_is_first {
            add_route(&world);
        }
        consume(&world, &file);
        // After the node was killed, producers come back by themselves, before the route or after it.
        world.replace_node();
        if route_is_first {
            add_route(&world);
        }
        until_pinged(&world);
        poke(&mut world);
        if !route_is_first {
            add_route(&world);
        }
        consume(&world, &file);
    }
}
