//! One connection does everything at once: it serves, fetches, asks and registers, and nothing gets lost.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::collections::BTreeSet;

use cairn_client::{AskError, ClientError, Event, FetchFailure, Trust};
use common::{Peer, answer_command, connect};
use flow::source::{Reply, SourceError, answer_with};
use flow::{Answer, Publication, PublicationConfig};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use testkit::folder::TestFolder;
use trust::Signer;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn bytes() -> Vec<u8> {
    (0..400_000u32).map(|number| (number % 251) as u8).collect()
}

fn publication() -> Publication {
    let length = bytes().len() as u64;
    Publication::new(PublicationConfig::new(name("/far/file"), 1, length, Signer::digest())).unwrap()
}

fn segment(publication: &Publication, interest: &Interest) -> Data {
    match publication.answer(interest).unwrap() {
        Answer::Data(data) => data,
        Answer::Segment(range) => {
            let (all, start) = (bytes(), range.offset_bytes as usize);
            publication.segment(range.segment, &all[start..start + range.len_bytes as usize]).unwrap()
        }
        Answer::Refuse | Answer::NotMine => panic!("{interest:?}"),
    }
}

fn ask(peer: &mut Peer, uri: &str) {
    let asked = InterestBuilder::new(name(uri)).nonce(7).build().unwrap();
    peer.send(asked.wire(), &LinkHeader::default(), None);
}

fn echo(interest: &Interest) -> Result<Reply, SourceError> {
    let data = DataBuilder::new(interest.name().to_name()).content(b"here".to_vec());
    Ok(Reply::Data(data.build_with_digest()?))
}

/// Answers for `/far/file`, and asks three questions under `/near` for each segment; says which were
/// answered, and how many were asked.
fn busy_forwarder(mut peer: Peer) -> (BTreeSet<Name>, u32) {
    let (publication, mut answered, mut asked) = (publication(), BTreeSet::new(), 0);
    while let Some(received) = peer.receive() {
        if received.packet.first() == Some(&6) {
            answered.insert(received.data().name().to_name());
            continue;
        }
        let interest = received.interest();
        if interest.name().to_string().starts_with("/localhost/nfd") {
            answer_command(&mut peer, &interest, 200);
            continue;
        }
        for _ in 0..3 {
            ask(&mut peer, &format!("/near/{asked}"));
            asked += 1;
        }
        peer.send_data(&segment(&publication, &interest));
    }
    (answered, asked)
}

#[test]
fn a_fetch_answers_every_interest_that_comes_meanwhile() {
    let (mut client, peer) = connect(busy_forwarder);
    client.serve(&name("/near"), answer_with(echo)).unwrap();
    for _ in 0..3 {
        let (got, fetched) = client.get(&name("/far/file"), Trust::anybody()).into_memory().unwrap();
        assert_eq!((got, fetched.bytes), (bytes(), bytes().len() as u64));
    }
    client.flush().unwrap();
    let served = client.served(&name("/near")).unwrap();
    assert_eq!(client.served(&name("/near/1")), None, "none is attached there");
    drop(client);
    let (answered, asked) = peer.join().unwrap();
    assert!(served.data >= answered.len() as u64, "{served:?} {}", answered.len());
    assert_eq!((served.interests, served.content_bytes), (served.data, 4 * served.data));
    assert!(asked >= 3 * 3 * 50, "{asked}");
    // What was asked last may come when the fetch is over and the client gone.
    assert!(answered.len() as u32 >= asked - 64, "{} of {asked}", answered.len());
}

#[test]
fn a_source_that_serves_no_more_leaves_interests_to_whoever_asks_next() {
    let (mut client, peer) = connect(|mut peer| {
        let (mut commands, mut answered) = (Vec::new(), 0);
        while let Some(received) = peer.receive() {
            if received.packet.first() == Some(&6) {
                answered += 1;
                continue;
            }
            let command = received.interest();
            commands.push(command.name().to_string());
            answer_command(&mut peer, &command, 200);
            ask(&mut peer, &format!("/near/{}", commands.len()));
        }
        (commands, answered)
    });
    let near = name("/near");
    client.serve(&near, answer_with(echo)).unwrap();
    while client.served(&near).unwrap().data == 0 {
        client.run(Some(client.now() + Duration::from_millis(10))).unwrap();
    }
    client.stop_serving(&near).unwrap();
    assert_eq!(client.served(&near), None);
    let Some(Event::Interest { interest, .. }) = client.next(None).unwrap() else { panic!("no Interest") };
    assert_eq!(interest.name(), name("/near/2").as_ref());
    drop(client);
    let (commands, answered) = peer.join().unwrap();
    assert_eq!((commands.len(), answered), (2, 1));
    assert!(
        commands[0].contains("/rib/register/") && commands[1].contains("/rib/unregister/"),
        "{commands:?}"
    );
}

#[test]
fn what_no_source_answers_and_what_was_expressed_before_is_kept_while_a_fetch_runs() {
    let (mut client, peer) = connect(|mut peer| {
        let first = peer.receive().unwrap().interest();
        let publication = publication();
        let mut segments = 0;
        while let Some(received) = peer.receive() {
            peer.send_data(&segment(&publication, &received.interest()));
            segments += 1;
            if segments == 3 {
                ask(&mut peer, "/mine/early");
                let data = DataBuilder::new(first.name().to_name()).build_with_digest().unwrap();
                peer.send_data(&data);
            }
        }
    });
    let question = InterestBuilder::new(name("/far/other"));
    let id = client.express(&question, Duration::from_secs(20)).unwrap();
    client.get(&name("/far/file"), Trust::anybody()).into_memory().unwrap();
    let Some(Event::Interest { interest, .. }) = client.next(None).unwrap() else { panic!("no Interest") };
    assert_eq!(interest.name(), name("/mine/early").as_ref());
    assert!(matches!(client.next(None).unwrap(), Some(Event::Data { id: found, .. }) if found == id));
    drop(client);
    peer.join().unwrap();
}

#[test]
fn a_question_is_answered_refused_or_given_up_and_sources_answer_meanwhile() {
    let (mut client, peer) = connect(|mut peer| {
        ask(&mut peer, "/near/1");
        let mut served = 0;
        while let Some(received) = peer.receive() {
            if received.packet.first() == Some(&6) {
                served += 1;
                continue;
            }
            let asked = received.interest();
            match asked.name().to_string().as_str() {
                "/far/data" => {
                    peer.send_data(&DataBuilder::new(name("/far/data")).build_with_digest().unwrap());
                }
                "/far/nack" => {
                    peer.send(&received.packet, &LinkHeader::default(), Some(NackReason::NoRoute));
                }
                _ => {}
            }
        }
        served
    });
    client.attach(&name("/near"), answer_with(echo));
    let long = Duration::from_secs(20);
    let data = client.ask(&InterestBuilder::new(name("/far/data")), long).unwrap();
    assert_eq!(data.name(), name("/far/data").as_ref());
    let refused = client.ask(&InterestBuilder::new(name("/far/nack")), long).unwrap_err();
    assert!(matches!(refused, AskError::Nack { reason: NackReason::NoRoute, .. }), "{refused}");
    let silent = client.ask(&InterestBuilder::new(name("/far/x")), Duration::from_millis(20)).unwrap_err();
    assert!(matches!(silent, AskError::Timeout(_)), "{silent}");
    client.flush().unwrap();
    drop(client);
    assert_eq!(peer.join().unwrap(), 1);
}

#[test]
fn a_source_that_cannot_go_on_ends_serving_with_its_error_and_answers_no_more() {
    let (mut client, peer) = connect(|mut peer| {
        ask(&mut peer, "/near/1");
        ask(&mut peer, "/near/2");
        peer.receive().is_none()
    });
    client.attach(&name("/near"), answer_with(|_| Err(SourceError::other("the database is gone"))));
    let error = client.run(None).unwrap_err();
    assert!(error.to_string().contains("the database is gone"), "{error}");
    assert!(matches!(&error, ClientError::Source { prefix, .. } if prefix.name == name("/near")), "{error}");
    assert!(matches!(client.next(None).unwrap(), Some(Event::Interest { .. })));
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn a_request_is_pending_until_its_outcome_was_told() {
    let (mut client, peer) = connect(|mut peer| {
        let asked: Vec<_> = (0..5).map(|_| peer.receive().unwrap().interest()).collect();
        let answers = asked.iter().map(|interest| {
            DataBuilder::new(interest.name().to_name()).build_with_digest().unwrap().wire().to_vec()
        });
        peer.write(&answers.collect::<Vec<_>>().concat());
        peer.receive().is_none()
    });
    for number in 0..5 {
        let interest = InterestBuilder::new(name(&format!("/far/{number}")));
        client.express(&interest, Duration::from_secs(20)).unwrap();
    }
    for left in (0..5).rev() {
        assert!(matches!(client.next(None).unwrap(), Some(Event::Data { .. })));
        assert_eq!(client.pending(), left);
    }
    drop(client);
    assert!(peer.join().unwrap());
}

#[test]
fn the_longest_prefix_answers() {
    let (mut client, peer) = connect(|mut peer| {
        ask(&mut peer, "/near/deep/1");
        peer.receive().unwrap().data().content().to_vec()
    });
    client.attach(&name("/near/deep"), answer_with(echo));
    client.attach(&name("/near"), answer_with(|_| Ok(Reply::NoReply)));
    let until = client.now() + Duration::from_millis(200);
    client.run(Some(until)).unwrap();
    assert_eq!(peer.join().unwrap(), b"here");
}

#[test]
fn an_object_that_is_larger_than_allowed_is_not_kept_and_leaves_no_file() {
    let (mut client, peer) = connect(busy_forwarder);
    let failure = client.get(&name("/far/file"), Trust::anybody()).at_most(100_000).into_memory();
    assert!(matches!(failure, Err(FetchFailure::TooLarge(100_000))), "{failure:?}");
    let folder = TestFolder::new("together");
    let path = folder.join("file");
    let failure = client.get(&name("/far/file"), Trust::anybody()).at_most(100_000).into_file(&path);
    assert!(matches!(failure, Err(FetchFailure::TooLarge(100_000))), "{failure:?}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    let mut steps = 0;
    let count = |_: &flow::Progress| {
        steps += 1;
        true
    };
    client.get(&name("/far/file"), Trust::anybody()).progress(count).into_file(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes());
    assert!(steps > 1, "{steps}");
    drop(client);
    peer.join().unwrap();
}
