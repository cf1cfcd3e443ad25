//! Routes of keys that are revoked while the node runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_node::management::{
    CommandAuthority, Delegation, ManagementConfig, Privileges, RevocationList, TrustedKeys,
};
use management::{
    Command, CommandScope, ControlParameters, ControlResponse, PrefixAnnouncement, RouteOrigin,
};
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Data, Interest};
use testkit::folder::TestFolder;
use trust::{Freshness, Revocation, RevocationReason, Signer, UnixTime};

use crate::delegates::{Person, code, serve};
use crate::fake_node::NEIGHBOUR;
use crate::manager::{Manager, about, name};

struct Lab {
    folder: TestFolder,
    boss: Person,
    other: Person,
}

impl Lab {
    fn new(word: &str) -> Self {
        let folder = TestFolder::new(word);
        std::fs::write(folder.join("records"), "").unwrap();
        Lab { folder, boss: Person::operator("/lab"), other: Person::operator("/other") }
    }

    fn records(&self) -> PathBuf {
        self.folder.join("records")
    }

    fn start(&self) -> Manager {
        let words = ["rib", "localhop"].map(str::to_owned);
        let keys: Vec<_> = [&self.boss, &self.other]
            .map(|person| (person.certificate.clone(), Privileges::of(&words).unwrap()))
            .to_vec();
        let revocations = Arc::new(RevocationList::in_file(&self.records()).unwrap());
        let authority = || {
            let keys = TrustedKeys::new(keys.clone()).with_revocations(Arc::clone(&revocations));
            CommandAuthority::of_keys(Box::new(keys))
        };
        Manager::with(ManagementConfig {
            localhost: authority(),
            localhop: Some(authority()),
            delegation: Delegation::new(&keys, 7).with_revocations(Arc::clone(&revocations)),
            revocations: Arc::clone(&revocations),
            state_file: Some(self.folder.join("routes.toml")),
            ..Default::default()
        })
    }
}

fn revoke(records: &Path, who: &Person, by: &Signer) {
    let (at, reason) = (UnixTime::from_secs(1_700_000_000), RevocationReason::KeyCompromise);
    let record = Revocation::issue(&who.certificate, by, at, reason).unwrap();
    let mut known = std::fs::read(records).unwrap();
    known.extend_from_slice(record.data().wire());
    std::fs::write(records, known).unwrap();
}

/// A command of the operator's kind, a little later each time.
fn register(manager: &mut Manager, who: &Person, prefix: &str) -> Interest {
    manager.let_time_pass(Duration::from_millis(1));
    let parameters = ControlParameters {
        face_id: Some(NEIGHBOUR.0.into()),
        origin: Some(RouteOrigin::Static),
        ..about(prefix)
    };
    let builder = Command::RibRegister.interest(CommandScope::Localhost, &parameters).unwrap();
    let freshness = Freshness { time_ms: Some(manager.now.unix.as_millis()), ..Default::default() };
    who.signer.sign_interest(&builder, freshness).unwrap()
}

fn has_route(manager: &Manager, prefix: &str) -> bool {
    !manager.node.next_hops(prefix).is_empty()
}

fn has_registered(manager: &mut Manager, who: &Person, prefix: &str) {
    let interest = register(manager, who, prefix);
    assert_eq!(code(manager.ask(&interest).as_ref()), Some(200));
    assert!(has_route(manager, prefix));
}

#[test]
fn routes_of_a_key_go_within_a_second_after_it_is_revoked_and_those_of_others_stay() {
    let lab = Lab::new("revoked-routes");
    let mut manager = lab.start();
    has_registered(&mut manager, &lab.boss, "/a");
    has_registered(&mut manager, &lab.boss, "/b");
    has_registered(&mut manager, &lab.other, "/c");
    revoke(&lab.records(), &lab.boss, &lab.other.signer);
    manager.let_time_pass(Duration::from_secs(2));
    assert!(has_route(&manager, "/a"), "the record of somebody else revokes nothing");
    revoke(&lab.records(), &lab.boss, &lab.boss.signer);
    manager.let_time_pass(Duration::from_secs(1));
    assert!(!has_route(&manager, "/a") && !has_route(&manager, "/b") && has_route(&manager, "/c"));
    let removed = |manager: &Manager| manager.management.counters().routes_of_revoked_keys;
    assert_eq!(removed(&manager), 2);
    assert_eq!(manager.management.rib().signed_count(), 1);
    // Nor do they come back by a restart.
    manager.let_time_pass(Duration::from_secs(1));
    drop(manager);
    let again = lab.start();
    assert!(!has_route(&again, "/a") && has_route(&again, "/c"));
}

#[test]
fn a_key_that_is_revoked_while_the_node_is_down_loses_its_routes_after_the_start() {
    let lab = Lab::new("revoked-while-down");
    let delegate = lab.boss.certifies("/lab/alice");
    let mut manager = lab.start();
    has_registered(&mut manager, &lab.other, "/c");
    let interest = register(&mut manager, &delegate, "/a");
    assert!(manager.ask(&interest).is_none(), "it waits for the certificate");
    assert_eq!(serve(&mut manager, &[&delegate]), Some(200));
    manager.let_time_pass(Duration::from_secs(1));
    drop(manager);
    revoke(&lab.records(), &delegate, &lab.boss.signer);
    let mut again = lab.start();
    again.let_time_pass(Duration::from_secs(1));
    assert!(!has_route(&again, "/a") && has_route(&again, "/c"));
}

#[test]
fn routes_of_a_delegate_go_when_it_or_its_operator_revokes_the_key() {
    for by_operator in [false, true] {
        let lab = Lab::new("revoked-delegate");
        let (alice, bob) = (lab.boss.certifies("/lab/alice"), lab.boss.certifies("/lab/bob"));
        let mut manager = lab.start();
        for (who, prefix) in [(&alice, "/a"), (&bob, "/b")] {
            let interest = register(&mut manager, who, prefix);
            assert!(manager.ask(&interest).is_none(), "it waits for the certificate");
            assert_eq!(serve(&mut manager, &[&alice, &bob]), Some(200));
        }
        revoke(&lab.records(), &alice, if by_operator { &lab.boss.signer } else { &alice.signer });
        manager.let_time_pass(Duration::from_secs(1));
        assert!(!has_route(&manager, "/a") && has_route(&manager, "/b"), "by operator: {by_operator}");
    }
}

#[test]
fn an_announced_route_goes_with_the_key_that_signed_the_announcement() {
    let lab = Lab::new("revoked-announcer");
    let mut manager = lab.start();
    let announcement = |who: &Person, prefix: &str| -> Data {
        let announcement = PrefixAnnouncement {
            prefix: name(prefix),
            version: 1,
            expiration_period_ms: 3_600_000,
            validity: None,
        };
        who.signer.sign_data(&announcement.to_data().unwrap()).unwrap()
    };
    for (who, prefix) in [(&lab.boss, "/lab/x"), (&lab.other, "/other/x")] {
        let announcement = announcement(who, prefix);
        let interest = InterestBuilder::new(name("/localhop/nfd/rib/announce"))
            .application_parameters(announcement.wire().to_vec())
            .build()
            .unwrap();
        let answer = manager.ask_from(NEIGHBOUR, &interest).unwrap();
        assert!(ControlResponse::decode(answer.content()).unwrap().is_ok());
    }
    revoke(&lab.records(), &lab.boss, &lab.boss.signer);
    manager.let_time_pass(Duration::from_secs(1));
    assert!(!has_route(&manager, "/lab/x") && has_route(&manager, "/other/x"));
}

#[test]
fn what_is_cached_below_the_prefixes_of_a_revoked_key_goes_however_much_it_is() {
    let lab = Lab::new("revoked-cache");
    let mut manager = lab.start();
    has_registered(&mut manager, &lab.boss, "/a");
    has_registered(&mut manager, &lab.other, "/c");
    manager.node.erasable = 10_000;
    manager.let_time_pass(Duration::from_secs(2));
    assert_eq!(manager.node.erasable, 10_000);
    revoke(&lab.records(), &lab.boss, &lab.boss.signer);
    manager.let_time_pass(Duration::from_secs(1));
    for _ in 0..10_000 {
        manager.let_time_pass(Duration::from_millis(1));
    }
    assert_eq!(manager.node.erasable, 0);
}
