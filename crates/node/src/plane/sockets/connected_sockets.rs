//! Sockets of their own for UDP neighbours that have proved useful.
//!
//! All strangers of a local address wait in one socket, and one that sends more than is read fills it for
//! everybody. The system hands a datagram to a socket that is connected to its sender before any other, so a
//! neighbour with such a socket waits only behind itself. There are few of them: each takes a descriptor and
//! a receive buffer.

use engine::FaceId;
use packet::time::Duration;
use rustix::event::epoll;

use crate::control::FacePersistency;
use crate::face::{DatagramPath, DatagramPort, Face, Faces, Probation, Transport};
use crate::plane::{DataPlane, Token};
use crate::transport::datagram::DatagramChannel;

/// One address has at most one in so many of these sockets.
const PART_PER_ADDRESS: usize = 4;
/// A neighbour that was silent for so long gives its socket to another.
const IDLE: Duration = Duration::from_secs(10);

impl Faces {
    /// Sends by another socket for UDP from now on.
    fn set_channel(&mut self, id: FaceId, number: usize) {
        if let Some(face) = self.get_mut(&id)
            && let Transport::Datagram(DatagramPort { path: DatagramPath::Udp { channel, .. }, .. }) =
                &mut face.transport
        {
            *channel = number;
        }
    }
}

impl DataPlane {
    /// Gives a UDP neighbour a socket of its own if it deserves one and there is one. Otherwise it is asked
    /// again later.
    #[cold]
    pub(in crate::plane) fn consider_own_socket(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        face.probation.ends = face.counters.traffic.in_frames.max(Probation::FRAMES).saturating_mul(2);
        let Transport::Datagram(DatagramPort { path: DatagramPath::Udp { channel, peer, .. }, .. }) =
            face.transport
        else {
            face.probation.ends = u64::MAX;
            return;
        };
        let (persistency, in_frames, origin) =
            (face.persistency, face.counters.traffic.in_frames, face.probation.origin);
        let Some(main) = self.sockets.channels.get(channel) else { return };
        if main.main().is_some() || main.is_ip() || main.is_multicast() || peer.ip().is_multicast() {
            return;
        }
        // Whoever only asks, or only sends what nobody asked for, need not be heard before others.
        let packets = self.engine.face_counters(id).copied().unwrap_or_default().packets;
        let is_useful = (packets.in_data + packets.out_data).saturating_mul(4) >= in_frames;
        if persistency == FacePersistency::OnDemand && !is_useful {
            return;
        }
        let most = self.settings.udp.own_sockets;
        let share = (most / PART_PER_ADDRESS).max(1);
        let of_origin = |face: &&&Face| origin.is_some() && face.probation.origin == origin;
        let owners = self.owners_of_sockets();
        if owners.iter().filter(of_origin).count() >= share {
            return;
        }
        if owners.len() >= most {
            let idle = owners.iter().filter(|face| face.activity.last_used + IDLE <= self.now);
            let Some(given_up) = idle.min_by_key(|face| face.activity.last_used).map(|face| face.id) else {
                return;
            };
            self.withdraw_socket(given_up);
        }
        self.give_own_socket(id, channel, peer);
    }

    fn owners_of_sockets(&self) -> Vec<&Face> {
        let faces = self.sockets.channels.owned().filter_map(|face| self.faces.get(&face));
        faces.map(|face| &**face).collect()
    }

    fn give_own_socket(&mut self, id: FaceId, main: usize, peer: std::net::SocketAddr) {
        let Some(channel) = self.sockets.channels.get(main) else { return };
        let opened = channel.connected_to(peer, main, id, self.settings.udp.own_receive_bytes);
        let number = self.sockets.channels.next_number();
        let watched = opened.and_then(|channel| {
            self.sockets.watch(&channel.socket, Token::Datagrams(number), epoll::EventFlags::IN)?;
            Ok(channel)
        });
        match watched {
            Ok(channel) => {
                tracing::debug!(face = id.0, %peer, "the neighbour has a socket of its own");
                self.sockets.channels.insert(channel);
                self.schedule.watchdog.trust_anew(Token::Datagrams(number));
                self.faces.set_channel(id, number);
                // Its address may go, and then the socket is of no use.
                self.watch_interfaces();
            }
            Err(error) => tracing::debug!(face = id.0, %peer, %error, "no socket of its own can be had"),
        }
    }

    /// Has a neighbour share the socket of its local address again.
    pub(in crate::plane) fn withdraw_socket(&mut self, id: FaceId) {
        let Some(face) = self.faces.get(&id) else { return };
        let Transport::Datagram(DatagramPort { path: DatagramPath::Udp { channel, .. }, .. }) =
            face.transport
        else {
            return;
        };
        let Some(main) = self.sockets.channels.get(channel).and_then(DatagramChannel::main) else { return };
        // Closing it takes it out of the epoll set.
        self.sockets.channels.remove(channel);
        self.faces.set_channel(id, main);
        tracing::debug!(face = id.0, "the neighbour shares a socket again");
    }

    /// Withdraws the sockets whose local address this host no longer has.
    pub(in crate::plane) fn check_own_sockets(&mut self, all: &[crate::sys::interfaces::Interface]) {
        let is_there = |local: std::net::IpAddr| {
            local.is_loopback()
                || all.iter().any(|interface| match local {
                    std::net::IpAddr::V4(local) => interface.v4.contains(&local),
                    std::net::IpAddr::V6(local) => interface.v6.contains(&local),
                })
        };
        let owned: Vec<FaceId> = self.sockets.channels.owned().collect();
        for id in owned {
            let Some(face) = self.faces.get(&id) else { continue };
            let Transport::Datagram(DatagramPort { path: DatagramPath::Udp { channel, .. }, .. }) =
                face.transport
            else {
                continue;
            };
            if self.sockets.channels.get(channel).is_some_and(|channel| !is_there(channel.local.ip())) {
                self.withdraw_socket(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use engine::NextHop;
    use packet::Dialect;
    use packet::ndn::{DataBuilder, InterestBuilder};

    use crate::plane::bench::{Bench, bench, peer};

    fn interest(number: u32, prefix: &str) -> Vec<u8> {
        let name = format!("{prefix}/{number}").parse().unwrap();
        InterestBuilder::new(name).nonce(number).build().unwrap().wire().to_vec()
    }

    #[test]
    fn a_stranger_that_fills_the_shared_socket_takes_nothing_from_a_neighbour_with_its_own() {
        let mut bench = bench();
        let (honest, face) = bench.neighbour();
        let hostile = peer();
        for number in 0..3000 {
            let filler = "f".repeat(1000);
            hostile.send_to(&interest(number, &format!("/{filler}")), bench.here).unwrap();
        }
        for number in 0..50 {
            honest.send_to(&interest(number, "/honest"), bench.here).unwrap();
        }
        bench.work();
        assert_eq!(bench.in_frames(face), 50);
        // What is sent to it still comes from the address it knows.
        let mut answer = [0; 9000];
        let (_, from) = honest.recv_from(&mut answer).unwrap();
        assert_eq!(from, bench.here);
    }

    /// Whether a frame comes to `socket` while the node works. What the node asks of its neighbour, it is
    /// told.
    fn takes(bench: &mut Bench, socket: &UdpSocket) -> bool {
        let mut frame = [0; 9000];
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while std::time::Instant::now() < deadline {
            match socket.recv(&mut frame) {
                Ok(length) => match link::v2::answer_echo(&frame[..length], 8 << 20) {
                    Some(reply) => drop(socket.send_to(&reply, bench.here).unwrap()),
                    None => return true,
                },
                Err(_) => bench.work(),
            }
        }
        false
    }

    /// Has a consumer ask a neighbour, and be answered, so often.
    fn exchange(
        bench: &mut Bench,
        consumer: &UdpSocket,
        producer: &UdpSocket,
        numbers: std::ops::Range<u32>,
    ) {
        for number in numbers {
            consumer.send_to(&interest(number, "/x"), bench.here).unwrap();
            bench.work();
            assert!(takes(bench, producer), "Interest {number} has not arrived");
            let data = DataBuilder::new(format!("/x/{number}").parse().unwrap()).build_with_digest().unwrap();
            producer.send_to(data.wire(), bench.here).unwrap();
            bench.work();
            assert!(takes(bench, consumer), "Data {number} has not arrived");
        }
    }

    #[test]
    fn a_stranger_gets_its_own_socket_when_it_is_useful_and_shares_one_again_when_that_is_withdrawn() {
        let mut bench = bench();
        let (producer, face) = bench.neighbour();
        let hop = NextHop { face, cost: 0 };
        bench.plane.add_next_hop(Dialect::Ndn, &"/x".parse().unwrap(), hop, None).unwrap();
        let consumer = peer();
        assert_eq!(bench.plane.sockets.channels.owned().count(), 1);
        exchange(&mut bench, &consumer, &producer, 0..300);
        assert_eq!(bench.plane.sockets.channels.owned().count(), 2);
        exchange(&mut bench, &consumer, &producer, 300..310);
        let owners: Vec<_> = bench.plane.sockets.channels.owned().collect();
        for id in owners {
            bench.plane.withdraw_socket(id);
        }
        assert_eq!(bench.plane.sockets.channels.owned().count(), 0);
        exchange(&mut bench, &consumer, &producer, 310..320);
        let faces: Vec<_> = bench.plane.faces.keys().copied().collect();
        assert_eq!(faces.len(), 2, "one face for each, whatever socket it has");
        faces.into_iter().for_each(|id| bench.plane.destroy_face(id, "the test is over"));
        assert_eq!(bench.plane.sockets.channels.owned().count(), 0);
    }

    #[test]
    fn a_stranger_that_only_asks_for_what_nobody_has_gets_no_socket_of_its_own() {
        let mut bench = bench();
        let stranger = peer();
        for number in 0..2000 {
            stranger.send_to(&interest(number, "/nothing"), bench.here).unwrap();
            bench.work();
        }
        assert_eq!(bench.plane.sockets.channels.owned().count(), 0);
    }

    #[test]
    fn a_neighbour_that_was_not_there_for_a_while_is_heard_and_reached_again() {
        let mut bench = bench();
        let (producer, face) = bench.neighbour();
        let hop = NextHop { face, cost: 0 };
        bench.plane.add_next_hop(Dialect::Ndn, &"/x".parse().unwrap(), hop, None).unwrap();
        let consumer = peer();
        exchange(&mut bench, &consumer, &producer, 0..5);
        let address = producer.local_addr().unwrap();
        drop(producer);
        for number in 5..300 {
            consumer.send_to(&interest(number, "/x"), bench.here).unwrap();
            bench.work();
        }
        let producer = UdpSocket::bind(address).unwrap();
        producer.set_nonblocking(true).unwrap();
        // The system may hold one more error, of what was sent last.
        exchange(&mut bench, &consumer, &producer, 300..310);
        assert_eq!(bench.plane.schedule.watchdog.rests(), 0);
    }
}
