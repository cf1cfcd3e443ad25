//! What clients of ccnr send, and what ccnr 0.8.2 answered in captures.
use packet::ccnx::management::{Collection, RepositoryInfo, RepositoryPolicy};
use packet::ccnx::{ContentKind, Exclude, InterestFields, Scope, Ticks, uri};
use packet::time::{Duration, Instant};
use packet::{Component, Data, Interest, Name, Now, UnixTime};
use testkit::vectors::load;
use trust::ccnx::{CcnxSigner, verify_by_own_key};
use trust::{KeyKind, PrivateKey, PublicKey};

use super::*;
use crate::limits::Rejection;
use crate::testing::ccnx_data;

/// A key takes a while to make, so all tests have the same.
fn signer() -> CcnxSigner {
    static SIGNER: std::sync::OnceLock<CcnxSigner> = std::sync::OnceLock::new();
    SIGNER.get_or_init(|| CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap()).clone()
}

fn at(secs: u64) -> Now {
    Now { instant: Instant::from_secs(secs), unix: UnixTime::from_millis((1_700_000_000 + secs) * 1000) }
}

fn name(text: &str) -> Name {
    uri::parse(text).unwrap()
}

fn ccnr(authority: Authority, namespaces: &[&str]) -> Ccnr {
    let namespaces = namespaces.iter().map(|text| name(text)).collect();
    let config = CcnrConfig { global_prefix: name(GLOBAL_PREFIX), namespaces, authority };
    let mut ccnr = Ccnr::new(at(1), signer(), config).unwrap();
    let Some(Effect::Ask { number, question: StoreQuery::Packet(_) }) = ccnr.poll_effect() else { panic!() };
    ccnr.handle_answer(at(1), number, StoreAnswer::Packet(None));
    assert!(ccnr.poll_effect().is_none());
    ccnr
}

fn captured(vector: &str) -> Vec<u8> {
    load("ccnx").into_iter().find(|found| found.name == vector).unwrap().bytes
}

fn captured_interest(vector: &str) -> Interest {
    Interest::decode_ccnx(captured(vector).into()).unwrap()
}

fn interest(text: &str, fields: InterestFields<'_>) -> Interest {
    Interest::decode_ccnx(fields.encode(&name(text)).unwrap().into()).unwrap()
}

fn host() -> InterestFields<'static> {
    InterestFields { scope: Some(Scope::HOST), ..InterestFields::default() }
}

fn effects(ccnr: &mut Ccnr) -> Vec<Effect> {
    std::iter::from_fn(|| ccnr.poll_effect()).collect()
}

/// The Interests among the effects, by their names, and how many packets are to be stored.
fn sent(effects: &[Effect]) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut stores = 0;
    for effect in effects {
        match effect {
            Effect::Send(interest) => names.push(interest.ccnx().unwrap().name().to_string()),
            Effect::Store { .. } => stores += 1,
            _ => {}
        }
    }
    (names, stores)
}

fn answer(effects: &[Effect]) -> &Data {
    let answers: Vec<&Data> = effects
        .iter()
        .filter_map(|effect| if let Effect::Answer(data) = effect { Some(data) } else { None })
        .collect();
    assert_eq!(answers.len(), 1, "{effects:?}");
    let object = answers[0].ccnx().unwrap();
    assert_eq!(verify_by_own_key(&object), Ok(()));
    answers[0]
}

#[test]
fn a_captured_start_write_is_answered_as_by_ccnr_which_then_fetches_as_ccnr_did() {
    let mut ccnr = ccnr(Authority::Anyone, &["ccnx:/"]);
    let asked = captured_interest("interest-repo-start-write");
    ccnr.handle_interest(at(1), &asked, InterestOrigin::Forwarder);
    let said = effects(&mut ccnr);
    let reply = Data::decode_ccnx(captured("content-reply-repo-start-write").into()).unwrap();
    assert_eq!(answer(&said).content(), reply.content());
    assert_eq!((answer(&said).name(), answer(&said).freshness()), (reply.name(), reply.freshness()));
    let object = "ccnx:/testtcp/f/=FD05000000000A";
    assert_eq!(sent(&said).0, [format!("{object}/=00")]);
    let Some(Effect::Send(first)) = said.last() else { panic!("{said:?}") };
    let view = asked.ccnx().unwrap();
    let command = RepositoryCommand::from_name(view.name(), signer().publisher()).unwrap();
    assert_eq!(first.wire()[..], command.first_interest().unwrap().unwrap()[..]);

    // Then four at once, and each that comes leads to the next.
    ccnr.handle_data(at(1), &ccnx_data(&format!("{object}/=00"), b"0", None));
    let said = effects(&mut ccnr);
    let numbers = |from: u8, to: u8| (from..=to).map(|n| format!("{object}/=00{n:02X}")).collect::<Vec<_>>();
    assert_eq!(sent(&said), (numbers(1, 4), 1));
    ccnr.handle_data(at(1), &ccnx_data(&format!("{object}/=0001"), b"1", None));
    assert_eq!(sent(&effects(&mut ccnr)), (numbers(5, 5), 1));
    // Others' packets, and those that nobody asks for, are not stored.
    for other in [format!("{object}/=0001"), format!("{object}/=0002/x"), "ccnx:/testtcp/f".to_owned()] {
        ccnr.handle_data(at(1), &ccnx_data(&other, b"x", None));
    }
    assert!(effects(&mut ccnr).is_empty());
    for (number, last) in [(2, None), (3, Some(3))] {
        ccnr.handle_data(at(1), &ccnx_data(&format!("{object}/=00{number:02X}"), b"x", last));
    }
    assert_eq!(sent(&effects(&mut ccnr)), (numbers(6, 6), 2));
    // It is over when all of it would survive a power cut.
    for _ in 0..3 {
        ccnr.handle_stored(at(2), 2, Ok(()));
        assert!(effects(&mut ccnr).is_empty());
    }
    ccnr.handle_stored(at(2), 2, Ok(()));
    let said = effects(&mut ccnr);
    let [Effect::Fetched { object: fetched, stored: 4, is_complete: true }] = &said[..] else {
        panic!("{said:?}")
    };
    assert_eq!(*fetched, name(object));
    assert_eq!((ccnr.fetches(), ccnr.counters().complete, ccnr.next_deadline()), (0, 1, Instant::NEVER));
}

#[test]
fn a_captured_checked_start_write_is_told_of_what_is_stored_and_begins_a_fetch_of_what_is_not() {
    let mut ccnr = ccnr(Authority::Anyone, &["ccnx:/"]);
    let asked = captured_interest("interest-repo-checked-start-write");
    let ask = |ccnr: &mut Ccnr| {
        ccnr.handle_interest(at(1), &asked, InterestOrigin::Forwarder);
        let said = effects(ccnr);
        let [Effect::Ask { number, question: StoreQuery::Packet(exact) }] = &said[..] else {
            panic!("{said:?}")
        };
        assert_eq!((exact.component_count(), exact.ccnx().unwrap().max_suffix_components()), (5, 0));
        *number
    };
    let number = ask(&mut ccnr);
    let stored = ccnx_data("ccnx:/x", b"whatever the store has found", None);
    ccnr.handle_answer(at(1), number, StoreAnswer::Packet(Some(stored)));
    let said = effects(&mut ccnr);
    let info = RepositoryInfo::decode(answer(&said).content()).unwrap();
    let told = info.name.unwrap().to_name().unwrap();
    assert_eq!((info.kind, told.prefix(4)), ("DATA", name("ccnx:/repo/file1/=FD06B0084B9723/=0002")));
    let digest = asked.name().last().unwrap();
    assert_eq!((told.as_ref().last(), said.len()), (Some(digest), 1));

    let number = ask(&mut ccnr);
    ccnr.handle_answer(at(1), number, StoreAnswer::Packet(None));
    let said = effects(&mut ccnr);
    let reply = Data::decode_ccnx(captured("content-reply-repo-checked-start-write-info").into()).unwrap();
    assert_eq!(answer(&said).content(), reply.content());
    let Some(Effect::Send(first)) = said.last() else { panic!("{said:?}") };
    assert_eq!((first.component_count(), first.ccnx().unwrap().max_suffix_components()), (5, 0));
    // A packet of this name with another digest is not the one.
    ccnr.handle_data(at(1), &ccnx_data("ccnx:/repo/file1/=FD06B0084B9723/=0002", b"forged", None));
    assert!(effects(&mut ccnr).is_empty());
    assert_eq!((ccnr.counters().found, ccnr.counters().checked_start_writes), (1, 2));
}

#[test]
fn a_packet_without_a_segment_number_is_stored_alone_and_one_with_it_leads_to_those_behind() {
    for (uri, behind) in [("ccnx:/a/thing", 0), ("ccnx:/a/=0007", 4)] {
        let mut ccnr = ccnr(Authority::Anyone, &["ccnx:/a"]);
        let data = ccnx_data(uri, b"hello", None);
        let asked = checked_start_write(&name(uri), &data.implicit_digest(), b"once").unwrap();
        let wire = InterestFields::default().encode(&asked).unwrap();
        ccnr.handle_interest(at(1), &Interest::decode_ccnx(wire.into()).unwrap(), InterestOrigin::Forwarder);
        let Some(Effect::Ask { number, .. }) = ccnr.poll_effect() else { panic!() };
        ccnr.handle_answer(at(1), number, StoreAnswer::Packet(None));
        assert_eq!(sent(&effects(&mut ccnr)).0.len(), 1);
        ccnr.handle_data(at(1), &data);
        let said = effects(&mut ccnr);
        let (interests, stores) = sent(&said);
        assert_eq!((interests.len(), stores), (behind, 1), "{uri}");
        if behind > 0 {
            assert_eq!(interests[0], "ccnx:/a/=0008");
            continue;
        }
        let Effect::Store { fetch, .. } = &said[0] else { panic!("{said:?}") };
        ccnr.handle_stored(at(1), *fetch, Ok(()));
        assert!(matches!(effects(&mut ccnr)[..], [Effect::Fetched { stored: 1, is_complete: true, .. }]));
    }
}

#[test]
fn nobody_on_another_host_has_anything_stored_unless_that_is_wanted() {
    let start = "ccnx:/f/v/%C1.R.sw/nonce";
    let unlimited = InterestFields::default;
    let next_host = || InterestFields { scope: Some(Scope::NEXT_HOST), ..unlimited() };
    let begins = |authority: &Authority, origin, fields: InterestFields<'_>| {
        let mut ccnr = ccnr(authority.clone(), &["ccnx:/f"]);
        ccnr.handle_interest(at(1), &interest(start, fields), origin);
        let said = effects(&mut ccnr);
        let scope = said.iter().find_map(|effect| match effect {
            Effect::Send(interest) => Some(interest.ccnx().unwrap().scope()),
            _ => None,
        });
        assert_eq!(ccnr.counters().unauthorized, u64::from(said.is_empty()));
        scope
    };
    let local = Some(Some(Scope::HOST));
    let host_only = Authority::default();
    assert_eq!(begins(&host_only, InterestOrigin::Host, unlimited()), local);
    assert_eq!(begins(&host_only, InterestOrigin::Forwarder, host()), local);
    assert_eq!(begins(&host_only, InterestOrigin::Forwarder, unlimited()), None);
    assert_eq!(begins(&host_only, InterestOrigin::Forwarder, next_host()), None);
    assert_eq!(begins(&host_only, InterestOrigin::Elsewhere, host()), None);
    assert_eq!(begins(&Authority::Anyone, InterestOrigin::Elsewhere, unlimited()), Some(None));
    assert_eq!(
        begins(&Authority::Publishers(Vec::new()), InterestOrigin::Elsewhere, unlimited()),
        Some(None)
    );
}

#[test]
fn only_packets_of_the_publishers_that_count_are_stored() {
    let other = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
    let key = PublicKey::from_spki_of_ccnx(signer().spki()).unwrap();
    let mut ccnr = ccnr(Authority::Publishers(vec![key]), &["ccnx:/f"]);
    let signed = |signer: &CcnxSigner, segment: &str| {
        let name = name(&format!("ccnx:/f/v/{segment}"));
        let wire = signer.sign(&name, b"x", Ticks::from_unix(1_700_000_000, 0), |info| info).unwrap();
        Data::decode_ccnx(wire.into()).unwrap()
    };
    ccnr.handle_interest(at(1), &interest("ccnx:/f/v/%C1.R.sw/n", host()), InterestOrigin::Elsewhere);
    effects(&mut ccnr);
    ccnr.handle_data(at(1), &signed(&signer(), "=00"));
    assert_eq!(sent(&effects(&mut ccnr)).1, 1);
    // Others' packets and those whose signature is none are asked for again, and end nothing.
    let mut forged = signed(&signer(), "=0001").wire().to_vec();
    let content = forged.len() - 3;
    forged[content] ^= 1;
    ccnr.handle_data(at(1), &Data::decode_ccnx(forged.into()).unwrap());
    ccnr.handle_data(at(1), &signed(&other, "=0002"));
    assert_eq!(sent(&effects(&mut ccnr)), (vec!["ccnx:/f/v/=0001".into(), "ccnx:/f/v/=0002".into()], 0));
    ccnr.handle_data(at(1), &signed(&signer(), "=0001"));
    assert_eq!((sent(&effects(&mut ccnr)).1, ccnr.counters().untrusted), (1, 2));
}

#[test]
fn names_outside_the_namespaces_are_not_taken_and_who_wants_nothing_new_gets_no_answer() {
    let mut ccnr = ccnr(Authority::Anyone, &["ccnx:/f", "ccnx:/g"]);
    let from_store = InterestFields { answer_origin_kind: AnswerOriginKind::new(1), ..host() };
    for (uri, fields) in [("ccnx:/h/v/%C1.R.sw/nonce", host()), ("ccnx:/f/v/%C1.R.sw/nonce", from_store)] {
        ccnr.handle_interest(at(1), &interest(uri, fields), InterestOrigin::Host);
        assert!(effects(&mut ccnr).is_empty(), "{uri}");
    }
    assert_eq!((ccnr.counters().outside, ccnr.counters().unanswered), (1, 2));
}

#[test]
fn what_is_no_command_is_answered_with_what_is_stored_whatever_its_age() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/f"]);
    for uri in ["ccnx:/f", "ccnx:/f/%C1.R.sw", "ccnx:/%C1.R.af~file"] {
        for stored in [None, Some(ccnx_data("ccnx:/f/old", b"x", None))] {
            ccnr.handle_interest(at(1), &interest(uri, host()), InterestOrigin::Elsewhere);
            let said = effects(&mut ccnr);
            let [Effect::Ask { number, question: StoreQuery::Packet(asked) }] = &said[..] else {
                panic!("{said:?}")
            };
            assert!(!asked.must_be_fresh() && asked.name() == name(uri).as_ref());
            ccnr.handle_answer(at(1), *number, StoreAnswer::Packet(stored.clone()));
            assert_eq!(effects(&mut ccnr).len(), usize::from(stored.is_some()));
        }
    }
    assert_eq!(ccnr.counters().unanswered, 3);
    // That has been asked already.
    let stale = InterestFields { answer_origin_kind: AnswerOriginKind::new(7), ..host() };
    ccnr.handle_interest(at(1), &interest("ccnx:/f", stale), InterestOrigin::Elsewhere);
    assert!(effects(&mut ccnr).is_empty());
}

#[test]
fn a_fetch_ends_when_nothing_comes_and_when_the_store_refuses() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/f"]);
    ccnr.handle_interest(at(1), &interest("ccnx:/f/v/%C1.R.sw/1", host()), InterestOrigin::Forwarder);
    assert_eq!(sent(&effects(&mut ccnr)).0.len(), 1);
    let mut asked = 1;
    for _ in 0..4 {
        let deadline = ccnr.next_deadline();
        ccnr.handle_timeout(Now { instant: deadline, ..at(1) });
        asked += sent(&effects(&mut ccnr)).0.len();
    }
    assert_eq!((asked, ccnr.next_deadline()), (5, Instant::from_secs(1) + Duration::from_secs(20)));
    ccnr.handle_timeout(at(21));
    assert!(matches!(effects(&mut ccnr)[..], [Effect::Fetched { stored: 0, is_complete: false, .. }]));

    ccnr.handle_interest(at(30), &interest("ccnx:/f/v/%C1.R.sw/2", host()), InterestOrigin::Forwarder);
    effects(&mut ccnr);
    ccnr.handle_data(at(30), &ccnx_data("ccnx:/f/v/=00", b"x", Some(9)));
    let said = effects(&mut ccnr);
    let Effect::Store { fetch, .. } = said[0] else { panic!("{said:?}") };
    ccnr.handle_stored(at(30), fetch, Err(Rejection::DiskFull));
    ccnr.handle_timeout(at(34));
    let said = effects(&mut ccnr);
    assert!(matches!(said[..], [Effect::Fetched { stored: 0, is_complete: false, .. }]), "{said:?}");
    assert_eq!(ccnr.counters().incomplete, 2);
}

#[test]
fn so_many_objects_are_fetched_at_once_and_the_same_one_once() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/f"]);
    for number in 0..=MAX_JOBS {
        for nonce in 0..2 {
            let command = interest(&format!("ccnx:/f/{number}/%C1.R.sw/{nonce}"), host());
            ccnr.handle_interest(at(1), &command, InterestOrigin::Host);
        }
        let said = effects(&mut ccnr);
        let answers = said.iter().filter(|effect| matches!(effect, Effect::Answer(_))).count();
        let expected = if number < MAX_JOBS { (2, 1) } else { (0, 0) };
        assert_eq!((answers, sent(&said).0.len()), expected, "{number}");
    }
    assert_eq!((ccnr.fetches(), ccnr.counters().overloaded), (MAX_JOBS, 2));
    // Questions that the store does not answer are so many, too.
    for number in 0..MAX_QUESTIONS + 3 {
        let question = interest(&format!("ccnx:/f/{number}/%C1.E.be"), host());
        ccnr.handle_interest(at(1), &question, InterestOrigin::Host);
    }
    assert_eq!((effects(&mut ccnr).len(), ccnr.counters().overloaded), (MAX_QUESTIONS, 5));
}

/// Begins a listing, with what the store says.
fn list(ccnr: &mut Ccnr, now: Now, asked: &Interest, children: Children) -> Vec<Effect> {
    ccnr.handle_interest(now, asked, InterestOrigin::Elsewhere);
    let Some(Effect::Ask { number, question: StoreQuery::Children(_) }) = ccnr.poll_effect() else {
        panic!()
    };
    ccnr.handle_answer(now, number, StoreAnswer::Children(children));
    effects(ccnr)
}

fn children(count: usize, changes: u64) -> Children {
    let components = (0..count).map(|number| format!("{number:05}").into_bytes()).collect();
    Children { components, is_cut: false, changes }
}

#[test]
fn what_is_stored_is_listed_as_by_ccnr() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/repo"]);
    let asked = captured_interest("interest-name-enumeration");
    let reply = Data::decode_ccnx(captured("content-reply-name-enumeration").into()).unwrap();
    let files = Children { components: vec![b"file1".into(), b"file2".into()], is_cut: false, changes: 2 };
    let said = list(&mut ccnr, at(1), &asked, files);
    let data = answer(&said);
    assert_eq!((data.content(), data.freshness()), (reply.content(), reply.freshness()));
    assert_eq!((data.component_count(), reply.component_count()), (5, 5));
    let ends = |data: &Data| data.ccnx().unwrap().final_block_id().map(<[u8]>::to_vec);
    assert_eq!(ends(data), ends(&reply));
    // Nothing below it: no answer.
    assert!(list(&mut ccnr, at(1), &asked, children(0, 2)).is_empty());
}

#[test]
fn a_long_listing_is_read_segment_by_segment_and_keeps_its_version_until_something_is_stored() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/repo"]);
    let asked = interest("ccnx:/repo/%C1.E.be", InterestFields::default());
    let first = answer(&list(&mut ccnr, at(1), &asked, children(1000, 7))).clone();
    let version = first.name().component(3).unwrap().value.to_vec();
    let mut content = first.content().to_vec();
    for segment in 1.. {
        let name =
            first.name().prefix(4).to_name().with(Component::generic(&markers::segment(segment))).unwrap();
        let wire = InterestFields::default().encode(&name).unwrap();
        ccnr.handle_interest(at(2), &Interest::decode_ccnx(wire.into()).unwrap(), InterestOrigin::Elsewhere);
        let said = effects(&mut ccnr);
        if said.is_empty() {
            break;
        }
        let page = answer(&said);
        assert_eq!(page.name(), name.as_ref());
        content.extend_from_slice(page.content());
    }
    assert_eq!(Collection::decode(&content).unwrap().links().count(), 1000);
    let again = |ccnr: &mut Ccnr, changes| {
        let said = list(ccnr, at(3), &asked, children(1, changes));
        answer(&said).name().component(3).unwrap().value.to_vec()
    };
    assert_eq!(again(&mut ccnr, 7), version);
    let later = again(&mut ccnr, 8);
    assert_ne!(later, version);
    // Who has this version asks for others, and gets none.
    let by_key = first.name().prefix(3).to_name();
    let exclude = Exclude::components([&later[..]]);
    let fields = InterestFields { exclude: Some(exclude.as_ref()), ..InterestFields::default() };
    let asked = Interest::decode_ccnx(fields.encode(&by_key).unwrap().into()).unwrap();
    assert!(list(&mut ccnr, at(4), &asked, children(1, 8)).is_empty());
    assert_eq!(list(&mut ccnr, at(4), &asked, children(1, 9)).len(), 1);
}

#[test]
fn a_listing_that_makes_room_for_another_is_counted() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/repo"]);
    for number in 0..18 {
        let asked = interest(&format!("ccnx:/repo/{number}/%C1.E.be"), InterestFields::default());
        list(&mut ccnr, at(1), &asked, children(1, 7));
        assert_eq!(ccnr.counters().replaced_listings, u64::max(number, 15) - 15, "{number}");
    }
    // Those that nobody reads any more make room for nobody.
    let asked = interest("ccnx:/repo/x/%C1.E.be", InterestFields::default());
    list(&mut ccnr, at(60), &asked, children(1, 7));
    assert_eq!(ccnr.counters().replaced_listings, 2);
}

#[test]
fn a_fetch_that_waits_for_the_disk_is_counted_each_time_that_it_begins_to_wait() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/f"]);
    ccnr.handle_interest(at(1), &interest("ccnx:/f/v/%C1.R.sw/n", host()), InterestOrigin::Host);
    effects(&mut ccnr);
    let mut fetch = 0;
    for number in 0..80u8 {
        let hex = if number == 0 { String::new() } else { format!("{number:02X}") };
        ccnr.handle_data(at(1), &ccnx_data(&format!("ccnx:/f/v/=00{hex}"), b"x", None));
        let said = effects(&mut ccnr);
        fetch = said
            .iter()
            .find_map(|effect| match effect {
                Effect::Store { fetch, .. } => Some(*fetch),
                _ => None,
            })
            .unwrap_or(fetch);
        if number < 63 {
            assert_eq!(ccnr.counters().held_fetches, 0, "{number}");
        }
    }
    assert_eq!(ccnr.counters().held_fetches, 1);
    for _ in 0..80 {
        ccnr.handle_stored(at(1), fetch, Ok(()));
    }
    assert!(!effects(&mut ccnr).is_empty(), "it goes on");
    assert_eq!(ccnr.counters().held_fetches, 1);
}

#[test]
fn the_policy_is_told_of_and_a_later_one_that_is_stored_takes_its_place() {
    let mut ccnr = ccnr(Authority::Host, &["ccnx:/f"]);
    let ask = |ccnr: &mut Ccnr, uri: &str| {
        ccnr.handle_interest(at(1), &interest(uri, InterestFields::default()), InterestOrigin::Elsewhere);
        let said = effects(ccnr);
        answer(&said).clone()
    };
    let place = format!("{GLOBAL_PREFIX}/data/policy.xml");
    let link = ask(&mut ccnr, "ccnx:/%C1.M.S.localhost/%C1.M.SRV/repository");
    assert_eq!(link.ccnx().unwrap().kind(), ContentKind::Link);
    let policy = ask(&mut ccnr, &place);
    let told = RepositoryPolicy::decode(policy.content()).unwrap();
    assert_eq!((told.global_prefix, &told.namespaces[..]), (GLOBAL_PREFIX, &["ccnx:/f"][..]));

    let next = |version: &str, namespaces: &[&str], global_prefix| {
        let namespaces = namespaces.to_vec();
        let told = RepositoryPolicy { global_prefix, namespaces, ..told.clone() };
        ccnx_data(&format!("{place}/{version}/=00"), &told.encode(), Some(0))
    };
    let store = |ccnr: &mut Ccnr, version: &str, data: &Data| {
        ccnr.handle_interest(
            at(2),
            &interest(&format!("{place}/{version}/%C1.R.sw/n"), host()),
            InterestOrigin::Host,
        );
        effects(ccnr);
        ccnr.handle_data(at(2), data);
        let Some(Effect::Store { fetch, .. }) = ccnr.poll_effect() else { panic!() };
        ccnr.handle_stored(at(2), fetch, Ok(()));
        let said = effects(ccnr);
        let [Effect::Ask { number, question: StoreQuery::Packet(asked) }, Effect::Fetched { .. }] = &said[..]
        else {
            panic!("{said:?}")
        };
        assert!(asked.matches(data));
        ccnr.handle_answer(at(2), *number, StoreAnswer::Packet(Some(data.clone())));
        effects(ccnr)
    };
    let versions = ["=FD0499602D2000", "=FD0499602D2001"];
    let wrong = next(versions[0], &["ccnx:/g"], "ccnx:/other");
    assert!(store(&mut ccnr, versions[0], &wrong).is_empty());
    let right = next(versions[1], &["ccnx:/g", "/h"], GLOBAL_PREFIX);
    let said = store(&mut ccnr, versions[1], &right);
    let [Effect::Namespaces(change)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(change.added, [name("ccnx:/g"), name("ccnx:/h")]);
    assert_eq!((&change.removed[..], change.count), (&[name("ccnx:/f")][..], 2));
    let earlier = next(versions[0], &["ccnx:/f"], GLOBAL_PREFIX);
    assert!(store(&mut ccnr, versions[0], &earlier).is_empty());
    assert_eq!(ccnr.counters().policies, 1);
    let many: Vec<String> = (0..65).map(|number| format!("ccnx:/{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let too_large = next("=FD0499602D2002", &many, GLOBAL_PREFIX);
    assert!(store(&mut ccnr, "=FD0499602D2002", &too_large).is_empty());
    assert_eq!((ccnr.counters().policies, ccnr.counters().large_policies), (1, 1));
    let taken = |ccnr: &mut Ccnr, uri: &str| {
        ccnr.handle_interest(at(3), &interest(uri, host()), InterestOrigin::Host);
        !effects(ccnr).is_empty()
    };
    assert!(taken(&mut ccnr, "ccnx:/h/v/%C1.R.sw/1") && !taken(&mut ccnr, "ccnx:/f/v/%C1.R.sw/1"));
}
