//! What clients of ccnd and ndnld ask for: faces, registrations, strategies and links, by applications and by
//! strangers, signed or not. A stranger changes nothing, answers are legal, registrations end in time, and no
//! route is left of a face that is gone.

#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use cairn_fuzz::busy_node::AnyName;
use cairn_fuzz::plain_node::PlainNode;
use engine::FaceId;
use node::fuzzing::Ccnd;
use packet::ccnx::management::{
    FaceInstance, ForwardingEntry, ForwardingFlags, IpProtocol, NdnldConnection, StrategySelection,
};
use packet::ccnx::{InterestFields, Ticks, matches};
use packet::time::{Duration, Instant};
use packet::{Buffer, Component, Dialect, Interest, Name, Now, UnixTime};
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey};

#[derive(Debug, Arbitrary)]
struct Request {
    by_stranger: bool,
    verb: u8,
    /// What the request itself says, if that is another verb.
    says: Option<u8>,
    content: Content,
    /// One byte of the signed object is changed.
    change: Option<(u16, u8)>,
    /// Then so much time passes.
    millis: u16,
}

#[derive(Debug, Arbitrary)]
enum Content {
    Face { face: Option<u8>, protocol: Option<u8>, host: Option<u8>, port: Option<u16>, wrong_id: bool },
    Entry { prefix: AnyName, face: Option<u8>, flags: Option<u8>, seconds: Option<u32>, wrong_id: bool },
    Strategy { prefix: AnyName, strategy: u8, wrong_id: bool },
    Link { face: Option<u8>, protocol: u8, host: u8, retries: Option<u32> },
    Bytes(Vec<u8>),
}

const VERBS: [&str; 11] = [
    "newface",
    "destroyface",
    "prefixreg",
    "selfreg",
    "unreg",
    "setstrategy",
    "getstrategy",
    "removestrategy",
    "connect",
    "disconnect",
    "listconnections",
];
const HOSTS: [&str; 5] = ["192.0.2.1", "192.0.2.7", "2001:db8::1", "224.0.23.170", "not an address"];

fn one_of<'a>(words: &[&'a str], which: u8) -> &'a str {
    words[usize::from(which) % words.len()]
}

/// The application's face, the neighbour's, those that are made, and one that is not there.
fn face_number(which: u8) -> u32 {
    300 + u32::from(which % 8)
}

impl Content {
    fn encode(&self, verb: &str, id: &[u8; 32]) -> Vec<u8> {
        let id = |wrong: bool| Some(if wrong { &[7; 32] } else { id });
        match self {
            Content::Face { face, protocol, host, port, wrong_id } => FaceInstance {
                action: Some(verb),
                ccnd_id: id(*wrong_id),
                face_id: face.map(face_number),
                ip_protocol: protocol.map(|number| IpProtocol(if number % 2 == 0 { 17 } else { number })),
                host: host.map(|which| one_of(&HOSTS, which)),
                port: *port,
                ..FaceInstance::default()
            }
            .encode(),
            Content::Entry { prefix, face, flags, seconds, wrong_id } => {
                let prefix = prefix.to_name(Dialect::Ccnx);
                let entry = ForwardingEntry {
                    action: Some(verb),
                    ccnd_id: id(*wrong_id),
                    face_id: face.map(face_number),
                    flags: flags.map(|bits| ForwardingFlags(bits.into())),
                    freshness_seconds: *seconds,
                    ..ForwardingEntry::new(&prefix)
                };
                entry.encode().expect("a short name")
            }
            Content::Strategy { prefix, strategy, wrong_id } => {
                let prefix = prefix.to_name(Dialect::Ccnx);
                let strategies = ["default", "parallel", "loadsharing", "faceset", "none of these"];
                let selection = StrategySelection {
                    action: Some(verb),
                    ccnd_id: id(*wrong_id),
                    strategy: Some(one_of(&strategies, *strategy)),
                    ..StrategySelection::new(&prefix)
                };
                selection.encode().expect("a short name")
            }
            Content::Link { face, protocol, host, retries } => NdnldConnection {
                action: Some(verb),
                face_id: face.map(face_number),
                lower_protocol: Some(one_of(&["udp", "ether", "tcp"], *protocol)),
                host: Some(one_of(&HOSTS, *host)),
                retransmit_count: *retries,
                ..NdnldConnection::default()
            }
            .encode(),
            Content::Bytes(bytes) => bytes.clone(),
        }
    }
}

fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::generate(KeyKind::Rsa).expect("a key"))
}

const APPLICATION: FaceId = FaceId(300);

libfuzzer_sys::fuzz_target!(|requests: Vec<Request>| {
    let client = CcnxSigner::new(key().clone()).expect("an RSA key");
    let mut now = Now { instant: Instant::ZERO, unix: UnixTime::from_millis(1_600_000_000_000) };
    let mut ccnd = Ccnd::new(key().clone(), now);
    let id = *ccnd.id();
    let mut node = PlainNode::new();
    for request in requests.iter().take(32) {
        let verb = one_of(&VERBS, request.verb);
        let content = request.content.encode(request.says.map_or(verb, |says| one_of(&VERBS, says)), &id);
        let ticks = Ticks::from_unix(now.unix.as_secs(), 0);
        let Ok(mut object) = client.sign(&Name::root(), &content, ticks, |info| info) else { continue };
        if let Some((at, to)) = request.change {
            let place = usize::from(at) % object.len();
            object[place] = to;
        }
        let is_of_link = matches!(verb, "connect" | "disconnect" | "listconnections");
        let path: &[&[u8]] = match is_of_link {
            true => &[b"ccnx", b"ndnld", &id, b"control", verb.as_bytes(), &object],
            false => &[b"ccnx", &id, verb.as_bytes(), &object],
        };
        let name = Name::from_components(path.iter().map(|part| Component::generic(part)));
        let wire = name.ok().and_then(|name| InterestFields::default().encode(&name).ok());
        let Some(interest) = wire.and_then(|wire| Interest::decode_ccnx(Buffer::from(wire)).ok()) else {
            continue;
        };
        let before = (node.faces.len(), node.hops.clone(), node.rules.clone());
        let application = (!request.by_stranger).then_some(APPLICATION);
        let answer = ccnd.handle_interest(now, &mut node, &interest, application);
        if request.by_stranger {
            assert!(answer.is_none(), "a stranger has been answered");
            assert_eq!(
                (node.faces.len(), node.hops.clone(), node.rules.clone()),
                before,
                "a stranger has changed something"
            );
        }
        if let Some(answer) = answer {
            let (asked, given) = (interest.ccnx().expect("CCNx"), answer.ccnx().expect("CCNx"));
            assert!(matches(&asked, &given), "the answer is to something else");
            trust::ccnx::verify_by_own_key(&given).expect("answers are signed");
        }
        let passed = Duration::from_millis(u64::from(request.millis) * 100);
        now.instant += passed;
        now.unix = now.unix.after(passed);
        let due = ccnd.wait(now.instant, &mut node);
        assert!(due > now.instant, "a deadline stays in the past");
        let faces = &node.faces;
        assert!(node.hops.keys().all(|(_, face)| faces.contains_key(face)), "a route of a face that is gone");
    }
    // No lifetime is longer than what ccnd grants.
    now.instant += Duration::from_secs(1 << 32);
    ccnd.wait(now.instant, &mut node);
    assert!(node.hops.is_empty(), "{} registrations are left", node.hops.len());
    assert!(node.rules.is_empty(), "{:?} are left", node.rules);
});
