use std::collections::VecDeque;

use packet::ccnx::InterestFields;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, NackReason, Name, Packet, UnixTime};
use trust::ccnx::{CcnxSigner, verify_by_own_key};
use trust::{KeyKind, PrivateKey, Signer};

use super::folder::{Attributes, EntryKind, Files, FolderConfig};
use super::*;
use crate::publish::{Answer, Publication, PublicationConfig};

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn ask(uri: &str) -> Interest {
    InterestBuilder::new(name(uri)).build().unwrap()
}

fn find(uri: &str) -> Interest {
    InterestBuilder::new(name(uri)).can_be_prefix(true).build().unwrap()
}

fn data(uri: &str) -> Data {
    DataBuilder::new(name(uri)).content(vec![1, 2, 3]).build_with_digest().unwrap()
}

fn packet(reply: Reply) -> Data {
    match reply {
        Reply::Data(data) => data,
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_packets_the_last_that_matches_is_given_and_of_two_sources_the_first_that_has_it() {
    let first = Packets::new([data("/a/1"), data("/a/2"), data("/b")]);
    let mut both = (first, Packets::new([data("/c"), data("/a/9")]));
    assert_eq!(packet(both.answer(&find("/a")).unwrap()).name().to_string(), "/a/2");
    assert_eq!(packet(both.answer(&ask("/a/1")).unwrap()).name().to_string(), "/a/1");
    assert_eq!(packet(both.answer(&ask("/a/9")).unwrap()).name().to_string(), "/a/9");
    assert!(matches!(both.answer(&ask("/a")).unwrap(), Reply::NotMine));
}

#[test]
fn a_generator_makes_what_is_asked_for_below_its_prefixes_and_nothing_else() {
    let mut made = Generator::new(vec![name("/p"), name("/q")], Signer::digest(), 1)
        .with_content(vec![7; 50])
        .with_least_bytes(20)
        .with_freshness(Duration::from_secs(1));
    let mut lengths = std::collections::BTreeSet::new();
    for number in 0..500 {
        let interest = ask(&format!("/q/{number}"));
        let data = packet(made.answer(&interest).unwrap());
        assert!(interest.matches(&data) && data.freshness() == Duration::from_secs(1));
        lengths.insert(data.content().len());
    }
    assert_eq!((lengths.first(), lengths.last()), (Some(&20), Some(&50)));
    assert!(matches!(made.answer(&ask("/other")).unwrap(), Reply::NotMine));
}

#[test]
fn a_generator_with_a_signer_of_ccnx_makes_dated_objects_and_leaves_ndn_alone() {
    let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
    let made = UnixTime::from_secs(1_234_567_890);
    let mut source = Generator::new(vec![name("/p")], CcnxDataSigner::new(signer, move || made), 1)
        .with_content(vec![7; 50])
        .with_freshness(Duration::from_millis(1500));
    let ask_ccnx = |uri: &str| {
        let wire = InterestFields::default().encode(&name(uri)).unwrap();
        Interest::decode_ccnx(wire.into()).unwrap()
    };
    let interest = ask_ccnx("/p/1");
    let data = packet(source.answer(&interest).unwrap());
    let object = data.ccnx().unwrap();
    assert!(interest.matches(&data) && object.content() == [7; 50]);
    assert_eq!((object.timestamp(), object.freshness_seconds()), (made.into(), Some(2)));
    verify_by_own_key(&object).unwrap();
    for other in [ask_ccnx("/other"), ask("/p/1")] {
        assert!(matches!(source.answer(&other).unwrap(), Reply::NotMine));
    }
}

#[test]
fn a_generator_leaves_out_and_sends_back_the_shares_it_was_told_to() {
    let mut made = Generator::new(vec![Name::root()], Signer::digest(), 1).with_failures(0.5, 0.5);
    let mut counts = [0; 3];
    for number in 0..2000 {
        let place = match made.answer(&ask(&format!("/{number}"))).unwrap() {
            Reply::NoReply => 0,
            Reply::Nack(reason) => {
                assert_eq!(reason, NackReason::Congestion);
                1
            }
            Reply::Data(_) => 2,
            Reply::NotMine => panic!("everything is below the root"),
        };
        counts[place] += 1;
    }
    // A half, and of the other half a half.
    for (count, expected) in counts.into_iter().zip([1000, 500, 500]) {
        assert!((expected - 100..expected + 100).contains(&count), "{counts:?}");
    }
}

#[test]
fn what_is_sent_is_the_data_or_the_interest_itself_and_silence_is_no_packet() {
    let interest = ask("/a");
    let sent = |reply: Reply| reply.into_packet(&interest);
    let Some(Packet::Data(found)) = sent(Reply::Data(data("/a"))) else { panic!("no Data") };
    assert_eq!(found.wire(), data("/a").wire());
    let Some(Packet::Nack(back, NackReason::NoRoute)) = sent(Reply::Nack(NackReason::NoRoute)) else {
        panic!("no Nack with that reason");
    };
    assert_eq!(back.wire(), interest.wire());
    assert!(sent(Reply::NoReply).is_none() && sent(Reply::NotMine).is_none());
}

/// Interests that come at these times.
struct Script {
    now: Instant,
    coming: VecDeque<(Instant, Interest)>,
    sent: Vec<(LinkHeader, String)>,
    flushed: bool,
}

impl Script {
    fn new(coming: impl IntoIterator<Item = (u64, &'static str)>) -> Self {
        let coming = coming.into_iter().map(|(at, uri)| (Instant::from_millis(at), ask(uri)));
        Script { now: Instant::ZERO, coming: coming.collect(), sent: Vec::new(), flushed: false }
    }
}

impl AppFace for Script {
    type Error = &'static str;

    fn now(&self) -> Instant {
        self.now
    }

    fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, &'static str> {
        match self.coming.pop_front_if(|(at, _)| *at <= until) {
            Some((at, interest)) => {
                self.now = at;
                let header = LinkHeader { congestion_mark: at.as_nanos(), ..LinkHeader::NONE };
                Ok(Some((interest, header)))
            }
            None if self.now > Instant::from_millis(60_000) => Err("nobody is left"),
            None => {
                self.now = until;
                Ok(None)
            }
        }
    }

    fn send(&mut self, answer: Packet, asked: &LinkHeader) -> Result<(), &'static str> {
        self.sent.push((asked.clone(), answer.name().to_string()));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), &'static str> {
        self.flushed = true;
        Ok(())
    }
}

#[test]
fn serving_ends_after_so_many_data_or_when_nobody_asks_or_at_a_time() {
    let source = || Packets::new([data("/a")]);
    for (config, served) in [
        (ServerConfig { max_data: Some(2), ..ServerConfig::default() }, 2),
        // What is about something else is a question all the same: only then it is quiet for two seconds.
        (ServerConfig { idle: Some(Duration::from_millis(1500)), ..ServerConfig::default() }, 3),
        (ServerConfig { until: Some(Instant::from_millis(900)), ..ServerConfig::default() }, 1),
    ] {
        let mut script = Script::new([(500, "/a"), (1000, "/a"), (2000, "/b"), (3000, "/a"), (5000, "/a")]);
        let mut server = Server::new(source(), config, Instant::ZERO);
        serve(&mut script, &mut server, |_| true).unwrap();
        assert_eq!(script.sent.len(), served, "{config:?}");
        assert!(script.flushed);
        assert_eq!(server.counters().data, served as u64);
        assert_eq!(script.sent[0].0.congestion_mark, 500_000_000, "with what came with the Interest");
    }
}

#[test]
fn whoever_watches_sees_each_answer_and_can_end_it_and_a_face_that_fails_does() {
    let mut seen = Vec::new();
    let mut script = Script::new([(1, "/a"), (2, "/b"), (3, "/a")]);
    let mut server = Server::new(Packets::new([data("/a")]), ServerConfig::default(), Instant::ZERO);
    serve(&mut script, &mut server, |what| {
        seen.extend(
            what.map(|(interest, reply)| (interest.name().to_string(), matches!(reply, Reply::Data(_)))),
        );
        seen.len() < 2
    })
    .unwrap();
    assert_eq!(seen, [("/a".to_owned(), true), ("/b".to_owned(), false)]);
    assert_eq!(server.counters().not_mine, 1);
    let error = serve(&mut script, &mut server, |_| true).unwrap_err();
    assert!(matches!(error, ServeError::AppFace("nobody is left")));
    assert_eq!(server.counters().data, 2);
}

#[test]
fn a_signal_that_comes_just_before_the_wait_is_seen_although_nobody_asks() {
    let mut script = Script::new([]);
    let mut server = Server::new(Packets::new([data("/a")]), ServerConfig::default(), Instant::ZERO);
    // It came behind the first look, and ends no wait.
    let mut looks = 0;
    serve(&mut script, &mut server, |_| {
        looks += 1;
        looks < 2
    })
    .unwrap();
    assert!(script.now <= Instant::from_millis(1000), "{:?}", script.now);
}

/// One folder with one file.
struct OneFile;

const CONTENT: &[u8] = b"what is in the file";

impl Files for OneFile {
    type Entry = ();

    fn look_up(&self, path: &[&[u8]]) -> Option<((), Attributes)> {
        let (kind, size_bytes) = match path {
            [] => (EntryKind::Folder, 0),
            [b"file"] => (EntryKind::File, CONTENT.len() as u64),
            _ => return None,
        };
        let modified = 7;
        Some((
            (),
            Attributes { kind, size_bytes, mode: 0o644, modified, accessed: 3, changed: 2, created: 1 },
        ))
    }

    fn listing(&self, _: &[&[u8]]) -> Vec<u8> {
        b"file\0".to_vec()
    }

    fn read(&self, (): &(), offset: u64, length: u64) -> Option<Vec<u8>> {
        CONTENT.get(offset as usize..)?.get(..length as usize).map(<[u8]>::to_vec)
    }

    fn unix_millis(&self) -> u64 {
        99
    }
}

#[test]
fn a_folder_answers_for_its_files_and_listings_by_version_and_says_what_is_not_there() {
    let config = FolderConfig {
        prefix: name("/f"),
        segment_size: crate::SegmentSize::Content(10),
        freshness: Duration::from_secs(10),
        metadata_freshness: Duration::from_millis(10),
        signer: Signer::digest(),
    };
    let mut folder = FolderSource::new(config, OneFile);
    let mut get = |interest: Interest| folder.answer(&interest).unwrap();
    let metadata = packet(get(find("/f/file/32=metadata")));
    assert_eq!(metadata.name().to_string(), "/f/file/32=metadata/v=7/seg=0");
    assert_eq!(crate::Metadata::decode(metadata.content()).unwrap().name, name("/f/file/v=7"));
    let second = packet(get(ask("/f/file/v=7/seg=1")));
    assert_eq!(second.content(), &CONTENT[10..]);
    assert_eq!(packet(get(find("/f/file"))).name().to_string(), "/f/file/v=7/seg=0");
    assert_eq!(packet(get(ask("/f/32=ls/v=7/seg=0"))).content(), b"file\0");
    let missing = packet(get(find("/f/other/32=metadata")));
    assert_eq!(missing.name().to_string(), "/f/other/32=metadata/v=99/seg=0");
    assert_eq!(missing.content_type(), Some(packet::ContentType::NACK));
    for uri in ["/f/file/v=8/seg=0", "/f/file/v=7/seg=2", "/f/file/32=other"] {
        assert!(matches!(get(ask(uri)), Reply::NoReply), "{uri}");
    }
    assert!(matches!(get(ask("/other")), Reply::NotMine));
}

#[test]
fn what_is_made_for_ndn_does_not_answer_who_asks_in_another_dialect() {
    let ccnx = |uri: &str| {
        let wire = InterestFields::default().encode(&name(uri)).unwrap();
        Interest::decode_ccnx(wire.into()).unwrap()
    };
    let publication = PublicationConfig::new(name("/p"), 1, 10, Signer::digest());
    let publication = Publication::new(publication).unwrap();
    assert!(matches!(publication.answer(&ccnx("/p")).unwrap(), Answer::NotMine));
    assert!(matches!(publication.answer(&find("/p")).unwrap(), Answer::Segment(_)));
    let mut all: Vec<Box<dyn Source>> = vec![
        Box::new(Generator::new(vec![name("/p")], Signer::digest(), 1)),
        Box::new(Packets::new([data("/p/1")])),
    ];
    assert!(matches!(all.answer(&ccnx("/p/1")).unwrap(), Reply::NotMine));
    assert!(matches!(all.answer(&ask("/p/1")).unwrap(), Reply::Data(_)));
}
