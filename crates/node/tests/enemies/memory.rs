//! One budget of memory, and everything at once that wants to take more.

use std::time::Instant;

use cairn_node::DropReason;
use packet::ndn::DataBuilder;
use packet::ndn::lp::LpPacketView;
use system::proc_files::memory_bytes;

use crate::peer::{Peer, interest};
use crate::victim::{SOON, Victim, connect, fresh_name, register};

/// Set in the process that has the node for itself.
const ALONE: &str = "CAIRN_TESTS_ALONE";
const BUDGET: u64 = 40 << 20;

/// Bytes of this process that are in memory.
fn resident_bytes() -> u64 {
    memory_bytes(std::process::id()).unwrap()
}

/// Runs a test in a process of its own, because memory belongs to processes. True in that process.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    eprintln!("{said}");
    false
}

fn large_first_fragment(sequence: u64) -> Vec<u8> {
    let mut frame = Vec::new();
    // The beginning of a Data of 8,796 bytes.
    let mut fragment = vec![6, 253, 0x22, 0x5c, 7, 3, 8, 1, 65];
    fragment.resize(8000, 0);
    let view = LpPacketView {
        sequence: Some(sequence),
        frag_index: Some(0),
        frag_count: Some(2),
        fragment: Some(&fragment[..]),
        ..Default::default()
    };
    view.encode(&mut frame);
    frame
}

fn fragments_from_many_ports(victim: &Victim) {
    let mut peers: Vec<Peer> = (0..300).map(|_| connect(&victim.udp, Instant::now() + SOON)).collect();
    for sequence in 0..30 {
        peers.iter_mut().for_each(|peer| peer.send(&large_first_fragment(2 * sequence)).unwrap());
    }
}

fn interests_that_nobody_answers(victim: &Victim) {
    let deadline = Instant::now() + SOON;
    let mut silent = connect(&victim.unix, deadline);
    assert!(register(&mut silent, &"/silent".parse().unwrap(), deadline).is_ok());
    let mut flood = connect(&victim.tcp, deadline);
    let filler = "f".repeat(1000);
    for _ in 0..20_000 {
        let asked = interest(&fresh_name(&format!("/silent/{filler}")));
        flood.send(asked.lifetime(packet::time::Duration::from_secs(60)).build().unwrap().wire()).unwrap();
    }
    victim.assert_manages();
}

/// Has 48 MB of Data pass through, and those who ask for all of it again never read it.
fn data_for_many_who_never_read(victim: &Victim) -> Vec<Peer> {
    let deadline = Instant::now() + 3 * SOON;
    let mut producer = connect(&victim.unix, deadline);
    assert!(register(&mut producer, &"/large".parse().unwrap(), deadline).is_ok());
    let mut reader = connect(&victim.unix, deadline);
    let names: Vec<_> = (0..6000).map(|_| fresh_name("/large")).collect();
    for name in &names {
        reader.send(interest(name).nonce(1).build().unwrap().wire()).unwrap();
        let asked = producer.receive_interest(deadline).unwrap();
        let data = DataBuilder::new(asked.name().to_name()).content(vec![1; 8000]);
        producer.send(data.build_with_digest().unwrap().wire()).unwrap();
        assert!(reader.receive(deadline).is_some());
    }
    let mut slow: Vec<Peer> = (0..20).map(|_| connect(&victim.unix, deadline)).collect();
    for (number, peer) in slow.iter_mut().enumerate() {
        for name in names.iter().rev().take(1000) {
            let nonce = 2 + number as u32;
            if peer.send_if_room(interest(name).nonce(nonce).build().unwrap().wire()).is_err() {
                break;
            }
        }
    }
    slow
}

fn ports_of_one_address(victim: &Victim) -> Vec<Peer> {
    let mut peers: Vec<Peer> = (0..800).map(|_| connect(&victim.udp, Instant::now() + SOON)).collect();
    for peer in &mut peers {
        peer.send(interest(&fresh_name("/honest")).build().unwrap().wire()).unwrap();
    }
    peers
}

#[test]
fn resident_memory_stays_below_a_small_budget_under_all_floods_and_the_node_still_forwards() {
    const NAME: &str =
        "memory::resident_memory_stays_below_a_small_budget_under_all_floods_and_the_node_still_forwards";
    if !is_alone(NAME) {
        return;
    }
    let before = resident_bytes();
    let victim = Victim::with(|config| {
        config.node.memory_bytes = BUDGET;
        config.node.crowded_idle_timeout_secs = 1;
    });
    let taken = |what: &str| {
        let taken = resident_bytes() - before;
        println!("{what}: {} kB", taken >> 10);
        assert!(taken <= BUDGET, "{what}: {taken} bytes of {BUDGET}:\n{}", victim.metrics());
    };
    taken("at first");
    fragments_from_many_ports(&victim);
    taken("fragments");
    interests_that_nobody_answers(&victim);
    taken("Interests");
    let _slow = data_for_many_who_never_read(&victim);
    taken("Data");
    let _ports = ports_of_one_address(&victim);
    victim.assert_serves();
    taken("ports");
    assert!(victim.counted("cairn_pending_bytes") <= BUDGET / 8);
    assert!(victim.counted("cairn_cached_bytes") <= BUDGET / 2);
    assert!(victim.drops(DropReason::TooManyFaces) + victim.drops(DropReason::GaveWay) > 0);
}
