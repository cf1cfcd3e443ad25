//! Faces come and go.

use std::net::TcpListener;
use std::time::Duration;

use cairn_node::control::{
    CreateFace, CreateFaceError, FaceChanges, FacePersistency, FaceState, NodeControl, UpdateFaceError,
};
use packet::Dialect;

use crate::support::*;

fn request(remote: &str, persistency: FacePersistency) -> CreateFace {
    CreateFace {
        remote: remote.parse().unwrap(),
        local: None,
        persistency,
        changes: FaceChanges::default(),
        dialect: Dialect::Ndn,
    }
}

#[test]
fn an_idle_face_of_a_stranger_closes_and_one_that_was_asked_for_stays() {
    let node = TestNode::start_with(|config| config.node.idle_timeout_secs = 1);
    let stranger = udp_peer();
    let asked_for = node.create("udp4://127.0.0.1:9");
    stranger.send_to(&interest("/x/1"), node.address("udp4")).unwrap();
    node.until("the stranger has a face", |node| node.faces().len() == 2);
    node.until("the stranger's face has closed", |node| node.faces().len() == 1);
    assert_eq!(node.faces()[0].id, asked_for.id);
}

#[test]
fn the_same_remote_end_twice_is_refused_with_the_face_that_exists() {
    let node = TestNode::start();
    let first = node.create("udp4://127.0.0.1:9");
    let again = node.node.control().create_face(request("udp4://127.0.0.1:9", FacePersistency::Permanent));
    let Err(CreateFaceError::Exists(existing)) = again else { panic!("{again:?}") };
    assert_eq!(existing.id, first.id);
}

#[test]
fn what_cannot_be_made_or_changed_is_refused_and_nothing_is_changed() {
    let node = TestNode::start();
    let mut control = node.node.control();
    for remote in [
        "ws://127.0.0.1:9",
        "fd://3",
        "udp4://224.0.23.170:56363",
        "udp6://[::1]:9",
        "ether://[02:00:00:00:00:01]",
    ] {
        assert!(control.create_face(request(remote, FacePersistency::Persistent)).is_err(), "{remote}");
    }
    let face = node.create("udp4://127.0.0.1:9");
    let changes = FaceChanges {
        mtu_bytes: Some(63),
        local_fields: Some(true),
        congestion_marking: Some(false),
        ..FaceChanges::default()
    };
    let Err(UpdateFaceError::Conflict { conflicts, .. }) = control.update_face(face.id, changes) else {
        panic!()
    };
    assert_eq!(conflicts.len(), 2, "{conflicts:?}");
    assert!(control.face(face.id).unwrap().congestion_marking);
    let changes = FaceChanges {
        reliability: Some(true),
        persistency: Some(FacePersistency::Permanent),
        ..FaceChanges::default()
    };
    let changed = control.update_face(face.id, changes).unwrap();
    assert!(changed.reliability && changed.persistency == FacePersistency::Permanent);
    assert!(control.destroy_face(face.id) && !control.destroy_face(face.id));
    assert_eq!(control.update_face(face.id, changes), Err(UpdateFaceError::NoFace(face.id)));
}

#[test]
fn a_persistent_connection_goes_with_its_peer_and_its_routes_with_it() {
    let node = TestNode::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let face = node.create(&format!("tcp4://{}", listener.local_addr().unwrap()));
    node.route("/x", face.id);
    let (peer, _) = listener.accept().unwrap();
    node.until("the face is up", |node| node.node.control().face(face.id).unwrap().state == FaceState::Up);
    drop(peer);
    node.until("the face is gone", |node| node.faces().is_empty());
    assert_eq!(node.node.control().routes(Dialect::Ndn), []);
}

#[test]
fn a_permanent_connection_outlives_its_peer_and_finds_the_next_one() {
    let node = TestNode::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let remote = format!("tcp4://{}", listener.local_addr().unwrap());
    let face = node.node.control().create_face(request(&remote, FacePersistency::Permanent)).unwrap();
    node.route("/x", face.id);
    let state = |node: &TestNode| node.node.control().face(face.id).unwrap().state;
    let (peer, _) = listener.accept().unwrap();
    node.until("the face is up", |node| state(node) == FaceState::Up);
    drop(peer);
    node.until("the face is down", |node| state(node) == FaceState::Down);
    let (mut peer, _) = listener.accept().unwrap();
    node.until("the face is up again", |node| state(node) == FaceState::Up);
    peer.set_read_timeout(Some(TIMEOUT)).unwrap();
    let consumer = udp_peer();
    let question = interest("/x/1");
    consumer.send_to(&question, node.address("udp4")).unwrap();
    assert_eq!(read_frame(&mut peer), question, "its route is still there");
}

#[test]
fn a_neighbour_that_is_killed_and_started_again_is_reached_again() {
    let near = TestNode::start();
    // At an address of its own and a port that the system gives to nobody who asks for any, so that it is
    // free again when the node comes back.
    let port = u16::try_from(20_000 + std::process::id() % 10_000).unwrap();
    let own = ([127, 0, 0, 77], port).into();
    let mut far = TestNode::start_with(|config| config.udp.listen = vec![own]);
    let address = far.address("udp4");
    let link = near.create(&format!("udp4://{address}"));
    near.route("/x", link.id);
    let consumer = udp_peer();
    consumer.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    for round in 0..2 {
        let mut producer = tcp_peer(far.address("tcp4"));
        far.until("the producer has a face", |node| {
            node.faces().iter().any(|face| face.remote.scheme() == "tcp4")
        });
        let face = far.faces().into_iter().find(|face| face.remote.scheme() == "tcp4").unwrap();
        far.route("/x", face.id);
        let uri = format!("/x/{round}");
        consumer.send_to(&interest(&uri), near.address("udp4")).unwrap();
        read_frame(&mut producer);
        std::io::Write::write_all(&mut producer, &data(&uri, 500)).unwrap();
        let deadline = std::time::Instant::now() + TIMEOUT;
        let mut frame = vec![0; 9000];
        loop {
            if let Ok(length) = consumer.recv(&mut frame)
                && packet_of(&frame[..length]) == data(&uri, 500)
            {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "no answer in round {round}");
        }
        drop(far);
        // While nobody is there, Interests are lost and the face stays.
        consumer.send_to(&interest("/x/nobody"), near.address("udp4")).unwrap();
        far = TestNode::start_with(|config| config.udp.listen = vec![address]);
    }
    assert!(near.node.control().face(link.id).is_some());
}

#[test]
fn a_new_configuration_is_taken_over_while_the_node_runs() {
    let mut node = TestNode::start();
    let mut config = quiet_config();
    config.content_store.max_entries = 7;
    config.faces.push(cairn_node::config::FaceSection {
        dialect: "ndn".to_owned(),
        ndnlp: None,
        ndnlp_timings: None,
        reliable: None,
        remote: "udp4://127.0.0.1:9".to_owned(),
        local: None,
        persistent: false,
        routes: vec!["/configured".to_owned()],
        cost: 3,
        impairment: None,
    });
    config.metrics.listen = Some("127.0.0.1:0".parse().unwrap());
    config.tables.max_pending = 5;
    let fixed = node.node.reload(&config).unwrap();
    assert!(fixed.contains(&"tables"), "{fixed:?}");
    let mut control = node.node.control();
    assert_eq!(control.content_store().max_entries, 7);
    assert_eq!(control.routes(Dialect::Ndn)[0].prefix, name("/configured"));
    // Taking the same over again changes nothing.
    node.node.reload(&config).unwrap();
    assert_eq!(node.faces().len(), 1);
    // Of what makes no sense nothing is taken over, wherever the mistake stands.
    config.content_store.max_entries = 9;
    config
        .strategies
        .push(cairn_node::config::StrategySection { prefix: "/a".into(), strategy: "no".into() });
    assert!(node.node.reload(&config).is_err());
    assert_eq!(control.content_store().max_entries, 7);
}

#[test]
fn metrics_that_could_not_be_served_are_served_when_their_address_is_free() {
    let mut node =
        TestNode::start_with(|config| config.metrics.listen = Some("127.0.0.1:0".parse().unwrap()));
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = quiet_config();
    config.metrics.listen = Some(other.local_addr().unwrap());
    assert!(node.node.reload(&config).is_err());
    assert_eq!(node.node.metrics_address(), None);
    drop(other);
    node.node.reload(&config).unwrap();
    assert_eq!(node.node.metrics_address(), config.metrics.listen);
}

#[test]
fn why_there_is_no_connection_is_said() {
    let node = TestNode::start();
    let nowhere = format!("unix://{}/nothing.sock", node.directory.display());
    let error = node.node.control().create_face(request(&nowhere, FacePersistency::Persistent)).unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn metrics_are_served_where_asked_for_and_name_every_reason_for_a_drop() {
    use std::io::{Read as _, Write as _};
    let node = TestNode::start_with(|config| config.metrics.listen = Some("127.0.0.1:0".parse().unwrap()));
    let face = node.create("udp4://127.0.0.1:9");
    let get = |path: &str| {
        let mut connection = tcp_peer(node.node.metrics_address().unwrap());
        connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = get("/metrics");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"));
    for reason in engine::DropReason::ALL {
        assert!(
            page.contains(&format!("cairn_drops_total{{layer=\"engine\",reason=\"{}\"}}", reason.as_str()))
        );
    }
    for reason in cairn_node::DropReason::ALL {
        assert!(
            page.contains(&format!(
                "cairn_drops_total{{layer=\"transport\",reason=\"{}\"}}",
                reason.as_str()
            ))
        );
    }
    assert!(page.contains(&format!(
        "cairn_face_in_bytes_total{{face=\"{}\",remote=\"udp4://127.0.0.1:9\"}} 0",
        face.id
    )));
    assert!(get("/").contains("cairn_uptime_seconds"));
    assert!(get("/other").starts_with("HTTP/1.1 404 "));
}

#[test]
fn the_local_end_of_a_udp_face_is_the_address_that_the_neighbour_sees() {
    let node = TestNode::start_with(|config| config.udp.listen = vec!["0.0.0.0:0".parse().unwrap()]);
    let port = node.address("udp4").port();
    let expected = format!("udp4://127.0.0.1:{port}");
    let made = node.create("udp4://127.0.0.1:9");
    assert_eq!(made.local.to_string(), expected);
    assert_eq!(node.node.control().face(made.id).unwrap().local.to_string(), expected);
    assert_eq!(node.faces()[0].local.to_string(), expected);
}

#[test]
fn a_reload_with_a_certificate_that_is_not_there_changes_nothing() {
    let mut node = TestNode::start();
    let missing = node.directory.join("missing.cert");
    let text = format!("[node]\nmax_faces = 3\n[[authorize]]\ncertificate = {missing:?}\n");
    let config = cairn_node::config::Config::read(&text).unwrap();
    let refused = node.node.reload(&config).unwrap_err().to_string();
    assert!(refused.contains("missing.cert"), "{refused}");
    // The limit is not in force either.
    for port in 9..13 {
        node.create(&format!("udp4://127.0.0.1:{port}"));
    }
}
