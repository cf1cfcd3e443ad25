//! A node that is about to start.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use cairn_node::Node;
use cairn_node::config::Config;
use cairn_node::control::{ControlApplication, FaceEvent, MANAGEMENT_FACE, NodeControl};
use engine::{FaceId, NextHop};
use packet::ndn::DataBuilder;
use packet::{Data, Dialect, Interest, Now};
use testkit::folder::TestFolder;

use crate::support::*;

/// Management that takes its time until it can be reached.
struct Slow(Vec<Data>);

impl ControlApplication for Slow {
    fn start(&mut self, _now: Now, node: &mut dyn NodeControl) {
        std::thread::sleep(Duration::from_millis(300));
        let hop = NextHop { face: MANAGEMENT_FACE, cost: 0 };
        node.add_next_hop(Dialect::Ndn, &"/localhost/nfd".parse().unwrap(), hop, None).unwrap();
    }

    fn handle_interest(&mut self, _: Now, _: &mut dyn NodeControl, interest: &Interest, _: FaceId) {
        self.0.push(DataBuilder::new(interest.name().to_name()).build_with_digest().unwrap());
    }

    fn handle_face_event(&mut self, _: Now, _: &mut dyn NodeControl, _: &FaceEvent) {}

    fn handle_engine_event(&mut self, _: Now, _: &mut dyn NodeControl, _: &engine::Event) {}

    fn handle_timeout(&mut self, _: Now, _: &mut dyn NodeControl) {}

    fn poll_data(&mut self) -> Option<Data> {
        self.0.pop()
    }

    fn next_deadline(&self) -> packet::time::Instant {
        packet::time::Instant::NEVER
    }
}

#[test]
fn whoever_connects_before_management_is_there_waits_for_it_and_gets_no_nack() {
    let folder = TestFolder::new("starting");
    let socket = folder.join("node.sock");
    let mut config = Config::default();
    config.udp.listen = Vec::new();
    config.tcp.listen = Vec::new();
    config.websocket.listen = Vec::new();
    config.unix.listen = Some(vec![socket.clone()]);
    let early = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(20);
        let mut stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
        };
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(&interest("/localhost/nfd/status")).unwrap();
        let mut answer = [0];
        stream.read_exact(&mut answer).unwrap();
        answer[0]
    });
    let node = Node::start(&config, Box::new(Slow(Vec::new()))).map_err(|error| error.to_string()).unwrap();
    assert_eq!(early.join().unwrap(), 0x06, "a Data, and no Nack in an LpPacket");
    drop(node);
}
