//! Packets come through, whatever socket they travel by.

use std::io::Write;
use std::os::unix::net::UnixStream;

use cairn_node::control::{CreateFaceError, FacePersistency, NodeControl};
use engine::FaceScope;

use crate::support::*;

/// An Interest from a UDP peer reaches `/x` by another, and the Data comes back.
#[test]
fn an_interest_over_udp_brings_data_back() {
    let node = TestNode::start();
    let (consumer, producer) = (udp_peer(), udp_peer());
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    let (question, answer) = (interest("/x/1"), data("/x/1", 1000));
    consumer.send_to(&question, node.address("udp4")).unwrap();
    assert_eq!(receive(&producer), question);
    producer.send_to(&answer, node.address("udp4")).unwrap();
    assert_eq!(receive(&consumer), answer);
    let faces = node.faces();
    assert_eq!(faces.iter().filter(|face| face.persistency == FacePersistency::OnDemand).count(), 1);
    let counted = faces.iter().find(|other| other.id == face.id).unwrap();
    assert_eq!((counted.traffic.packets.out_interests, counted.traffic.packets.in_data), (1, 1));
    assert_eq!(counted.traffic.in_bytes, answer.len() as u64);
}

#[test]
fn trains_of_many_sizes_arrive_whole_and_none_is_lost() {
    let node = TestNode::start();
    let (consumer, producer) = (udp_peer(), udp_peer());
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    let count = 60;
    for number in 0..count {
        consumer.send_to(&interest(&format!("/x/{number}")), node.address("udp4")).unwrap();
    }
    let mut asked = std::collections::BTreeSet::new();
    for _ in 0..count {
        let question = packet::Interest::decode_ndn(receive(&producer).into()).unwrap();
        let uri = question.name().to_string();
        let length = uri.trim_start_matches("/x/").parse::<usize>().unwrap() % 7 * 100;
        producer.send_to(&data(&uri, length), node.address("udp4")).unwrap();
        assert!(asked.insert(uri), "asked twice");
    }
    for _ in 0..count {
        let answer = packet::Data::decode_ndn(receive(&consumer).into()).unwrap();
        let uri = answer.name().to_string();
        assert_eq!(answer.content().len(), uri.trim_start_matches("/x/").parse::<usize>().unwrap() % 7 * 100);
        assert!(asked.remove(&uri), "answered twice");
    }
}

#[test]
fn no_udp_face_leads_to_an_address_of_everybody_or_nobody() {
    let node = TestNode::start();
    for address in ["0.0.0.0", "255.255.255.255", "127.255.255.255"] {
        let refused = node.try_to_create(&format!("udp4://{address}:6363"));
        assert!(matches!(refused, Err(CreateFaceError::Unsupported(_))), "{address}: {refused:?}");
    }
    assert_eq!(node.faces().len(), 0);
}

#[test]
fn an_interest_over_tcp_is_answered_over_a_unix_socket() {
    let node = TestNode::start();
    let mut producer = UnixStream::connect(node.directory.join("nfd.sock")).unwrap();
    producer.set_read_timeout(Some(TIMEOUT)).unwrap();
    node.until("the producer has a face", |node| node.faces().len() == 1);
    node.route("/x", node.faces()[0].id);
    let mut consumer = tcp_peer(node.address("tcp4"));
    // Many packets in one write, cut where no packet ends.
    let questions: Vec<Vec<u8>> = (0..50).map(|number| interest(&format!("/x/{number}"))).collect();
    let all = questions.concat();
    for piece in all.chunks(37) {
        consumer.write_all(piece).unwrap();
    }
    for question in &questions {
        assert_eq!(&read_frame(&mut producer), question);
    }
    let answers: Vec<Vec<u8>> = (0..50).map(|number| data(&format!("/x/{number}"), 8000)).collect();
    producer.write_all(&answers.concat()).unwrap();
    for answer in &answers {
        assert_eq!(&read_frame(&mut consumer), answer);
    }
    assert!(node.faces().iter().all(|face| face.scope == FaceScope::Local), "both ends are on this host");
}

#[test]
fn a_browser_asks_by_websocket_and_gets_messages_of_one_frame_each() {
    let node = TestNode::start();
    let producer = udp_peer();
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    let mut browser = WebSocketPeer::connect(node.address("ws"));
    for length in [5, 100, 8000] {
        let uri = format!("/x/{length}");
        let question = interest(&uri);
        browser.send(&question);
        assert_eq!(receive(&producer), question);
        producer.send_to(&data(&uri, length), node.address("udp4")).unwrap();
        assert_eq!(browser.receive(), data(&uri, length));
    }
    assert!(node.faces().iter().any(|face| face.remote.scheme() == "wsclient"));
}

#[test]
fn a_page_or_a_proxy_that_comes_by_websocket_is_a_neighbour_and_a_program_or_a_named_page_is_local() {
    let node = TestNode::start_with(|config| {
        config.websocket.local_origins = vec!["http://localhost:8080".to_owned()];
    });
    let scope_with = |more: &str| {
        let before: Vec<_> = node.faces().iter().map(|face| face.id).collect();
        let _browser = WebSocketPeer::connect_with(node.address("ws"), more);
        let faces = node.faces();
        faces.iter().find(|face| !before.contains(&face.id)).unwrap().scope
    };
    assert_eq!(scope_with(""), FaceScope::Local);
    assert_eq!(scope_with("Origin: http://localhost:8080\r\n"), FaceScope::Local);
    assert_eq!(scope_with("Origin: https://example.net\r\n"), FaceScope::NonLocal);
    assert_eq!(scope_with("Origin: null\r\n"), FaceScope::NonLocal);
    assert_eq!(scope_with("X-Forwarded-For: 192.0.2.7\r\n"), FaceScope::NonLocal);
}

#[test]
fn what_a_page_asks_under_localhost_goes_nowhere() {
    let node = TestNode::start();
    let producer = udp_peer();
    // A face over UDP would not be asked for it either; the page must not even get as far as an application.
    let mut application = tcp_peer(node.address("tcp4"));
    node.until("the application has a face", |node| node.faces().len() == 1);
    node.route("/localhost/x", node.faces()[0].id);
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    let mut page = WebSocketPeer::connect_with(node.address("ws"), "Origin: https://example.net\r\n");
    let mut program = WebSocketPeer::connect(node.address("ws"));
    page.send(&interest("/localhost/x/page"));
    // What came by the same face later has arrived: so has what was sent before it.
    page.send(&interest("/x/1"));
    receive(&producer);
    let question = interest("/localhost/x/program");
    program.send(&question);
    assert_eq!(read_frame(&mut application), question, "the page's question came first");
}

#[test]
fn the_limits_of_every_face_hold_for_one_over_websocket_too() {
    let node = TestNode::start_with(|config| {
        config.tables.max_interests_per_second_per_face = 1;
        config.tables.interest_burst_per_face = 3;
    });
    let producer = udp_peer();
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    let mut browser = WebSocketPeer::connect(node.address("ws"));
    for number in 0..8 {
        browser.send(&interest(&format!("/x/{number}")));
    }
    let answer = packet::ndn::lp::LpPacketView::decode(&browser.receive()).unwrap().nack;
    assert_eq!(answer, Some(packet::NackReason::Congestion));
}

#[test]
fn a_face_over_tcp_that_was_asked_for_connects_and_carries_packets() {
    let (near, far) = (TestNode::start(), TestNode::start());
    let producer = udp_peer();
    let last_hop = far.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    far.route("/x", last_hop.id);
    let link = near.create(&format!("tcp4://{}", far.address("tcp4")));
    near.route("/x", link.id);
    near.until("the face is up", |node| {
        node.node.control().face(link.id).is_some_and(|face| face.state == cairn_node::control::FaceState::Up)
    });
    let consumer = udp_peer();
    consumer.send_to(&interest("/x/1"), near.address("udp4")).unwrap();
    assert_eq!(receive(&producer).len(), interest("/x/1").len());
    producer.send_to(&data("/x/1", 3000), far.address("udp4")).unwrap();
    assert_eq!(receive(&consumer), data("/x/1", 3000));
}

#[test]
fn ipv6_works_where_the_host_has_it() {
    let Some(consumer) = testkit::needs::needed("IPv6", std::net::UdpSocket::bind("[::1]:0")) else { return };
    consumer.set_read_timeout(Some(TIMEOUT)).unwrap();
    let node = TestNode::start_with(|config| config.udp.listen = vec!["[::1]:0".parse().unwrap()]);
    let producer = std::net::UdpSocket::bind("[::1]:0").unwrap();
    producer.set_read_timeout(Some(TIMEOUT)).unwrap();
    let face = node.create(&format!("udp6://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    consumer.send_to(&interest("/x/1"), node.address("udp6")).unwrap();
    receive(&producer);
    producer.send_to(&data("/x/1", 100), node.address("udp6")).unwrap();
    assert_eq!(receive(&consumer), data("/x/1", 100));
}
