//! A forwarder that goes away and comes back, as its clients see it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::sync::mpsc;

use cairn_client::{BackOffConfig, Client, ClientError, Event, Outage, WhenGone};
use common::{Ccnd, Peer, answer_command, ccnx_client, forwarder};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{NackReason, Name};

const QUICK: BackOffConfig = BackOffConfig {
    first: Duration::from_millis(2),
    longest: Duration::from_millis(20),
    steady: Duration::from_secs(1),
};

fn quick(client: &mut Client) {
    client.when_gone(WhenGone::Reconnect { back_off: QUICK, tell: |_| {} });
}

/// Takes Interests and answers commands with success until one comes that is no command.
fn next_question(peer: &mut Peer, commands: &mpsc::Sender<String>) -> packet::Interest {
    loop {
        let interest = peer.receive().expect("the client has gone").interest();
        if interest.name().to_string().starts_with("/localhost/") {
            commands.send(interest.name().prefix(4).to_string()).unwrap();
            answer_command(peer, &interest, 200);
        } else {
            return interest;
        }
    }
}

#[test]
fn what_was_registered_is_registered_again_before_anything_else_is_heard() {
    let (send, commands) = mpsc::channel();
    let (remote, listener) = forwarder();
    let forwarder = std::thread::spawn(move || {
        for _ in 0..3 {
            let mut peer = listener.accept();
            for _ in 0..2 {
                let interest = peer.receive().unwrap().interest();
                send.send(interest.name().prefix(4).to_string()).unwrap();
                answer_command(&mut peer, &interest, 200);
            }
            let asked = InterestBuilder::new("/lab/b/1".parse().unwrap()).nonce(1).build().unwrap();
            peer.send(asked.wire(), &packet::LinkHeader::default(), None);
            // The answer; then it goes away without a word.
            assert_eq!(peer.receive().unwrap().data().name().to_string(), "/lab/b/1");
        }
    });
    let mut client = Client::connect(&remote).unwrap();
    quick(&mut client);
    for prefix in ["/lab/a", "/lab/b"] {
        client.register(&prefix.parse().unwrap()).unwrap();
    }
    for round in 0..3 {
        let Some(Event::Interest { interest, header }) = client.next(None).unwrap() else {
            panic!("round {round}");
        };
        let data = DataBuilder::new(interest.name().to_name()).build_with_digest().unwrap();
        client.reply(&data, &header).unwrap();
        client.flush().unwrap();
    }
    forwarder.join().unwrap();
    let commands: Vec<String> = commands.iter().collect();
    assert_eq!(commands, ["/localhost/nfd/rib/register"; 6]);
    assert_eq!(client.outages().outages, 2);
}

#[test]
fn a_question_that_is_waited_for_is_answered_after_an_outage() {
    let (remote, listener) = forwarder();
    let forwarder = std::thread::spawn(move || {
        assert!(listener.accept().receive().is_some());
        let mut peer = listener.accept();
        let interest = peer.receive().unwrap().interest();
        peer.send_data(&DataBuilder::new(interest.name().to_name()).build_with_digest().unwrap());
        peer.receive().is_none()
    });
    let mut client = Client::connect(&remote).unwrap();
    quick(&mut client);
    let asked = InterestBuilder::new("/far".parse().unwrap());
    client.ask(&asked, Duration::from_secs(10)).unwrap();
    drop(client);
    assert!(forwarder.join().unwrap());
}

#[test]
fn interests_that_wait_are_expressed_again_with_another_nonce_and_those_given_meanwhile_too() {
    let (remote, listener) = forwarder();
    let forwarder = std::thread::spawn(move || {
        let before = listener.accept().receive().unwrap().interest();
        let (mut peer, mut after) = (listener.accept(), Vec::new());
        for _ in 0..2 {
            let interest = peer.receive().unwrap().interest();
            peer.send_data(&DataBuilder::new(interest.name().to_name()).build_with_digest().unwrap());
            after.push(interest);
        }
        (before, after, peer.receive().is_none())
    });
    let mut client = Client::connect(&remote).unwrap();
    quick(&mut client);
    let timeout = Duration::from_secs(20);
    let first = client.express(&InterestBuilder::new("/a".parse().unwrap()), timeout).unwrap();
    while !client.is_gone() {
        client.next(Some(client.now() + Duration::from_millis(1))).unwrap();
    }
    let second = client.express(&InterestBuilder::new("/b".parse().unwrap()), timeout).unwrap();
    let mut answered: Vec<_> = (0..2)
        .map(|_| match client.next(None).unwrap() {
            Some(Event::Data { id, .. }) => id,
            other => panic!("{other:?}"),
        })
        .collect();
    answered.sort();
    assert_eq!(answered, [first, second]);
    drop(client);
    let (before, after, nothing_more) = forwarder.join().unwrap();
    let again = after.iter().find(|interest| interest.name() == before.name()).unwrap();
    assert_ne!(again.nonce(), before.nonce());
    assert!(nothing_more, "each is expressed again once");
}

#[test]
fn while_the_forwarder_is_away_commands_fail_questions_time_out_and_answers_are_dropped() {
    let (remote, listener) = forwarder();
    let mut client = Client::connect(&remote).unwrap();
    quick(&mut client);
    drop(listener.accept());
    drop(listener);
    let id =
        client.express(&InterestBuilder::new("/a".parse().unwrap()), Duration::from_millis(200)).unwrap();
    assert!(matches!(client.next(None), Ok(Some(Event::Timeout { id: which })) if which == id));
    assert!(client.is_gone());
    let prefix: Name = "/lab".parse().unwrap();
    assert!(matches!(client.register(&prefix), Err(ClientError::Away(_))));
    assert!(matches!(client.dataset(prefix.clone()), Err(ClientError::Away(_))));
    let data = DataBuilder::new(prefix).build_with_digest().unwrap();
    client.reply(&data, &packet::LinkHeader::default()).unwrap();
    client.flush().unwrap();
    assert_eq!((client.outages().dropped, client.outages().outages), (1, 1));
    let until = client.now() + Duration::from_millis(20);
    assert!(matches!(client.next(Some(until)), Ok(None)) && client.now() >= until);
    assert!(client.outages().attempts > 1);
}

#[test]
fn a_client_that_is_to_fail_fails_at_once() {
    let (remote, listener) = forwarder();
    let mut client = Client::connect(&remote).unwrap();
    client.when_gone(WhenGone::Fail);
    drop(listener.accept());
    assert!(matches!(client.next(None), Err(ClientError::Closed(_))));
    assert_eq!(client.outages().outages, 0);
}

#[test]
fn an_outage_is_told_once_however_many_attempts_it_takes_and_so_is_a_refusal() {
    static TOLD: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    fn tell(news: &Outage<'_>) {
        let word = match news {
            Outage::Begun { .. } => "begun".to_owned(),
            Outage::Over { .. } => "over".to_owned(),
            Outage::NotRestored { why, .. } => format!("not restored: {why}"),
        };
        TOLD.lock().unwrap().push(word);
    }
    let (remote, listener) = forwarder();
    let forwarder = std::thread::spawn(move || {
        let mut peer = listener.accept();
        let interest = peer.receive().unwrap().interest();
        answer_command(&mut peer, &interest, 200);
        drop(peer);
        // It comes back thrice only to go away, then does not want to, is not ready, and takes it.
        for _ in 0..3 {
            listener.accept();
        }
        let mut peer = listener.accept();
        for code in [403, 403] {
            let interest = peer.receive().unwrap().interest();
            answer_command(&mut peer, &interest, code);
        }
        let returned = peer.receive().unwrap();
        peer.send(&returned.packet, &packet::LinkHeader::default(), Some(NackReason::NoRoute));
        let interest = peer.receive().unwrap().interest();
        answer_command(&mut peer, &interest, 200);
        let (send, _commands) = mpsc::channel();
        let question = next_question(&mut peer, &send);
        peer.send_data(&DataBuilder::new(question.name().to_name()).build_with_digest().unwrap());
        assert!(peer.receive().is_none());
    });
    let mut client = Client::connect(&remote).unwrap();
    client.when_gone(WhenGone::Reconnect { back_off: QUICK, tell });
    client.register(&"/lab".parse().unwrap()).unwrap();
    while TOLD.lock().unwrap().last().is_none_or(|last| last != "over") {
        client.next(Some(client.now() + Duration::from_millis(5))).unwrap();
    }
    client.express(&InterestBuilder::new("/a".parse().unwrap()), Duration::from_secs(20)).unwrap();
    assert!(matches!(client.next(None), Ok(Some(Event::Data { .. }))));
    drop(client);
    forwarder.join().unwrap();
    assert_eq!(*TOLD.lock().unwrap(), ["begun", "not restored: 403 as told", "over"]);
}

#[test]
fn what_is_no_longer_registered_is_not_registered_again() {
    let (remote, listener) = forwarder();
    let forwarder = std::thread::spawn(move || {
        let mut peer = listener.accept();
        for _ in 0..2 {
            let interest = peer.receive().unwrap().interest();
            answer_command(&mut peer, &interest, 200);
        }
        drop(peer);
        let mut peer = listener.accept();
        peer.receive().unwrap().interest().name().to_string()
    });
    let mut client = Client::connect(&remote).unwrap();
    quick(&mut client);
    let prefix = "/lab".parse().unwrap();
    client.register(&prefix).unwrap();
    client.unregister(&prefix).unwrap();
    client.express(&InterestBuilder::new("/question".parse().unwrap()), Duration::from_secs(20)).unwrap();
    while client.outages().repeated == 0 {
        client.next(Some(client.now() + Duration::from_millis(5))).unwrap();
    }
    client.flush().unwrap();
    assert_eq!(forwarder.join().unwrap(), "/question");
}

#[test]
fn a_forwarder_of_ccnx_that_comes_back_with_another_key_is_asked_who_it_is_before_anything_else() {
    let (mut client, listener) = ccnx_client();
    quick(&mut client);
    let prefix = packet::ccnx::uri::parse("ccnx:/lab").unwrap();
    let asked = prefix.clone();
    let forwarder = std::thread::spawn(move || {
        let mut served = Vec::new();
        for _ in 0..2 {
            let mut ccnd = Ccnd::accept(&listener);
            served.extend([ccnd.serve(), ccnd.serve()]);
            if served.len() == 4 {
                ccnd.ask(&asked);
                // It stays until the client has heard of that, and gone.
                return (served, ccnd);
            }
        }
        unreachable!("it returns before");
    });
    client.register(&prefix).unwrap();
    let until = client.now() + Duration::from_secs(20);
    let heard = client.next(Some(until)).unwrap();
    assert!(matches!(heard, Some(Event::Interest { .. })), "{heard:?}");
    let (served, _ccnd) = forwarder.join().unwrap();
    assert_eq!(served, ["KEY", "selfreg", "KEY", "selfreg"]);
}
