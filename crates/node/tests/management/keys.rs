//! Keys that an operator trusts, with real signatures.

use std::sync::Arc;

use cairn_node::management::{
    KeyRejection, Privileges, RevocationList, SignedCommand, TrustedKeys, VerifyCommand,
};
use management::{Command, CommandScope, CommandSignature, PrefixAnnouncement};
use packet::{Component, Data};
use trust::certificate::{names, self_signed};
use trust::{
    Certificate, Freshness, KeyKind, PrivateKey, Revocation, RevocationReason, Signer, UnixTime,
    ValidityPeriod,
};

use crate::manager::{about, name};

const NOW_S: u64 = 1_700_000_000;

struct Person {
    certificate: Certificate,
    /// Signs under the name of the certificate, and under that of the key.
    signers: [Signer; 2],
}

fn person(identity: &str, valid_from_s: u64, valid_to_s: u64) -> Person {
    let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
    let key_name = names::key_name(&name(identity), Component::generic(b"1")).unwrap();
    let validity = ValidityPeriod {
        not_before: UnixTime::from_secs(valid_from_s),
        not_after: UnixTime::from_secs(valid_to_s),
    };
    let certificate =
        self_signed(&key, &key_name, names::SELF, UnixTime::from_secs(NOW_S), validity).unwrap();
    let certificate_name = certificate.name().to_name();
    Person { signers: [Signer::new(key.clone(), certificate_name), Signer::new(key, key_name)], certificate }
}

fn friend(identity: &str) -> Person {
    person(identity, NOW_S - 10, NOW_S + 10)
}

fn may(modules: &[&str]) -> Privileges {
    Privileges::of(&modules.iter().map(|&word| word.to_owned()).collect::<Vec<_>>()).unwrap()
}

fn verify(
    keys: &TrustedKeys,
    signer: &Signer,
    command: Command,
    scope: CommandScope,
) -> Result<(), KeyRejection> {
    let interest = command.interest(scope, &about("/a")).unwrap();
    let freshness = Freshness { time_ms: Some(NOW_S * 1000), ..Default::default() };
    let interest = signer.sign_interest(&interest, freshness).unwrap();
    let signature = CommandSignature::of(&interest).unwrap();
    let Some(packet::ndn::KeyLocator::Name(key)) = signature.info.key_locator else {
        panic!("no key is named")
    };
    let signed = SignedCommand { command, scope, key, signature: &signature };
    keys.verify_command(UnixTime::from_secs(NOW_S), signed)
}

#[test]
fn a_trusted_key_may_do_what_it_is_trusted_for_under_either_of_its_names() {
    let alice = friend("/alice");
    let keys = TrustedKeys::new(vec![(alice.certificate.clone(), may(&["rib", "cs"]))]);
    for signer in &alice.signers {
        assert_eq!(verify(&keys, signer, Command::RibRegister, CommandScope::Localhost), Ok(()));
        assert_eq!(verify(&keys, signer, Command::CsErase, CommandScope::Localhost), Ok(()));
        assert!(
            verify(&keys, signer, Command::FacesDestroy, CommandScope::Localhost)
                .unwrap_err()
                .to_string()
                .contains("faces")
        );
        assert!(
            verify(&keys, signer, Command::RibRegister, CommandScope::Localhop).is_err(),
            "not from another host"
        );
    }
}

#[test]
fn other_keys_of_the_same_name_and_keys_whose_time_is_over_are_not_trusted() {
    let (alice, impostor, late) =
        (friend("/alice"), friend("/alice"), person("/late", NOW_S - 20, NOW_S - 10));
    let privileges = may(&["rib"]);
    let keys = TrustedKeys::new(vec![
        (alice.certificate.clone(), privileges.clone()),
        (late.certificate.clone(), privileges),
    ]);
    let register = |signer| verify(&keys, signer, Command::RibRegister, CommandScope::Localhost);
    assert_eq!(register(&alice.signers[0]), Ok(()));
    assert!(register(&impostor.signers[1]).is_err());
    let bob = friend("/bob");
    assert!(register(&bob.signers[0]).unwrap_err().to_string().contains("not a trusted key"));
    assert!(register(&late.signers[0]).unwrap_err().to_string().contains("valid"));
}

#[test]
fn announcements_are_believed_of_the_owner_of_the_prefix() {
    let alice = friend("/alice");
    let clerk = friend("/clerk");
    let keys = TrustedKeys::new(vec![
        (alice.certificate.clone(), may(&["rib"])),
        (clerk.certificate.clone(), may(&["cs", "localhop"])),
    ]);
    let check_from = |scope: CommandScope, signer: &Signer, prefix: &str| {
        let announcement = PrefixAnnouncement {
            prefix: name(prefix),
            version: 1,
            expiration_period_ms: 1000,
            validity: None,
        };
        let data: Data = signer.sign_data(&announcement.to_data().unwrap()).unwrap();
        keys.verify_announcement(UnixTime::from_secs(NOW_S), scope, &data)
    };
    let check = |signer: &Signer, prefix: &str| check_from(CommandScope::Localhost, signer, prefix);
    assert_eq!(check(&alice.signers[0], "/alice/blog"), Ok(()));
    assert!(check(&alice.signers[0], "/bob").unwrap_err().to_string().contains("does not own"));
    assert!(check(&friend("/alice").signers[1], "/alice/blog").is_err());
    assert!(check(&Signer::digest(), "/alice/blog").unwrap_err().to_string().contains("does not name a key"));
    // Who may not make routes does not make them by announcing either.
    assert!(check(&clerk.signers[0], "/clerk/blog").unwrap_err().to_string().contains("may not make routes"));
    assert_eq!(check_from(CommandScope::Localhop, &clerk.signers[0], "/clerk/blog"), Ok(()));
    assert!(check_from(CommandScope::Localhop, &alice.signers[0], "/alice/blog").is_err());
}

#[test]
fn a_module_that_does_not_exist_is_named() {
    let unknown = Privileges::of(&["rib".to_owned(), "ribs".to_owned()]).unwrap_err().to_string();
    assert_eq!(unknown, "there is no module ribs; there are faces, fib, cs, strategy-choice, rib, localhop");
}

#[test]
fn a_key_that_is_bound_to_its_names_gets_no_route_for_names_of_others() {
    let (alice, bob) = (friend("/alice"), friend("/bob"));
    let keys = TrustedKeys::new(vec![
        (alice.certificate.clone(), may(&["localhop"]).for_own_names()),
        (bob.certificate.clone(), may(&["localhop"])),
    ]);
    let owns = |who: &Person, key: &str, prefix: &str| {
        let key = if key.is_empty() { who.certificate.name().to_name() } else { name(key) };
        let (command, scope) = (Command::RibRegister, CommandScope::Localhop);
        keys.verify_owner(command, scope, key.as_ref(), name(prefix).as_ref()).is_ok()
    };
    assert!(owns(&alice, "", "/alice/films"));
    assert!(
        !owns(&alice, "", "/bob/films"),
        "a neighbour with a key of its own is no owner of another's names"
    );
    assert!(
        !owns(&alice, "/alice/KEY/1", "/bob"),
        "under the name of the key as under that of the certificate"
    );
    assert!(owns(&bob, "", "/alice/films"), "the operator has not bound it");
    // Keys that they have certified are bound as they are, each to its own names.
    assert!(owns(&alice, "/alice/tv/KEY/9", "/alice/tv/news"));
    assert!(!owns(&alice, "/alice/tv/KEY/9", "/alice/films"));
    assert!(owns(&bob, "/bob/tv/KEY/9", "/alice/films"));
}

fn revoked_by(signer: &Signer, certificate: &Certificate) -> Vec<u8> {
    let reason = RevocationReason::KeyCompromise;
    let record = Revocation::issue(certificate, signer, UnixTime::from_secs(NOW_S), reason).unwrap();
    record.data().wire().to_vec()
}

#[test]
fn a_key_that_is_revoked_while_the_node_runs_gives_no_further_commands_and_others_do() {
    let folder = testkit::folder::TestFolder::new("revoked-keys");
    let file = folder.join("records");
    let (alice, bob) = (friend("/alice"), friend("/bob"));
    std::fs::write(&file, revoked_by(&bob.signers[1], &alice.certificate)).unwrap();
    let keys = [&alice, &bob].map(|person| (person.certificate.clone(), may(&["rib"]))).to_vec();
    let list = Arc::new(RevocationList::in_file(&file).unwrap());
    let keys = TrustedKeys::new(keys).with_revocations(list);
    let command =
        |person: &Person| verify(&keys, &person.signers[0], Command::RibRegister, CommandScope::Localhost);
    assert_eq!(command(&alice), Ok(()), "another's record revokes nothing");
    let mut records = revoked_by(&alice.signers[1], &alice.certificate);
    records.extend(revoked_by(&bob.signers[1], &alice.certificate));
    std::fs::write(&file, &records).unwrap();
    assert!(matches!(command(&alice), Err(KeyRejection::Revoked { .. })), "{:?}", command(&alice));
    assert_eq!(command(&bob), Ok(()));
    // Neither emptying the file, nor spoiling, nor removing it makes the key count again.
    std::fs::write(&file, "").unwrap();
    assert!(matches!(command(&alice), Err(KeyRejection::Revoked { .. })));
    std::fs::write(&file, &records[..records.len() - 1]).unwrap();
    assert!(matches!(command(&alice), Err(KeyRejection::Revoked { .. })));
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(command(&alice), Err(KeyRejection::Revoked { .. })));
    assert!(RevocationList::in_file(&file).is_err(), "at the start a file that is missing is a mistake");
}
