use super::*;
use crate::naming::segment_number;
use packet::ndn::InterestBuilder;
use packet::random::Random;

fn publication(size_bytes: u64, change: impl FnOnce(&mut PublicationConfig)) -> Publication {
    let mut config = PublicationConfig::new("/lab/file".parse().unwrap(), 7, size_bytes, Signer::digest());
    change(&mut config);
    Publication::new(config).unwrap()
}

fn interest(name: &str) -> InterestBuilder {
    InterestBuilder::new(name.parse().unwrap())
}

#[test]
fn segments_together_are_the_object_whatever_its_size() {
    for size in [0u64, 1, 7999, 8000, 8001, 16_000, 100_003] {
        let bytes: Vec<u8> = (0..size).map(|byte| byte as u8).collect();
        let publication = publication(size, |_| {});
        let mut joined = Vec::new();
        for segment in 0..=publication.last_segment() {
            let range = publication.range(segment).unwrap();
            let content = &bytes[range.offset_bytes as usize..][..range.len_bytes as usize];
            let data = publication.segment(segment, content).unwrap();
            assert_eq!(data.name().to_string(), format!("/lab/file/v=7/seg={segment}"));
            let last = data.ndn().unwrap().final_block().and_then(segment_number);
            assert_eq!(last, Some(publication.last_segment()));
            assert_eq!(data.freshness(), Duration::from_secs(10));
            joined.extend_from_slice(data.content());
        }
        assert_eq!(joined, bytes);
        assert_eq!(publication.last_segment(), size.div_ceil(8000).saturating_sub(1));
    }
}

#[test]
fn packets_fit_the_link_unit_and_waste_little_of_it() {
    let mut random = Random::from_seed(3);
    for _ in 0..300 {
        let name: Name = format!("/{}", "n".repeat(1 + random.below(60) as usize)).parse().unwrap();
        let packet_bytes = 200 + random.below(8600) as u32;
        let size_bytes = 1 + random.below(1 << 33);
        let publication = publication(size_bytes, |config| {
            config.name = name;
            config.segment_size = SegmentSize::Packet(packet_bytes);
        });
        for segment in [0, publication.last_segment().saturating_sub(1), publication.last_segment()] {
            let range = publication.range(segment).unwrap();
            let data = publication.segment(segment, &vec![0; range.len_bytes as usize]).unwrap();
            assert!(data.wire().len() <= packet_bytes as usize);
            let full = segment < publication.last_segment();
            // The number of segments is guessed high, which costs up to 16 bytes; headers up to 4.
            assert!(!full || data.wire().len() + 20 >= packet_bytes as usize, "{}", data.wire().len());
        }
    }
}

#[test]
fn the_largest_segments_still_make_legal_packets_and_too_small_packets_are_refused() {
    let largest = publication(1 << 40, |config| config.segment_size = SegmentSize::Largest);
    let data = largest.segment(3, &vec![1; largest.segment_bytes() as usize]).unwrap();
    assert!((8780..=8800).contains(&data.wire().len()), "{}", data.wire().len());
    let content = publication(1 << 40, |config| config.segment_size = SegmentSize::Content(100_000));
    assert_eq!(content.segment_bytes(), largest.segment_bytes());
    let mut config = PublicationConfig::new("/lab/file".parse().unwrap(), 7, 5, Signer::digest());
    config.segment_size = SegmentSize::Packet(60);
    let error = Publication::new(config).unwrap_err().to_string();
    assert!(error.starts_with("a packet of 60 bytes has no room for content"), "{error}");
}

/// Short for what answers, so that a table can hold it.
fn answer(publication: &Publication, interest: &InterestBuilder) -> String {
    match publication.answer(&interest.build().unwrap()).unwrap() {
        Answer::Segment(range) => format!("segment {}", range.segment),
        Answer::Data(data) => data.name().to_string(),
        Answer::Refuse => "refuse".into(),
        Answer::NotMine => "not mine".into(),
    }
}

#[test]
fn interests_are_answered_as_the_chunk_tools_answer_them() {
    let publication = publication(20_000, |_| {});
    let prefix = |name: &str| interest(name).can_be_prefix(true);
    for (asked, expected) in [
        (interest("/lab/file/v=7/seg=0"), "segment 0"),
        (interest("/lab/file/v=7/seg=2"), "segment 2"),
        (prefix("/lab/file/v=7/seg=2"), "segment 2"),
        (interest("/lab/file/v=7/seg=3"), "refuse"),
        (interest("/lab/file/v=7/seg=2/x"), "refuse"),
        (interest("/lab/file/v=7/x"), "refuse"),
        (interest("/lab/file/v=7"), "refuse"),
        (interest("/lab/file"), "refuse"),
        (prefix("/lab/file/v=7"), "segment 0"),
        (prefix("/lab/file"), "segment 0"),
        (prefix("/lab"), "segment 0"),
        (prefix("/lab/file/v=8"), "not mine"),
        (prefix("/lab/other"), "not mine"),
        (interest("/lab/file/v=8/seg=0"), "not mine"),
        (prefix("/lab/file/32=metadata").must_be_fresh(true), "/lab/file/32=metadata/v=7/seg=0"),
        (interest("/lab/file/32=metadata").must_be_fresh(true), "refuse"),
        (interest("/lab/file/32=metadata/v=7/seg=0"), "/lab/file/32=metadata/v=7/seg=0"),
        (prefix("/lab/file/32=metadata/v=8"), "refuse"),
    ] {
        assert_eq!(answer(&publication, &asked), expected, "{asked:?}");
    }
}

#[test]
fn a_name_that_ends_in_a_version_keeps_it_and_markers_can_be_had() {
    let publication = publication(10, |config| {
        config.name = "/lab/file/v=3".parse().unwrap();
        config.convention = NamingConvention::Marker;
    });
    assert_eq!(publication.name().to_string(), "/lab/file/v=3");
    assert_eq!(publication.prefix().to_string(), "/lab/file");
    let data = publication.segment(0, &[0; 10]).unwrap();
    assert_eq!(data.name().to_string(), "/lab/file/v=3/%00%00");
    assert_eq!(answer(&publication, &InterestBuilder::new(data.name().to_name())), "segment 0");
    assert_eq!(answer(&publication, &interest("/lab/file/v=3/seg=0")), "refuse");
}

#[test]
fn metadata_tells_name_and_size() {
    let data = publication(20_000, |_| {}).metadata().unwrap();
    let metadata = Metadata::decode(data.content()).unwrap();
    assert_eq!(metadata.name.to_string(), "/lab/file/v=7");
    assert_eq!(
        (metadata.last_segment, metadata.segment_bytes, metadata.size_bytes),
        (Some(2), Some(8000), Some(20_000))
    );
    assert_eq!(data.freshness(), Duration::from_millis(10));
}

#[test]
fn content_of_another_length_is_refused() {
    let publication = publication(20_000, |_| {});
    assert!(matches!(publication.segment(0, &[1; 10]), Err(PublishError::WrongLength { segment: 0, .. })));
    assert!(matches!(publication.segment(9, &[]), Err(PublishError::NoSegment { segment: 9, last: 2 })));
}

#[test]
fn a_segment_is_the_packet_that_the_encoder_of_packets_makes() {
    let key = trust::PrivateKey::generate(trust::KeyKind::Hmac).unwrap();
    let keyed = Signer::new(key, "/lab/KEY/1".parse().unwrap());
    for (signer, naming, kind, freshness) in [
        (Signer::digest(), NamingConvention::Typed, ContentType::BLOB, Duration::from_secs(10)),
        (keyed, NamingConvention::Marker, ContentType(7), Duration::from_millis(70_000)),
        (Signer::null(), NamingConvention::Typed, ContentType::BLOB, Duration::ZERO),
    ] {
        for size_bytes in [0u64, 1, 100, 8000, 300 * 8000 + 5] {
            let publication = publication(size_bytes, |config| {
                (config.signer, config.convention) = (signer.clone(), naming);
                (config.content_type, config.freshness) = (kind, freshness);
            });
            let last = publication.last_segment();
            for segment in [0, last / 2, last] {
                let content = vec![segment as u8; publication.range(segment).unwrap().len_bytes as usize];
                let name = naming.with_segment(publication.name(), segment).unwrap();
                let final_block = naming.with_segment(&Name::root(), last).unwrap();
                let mut expected = DataBuilder::new(name).content_type(kind).content(content.clone());
                expected = expected.final_block(final_block.as_ref().last().unwrap());
                if freshness > Duration::ZERO {
                    expected = expected.freshness(freshness);
                }
                let expected = signer.sign_data(&expected).unwrap();
                assert_eq!(publication.segment(segment, &content).unwrap().wire(), expected.wire());
            }
        }
    }
}

#[test]
fn memory_of_a_segment_is_used_again_only_when_nobody_refers_to_it() {
    let publication = publication(40_000, |_| {});
    let mut memory = SegmentMemory::new();
    let mut make = |segment: u64| {
        let mut open = publication.open_segment(segment, &mut memory).unwrap();
        open.content_mut().fill(segment as u8);
        publication.seal(open, &mut memory).unwrap()
    };
    let first = make(0);
    let second = make(1);
    assert_ne!(first.wire().as_ptr(), second.wire().as_ptr());
    let (place, kept) = (first.wire().as_ptr(), first.content().as_ptr());
    drop(first);
    let third = make(2);
    assert_eq!((third.wire().as_ptr(), third.content().as_ptr()), (place, kept));
    assert_eq!((second.content(), third.content()), (&[1; 8000][..], &[2; 8000][..]));
    assert_eq!(publication.segment(1, &[1; 8000]).unwrap().wire(), second.wire());
    assert_eq!(publication.segment(2, &[2; 8000]).unwrap().wire(), third.wire());
}
