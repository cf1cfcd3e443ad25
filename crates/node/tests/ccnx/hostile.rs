//! Whatever a peer sends, the node goes on answering everybody else.

use packet::random::Random;
use testkit::vectors::{self, Vector};

use crate::peer::{Host, Peer, Socket, interest};

/// Captured datagrams, streams and packets of links, all of what peers of CCNx send.
fn captured() -> Vec<Vec<u8>> {
    let is_sent = |vector: &Vector| {
        let kinds = ["ccnx-interest", "ccnx-content", "ccnx-pdu", "ccnx-sequence-number"];
        kinds.contains(&vector.kind()) || vector.kind().starts_with("ndnlp1-")
    };
    let mut all = vectors::load("ccnx");
    all.retain(is_sent);
    all.extend(vectors::load("ccnx-exchanges"));
    assert!(all.len() > 100, "{}", all.len());
    all.into_iter().map(|vector| vector.bytes).collect()
}

/// The same with a few bytes changed, cut out, or repeated.
fn mutated(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.next_u64() % 4 {
        let place = (random.next_u64() % bytes.len().max(1) as u64) as usize;
        match random.next_u64() % 3 {
            0 if !bytes.is_empty() => bytes[place] ^= random.next_u64() as u8,
            1 => bytes.truncate(place),
            _ => bytes.extend_from_within(place..),
        }
    }
    bytes
}

fn answers(host: &Host) {
    let ping = interest("ccnx:/ccnx/ping", None);
    host.unix().ask(&ping);
    Peer::new(host.udp()).ask(&ping);
    Peer::new(host.tcp()).ask(&ping);
}

#[test]
fn spoiled_datagrams_and_streams_stop_nobody() {
    let host = Host::new();
    let mut random = Random::from_seed(19);
    for bytes in captured() {
        let mut datagrams = host.udp();
        let (mut tcp, mut unix) = (host.tcp(), host.unix());
        for _ in 0..8 {
            let spoiled = mutated(&mut random, &bytes);
            datagrams.transmit(&spoiled[..spoiled.len().min(60_000)]);
            // The node may have closed the connection already.
            let _ = std::io::Write::write_all(&mut tcp, &spoiled);
            unix.try_send(&spoiled);
        }
    }
    answers(&host);
}

#[test]
fn requests_for_the_status_page_that_are_never_read_or_never_end_stop_nobody() {
    let host = Host::new();
    let mut open: Vec<_> = (0..100).map(|_| host.tcp()).collect();
    for (number, connection) in open.iter_mut().enumerate() {
        let request: &[u8] = if number % 2 == 0 { b"GET /?f=xml HTTP/1.1\r\n" } else { b"GET /" };
        let _ = std::io::Write::write_all(connection, request);
    }
    answers(&host);
}

#[test]
fn a_neighbour_gets_signatures_for_a_part_of_the_time_and_an_application_all_that_it_asks_for() {
    let host = Host::with(|config| config.metrics.listen = Some("127.0.0.1:0".parse().unwrap()));
    let mut neighbour = Peer::new(host.udp());
    let mut application = host.unix();
    let mut asked = 0;
    while host.counted("ccnx-pings-refused") < 1000 {
        for _ in 0..50 {
            neighbour.send(&interest(&format!("ccnx:/ccnx/ping/{asked}"), None));
            asked += 1;
        }
        application.ask(&interest(&format!("ccnx:/ccnx/ping/mine/{asked}"), None));
        assert!(asked < 1_000_000, "a neighbour gets a signature for each of its packets");
    }
    assert!(
        host.counted("ccnx-pings") > asked / 50,
        "neighbours are answered, too, as long as there is time"
    );
}
