//! Too much of everything.

use std::io::Write;
use std::os::unix::net::UnixStream;

use management::{Command, ControlParameters, Reach};
use node::Node;
use node::control::NodeControl;
use node::management::{ManagementConfig, NfdManagement};
use packet::ndn::{SignatureInfoBuilder, SignatureType};

use crate::support::*;
use crate::witness::Witness;

#[test]
fn strangers_get_faces_up_to_the_limit_and_no_further() {
    let node = TestNode::start_with(|config| config.node.max_on_demand_faces = 20);
    let mut witness = Witness::of(&node);
    witness.is_served(&node);
    let strangers: Vec<_> = (0..200).map(|_| udp_peer()).collect();
    for stranger in &strangers {
        stranger.send_to(&interest("/x/1"), node.address("udp4")).unwrap();
    }
    let connections: Vec<_> = (0..50).map(|_| tcp_peer(node.address("tcp4"))).collect();
    node.until("the limit is reached", |node| node.faces().len() == 1 + 20);
    // Whoever comes now is turned away, whoever was there is served.
    for mut connection in connections {
        let closed = std::io::Read::read(&mut connection, &mut [0]);
        assert!(matches!(closed, Ok(0) | Err(_)));
    }
    witness.is_served(&node);
    // Fewer, if some strangers were idle for long enough to make room early.
    assert!(node.faces().len() <= 1 + 20);
}

#[test]
fn a_flood_of_registrations_is_answered_or_dropped_and_kept_within_the_limit() {
    let directory = unique_directory();
    let mut config = quiet_config();
    config.unix.listen = Some(vec![directory.join("nfd.sock")]);
    let management = NfdManagement::new(ManagementConfig { max_routes: 500, ..ManagementConfig::default() });
    let node = Node::start(&config, Box::new(management)).unwrap();
    let node = TestNode { node, directory };
    let mut witness = Witness::of(&node);
    let mut application = UnixStream::connect(node.directory.join("nfd.sock")).unwrap();
    let mut answers = application.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        answers.set_read_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
        std::io::copy(&mut answers, &mut std::io::sink()).unwrap_or(0)
    });
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).nonce(1).time_ms(2);
    for number in 0..20_000u64 {
        let parameters =
            ControlParameters { name: Some(name(&format!("/flood/{number}"))), ..Default::default() };
        let command = Command::RibRegister.interest(Reach::Localhost, &parameters).unwrap();
        let command = command.nonce(number as u32).build_signed(&info, |_| vec![0; 32]).unwrap();
        application.write_all(command.wire()).unwrap();
        if number % 5000 == 0 {
            witness.is_served(&node);
        }
    }
    witness.is_served(&node);
    node.until("the flood has been worked off", |node| {
        let routes = node.node.control().routes(packet::Dialect::Ndn).len();
        (500..=510).contains(&routes)
    });
    application.shutdown(std::net::Shutdown::Both).unwrap();
    let _ = reader.join();
    node.until("the routes are gone with their face", |node| {
        node.node.control().routes(packet::Dialect::Ndn).len() < 10
    });
}

#[test]
fn a_full_table_of_pending_interests_does_not_keep_others_from_being_served() {
    let node = TestNode::start_with(|config| config.tables.max_pending = 1000);
    let mut witness = Witness::of(&node);
    let nobody = node.create("udp4://127.0.0.1:9");
    node.route("/missing", nobody.id);
    let greedy = udp_peer();
    for number in 0..10_000 {
        greedy.send_to(&interest(&format!("/missing/{number}")), node.address("udp4")).unwrap();
        if number % 2000 == 0 {
            witness.is_served(&node);
        }
    }
    witness.is_served(&node);
    assert!(node.node.control().status().tables.pending <= 1000);
}
