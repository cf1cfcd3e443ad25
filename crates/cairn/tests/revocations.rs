//! Keys are revoked by the network, and certificates renewed: what a node and the tools make of it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod world;

use std::process::Output;
use std::time::{Duration, Instant};

use world::World;

const TIMEOUT: Duration = Duration::from_secs(60);

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Tries until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn publish(world: &mut World) {
    let command = ["cert", "publish-revocations", "revoked", "--by", "/lab", "--every", "100ms"];
    world.start(&command, "publishing /lab/REVOKED");
}

#[test]
fn a_key_that_a_published_list_revokes_is_not_believed_and_without_the_list_none_is() {
    let mut world = World::new();
    world.certify_alice();
    world.write("revoked", b"");
    world.write("file", b"what alice has to say");
    world.start(&["put", "/lab/alice/file", "-f", "file", "-S", "/lab/alice"], "published");
    let trusting = ["--anchor", "root.cert", "--revocations-from", "/lab/REVOKED"];
    let get = |world: &World| world.run(&[&["get", "/lab/alice/file"][..], &trusting].concat());
    let without = get(&world);
    assert_eq!(without.status.code(), Some(5), "{}", errors(&without));
    assert!(errors(&without).contains("/lab/REVOKED could not be had, so no key counts"));
    publish(&mut world);
    let before = get(&world);
    assert!(before.status.success() && before.stdout == b"what alice has to say", "{}", errors(&before));
    world.good(&["cert", "revoke", "alice.cert", "-o", "revoked.new"]);
    std::fs::rename(world.path("revoked.new"), world.path("revoked")).unwrap();
    until("the list says it", || {
        let after = get(&world);
        assert!(matches!(after.status.code(), Some(0 | 5)), "{}", errors(&after));
        errors(&after).contains("is revoked by /lab/alice/REVOKE/")
    });
    let peek = ["peek", "-p", "-P", "/lab/alice/file/32=metadata"];
    assert_eq!(world.run(&[&peek[..], &trusting].concat()).status.code(), Some(5));
    // One that was made too long ago says nothing about now.
    assert_eq!(world.interrupt_last(), Some(0));
    let old =
        world.run(&[&["get", "/lab/alice/file", "--revocations-max-age", "1ms"][..], &trusting].concat());
    assert!(old.status.code() == Some(5) && errors(&old).contains("so no key counts"), "{}", errors(&old));
}

#[test]
fn a_list_is_fetched_into_a_file_that_tools_read_and_a_forged_one_is_not() {
    let mut world = World::new();
    world.certify_alice();
    world.good(&["key", "new", "/lab/eve"]);
    world.good(&["cert", "revoke", "alice.cert", "-o", "revoked"]);
    let fetch = |world: &World| {
        world.run(&["cert", "fetch-revocations", "/lab/REVOKED", "--anchor", "root.cert", "-o", "known"])
    };
    let forged = ["cert", "publish-revocations", "revoked", "--by", "/lab/eve", "--as", "/lab/REVOKED"];
    world.start(&forged, "publishing");
    let refused = fetch(&world);
    assert!(refused.status.code() == Some(5) && !world.path("known").exists(), "{}", errors(&refused));
    assert_eq!(world.interrupt_last(), Some(0));
    publish(&mut world);
    until("the list is fetched", || fetch(&world).status.success());
    let check = ["cert", "check", "alice.cert", "--anchor", "root.cert"];
    assert_eq!(world.run(&check).status.code(), Some(0));
    assert_eq!(world.run(&[&check[..], &["--revocations", "known"]].concat()).status.code(), Some(5));
}

#[test]
fn a_node_fetches_the_list_into_the_file_that_it_reads() {
    let mut world = World::new();
    world.certify_alice();
    world.good(&["cert", "revoke", "alice.cert", "-o", "revoked"]);
    let config = String::from_utf8(world.read("node.toml")).unwrap();
    let more = "[management]\nrevocations = \"known\"\nrevocations_from = [\"/lab/REVOKED\"]\n\
        revocations_every_secs = 1\n[verification]\nanchors = [\"root.cert\"]\n";
    world.write("node.toml", format!("{config}{more}").as_bytes());
    world.good(&["node", "config", "node.toml"]);
    world.replace_node();
    publish(&mut world);
    let check = ["cert", "check", "alice.cert", "--anchor", "root.cert", "--revocations", "known"];
    until("the node has the record", || {
        world.path("known").exists() && world.run(&check).status.code() == Some(5)
    });
    world.write("node.toml", format!("{config}{}", more.replace("/lab/REVOKED", "/hub/REVOKED")).as_bytes());
    let refused = world.run(&["node", "config", "node.toml"]);
    assert!(errors(&refused).contains("nobody can vouch for /hub/REVOKED"), "{}", errors(&refused));
}

/// A lab whose certificate of Alice is in a key store of her own.
fn lab_and_alice() -> World {
    let world = World::new();
    world.good(&["key", "new", "/lab", "--kind", "ed25519", "--valid", "20d"]);
    world.good(&["cert", "export", "/lab", "-o", "root.cert"]);
    world.good(&["key", "--keys", "hers", "new", "/lab/alice"]);
    world.good(&["cert", "--keys", "hers", "request", "/lab/alice", "-o", "alice.req"]);
    world.good(&["cert", "sign", "alice.req", "--by", "/lab", "--valid", "9d", "-o", "alice.cert"]);
    world.good(&["cert", "--keys", "hers", "import", "alice.cert"]);
    world
}

fn renew(world: &World, more: &[&str]) -> Output {
    world.run(&[&["cert", "--keys", "hers", "renew", "--anchor", "root.cert"][..], more].concat())
}

fn default_certificate(world: &World) -> serde_json::Value {
    let shown = world.good(&["cert", "--keys", "hers", "show", "/lab/alice", "--json"]);
    serde_json::from_str::<serde_json::Value>(&shown).unwrap()[0].clone()
}

#[test]
fn certificates_are_renewed_before_they_end_and_not_long_before() {
    let world = lab_and_alice();
    let before = world.good(&["cert", "export", "/lab"]);
    assert_eq!(world.good(&["cert", "renew"]), "", "there is time");
    assert_eq!(world.good(&["cert", "export", "/lab"]), before);
    let renewed = world.good(&["cert", "renew", "--before", "30d"]);
    assert!(renewed.starts_with("renewed /lab/KEY/"), "{renewed}");
    assert_ne!(world.good(&["cert", "export", "/lab"]), before);
    // Who has the issuer's key beside it needs no network.
    world.good(&["key", "new", "/lab/bob"]);
    world.good(&["cert", "request", "/lab/bob", "-o", "bob.req"]);
    world.good(&["cert", "sign", "bob.req", "--by", "/lab", "--issuer", "lab", "-o", "bob.cert"]);
    world.good(&["cert", "import", "bob.cert"]);
    let renewed = world.good(&["cert", "renew", "/lab/bob", "--before", "400d"]);
    assert!(renewed.contains("/lab/v="), "{renewed}");
    world.good(&["cert", "export", "/lab/bob", "-o", "new.cert"]);
    assert_ne!(world.read("new.cert"), world.read("bob.cert"));
    world.good(&["cert", "check", "new.cert", "--anchor", "root.cert"]);
}

#[test]
fn an_issuer_elsewhere_renews_for_the_same_key_and_for_a_new_one_until_it_is_revoked() {
    let mut world = lab_and_alice();
    world.write("revoked", b"");
    let old = default_certificate(&world);
    let alone = renew(&world, &["--before", "9d"]);
    assert!(
        alone.status.code() == Some(1) && errors(&alone).contains("is not renewed"),
        "{}",
        errors(&alone)
    );
    assert_eq!(default_certificate(&world), old);
    world.start(
        &["cert", "issue-renewals", "--by", "/lab", "--revocations", "revoked"],
        "renewing at /lab/RENEW",
    );
    let same = renew(&world, &["--before", "9d"]);
    assert!(same.status.success(), "{}", errors(&same));
    let second = default_certificate(&world);
    assert!(second["name"] != old["name"] && second["key"] == old["key"], "{second}");
    let new = renew(&world, &["--before", "10d", "--new-key"]);
    assert!(new.status.success(), "{}", errors(&new));
    let third = default_certificate(&world);
    assert!(third["key"] != old["key"] && third["identity"] == "/lab/alice", "{third}");
    world.good(&["cert", "--keys", "hers", "export", "/lab/alice", "-o", "third.cert"]);
    world.good(&["cert", "check", "third.cert", "--anchor", "root.cert"]);
    // Whoever has stolen it renews nothing once it is revoked.
    world.good(&["cert", "--keys", "hers", "revoke", "third.cert", "-o", "revoked"]);
    let refused = renew(&world, &["--before", "10d"]);
    assert!(
        errors(&refused).contains("/lab says: ") && errors(&refused).contains("is revoked"),
        "{refused:?}"
    );
    // Nor does whoever asks in the name of somebody else with a key that he has certified himself.
    world.good(&["key", "--keys", "his", "new", "/lab"]);
    world.good(&["cert", "--keys", "his", "request", "/lab", "-o", "his.req"]);
    world.good(&["key", "--keys", "eve", "new", "/lab/alice"]);
    world.good(&["cert", "--keys", "eve", "request", "/lab/alice", "-o", "eve.req"]);
    world.good(&["cert", "--keys", "his", "sign", "eve.req", "--by", "/lab", "-o", "eve.cert"]);
    world.good(&["cert", "--keys", "eve", "import", "eve.cert"]);
    let stranger =
        world.run(&["cert", "--keys", "eve", "renew", "--before", "400d", "--anchor", "root.cert"]);
    assert!(errors(&stranger).contains("was not issued here"), "{}", errors(&stranger));
}
