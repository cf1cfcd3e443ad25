//! A neighbour with the system's usual receive buffer, which takes one datagram at a time and works on each.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use packet::NackReason;
use packet::ndn::lp::LpPacketView;
use packet::ndn::{DataView, InterestView};

use crate::support::*;

/// Linux doubles it to 212,992, in which about 92 of these frames find room.
const RECEIVE_BUFFER: usize = 106_496;
const HELD_FRAMES: usize = 92;
const CONTENT_BYTES: usize = 1300;
/// Few enough that the node's own socket holds all Interests, even where it got no more than this one.
const WINDOW: usize = 200;
const OBJECTS: usize = 1000;
/// What a slow forwarder does for each packet.
const WORK: Duration = Duration::from_micros(90);

fn uri(number: usize) -> String {
    format!("/x/{number}")
}

/// Has the node's content store hold all that is asked for.
fn fill_store(node: &TestNode) {
    let mut producer = tcp_peer(node.address("tcp4"));
    node.until("the producer has a face", |node| node.faces().len() == 1);
    node.route("/x", node.faces()[0].id);
    let mut consumer = tcp_peer(node.address("tcp4"));
    for number in 0..OBJECTS {
        consumer.write_all(&interest(&uri(number))).unwrap();
        read_frame(&mut producer);
        producer.write_all(&data(&uri(number), CONTENT_BYTES)).unwrap();
        read_frame(&mut consumer);
    }
}

/// The number of the Data in a frame. An Interest, which is the node's question for an echo, is sent back.
fn take(socket: &UdpSocket, frame: &[u8]) -> Option<usize> {
    let view = LpPacketView::decode(frame).unwrap();
    let packet = view.fragment?;
    if InterestView::decode(packet).is_ok() {
        let mut answer = Vec::new();
        let nack = Some(NackReason::NoRoute);
        LpPacketView { nack, fragment: Some(packet), ..LpPacketView::default() }.encode(&mut answer);
        socket.send(&answer).unwrap();
        return None;
    }
    let name = DataView::decode(packet).unwrap().name().to_string();
    name.strip_prefix("/x/")?.parse().ok()
}

#[test]
fn a_neighbour_with_a_stock_socket_asks_less_again_than_its_socket_holds_though_it_asks_for_more() {
    let node = TestNode::start();
    fill_store(&node);
    let socket = udp_peer();
    socket2::SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    socket.connect(node.address("udp4")).unwrap();
    let mut pending = BTreeSet::new();
    let (mut next, mut asked_again) = (0, 0);
    let mut frame = vec![0; 65_536];
    let deadline = Instant::now() + 3 * TIMEOUT;
    while next < OBJECTS || !pending.is_empty() {
        assert!(Instant::now() < deadline, "{} of {OBJECTS} are missing", pending.len());
        // All at once, so that answers come in trains.
        if pending.is_empty() {
            for number in next..OBJECTS.min(next + WINDOW) {
                socket.send(&interest(&uri(number))).unwrap();
                pending.insert(number);
            }
            next = OBJECTS.min(next + WINDOW);
        }
        let Ok(length) = socket.recv(&mut frame) else {
            asked_again += pending.len();
            for number in &pending {
                socket.send(&interest(&uri(*number))).unwrap();
            }
            continue;
        };
        if let Some(number) = take(&socket, &frame[..length]) {
            pending.remove(&number);
        }
        let busy_until = Instant::now() + WORK;
        while Instant::now() < busy_until {
            std::hint::spin_loop();
        }
    }
    // A train may be lost while the node has not heard an echo yet; afterwards its window fits the socket.
    assert!(asked_again < HELD_FRAMES, "{asked_again} of {OBJECTS} asked again");
}
