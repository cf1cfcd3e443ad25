//! Parity frames on a real multicast group: what leaves, and what is rebuilt of it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::net::{Ipv6Addr, SocketAddrV6, UdpSocket};
use std::time::{Duration, Instant};

use cairn_node::control::NodeControl as _;
use link::v2::{Config, Framed, LinkService, ParityConfig, ParityCounters};
use packet::ndn::lp::LpPacketView;
use packet::random::Random;
use packet::{Buffer, LinkHeader, LinkType};
use testkit::own_network::{self, ip};

use crate::support::*;

const GROUP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1234);
const PORT: u16 = 56_363;

/// A node with a group that is shared, and the socket of a neighbour in it.
struct Neighbours {
    node: TestNode,
    socket: UdpSocket,
    group: SocketAddrV6,
}

impl Neighbours {
    fn meet() -> Self {
        ip("link add cable0 index 4321 type veth peer name cable1 index 4322").unwrap();
        for (end, address) in [("cable0", "fe80::a/64"), ("cable1", "fe80::b/64")] {
            ip(&format!("link set {end} up")).unwrap();
            ip(&format!("addr add {address} dev {end} nodad")).unwrap();
        }
        let node = TestNode::start_with(|config| {
            config.multicast.interfaces = vec!["cable0".into()];
            config.multicast.share = true;
        });
        node.until("the group is joined", |node| {
            node.faces().iter().any(|face| face.remote.scheme() == "udp6")
        });
        let group = SocketAddrV6::new(GROUP, PORT, 0, 4322);
        let socket = UdpSocket::bind(group).unwrap();
        socket.join_multicast_v6(&GROUP, 4322).unwrap();
        socket.set_multicast_loop_v6(false).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        Neighbours { node, socket, group }
    }

    fn send(&self, frame: &[u8]) {
        self.socket.send_to(frame, self.group).unwrap();
    }

    fn parity(&self) -> ParityCounters {
        self.node.node.control().status().parity
    }

    /// What comes until nothing has come for a moment.
    fn receive_all(&self) -> Vec<Vec<u8>> {
        let mut buffer = vec![0; 9000];
        let mut frames = Vec::new();
        while let Ok(length) = self.socket.recv(&mut buffer) {
            frames.push(buffer[..length].to_vec());
        }
        frames
    }
}

/// The hashes in a parity frame; nothing if it is another frame.
fn hashes_in(frame: &[u8]) -> Option<Vec<u64>> {
    let parity = LpPacketView::decode(frame).unwrap().parity;
    let count = usize::from(*parity.first()?);
    Some(parity[3..].as_chunks::<8>().0[..count].iter().map(|hash| u64::from_be_bytes(*hash)).collect())
}

fn hash_of(frame: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(frame);
    hasher.finish()
}

#[test]
fn a_node_that_is_asked_again_sends_parity_frames_and_each_comes_after_the_packets_it_stands_for() {
    own_network::run(|| {
        let neighbours = Neighbours::meet();
        let mut producer = tcp_peer(neighbours.node.address("tcp4"));
        neighbours.node.until("the producer has a face", |node| {
            node.faces().iter().any(|face| face.remote.scheme() == "tcp4")
        });
        let faces = neighbours.node.faces();
        neighbours.node.route("/x", faces.iter().find(|face| face.remote.scheme() == "tcp4").unwrap().id);
        let (mut seen, mut blocks, mut packets) = (HashSet::new(), Vec::new(), 0);
        let deadline = Instant::now() + TIMEOUT;
        // As few as the buffer of the socket holds.
        for first in (0..).step_by(48) {
            let uris: Vec<String> = (first..first + 48).map(|number| format!("/x/{number}")).collect();
            for uri in &uris {
                neighbours.send(&interest(uri));
                read_frame(&mut producer);
                // Of several lengths, by which datagrams are sorted where they may be.
                producer.write_all(&data(uri, 1000 + first % 7 + uri.len())).unwrap();
            }
            for round in 0..3 {
                if round > 0 {
                    // Asked by many who missed them, as it seems, all at once: so the answers are a batch.
                    uris.iter().for_each(|uri| neighbours.send(&interest(uri)));
                }
                for frame in neighbours.receive_all() {
                    let Some(hashes) = hashes_in(&frame) else {
                        seen.insert(hash_of(&frame));
                        packets += 1;
                        continue;
                    };
                    assert!(hashes.iter().all(|hash| seen.contains(hash)), "it came before a packet");
                    blocks.push(hashes.len());
                }
            }
            if blocks.len() > 20 {
                break;
            }
            assert!(Instant::now() < deadline, "{} parity frames for {packets} packets", blocks.len());
        }
        assert!(blocks.iter().all(|frames| (4..=16).contains(frames)), "{blocks:?}");
        assert!(neighbours.parity().sent >= blocks.len() as u64);
    });
}

/// A sender that has noticed losses, and what leaves it for each packet.
struct Sender {
    link: LinkService,
    now: packet::time::Instant,
}

impl Sender {
    fn new() -> Self {
        let (link_type, parity) = (LinkType::MultiAccess, Some(ParityConfig::default()));
        let config = Config { link_type, parity, congestion_marking: None, ..Config::default() };
        let link = LinkService::new(config, Random::from_seed(1)).unwrap();
        let mut sender = Sender { link, now: packet::time::Instant::ZERO };
        for _ in 0..2 {
            (0..600).for_each(|number| drop(sender.send(&data(&format!("/before/{number}"), 10))));
        }
        sender
    }

    /// The packet, which is a frame, and the parity frame if one is due then.
    fn send(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        self.now += packet::time::Duration::from_micros(100);
        let packet = Buffer::from(packet.to_vec());
        let mut parity = Vec::new();
        if !self.link.frame_bare(self.now, &packet) {
            let framed = self.link.frame(self.now, LinkHeader::NONE, None, &packet, &mut parity);
            assert_eq!((framed, parity.len()), (Ok(Framed::Whole), 0));
            while self.link.poll_transmit(self.now, &mut parity).is_some() {}
        }
        [packet.to_vec(), parity].into_iter().filter(|frame| !frame.is_empty()).collect()
    }
}

#[test]
fn a_node_gives_its_application_what_it_missed_of_its_group_without_asking_again() {
    own_network::run(|| {
        let neighbours = Neighbours::meet();
        let group = neighbours.node.faces().into_iter().find(|face| face.remote.scheme() == "udp6").unwrap();
        neighbours.node.route("/x", group.id);
        let consumer = udp_peer();
        let mut sender = Sender::new();
        let uris: Vec<String> = (0..64).map(|number| format!("/x/{number:03}")).collect();
        for uri in &uris {
            consumer.send_to(&interest(uri), neighbours.node.address("udp4")).unwrap();
        }
        neighbours.node.until("all Interests have come", |node| {
            let came = node.faces().iter().map(|face| face.traffic.packets.in_interests).sum::<u64>();
            came >= uris.len() as u64
        });
        let mut is_listening = false;
        let mut missed = 0_u64;
        for (place, uri) in uris.iter().enumerate() {
            for frame in sender.send(&data(uri, 700)) {
                // One in sixteen is lost from when the node has heard of parity.
                let is_lost = is_listening && place % 16 == 3 && hashes_in(&frame).is_none();
                is_listening |= hashes_in(&frame).is_some();
                missed += u64::from(is_lost);
                if !is_lost {
                    neighbours.send(&frame);
                }
            }
        }
        assert!(missed >= 2, "{missed}");
        // Nobody would answer again: what was lost can only be rebuilt.
        let got: HashSet<Vec<u8>> = (0..uris.len()).map(|_| packet_of(&receive(&consumer))).collect();
        assert!(uris.iter().all(|uri| got.contains(&data(uri, 700))));
        assert_eq!(neighbours.parity().rebuilt, missed);
    });
}
