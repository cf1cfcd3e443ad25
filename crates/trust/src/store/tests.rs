//! Whoever is killed while he changes the store leaves one that works.

use std::path::Path;

use packet::{Component, Name};
use testkit::folder::TestFolder;

use super::{KeyStore, StoreError};
use crate::certificate::Issue;
use crate::killed;
use crate::{Certificate, KeyKind, PrivateKey, UnixTime, ValidityPeriod};

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

fn validity() -> ValidityPeriod {
    ValidityPeriod { not_before: NOW, not_after: NOW.plus_secs(1000) }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn generate(store: &KeyStore, identity: &str, id: &str) -> Result<(), StoreError> {
    let key = PrivateKey::generate(KeyKind::Ed25519)?;
    store.generate(&name(identity), Component::generic(id.as_bytes()), key, NOW, validity()).map(|_| ())
}

fn issued(store: &KeyStore) -> Certificate {
    let signer = store.find(&name("/other")).unwrap().signer();
    let issue = Issue { issuer_id: Component::generic(b"lab"), version: 1, validity: validity() };
    issue.certify_request(&own_certificate(store), &signer).unwrap()
}

fn own_certificate(store: &KeyStore) -> Certificate {
    let all = store.certificates(&name("/a/KEY/1")).unwrap();
    all.into_iter().find(Certificate::is_self_signed).unwrap()
}

/// Every identity has a default key, every key a secret and a default certificate, and the store a default
/// identity.
fn check(store: &KeyStore, at: &str) {
    let identities = store.identities().unwrap();
    for identity in &identities {
        store.find(identity).unwrap_or_else(|error| panic!("{at}: {error}"));
        for key in store.keys(identity).unwrap() {
            let found = store.find(&key).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert!(found.default_certificate.is_some(), "{at}: {key} has lost its certificate");
        }
    }
    match store.default() {
        Ok(_) => {}
        Err(StoreError::NoDefault(..)) => assert!(identities.is_empty(), "{at}"),
        Err(error) => panic!("{at}: {error}"),
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, std::fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            assert!(std::fs::copy(entry.path(), to).is_ok());
        }
    }
}

/// Has `change` killed after every number of steps there is, in a store with the keys 1 and 2 of `/a` where
/// `with_keys` says so, and one of `/other`. After each time it can be done again, or has been done.
fn kill_at_every_step(
    what: &str,
    with_keys: bool,
    change: impl Fn(&KeyStore) -> Result<(), StoreError>,
    is_done: impl Fn(&KeyStore) -> bool,
) {
    let root = TestFolder::absent(&format!("killed-{what}"));
    let untouched = root.join("untouched");
    let store = KeyStore::open(&untouched).unwrap();
    generate(&store, "/other", "1").unwrap();
    if with_keys {
        generate(&store, "/a", "1").unwrap();
        generate(&store, "/a", "2").unwrap();
    }
    let mut steps = 0;
    loop {
        // Putting copies to the disk would take most of the time.
        let changed = root.join(steps.to_string());
        copy(&untouched, &changed);
        let store = KeyStore::open(&changed).unwrap();
        let before = store.find(&name("/other")).unwrap().default_certificate;
        killed::after(Some(steps));
        let outcome = change(&store);
        killed::after(None);
        let at = format!("{what}, killed after {steps} steps");
        let store = KeyStore::open(&changed).unwrap();
        check(&store, &at);
        if outcome.is_err() && !is_done(&store) {
            change(&store).unwrap_or_else(|error| panic!("{at}, and again: {error}"));
        }
        assert!(is_done(&store), "{at}");
        check(&store, &at);
        assert_eq!(store.find(&name("/other")).unwrap().default_certificate, before, "{at}");
        if outcome.is_ok() {
            break;
        }
        steps += 1;
    }
    assert!(steps > 2, "{what} changes nothing");
}

#[test]
fn whoever_is_killed_while_a_key_is_made_leaves_a_store_that_works() {
    let is_made = |store: &KeyStore| store.find(&name("/a/KEY/3")).is_ok();
    kill_at_every_step("first-key", false, |store| generate(store, "/a", "3"), is_made);
    kill_at_every_step("third-key", true, |store| generate(store, "/a", "3"), is_made);
}

#[test]
fn whoever_is_killed_while_something_is_deleted_leaves_a_store_that_works() {
    let delete = |uri: &'static str| move |store: &KeyStore| store.delete(&name(uri));
    let is_gone = |uri: &'static str| move |store: &KeyStore| store.find(&name(uri)).is_err();
    kill_at_every_step("key", true, delete("/a/KEY/1"), is_gone("/a/KEY/1"));
    kill_at_every_step("identity", true, delete("/a"), is_gone("/a"));
    let delete_last = |store: &KeyStore| match store.delete(&name("/a/KEY/2")) {
        Ok(()) | Err(StoreError::Missing(..)) => store.delete(&name("/a/KEY/1")),
        error => error,
    };
    kill_at_every_step("last-key", true, delete_last, is_gone("/a"));
}

#[test]
fn whoever_is_killed_while_certificates_come_and_go_leaves_a_store_that_works() {
    let add = |store: &KeyStore| store.add_certificate(&issued(store));
    let is_default = |store: &KeyStore| {
        let found = store.find(&name("/a/KEY/1")).unwrap().default_certificate.unwrap();
        !found.is_self_signed()
    };
    kill_at_every_step("certificate", true, add, is_default);
    let replace = |store: &KeyStore| {
        let own = own_certificate(store).name().to_name();
        store.add_certificate(&issued(store))?;
        store.delete(&own)
    };
    let is_alone =
        |store: &KeyStore| store.certificates(&name("/a/KEY/1")).unwrap().len() == 1 && is_default(store);
    kill_at_every_step("replaced-certificate", true, replace, is_alone);
}

#[test]
fn what_a_key_that_was_never_there_left_behind_is_removed_with_its_secret() {
    let root = TestFolder::absent("swept");
    let store = KeyStore::open(&*root).unwrap();
    killed::after(Some(12));
    assert!(generate(&store, "/a", "lost").is_err());
    killed::after(None);
    let lost = store.key_folder(&name("/a/KEY/lost"));
    assert!(lost.exists());
    generate(&store, "/a", "1").unwrap();
    assert!(!lost.exists());
}

#[test]
fn a_damaged_key_can_be_deleted() {
    let root = TestFolder::absent("damaged");
    let store = KeyStore::open(&*root).unwrap();
    generate(&store, "/a", "1").unwrap();
    std::fs::remove_file(store.key_folder(&name("/a/KEY/1")).join("private")).unwrap();
    assert!(store.find(&name("/a/KEY/1")).is_err());
    store.delete(&name("/a/KEY/1")).unwrap();
    generate(&store, "/a", "1").unwrap();
}

#[test]
fn a_name_in_which_keys_are_nested_is_refused() {
    let root = TestFolder::absent("nested");
    let store = KeyStore::open(&*root).unwrap();
    assert!(matches!(generate(&store, "/a/KEY/1", "2"), Err(StoreError::Name(..))));
}
