//! Interfaces that go down and come back, or vanish and are made anew under the same name.

use std::io::Write;
use std::time::Duration;

use cairn_node::control::{FaceState, NodeControl};
use testkit::own_network::{self, ip};

use crate::support::*;

/// Wake-ups for nothing that chance may cause; a socket that is not looked after causes as many in a
/// millisecond.
const BY_CHANCE: u64 = 300;

fn plug() {
    ip("link add cable0 type veth peer name cable1").unwrap();
    set_both("up");
}

fn unplug() {
    ip("link del cable0").unwrap();
}

fn set_both(state: &str) {
    ip(&format!("link set cable0 {state}")).unwrap();
    ip(&format!("link set cable1 {state}")).unwrap();
}

/// The only face of a scheme.
fn face_of(node: &TestNode, scheme: &str) -> cairn_node::control::FaceSnapshot {
    let faces = node.faces();
    let found = faces.iter().find(|face| face.remote.scheme() == scheme);
    found.unwrap_or_else(|| panic!("no face by {scheme}: {faces:?}")).clone()
}

/// A consumer's node and a producer's, with a group between them.
struct Path {
    near: TestNode,
    _far: TestNode,
    producer: std::net::TcpStream,
    consumer: std::net::UdpSocket,
    asked: u32,
    scheme: &'static str,
}

impl Path {
    fn lay(near: TestNode, far: TestNode, scheme: &'static str) -> Self {
        let producer = tcp_peer(far.address("tcp4"));
        far.until("the producer has a face", |node| {
            node.faces().iter().any(|face| face.remote.scheme() == "tcp4")
        });
        far.route("/x", face_of(&far, "tcp4").id);
        // The interface may have got its carrier only after the node started.
        near.until("its face is there", |node| {
            node.faces().iter().any(|face| face.remote.scheme() == scheme)
        });
        near.route("/x", face_of(&near, scheme).id);
        let consumer = udp_peer();
        let soon = Some(Duration::from_millis(100));
        producer.set_read_timeout(soon).unwrap();
        consumer.set_read_timeout(soon).unwrap();
        Path { near, _far: far, producer, consumer, asked: 0, scheme }
    }

    /// Demands that an exchange comes about, though some may get lost while an interface comes up.
    fn assert_carries(&mut self) {
        let deadline = std::time::Instant::now() + TIMEOUT;
        let mut frame = vec![0; 9000];
        loop {
            self.asked += 1;
            let uri = format!("/x/{}", self.asked);
            self.consumer.send_to(&interest(&uri), self.near.address("udp4")).unwrap();
            if self.producer.peek(&mut [0]).is_ok() {
                let asked = read_frame(&mut self.producer);
                let asked = packet::Interest::decode_ndn(packet_of(&asked).into()).unwrap();
                self.producer.write_all(&data(&asked.name().to_string(), 1000)).unwrap();
            }
            if self.consumer.recv(&mut frame).is_ok() {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "nothing came through");
        }
    }

    fn wait_for(&self, state: FaceState) {
        self.near.until("the face follows its interface", |node| face_of(node, self.scheme).state == state);
    }

    fn assert_calm(&self) {
        let status = self.near.node.control().status();
        assert!(status.turns.idle_wakeups < BY_CHANCE, "{} wake-ups for nothing", status.turns.idle_wakeups);
    }
}

fn over_ethernet() -> Path {
    let on = |interface: &str| {
        let interface = interface.to_owned();
        TestNode::start_with(move |config| config.ethernet.interfaces = vec![interface])
    };
    Path::lay(on("cable0"), on("cable1"), "ether")
}

/// Gives both ends an address that can be used at once.
fn number_ends() {
    ip("addr add fe80::a/64 dev cable0 nodad").unwrap();
    ip("addr add fe80::b/64 dev cable1 nodad").unwrap();
}

fn over_multicast() -> Path {
    number_ends();
    let on = |interface: &str| {
        let interface = interface.to_owned();
        TestNode::start_with(move |config| config.multicast.interfaces = vec![interface])
    };
    Path::lay(on("cable0"), on("cable1"), "udp6")
}

#[test]
fn an_ethernet_interface_that_goes_down_and_up_wakes_nobody_meanwhile_and_carries_packets_again() {
    own_network::run(|| {
        plug();
        let mut path = over_ethernet();
        path.assert_carries();
        for _ in 0..2 {
            set_both("down");
            path.wait_for(FaceState::Down);
            path.assert_calm();
            set_both("up");
            path.wait_for(FaceState::Up);
            path.assert_carries();
        }
        path.assert_calm();
    });
}

#[test]
fn an_ethernet_interface_that_is_removed_and_made_anew_carries_packets_again() {
    own_network::run(|| {
        plug();
        let mut path = over_ethernet();
        path.assert_carries();
        unplug();
        path.wait_for(FaceState::Down);
        plug();
        path.wait_for(FaceState::Up);
        path.assert_carries();
        path.assert_calm();
    });
}

#[test]
fn a_group_on_an_interface_that_is_made_anew_with_its_old_number_is_heard_again() {
    // The whole of it within the time that changes are collected, and slowly.
    for pause in [Duration::ZERO, Duration::from_millis(100)] {
        make_anew_with_its_number(pause);
    }
}

fn make_anew_with_its_number(pause: Duration) {
    let plug = || {
        let near = "link add cable0 index 4321 address 02:00:00:00:00:01 type veth";
        ip(&format!("{near} peer name cable1 index 4322 address 02:00:00:00:00:02")).unwrap();
        set_both("up");
    };
    own_network::run(|| {
        plug();
        let mut path = over_multicast();
        path.assert_carries();
        for _ in 0..2 {
            unplug();
            std::thread::sleep(pause);
            plug();
            number_ends();
            path.assert_carries();
        }
    });
}

#[test]
fn an_ethernet_interface_that_is_down_when_the_node_starts_carries_packets_once_it_is_up() {
    own_network::run(|| {
        plug();
        set_both("down");
        let mut path = over_ethernet();
        path.wait_for(FaceState::Down);
        set_both("up");
        path.wait_for(FaceState::Up);
        path.assert_carries();
        path.assert_calm();
    });
}

#[test]
fn an_interface_that_appears_and_fits_a_pattern_carries_packets_over_ethernet_and_multicast() {
    own_network::run(|| {
        let start = |interface: &str| {
            let interface = interface.to_owned();
            TestNode::start_with(move |config| {
                config.ethernet.interfaces = vec![interface.clone()];
                config.multicast.interfaces = vec![interface];
                config.multicast.exclude = vec!["lo".into()];
            })
        };
        let nodes = [start("cab*0"), start("cab?e1")];
        assert!(nodes.iter().all(|node| node.faces().iter().all(|face| face.remote.scheme() != "ether")));
        plug();
        ip("link add spare0 type veth peer name spare1").unwrap();
        ip("link set spare0 up").unwrap();
        let has = |node: &TestNode, scheme: &str| {
            node.faces().iter().filter(|face| face.remote.scheme() == scheme).count()
        };
        for node in &nodes {
            node.until("Ethernet is there", |node| has(node, "ether") == 1);
        }
        number_ends();
        for node in &nodes {
            node.until("the group is joined", |node| has(node, "udp6") == 1);
        }
        let [near, far] = nodes;
        let mut path = Path::lay(near, far, "ether");
        path.assert_carries();
        unplug();
        path.wait_for(FaceState::Down);
        plug();
        path.wait_for(FaceState::Up);
        path.assert_carries();
        assert_eq!(has(&path.near, "ether"), 1, "it has come back, it is not another one");
        path.assert_calm();
    });
}

#[test]
fn a_larger_mtu_of_an_interface_holds_for_its_faces() {
    own_network::run(|| {
        plug();
        let mut path = over_ethernet();
        for mtu in [1300, 4000] {
            ip(&format!("link set cable0 mtu {mtu}")).unwrap();
            ip(&format!("link set cable1 mtu {mtu}")).unwrap();
            path.near.until("the face has it", |node| face_of(node, "ether").mtu_bytes == Some(mtu));
            path.assert_carries();
        }
    });
}

#[test]
fn udp_multicast_works_again_when_its_interface_is_removed_and_made_anew() {
    own_network::run(|| {
        plug();
        let mut path = over_multicast();
        path.assert_carries();
        set_both("down");
        path.wait_for(FaceState::Down);
        set_both("up");
        number_ends();
        path.wait_for(FaceState::Up);
        path.assert_carries();
        unplug();
        path.wait_for(FaceState::Down);
        plug();
        // Without an address there is no group.
        number_ends();
        path.wait_for(FaceState::Up);
        path.assert_carries();
        path.assert_calm();
    });
}

#[test]
fn an_interface_that_is_renamed_keeps_its_face_where_a_pattern_means_its_new_name_too() {
    own_network::run(|| {
        plug();
        let near = TestNode::start_with(|config| config.ethernet.interfaces = vec!["c*0".to_owned()]);
        let far = TestNode::start_with(|config| config.ethernet.interfaces = vec!["cable1".to_owned()]);
        let mut path = Path::lay(near, far, "ether");
        path.assert_carries();
        let before = face_of(&path.near, "ether");
        rename("cable0", "cord0");
        path.near.until("the face has the new name", |node| {
            face_of(node, "ether").local.to_string() == "dev://cord0"
        });
        assert_eq!(face_of(&path.near, "ether").id, before.id);
        path.assert_carries();
        // A name that is not meant: the face waits for the old one.
        rename("cord0", "other");
        path.wait_for(FaceState::Down);
        rename("other", "cable0");
        path.near.until("the interface is used again", |node| {
            let faces = node.faces();
            let ours = faces.iter().filter(|face| face.remote.scheme() == "ether");
            ours.filter(|face| face.state == FaceState::Up).count() == 1
        });
    });
}

#[test]
fn a_program_beside_a_forwarder_gets_a_socket_on_an_interface_only_while_it_is_up() {
    own_network::run(|| {
        plug();
        // Its carrier comes a while after it was told to be up.
        let opened = || {
            std::thread::sleep(Duration::from_millis(1));
            cairn_node::EthernetSocket::open("cable0")
        };
        let mut socket = std::iter::repeat_with(opened)
            .take(10_000)
            .find(|opened| !matches!(opened, Err(error) if error.kind() == std::io::ErrorKind::NetworkDown))
            .unwrap()
            .unwrap();
        assert!(socket.take_error().is_ok());
        let missing = cairn_node::EthernetSocket::open("cable7").map(drop).unwrap_err();
        assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
        set_both("down");
        assert_eq!(
            cairn_node::EthernetSocket::open("cable0").map(drop).unwrap_err().kind(),
            std::io::ErrorKind::NetworkDown
        );
        assert!(socket.take_error().is_err(), "the one that was there says so");
        assert!(!socket.receive(|_, _| {}));
    });
}

fn rename(old: &str, new: &str) {
    ip(&format!("link set {old} down")).unwrap();
    ip(&format!("link set {old} name {new}")).unwrap();
    ip(&format!("link set {new} up")).unwrap();
}
