//! Over a real socket: Interests are answered, come back or are given up; commands are signed and their
//! answers understood.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use cairn_client::{Client, ClientError, Event, Remote, WhenGone};
use common::connect;
use management::{ControlParameters, ControlResponse, StatusCode};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Buffer, Data, LinkHeader, NackReason, Name, PitToken};
use trust::SignatureVerifier;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn data(uri: &str, bytes: usize) -> Data {
    DataBuilder::new(name(uri)).content(vec![7; bytes]).build_with_digest().unwrap()
}

#[test]
fn an_answer_that_comes_byte_by_byte_is_put_together() {
    let (mut client, peer) = connect(|mut peer| {
        let asked = peer.receive().unwrap().interest();
        for byte in data(&asked.name().to_string(), 300).wire().iter() {
            peer.write(&[*byte]);
        }
        peer.receive().is_none()
    });
    let id = client.express(&InterestBuilder::new(name("/a")), Duration::from_secs(10)).unwrap();
    match client.next(None).unwrap() {
        Some(Event::Data { id: answered, data, .. }) => {
            assert_eq!((answered, data.content().len()), (id, 300));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(client.pending(), 0);
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn many_answers_in_one_write_reach_those_who_asked() {
    let (mut client, peer) = connect(|mut peer| {
        let asked: Vec<_> = (0..100).map(|_| peer.receive().unwrap().interest()).collect();
        let answers: Vec<u8> = asked
            .iter()
            .rev()
            .flat_map(|interest| data(&interest.name().to_string(), 100).wire().to_vec())
            .collect();
        peer.write(&answers);
        peer.receive().is_none()
    });
    let mut waiting = std::collections::BTreeMap::new();
    for number in 0..100 {
        let uri = format!("/a/{number}");
        let id = client.express(&InterestBuilder::new(name(&uri)), Duration::from_secs(10)).unwrap();
        waiting.insert(id, uri);
    }
    while let Some(Event::Data { id, data, .. }) = client.next(None).unwrap() {
        assert_eq!(waiting.remove(&id), Some(data.name().to_string()));
        if waiting.is_empty() {
            break;
        }
    }
    assert!(waiting.is_empty());
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn a_nack_and_a_timeout_are_told_apart() {
    let (mut client, peer) = connect(|mut peer| {
        let first = peer.receive().unwrap();
        peer.send(&first.packet, &LinkHeader::default(), Some(NackReason::NoRoute));
        peer.receive().unwrap();
        peer.receive().is_none()
    });
    let first = client.express(&InterestBuilder::new(name("/a")), Duration::from_secs(10)).unwrap();
    match client.next(None).unwrap() {
        Some(Event::Nack { id, reason, .. }) => assert_eq!((id, reason), (first, NackReason::NoRoute)),
        other => panic!("{other:?}"),
    }
    let second = client.express(&InterestBuilder::new(name("/b")), Duration::from_millis(20)).unwrap();
    assert!(matches!(client.next(None).unwrap(), Some(Event::Timeout { id }) if id == second));
    let until = client.now() + Duration::from_millis(5);
    assert!(client.next(Some(until)).unwrap().is_none());
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn an_interest_for_us_is_answered_with_its_token() {
    let token = PitToken::new(&[1, 2, 3, 4]).unwrap();
    let header = LinkHeader { pit_token: token.clone(), ..LinkHeader::default() };
    let (mut client, peer) = connect(move |mut peer| {
        let asked = InterestBuilder::new(name("/served/x")).nonce(7).build().unwrap();
        peer.send(asked.wire(), &header, None);
        let answer = peer.receive().unwrap();
        peer.send(asked.wire(), &header, None);
        let refusal = peer.receive().unwrap();
        (answer, refusal)
    });
    for answer in [true, false] {
        let Some(Event::Interest { interest, header }) = client.next(None).unwrap() else { panic!() };
        match answer {
            true => client.reply(&data("/served/x", 10), &header).unwrap(),
            false => client.nack(&interest, NackReason::Congestion, &header).unwrap(),
        }
        client.connection_mut().flush().unwrap();
    }
    let (answer, refusal) = peer.join().unwrap();
    assert_eq!(answer.header.pit_token, token);
    assert_eq!(Data::decode_ndn(answer.packet).unwrap().name(), name("/served/x").as_ref());
    assert_eq!((refusal.header.pit_token, refusal.nack), (token, Some(NackReason::Congestion)));
}

/// Answers one command with `response`, and gives its name.
fn answer_command(mut peer: common::Peer, response: &ControlResponse) -> Name {
    // An Interest that has nothing to do with it comes first, and must not get lost.
    let other = InterestBuilder::new(name("/early")).nonce(1).build().unwrap();
    peer.send(other.wire(), &LinkHeader::default(), None);
    let command = peer.receive().unwrap().interest();
    SignatureVerifier::digest().verify_interest(&command).unwrap();
    assert!(command.ndn().unwrap().signature_info().unwrap().time_ms.is_some());
    let answer = management::response_data(command.name().to_name(), response);
    peer.send_data(&answer.build_with_digest().unwrap());
    while peer.receive().is_some() {}
    command.name().to_name()
}

#[test]
fn registering_is_a_signed_command_and_loses_nothing_that_comes_meanwhile() {
    let (mut client, peer) =
        connect(|peer| answer_command(peer, &ControlResponse::ok(&ControlParameters::default())));
    client.register(&name("/mine")).unwrap();
    assert!(matches!(client.next(None).unwrap(), Some(Event::Interest { .. })));
    drop(client);
    assert!(peer.join().unwrap().to_string().starts_with("/localhost/nfd/rib/register/"));
}

#[test]
fn a_dataset_is_had_even_if_another_question_waits_for_the_same_answer() {
    let (mut client, peer) = connect(|mut peer| {
        let asked = [peer.receive().unwrap(), peer.receive().unwrap()].map(|asked| asked.interest());
        assert_eq!(asked[0].name(), asked[1].name());
        let segments = management::segments(&asked[0].name().to_name(), 1, b"content").unwrap();
        peer.send_data(&segments[0].build_with_digest().unwrap());
        peer.receive().is_none()
    });
    let asked = name("/localhost/nfd/faces/list");
    let first =
        client.express(&management::discovery_interest(asked.clone()), Duration::from_secs(10)).unwrap();
    assert_eq!(client.dataset(asked).unwrap(), b"content");
    assert!(matches!(client.next(None).unwrap(), Some(Event::Data { id, .. }) if id == first));
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn what_is_kept_while_a_command_rests_that_came_back_has_a_limit() {
    let small = InterestBuilder::new(name("/flood")).nonce(1);
    let large = small.clone().application_parameters(vec![7; 8000]);
    keep_of_a_flood(small, 60_000, 16 << 10);
    keep_of_a_flood(large, 3_000, (8 << 20) / 8000);
}

fn keep_of_a_flood(interest: InterestBuilder, flood: usize, most: usize) {
    let (mut client, peer) = connect(move |mut peer| {
        let command = peer.receive().unwrap();
        peer.send(&command.packet, &LinkHeader::default(), Some(NackReason::NoRoute));
        peer.write(&interest.build().unwrap().wire().repeat(flood));
        let again = peer.receive().unwrap().interest();
        let done = ControlResponse::ok(&ControlParameters::default());
        let answer = management::response_data(again.name().to_name(), &done);
        peer.send_data(&answer.build_with_digest().unwrap());
        peer.receive().is_none()
    });
    client.register(&name("/mine")).unwrap();
    let until = client.now();
    let kept = std::iter::from_fn(|| client.next(Some(until)).unwrap()).count();
    assert!(kept <= most && kept > most / 2, "{kept}");
    assert_eq!(kept as u64 + client.dropped(), flood as u64);
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn a_refusal_says_what_the_forwarder_said() {
    let (mut client, peer) =
        connect(|peer| answer_command(peer, &ControlResponse::error(StatusCode::Unauthorized, "not you")));
    let error = client.register(&name("/mine")).unwrap_err();
    assert!(
        matches!(&error, ClientError::Refused { why, .. } if why.code() == Some(StatusCode::Unauthorized))
    );
    assert!(error.to_string().contains("/mine") && error.to_string().contains("403 not you"), "{error}");
    drop(client);
    peer.join().unwrap();
}

#[test]
fn a_forwarder_that_goes_away_or_talks_nonsense_ends_the_connection_in_words() {
    let (mut client, peer) = connect(drop);
    peer.join().unwrap();
    client.when_gone(WhenGone::Fail);
    assert!(matches!(client.next(None), Err(ClientError::Closed(_))));

    let (mut client, peer) = connect(|mut peer| {
        peer.write(&[0x06, 0xfe, 0xff, 0xff, 0xff, 0xff]);
        peer.receive().is_none()
    });
    let error = client.next(None).unwrap_err();
    let rule = match &error {
        ClientError::OtherDialect { error, .. } => error.rule,
        other => panic!("{other}"),
    };
    assert!(matches!(rule, packet::Rule::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("is not NDN: LpPacket at byte 1"), "{error}");
    drop(client);
    assert!(peer.join().unwrap());

    let nowhere = Remote::Unix("/nonexistent/cairn.sock".into());
    let error = Client::connect(&nowhere).unwrap_err().to_string();
    assert!(error.contains("cairn node run"), "{error}");
}

#[test]
fn a_packet_that_decodes_to_nothing_is_counted_and_passed_over() {
    let (mut client, peer) = connect(|mut peer| {
        let asked = peer.receive().unwrap().interest();
        peer.write(&[0x06, 0x02, 0x07, 0x00]);
        peer.send(&Buffer::copy_from(&[0x05, 0x00]), &LinkHeader::default(), None);
        peer.send_data(&data(&asked.name().to_string(), 1));
        peer.receive().is_none()
    });
    client.express(&InterestBuilder::new(name("/a")), Duration::from_secs(10)).unwrap();
    assert!(matches!(client.next(None).unwrap(), Some(Event::Data { .. })));
    assert_eq!(client.connection().counters().malformed, 2);
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn a_packet_that_exceeds_a_datagram_is_cut_and_put_together() {
    use link::v2::{Config, EndpointId, LinkService};
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let remote: Remote = format!("udp4://{}", socket.local_addr().unwrap()).parse().unwrap();
    let mut client = Client::connect(&remote).unwrap();
    // With a token the frame of a largest packet is larger than packets may be.
    let header = LinkHeader { pit_token: PitToken::new(&[9; 8]).unwrap(), ..LinkHeader::default() };
    let overhead = data("/x", 8000).wire().len() - 8000;
    let sent = data("/x", 8800 - overhead);
    assert_eq!(sent.wire().len(), 8800);
    client.reply(&sent, &header).unwrap();
    client.connection_mut().flush().unwrap();

    let mut service = LinkService::new(Config::default(), packet::random::Random::from_seed(1)).unwrap();
    let (mut frame, mut frames) = ([0; 10_000], 0);
    let delivery = loop {
        let length = socket.recv(&mut frame).unwrap();
        frames += 1;
        service.receive(packet::time::Instant::ZERO, EndpointId(0), &frame[..length]).unwrap();
        if let Some(delivery) = service.poll_deliver() {
            break delivery;
        }
    };
    assert_eq!((frames, delivery.packet == *sent.wire()), (2, true));
    assert_eq!(delivery.header.pit_token, header.pit_token);
}
