//! Commands to a repository as CCNx 0.8.2 sends them, and names that only look like one.
#![allow(clippy::unwrap_used, reason = "tests")]

use cairn_packet::Name;
use cairn_packet::ccnx::management::RepositoryCommand;
use cairn_packet::ccnx::{CcnxNameRef, InterestView, NameSource, Ticks, uri};
use testkit::vectors::load;

const KEY: [u8; 32] = [0x11; 32];

fn captured(name: &str) -> Vec<u8> {
    load("ccnx").into_iter().find(|vector| vector.name == name).unwrap().bytes
}

/// The Name element of `uri`.
fn element(uri: &str) -> Vec<u8> {
    let name: Name = uri::parse(uri).unwrap();
    let mut wire = Vec::new();
    NameSource::from(&name).encode_into(&mut wire).unwrap();
    wire
}

fn key_component() -> String {
    format!("%C1.M.K%00{}", "%11".repeat(32))
}

#[test]
fn a_captured_start_write_names_the_object_and_is_answered_by_an_interest_for_its_first_segment() {
    let wire = captured("interest-repo-start-write");
    let interest = InterestView::decode(&wire).unwrap();
    let command = RepositoryCommand::from_name(interest.name(), &KEY).unwrap();
    let object = element("ccnx:/testtcp/f/%FD%05%00%00%00%00%0A");
    assert_eq!(command, RepositoryCommand::StartWrite { object: CcnxNameRef::decode(&object).unwrap() });
    let first = command.first_interest().unwrap().unwrap();
    let first = InterestView::decode(&first).unwrap();
    let segment = element("ccnx:/testtcp/f/%FD%05%00%00%00%00%0A/%00");
    assert_eq!(first.name(), CcnxNameRef::decode(&segment).unwrap());
    assert_eq!((first.max_suffix_components(), first.scope()), (1, None));
}

#[test]
fn a_captured_checked_start_write_asks_for_exactly_the_packet_it_names() {
    let wire = captured("interest-repo-checked-start-write");
    let interest = InterestView::decode(&wire).unwrap();
    let command = RepositoryCommand::from_name(interest.name(), &KEY).unwrap();
    let RepositoryCommand::CheckedStartWrite { object, segment, digest } = command else {
        panic!("{command:?}")
    };
    let file = element("ccnx:/repo/file1/%FD%06%B0%08K%97%23");
    assert_eq!(object, CcnxNameRef::decode(&file).unwrap());
    assert_eq!((segment, digest[..2].as_ref()), (&[0x00, 0x02][..], &[0x5b, 0xca][..]));
    let first = command.first_interest().unwrap().unwrap();
    let first = InterestView::decode(&first).unwrap();
    assert_eq!((first.name().len(), first.max_suffix_components()), (5, 0));
    assert_eq!(first.name().component(4), Some(&digest[..]));
}

#[test]
fn enumeration_is_begun_for_all_or_by_key_and_continued_by_key_version_and_segment() {
    let wire = captured("interest-name-enumeration");
    let interest = InterestView::decode(&wire).unwrap();
    let below = element("ccnx:/repo");
    let prefix = CcnxNameRef::decode(&below).unwrap();
    let begin = RepositoryCommand::BeginEnumeration { prefix };
    assert_eq!(RepositoryCommand::from_name(interest.name(), &KEY), Some(begin));
    assert!(begin.first_interest().is_none());

    let by_key = element(&format!("ccnx:/repo/%C1.E.be/{}", key_component()));
    assert_eq!(RepositoryCommand::from_name(CcnxNameRef::decode(&by_key).unwrap(), &KEY), Some(begin));

    let next = format!("ccnx:/repo/%C1.E.be/{}/%FD%04%99%60%2D%20%00/%00%01", key_component());
    let next = element(&next);
    let next = CcnxNameRef::decode(&next).unwrap();
    let version = Ticks::from_unix(1_234_567_890, 0);
    let further = RepositoryCommand::ContinueEnumeration { prefix, version, segment: 1 };
    assert_eq!(RepositoryCommand::from_name(next, &KEY), Some(further));
    assert_eq!(RepositoryCommand::from_name(next, &[0x22; 32]), None, "another repository's");
}

#[test]
fn a_marker_at_another_place_or_without_its_arguments_is_no_command() {
    for uri in [
        "ccnx:/",
        "ccnx:/a",
        "ccnx:/a/%C1.R.sw",
        "ccnx:/%C1.R.sw/nonce",
        "ccnx:/a/%C1.R.sw/nonce/b",
        "ccnx:/a/%C1.R.sw-c/nonce/%00",
        "ccnx:/a/%C1.R.sw-c/nonce/%00/short",
        "ccnx:/a/%C1.E.be/b",
        "ccnx:/a/%C1.E.be/b/%FD%04%99%60%2D%20%00/%00",
    ] {
        let wire = element(uri);
        assert_eq!(RepositoryCommand::from_name(CcnxNameRef::decode(&wire).unwrap(), &KEY), None, "{uri}");
    }
}
