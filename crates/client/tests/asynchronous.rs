//! The client for tokio does over one connection, for many tasks at once, what the one that blocks does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use std::future::Future;

use cairn_client::{
    AskError, AsyncClient, BackOffConfig, Client, ClientError, Event, FetchFailure, FetchOptions, Reader,
    Trust, WhenGone,
};
use common::{Ccnd, Peer, answer_command, ccnx_client, connect, forwarder};
use flow::source::{Reply, answer_with};
use flow::verify::IntegrityVerifier;
use flow::{
    Answer, FetchConfig, Fetcher, Publication, PublicationConfig, Segment, Verification, VerifiedFetch,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use testkit::folder::TestFolder;
use trust::Signer;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

fn bytes() -> Vec<u8> {
    (0..300_000u32).map(|number| (number % 251) as u8).collect()
}

fn publication() -> Publication {
    Publication::new(PublicationConfig::new(name("/far/file"), 1, bytes().len() as u64, Signer::digest()))
        .unwrap()
}

fn reply_to(interest: &Interest, content: &[u8]) -> Data {
    let data = DataBuilder::new(interest.name().to_name()).content(content.to_vec());
    data.build_with_digest().unwrap()
}

/// Answers commands, `/far/file`, and questions with their own names, but for those under `/silent`; asks for
/// `/near/…` once after every answer. Says how many of these were answered.
fn busy_forwarder(mut peer: Peer) -> (u32, u32) {
    let (publication, mut asked, mut answered) = (publication(), 0, 0);
    while let Some(received) = peer.receive() {
        if received.packet.first() == Some(&6) {
            answered += 1;
            continue;
        }
        let interest = received.interest();
        let uri = interest.name().to_string();
        if uri.starts_with("/localhost/") {
            answer_command(&mut peer, &interest, 200);
            continue;
        } else if uri.starts_with("/silent") {
            continue;
        } else if uri.starts_with("/nack") {
            peer.send(interest.wire(), &LinkHeader::default(), Some(NackReason::NoRoute));
            continue;
        }
        match publication.answer(&interest).unwrap() {
            Answer::Data(data) => peer.send_data(&data),
            Answer::Segment(range) => {
                let (all, start) = (bytes(), range.offset_bytes as usize);
                let part = &all[start..start + range.len_bytes as usize];
                peer.send_data(&publication.segment(range.segment, part).unwrap());
            }
            Answer::Refuse | Answer::NotMine => peer.send_data(&reply_to(&interest, uri.as_bytes())),
        }
        asked += 1;
        let question = InterestBuilder::new(name(&format!("/near/{asked}"))).nonce(asked).build().unwrap();
        peer.send(question.wire(), &LinkHeader::default(), None);
    }
    (asked, answered)
}

#[test]
fn tasks_fetch_ask_and_serve_at_once_over_one_connection() {
    let (client, peer) = connect(busy_forwarder);
    run(async move {
        let client = AsyncClient::over(client);
        let here = |interest: &Interest| Ok(Reply::Data(reply_to(interest, b"here")));
        client.serve(&name("/near"), answer_with(here)).await.unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..50 {
            let client = client.clone();
            tasks.spawn(async move {
                let asked = name(&format!("/far/question/{number}"));
                let data = client.ask(&InterestBuilder::new(asked.clone()), Duration::from_secs(10)).await;
                assert_eq!(data.unwrap().content(), asked.to_string().as_bytes());
            });
        }
        for _ in 0..2 {
            let client = client.clone();
            tasks.spawn(async move {
                let mut told = 0;
                let get = client.get(&name("/far/file"), Trust::anybody()).progress(|_| {
                    told += 1;
                    true
                });
                let (fetched, summary) = get.into_memory().await.unwrap();
                assert!(fetched == bytes() && summary.bytes == fetched.len() as u64);
                assert!(told > 0, "nothing was told of progress");
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        client.flush().await.unwrap();
    });
    let (asked, answered) = peer.join().unwrap();
    // The last questions may have come too late for an answer.
    assert!(asked > 100 && answered > asked - 20, "{answered} of {asked}");
}

#[test]
fn a_source_that_serves_no_more_leaves_interests_to_whoever_takes_events() {
    let (client, peer) = connect(busy_forwarder);
    run(async move {
        let client = AsyncClient::over(client);
        let here = |interest: &Interest| Ok(Reply::Data(reply_to(interest, b"here")));
        client.serve(&name("/near"), answer_with(here)).await.unwrap();
        client.stop_serving(&name("/near")).await.unwrap();
        let question = InterestBuilder::new(name("/far/question"));
        client.ask(&question, Duration::from_secs(10)).await.unwrap();
        let Event::Interest { interest, .. } = client.next().await.unwrap() else { panic!("no Interest") };
        assert_eq!(interest.name(), name("/near/1").as_ref());
    });
    let (asked, answered) = peer.join().unwrap();
    assert_eq!((asked, answered), (1, 0));
}

#[test]
fn questions_end_with_a_nack_or_at_their_time_and_what_was_expressed_comes_as_events() {
    let (client, peer) = connect(busy_forwarder);
    run(async move {
        let client = AsyncClient::over(client);
        let second = Duration::from_secs(5);
        let nack = client.ask(&InterestBuilder::new(name("/nack")), second).await.unwrap_err();
        assert!(matches!(nack, AskError::Nack { reason: NackReason::NoRoute, .. }), "{nack}");
        let silent = InterestBuilder::new(name("/silent"));
        let late = client.ask(&silent, Duration::from_millis(20)).await.unwrap_err();
        assert!(matches!(late, AskError::Timeout(_)), "{late}");
        // Who stops waiting leaves nothing behind.
        let waiting = client.ask(&silent, second);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(20), waiting).await.is_err());
        assert_eq!(client.pending(), 0);
        let id = client.express(&InterestBuilder::new(name("/far/other")), second).await.unwrap();
        loop {
            match client.next().await.unwrap() {
                Event::Data { id: other, .. } => {
                    assert_eq!(id, other);
                    break;
                }
                Event::Interest { interest, header } => {
                    client.reply(&reply_to(&interest, b"by hand"), &header).await.unwrap();
                }
                other => panic!("{other:?}"),
            }
        }
    });
    peer.join().unwrap();
}

#[test]
fn an_object_goes_into_a_file_when_it_is_whole_and_one_that_is_too_large_leaves_nothing() {
    let (client, peer) = connect(busy_forwarder);
    let folder = TestFolder::new("asynchronous");
    let path = folder.join("file");
    run(async {
        let client = AsyncClient::over(client);
        let get = || client.get(&name("/far/file"), Trust::anybody());
        let refused = get().at_most(1000).into_file(&path).await.unwrap_err();
        assert!(matches!(refused, FetchFailure::TooLarge(1000)), "{refused}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        let stopped = get().progress(|_| false).into_file(&path).await.unwrap_err();
        assert!(matches!(stopped, FetchFailure::Interrupted), "{stopped}");
        get().into_file(&path).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes());
    });
    peer.join().unwrap();
}

#[test]
fn a_forwarder_that_comes_back_has_everything_as_before_and_questions_are_asked_again() {
    let (remote, listener) = forwarder();
    let forwarder = std::thread::spawn(move || {
        let mut first = listener.accept();
        let command = first.receive().unwrap().interest();
        answer_command(&mut first, &command, 200);
        let before = first.receive().unwrap().interest();
        drop(first);
        let mut second = listener.accept();
        let (mut registered, mut answered) = (false, false);
        while !(registered && answered) {
            let interest = second.receive().unwrap().interest();
            if interest.name().to_string().starts_with("/localhost/") {
                answer_command(&mut second, &interest, 200);
                registered = true;
            } else {
                assert_eq!(interest.name(), before.name());
                second.send_data(&reply_to(&interest, b"at last"));
                answered = true;
            }
        }
        second.receive().is_none()
    });
    let mut client = Client::connect(&remote).unwrap();
    let quick = BackOffConfig {
        first: Duration::from_millis(2),
        longest: Duration::from_millis(20),
        steady: Duration::from_secs(1),
    };
    client.when_gone(WhenGone::Reconnect { back_off: quick, tell: |_| {} });
    run(async move {
        let client = AsyncClient::over(client);
        client.register(&name("/lab")).await.unwrap();
        let data = client.ask(&InterestBuilder::new(name("/far")), Duration::from_secs(10)).await.unwrap();
        assert_eq!(data.content(), b"at last");
        while client.is_gone() {
            tokio::task::yield_now().await;
        }
        assert_eq!((client.outages().outages, client.dropped()), (1, 0));
    });
    forwarder.join().unwrap();
}

#[test]
fn who_withdraws_is_asked_for_nothing_more_and_waits_no_longer_than_it_wants() {
    let (client, peer) = connect(|mut peer: Peer| {
        let mut commands = Vec::new();
        while let Some(received) = peer.receive() {
            let command = received.interest();
            let name = command.name().to_string();
            let verb = name.split('/').nth(4).unwrap_or_default().to_owned();
            // To the last one there is no answer.
            if !name.contains("silent") || verb == "register" {
                answer_command(&mut peer, &command, 200);
            }
            commands.push(verb);
        }
        commands
    });
    run(async move {
        let client = AsyncClient::over(client);
        for prefix in ["/lab/a", "/lab/b"] {
            client.register(&name(prefix)).await.unwrap();
        }
        let (begin, long) = (client.now(), Duration::from_secs(10));
        client.withdraw(long).await;
        assert!(client.now() < begin + long && client.pending() == 0);
        // There is nothing left to withdraw.
        client.withdraw(long).await;
        client.register(&name("/lab/silent")).await.unwrap();
        client.withdraw(Duration::from_millis(50)).await;
        assert!(client.now() < begin + long);
    });
    let told = ["register", "register", "unregister", "unregister", "register", "unregister"];
    assert_eq!(peer.join().unwrap(), told);
}

#[test]
fn a_client_that_is_to_fail_tells_why_and_every_call_after_that_fails() {
    let (mut client, peer) = connect(|mut peer: Peer| drop(peer.receive()));
    client.when_gone(WhenGone::Fail);
    run(async move {
        let client = AsyncClient::over(client);
        let asked = InterestBuilder::new(name("/far"));
        for _ in 0..2 {
            let failed = client.ask(&asked, Duration::from_secs(10)).await.unwrap_err();
            assert!(matches!(failed, AskError::Client(ClientError::Closed(_))), "{failed}");
        }
        assert!(client.next().await.is_err());
    });
    peer.join().unwrap();
}

#[test]
fn a_prefix_is_registered_with_a_forwarder_of_ccnx_and_taken_back() {
    let (client, listener) = ccnx_client();
    let forwarder = std::thread::spawn(move || {
        let mut ccnd = Ccnd::accept(&listener);
        [ccnd.serve(), ccnd.serve(), ccnd.serve()]
    });
    run(async {
        let client = AsyncClient::over(client);
        let prefix = packet::ccnx::uri::parse("ccnx:/lab").unwrap();
        client.register(&prefix).await.unwrap();
        client.unregister(&prefix).await.unwrap();
    });
    assert_eq!(forwarder.join().unwrap(), ["KEY", "selfreg", "unreg"]);
}

/// Keeps what comes, and wants no more after so many segments.
struct Collected {
    bytes: Vec<u8>,
    segments_left: usize,
    told: u32,
}

impl Collected {
    fn at_most(segments: usize) -> Self {
        Collected { bytes: Vec::new(), segments_left: segments, told: 0 }
    }
}

impl Reader for Collected {
    fn segments(&mut self, segments: &[Segment]) -> std::io::Result<()> {
        segments.iter().for_each(|segment| self.bytes.extend_from_slice(segment.data.content()));
        self.segments_left = self.segments_left.saturating_sub(segments.len());
        Ok(())
    }

    fn progress(&mut self, _: &Fetcher) -> bool {
        self.told += 1;
        self.segments_left > 0
    }
}

fn file_fetch(client: &AsyncClient) -> VerifiedFetch {
    let config = FetchConfig { verification: Verification::Owner, ..FetchConfig::default() };
    let fetcher = Fetcher::new(name("/far/file"), config, client.now(), 1);
    VerifiedFetch::new(fetcher, Box::new(IntegrityVerifier::new()))
}

#[test]
fn a_fetch_brings_its_reader_all_segments_in_order_and_tells_how_far_it_is() {
    let (client, peer) = connect(busy_forwarder);
    run(async move {
        let client = AsyncClient::over(client);
        let mut reader = Collected::at_most(usize::MAX);
        let (fetch, outcome) = client.fetch(file_fetch(&client), &mut reader, &FetchOptions::default()).await;
        outcome.unwrap();
        assert!(reader.bytes == bytes(), "{} bytes", reader.bytes.len());
        assert!(reader.told > 0, "nothing was told of progress");
        assert_eq!(fetch.fetcher().object_name().unwrap(), &name("/far/file/v=1"));
    });
    peer.join().unwrap();
}

#[test]
fn a_fetch_ends_when_its_reader_wants_no_more_and_the_connection_goes_on() {
    let (client, peer) = connect(busy_forwarder);
    run(async move {
        let client = AsyncClient::over(client);
        let mut reader = Collected::at_most(1);
        let (_, outcome) = client.fetch(file_fetch(&client), &mut reader, &FetchOptions::default()).await;
        assert!(matches!(outcome, Err(FetchFailure::Interrupted)), "{outcome:?}");
        assert!(!reader.bytes.is_empty() && reader.bytes.len() < bytes().len());
        let asked = InterestBuilder::new(name("/far/question"));
        client.ask(&asked, Duration::from_secs(10)).await.unwrap();
    });
    peer.join().unwrap();
}
