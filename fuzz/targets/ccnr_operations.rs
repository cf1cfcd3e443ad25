//! A repository of CCNx: commands of applications and of strangers, Data that was asked for and other Data,
//! and a store that answers late, refuses or has nothing. Fetches and questions stay within their limits, a
//! stranger has nothing stored, nobody elsewhere is asked, and all ends when nothing more comes.

#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use packet::ccnx::{ContentObjectFields, InterestFields, Scope, SignedInfo, Ticks, markers, uri};
use packet::time::{Duration, Instant};
use packet::{Component, Data, EncodeError, Interest, Name, Now, UnixTime};
use repo::ccnr::{
    Authority, Ccnr, CcnrConfig, Effect, GLOBAL_PREFIX, InterestOrigin, StoreAnswer, StoreQuery,
};
use repo::{Children, Rejection};
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey};

#[derive(Debug, Arbitrary)]
enum Operation {
    StartWrite {
        object: u8,
        by: By,
        scope: Option<u8>,
    },
    Checked {
        object: u8,
        segment: Option<u8>,
        digest: u8,
        by: By,
    },
    List {
        prefix: u8,
        by_key: bool,
    },
    Page {
        prefix: u8,
        segment: u8,
    },
    Policy {
        version: u8,
        namespaces: Vec<u8>,
    },
    /// Anything at all.
    Bytes(Vec<u8>),
    Data {
        object: u8,
        segment: Option<u8>,
        last: Option<u8>,
    },
    /// The oldest Interest of the repository is answered.
    Answer {
        last: Option<u8>,
        content: Vec<u8>,
    },
    /// The store says something to its oldest question.
    Told {
        is_there: bool,
        children: u8,
        changes: u8,
    },
    Stored {
        is_refused: bool,
    },
    Wait {
        millis: u16,
    },
}

#[derive(Clone, Copy, Debug, Arbitrary)]
enum By {
    Host,
    Elsewhere,
    Forwarder,
}

impl From<By> for InterestOrigin {
    fn from(by: By) -> InterestOrigin {
        match by {
            By::Host => InterestOrigin::Host,
            By::Elsewhere => InterestOrigin::Elsewhere,
            By::Forwarder => InterestOrigin::Forwarder,
        }
    }
}

fn signer() -> CcnxSigner {
    static SIGNER: OnceLock<CcnxSigner> = OnceLock::new();
    let make = || CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).expect("a key")).expect("an RSA key");
    SIGNER.get_or_init(make).clone()
}

struct World {
    ccnr: Ccnr,
    now: Instant,
    interests: Vec<Interest>,
    questions: Vec<(u64, StoreQuery)>,
    storing: Vec<u64>,
}

fn name(parts: &[&[u8]]) -> Name {
    Name::from_components(parts.iter().map(|part| Component::generic(part))).expect("a short name")
}

fn interest(name: &Name, fields: InterestFields<'_>) -> Interest {
    Interest::decode_ccnx(fields.encode(name).expect("a legal Interest").into()).expect("what was written")
}

fn data(name: &Name, content: &[u8], last: Option<u8>) -> Data {
    let last = last.map(|last| markers::segment(last.into()));
    let info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
    let signed_info = SignedInfo { final_block_id: last.as_deref(), ..info };
    let object = ContentObjectFields { name: name.into(), signed_info, content };
    let wire = object.encode(None, |_| Ok::<_, EncodeError>([0; 16])).expect("a short object");
    Data::decode_ccnx(wire.into()).expect("what was written")
}

fn object(number: u8) -> Name {
    name(&[&b"fgh"[usize::from(number % 3)..][..1], &[number]])
}

impl World {
    fn now(&self) -> Now {
        let millis = self.now.saturating_since(Instant::ZERO).as_millis();
        Now { instant: self.now, unix: UnixTime::from_millis(1_700_000_000_000 + millis) }
    }

    fn drain(&mut self) {
        while let Some(effect) = self.ccnr.poll_effect() {
            match effect {
                Effect::Send(interest) => {
                    let scope = interest.ccnx().expect("of CCNx").scope();
                    assert_eq!(scope, Some(Scope::HOST), "nobody elsewhere is asked");
                    self.interests.push(interest);
                }
                Effect::Answer(data) => assert!(data.ccnx().is_some()),
                Effect::Store { fetch, .. } => self.storing.push(fetch),
                Effect::Ask { number, question } => self.questions.push((number, question)),
                Effect::Namespaces(change) => {
                    assert!(change.added.len() <= change.count && change.count <= 64)
                }
                Effect::Fetched { .. } => {}
            }
        }
        assert!(self.ccnr.fetches() <= 16 && self.questions.len() <= 64);
    }

    fn ask(&mut self, interest: &Interest, origin: InterestOrigin) {
        let fetches = self.ccnr.fetches();
        self.ccnr.handle_interest(self.now(), interest, origin);
        if origin == InterestOrigin::Elsewhere {
            assert!(self.ccnr.fetches() <= fetches, "a stranger has nothing stored");
        }
        self.drain();
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::StartWrite { object: number, by, scope } => {
                let scope = scope.and_then(|scope| Scope::new(u64::from(scope % 4)));
                let name = repo::ccnr::start_write(&object(number), &[number]).expect("a short name");
                self.ask(&interest(&name, InterestFields { scope, ..Default::default() }), by.into());
            }
            Operation::Checked { object: number, segment, digest, by } => {
                let packet = packet(number, segment);
                let digest = match digest % 2 {
                    0 => data(&packet, b"x", None).implicit_digest(),
                    _ => [digest; 32],
                };
                let name = repo::ccnr::checked_start_write(&packet, &digest, b"n").expect("a short name");
                self.ask(
                    &interest(&name, InterestFields { scope: Some(Scope::HOST), ..Default::default() }),
                    by.into(),
                );
            }
            Operation::List { prefix, by_key } => {
                let key = [markers::KEY_DIGEST, signer().publisher()].concat();
                let mut asked = object(prefix).with(Component::generic(markers::ENUMERATE)).expect("short");
                if by_key {
                    asked = asked.with(Component::generic(&key)).expect("short");
                }
                self.ask(&interest(&asked, InterestFields::default()), InterestOrigin::Elsewhere);
            }
            Operation::Page { prefix, segment } => self.ask_for_page(prefix, segment),
            Operation::Policy { version, namespaces } => self.store_policy(version, &namespaces),
            Operation::Bytes(bytes) => {
                if let Ok(interest) = Interest::decode_ccnx(bytes.clone().into()) {
                    self.ask(&interest, InterestOrigin::Elsewhere);
                }
                if let Ok(data) = Data::decode_ccnx(bytes.into()) {
                    self.ccnr.handle_data(self.now(), &data);
                    self.drain();
                }
            }
            Operation::Data { object: number, segment, last } => {
                self.ccnr.handle_data(self.now(), &data(&packet(number, segment), b"x", last));
                self.drain();
            }
            Operation::Answer { last, content } => {
                if self.interests.is_empty() {
                    return;
                }
                let asked = self.interests.remove(0);
                let content = content.get(..content.len().min(1000)).unwrap_or_default();
                let data = data(&asked.name().to_name(), content, last);
                self.ccnr.handle_data(self.now(), &data);
                self.drain();
            }
            Operation::Told { is_there, children, changes } => self.tell(is_there, children, changes),
            Operation::Stored { is_refused } => {
                if let Some(fetch) = self.storing.pop() {
                    let result = if is_refused { Err(Rejection::DiskFull) } else { Ok(()) };
                    self.ccnr.handle_stored(self.now(), fetch, result);
                    self.drain();
                }
            }
            Operation::Wait { millis } => {
                self.now += Duration::from_millis(millis.into());
                self.ccnr.handle_timeout(self.now());
                self.drain();
            }
        }
    }

    fn ask_for_page(&mut self, prefix: u8, segment: u8) {
        let key = [markers::KEY_DIGEST, signer().publisher()].concat();
        let version = markers::version(self.now().unix.into());
        let parts = [markers::ENUMERATE, &key, &version, &markers::segment(segment.into())];
        let add = |name: Name, part: &[u8]| name.with(Component::generic(part)).expect("short");
        let asked = parts.into_iter().fold(object(prefix), add);
        self.ask(&interest(&asked, InterestFields::default()), InterestOrigin::Elsewhere);
    }

    fn tell(&mut self, is_there: bool, children: u8, changes: u8) {
        if self.questions.is_empty() {
            return;
        }
        let (number, question) = self.questions.remove(0);
        let answer = match question {
            StoreQuery::Packet(interest) => {
                StoreAnswer::Packet(is_there.then(|| data(&interest.name().to_name(), b"x", None)))
            }
            StoreQuery::Children(_) => StoreAnswer::Children(Children {
                components: (0..children).map(|child| vec![child; 200]).collect(),
                is_cut: is_there,
                changes: changes.into(),
            }),
        };
        self.ccnr.handle_answer(self.now(), number, answer);
        self.drain();
    }

    /// A client hands over a policy, which may make sense.
    fn store_policy(&mut self, version: u8, namespaces: &[u8]) {
        let place: Name = uri::parse(&format!("{GLOBAL_PREFIX}/data/policy.xml")).expect("a name");
        let version = markers::version(Ticks::from_unix(1_700_000_000 + u64::from(version), 0));
        let object = place.with(Component::generic(&version)).expect("short");
        let name = repo::ccnr::start_write(&object, b"p").expect("short");
        self.ask(
            &interest(&name, InterestFields { scope: Some(Scope::HOST), ..Default::default() }),
            InterestOrigin::Host,
        );
        let uris: Vec<String> = namespaces.iter().map(|byte| format!("ccnx:/%{byte:02X}")).collect();
        let policy = packet::ccnx::management::RepositoryPolicy {
            version: "1.5",
            local_name: "Repository",
            global_prefix: GLOBAL_PREFIX,
            namespaces: uris.iter().map(String::as_str).take(200).collect(),
        };
        let first = object.with(Component::generic(&markers::segment(0))).expect("short");
        let object = data(&first, &policy.encode(), Some(0));
        self.ccnr.handle_data(self.now(), &object);
        self.drain();
        while let Some(fetch) = self.storing.pop() {
            self.ccnr.handle_stored(self.now(), fetch, Ok(()));
            self.drain();
        }
        while let Some((number, question)) = self.questions.pop() {
            let answer = match question {
                StoreQuery::Packet(_) => StoreAnswer::Packet(Some(object.clone())),
                StoreQuery::Children(_) => StoreAnswer::Children(Children::default()),
            };
            self.ccnr.handle_answer(self.now(), number, answer);
            self.drain();
        }
    }
}

fn packet(number: u8, segment: Option<u8>) -> Name {
    let last = segment.map_or_else(|| vec![7], |segment| markers::segment(segment.into()));
    object(number).with(Component::generic(&last)).expect("a short name")
}

libfuzzer_sys::fuzz_target!(|operations: Vec<Operation>| {
    let namespaces = vec![name(&[b"f"]), name(&[b"g"])];
    let global_prefix = uri::parse(GLOBAL_PREFIX).expect("a name");
    let config = CcnrConfig { global_prefix, namespaces, authority: Authority::Host };
    let start = Instant::from_secs(1);
    let now = Now { instant: start, unix: UnixTime::from_millis(1_700_000_000_000) };
    let ccnr = Ccnr::new(now, signer(), config).expect("short names");
    let (interests, questions, storing) = (Vec::new(), Vec::new(), Vec::new());
    let mut world = World { ccnr, now: start, interests, questions, storing };
    world.drain();
    for operation in operations.into_iter().take(200) {
        world.apply(operation);
    }
    // Nothing more comes: what waits for the store is answered, and every fetch ends.
    while !world.questions.is_empty() {
        world.tell(false, 0, 0);
    }
    for _ in 0..1000 {
        while let Some(fetch) = world.storing.pop() {
            world.ccnr.handle_stored(world.now(), fetch, Ok(()));
            world.drain();
        }
        if world.ccnr.next_deadline() == Instant::NEVER {
            break;
        }
        world.now = world.now.max(world.ccnr.next_deadline());
        world.ccnr.handle_timeout(world.now());
        world.drain();
    }
    assert_eq!((world.ccnr.fetches(), world.ccnr.next_deadline()), (0, Instant::NEVER));
});
