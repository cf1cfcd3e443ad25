//! An object with one signature for all its segments: published, fetched, and checked by nothing but that
//! signature.

#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_flow::{
    Answer, Authenticity, Discovery, FetchConfig, Fetcher, NamingConvention, Publication, PublicationConfig,
    SegmentSize, UnverifiedKind, Verification,
};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, Name};
use trust::manifest::{ManifestLimits, ManifestReader, SegmentVerdict, manifest_name};
use trust::{KeyKind, PrivateKey, SignatureVerifier, Signer};

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn bytes() -> Vec<u8> {
    (0..60_000u32).map(|number| (number % 251) as u8).collect()
}

fn config(signer: Signer) -> PublicationConfig {
    let mut config = PublicationConfig::new(name("/lab/file"), 7, bytes().len() as u64, signer);
    config.segment_size = SegmentSize::Packet(700);
    config.authenticity = Authenticity::Manifest;
    config
}

/// Somebody with a key, and an object under it.
struct Publisher {
    publication: Publication,
    verifier: SignatureVerifier,
    /// Sent in place of this segment.
    forged: Option<Data>,
}

impl Publisher {
    fn new() -> Self {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let verifier = SignatureVerifier::of_private(&key).unwrap();
        let mut publication = Publication::new(config(Signer::new(key, name("/lab/KEY/1")))).unwrap();
        let bytes = bytes();
        while let Some(range) = publication.next_unlisted() {
            let start = range.offset_bytes as usize;
            publication.list_segment(&bytes[start..start + range.len_bytes as usize]).unwrap();
        }
        Publisher { publication, verifier, forged: None }
    }

    fn answer(&self, interest: &Interest) -> Option<Data> {
        if let Some(forged) = self.forged.as_ref().filter(|forged| interest.matches(forged)) {
            return Some(forged.clone());
        }
        match self.publication.answer(interest).unwrap() {
            Answer::Data(data) => Some(data),
            Answer::Segment(range) => {
                let start = range.offset_bytes as usize;
                let content = &bytes()[start..start + range.len_bytes as usize];
                Some(self.publication.segment(range.segment, content).unwrap())
            }
            Answer::Refuse | Answer::NotMine => None,
        }
    }

    fn ask(&self, uri: &str) -> Option<Data> {
        self.answer(&InterestBuilder::new(name(uri)).nonce(1).build().unwrap())
    }

    /// What a consumer that knows the publisher's key makes of the manifest.
    fn manifest(&self, key: &SignatureVerifier) -> Option<ManifestReader> {
        let object = self.publication.name().clone();
        let prefix = manifest_name(&object).unwrap();
        let mut reader = ManifestReader::new(object, ManifestLimits::default());
        let first = self.ask(&format!("{prefix}/seg=0"))?;
        key.verify_data(&first).ok()?;
        reader.handle_first(&first).unwrap();
        while let Some(number) = reader.wanted_packet() {
            reader.handle_packet(&self.ask(&format!("{prefix}/seg={number}"))?).unwrap();
        }
        Some(reader)
    }
}

/// Fetches the object, and believes a segment only if the manifest lists it. Gives the bytes and how many
/// were refused.
fn fetch(publisher: &Publisher, manifest: &ManifestReader) -> (Vec<u8>, u32, bool) {
    let mut config = FetchConfig {
        verification: Verification::Owner,
        discovery: Discovery::Metadata,
        ..FetchConfig::default()
    };
    config.transfer.max_attempts = 3;
    let mut now = Instant::ZERO;
    let mut fetcher = Fetcher::new(name("/lab/file"), config, now, 1);
    let (mut got, mut refused) = (Vec::new(), 0);
    for _ in 0..10_000 {
        let asked: Vec<Interest> = std::iter::from_fn(|| fetcher.poll_transmit(now)).collect();
        now += Duration::from_millis(10);
        for data in asked.iter().filter_map(|interest| publisher.answer(interest)) {
            fetcher.receive_data(now, data, &LinkHeader::default());
        }
        while let Some(unverified) = fetcher.poll_unverified() {
            let good = match unverified.subject {
                // Which version is the latest is for the publisher to say.
                UnverifiedKind::Discovery => publisher.verifier.verify_data(&unverified.data).is_ok(),
                UnverifiedKind::Segment(_) => manifest.verify(&unverified.data) == SegmentVerdict::Verified,
            };
            if good {
                fetcher.accept(now, unverified.subject);
            } else {
                refused += 1;
                fetcher.refuse(now, unverified.subject, "it is not listed");
            }
        }
        while let Some(segment) = fetcher.poll_content() {
            got.extend_from_slice(segment.data.content());
        }
        if fetcher.is_complete() || fetcher.error().is_some() {
            break;
        }
        fetcher.handle_timeout(now);
    }
    (got, refused, fetcher.is_complete())
}

#[test]
fn one_signature_vouches_for_every_byte() {
    let publisher = Publisher::new();
    let manifest = publisher.publication.manifest();
    assert!(manifest.len() > 3, "{} packets", manifest.len());
    assert!(manifest.iter().all(|packet| packet.wire().len() <= 700));
    let signed = |data: &Data| publisher.verifier.verify_data(data).is_ok();
    assert_eq!(manifest.iter().filter(|packet| signed(packet)).count(), 1);
    // Segments themselves have digests, which anybody can make.
    let segment = publisher.ask("/lab/file/v=7/seg=3").unwrap();
    assert!(!signed(&segment) && SignatureVerifier::digest().verify_data(&segment).is_ok());
    let reader = publisher.manifest(&publisher.verifier).unwrap();
    assert_eq!(fetch(&publisher, &reader), (bytes(), 0, true));
}

#[test]
fn a_segment_that_is_not_the_listed_one_is_refused_until_it_is() {
    let mut publisher = Publisher::new();
    let reader = publisher.manifest(&publisher.verifier).unwrap();
    let forged = DataBuilder::new(name("/lab/file/v=7/seg=5")).content(vec![0; 500]);
    publisher.forged = Some(forged.build_with_digest().unwrap());
    let (got, refused, complete) = fetch(&publisher, &reader);
    assert!(refused == 3 && !complete, "{refused}");
    assert!(bytes().starts_with(&got) && got.len() < bytes().len());
}

#[test]
fn a_manifest_that_somebody_else_signed_is_not_believed() {
    let (publisher, stranger) = (Publisher::new(), Publisher::new());
    assert!(publisher.manifest(&stranger.verifier).is_none());
}

#[test]
fn a_manifest_is_there_when_all_segments_are_listed_and_not_before() {
    let mut publication = Publication::new(config(Signer::digest())).unwrap();
    let asked = InterestBuilder::new(name("/lab/file/v=7/32=manifest/seg=0")).nonce(1).build().unwrap();
    let bytes = bytes();
    while let Some(range) = publication.next_unlisted() {
        assert!(publication.manifest().is_empty());
        assert!(matches!(publication.answer(&asked), Ok(Answer::Refuse)));
        assert!(publication.list_segment(&[1, 2, 3]).is_err(), "a segment is not three bytes long");
        let start = range.offset_bytes as usize;
        publication.list_segment(&bytes[start..start + range.len_bytes as usize]).unwrap();
    }
    assert!(matches!(publication.answer(&asked), Ok(Answer::Data(_))));
    assert!(publication.list_segment(&[]).is_err(), "nothing is left to list");
}

#[test]
fn a_publication_without_a_manifest_lists_nothing_and_older_names_have_none() {
    let mut plain = config(Signer::digest());
    plain.authenticity = Authenticity::EachPacket;
    let mut plain = Publication::new(plain).unwrap();
    assert_eq!(plain.next_unlisted(), None);
    assert!(plain.list_segment(&[]).is_err());
    let mut older = config(Signer::digest());
    older.convention = NamingConvention::Marker;
    assert!(Publication::new(older).unwrap_err().to_string().contains("typed names"));
}
