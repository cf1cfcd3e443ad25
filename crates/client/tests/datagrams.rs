//! Datagrams of a connection, as a peer sees them that knows nothing of trains, and one that does.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration as StdDuration;

use cairn_client::{Connection, Remote};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Data, Interest, Packet};

fn peer() -> (UdpSocket, Remote) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(StdDuration::from_secs(10))).unwrap();
    let remote = format!("udp4://{}", socket.local_addr().unwrap()).parse().unwrap();
    (socket, remote)
}

fn interest(number: usize) -> Interest {
    // Lengths that grow, shrink and stay, as names do.
    let name = format!("/datagrams/{}/{number}", "n".repeat(number / 7 % 40));
    InterestBuilder::new(name.parse().unwrap()).nonce(number as u32).build().unwrap()
}

fn data(number: usize) -> Data {
    let content = vec![number as u8; if number % 10 == 9 { 500 } else { 4000 }];
    let name = format!("/datagrams/{number:04}").parse().unwrap();
    DataBuilder::new(name).content(content).build_with_digest().unwrap()
}

/// Sends enough for the peer to know where, and says where.
fn greet(connection: &mut Connection, socket: &UdpSocket) -> SocketAddr {
    connection.send_interest(&interest(0)).unwrap();
    connection.flush().unwrap();
    socket.recv_from(&mut [0; 9000]).unwrap().1
}

#[test]
fn every_packet_sent_is_a_datagram_of_its_own_and_none_is_missing_or_out_of_order() {
    let (socket, remote) = peer();
    let mut connection = Connection::open(&remote).unwrap();
    let from = greet(&mut connection, &socket);
    let mut bytes = 0;
    for round in 0..20 {
        for number in 0..100 {
            connection.send_interest(&interest(round * 100 + number)).unwrap();
        }
        connection.flush().unwrap();
        for number in 0..100 {
            let mut datagram = [0; 9000];
            let (length, sender) = socket.recv_from(&mut datagram).unwrap();
            let expected = interest(round * 100 + number);
            assert_eq!((&datagram[..length], sender), (&expected.wire()[..], from));
            bytes += length as u64;
        }
    }
    let counters = connection.counters();
    assert_eq!((counters.packets_out, counters.unsent), (2001, 0));
    assert_eq!(counters.bytes_out, bytes + interest(0).wire().len() as u64);
}

#[test]
fn datagrams_that_the_kernel_joined_are_told_apart() {
    use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};
    let (socket, remote) = peer();
    let mut connection = Connection::open(&remote).unwrap();
    let to = greet(&mut connection, &socket);
    let mut expected = 0;
    for round in 0..20 {
        // Nine of one length and a shorter one, in one train.
        let packets: Vec<Data> = (round * 10..round * 10 + 10).map(data).collect();
        let train: Vec<u8> = packets.iter().flat_map(|data| data.wire().to_vec()).collect();
        setsockopt(&socket, UdpGsoSegment, &(packets[0].wire().len() as i32)).unwrap();
        socket.send_to(&train, to).unwrap();
        for _ in 0..10 {
            let until = connection.now() + Duration::from_secs(10);
            match connection.receive(until).unwrap() {
                Some((Packet::Data(got), _)) => assert_eq!(got.wire(), data(expected).wire()),
                other => panic!("{other:?} instead of {expected}"),
            }
            expected += 1;
        }
    }
    assert_eq!((connection.counters().packets_in, connection.counters().malformed), (200, 0));
}

#[test]
fn memory_that_was_given_back_holds_what_comes_next_and_nothing_that_is_still_in_use() {
    let (socket, remote) = peer();
    let mut connection = Connection::open(&remote).unwrap();
    let to = greet(&mut connection, &socket);
    let receive = |connection: &mut Connection, number: usize| {
        socket.send_to(data(number).wire(), to).unwrap();
        let until = connection.now() + Duration::from_secs(10);
        match connection.receive(until).unwrap() {
            Some((Packet::Data(got), _)) => got,
            other => panic!("{other:?} instead of {number}"),
        }
    };
    let first = receive(&mut connection, 1);
    let (place, kept) = (first.wire().as_ptr(), first.clone());
    connection.recycle(first);
    assert_eq!(receive(&mut connection, 2).wire(), data(2).wire());
    assert_eq!(kept.wire(), data(1).wire());
    connection.recycle(kept);
    let third = receive(&mut connection, 3);
    assert_eq!((third.wire(), third.wire().as_ptr()), (data(3).wire(), place));
    connection.recycle(third);
    // A small packet does not get the memory of a large one.
    let small = receive(&mut connection, 9);
    assert_ne!(small.wire().as_ptr(), place);
}
