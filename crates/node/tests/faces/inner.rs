//! Faces inside the process: who holds one talks to the node as over a socket.

use std::os::fd::AsFd as _;
use std::thread::JoinHandle;
use std::time::Duration;

use cairn_node::control::{
    CreateInnerFace, FaceChanges, FacePersistency, FaceSnapshot, NodeControl as _, UpdateFaceError,
};
use cairn_node::{InnerFace, InnerFaceGone, InnerLimits, InnerPacket, InnerSendError, InnerServeError};
use engine::{FaceId, NextHop};
use flow::source::{
    AppFace as _, CcnxDataSigner, DataSigner, Generator, Reply, ServeCounters, ServeError, Server,
    ServerConfig, Source, answer_with, serve,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::{CachePolicy, Data, Dialect, Interest, LinkHeader, Packet, UnixTime};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey, Signer};

use crate::support::{TIMEOUT, TestNode, data, interest, name, packet_of, receive, udp_peer};

impl TestNode {
    fn inner(&self, purpose: &str, limits: InnerLimits) -> InnerFace {
        self.inner_in(Dialect::Ndn, purpose, limits)
    }

    fn inner_in(&self, dialect: Dialect, purpose: &str, limits: InnerLimits) -> InnerFace {
        let request = CreateInnerFace { purpose: purpose.parse().unwrap(), dialect, limits };
        self.node.control().create_inner_face(request).unwrap()
    }

    fn status_of(&self, face: &InnerFace) -> Option<FaceSnapshot> {
        self.node.control().face(face.id())
    }
}

fn ask(uri: &str, nonce: u32) -> InnerPacket {
    let lifetime = packet::time::Duration::from_secs(10);
    InnerPacket::interest(InterestBuilder::new(name(uri)).nonce(nonce).lifetime(lifetime).build().unwrap())
}

fn answer_to(interest: &Interest) -> Data {
    DataBuilder::new(interest.name().to_name()).content(vec![7; 100]).build_with_digest().unwrap()
}

/// Waits for the next packet.
fn next(face: &mut InnerFace) -> InnerPacket {
    loop {
        match face.recv().unwrap() {
            Some(packet) => return packet,
            None => assert!(face.wait(Some(TIMEOUT)), "a packet in time"),
        }
    }
}

fn next_interest(face: &mut InnerFace) -> (Interest, LinkHeader) {
    match next(face) {
        InnerPacket { packet: Packet::Interest(interest), header, .. } => (interest, header),
        other => panic!("{other:?}"),
    }
}

fn next_data(face: &mut InnerFace) -> Data {
    match next(face).packet {
        Packet::Data(data) => data,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_application_inside_answers_a_neighbour_and_is_told_the_face_it_asked_by() {
    let node = TestNode::start();
    let mut inside = node.inner("repository", InnerLimits::default());
    node.route("/lab", inside.id());
    let neighbour = udp_peer();
    neighbour.send_to(&interest("/lab/a"), node.address("udp4")).unwrap();
    let (asked, header) = next_interest(&mut inside);
    assert_eq!(asked.name().to_string(), "/lab/a");
    let from = header.incoming_face.unwrap();
    assert!(node.faces().iter().any(|face| u64::from(face.id.0) == from && face.remote.scheme() == "udp4"));
    let answer = answer_to(&asked);
    inside.send(InnerPacket::data(answer.clone())).unwrap();
    assert_eq!(packet_of(&receive(&neighbour)), answer.wire().to_vec());
}

#[test]
fn an_application_inside_asks_a_neighbour_and_gets_the_answer() {
    let node = TestNode::start();
    let mut inside = node.inner("gateway", InnerLimits::default());
    let neighbour = udp_peer();
    let face = node.create(&format!("udp4://{}", neighbour.local_addr().unwrap()));
    node.route("/far", face.id);
    inside.send(ask("/far/a", 1)).unwrap();
    assert!(packet_of(&receive(&neighbour)).starts_with(&[5]));
    assert!(!inside.wait(Some(Duration::ZERO)), "nothing has come for it, so it is not woken");
    let answer = data("/far/a", 50);
    neighbour.send_to(&answer, node.address("udp4")).unwrap();
    assert_eq!(next_data(&mut inside).wire().to_vec(), answer);
}

#[test]
fn two_applications_exchange_thousands_of_packets_through_the_node_each_on_its_own_thread() {
    const PACKETS: u32 = 5_000;
    const WINDOW: u32 = 200;
    let node = TestNode::start();
    let mut producer = node.inner("producer", InnerLimits::default());
    let mut consumer = node.inner("consumer", InnerLimits::default());
    node.route("/p", producer.id());
    let answering = std::thread::spawn(move || {
        for _ in 0..PACKETS {
            let (asked, _) = next_interest(&mut producer);
            let header = LinkHeader { cache_policy: Some(CachePolicy::NoCache), ..LinkHeader::NONE };
            let answer = InnerPacket { header, ..InnerPacket::data(answer_to(&asked)) };
            producer.send_in_time(answer).unwrap();
        }
        producer
    });
    let mut asked = 0;
    for got in 0..PACKETS {
        while asked < PACKETS && asked < got + WINDOW {
            consumer.send_in_time(ask(&format!("/p/{asked}"), asked + 1)).unwrap();
            asked += 1;
        }
        assert_eq!(next_data(&mut consumer).name().to_string(), format!("/p/{got}"), "in order");
    }
    let producer = answering.join().unwrap();
    for (face, received, sent) in [(&producer, "Data", "Interests"), (&consumer, "Interests", "Data")] {
        let traffic = node.status_of(face).unwrap().traffic;
        assert_eq!(traffic.in_frames, u64::from(PACKETS), "{received}");
        assert_eq!(traffic.out_frames, u64::from(PACKETS), "{sent}");
        assert!(traffic.in_bytes > 0 && traffic.out_bytes > 0 && traffic.queued_bytes == 0);
        assert_eq!(traffic.transport_drops, []);
    }
}

#[test]
fn what_an_application_does_not_take_is_dropped_and_counted_and_holds_up_nobody() {
    let node = TestNode::start();
    let mut slow = node.inner("slow", InnerLimits { packets: 10, bytes: 1 << 20 });
    let mut asking = node.inner("asking", InnerLimits::default());
    node.route("/slow", slow.id());
    for number in 0..30 {
        asking.send(ask(&format!("/slow/{number}"), number + 1)).unwrap();
    }
    node.until("20 are dropped", |node| {
        node.status_of(&slow).unwrap().traffic.transport_drops == [("send-queue-full", 20)]
    });
    assert!(node.status_of(&slow).unwrap().traffic.queued_bytes > 0);
    for number in 0..10 {
        assert_eq!(next_interest(&mut slow).0.name().to_string(), format!("/slow/{number}"));
    }
    assert!(slow.recv().unwrap().is_none());
    asking.send(ask("/slow/again", 99)).unwrap();
    assert_eq!(next_interest(&mut slow).0.name().to_string(), "/slow/again");
}

#[test]
fn the_descriptor_of_a_face_is_readable_when_a_packet_has_come_and_not_before() {
    let node = TestNode::start();
    let mut inside = node.inner("", InnerLimits::default());
    let mut other = node.inner("", InnerLimits::default());
    node.route("/a", inside.id());
    let is_readable = |face: &InnerFace, timeout: Duration| {
        let mut descriptors = [PollFd::from_borrowed_fd(face.as_fd(), PollFlags::IN)];
        poll(&mut descriptors, Some(&Timespec::try_from(timeout).unwrap())).unwrap() > 0
    };
    assert!(!is_readable(&inside, Duration::ZERO));
    assert!(!inside.wait(Some(Duration::ZERO)));
    other.send(ask("/a/1", 1)).unwrap();
    assert!(is_readable(&inside, TIMEOUT));
    assert!(inside.wait(None), "so it does not block");
    next_interest(&mut inside);
    // Who sends may be interrupted between raising the signal and noting it: until then it calls for nothing.
    let begun = std::time::Instant::now();
    loop {
        assert!(inside.recv().unwrap().is_none());
        if !is_readable(&inside, Duration::from_millis(20)) {
            break;
        }
        assert!(begun.elapsed() < TIMEOUT, "it goes on calling");
    }
}

#[test]
fn a_face_goes_with_its_routes_when_the_application_drops_it() {
    let node = TestNode::start();
    let inside = node.inner("short-lived", InnerLimits::default());
    let id = inside.id();
    node.route("/lab", id);
    drop(inside);
    node.until("the face is gone", |node| node.node.control().face(id).is_none());
    assert!(node.node.control().routes(Dialect::Ndn).iter().all(|route| route.prefix != name("/lab")));
    assert_ne!(node.inner("next", InnerLimits::default()).id(), id, "its number is not given again");
}

#[test]
fn an_application_is_told_that_its_face_is_gone_after_what_came_before() {
    let node = TestNode::start();
    let mut inside = node.inner("told", InnerLimits::default());
    let mut asking = node.inner("", InnerLimits::default());
    node.route("/told", inside.id());
    asking.send(ask("/told/1", 1)).unwrap();
    assert!(inside.wait(Some(TIMEOUT)));
    assert!(node.node.control().destroy_face(inside.id()));
    assert_eq!(next_interest(&mut inside).0.name().to_string(), "/told/1");
    assert!(inside.wait(Some(TIMEOUT)));
    assert_eq!(inside.recv().unwrap_err(), InnerFaceGone);
    assert!(matches!(inside.send(ask("/x", 2)), Err(InnerSendError::Closed(_))));
    assert!(inside.wait_for_room(1, Some(TIMEOUT)), "there is nothing to wait for");
}

#[test]
fn a_node_that_ends_ends_its_faces() {
    let mut node = TestNode::start();
    let mut inside = node.inner("", InnerLimits::default());
    let waiting = std::thread::spawn(move || {
        assert!(inside.wait(Some(TIMEOUT)));
        inside.recv().unwrap_err()
    });
    node.node.shut_down();
    assert_eq!(waiting.join().unwrap(), InnerFaceGone);
    let request = CreateInnerFace {
        purpose: Default::default(),
        dialect: Dialect::Ndn,
        limits: InnerLimits::default(),
    };
    assert!(node.node.control().create_inner_face(request).is_err());
}

#[test]
fn neighbours_leave_half_of_the_room_to_who_asks_from_this_host() {
    let node = TestNode::start();
    let mut service = node.inner("service", InnerLimits { packets: 16, bytes: 1 << 20 });
    node.route("/service", service.id());
    let neighbour = udp_peer();
    for number in 0..100 {
        neighbour.send_to(&interest(&format!("/service/{number}")), node.address("udp4")).unwrap();
    }
    let dropped = |node: &TestNode| {
        let drops = node.status_of(&service).unwrap().traffic.transport_drops;
        drops.iter().find(|(word, _)| *word == "send-queue-full").map_or(0, |(_, count)| *count)
    };
    // One more than half may begin to wait.
    node.until("what finds no room is dropped", |node| dropped(node) >= 91);
    let mut application = node.inner("", InnerLimits::default());
    application.send(ask("/service/mine", 1)).unwrap();
    node.until("it waits, too", |node| node.status_of(&service).unwrap().traffic.out_frames == 10);
    let asked: Vec<_> = (0..10).map(|_| next_interest(&mut service).0.name().to_string()).collect();
    assert_eq!(asked.last().map(String::as_str), Some("/service/mine"));
}

#[test]
fn faces_inside_are_listed_with_what_they_are_for_and_are_what_they_are() {
    let node = TestNode::start_with(|config| config.node.max_faces = 3);
    let inside = node.inner("repository", InnerLimits::default());
    let listed = node.node.control().faces();
    let shown: Vec<_> = listed.iter().map(|face| (face.id.0, face.remote.to_string())).collect();
    let own = inside.id().0;
    assert_eq!(shown, [(1, "internal://".to_owned()), (own, "internal://repository".to_owned())]);
    assert!((2..=255).contains(&own), "it is among the node's own");
    let mut control = node.node.control();
    let same = FaceChanges { persistency: Some(FacePersistency::Permanent), ..FaceChanges::default() };
    assert_eq!(control.update_face(inside.id(), same).unwrap().id, inside.id());
    let other = FaceChanges { reliability: Some(true), ..FaceChanges::default() };
    assert!(matches!(control.update_face(inside.id(), other), Err(UpdateFaceError::Conflict { .. })));
    // They take no place of others.
    node.create("udp4://127.0.0.1:9");
    node.create("udp4://127.0.0.1:10");
    node.create("udp4://127.0.0.1:11");
}

#[test]
fn packets_of_another_dialect_come_back() {
    let node = TestNode::start();
    let mut inside = node.inner_in(Dialect::Ccnx, "ccnd", InnerLimits::default());
    assert_eq!(node.status_of(&inside).unwrap().dialect, Dialect::Ccnx);
    assert!(matches!(inside.send(ask("/a", 1)), Err(InnerSendError::OtherDialect(_))));
}

/// Has `source` served over a face of `dialect` by a thread that says how it ended and what it has done.
fn serve_inside(
    node: &TestNode,
    dialect: Dialect,
    source: impl Source + Send + 'static,
) -> (FaceId, JoinHandle<(ServeError<InnerServeError>, ServeCounters)>) {
    let mut inside = node.inner_in(dialect, "pings", InnerLimits::default());
    let id = inside.id();
    let hop = NextHop { face: id, cost: 0 };
    node.node.control().add_next_hop(dialect, &name("/ping"), hop, None).unwrap();
    let serving = std::thread::spawn(move || {
        let mut server = Server::new(source, ServerConfig::default(), inside.now());
        let error = serve(&mut inside, &mut server, |_| true).unwrap_err();
        (error, *server.counters())
    });
    (id, serving)
}

fn ask_in(dialect: Dialect, uri: &str, nonce: u32) -> InnerPacket {
    InnerPacket::interest(dialect.interest(name(uri), nonce, packet::time::Duration::from_secs(10)).unwrap())
}

fn pongs<S: DataSigner>(signer: S) -> Generator<S> {
    Generator::new(vec![name("/ping")], signer, 1).with_content(b"pong".to_vec())
}

fn ccnx_signer() -> CcnxDataSigner {
    let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
    CcnxDataSigner::new(signer, || UnixTime::from_secs(1_700_000_000))
}

#[test]
fn a_source_of_data_in_either_dialect_is_served_over_a_face_inside_until_the_face_goes() {
    let node = TestNode::start();
    let sources: [(_, Box<dyn Source + Send>); 2] =
        [(Dialect::Ndn, Box::new(pongs(Signer::digest()))), (Dialect::Ccnx, Box::new(pongs(ccnx_signer())))];
    for (dialect, source) in sources {
        let (id, serving) = serve_inside(&node, dialect, source);
        let mut asking = node.inner_in(dialect, "", InnerLimits::default());
        for number in 0..3 {
            let uri = format!("/ping/{number}");
            asking.send(ask_in(dialect, &uri, number)).unwrap();
            let answer = next_data(&mut asking);
            let found = (answer.dialect(), answer.name().to_string(), answer.content().to_vec());
            assert_eq!(found, (dialect, uri, b"pong".to_vec()));
        }
        assert!(node.node.control().destroy_face(id));
        let (error, counters) = serving.join().unwrap();
        assert!(matches!(error, ServeError::AppFace(InnerServeError::Gone(InnerFaceGone))), "{error}");
        assert_eq!((counters.interests, counters.data, counters.content_bytes), (3, 3, 12), "{dialect}");
    }
}

#[test]
fn what_a_source_inside_refuses_comes_back_and_one_of_another_dialect_than_its_face_is_served_no_more() {
    let node = TestNode::start();
    let (id, serving) = serve_inside(&node, Dialect::Ndn, pongs(Signer::digest()).with_failures(0.0, 1.0));
    let mut asking = node.inner("", InnerLimits::default());
    asking.send(ask("/ping/1", 1)).unwrap();
    assert!(matches!(next(&mut asking).packet, Packet::Nack(..)));
    assert!(node.node.control().destroy_face(id));
    assert_eq!(serving.join().unwrap().1.nacks, 1);

    let ndn = DataBuilder::new(name("/ping/1")).build_with_digest().unwrap();
    let wrong = answer_with(move |_: &Interest| Ok(Reply::Data(ndn.clone())));
    let (_, serving) = serve_inside(&node, Dialect::Ccnx, wrong);
    let mut asking = node.inner_in(Dialect::Ccnx, "", InnerLimits::default());
    asking.send(ask_in(Dialect::Ccnx, "/ping/1", 1)).unwrap();
    let (error, _) = serving.join().unwrap();
    assert!(matches!(error, ServeError::AppFace(InnerServeError::OtherDialect)), "{error}");
}

#[test]
fn data_that_is_offered_reaches_who_waits_and_is_no_mistake_if_nobody_does() {
    let node = TestNode::start();
    let mut inside = node.inner("news", InnerLimits::default());
    let mut asking = node.inner("", InnerLimits::default());
    node.route("/news", inside.id());
    let offer = |uri: &str| {
        let data = DataBuilder::new(name(uri)).content(vec![1]).build_with_digest().unwrap();
        InnerPacket { is_offer: true, ..InnerPacket::data(data) }
    };
    asking.send(ask("/news/2", 1)).unwrap();
    next_interest(&mut inside);
    inside.send(offer("/news/1")).unwrap();
    inside.send(offer("/news/2")).unwrap();
    assert_eq!(next_data(&mut asking).name().to_string(), "/news/2");
    let unasked = |node: &TestNode, face: &InnerFace| {
        let drops = node.status_of(face).unwrap().traffic.engine_drops;
        drops.iter().map(|(_, count)| count).sum::<u64>()
    };
    assert_eq!(unasked(&node, &inside), 0);
    let nobody_asks = InnerPacket { is_offer: false, ..offer("/news/3") };
    inside.send(nobody_asks).unwrap();
    node.until("it is counted", |node| unasked(node, &inside) == 1);
}
