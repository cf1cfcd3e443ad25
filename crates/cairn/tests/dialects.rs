//! Applications that speak CCNx, with the client library, through a node.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use client::{Client, Connection, Event, Remote};
use engine::NextHop;
use flow::source::Packets;
use node::Node;
use node::config::Config;
use node::control::{NodeControl as _, Unmanaged};
use packet::ccnx::{InterestFields, Ticks, uri};
use packet::time::Duration;
use packet::{Data, Dialect, Interest};
use testkit::folder::TestFolder;
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey};

fn start_node(folder: &std::path::Path) -> Node {
    let mut config = Config::default();
    (config.udp.listen, config.tcp.listen, config.websocket.listen) = (vec![], vec![], vec![]);
    config.unix.listen = Some(vec![folder.join("nfd.sock")]);
    config.ccnx.enabled = true;
    (config.ccnx.udp, config.ccnx.tcp) = (vec![], vec![]);
    config.ccnx.unix = vec![folder.join("ccnd.sock")];
    config.ccnx.key_file = Some(folder.join("ccnx.key"));
    Node::start(&config, Box::new(Unmanaged)).unwrap()
}

fn object(text: &str, content: &[u8]) -> Data {
    let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
    let name = uri::parse(text).unwrap();
    let wire = signer.sign(&name, content, Ticks::from_unix(1_700_000_000, 0), |info| info).unwrap();
    Data::decode_ccnx(wire.into()).unwrap()
}

#[test]
fn what_one_client_of_ccnx_serves_another_gets_through_a_node() {
    let folder = TestFolder::new("dialects");
    let mut node = start_node(&folder);
    let remote = Remote::Unix(folder.join("ccnd.sock"));
    let open = || Client::over(Connection::open_in(Dialect::Ccnx, &remote).unwrap());
    let answer = object("ccnx:/lab/report/%00", b"what was found");
    let mut producer = open();
    let prefix = uri::parse("ccnx:/lab").unwrap();
    producer.attach(&prefix, Packets::new([answer.clone()]));
    // The node knows the client once something has come from it.
    let hello = InterestFields::default().encode(&uri::parse("ccnx:/hello").unwrap()).unwrap();
    producer.send_only(&Interest::decode_ccnx(hello.into()).unwrap()).unwrap();
    producer.flush().unwrap();
    let mut control = node.control();
    let face = loop {
        let mut faces = control.faces();
        faces.retain(|face| face.dialect == Dialect::Ccnx && face.remote.to_string().starts_with("fd://"));
        match faces.pop() {
            Some(face) => break face.id,
            None => std::thread::yield_now(),
        }
    };
    control.add_next_hop(Dialect::Ccnx, &prefix, NextHop { face, cost: 0 }, None).unwrap();

    let mut consumer = open();
    let asked = InterestFields::default().encode(&uri::parse("ccnx:/lab/report").unwrap()).unwrap();
    consumer.express_as_is(Interest::decode_ccnx(asked.into()).unwrap(), Duration::from_secs(20)).unwrap();
    let serving = std::thread::spawn(move || {
        let until = producer.now() + Duration::from_secs(20);
        producer.next(Some(until)).unwrap()
    });
    let Some(Event::Data { data, .. }) = consumer.next(None).unwrap() else { panic!("no Data") };
    assert_eq!(data.wire(), answer.wire());
    node.shut_down();
    drop(serving);
}
