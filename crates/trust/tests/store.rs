//! What is put into the key store comes out again, and nobody but its owner can read it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use cairn_trust::certificate::Issue;
use cairn_trust::store::{KeyStore, StoreError, StoredKey};
use cairn_trust::{KeyKind, PrivateKey, SignatureVerifier, UnixTime, ValidityPeriod};
use packet::ndn::DataBuilder;
use packet::{Component, Name};

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

/// A folder of its own that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Folder(std::env::temp_dir().join(format!("cairn-store-{}-{number}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn validity() -> ValidityPeriod {
    ValidityPeriod { not_before: NOW.minus_secs(1), not_after: NOW.plus_secs(1000) }
}

fn generate(store: &KeyStore, identity: &str, key_id: &str, kind: KeyKind) -> StoredKey {
    let key = PrivateKey::generate(kind).unwrap();
    store.generate(&name(identity), Component::generic(key_id.as_bytes()), key, NOW, validity()).unwrap()
}

#[test]
fn keys_of_every_kind_come_back_and_sign() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    for (kind, id) in
        [(KeyKind::EcdsaP256, "e"), (KeyKind::Ed25519, "d"), (KeyKind::Rsa, "r"), (KeyKind::Hmac, "h")]
    {
        let made = generate(&store, "/a", id, kind);
        let found = KeyStore::open(&folder.0).unwrap().find(&made.name).unwrap();
        assert_eq!(found.key.kind(), kind);
        let data = found.signer().sign_data(&DataBuilder::new(name("/a/x"))).unwrap();
        SignatureVerifier::of_private(&made.key).unwrap().verify_data(&data).unwrap();
    }
    assert_eq!(store.identities().unwrap(), [name("/a")]);
    assert_eq!(store.keys(&name("/a")).unwrap().len(), 4);
    // The first one is the default of the identity, and the identity that of the store.
    assert_eq!(store.default().unwrap().name, name("/a/KEY/e"));
}

#[test]
fn all_files_are_for_the_owner_alone_and_others_are_refused() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    let key = generate(&store, "/a/b", "1", KeyKind::Ed25519).name;
    let mut folders = vec![folder.0.clone()];
    let mut files = Vec::new();
    while let Some(path) = folders.pop() {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700, "{path:?}");
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(files.len() >= 6);
    for path in &files {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    let private = files.iter().find(|path| path.ends_with("private")).unwrap();
    std::fs::set_permissions(private, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(store.find(&key), Err(StoreError::Permissions(_))));
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(KeyStore::open(&folder.0), Err(StoreError::Permissions(_))));
}

#[test]
fn an_issued_certificate_takes_the_place_of_the_self_signed_one() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    let root = generate(&store, "/lab", "0", KeyKind::EcdsaP256);
    let alice = generate(&store, "/lab/alice", "1", KeyKind::Ed25519);
    let issue = Issue { issuer_id: Component::generic(b"lab"), version: 1, validity: validity() };
    let own = alice.default_certificate.unwrap();
    let issued = issue.certify_request(&own, &root.signer()).unwrap();
    store.add_certificate(&issued).unwrap();
    let found = store.find(&name("/lab/alice")).unwrap();
    assert_eq!(found.signer().key_locator().unwrap().as_ref(), issued.name());
    // By its own name the other certificate can still be had.
    let by_name = store.find(&own.name().to_name()).unwrap();
    assert_eq!(by_name.signer().key_locator().unwrap().as_ref(), own.name());
    assert_eq!(store.certificates(&alice.name).unwrap().len(), 2);

    let foreign =
        issue.certify(&name("/lab/alice/KEY/1"), &root.key.public_key().unwrap(), &root.signer()).unwrap();
    assert!(matches!(store.add_certificate(&foreign), Err(StoreError::Key(_))));
}

#[test]
fn deleting_takes_what_lies_below_and_mends_defaults() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    let one = generate(&store, "/a", "1", KeyKind::Ed25519);
    let two = generate(&store, "/a", "2", KeyKind::Ed25519);
    generate(&store, "/b", "1", KeyKind::Ed25519);
    store.delete(&one.name).unwrap();
    assert!(matches!(store.find(&one.name), Err(StoreError::Missing(..))));
    assert_eq!(store.default_key(&name("/a")).unwrap(), two.name);
    store.delete(&two.default_certificate.unwrap().name().to_name()).unwrap();
    assert!(store.find(&name("/a")).unwrap().default_certificate.is_none());
    store.delete(&name("/a")).unwrap();
    assert_eq!(store.default_identity().unwrap(), name("/b"));
    store.set_default(&name("/b")).unwrap();
    assert!(matches!(store.set_default(&name("/a")), Err(StoreError::Missing(..))));
    store.delete(&name("/b/KEY/1")).unwrap();
    assert!(matches!(store.default(), Err(StoreError::NoDefault(..))));
    assert!(store.identities().unwrap().is_empty());
}

#[test]
fn a_second_key_of_the_same_name_is_refused() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    let made = generate(&store, "/a", "1", KeyKind::Ed25519);
    let other = PrivateKey::generate(KeyKind::Ed25519).unwrap();
    assert!(matches!(store.add_key(&made.name, &other, None), Err(StoreError::Exists(_))));
    let mismatch = store.add_key(&name("/c/KEY/1"), &other, made.default_certificate.as_ref());
    assert!(matches!(mismatch, Err(StoreError::Key(_))));
}

#[test]
fn a_key_that_was_written_half_is_not_there_and_can_be_written_again() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    let key = generate(&store, "/a", "1", KeyKind::Ed25519).name;
    // The name is the last that is written before a key is there.
    let only = |folder: PathBuf| std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let keys = only(folder.0.join("identities")).join("keys");
    std::fs::remove_file(only(keys).join("name")).unwrap();
    assert!(matches!(store.find(&key), Err(StoreError::Missing(..))));
    assert_eq!(generate(&store, "/a", "1", KeyKind::Ed25519).name, key);
    let other = PrivateKey::generate(KeyKind::Ed25519).unwrap();
    assert!(matches!(store.add_key(&key, &other, None), Err(StoreError::Exists(_))));
    assert_eq!(store.keys(&name("/a")).unwrap(), [key]);
}

#[test]
fn of_several_who_make_a_key_of_the_same_name_at_once_one_does() {
    let folder = Folder::new();
    let store = KeyStore::open(&folder.0).unwrap();
    let make = || {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        store.generate(&name("/a"), Component::generic(b"1"), key, NOW, validity())
    };
    for _ in 0..4 {
        let made: Vec<_> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
        assert!(made.iter().flatten().all(|made| {
            let found = store.find(&made.name).unwrap();
            found.default_certificate == made.default_certificate
        }));
        store.delete(&name("/a/KEY/1")).unwrap();
    }
}
