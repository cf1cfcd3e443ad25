//! Frames that are nearly right, over what has no connection and no single peer: Ethernet, and the groups of
//! both.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cairn_node::config::Config;
use cairn_node::control::{CreateFace, FaceChanges, FacePersistency, FaceSnapshot, NodeControl as _};
use engine::{FaceId, NextHop};
use link::{Direction, FrameTap, TapVerdict};
use packet::Dialect;
use testkit::cable::Cable;
use testkit::needs::needed;

use crate::frames::mutator;
use crate::mutate::Mutator;
use crate::peer::{Peer, interest};
use crate::victim::{SOON, Victim, connect, fresh_name, wait_until};

/// Damaged frames that the node under attack must have seen and refused.
const ENOUGH: u64 = 2_000;
/// Frames sent before it is looked how many came: fewer than wait in the ring of an interface.
const WAVE: usize = 200;
const ETHERNET_GROUP: &str = "ether://[01:00:5e:00:17:aa]";

/// Puts damaged frames in the place of those that a face sends, as long as it is told to.
struct Saboteur {
    mutator: Mutator,
    active: Arc<AtomicBool>,
}

impl FrameTap for Saboteur {
    fn on_frame(
        &mut self,
        _: packet::time::Instant,
        direction: Direction,
        frame: &mut Vec<u8>,
    ) -> TapVerdict {
        if direction == Direction::Out && self.active.load(Ordering::Relaxed) {
            *frame = self.mutator.next();
            // What fits into a frame of Ethernet.
            frame.truncate(1400);
        }
        TapVerdict::Pass
    }
}

/// How many frames a face has refused.
fn refused(face: &FaceSnapshot) -> u64 {
    let malformed = face.traffic.link_drops.iter().find(|(word, _)| *word == "malformed-frame");
    malformed.map_or(0, |(_, count)| *count)
}

fn on_interface(name: &str) -> impl FnOnce(&mut Config) {
    move |config| config.ethernet.interfaces = vec![name.to_owned()]
}

fn create(node: &Victim, remote: &str, interface: &str) -> FaceId {
    let request = CreateFace {
        remote: remote.parse().unwrap(),
        local: Some(format!("dev://{interface}").parse().unwrap()),
        persistency: FacePersistency::Persistent,
        changes: FaceChanges::default(),
        dialect: Dialect::Ndn,
    };
    node.node.control().create_face(request).unwrap().id
}

/// A neighbour with a real socket for Ethernet sends nonsense by `face_of`, and after that an honest
/// question.
fn bombard_ethernet(seed: u64, face_of: impl FnOnce(&Victim, &str, &str) -> FaceId) {
    let Some(cable) = Cable::plug() else { return };
    let [near, far] = cable.ends();
    let (neighbour, victim) = (Victim::with(on_interface(&near)), Victim::with(on_interface(&far)));
    let mac = std::fs::read_to_string(format!("/sys/class/net/{far}/address")).unwrap();
    let face = face_of(&neighbour, &format!("ether://[{}]", mac.trim()), &near);
    let prefix: packet::Name = "/honest/there".parse().unwrap();
    let hop = NextHop { face, cost: 0 };
    neighbour.node.control().add_next_hop(Dialect::Ndn, &prefix, hop, None).unwrap();
    let mut consumer = connect(&neighbour.unix, Instant::now() + SOON);
    let ask = |consumer: &mut Peer| {
        let asked = interest(&fresh_name("/honest/there")).lifetime(packet::time::Duration::from_secs(1));
        consumer.ask(&asked, Instant::now() + SOON).is_some()
    };
    // The first frame is a good one: to strangers who begin with noise no face is given.
    assert!(ask(&mut consumer), "nothing comes through before the attack");
    let active = Arc::new(AtomicBool::new(true));
    let saboteur = Saboteur { mutator: mutator(seed), active: active.clone() };
    assert!(neighbour.node.control().add_tap(face, Box::new(saboteur)));
    let all_refused = || {
        let faces = victim.faces();
        faces.iter().filter(|face| face.remote.scheme() == "ether").map(refused).sum::<u64>()
    };
    wait_until("enough damaged frames have come", || {
        for _ in 0..WAVE {
            let asked =
                interest(&fresh_name("/honest/there")).lifetime(packet::time::Duration::from_millis(100));
            consumer.send(asked.nonce(1).build().unwrap().wire()).unwrap();
        }
        all_refused() > ENOUGH
    });
    active.store(false, Ordering::Relaxed);
    assert!(ask(&mut consumer), "nothing comes through after the attack");
    victim.assert_serves();
}

#[test]
fn damaged_frames_over_ethernet_leave_the_node_serving_and_are_counted() {
    bombard_ethernet(7, create);
}

#[test]
fn damaged_frames_to_the_ethernet_group_leave_the_node_serving_and_are_counted() {
    bombard_ethernet(8, |neighbour, _, _| {
        let faces = neighbour.faces();
        faces.iter().find(|face| face.remote.to_string() == ETHERNET_GROUP).unwrap().id
    });
}

/// The index of an interface, and its link-local address once that may be used.
fn link_local(interface: &str) -> Option<(u32, Ipv6Addr)> {
    // Address, index, length of the prefix, scope (0x20: of the link), flags (0x40: not sure yet to be the
    // only one), name.
    let table = std::fs::read_to_string("/proc/net/if_inet6").ok()?;
    table.lines().find_map(|line| {
        let [address, index, _, "20", flags, name] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let tentative = u32::from_str_radix(flags, 16).ok()? & 0x40 != 0;
        let address = u128::from_str_radix(address, 16).ok()?;
        let index = u32::from_str_radix(index, 16).ok()?;
        (name == interface && !tentative).then(|| (index, Ipv6Addr::from_bits(address)))
    })
}

/// The same for both ends of a cable, after a moment; `None` on a host without IPv6 where that is excused.
fn link_local_ends(cable: &Cable) -> Option<[(u32, Ipv6Addr); 2]> {
    let deadline = Instant::now() + SOON;
    let [near, far] = cable.ends();
    loop {
        if let (Some(near), Some(far)) = (link_local(&near), link_local(&far)) {
            return Some([near, far]);
        }
        if Instant::now() > deadline {
            return needed("IPv6", Err(format!("{near} got no address within {SOON:?}")));
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn damaged_frames_to_the_udp_group_leave_the_node_serving_and_are_counted() {
    let Some(cable) = Cable::plug() else { return };
    let Some([(index, address), _]) = link_local_ends(&cable) else { return };
    let [_, far] = cable.ends();
    let victim = Victim::with(move |config| config.multicast.interfaces = vec![far]);
    let socket = UdpSocket::bind(SocketAddrV6::new(address, 0, 0, index)).unwrap();
    let group = SocketAddr::V6(SocketAddrV6::new("ff02::1234".parse().unwrap(), 56_363, 0, index));
    let group_face = || {
        let faces = victim.faces();
        faces.into_iter().find(|face| face.remote.to_string().starts_with("udp6://[ff02::1234")).unwrap()
    };
    let mut mutator = mutator(9);
    wait_until("enough damaged frames have come", || {
        for _ in 0..WAVE {
            // It may be larger than a datagram can be.
            let _ = socket.send_to(&mutator.next(), group);
        }
        refused(&group_face()) > ENOUGH
    });
    let answered = group_face().traffic.packets.out_data;
    wait_until("an honest question of the group is answered", || {
        let asked = interest(&fresh_name("/honest")).nonce(1).build().unwrap();
        socket.send_to(asked.wire(), group).unwrap();
        group_face().traffic.packets.out_data > answered
    });
    victim.assert_serves();
}
