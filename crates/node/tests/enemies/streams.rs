//! Streams that begin and do not end, promise gigabytes, or are never read.

use std::time::{Duration, Instant};

use cairn_node::DropReason;
use packet::ndn::DataBuilder;

use crate::peer::{Listener, Peer, interest, message};
use crate::victim::{SOON, Victim, connect, fresh_name, register, wait_until};

#[test]
fn streams_that_stop_inside_a_frame_are_closed_in_time_and_others_are_served_meanwhile() {
    let victim = Victim::with(|config| config.node.stall_timeout_secs = 1);
    let before = victim.faces().len();
    let mut stalled: Vec<Peer> = Vec::new();
    for place in [&victim.tcp, &victim.unix] {
        for _ in 0..100 {
            let mut peer = connect(place, Instant::now() + SOON);
            // Half an Interest.
            peer.send(&[5, 100, 7, 50, 8]).unwrap();
            stalled.push(peer);
        }
    }
    victim.assert_serves();
    for peer in &mut stalled {
        assert!(peer.is_closed_by(Instant::now() + SOON), "a stalled stream stayed open");
    }
    wait_until("the faces go", || victim.faces().len() <= before + 3);
    assert_eq!(victim.drops(DropReason::StalledStream), 200);
}

#[test]
fn a_byte_now_and_then_does_not_keep_a_stream_open() {
    let victim = Victim::with(|config| config.node.stall_timeout_secs = 1);
    let wire = interest(&"/honest/slow".parse().unwrap()).build().unwrap().wire().to_vec();
    for place in [&victim.tcp, &victim.unix] {
        let mut peer = connect(place, Instant::now() + SOON);
        let began = Instant::now();
        // Never the last byte; each wait for the end of the connection is what passes between two bytes.
        let mut bytes = vec![5, 0xfd, 0x20, 0x00];
        bytes.extend(wire.iter().cycle().take(8000));
        let closed = bytes.iter().any(|byte| {
            let closed = peer.send(&[*byte]).is_err();
            closed || peer.is_closed_by(Instant::now() + Duration::from_millis(5))
        });
        assert!(closed, "it took {} bytes in {:?}", bytes.len(), began.elapsed());
    }
    assert_eq!(victim.drops(DropReason::StalledStream), 2);
    victim.assert_serves();
}

#[test]
fn a_stream_that_is_slow_and_honest_is_served() {
    let victim = Victim::start();
    for place in [&victim.tcp, &victim.unix] {
        let mut peer = connect(place, Instant::now() + SOON);
        let wire = interest(&fresh_name("/honest")).build().unwrap();
        for byte in wire.wire().iter() {
            peer.send(&[*byte]).unwrap();
        }
        assert!(peer.receive(Instant::now() + SOON).is_some(), "no answer over {place:?}");
    }
}

#[test]
fn a_header_that_promises_more_than_a_frame_may_have_closes_the_stream_at_once() {
    let victim = Victim::start();
    let promises: [&[u8]; 5] = [
        // Four gigabytes, 2^63 bytes, 64 KiB, and just one byte too many.
        &[5, 254, 0xff, 0xff, 0xff, 0xff],
        &[100, 255, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[6, 255, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[6, 253, 0xff, 0xff],
        &[0xfe, 0xff, 0xff, 0xff, 0xff],
    ];
    for place in [&victim.tcp, &victim.unix] {
        for promise in promises {
            let mut peer = connect(place, Instant::now() + SOON);
            peer.send(promise).unwrap();
            assert!(peer.is_closed_by(Instant::now() + SOON), "{promise:?} is still waited for");
        }
    }
    assert_eq!(victim.drops(DropReason::BrokenStream), 10);
    victim.assert_serves();
}

/// Answers `count` Interests with as much as fits.
fn answer(producer: &mut Peer, count: usize) {
    for _ in 0..count {
        let asked = producer.receive_interest(Instant::now() + SOON).unwrap();
        let data = DataBuilder::new(asked.name().to_name()).content(vec![1; 8000]);
        producer.send(data.build_with_digest().unwrap().wire()).unwrap();
    }
}

#[test]
fn a_peer_that_never_reads_has_a_bounded_queue_and_keeps_nobody_waiting() {
    const QUEUE: usize = 100_000;
    let victim = Victim::with(|config| config.node.send_queue_bytes = Some(QUEUE));
    let deadline = Instant::now() + 2 * SOON;
    let mut slow = Vec::new();
    for (place, prefix) in [(&victim.tcp, "/large/tcp"), (&victim.unix, "/large/unix")] {
        let before = victim.drops(DropReason::SendQueueFull);
        let mut producer = connect(&victim.unix, deadline);
        assert!(register(&mut producer, &prefix.parse().unwrap(), deadline).is_ok());
        let mut peer = connect(place, deadline);
        // What the system buffers for a connection is some megabytes, however many; in the end it is full.
        wait_until("the queue fills", || {
            for _ in 0..200 {
                let asked = interest(&fresh_name(prefix)).build().unwrap();
                peer.send(asked.wire()).unwrap();
            }
            answer(&mut producer, 200);
            victim.drops(DropReason::SendQueueFull) > before
        });
        slow.push(peer);
        victim.assert_serves();
    }
    // One frame may lie above each limit.
    assert!(victim.counted("cairn_queued_bytes") <= 2 * (QUEUE as u64 + 10_000), "{}", victim.metrics());
    let full = victim.faces().into_iter().filter(|face| {
        let drops = &face.traffic.transport_drops;
        drops.iter().any(|(reason, _)| *reason == DropReason::SendQueueFull.as_str())
    });
    assert_eq!(full.count(), slow.len(), "who reads too slowly is not to be seen in its face");
}

#[test]
fn a_browser_that_asks_whether_we_are_there_and_never_reads_has_a_bounded_queue() {
    const QUEUE: usize = 100_000;
    let victim = Victim::with(|config| config.node.send_queue_bytes = Some(QUEUE));
    let mut peer = connect(&victim.websocket, Instant::now() + SOON);
    let ping = message(0x89, &[b'?'; 125]).repeat(1000);
    wait_until("the queue fills", || {
        peer.send_raw(&ping).unwrap();
        victim.drops(DropReason::SendQueueFull) > 0
    });
    assert!(victim.counted("cairn_queued_bytes") <= QUEUE as u64 + 1000, "{}", victim.metrics());
    victim.assert_serves();
}

#[test]
fn requests_to_become_a_websocket_that_never_end_are_closed_in_time() {
    let victim = Victim::with(|config| config.node.stall_timeout_secs = 1);
    let Listener::WebSocket(address) = victim.websocket else { panic!("another place") };
    for beginning in [&b""[..], b"GET / HTTP/1.1\r\nHost: here\r\n"] {
        let mut peer = connect(&Listener::Tcp(address), Instant::now() + SOON);
        peer.send_raw(beginning).unwrap();
        assert!(peer.is_closed_by(Instant::now() + SOON), "still open after {beginning:?}");
    }
    let mut endless = connect(&Listener::Tcp(address), Instant::now() + SOON);
    let _ = endless.send_raw(&[b'x'; 9000]);
    assert!(endless.is_closed_by(Instant::now() + SOON), "a request without an end is still read");
    assert_eq!(victim.drops(DropReason::StalledStream), 2);
    victim.assert_serves();
}

#[test]
fn all_peers_that_never_read_share_one_limit_and_the_others_are_served() {
    const ALL: usize = 1 << 20;
    let victim = Victim::with(|config| {
        config.node.all_send_queues_bytes = Some(ALL);
        config.content_store.max_bytes = Some(64 << 20);
    });
    let deadline = Instant::now() + SOON;
    let mut producer = connect(&victim.unix, deadline);
    assert!(register(&mut producer, &"/large".parse().unwrap(), deadline).is_ok());
    // Fetched once, so that the content store answers from now on.
    let names: Vec<_> = (0..100).map(|_| fresh_name("/large")).collect();
    let mut reader = connect(&victim.unix, deadline);
    for name in &names {
        reader.send(interest(name).nonce(1).build().unwrap().wire()).unwrap();
        answer(&mut producer, 1);
        assert!(reader.receive(deadline).is_some());
    }
    let mut slow: Vec<Peer> = (0..20).map(|_| connect(&victim.unix, deadline)).collect();
    let mut nonce = 1;
    wait_until("their queues fill", || {
        nonce += 1;
        for peer in &mut slow {
            for name in &names {
                peer.send(interest(name).nonce(nonce).build().unwrap().wire()).unwrap();
            }
        }
        victim.drops(DropReason::SendQueueFull) > 100
    });
    victim.assert_serves();
    // Each may have a little even when all have too much.
    let most = ALL as u64 + slow.len() as u64 * 30_000;
    assert!(victim.counted("cairn_queued_bytes") <= most, "{}", victim.metrics());
    drop(slow);
    wait_until("what waited for them is gone", || victim.counted("cairn_queued_bytes") == 0);
}

#[test]
fn an_application_that_asks_faster_than_it_reads_gets_everything_in_the_end() {
    const ASKED: u32 = 4000;
    let victim = Victim::with(|config| {
        // A quarter of what is asked for.
        config.node.send_queue_bytes = Some(8 << 20);
        config.content_store.max_bytes = Some(64 << 20);
    });
    let deadline = Instant::now() + 3 * SOON;
    let mut producer = connect(&victim.unix, deadline);
    assert!(register(&mut producer, &"/large".parse().unwrap(), deadline).is_ok());
    let names: Vec<_> = (0..100).map(|_| fresh_name("/large")).collect();
    let mut first = connect(&victim.unix, deadline);
    for name in &names {
        first.send(interest(name).nonce(1).build().unwrap().wire()).unwrap();
        answer(&mut producer, 1);
        assert!(first.receive(deadline).is_some());
    }
    for (number, place) in [&victim.unix, &victim.tcp].into_iter().enumerate() {
        let mut reader = connect(place, deadline);
        let mut writer = reader.another();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (nonce, name) in (0..ASKED).zip(names.iter().cycle()) {
                    let nonce = 2 + nonce + ASKED * number as u32;
                    writer.send(interest(name).nonce(nonce).build().unwrap().wire()).unwrap();
                }
            });
            // It reads nothing for a moment: until the node has enough of it.
            wait_until("it is not read from for a while", || {
                victim.counted("cairn_stream_holds_total") > number as u64
            });
            for received in 0..ASKED {
                assert!(reader.receive(deadline).is_some(), "{received} of {ASKED} over {place:?}");
            }
        });
    }
    assert_eq!(victim.drops(DropReason::SendQueueFull), 0, "{}", victim.metrics());
}
