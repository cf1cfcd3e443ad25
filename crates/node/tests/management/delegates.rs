//! Commands by keys that an operator's key has certified: obeyed once the certificates between are there, and
//! not otherwise.

use cairn_node::control::{ControlApplication as _, OutgoingInterest};
use cairn_node::management::{CommandAuthority, Delegation, ManagementConfig, Privileges, TrustedKeys};
use engine::FaceId;
use management::{Command, CommandScope, ControlResponse};
use packet::ndn::SignatureInfoBuilder;
use packet::time::Duration;
use packet::{Component, Data, Interest, NackReason};
use trust::certificate::{Issue, names, self_signed};
use trust::{Certificate, Freshness, KeyKind, PrivateKey, Signer, UnixTime, ValidityPeriod};

use crate::fake_node::{APPLICATION, NEIGHBOUR, face};
use crate::manager::{Manager, about, name};

const NOW_S: u64 = 1_700_000_000;

pub(crate) struct Person {
    pub(crate) certificate: Certificate,
    pub(crate) signer: Signer,
}

fn validity() -> ValidityPeriod {
    ValidityPeriod {
        not_before: UnixTime::from_secs(NOW_S - 10),
        not_after: UnixTime::from_secs(NOW_S + 1000),
    }
}

impl Person {
    pub(crate) fn operator(identity: &str) -> Person {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let key_name = names::key_name(&name(identity), Component::generic(b"1")).unwrap();
        let certificate =
            self_signed(&key, &key_name, names::SELF, UnixTime::from_secs(NOW_S), validity()).unwrap();
        Person { signer: Signer::new(key, certificate.name().to_name()), certificate }
    }

    pub(crate) fn certifies(&self, identity: &str) -> Person {
        self.certifies_for(identity, validity())
    }

    fn certifies_for(&self, identity: &str, validity: ValidityPeriod) -> Person {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let key_name = names::key_name(&name(identity), Component::generic(b"1")).unwrap();
        let issue = Issue { issuer_id: Component::generic(b"boss"), version: 1, validity };
        let certificate = issue.certify(&key_name, &key.public_key().unwrap(), &self.signer).unwrap();
        Person { signer: Signer::new(key, certificate.name().to_name()), certificate }
    }

    /// A command to register a route, a little later each time.
    fn asks(&self, manager: &mut Manager, scope: CommandScope) -> Interest {
        self.commands(manager, Command::RibRegister, scope)
    }

    fn commands(&self, manager: &mut Manager, command: Command, scope: CommandScope) -> Interest {
        manager.let_time_pass(Duration::from_millis(1));
        let builder = command.interest(scope, &about("/a")).unwrap();
        let freshness = Freshness { time_ms: Some(manager.now.unix.as_millis()), ..Default::default() };
        self.signer.sign_interest(&builder, freshness).unwrap()
    }
}

fn manager_of(operators: &[(&Person, &[&str])]) -> Manager {
    let keys: Vec<_> = operators
        .iter()
        .map(|(person, words)| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            (person.certificate.clone(), Privileges::of(&words).unwrap())
        })
        .collect();
    let authority = || CommandAuthority::of_keys(Box::new(TrustedKeys::new(keys.clone())));
    Manager::with(ManagementConfig {
        localhost: authority(),
        localhop: Some(authority()),
        delegation: Delegation::new(&keys, 7),
        ..Default::default()
    })
}

pub(crate) fn code(answer: Option<&Data>) -> Option<u64> {
    answer.map(|data| ControlResponse::decode(data.content()).unwrap().code.number())
}

fn question(manager: &mut Manager) -> Option<OutgoingInterest> {
    manager.management.poll_interest()
}

/// Answers questions with these certificates until there are none; gives what the command is answered with.
pub(crate) fn serve(manager: &mut Manager, published: &[&Person]) -> Option<u64> {
    while let Some(question) = question(manager) {
        let asked = question.interest.name();
        let found = published.iter().find(|person| asked.is_prefix_of(person.certificate.name()));
        let now = manager.now;
        match found {
            Some(person) => {
                let data = person.certificate.data().clone();
                manager.management.handle_data(now, &mut manager.node, &data);
            }
            None => manager.let_time_pass(Duration::from_secs(1)),
        }
    }
    code(manager.next_data().as_ref())
}

#[test]
fn a_delegate_is_obeyed_when_its_certificate_has_come_and_at_once_the_next_time() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    let first = alice.asks(&mut manager, CommandScope::Localhost);
    assert_eq!(code(manager.ask(&first).as_ref()), None, "it waits");
    let asked = question(&mut manager).unwrap();
    assert_eq!(asked.interest.name(), alice.certificate.name());
    assert_eq!(asked.next_hop, Some(APPLICATION), "first where the command came from");
    let data = alice.certificate.data().clone();
    let now = manager.now;
    manager.management.handle_data(now, &mut manager.node, &data);
    let answer = manager.next_data().unwrap();
    assert_eq!((code(Some(&answer)), answer.name()), (Some(200), first.name()));
    let second = alice.asks(&mut manager, CommandScope::Localhost);
    assert_eq!(code(manager.ask(&second).as_ref()), Some(200));
    assert!(question(&mut manager).is_none());
    assert_eq!(code(manager.ask(&second).as_ref()), Some(403), "given again");
}

#[test]
fn a_chain_is_followed_as_long_as_each_certifies_under_its_own_name() {
    let boss = Person::operator("/lab");
    let group = boss.certifies("/lab/people");
    let alice = group.certifies("/lab/people/alice");
    let stray = group.certifies("/lab/machines/bob");
    let people = [&group, &alice, &stray];
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    let interest = alice.asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&interest).is_none());
    assert_eq!(serve(&mut manager, &people), Some(200));
    let interest = stray.asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&interest).is_none());
    assert_eq!(serve(&mut manager, &people), Some(403), "not under the name of who certified it");
}

#[test]
fn what_is_forged_or_cannot_be_had_is_refused() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let impostor = Person::operator("/lab").certifies("/lab/alice");
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    // Somebody else's signature under the name of Alice's key.
    let forged = impostor.asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&forged).is_none());
    assert_eq!(serve(&mut manager, &[&alice]), Some(403));
    // A certificate that another boss of the same name has signed.
    assert_eq!(code(manager.ask(&forged).as_ref()), Some(403), "Alice's real key is known by now");
    let mallory = Person::operator("/lab").certifies("/lab/mallory");
    let interest = mallory.asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&interest).is_none());
    assert_eq!(serve(&mut manager, &[&mallory]), Some(403));
    // One that nobody has: asked for three times, first where the command came from, then by the routes.
    let bob = boss.certifies("/lab/bob");
    let interest = bob.asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&interest).is_none());
    let hops: Vec<Option<FaceId>> = std::iter::from_fn(|| {
        let asked = question(&mut manager)?;
        manager.let_time_pass(Duration::from_secs(1));
        Some(asked.next_hop)
    })
    .collect();
    assert_eq!(hops, [Some(APPLICATION), None, None]);
    assert_eq!(code(manager.next_data().as_ref()), Some(403));
}

#[test]
fn a_certificate_that_the_application_sends_back_is_asked_for_elsewhere_and_a_network_without_it_decides() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    let interest = alice.asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&interest).is_none());
    for next_hop in [Some(APPLICATION), None] {
        let asked = question(&mut manager).unwrap();
        assert_eq!(asked.next_hop, next_hop);
        let now = manager.now;
        manager.management.handle_nack(now, &mut manager.node, &asked.interest, NackReason::NoRoute);
    }
    assert!(question(&mut manager).is_none());
    assert_eq!(code(manager.next_data().as_ref()), Some(403));
}

#[test]
fn each_operator_passes_on_what_is_his_and_nothing_else() {
    let (routes, all) = (Person::operator("/routes"), Person::operator("/all"));
    let operators: [(&Person, &[&str]); 2] =
        [(&routes, &["rib"]), (&all, &["cs", "strategy-choice", "localhop"])];
    let mut manager = manager_of(&operators);
    let (alice, bob) = (routes.certifies("/routes/alice"), all.certifies("/all/bob"));
    let people = [&alice, &bob];
    let mut outcome = |person: &Person, command, scope| {
        let interest = person.commands(&mut manager, command, scope);
        let from = if scope == CommandScope::Localhop { NEIGHBOUR } else { APPLICATION };
        let at_once = code(manager.ask_from(from, &interest).as_ref());
        at_once.or_else(|| serve(&mut manager, &people))
    };
    assert_eq!(outcome(&alice, Command::RibRegister, CommandScope::Localhost), Some(200));
    assert_eq!(outcome(&alice, Command::StrategyUnset, CommandScope::Localhost), Some(403));
    assert_eq!(outcome(&alice, Command::RibRegister, CommandScope::Localhop), Some(403));
    assert_eq!(outcome(&bob, Command::StrategyUnset, CommandScope::Localhost), Some(200));
    assert_eq!(outcome(&bob, Command::RibRegister, CommandScope::Localhost), Some(403));
    assert_eq!(outcome(&bob, Command::RibRegister, CommandScope::Localhop), Some(200));
}

#[test]
fn strangers_make_the_node_ask_for_nothing_and_delegates_for_so_much_at_a_time() {
    let boss = Person::operator("/lab");
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    let stranger = Person::operator("/elsewhere");
    let interest = stranger.asks(&mut manager, CommandScope::Localhost);
    assert_eq!(code(manager.ask(&interest).as_ref()), Some(403));
    assert!(question(&mut manager).is_none());
    let now_ms = manager.now.unix.as_millis();
    let mut codes = Vec::new();
    for number in 0..12 {
        let key = name(&format!("/lab/k{number}/KEY/1"));
        let info =
            SignatureInfoBuilder::new(packet::ndn::SignatureType::ED25519).key_name(&key).time_ms(now_ms);
        let builder = Command::RibRegister.interest(CommandScope::Localhost, &about("/a")).unwrap();
        let interest = builder.build_signed(&info, |_| vec![0; 64]).unwrap();
        codes.push(code(manager.ask(&interest).as_ref()));
    }
    assert_eq!((&codes[..8], &codes[8..]), (&[None; 8][..], &[Some(403); 4][..]));
    assert_eq!(std::iter::from_fn(|| question(&mut manager)).count(), 8);
}

#[test]
fn a_command_that_came_twice_while_its_key_was_looked_into_is_obeyed_once() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    let command = alice.asks(&mut manager, CommandScope::Localhost);
    for _ in 0..2 {
        assert!(manager.ask(&command).is_none(), "it waits");
    }
    let mut answers = vec![serve(&mut manager, &[&alice]).unwrap()];
    answers.extend(std::iter::from_fn(|| code(manager.next_data().as_ref())));
    answers.sort_unstable();
    assert_eq!(answers, [200, 403]);
    assert_eq!(code(manager.ask(&command).as_ref()), Some(403), "nor later");
}

#[test]
fn keys_that_certify_each_other_end_in_a_refusal() {
    let boss = Person::operator("/lab");
    let keys = [(); 2].map(|()| PrivateKey::generate(KeyKind::Ed25519).unwrap());
    let names =
        ["1", "2"].map(|id| names::key_name(&name("/lab/twin"), Component::generic(id.as_bytes())).unwrap());
    let certified = |of: usize, by: usize| {
        let issue = Issue { issuer_id: Component::generic(b"twin"), version: 1, validity: validity() };
        let signer = Signer::new(keys[by].clone(), names[by].clone());
        let certificate = issue.certify(&names[of], &keys[of].public_key().unwrap(), &signer).unwrap();
        Person { signer: Signer::new(keys[of].clone(), certificate.name().to_name()), certificate }
    };
    let twins = [certified(0, 1), certified(1, 0)];
    let mut manager = manager_of(&[(&boss, &["rib"])]);
    let command = twins[0].asks(&mut manager, CommandScope::Localhost);
    assert!(manager.ask(&command).is_none());
    let mut asked = 0;
    let mut answer = None;
    while let Some(question) = question(&mut manager) {
        asked += 1;
        assert!(asked < 30, "it goes round and round");
        let wanted = question.interest.name();
        let found = twins.iter().find(|twin| wanted.is_prefix_of(twin.certificate.name()));
        let now = manager.now;
        match found {
            Some(twin) => {
                let data = twin.certificate.data().clone();
                manager.management.handle_data(now, &mut manager.node, &data);
            }
            None => manager.let_time_pass(Duration::from_secs(1)),
        }
        answer = answer.or(code(manager.next_data().as_ref()));
    }
    assert_eq!(answer, Some(403));
    assert_eq!(manager.node.next_hops("/a"), []);
}

#[test]
fn a_command_of_a_delegate_from_before_the_start_is_not_looked_into() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let mut before = manager_of(&[(&boss, &["rib"])]);
    let old = alice.asks(&mut before, CommandScope::Localhost);
    assert!(before.ask(&old).is_none());
    assert_eq!(serve(&mut before, &[&alice]), Some(200));

    let mut after = manager_of(&[(&boss, &["rib"])]);
    after.now.unix = before.now.unix.after(Duration::from_millis(500));
    let now = after.now;
    after.management.start(now, &mut after.node);
    assert_eq!(code(after.ask(&old).as_ref()), Some(403));
    assert!(question(&mut after).is_none());
}

#[test]
fn a_command_for_names_of_others_is_refused_where_keys_are_bound_to_their_names() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let words = ["rib".to_owned()];
    let keys = vec![(boss.certificate.clone(), Privileges::of(&words).unwrap().for_own_names())];
    let mut manager = Manager::with(ManagementConfig {
        localhost: CommandAuthority::of_keys(Box::new(TrustedKeys::new(keys.clone()))),
        delegation: Delegation::new(&keys, 7),
        ..Default::default()
    });
    // Both ask for a route for /a.
    let of_boss = boss.asks(&mut manager, CommandScope::Localhost);
    assert_eq!(code(manager.ask(&of_boss).as_ref()), Some(403));
    let of_alice = alice.asks(&mut manager, CommandScope::Localhost);
    assert_eq!(code(manager.ask(&of_alice).as_ref()), None, "it waits for its certificate");
    assert_eq!(serve(&mut manager, &[&alice]), Some(403));
    assert!(manager.management.rib().route_count() == 1, "only the node's own");
    assert_eq!(manager.management.counters().unauthorized, 2);
}

/// Boss certifies the first of them, the first the second, and so on; each below the one before.
fn chain(boss: &Person, length: usize, identity_of: impl Fn(usize) -> String) -> Vec<Person> {
    let mut people: Vec<Person> = Vec::new();
    for number in 0..length {
        let next = people.last().unwrap_or(boss).certifies(&identity_of(number));
        people.push(next);
    }
    people
}

/// Gives a command of the last of `people`, and answers what is asked with these certificates; gives what
/// the command is answered with, and how many questions there were.
fn outcome_of_chain(boss: &Person, people: &[&Person]) -> (Option<u64>, usize) {
    let mut manager = manager_of(&[(boss, &["rib"])]);
    let interest = people.last().unwrap().asks(&mut manager, CommandScope::Localhost);
    let at_once = code(manager.ask(&interest).as_ref());
    assert_eq!(at_once, None, "it waits");
    let (mut answer, mut asked) = (None, 0);
    while let Some(question) = question(&mut manager) {
        asked += 1;
        assert!(asked < 100, "there is no end to it");
        let name = question.interest.name();
        let now = manager.now;
        match people.iter().find(|person| name.is_prefix_of(person.certificate.name())) {
            Some(person) => {
                let data = person.certificate.data().clone();
                manager.management.handle_data(now, &mut manager.node, &data);
            }
            None => manager.let_time_pass(Duration::from_secs(1)),
        }
        answer = answer.or(code(manager.next_data().as_ref()));
    }
    assert_eq!(manager.node.next_hops("/a").is_empty(), answer != Some(200));
    (answer, asked)
}

#[test]
fn a_chain_may_have_five_certificates_and_a_longer_one_is_refused_after_as_many_questions() {
    let boss = Person::operator("/lab");
    let below = |number: usize| format!("/lab{}", "/x".repeat(number + 1));
    for length in 1..12 {
        let people = chain(&boss, length, below);
        let expected = if length <= 5 { (Some(200), length) } else { (Some(403), 6) };
        assert_eq!(outcome_of_chain(&boss, &people.iter().collect::<Vec<_>>()), expected, "{length}");
    }
}

#[test]
fn one_certificate_of_a_chain_that_does_not_count_spoils_it() {
    let boss = Person::operator("/lab");
    let past = ValidityPeriod {
        not_before: UnixTime::from_secs(NOW_S - 1000),
        not_after: UnixTime::from_secs(NOW_S - 1),
    };
    let future = ValidityPeriod { not_before: UnixTime::from_secs(NOW_S + 500), ..validity() };
    for (why, validity) in [("expired", past), ("not valid yet", future)] {
        let group = boss.certifies_for("/lab/groups", validity);
        let middle = group.certifies("/lab/groups/a");
        let alice = middle.certifies("/lab/groups/a/alice");
        assert_eq!(outcome_of_chain(&boss, &[&group, &middle, &alice]).0, Some(403), "{why}");
    }
    for stray in ["/other/people", "/lab/people/alice/deeper"] {
        let stray = boss.certifies(stray);
        let alice = stray.certifies("/lab/people/alice");
        assert_eq!(outcome_of_chain(&boss, &[&stray, &alice]).0, Some(403), "for another prefix");
    }
}

#[test]
fn certificates_in_a_circle_of_three_are_asked_for_once_each() {
    let boss = Person::operator("/lab");
    let keys = [(); 3].map(|()| PrivateKey::generate(KeyKind::Ed25519).unwrap());
    let names = ["1", "2", "3"]
        .map(|id| names::key_name(&name("/lab/ring"), Component::generic(id.as_bytes())).unwrap());
    let ring: Vec<Person> = (0..3)
        .map(|of| {
            let by = (of + 1) % 3;
            let issue = Issue { issuer_id: Component::generic(b"ring"), version: 1, validity: validity() };
            let signer = Signer::new(keys[by].clone(), names[by].clone());
            let certificate = issue.certify(&names[of], &keys[of].public_key().unwrap(), &signer).unwrap();
            Person { signer: Signer::new(keys[of].clone(), certificate.name().to_name()), certificate }
        })
        .collect();
    assert_eq!(outcome_of_chain(&boss, &ring.iter().collect::<Vec<_>>()), (Some(403), 4));
}

#[test]
fn the_ports_of_one_address_have_one_share_of_what_may_wait() {
    let boss = Person::operator("/lab");
    let mut manager = manager_of(&[(&boss, &["localhop"])]);
    let from_port = |manager: &mut Manager, number: usize| {
        let id = FaceId(1000 + number as u32);
        let remote = format!("udp4://192.0.2.{}:{}", 10 + number / 100, 2000 + number);
        manager.node.faces.insert(id, face(id, &remote, "udp4://192.0.2.2:6363"));
        let key = name(&format!("/lab/k{number}/KEY/1"));
        let now_ms = manager.now.unix.as_millis();
        let info =
            SignatureInfoBuilder::new(packet::ndn::SignatureType::ED25519).key_name(&key).time_ms(now_ms);
        let builder = Command::RibRegister.interest(CommandScope::Localhop, &about("/a")).unwrap();
        let interest = builder.build_signed(&info, |_| vec![0; 64]).unwrap();
        code(manager.ask_from(id, &interest).as_ref())
    };
    manager.let_time_pass(Duration::from_millis(1));
    // As many ports as would fill all there is, each with one command.
    let waiting = (0..64).filter(|&number| from_port(&mut manager, number).is_none()).count();
    assert_eq!(waiting, 8);
    let alice = boss.certifies("/lab/alice");
    let interest = alice.asks(&mut manager, CommandScope::Localhop);
    assert!(manager.ask_from(NEIGHBOUR, &interest).is_none(), "somebody else's waits");
    let (now, data) = (manager.now, alice.certificate.data().clone());
    manager.management.handle_data(now, &mut manager.node, &data);
    assert_eq!(code(manager.next_data().as_ref()), Some(200));
}

#[test]
fn who_answers_with_a_forged_certificate_of_somebody_elses_key_refuses_himself_alone() {
    let boss = Person::operator("/lab");
    let alice = boss.certifies("/lab/alice");
    let impostor = Person::operator("/lab").certifies("/lab/alice");
    let mut manager = manager_of(&[(&boss, &["localhop"])]);
    const OTHER: FaceId = FaceId(777);
    manager.node.faces.insert(OTHER, face(OTHER, "udp4://192.0.2.7:6363", "udp4://192.0.2.2:6363"));
    // He is there first, so he is asked; Alice waits for the same certificate.
    let forged = impostor.asks(&mut manager, CommandScope::Localhop);
    assert!(manager.ask_from(OTHER, &forged).is_none());
    let asked = question(&mut manager).unwrap();
    assert_eq!(asked.next_hop, Some(OTHER));
    let command = alice.asks(&mut manager, CommandScope::Localhop);
    assert!(manager.ask_from(NEIGHBOUR, &command).is_none());
    assert!(question(&mut manager).is_none());
    let now = manager.now;
    let data = impostor.certificate.data().clone();
    manager.management.handle_data(now, &mut manager.node, &data);
    let refused = manager.next_data().unwrap();
    assert_eq!((code(Some(&refused)), refused.name()), (Some(403), forged.name()));
    let forgotten: Vec<_> = manager.node.forgotten.iter().map(|data| data.wire().clone()).collect();
    assert_eq!(forgotten, [data.wire().clone()], "the store must not answer with it");
    let asked = question(&mut manager).unwrap();
    assert_eq!(asked.next_hop, Some(NEIGHBOUR));
    let data = alice.certificate.data().clone();
    manager.management.handle_data(now, &mut manager.node, &data);
    let obeyed = manager.next_data().unwrap();
    assert_eq!((code(Some(&obeyed)), obeyed.name()), (Some(200), command.name()));
}
