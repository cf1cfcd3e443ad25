//! Neighbours that die and come back: the paths through them heal without anybody's help.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, FaceUri, NodeControl as _};
use engine::NextHop;
use packet::{Dialect, Name};

use crate::peer::{Listener, interest};
use crate::victim::{SOON, Victim, connect, fresh_name, wait_until};

/// A permanent face from `victim` to `remote`, with everything under `/honest/there`... being reached by it.
fn path_to(victim: &Victim, remote: FaceUri) {
    let mut node = victim.node.control();
    let request = CreateFace {
        remote,
        local: None,
        persistency: FacePersistency::Permanent,
        changes: FaceChanges::default(),
        dialect: Dialect::Ndn,
    };
    let face = node.create_face(request).unwrap().id;
    // Longer than the producer's own prefix, so that it goes before it.
    let prefix: Name = "/honest/there".parse().unwrap();
    node.add_next_hop(Dialect::Ndn, &prefix, NextHop { face, cost: 0 }, None).unwrap();
}

/// Whether something beyond the neighbour answers, in one try.
fn answers(victim: &Victim) -> bool {
    let mut peer = connect(&victim.unix, Instant::now() + SOON);
    let asked = interest(&fresh_name("/honest/there")).lifetime(packet::time::Duration::from_millis(300));
    peer.ask(&asked, Instant::now() + Duration::from_millis(300)).is_some()
}

/// Kills what `start` makes, starts it again, and demands that the path comes back both times.
fn heals(start: impl Fn() -> Victim, remote: FaceUri, first: Victim) {
    let victim = Victim::start();
    path_to(&victim, remote);
    wait_until("the path works", || answers(&victim));
    drop(first);
    wait_until("the neighbour is gone", || !answers(&victim));
    // Into the void, which answers with errors: those are no reason to stop.
    for _ in 0..3 {
        assert!(!answers(&victim));
    }
    victim.assert_serves();
    let _again = start();
    wait_until("the path works again", || answers(&victim));
    victim.assert_serves();
}

fn address(place: &Listener) -> SocketAddr {
    match place {
        Listener::Tcp(address) | Listener::Udp(address) | Listener::WebSocket(address) => *address,
        Listener::Unix(path) => panic!("{} has no address", path.display()),
    }
}

#[test]
fn a_path_over_tcp_heals_when_a_killed_neighbour_is_back() {
    let first = Victim::start();
    let at = address(&first.tcp);
    heals(|| Victim::with(|config| config.tcp.listen = vec![at]), FaceUri::Tcp(at), first);
}

#[test]
fn a_path_over_udp_heals_when_a_killed_neighbour_is_back() {
    let first = Victim::start();
    let at = address(&first.udp);
    heals(|| Victim::with(|config| config.udp.listen = vec![at]), FaceUri::Udp(at), first);
}

#[test]
fn a_path_over_a_unix_socket_heals_when_a_killed_neighbour_is_back() {
    let place = Victim::start();
    let path = place.directory().join("neighbour.sock");
    let start = || {
        Victim::with(|config| {
            config.unix.listen.get_or_insert_with(Vec::new).push(path.clone());
        })
    };
    let first = start();
    heals(start, FaceUri::Unix(path.clone()), first);
}
