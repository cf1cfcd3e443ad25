//! Objects of CCNx, fetched and verified: versions, segments, keys and where they are.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use cairn_flow::verify::PublisherVerifier;
use cairn_flow::{
    Answer, CcnxPublication, Discovery, FetchConfig, FetchError, Fetcher, Verification, VerifiedFetch,
};
use packet::ccnx::{ContentKind, ContentObjectFields, KeyLocator, SignedInfo, Ticks, markers, uri};
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, Name, Now, UnixTime};
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey};

fn signer() -> CcnxSigner {
    CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap()
}

fn name(text: &str) -> Name {
    uri::parse(text).unwrap()
}

fn at(secs: u64) -> Ticks {
    Ticks::from_unix(1_700_000_000 + secs, 0)
}

fn packets(publication: &CcnxPublication, bytes: &[u8]) -> Vec<Data> {
    let segment = |number| {
        let range = publication.range(number).unwrap();
        let start = range.offset_bytes as usize;
        publication.segment(number, &bytes[start..start + range.len_bytes as usize]).unwrap()
    };
    (0..=publication.last_segment()).map(segment).collect()
}

/// What one packet answers, chosen as a content store does: of the children right below what was asked for
/// the first or the last, and there the first.
fn answer(store: &[Data], interest: &Interest) -> Option<Data> {
    let mut matching: Vec<&Data> = store.iter().filter(|data| interest.matches(data)).collect();
    matching.sort_by_key(|data| data.name().canonical().len());
    matching.sort_by_key(|data| data.name().canonical().to_vec());
    let is_rightmost = interest.ccnx()?.child_selector().is_rightmost();
    let below = |data: &Data| {
        let child = data.name().components().nth(interest.component_count());
        child.map(|child| child.value.to_vec())
    };
    let chosen = if is_rightmost { below(matching.last()?) } else { below(matching.first()?) };
    matching.into_iter().find(|data| below(data) == chosen).cloned()
}

/// Fetches out of `store`; gives what came, or why nothing did, and what was said about trust.
fn fetch(
    wanted: &str,
    discovery: Discovery,
    store: &[Data],
    verifier: PublisherVerifier,
) -> (Result<Vec<u8>, FetchError>, VerifiedFetch, Vec<Interest>) {
    let config = FetchConfig { discovery, ..config() };
    fetch_with(config, wanted, |interest| answer(store, interest), verifier)
}

fn config() -> FetchConfig {
    FetchConfig {
        dialect: Dialect::Ccnx,
        discovery: Discovery::MetadataThenPrefix,
        verification: Verification::Owner,
        ..FetchConfig::default()
    }
}

fn fetch_with(
    config: FetchConfig,
    wanted: &str,
    answer: impl Fn(&Interest) -> Option<Data>,
    verifier: PublisherVerifier,
) -> (Result<Vec<u8>, FetchError>, VerifiedFetch, Vec<Interest>) {
    let fetcher = Fetcher::new(name(wanted), config, Instant::from_secs(1), 1);
    let mut fetch = VerifiedFetch::new(fetcher, Box::new(verifier));
    let mut now = Now { instant: Instant::from_secs(1), unix: UnixTime::from_millis(1_700_000_000_000) };
    let (mut bytes, mut segments, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        while let Some((interest, _)) = fetch.poll_interest(now) {
            now.instant += Duration::from_millis(1);
            if let Some(data) = answer(&interest) {
                fetch.handle_data(now, &data, &LinkHeader::NONE);
            }
            asked.push(interest);
        }
        fetch.poll_segments(64, &mut segments);
        bytes.extend(segments.drain(..).flat_map(|segment| segment.data.content().to_vec()));
        match fetch.outcome() {
            Some(outcome) => return (outcome.map(|()| bytes), fetch, asked),
            None => {
                now.instant = now.instant.max(fetch.next_deadline());
                fetch.handle_timeout(now);
            }
        }
    }
}

fn anybody() -> PublisherVerifier {
    PublisherVerifier::new([], 1)
}

#[test]
fn the_latest_of_several_versions_is_fetched_whole() {
    let signer = signer();
    let mut store = Vec::new();
    for (secs, fill) in [(1, 1), (9, 9), (5, 5)] {
        let publication =
            CcnxPublication::new(name("ccnx:/lab/file"), at(secs), 10_000, 4096, signer.clone()).unwrap();
        store.extend(packets(&publication, &[fill; 10_000]));
    }
    let (got, fetch, asked) = fetch("ccnx:/lab/file", Discovery::MetadataThenPrefix, &store, anybody());
    assert_eq!(got, Ok(vec![9; 10_000]));
    let version = markers::version(at(9));
    let object = fetch.fetcher().object_name().unwrap().clone();
    assert_eq!(object.as_ref().last().unwrap().value, version);
    // The first question lets segments without a version answer, as CCNx's own library does.
    let first = asked[0].ccnx().unwrap();
    let exclude = first.exclude().unwrap();
    assert!(!exclude.excludes(&[0]) && exclude.excludes(&[1]) && exclude.excludes(b"plain"));
    assert!(!exclude.excludes(&version) && exclude.excludes(&[0xfe, 0, 0, 0, 0, 0, 0]));
    assert!(asked[1].ccnx().unwrap().exclude().unwrap().excludes(&version));
    // Twice, for another producer may be asked the second time.
    let searches = asked.iter().filter(|interest| interest.ccnx().unwrap().exclude().is_some());
    assert_eq!(searches.count(), 3);
    // While the first is still pending: otherwise it would be no second time.
    assert!(asked[1].lifetime() > Duration::from_millis(500));
    let summary = fetch.verifier().summary();
    assert!(!summary.trusted && summary.text.contains("no trust anchor"), "{}", summary.text);
}

/// One version of `ccnx:/f`, in one segment that says which one it is.
fn version(signer: &CcnxSigner, secs: u64) -> Data {
    let publication = CcnxPublication::new(name("ccnx:/f"), at(secs), 1, 4096, signer.clone()).unwrap();
    packets(&publication, &[secs as u8]).remove(0)
}

fn only(signer: &CcnxSigner) -> PublisherVerifier {
    PublisherVerifier::new([trust::PublicKey::from_spki(signer.spki()).unwrap()], 1)
}

fn is_search(interest: &&Interest) -> bool {
    interest.ccnx().unwrap().exclude().is_some()
}

#[test]
fn foreign_objects_with_later_versions_neither_block_a_fetch_with_an_anchor_nor_roll_it_back() {
    let (one, other) = (signer(), signer());
    let own = [1, 5].map(|secs| version(&one, secs));
    for foreign in [&[6][..], &[3, 6, 7, 8, 9, 10, 11, 12]] {
        let mut store = own.to_vec();
        store.extend(foreign.iter().map(|secs| version(&other, *secs)));
        // A segment without version, which answers the first question too.
        let unversioned = other.sign(&name("ccnx:/f/%00"), b"x", at(0), |info| info).unwrap();
        store.push(Data::decode_ccnx(unversioned.into()).unwrap());
        let (got, ..) = fetch("ccnx:/f", Discovery::MetadataThenPrefix, &store, only(&one));
        assert_eq!(got, Ok(vec![5]), "{foreign:?}");
    }
}

#[test]
fn a_foreign_version_that_comes_after_the_right_one_leaves_that_in_force() {
    let (one, other) = (signer(), signer());
    // Somebody answers with it whatever is excluded, once the right one is known.
    let (old, right, foreign) = (version(&one, 1), version(&one, 5), version(&other, 9));
    let answer = |interest: &Interest| match interest.ccnx().unwrap().exclude() {
        Some(exclude) if exclude.excludes(&markers::version(at(5))) => Some(foreign.clone()),
        Some(_) => Some(right.clone()),
        None => [&old, &right].into_iter().find(|data| interest.matches(data)).cloned(),
    };
    let (got, ..) = fetch_with(config(), "ccnx:/f", answer, only(&one));
    assert_eq!(got, Ok(vec![5]));
}

#[test]
fn a_search_that_finds_foreign_objects_alone_tells_of_them_and_does_not_ask_by_prefix() {
    let (one, other) = (signer(), signer());
    let store = [1, 2].map(|secs| version(&other, secs));
    let (got, _, asked) = fetch("ccnx:/f", Discovery::MetadataThenPrefix, &store, only(&one));
    assert!(matches!(got, Err(FetchError::NotAccepted { .. })), "{got:?}");
    assert!(asked.iter().all(|interest| is_search(&interest)));
}

#[test]
fn ever_later_versions_do_not_keep_a_search_from_its_end() {
    let signer = signer();
    let store: Vec<Data> = (1..=100).map(|secs| version(&signer, secs)).collect();
    // The next one, and not the last.
    let answer = |interest: &Interest| store.iter().find(|data| interest.matches(data)).cloned();
    let (got, _, asked) = fetch_with(config(), "ccnx:/f", answer, anybody());
    assert_eq!(got, Ok(vec![64]));
    assert_eq!(asked.iter().filter(is_search).count(), 64);
    // Nor does one who answers with the same version all the time.
    let (got, ..) = fetch_with(config(), "ccnx:/f", |_| Some(store[0].clone()), anybody());
    assert_eq!(got, Ok(vec![1]));
}

#[test]
fn a_version_that_is_found_by_the_only_attempt_is_fetched() {
    let store = [version(&signer(), 7)];
    let config = FetchConfig { discovery_attempts: 1, discovery: Discovery::Metadata, ..config() };
    let (got, ..) = fetch_with(config, "ccnx:/f", |interest| answer(&store, interest), anybody());
    assert_eq!(got, Ok(vec![7]));
}

#[test]
fn segments_of_two_publishers_are_not_joined_though_no_anchor_is_given() {
    let (one, other) = (signer(), signer());
    let of = |signer: &CcnxSigner| {
        let publication = CcnxPublication::new(name("ccnx:/f"), at(1), 5000, 4096, signer.clone()).unwrap();
        packets(&publication, &[1; 5000])
    };
    let versioned = [of(&one).remove(0), of(&other).remove(1)];
    let sign = |signer: &CcnxSigner, text: &str| {
        let last = markers::segment(1);
        let complete = |info| SignedInfo { final_block_id: Some(&last), ..info };
        let wire = signer.sign(&name(text), b"part", at(0), complete).unwrap();
        Data::decode_ccnx(wire.into()).unwrap()
    };
    // The first segment is what discovery finds.
    let unversioned = [sign(&one, "ccnx:/f/%00"), sign(&other, "ccnx:/f/%00%01")];
    for store in [versioned, unversioned] {
        let (got, ..) = fetch("ccnx:/f", Discovery::MetadataThenPrefix, &store, anybody());
        let error = got.unwrap_err().to_string();
        assert!(error.contains("what came before"), "{error}");
    }
}

#[test]
fn a_key_of_an_elliptic_curve_is_not_said_to_be_short() {
    let key = PrivateKey::generate(KeyKind::EcdsaP256).unwrap();
    let public = key.public_key().unwrap();
    let (publisher, signer) = (public.digest(), trust::Signer::with_key_digest(key).unwrap());
    let signed_info = SignedInfo { final_block_id: Some(&[0]), ..SignedInfo::new(&publisher, at(0)) };
    let name = name("ccnx:/f/%00");
    let object = ContentObjectFields { name: (&name).into(), signed_info, content: b"x" };
    let wire = object.encode(None, |signed_bytes| signer.sign(signed_bytes)).unwrap();
    let store = [Data::decode_ccnx(wire.into()).unwrap()];
    let verifier = PublisherVerifier::new([public], 1);
    let (got, fetched, _) = fetch("ccnx:/f", Discovery::Unversioned, &store, verifier);
    assert_eq!(got, Ok(b"x".to_vec()));
    let text = fetched.verifier().summary().text;
    assert!(!text.contains("bits"), "{text}");
}

#[test]
fn what_has_no_version_is_found_too_in_segments_or_in_one_packet() {
    let signer = signer();
    let sign = |text: &str, content: &[u8], last: Option<&[u8]>| {
        let complete = |info| SignedInfo { final_block_id: last, ..info };
        let wire = signer.sign(&name(text), content, at(0), complete).unwrap();
        Data::decode_ccnx(wire.into()).unwrap()
    };
    let last = markers::segment(1);
    let cut = [sign("ccnx:/cut/%00", b"one ", Some(&last)), sign("ccnx:/cut/%00%01", b"two", Some(&last))];
    let (got, ..) = fetch("ccnx:/cut", Discovery::MetadataThenPrefix, &cut, anybody());
    assert_eq!(got, Ok(b"one two".to_vec()));
    let whole = [sign("ccnx:/whole", b"all", None)];
    let (got, ..) = fetch("ccnx:/whole", Discovery::MetadataThenPrefix, &whole, anybody());
    assert_eq!(got, Ok(b"all".to_vec()));
    let (got, ..) = fetch("ccnx:/none", Discovery::MetadataThenPrefix, &whole, anybody());
    assert!(matches!(got, Err(FetchError::NotFound { .. })), "{got:?}");
}

#[test]
fn why_a_fetch_ended_is_told_with_names_as_ccnx_writes_them() {
    let signer = signer();
    let object = |text: &str, kind| {
        let complete = |info| SignedInfo { kind, final_block_id: Some(&[0]), ..info };
        Data::decode_ccnx(signer.sign(&name(text), b"x", at(0), complete).unwrap().into()).unwrap()
    };
    let other = self::signer();
    let stranger = || PublisherVerifier::new([trust::PublicKey::from_spki(other.spki()).unwrap()], 1);
    for (asked, shown) in
        [("ccnx:/", "ccnx:/"), ("ccnx:/lab/%00%01", "ccnx:/lab/=0001"), ("ccnx:/a%2Fb", "ccnx:/a%2Fb")]
    {
        let ended = |discovery, first_segment, store: &[Data], verifier| {
            let config = FetchConfig { discovery, first_segment, ..config() };
            fetch_with(config, asked, |interest| answer(store, interest), verifier).0.unwrap_err()
        };
        let segment = format!("{}/%00", asked.trim_end_matches('/'));
        let good = [object(&segment, None)];
        let nack = [object(&segment, Some(ContentKind::Nack))];
        let in_shown = format!("{}/=00", shown.trim_end_matches('/'));
        let (whole, unversioned) = (Discovery::MetadataThenPrefix, Discovery::Unversioned);
        for (error, expected) in [
            (ended(whole, 0, &[], anybody()), format!("no answer for {shown} after ")),
            (ended(unversioned, 0, &[], anybody()), format!("segment 0 of {shown} did not come")),
            (ended(whole, 1, &[], anybody()), format!("its version, and {shown} has none")),
            (ended(whole, 0, &nack, anybody()), format!("the producer refuses {in_shown}")),
            (ended(whole, 0, &good, stranger()), format!("{in_shown} was not accepted: ")),
        ] {
            let said = error.to_string();
            assert!(said.contains(&expected), "{said}; expected {expected}");
            assert_eq!(error.name().dialect, Dialect::Ccnx);
        }
    }
}

#[test]
fn a_damaged_packet_is_refused_and_only_anchors_count_where_there_are_any() {
    let (one, other) = (signer(), signer());
    let publication = CcnxPublication::new(name("ccnx:/f"), at(1), 100, 4096, one.clone()).unwrap();
    let good = packets(&publication, &[3; 100]);
    let mut wire = good[0].wire().to_vec();
    let place = wire.len() - 10;
    wire[place] ^= 1;
    let damaged = [Data::decode_ccnx(wire.into()).unwrap()];
    let (got, ..) = fetch("ccnx:/f", Discovery::Metadata, &damaged, anybody());
    assert!(matches!(got, Err(FetchError::NotAccepted { .. })), "{got:?}");
    let key = |signer: &CcnxSigner| trust::PublicKey::from_spki(signer.spki()).unwrap();
    let (got, fetched, _) =
        fetch("ccnx:/f", Discovery::Metadata, &good, PublisherVerifier::new([key(&one)], 1));
    assert_eq!(got, Ok(vec![3; 100]));
    assert!(fetched.verifier().summary().trusted);
    let (got, ..) = fetch("ccnx:/f", Discovery::Metadata, &good, PublisherVerifier::new([key(&other)], 1));
    assert!(got.unwrap_err().to_string().contains("is no trust anchor"));
}

#[test]
fn a_key_that_is_published_under_a_name_is_fetched_and_must_be_the_publishers() {
    let (one, other) = (signer(), signer());
    let locator = name("ccnx:/keys/one");
    let key_locator = Some(KeyLocator::KeyName { name: (&locator).into(), publisher: None });
    let complete = |info| SignedInfo { key_locator, ..info };
    let object = one.sign(&name("ccnx:/f/%00"), b"x", at(0), |info| SignedInfo {
        final_block_id: Some(&[0]),
        ..complete(info)
    });
    let object = Data::decode_ccnx(object.unwrap().into()).unwrap();
    let key_object = |spki: &[u8]| {
        let complete = |info| SignedInfo { kind: Some(ContentKind::Key), ..info };
        Data::decode_ccnx(other.sign(&locator, spki, at(0), complete).unwrap().into()).unwrap()
    };
    let store = [object.clone(), key_object(one.spki())];
    let (got, ..) = fetch("ccnx:/f", Discovery::Unversioned, &store, anybody());
    assert_eq!(got, Ok(b"x".to_vec()));
    let store = [object, key_object(other.spki())];
    let (got, ..) = fetch("ccnx:/f", Discovery::Unversioned, &store, anybody());
    assert!(got.is_err());
}

#[test]
fn how_short_an_old_key_is_is_told() {
    let object = testkit::vectors::load("ccnx").into_iter().find_map(|vector| {
        let is_one = vector.kind() == "ccnx-content" && vector.get("capture").is_some();
        let data = Data::decode_ccnx(vector.bytes.clone().into()).ok().filter(|_| is_one)?;
        let object = data.ccnx()?;
        let is_short = object.signature().bits.len() == 128;
        let is_whole = matches!(object.key_locator(), Some(KeyLocator::Key(_)));
        (is_short && is_whole && object.signature().witness.is_none()).then(|| data.clone())
    });
    let object = object.expect("ccnd's own key has 1,024 bits");
    let whole =
        uri::format(object.name().components().map(|component| component.value), uri::Escaping::Percent);
    let (_, fetched, _) = fetch(&whole, Discovery::Prefix, &[object], anybody());
    assert!(fetched.verifier().summary().text.contains("1024 bits"));
}

#[test]
fn an_interest_of_ndn_is_not_about_an_object_of_ccnx() {
    let publication = CcnxPublication::new(name("ccnx:/f"), at(1), 100, 4096, signer()).unwrap();
    let interest = packet::ndn::InterestBuilder::new(name("ccnx:/f")).can_be_prefix(true).build().unwrap();
    assert!(matches!(publication.answer(&interest), Answer::NotMine));
}
