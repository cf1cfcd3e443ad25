use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use engine::FaceId;
use node::LinkRequest;
use packet::ccnx::InterestFields;
use packet::ccnx::management::{Collection, NdnldConnection};
use packet::ccnx::ndnlp::Flags;
use packet::ccnx::pdu::wrap_pdu;

use super::carrier::Carrier;
use super::{Links, Neighbour, Sockets};
use crate::tool::ndnld::usual;

/// An adaptor, and the forwarder's end of its only link.
struct End {
    carrier: Carrier,
    forwarder: UnixStream,
}

/// A link of 127.0.0.`own` to 127.0.0.`other`, with acknowledgements.
fn end(own: u8, other: u8) -> End {
    let address = format!("127.0.0.{own}:29695").parse().unwrap();
    let mut carrier = Carrier::start(Links::new(Sockets::new(address))).unwrap();
    let host = format!("127.0.0.{other}");
    let asked = NdnldConnection {
        action: Some("connect"),
        lower_protocol: Some("udp"),
        host: Some(&host),
        flags: Some(Flags::ACK_REQUESTED),
        retransmit_millis: Some(50),
        ..usual()
    };
    let (request, remote, local) = LinkRequest::of(&asked).unwrap();
    let neighbour = Neighbour::of(remote, local).unwrap();
    let (forwarder, stream) = UnixStream::pair().unwrap();
    forwarder.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let told = carrier.call(move |links| links.add(FaceId(11), request, neighbour, stream.into()));
    let told = told.unwrap().unwrap();
    assert_eq!(NdnldConnection::decode(&told).unwrap().status, Some("normal"));
    End { carrier, forwarder }
}

fn interest(number: usize, bytes: usize) -> Vec<u8> {
    let name = format!("/{number}/{}", "x".repeat(bytes)).parse().unwrap();
    InterestFields::default().encode(&name).unwrap()
}

#[test]
fn messages_of_all_sizes_reach_the_other_forwarder_wrapped_and_whole_in_both_directions() {
    let (mut near, mut far) = (end(21, 22), end(22, 21));
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
    let End { mut carrier, forwarder } = end(23, 24);
    drop(forwarder);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let listed = carrier.call(|links| links.list()).unwrap();
        let collection = Collection::decode(&listed).unwrap();
        let states: Vec<_> =
            collection.items().map(|item| NdnldConnection::decode(item).unwrap().status.unwrap()).collect();
        if states == ["error"] {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{states:?}");
    }
    assert!(carrier.call(|links| links.remove(FaceId(11))).unwrap().is_some());
    assert!(carrier.call(|links| links.remove(FaceId(11))).unwrap().is_none());
    assert_eq!(carrier.call(|links| links.list()).unwrap(), Collection::encode(Vec::<Vec<u8>>::new()));
}

#[test]
fn what_is_not_whole_and_who_is_no_neighbour_is_not_passed_on() {
    let (mut near, mut far) = (end(25, 26), end(26, 25));
    let stranger = std::net::UdpSocket::bind("127.0.0.27:0").unwrap();
    stranger.send_to(&[0xff; 100], "127.0.0.26:29695").unwrap();
    stranger.send_to(&interest(7, 10), "127.0.0.26:29695").unwrap();
    let message = interest(1, 1);
    near.forwarder.write_all(&wrap_pdu(&message)).unwrap();
    let mut came = vec![0; wrap_pdu(&message).len()];
    far.forwarder.read_exact(&mut came).unwrap();
    assert_eq!(came, wrap_pdu(&message));
    // A forwarder that speaks another language is left.
    near.forwarder.write_all(&[0xff; 32]).unwrap();
    assert_eq!(near.forwarder.read(&mut [0; 8]).unwrap_or(0), 0);
}
