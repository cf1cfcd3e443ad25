use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ::link::v1::{Config, LinkService};
use packet::ccnx::InterestFields;
use packet::ccnx::ndnlp::Flags;
use packet::ccnx::pdu::wrap_pdu;
use packet::random::Random;
use trust::{KeyKind, PrivateKey};

use super::links::Connection;
use super::*;
use crate::control::FaceState;

fn ignore(_: Event) {}

/// An adaptor, and the forwarder's end of its only link.
struct End {
    worker: Worker,
    forwarder: UnixStream,
}

/// A link over UDP of 127.0.0.`own` to 127.0.0.`other`, with acknowledgements.
fn end(own: u8, other: u8) -> End {
    end_over("udp", own, other)
}

fn end_over(protocol: &str, own: u8, other: u8) -> End {
    let address = format!("127.0.0.{own}:29695").parse().unwrap();
    let mut worker = Worker::start(Links::new(Sockets::new(address, ignore), ignore)).unwrap();
    let forwarder = add(&mut worker, protocol, &format!("127.0.0.{other}"));
    End { worker, forwarder }
}

/// Adds a link behind face 11; gives the forwarder's end.
fn add(worker: &mut Worker, protocol: &str, host: &str) -> UnixStream {
    let asked = NdnldConnection {
        lower_protocol: Some(protocol),
        host: Some(host),
        flags: Some(Flags::ACK_REQUESTED),
        retransmit_millis: Some(50),
        ..NdnldConnection::default()
    };
    let request = LinkRequest::of(&asked).unwrap();
    let neighbour = Neighbour::of(&request).unwrap();
    let (forwarder, stream) = UnixStream::pair().unwrap();
    forwarder.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let connection = Connection { face: FaceId(11), stream: stream.into(), came: Vec::new() };
    let added = worker.call(move |links| links.add(request, neighbour, connection));
    assert_eq!(added.unwrap().unwrap().state, FaceState::Up);
    forwarder
}

fn neighbour(address: &str) -> Neighbour {
    Neighbour::Udp(address.parse().unwrap())
}

fn has_working(worker: &mut Worker, neighbour: &Neighbour) -> bool {
    let asked = neighbour.clone();
    worker.call(move |links| links.working(&asked)).unwrap().is_some()
}

fn interest(number: usize, bytes: usize) -> Vec<u8> {
    let name = format!("/{number}/{}", "x".repeat(bytes)).parse().unwrap();
    InterestFields::default().encode(&name).unwrap()
}

#[test]
fn messages_of_all_sizes_reach_the_other_forwarder_wrapped_and_whole_in_both_directions() {
    messages_of_all_sizes_go(end(21, 22), end(22, 21));
}

#[test]
fn messages_of_all_sizes_reach_the_other_forwarder_over_ip_alone() {
    testkit::own_network::run(|| {
        messages_of_all_sizes_go(end_over("ip", 36, 37), end_over("ip", 37, 36));
    });
}

fn messages_of_all_sizes_go(mut near: End, mut far: End) {
    for round in 0..4 {
        for (number, bytes) in [(1, 1), (2, 1400), (3, 8000), (4, 8700)] {
            let message = interest(number + round, bytes);
            // Two in one wrapper now and then, as forwarders may send them.
            let sent = if bytes == 1 { [&message[..], &message[..]].concat() } else { message.clone() };
            near.forwarder.write_all(&wrap_pdu(&sent)).unwrap();
            for _ in 0..sent.len() / message.len() {
                let expected = wrap_pdu(&message);
                let mut came = vec![0; expected.len()];
                far.forwarder.read_exact(&mut came).unwrap();
                assert_eq!(came, expected);
            }
            std::mem::swap(&mut near, &mut far);
        }
    }
}

#[test]
fn a_link_whose_face_the_forwarder_closes_is_listed_as_failed_and_others_go_on() {
    let End { mut worker, forwarder } = end(23, 24);
    drop(forwarder);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let listed = worker.call(|links| links.list()).unwrap();
        let states: Vec<_> = listed.iter().map(|link| link.state).collect();
        if states == [FaceState::Down] {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{states:?}");
    }
    assert!(worker.call(|links| links.remove(FaceId(11))).unwrap().is_some());
    assert!(worker.call(|links| links.remove(FaceId(11))).unwrap().is_none());
    assert!(worker.call(|links| links.list()).unwrap().is_empty());
}

#[test]
fn a_link_that_has_failed_is_made_anew_and_a_number_that_a_forwarder_gives_again_is_another_link() {
    let End { mut worker, forwarder } = end(33, 34);
    drop(forwarder);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    let failed = neighbour("127.0.0.34:29695");
    while has_working(&mut worker, &failed) {
        assert!(std::time::Instant::now() < deadline);
    }
    let _forwarder = add(&mut worker, "udp", "127.0.0.35");
    assert!(has_working(&mut worker, &neighbour("127.0.0.35:29695")));
    assert!(!has_working(&mut worker, &failed));
    assert_eq!(worker.call(|links| links.by_neighbour_count()).unwrap(), 1);
}

#[test]
fn a_forwarder_that_says_nothing_or_closes_is_told_as_that() {
    let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
    let connect = Box::new(|| Err(io::ErrorKind::NotFound.into()));
    let beside = Forwarder { ccnd_id: [7; 32], signer, connect };
    let learn = |stream: UnixStream| {
        let learnt = face_number::learn(stream.into(), &beside, Ticks::from_unix(1_700_000_000, 0));
        learnt.map(|connection| connection.face).unwrap_err().to_string()
    };
    let (stream, _forwarder) = UnixStream::pair().unwrap();
    let silent = learn(stream);
    assert!(silent.contains("does not say which face"), "{silent}");
    let (stream, forwarder) = UnixStream::pair().unwrap();
    forwarder.shutdown(std::net::Shutdown::Write).unwrap();
    let closed = learn(stream);
    assert!(closed.contains("has closed the connection"), "{closed}");
}

#[test]
fn what_is_not_whole_and_who_is_no_neighbour_is_not_passed_on() {
    let (mut near, mut far) = (end(25, 26), end(26, 25));
    let stranger = std::net::UdpSocket::bind("127.0.0.27:0").unwrap();
    let mut service = LinkService::new(Config::default(), Random::from_seed(1)).unwrap();
    service.send(packet::time::Instant::ZERO, interest(7, 10).into()).unwrap();
    let mut packet = Vec::new();
    service.poll_transmit(packet::time::Instant::ZERO, &mut packet).unwrap();
    // From the neighbour's address it would be passed on, as the message below is.
    stranger.send_to(&packet, "127.0.0.26:29695").unwrap();
    let message = interest(1, 1);
    near.forwarder.write_all(&wrap_pdu(&message)).unwrap();
    let mut came = vec![0; wrap_pdu(&message).len()];
    far.forwarder.read_exact(&mut came).unwrap();
    assert_eq!(came, wrap_pdu(&message));
    // A forwarder that speaks another language is left.
    near.forwarder.write_all(&[0xff; 32]).unwrap();
    assert_eq!(near.forwarder.read(&mut [0; 8]).unwrap(), 0);
}
