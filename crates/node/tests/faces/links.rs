//! What stands between two hosts: MTUs, losses, slow readers, interfaces without IP.

use std::io::Write;

use cairn_node::control::{CreateFace, CreateFaceError, FaceChanges, FacePersistency, NodeControl};
use packet::Dialect;
use testkit::cable::Cable;
use testkit::needs::needed;

use crate::support::*;

#[test]
fn a_small_mtu_cuts_packets_and_the_other_side_puts_them_together() {
    let (near, far) = (TestNode::start(), TestNode::start());
    let producer = udp_peer();
    let last_hop = far.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    far.route("/x", last_hop.id);
    let link = near.create(&format!("udp4://{}", far.address("udp4")));
    near.route("/x", link.id);
    // The way back is the one that carries large packets.
    let back = far.create(&format!("udp4://{}", near.address("udp4")));
    let changes = FaceChanges { mtu_bytes: Some(500), ..FaceChanges::default() };
    assert_eq!(far.node.control().update_face(back.id, changes).unwrap().mtu_bytes, Some(500));
    let consumer = udp_peer();
    for number in 0..10 {
        let uri = format!("/x/{number}");
        consumer.send_to(&interest(&uri), near.address("udp4")).unwrap();
        receive(&producer);
        producer.send_to(&data(&uri, 8000), far.address("udp4")).unwrap();
        assert_eq!(receive(&consumer), data(&uri, 8000));
    }
    let link = near.node.control().face(link.id).unwrap();
    assert!(link.traffic.in_frames >= 10 * 8000 / 500, "{}", link.traffic.in_frames);
}

#[test]
fn a_reliable_link_carries_packets_and_acknowledges_them() {
    let reliable = |config: &mut cairn_node::config::Config| {
        config.udp.reliability = true;
        config.udp.mtu_bytes = 5000;
    };
    let (near, far) = (TestNode::start_with(reliable), TestNode::start_with(reliable));
    // The consumer and the producer are applications without links of their own.
    let mut producer = tcp_peer(far.address("tcp4"));
    far.until("the producer has a face", |node| node.faces().len() == 1);
    far.route("/x", far.faces()[0].id);
    let link = near.create(&format!("udp4://{}", far.address("udp4")));
    near.route("/x", link.id);
    let mut consumer = tcp_peer(near.address("tcp4"));
    for number in 0..20 {
        let uri = format!("/x/{number}");
        consumer.write_all(&interest(&uri)).unwrap();
        read_frame(&mut producer);
        producer.write_all(&data(&uri, 8000)).unwrap();
        assert_eq!(read_frame(&mut consumer), data(&uri, 8000));
    }
    // Interests and Data acknowledge each other: nothing is sent again, nothing is given up.
    let traffic = near.node.control().face(link.id).unwrap().traffic;
    assert!(traffic.in_frames >= 20 * 2, "fragments of 20 packets: {}", traffic.in_frames);
    assert_eq!(near.node.control().face(link.id).unwrap().traffic.link_drops, []);
}

#[test]
fn a_peer_that_does_not_read_loses_its_own_packets_and_nobody_elses() {
    let node = TestNode::start_with(|config| config.node.send_queue_bytes = Some(200_000));
    let mut slow = tcp_peer(node.address("tcp4"));
    node.until("the peer has a face", |node| node.faces().len() == 1);
    node.route("/slow", node.faces()[0].id);
    let (consumer, producer) = (udp_peer(), udp_peer());
    let face = node.create(&format!("udp4://{}", producer.local_addr().unwrap()));
    node.route("/x", face.id);
    // Large Interests, because they are what is sent to somebody who has asked for nothing.
    let filler = "f".repeat(8000);
    let mut sent = 0;
    node.until("the queue is full", |node| {
        for _ in 0..100 {
            consumer.send_to(&interest(&format!("/slow/{sent}/{filler}")), node.address("udp4")).unwrap();
            sent += 1;
        }
        let faces = node.faces();
        faces
            .iter()
            .any(|face| face.traffic.transport_drops.iter().any(|(reason, _)| *reason == "send-queue-full"))
    });
    assert!(node.faces().iter().all(|face| face.traffic.queued_bytes < 20_000_000));
    // Meanwhile another pair goes on.
    consumer.send_to(&interest("/x/1"), node.address("udp4")).unwrap();
    receive(&producer);
    producer.send_to(&data("/x/1", 10), node.address("udp4")).unwrap();
    loop {
        let frame = receive(&consumer);
        if packet_of(&frame) == data("/x/1", 10) {
            break;
        }
    }
    // And the slow one still works when it reads again.
    slow.set_read_timeout(Some(TIMEOUT)).unwrap();
    for _ in 0..20 {
        assert!(read_frame(&mut slow).len() > 8000);
    }
}

#[test]
fn ethernet_carries_packets_of_any_size_to_a_peer_and_to_the_group() {
    let Some(cable) = Cable::plug() else { return };
    let [a, b] = cable.ends();
    let on = |interface: &str| {
        let interface = interface.to_owned();
        TestNode::start_with(move |config| config.ethernet.interfaces = vec![interface])
    };
    let (near, far) = (on(&a), on(&b));
    let mut producer = tcp_peer(far.address("tcp4"));
    far.until("the producer has a face", |node| {
        node.faces().iter().any(|face| face.remote.scheme() == "tcp4")
    });
    let face = far.faces().into_iter().find(|face| face.remote.scheme() == "tcp4").unwrap();
    far.route("/x", face.id);
    let mac = std::fs::read_to_string(format!("/sys/class/net/{b}/address")).unwrap();
    let unicast = CreateFace {
        remote: format!("ether://[{}]", mac.trim()).parse().unwrap(),
        local: Some(format!("dev://{a}").parse().unwrap()),
        persistency: FacePersistency::Persistent,
        changes: FaceChanges::default(),
        dialect: Dialect::Ndn,
    };
    let unicast = near.node.control().create_face(unicast).unwrap();
    assert_eq!(unicast.mtu_bytes, Some(1500));
    let group = near
        .faces()
        .into_iter()
        .find(|face| face.remote.to_string() == "ether://[01:00:5e:00:17:aa]")
        .unwrap();
    near.route("/x/unicast", unicast.id);
    near.route("/x/group", group.id);
    let consumer = udp_peer();
    for uri in ["/x/unicast/1", "/x/group/1"] {
        consumer.send_to(&interest(uri), near.address("udp4")).unwrap();
        read_frame(&mut producer);
        producer.write_all(&data(uri, 8000)).unwrap();
        assert_eq!(receive(&consumer), data(uri, 8000), "{uri}");
    }
    let made = far
        .faces()
        .into_iter()
        .find(|face| face.remote.scheme() == "ether" && face.persistency == FacePersistency::OnDemand);
    assert!(made.is_some(), "the peer's unicast frames made a face");
}

#[test]
fn a_peer_has_a_face_for_each_interface_that_leads_to_it() {
    let Some(cable) = Cable::plug() else { return };
    let [a, b] = cable.ends();
    let interfaces = vec![a.clone(), b.clone()];
    let node = TestNode::start_with(move |config| config.ethernet.interfaces = interfaces);
    let create = |local: Option<&str>| {
        node.node.control().create_face(CreateFace {
            remote: "ether://[02:00:00:00:00:09]".parse().unwrap(),
            local: local.map(|name| format!("dev://{name}").parse().unwrap()),
            persistency: FacePersistency::Persistent,
            changes: FaceChanges::default(),
            dialect: Dialect::Ndn,
        })
    };
    assert!(matches!(create(None), Err(CreateFaceError::Unsupported(_))));
    let (by_a, by_b) = (create(Some(&a)).unwrap(), create(Some(&b)).unwrap());
    assert_ne!(by_a.id, by_b.id);
    let again = create(Some(&b));
    assert!(matches!(again, Err(CreateFaceError::Exists(face)) if face.id == by_b.id));
}

#[test]
fn udp_multicast_reaches_the_neighbour_on_the_link() {
    let Some(cable) = Cable::plug() else { return };
    let [a, b] = cable.ends();
    let on = |interface: &str| {
        let interface = interface.to_owned();
        // Until the interface has got its link-local address.
        let deadline = std::time::Instant::now() + TIMEOUT;
        loop {
            let name = interface.clone();
            let node = TestNode::start_with(move |config| config.multicast.interfaces = vec![name]);
            if node.faces().iter().any(|face| face.remote.to_string().starts_with("udp6://[ff02::1234")) {
                return Some(node);
            }
            if std::time::Instant::now() > deadline {
                return needed("IPv6", Err(format!("{interface} has no link-local address")));
            }
        }
    };
    let (Some(near), Some(far)) = (on(&a), on(&b)) else { return };
    let mut producer = tcp_peer(far.address("tcp4"));
    far.until("the producer has a face", |node| {
        node.faces().iter().any(|face| face.remote.scheme() == "tcp4")
    });
    let face = far.faces().into_iter().find(|face| face.remote.scheme() == "tcp4").unwrap();
    far.route("/x", face.id);
    let group = near.faces().into_iter().find(|face| face.remote.scheme() == "udp6").unwrap();
    assert_eq!(group.link_type, packet::LinkType::MultiAccess);
    near.route("/x", group.id);
    let consumer = udp_peer();
    let soon = Some(std::time::Duration::from_millis(200));
    producer.set_read_timeout(soon).unwrap();
    consumer.set_read_timeout(soon).unwrap();
    let deadline = std::time::Instant::now() + TIMEOUT;
    let mut frame = vec![0; 9000];
    // The addresses may not be usable for a moment after they have appeared: until then packets are lost,
    // both ways.
    for number in 0.. {
        let uri = format!("/x/{number}");
        consumer.send_to(&interest(&uri), near.address("udp4")).unwrap();
        if producer.peek(&mut [0]).is_ok() {
            read_frame(&mut producer);
            producer.write_all(&data(&uri, 1000)).unwrap();
        }
        match consumer.recv(&mut frame) {
            Ok(length) if packet_of(&frame[..length]) == data(&uri, 1000) => break,
            _ => assert!(std::time::Instant::now() < deadline, "nothing came through"),
        }
    }
}
