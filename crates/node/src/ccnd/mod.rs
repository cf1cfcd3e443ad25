//! What clients of ccnd, the forwarder of CCNx 0.8, expect of one beside forwarding.
//!
//! They find out who it is by its key object, register prefixes and make faces by signed requests, and ask
//! for pings and a status page. All of that is an application behind an inner face, as NFD's management is;
//! [`Ccnd`] is the part of it that does no I/O, `service` the thread around it.
//!
//! Behaviour is that of ccnd 0.8.2 where clients can see it: which requests get no answer at all, the codes
//! and words of those that are refused, the lifetimes.

mod entries;
mod faces;
mod identity;
mod inheritance;
mod links;
mod registration;
mod registrations;
mod requester;
mod requests;
mod service;
mod status;
mod strategies;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use engine::{FaceId, FaceScope};
use packet::ccnx::management::{Verb, ccnd_key_prefix, ccnd_prefix};
use packet::ccnx::{ContentKind, InterestView, KeyLocator, SignedInfo, Ticks, markers, matches};
use packet::time::Instant;
use packet::{Component, Data, DecodeError, Dialect, Interest, Name, Now, UnixTime};
use trust::SignError;
use trust::ccnx::{CcnxSigner, ndnld_control_components};

use crate::control::{FaceSnapshot, NodeControl};
use crate::ndnld::{self, LinkRequest};
pub use identity::load_or_make as ccnx_signer;
pub(crate) use identity::load_or_make_key;
use links::Links;
use registrations::Registrations;
pub(crate) use requester::{Neighbours, Requester};
use requests::Answer;
pub(crate) use service::CcndService;
use status::Meters;

/// The dialect that ccnd's clients speak, and all of whose faces, routes and strategies they see.
const DIALECT: Dialect = Dialect::Ccnx;

/// The forwarder's services for clients of CCNx.
pub(crate) struct Ccnd {
    signer: CcnxSigner,
    /// Where it listens, for the status page.
    listens_at: Option<SocketAddr>,
    started: UnixTime,
    registrations: Registrations,
    links: BTreeMap<FaceId, LinkRequest>,
    /// The objects with its key, for this host and for the next.
    key_objects: [Data; 2],
    meters: Meters,
    counters: CcndCounters,
}

packet::counters! {
    /// What clients have asked for.
    struct CcndCounters {
        /// Requests carried out.
        done = "ccnx-requests-done",
        /// Requests refused in words.
        refused = "ccnx-requests-refused",
        /// Interests that got no answer.
        unanswered = "ccnx-unanswered",
        /// Pings answered.
        pings = "ccnx-pings",
        /// Pings of neighbours that were not, because neighbours had had their share of the time.
        pings_refused = "ccnx-pings-refused",
        /// Requests for the status page answered.
        pages = "ccnx-pages",
        /// Those of neighbours that were refused for the same reason.
        pages_refused = "ccnx-pages-refused",
    }
}

const CCNX: &[u8] = b"ccnx";
const PING: &[u8] = b"ping";
/// How long key objects count as fresh, in seconds.
const KEY_FRESHNESS: [u32; 2] = [600, 5];
/// How long answers to requests do.
const ANSWER_FRESHNESS: u32 = 10;
/// The same of a ping of nothing but the prefix, and of one with more behind it.
const PING_FRESHNESS: [u32; 2] = [60, 5];
/// The same of answers about links, as ndnld has it.
const LINK_FRESHNESS: u32 = 5;

impl Ccnd {
    /// The services of a node, which sign with `signer`.
    pub(crate) fn new(
        signer: CcnxSigner,
        listens_at: Option<SocketAddr>,
        max_registrations: usize,
        now: Now,
    ) -> Result<Self, SignError> {
        let object = |place, freshness| key_object(&signer, place, freshness, now);
        let [host, neighbours] = KEY_FRESHNESS;
        let key_objects = [object(markers::LOCALHOST, host)?, object(markers::NEIGHBORHOOD, neighbours)?];
        Ok(Ccnd {
            signer,
            listens_at,
            started: now.unix,
            registrations: Registrations::new(max_registrations),
            links: BTreeMap::new(),
            key_objects,
            meters: Meters::default(),
            counters: CcndCounters::default(),
        })
    }

    /// The digest of the key, by which clients address requests.
    pub(crate) fn id(&self) -> &[u8; 32] {
        self.signer.publisher()
    }

    /// What clients have asked for, each under a word of its own.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        self.counters.numbers().into()
    }

    /// The prefixes that must lead to its face.
    pub(crate) fn prefixes(&self) -> [Name; 5] {
        [
            short(ccnd_prefix(markers::LOCALHOST)),
            short(ccnd_prefix(markers::NEIGHBORHOOD)),
            name_of(&[CCNX, PING]),
            name_of(&[CCNX, self.id()]),
            name_of(&ndnld_control_components(self.id())),
        ]
    }

    /// Whether an Interest costs a signature, whoever asks.
    pub(crate) fn is_ping(&self, interest: &Interest) -> bool {
        interest.ccnx().is_some_and(|view| {
            let is_below = |prefix: &[&[u8]]| {
                let mut components = view.name().components();
                prefix.iter().all(|expected| components.next() == Some(*expected))
            };
            view.answer_origin_kind().generated()
                && (is_below(&[CCNX, PING]) || is_below(&[CCNX, self.id(), PING]))
        })
    }

    /// A ping of a neighbour gets no answer, because neighbours have had their share of the time.
    pub(crate) fn refuse_ping(&mut self) {
        self.counters.pings_refused += 1;
    }

    /// Answers an Interest; `None` for no answer. `application` is the face of the application on this host
    /// that asks; nobody else may have anything done.
    pub(crate) fn handle_interest(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        interest: &Interest,
        application: Option<FaceId>,
    ) -> Option<Data> {
        let answer = interest.ccnx().and_then(|view| self.answer(now, node, &view, application));
        self.counters.unanswered += u64::from(answer.is_none());
        answer
    }

    fn answer(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        interest: &InterestView<'_>,
        application: Option<FaceId>,
    ) -> Option<Data> {
        let components: Vec<&[u8]> = interest.name().components().collect();
        let wants_new = interest.answer_origin_kind().generated();
        match components.as_slice() {
            [CCNX, PING, rest @ ..] if wants_new => self.pong(now, interest, rest.len()),
            [CCNX, id, PING, rest @ ..] if *id == self.id() && wants_new => {
                self.pong(now, interest, rest.len())
            }
            [CCNX, id, verb, object] if *id == self.id() && wants_new => {
                let verb = Verb::of(verb)?;
                let answer = self.carry_out(now, node, verb, object, application?)?;
                self.signed_answer(now, interest, answer)
            }
            [prefix @ .., verb, object] if prefix == ndnld_control_components(self.id()) && wants_new => {
                friend(node, application?)?;
                let links = &mut Links { made: &mut self.links, node };
                let content = ndnld::answer(verb, object, usize::MAX, links)?;
                self.counters.done += 1;
                self.signed(now, interest, &content, None, LINK_FRESHNESS)
            }
            _ => self.key_objects.iter().find(|object| answers(interest, object)).cloned(),
        }
    }

    fn pong(&mut self, now: Now, interest: &InterestView<'_>, more: usize) -> Option<Data> {
        self.counters.pings += 1;
        let [alone, with_more] = PING_FRESHNESS;
        let freshness = if more == 0 { alone } else { with_more };
        let say = |info| SignedInfo { freshness_seconds: Some(freshness), ..info };
        told(self.signer.sign_data(interest.name(), &[], ticks(now), say))
    }

    fn signed_answer(&mut self, now: Now, interest: &InterestView<'_>, answer: Answer) -> Option<Data> {
        let (content, kind) = match answer {
            Answer::Done(content) => {
                self.counters.done += 1;
                (content, None)
            }
            Answer::Refused(refusal) => {
                self.counters.refused += 1;
                (refusal.encode(), Some(ContentKind::Nack))
            }
        };
        self.signed(now, interest, &content, kind, ANSWER_FRESHNESS)
    }

    fn signed(
        &self,
        now: Now,
        interest: &InterestView<'_>,
        content: &[u8],
        kind: Option<ContentKind>,
        freshness: u32,
    ) -> Option<Data> {
        let say = |info| SignedInfo { freshness_seconds: Some(freshness), kind, ..info };
        told(self.signer.sign_data(interest.name(), content, ticks(now), say))
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.registrations.next_deadline()
    }

    /// Registrations end whose time has come, and those of faces that are gone.
    pub(crate) fn handle_timeout(&mut self, now: Instant, node: &mut dyn NodeControl) {
        self.registrations.handle_timeout(now, node);
    }
}

/// The face that a request came by, if it is one of an application on this host, which may ask for anything.
fn friend(node: &mut dyn NodeControl, from: FaceId) -> Option<FaceSnapshot> {
    node.face(from).filter(|face| face.scope == FaceScope::Local && face.dialect == DIALECT)
}

fn answers(interest: &InterestView<'_>, object: &Data) -> bool {
    object.ccnx().is_some_and(|object| matches(interest, &object))
}

/// The object with the key: `<place>/%C1.M.SRV/ccnd/KEY/%C1.M.K%00<id>/<version>/%00`.
fn key_object(signer: &CcnxSigner, place: &[u8], freshness: u32, now: Now) -> Result<Data, SignError> {
    let digest = [markers::KEY_DIGEST, signer.publisher()].concat();
    let version = markers::version(ticks(now));
    let last = markers::segment(0);
    let name_of = || {
        let key_name = ccnd_key_prefix(place)?.with(Component::generic(&digest))?;
        let key_name = key_name.with(Component::generic(&version))?;
        let name = key_name.with(Component::generic(&last))?;
        Ok((key_name, name))
    };
    let (key_name, name) = name_of().map_err(|error: DecodeError| SignError::Encode(error.into()))?;
    signer.sign_data(&name, signer.spki(), ticks(now), |info| SignedInfo {
        kind: Some(ContentKind::Key),
        freshness_seconds: Some(freshness),
        final_block_id: Some(&last),
        key_locator: Some(KeyLocator::KeyName { name: (&key_name).into(), publisher: None }),
        ..info
    })
}

fn name_of(components: &[&[u8]]) -> Name {
    short(Name::from_components(components.iter().map(|component| Component::generic(component))))
}

/// A name of this service, none of which is too long.
fn short(name: Result<Name, DecodeError>) -> Name {
    name.unwrap_or_else(|_| Name::root())
}

fn ticks(now: Now) -> Ticks {
    now.unix.into()
}

/// An answer, or a line in the log that there is none.
fn told(signed: Result<Data, SignError>) -> Option<Data> {
    signed.inspect_err(|error| tracing::warn!(%error, "an answer to a client of CCNx is missing")).ok()
}
