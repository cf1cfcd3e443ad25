//! What a node holds returns to where it was. These tests look at the whole process, so they have it to themselves, one after the other.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops where something is not as it must be"
)]

#[path = "../faces/support.rs"]
#[allow(dead_code, reason = "shared with another test, which uses more of it")]
mod support;
#[path = "../hostile/witness.rs"]
mod witness;

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

use engine::FaceId;
use packet::ndn::lp::LpPacketView;
use support::*;
use witness::Witness;

static ALONE: Mutex<()> = Mutex::new(());

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn fragments_that_never_become_packets_take_bounded_memory() {
    let _alone = ALONE.lock().unwrap_or_else(|held| held.into_inner());
    let node = TestNode::start();
    let mut witness = Witness::of(&node);
    let peer = udp_peer();
    let before = resident_bytes();
    // The first half of a Data of 8,000 bytes.
    let mut piece = vec![6, 253, 0x1f, 0x3c];
    piece.resize(4000, 0);
    for number in 0..20_000u64 {
        let mut frame = Vec::new();
        let view = LpPacketView {
            sequence: Some(number * 1000),
            frag_count: Some(2),
            fragment: Some(&piece),
            ..Default::default()
        };
        view.encode(&mut frame);
        peer.send_to(&frame, node.address("udp4")).unwrap();
        if number % 5000 == 0 {
            witness.is_served(&node);
        }
    }
    node.until("old fragments make room for new ones", |node| {
        let drops = node.faces().into_iter().flat_map(|face| face.traffic.link_drops);
        drops.into_iter().any(|(reason, count)| reason == "partial-evicted" && count > 1000)
    });
    // 80 MB were sent; a face keeps one.
    assert!(resident_bytes().saturating_sub(before) < 40 << 20, "{before} then {}", resident_bytes());
    witness.is_served(&node);
}

#[test]
fn ten_thousand_connections_leave_neither_descriptors_nor_memory_behind() {
    let _alone = ALONE.lock().unwrap_or_else(|held| held.into_inner());
    let node = TestNode::start();
    let mut witness = Witness::of(&node);
    let path = node.directory.join("nfd.sock");
    let connect_many = |count: usize| {
        for number in 0..count {
            let question = interest(&format!("/gone/{number}"));
            if number % 2 == 0 {
                tcp_peer(node.address("tcp4")).write_all(&question).unwrap();
            } else {
                UnixStream::connect(&path).unwrap().write_all(&question).unwrap();
            }
        }
        node.until("all are gone", |node| node.faces().iter().all(|face| face.remote.scheme() == "udp4"));
    };
    // The first ones make the tables grow to what they need.
    connect_many(1000);
    witness.is_served(&node);
    let (files, memory) = (open_files(), resident_bytes());
    connect_many(10_000);
    witness.is_served(&node);
    assert!(open_files() <= files + 2, "{files} files then {}", open_files());
    let grown = resident_bytes().saturating_sub(memory);
    assert!(grown < 30 << 20, "{grown} bytes more");
    assert!(node.faces().iter().all(|face| face.id > FaceId(255)));
}
