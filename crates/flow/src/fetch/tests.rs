use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{ContentType, Dialect};
use trust::Signer;

use super::*;
use crate::publish::{Answer, Publication, PublicationConfig};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn any_name(text: &str) -> AnyName {
    AnyName::new(Dialect::Ndn, name(text))
}

fn publication(bytes: &[u8]) -> Publication {
    let config = PublicationConfig::new(name("/lab/file"), 7, bytes.len() as u64, Signer::digest());
    Publication::new(config).unwrap()
}

fn answer(publication: &Publication, bytes: &[u8], interest: &Interest) -> Option<Data> {
    match publication.answer(interest).unwrap() {
        Answer::Data(data) => Some(data),
        Answer::Segment(range) => {
            let content = &bytes[range.offset_bytes as usize..][..range.len_bytes as usize];
            Some(publication.segment(range.segment, content).unwrap())
        }
        Answer::Refuse | Answer::NotMine => None,
    }
}

fn data(fetcher: &mut Fetcher, now: Instant, name: &str, last: Option<u64>, content: &[u8]) {
    let mut builder = DataBuilder::new(name.parse().unwrap()).content(content.to_vec());
    let block = NamingConvention::Typed.with_segment(&Name::root(), last.unwrap_or(0)).unwrap();
    if last.is_some() {
        builder = builder.final_block(block.as_ref().last().unwrap());
    }
    fetcher.receive_data(now, builder.build_with_digest().unwrap(), &LinkHeader::default());
}

fn asked(fetcher: &mut Fetcher, now: Instant) -> Vec<String> {
    std::iter::from_fn(|| fetcher.poll_transmit(now)).map(|interest| interest.name().to_string()).collect()
}

fn read(fetcher: &mut Fetcher) -> Vec<u8> {
    std::iter::from_fn(|| fetcher.poll_content())
        .flat_map(|segment| segment.data.content().to_vec())
        .collect()
}

fn versioned(change: impl FnOnce(&mut FetchConfig)) -> Fetcher {
    let mut config = FetchConfig::default();
    config.transfer.controller = "fixed/window~3".parse().unwrap();
    change(&mut config);
    Fetcher::new(name("/a/v=1"), config, Instant::ZERO, 1)
}

#[test]
fn every_way_of_discovery_finds_the_object() {
    let bytes: Vec<u8> = (0..30_000u32).map(|byte| byte as u8).collect();
    let publication = publication(&bytes);
    for (discovery, asked_first) in [
        (Discovery::Metadata, "/lab/file/32=metadata"),
        (Discovery::Prefix, "/lab/file"),
        (Discovery::MetadataThenPrefix, "/lab/file/32=metadata"),
    ] {
        let config = FetchConfig { discovery, ..FetchConfig::default() };
        let mut fetcher = Fetcher::new(name("/lab/file"), config, Instant::ZERO, 1);
        let (mut first, mut got) = (None, Vec::new());
        while let Some(interest) = fetcher.poll_transmit(Instant::ZERO) {
            first.get_or_insert(interest.name().to_string());
            let data = answer(&publication, &bytes, &interest).unwrap();
            fetcher.receive_data(Instant::ZERO, data, &LinkHeader::default());
            got.extend(read(&mut fetcher));
        }
        assert_eq!(first.as_deref(), Some(asked_first));
        assert!(fetcher.is_complete() && got == bytes, "{discovery:?}: {:?}", fetcher.error());
        assert_eq!(fetcher.object_name().unwrap().to_string(), "/lab/file/v=7");
        assert_eq!(fetcher.progress().total_segments, Some(4));
    }
}

#[test]
fn discovery_is_tried_a_few_times_and_then_by_prefix() {
    let config = FetchConfig { discovery: Discovery::MetadataThenPrefix, ..FetchConfig::default() };
    let mut fetcher = Fetcher::new(name("/x"), config, Instant::ZERO, 1);
    let mut all = Vec::new();
    let mut now = Instant::ZERO;
    while fetcher.error().is_none() {
        all.extend(asked(&mut fetcher, now));
        now = fetcher.next_deadline().unwrap();
        fetcher.handle_timeout(now);
    }
    assert_eq!(all, [vec!["/x/32=metadata"; 4], vec!["/x"; 4]].concat());
    assert_eq!(now, Instant::from_secs(8));
    assert_eq!(fetcher.error(), Some(&FetchError::NotFound { name: any_name("/x"), attempts: 4 }));
}

#[test]
fn an_object_of_one_packet_that_nobody_cut_is_found_by_prefix() {
    let config = FetchConfig { discovery: Discovery::Prefix, ..FetchConfig::default() };
    let mut fetcher = Fetcher::new(name("/x"), config, Instant::ZERO, 1);
    assert_eq!(asked(&mut fetcher, Instant::ZERO), ["/x"]);
    data(&mut fetcher, Instant::ZERO, "/x/y", None, b"hello");
    assert_eq!(read(&mut fetcher), b"hello");
    assert!(fetcher.is_complete());
    assert_eq!(asked(&mut fetcher, Instant::ZERO), [""; 0]);
}

#[test]
fn of_a_part_of_an_object_nothing_else_is_asked_for() {
    let mut fetcher = versioned(|config| (config.first_segment, config.end_segment) = (4, Some(6)));
    let now = Instant::ZERO;
    assert_eq!(asked(&mut fetcher, now), ["/a/v=1/seg=4", "/a/v=1/seg=5"]);
    data(&mut fetcher, now, "/a/v=1/seg=4", Some(9), b"4");
    data(&mut fetcher, now, "/a/v=1/seg=5", None, b"5");
    assert_eq!(read(&mut fetcher), b"45");
    assert!(fetcher.is_complete());
    assert_eq!(asked(&mut fetcher, now), [""; 0]);
    // The object may end before the part does.
    let mut fetcher = versioned(|config| config.end_segment = Some(9));
    assert_eq!(asked(&mut fetcher, now).len(), 3);
    data(&mut fetcher, now, "/a/v=1/seg=0", Some(1), b"0");
    data(&mut fetcher, now, "/a/v=1/seg=1", Some(1), b"1");
    assert_eq!(read(&mut fetcher), b"01");
    assert!(fetcher.is_complete());
}

#[test]
fn the_end_may_come_late_and_move() {
    let mut fetcher = versioned(|_| {});
    let now = Instant::ZERO;
    assert_eq!(asked(&mut fetcher, now), ["/a/v=1/seg=0", "/a/v=1/seg=1", "/a/v=1/seg=2"]);
    data(&mut fetcher, now, "/a/v=1/seg=0", None, b"0");
    data(&mut fetcher, now, "/a/v=1/seg=2", Some(9), b"2");
    assert_eq!(asked(&mut fetcher, now), ["/a/v=1/seg=3", "/a/v=1/seg=4"]);
    data(&mut fetcher, now, "/a/v=1/seg=1", Some(3), b"1");
    assert_eq!(asked(&mut fetcher, now), [""; 0], "4 lies beyond the end now, and 3 is on its way");
    data(&mut fetcher, now, "/a/v=1/seg=4", Some(3), b"4");
    data(&mut fetcher, now, "/a/v=1/seg=3", Some(1), b"3");
    assert_eq!(read(&mut fetcher), b"0123", "3 cannot end at 1");
    assert!(fetcher.is_complete());
    assert_eq!(fetcher.progress().strange, 1);
}

#[test]
fn a_fetch_goes_on_where_another_was_broken_off() {
    let mut fetcher = versioned(|config| config.first_segment = 5);
    assert_eq!(asked(&mut fetcher, Instant::ZERO)[0], "/a/v=1/seg=5");
    data(&mut fetcher, Instant::ZERO, "/a/v=1/seg=5", Some(5), b"end");
    assert_eq!(read(&mut fetcher), b"end");
    assert!(fetcher.is_complete());
    let config = FetchConfig { first_segment: 5, ..FetchConfig::default() };
    let fetcher = Fetcher::new(name("/a"), config, Instant::ZERO, 1);
    assert!(matches!(fetcher.error(), Some(FetchError::NoVersion { .. })));
}

#[test]
fn a_reader_that_stops_stops_the_fetch_within_the_buffer() {
    let mut fetcher = versioned(|config| {
        config.transfer.controller = "fixed/window~1000".parse().unwrap();
        config.buffer_bytes = 100_000;
    });
    let mut answered = 0;
    while let Some(interest) = fetcher.poll_transmit(Instant::ZERO) {
        data(&mut fetcher, Instant::ZERO, &interest.name().to_string(), None, &[1; 1000]);
        answered += 1;
        assert!(fetcher.progress().buffered_bytes <= 100_000);
    }
    assert!((90..=97).contains(&answered), "{answered}");
    assert_eq!(fetcher.poll_content().unwrap().segment, 0);
    assert_eq!(asked(&mut fetcher, Instant::ZERO), [format!("/a/v=1/seg={answered}")]);
}

#[test]
fn packets_that_outgrow_the_buffer_are_dropped_and_come_again() {
    let mut fetcher = versioned(|config| {
        config.transfer.controller = "fixed/window~1000".parse().unwrap();
        config.buffer_bytes = 20_000;
    });
    // Small ones first, so that many are asked for; then large ones.
    assert_eq!(asked(&mut fetcher, Instant::ZERO).len(), 2);
    data(&mut fetcher, Instant::ZERO, "/a/v=1/seg=0", Some(99), b"small");
    let many = asked(&mut fetcher, Instant::ZERO);
    assert!(many.len() > 50);
    for name in many.iter().rev() {
        data(&mut fetcher, Instant::ZERO, name, Some(99), &[2; 4000]);
        assert!(fetcher.progress().buffered_bytes <= 20_000 + 4100);
    }
    assert!(fetcher.progress().dropped_full > 40);
    let mut got = read(&mut fetcher).len();
    for step in 1..1000 {
        let now = Instant::from_millis(step * 300);
        fetcher.handle_timeout(now);
        for name in asked(&mut fetcher, now) {
            data(&mut fetcher, now, &name, Some(99), &[2; 4000]);
            got += read(&mut fetcher).len();
        }
    }
    assert!(fetcher.is_complete(), "{:?} {:?}", fetcher.error(), fetcher.progress());
    assert_eq!(got, 5 + 99 * 4000);
}

#[test]
fn the_owner_decides_what_counts() {
    let mut fetcher = versioned(|config| {
        config.verification = Verification::Owner;
        config.transfer.max_attempts = 2;
    });
    let now = Instant::ZERO;
    asked(&mut fetcher, now);
    data(&mut fetcher, now, "/a/v=1/seg=1", Some(1), b"forged");
    data(&mut fetcher, now, "/a/v=1/seg=0", Some(1), b"good");
    assert!(fetcher.poll_content().is_none());
    let subjects: Vec<UnverifiedKind> =
        std::iter::from_fn(|| fetcher.poll_unverified()).map(|packet| packet.subject).collect();
    assert_eq!(subjects, [UnverifiedKind::Segment(1), UnverifiedKind::Segment(0)]);
    fetcher.accept(now, UnverifiedKind::Segment(0));
    assert_eq!(read(&mut fetcher), b"good");
    fetcher.refuse(now, UnverifiedKind::Segment(1), "who is that?");
    assert_eq!(asked(&mut fetcher, now), ["/a/v=1/seg=1"]);
    data(&mut fetcher, now, "/a/v=1/seg=1", Some(1), b"forged");
    fetcher.refuse(now, UnverifiedKind::Segment(1), "who is that?");
    let error = fetcher.error().unwrap().to_string();
    assert_eq!(error, "/a/v=1/seg=1 was not accepted: who is that?");
}

#[test]
fn metadata_of_another_object_is_of_no_use() {
    let mut fetcher = Fetcher::new(name("/a"), FetchConfig::default(), Instant::ZERO, 1);
    for _ in 0..4 {
        assert_eq!(asked(&mut fetcher, Instant::ZERO), ["/a/32=metadata"]);
        data(&mut fetcher, Instant::ZERO, "/a/32=metadata/v=1/seg=0", None, b"\x07\x06\x08\x01b\x36\x01\x01");
    }
    let error = fetcher.error().unwrap().to_string();
    assert_eq!(error, "metadata /a/32=metadata/v=1/seg=0 is of no use: it tells of /b/v=1");
}

#[test]
fn a_producer_that_refuses_ends_the_fetch() {
    let mut fetcher = versioned(|_| {});
    asked(&mut fetcher, Instant::ZERO);
    let nack = DataBuilder::new(name("/a/v=1/seg=0")).content_type(ContentType::NACK);
    let nack = nack.build_with_digest().unwrap();
    fetcher.receive_data(Instant::ZERO, nack, &LinkHeader::default());
    assert_eq!(fetcher.error(), Some(&FetchError::Refused { name: any_name("/a/v=1/seg=0") }));
}

#[test]
fn a_missing_route_ends_the_fetch_after_some_attempts() {
    let mut fetcher = versioned(|config| config.transfer.max_attempts = 3);
    let mut now = Instant::ZERO;
    let mut interests = 0;
    while fetcher.error().is_none() {
        for name in asked(&mut fetcher, now) {
            interests += 1;
            fetcher.receive_nack(now, self::name(&name).as_ref(), NackReason::NoRoute);
        }
        now = fetcher.next_deadline().map_or(now, |at| at.max(now));
        fetcher.handle_timeout(now);
    }
    assert!(now >= Instant::ZERO + Duration::from_millis(600), "{now}");
    assert!(interests < 20, "{interests}");
    let error = fetcher.error().unwrap().to_string();
    assert!(error.ends_with("of /a/v=1 did not come: it came back: no-route"), "{error}");
}

#[test]
fn what_a_cache_answers_a_prefix_with_beside_segments_still_leads_to_the_object() {
    let bytes = vec![7; 20_000];
    let publication = publication(&bytes);
    let manifest = DataBuilder::new(name("/lab/file/v=7/32=manifest/seg=0")).build_with_digest().unwrap();
    for found in [publication.metadata().unwrap(), manifest] {
        let config = FetchConfig { discovery: Discovery::Prefix, ..FetchConfig::default() };
        let mut fetcher = Fetcher::new(name("/lab/file"), config, Instant::ZERO, 1);
        fetcher.poll_transmit(Instant::ZERO).unwrap();
        fetcher.receive_data(Instant::ZERO, found, &LinkHeader::default());
        let mut got = Vec::new();
        while let Some(interest) = fetcher.poll_transmit(Instant::ZERO) {
            let data = answer(&publication, &bytes, &interest).unwrap();
            fetcher.receive_data(Instant::ZERO, data, &LinkHeader::default());
            got.extend(read(&mut fetcher));
        }
        assert!(fetcher.is_complete() && got == bytes, "{:?}", fetcher.error());
    }
}

#[test]
fn what_comes_back_from_behind_the_end_before_the_end_is_known_is_no_failure() {
    let mut fetcher = versioned(|config| config.verification = Verification::Owner);
    assert_eq!(asked(&mut fetcher, Instant::ZERO).len(), 3);
    // The object has two segments: the third Interest comes back at once, as often as it is sent.
    let mut now = Instant::ZERO;
    for _ in 0..40 {
        fetcher.receive_nack(now, name("/a/v=1/seg=2").as_ref(), NackReason::Unspecified);
        now += Duration::from_secs(1);
        fetcher.handle_timeout(now);
        asked(&mut fetcher, now);
    }
    assert_eq!(fetcher.error(), None);
    data(&mut fetcher, now, "/a/v=1/seg=0", Some(1), b"a");
    data(&mut fetcher, now, "/a/v=1/seg=1", Some(1), b"b");
    // What the owner has not accepted yet only keeps us from asking for more.
    assert!(asked(&mut fetcher, now).is_empty());
    while let Some(packet) = fetcher.poll_unverified() {
        fetcher.accept(now, packet.subject);
    }
    assert_eq!(read(&mut fetcher), b"ab");
    assert!(fetcher.is_complete() && fetcher.error().is_none());
}

#[test]
fn a_segment_that_does_not_come_is_a_failure_once_all_before_it_are_here() {
    let mut fetcher = versioned(|config| config.transfer.max_attempts = 1);
    asked(&mut fetcher, Instant::ZERO);
    fetcher.receive_nack(Instant::ZERO, name("/a/v=1/seg=1").as_ref(), NackReason::NoRoute);
    assert_eq!(fetcher.error(), None);
    data(&mut fetcher, Instant::ZERO, "/a/v=1/seg=0", None, b"a");
    let expected =
        FetchError::Segment { name: any_name("/a/v=1"), segment: 1, reason: Some(NackReason::NoRoute) };
    assert_eq!(fetcher.error(), Some(&expected));
}

#[test]
fn a_hint_that_is_too_small_does_not_end_the_fetch() {
    let mut fetcher = versioned(|config| config.verification = Verification::Owner);
    asked(&mut fetcher, Instant::ZERO);
    // Forged: it says that the object ends here. The owner refuses it, and the true one comes.
    data(&mut fetcher, Instant::ZERO, "/a/v=1/seg=0", Some(0), b"x");
    let forged = fetcher.poll_unverified().unwrap();
    fetcher.refuse(Instant::ZERO, forged.subject, "forged");
    let mut now = Instant::ZERO;
    while !fetcher.is_complete() {
        now += Duration::from_millis(100);
        fetcher.handle_timeout(now);
        for uri in asked(&mut fetcher, now).into_iter().chain(["/a/v=1/seg=1".into(), "/a/v=1/seg=2".into()])
        {
            data(&mut fetcher, now, &uri, Some(4), b"t");
        }
        while let Some(packet) = fetcher.poll_unverified() {
            fetcher.accept(now, packet.subject);
        }
        read(&mut fetcher);
        assert!(now < Instant::from_secs(60) && fetcher.error().is_none(), "{:?}", fetcher.error());
    }
    assert_eq!(fetcher.progress().segments, 5);
}

#[test]
fn an_object_of_which_every_packet_is_refused_is_given_up_before_all_of_it_was_asked_for_again_and_again() {
    let mut fetcher = versioned(|config| {
        config.verification = Verification::Owner;
        config.transfer.controller = "fixed/window~300".parse().unwrap();
    });
    let (now, mut seen) = (Instant::ZERO, 0u32);
    while fetcher.error().is_none() {
        for name in asked(&mut fetcher, now) {
            data(&mut fetcher, now, &name, Some(99_999), b"by a stranger");
        }
        while fetcher.error().is_none()
            && let Some(packet) = fetcher.poll_unverified()
        {
            seen += 1;
            // One good packet in between, and it may be only the others that are not.
            match seen {
                20 => fetcher.accept(now, packet.subject),
                _ => fetcher.refuse(now, packet.subject, "who is that?"),
            }
        }
    }
    let error = fetcher.error().unwrap();
    assert!(matches!(error, FetchError::NoneAccepted { count: MAX_REFUSED_IN_A_ROW, .. }), "{error}");
    assert_eq!(seen, 20 + MAX_REFUSED_IN_A_ROW);
}
