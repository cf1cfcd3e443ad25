//! What is put into the key store comes out again, and nobody but its owner can read it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use cairn_trust::certificate::Issue;
use cairn_trust::store::{KeyStore, StoreError, StoredKey};
use cairn_trust::{KeyKind, PrivateKey, SignatureVerifier, UnixTime, ValidityPeriod};
use packet::ndn::DataBuilder;
use packet::{Component, Name};
use testkit::folder::TestFolder;

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

/// A place for a store.
fn new_folder() -> TestFolder {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    TestFolder::absent(&format!("store-{number}"))
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
    let folder = new_folder();
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
    let folder = new_folder();
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
    let folder = new_folder();
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
    let folder = new_folder();
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
    let folder = new_folder();
    let store = KeyStore::open(&folder.0).unwrap();
    let made = generate(&store, "/a", "1", KeyKind::Ed25519);
    let other = PrivateKey::generate(KeyKind::Ed25519).unwrap();
    assert!(matches!(store.add_key(&made.name, &other, None), Err(StoreError::Exists(_))));
    let mismatch = store.add_key(&name("/c/KEY/1"), &other, made.default_certificate.as_ref());
    assert!(matches!(mismatch, Err(StoreError::Key(_))));
}

#[test]
fn a_key_that_was_written_half_is_not_there_and_can_be_written_again() {
    let folder = new_folder();
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
    let folder = new_folder();
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

/// Every file of a store, but its lock.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.retain(|path| path.file_name().unwrap() != "lock");
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}

#[test]
fn whatever_file_of_a_store_is_cut_or_garbled_no_other_key_signs_and_what_is_told_names_the_file() {
    let folder = new_folder();
    let store = KeyStore::open(&*folder).unwrap();
    let kinds = [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Hmac];
    let names = ["/lab/ecdsa", "/lab/ed25519", "/lab/hmac"].map(name);
    for (identity, kind) in names.iter().zip(kinds) {
        generate(&store, &identity.to_string(), "1", kind);
    }
    let signed = |store: &KeyStore, identity: &Name| {
        store.find(identity).map(|found| (found.name, found.key.to_pkcs8().unwrap()))
    };
    let before = names.each_ref().map(|identity| signed(&store, identity).unwrap());
    let mut refused = 0;
    for file in files_below(&folder) {
        let whole = std::fs::read(&file).unwrap();
        let cut = (0..whole.len()).step_by(7).map(|length| whole[..length].to_vec());
        let garbled = (0..whole.len()).step_by(11).map(|place| {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x15;
            bytes
        });
        for bytes in cut.chain(garbled) {
            std::fs::write(&file, &bytes).unwrap();
            for (identity, (key_name, key)) in names.iter().zip(&before) {
                match signed(&store, identity) {
                    // A secret of HMAC is any bytes at all: nobody sees that they were others.
                    Ok((found, _)) if *identity == names[2] && file.ends_with("private") => {
                        assert_eq!(found, *key_name);
                    }
                    Ok(found) => assert_eq!(found, (key_name.clone(), key.clone()), "{}", file.display()),
                    Err(error) => {
                        refused += 1;
                        let told = error.to_string();
                        let is_damage = matches!(error, StoreError::Damaged { .. });
                        // If the key and its certificate do not fit, it is not known which one is right.
                        let is_certificate = file.extension().is_some_and(|extension| extension == "cert");
                        let place = if is_certificate { file.ancestors().nth(2).unwrap() } else { &file };
                        assert!(is_damage && told.contains(&*place.to_string_lossy()), "{told}");
                        assert!(told.contains("Put back a copy") && told.contains("remove "), "{told}");
                    }
                }
            }
        }
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(refused > 50, "{refused}");
    assert_eq!(names.each_ref().map(|identity| signed(&store, identity).unwrap()), before);
}

#[test]
fn an_empty_secret_of_hmac_and_an_empty_certificate_are_damage() {
    let folder = new_folder();
    let store = KeyStore::open(&*folder).unwrap();
    generate(&store, "/lab/hmac", "1", KeyKind::Hmac);
    generate(&store, "/lab/ed25519", "1", KeyKind::Ed25519);
    let files = files_below(&folder);
    let emptied = files.iter().filter(|file| {
        let is_hmacs = || std::fs::read(file.with_file_name("kind")).is_ok_and(|kind| kind == b"hmac");
        file.extension().is_some_and(|extension| extension == "cert")
            || file.ends_with("private") && is_hmacs()
    });
    for file in emptied {
        std::fs::write(file, b"").unwrap();
    }
    for identity in ["/lab/hmac", "/lab/ed25519"] {
        let error = store.find(&name(identity)).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{identity}: {error}");
    }
}
