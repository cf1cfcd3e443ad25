//! A client of a forwarder that speaks CCNx, over streams and datagrams.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::time::Duration as StdDuration;

use cairn_client::{Client, ClientError, Connection, Event, Remote, Unsendable};
use flow::source::Reply;
use packet::ccnx::{InterestFields, SequenceNumber, Ticks, message_len, uri};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Data, Dialect, Interest, LinkHeader, NackReason};

fn interest(text: &str) -> Interest {
    let wire = InterestFields::default().encode(&uri::parse(text).unwrap()).unwrap();
    Interest::decode_ccnx(wire.into()).unwrap()
}

fn object(text: &str, content: &[u8]) -> Data {
    let name = uri::parse(text).unwrap();
    let signer = trust::PrivateKey::generate(trust::KeyKind::Rsa).unwrap();
    let signer = trust::ccnx::CcnxSigner::new(signer).unwrap();
    let wire = signer.sign(&name, content, Ticks::from_unix(1_700_000_000, 0), |info| info).unwrap();
    Data::decode_ccnx(wire.into()).unwrap()
}

/// A client of CCNx, and the other end of its stream.
fn stream() -> (Client, std::net::TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let remote: Remote = format!("tcp4://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Client::over(Connection::open_in(Dialect::Ccnx, &remote).unwrap());
    let (peer, _) = listener.accept().unwrap();
    peer.set_read_timeout(Some(StdDuration::from_secs(20))).unwrap();
    (client, peer)
}

fn next_message(peer: &mut std::net::TcpStream, bytes: &mut Vec<u8>) -> Vec<u8> {
    loop {
        if let Ok(Some(length)) = message_len(bytes) {
            let rest = bytes.split_off(length);
            return std::mem::replace(bytes, rest);
        }
        let mut more = [0; 4096];
        let count = peer.read(&mut more).unwrap();
        assert!(count > 0, "the client has gone");
        bytes.extend_from_slice(&more[..count]);
    }
}

#[test]
fn an_object_of_ccnx_answers_an_interest_of_ccnx_however_the_stream_is_cut() {
    let (mut client, mut peer) = stream();
    let answer = object("ccnx:/lab/file", &[7; 3000]);
    let wire = answer.wire().to_vec();
    let forwarder = std::thread::spawn(move || {
        let asked = next_message(&mut peer, &mut Vec::new());
        for part in wire.chunks(700) {
            peer.write_all(part).unwrap();
            peer.flush().unwrap();
        }
        (asked, peer)
    });
    let asked = interest("ccnx:/lab");
    client.express_as_is(asked.clone(), Duration::from_secs(20)).unwrap();
    let Some(Event::Data { data, header, .. }) = client.next(None).unwrap() else { panic!("no Data") };
    assert_eq!((data.wire(), header), (answer.wire(), LinkHeader::NONE));
    let (seen, _peer) = forwarder.join().unwrap();
    assert_eq!(seen, asked.wire().to_vec());
}

#[test]
fn an_interest_of_ccnx_is_asked_for_like_one_of_ndn() {
    let (mut client, mut peer) = stream();
    let answer = object("ccnx:/lab/file", b"found");
    let wire = answer.wire().to_vec();
    let forwarder = std::thread::spawn(move || {
        let asked = next_message(&mut peer, &mut Vec::new());
        peer.write_all(&wire).unwrap();
        (asked, peer)
    });
    let wanted = (uri::parse("ccnx:/lab").unwrap(), InterestFields::default());
    let data = client.ask(&wanted, Duration::from_secs(20)).unwrap();
    assert_eq!(data.wire(), answer.wire());
    let (seen, _peer) = forwarder.join().unwrap();
    let seen = Interest::decode_ccnx(seen.into()).unwrap();
    assert!(seen.nonce().is_some() && seen.lifetime() == Duration::from_secs(20));
}

#[test]
fn a_source_answers_interests_of_ccnx_and_refuses_by_silence() {
    let (mut client, mut peer) = stream();
    let answer = object("ccnx:/own/thing", b"mine");
    let wire = answer.wire().clone();
    client.attach(
        &uri::parse("ccnx:/own").unwrap(),
        flow::source::answer_with(move |interest| {
            Ok(match interest.matches(&answer) {
                true => Reply::Data(answer.clone()),
                false => Reply::Nack(NackReason::NoRoute),
            })
        }),
    );
    for text in ["ccnx:/own/nothing", "ccnx:/own/thing"] {
        peer.write_all(interest(text).wire()).unwrap();
    }
    let until = client.now() + Duration::from_secs(20);
    let reader = std::thread::spawn(move || next_message(&mut peer, &mut Vec::new()));
    while !reader.is_finished() && client.now() < until {
        let soon = client.now() + Duration::from_millis(10);
        client.next(Some(soon)).unwrap();
    }
    assert_eq!(reader.join().unwrap(), wire.to_vec(), "the first that comes is the answer");
}

#[test]
fn a_datagram_of_ccnx_holds_any_number_of_messages_and_what_is_none_is_counted() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(StdDuration::from_secs(20))).unwrap();
    let remote: Remote = format!("udp4://{}", socket.local_addr().unwrap()).parse().unwrap();
    let mut connection = Connection::open_in(Dialect::Ccnx, &remote).unwrap();
    connection.send_interest(&interest("ccnx:/hello")).unwrap();
    connection.flush().unwrap();
    let (length, from) = socket.recv_from(&mut [0; 9000]).unwrap();
    assert_eq!(length, interest("ccnx:/hello").wire().len());
    let [first, second] = ["ccnx:/a", "ccnx:/b"].map(|text| object(text, b"x"));
    let mut together = SequenceNumber::new(1).encode();
    together.extend_from_slice(first.wire());
    together.extend_from_slice(second.wire());
    together.extend_from_slice(&[0x01, 0xd2, 0xf2]);
    socket.send_to(&together, from).unwrap();
    // It is there.
    socket.send_to(&[0], from).unwrap();
    let until = connection.now() + Duration::from_secs(20);
    for expected in [first, second] {
        let (packet, _) = connection.receive(until).unwrap().expect("it came");
        assert_eq!(packet.wire(), expected.wire());
    }
    let soon = connection.now() + Duration::from_millis(100);
    assert!(connection.receive(soon).unwrap().is_none());
    assert_eq!((connection.counters().packets_in, connection.counters().malformed), (2, 1));
}

#[test]
fn what_a_dialect_does_not_have_is_not_sent_in_it() {
    let (client, _peer) = stream();
    let mut client = client;
    let connection = client.connection_mut();
    let ndn = InterestBuilder::new("/x".parse().unwrap()).nonce(1).build().unwrap();
    let unsendable = |result: Result<(), ClientError>| match result {
        Err(ClientError::Unsendable(why)) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(unsendable(connection.send_interest(&ndn)), Unsendable::OtherDialect);
    let data = DataBuilder::new("/x".parse().unwrap()).build_with_digest().unwrap();
    assert_eq!(unsendable(connection.send_data(&data, &LinkHeader::NONE)), Unsendable::OtherDialect);
    let refused = connection.send_nack(&interest("ccnx:/x"), NackReason::NoRoute, &LinkHeader::NONE);
    assert_eq!(unsendable(refused), Unsendable::NackToCcnx);
    // Nor does a forwarder of CCNx register prefixes as NFD does.
    assert_eq!(unsendable(client.register(&"/x".parse().unwrap())), Unsendable::OtherDialect);
}

#[test]
fn a_forwarder_of_the_other_dialect_is_told_from_one_that_went_away() {
    for (dialect, sends) in [(Dialect::Ndn, &[0x01, 0xd2, 0xf2][..]), (Dialect::Ccnx, &[0x06, 0xfd, 1, 0])] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let remote: Remote = format!("tcp4://{}", listener.local_addr().unwrap()).parse().unwrap();
        let mut connection = Connection::open_in(dialect, &remote).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(sends).unwrap();
        let until = connection.now() + Duration::from_secs(20);
        let error = connection.receive(until).unwrap_err();
        assert!(!error.is_outage());
        assert!(error.to_string().contains(&format!("is not {dialect}")), "{error}");
    }
}
