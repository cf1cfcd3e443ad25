//! Handing an object of CCNx over to a repository: start-write, then the question whether each of its packets
//! is stored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use client::{AskError, Client};
use flow::source::{Reply, Source, SourceError};
use packet::ccnx::management::RepositoryInfo;
use packet::ccnx::{InterestFields, Scope, markers};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Component, Interest, Name};
use repo::ccnr::{checked_start_write, start_write};

use crate::tool::ToolError;
use crate::tool::interrupt::Interrupt;

/// How long the repository may take to answer a question, and how often it is asked.
const TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPTS: u32 = 3;
/// How long it may ask for nothing new before that is a failure: longer than its own tries take.
const MAX_IDLE: Duration = Duration::from_secs(30);
/// Time between two questions about a packet that is not stored yet, and how many there are.
const STORED_INTERVAL: Duration = Duration::from_millis(100);
const CHECKS: u32 = 100;
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Bytes of a nonce.
const NONCE_BYTES: usize = 8;

/// The digests of the packets that were sent, by their numbers.
#[derive(Clone, Debug, Default)]
struct Sent(Arc<Mutex<BTreeMap<u64, [u8; 32]>>>);

impl Sent {
    fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    fn digest(&self, segment: u64) -> Option<[u8; 32]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&segment).copied()
    }
}

/// A source whose packets are noted.
struct Noted<S> {
    source: S,
    sent: Sent,
}

impl<S: Source> Source for Noted<S> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let reply = self.source.answer(interest)?;
        if let Reply::Data(data) = &reply
            && let Some(segment) = data.name().last().and_then(|last| markers::parse_segment(last.value))
        {
            let mut sent = self.sent.0.lock().unwrap_or_else(PoisonError::into_inner);
            sent.entry(segment).or_insert_with(|| data.implicit_digest());
        }
        Ok(reply)
    }
}

/// An object of CCNx on its way to a repository.
pub(in crate::commands) struct CcnxInsertion<'a> {
    /// The object with its version.
    pub(in crate::commands) object: Name,
    pub(in crate::commands) last_segment: u64,
    pub(in crate::commands) interrupt: &'a Interrupt,
}

impl CcnxInsertion<'_> {
    /// Waits until the object, which `source` has, is stored; gives how many packets are.
    pub(in crate::commands) fn run(
        &self,
        client: &mut Client,
        source: impl Source + Send + 'static,
    ) -> Result<u64, ToolError> {
        let (sent, segments) = (Sent::default(), self.last_segment + 1);
        client.attach(&self.object, Noted { source, sent: sent.clone() });
        let mut random = Random::from_seed(client::Clock::seed());
        let scope = self.begin(client, &mut random)?;
        let (mut count, mut since) = (0, client.now());
        while sent.count() < segments {
            self.turn(client, client.now() + CHECK_INTERVAL)?;
            if sent.count() > count {
                (count, since) = (sent.count(), client.now());
            } else if since + MAX_IDLE <= client.now() {
                let why = format!("the repository has asked for {count} of {segments} packets and no more");
                return Err(ToolError::other(why));
            }
        }
        for segment in 0..segments {
            // All have been sent.
            let digest = sent.digest(segment).unwrap_or_default();
            let packet = self.object.with(Component::generic(&markers::segment(segment)))?;
            self.wait_until_stored(client, &mut random, (&packet, &digest), scope)?;
        }
        Ok(segments)
    }

    /// Has a repository on this host begin, if there is one that says so, and otherwise one anywhere. Gives
    /// how far questions go.
    fn begin(&self, client: &mut Client, random: &mut Random) -> Result<Option<Scope>, ToolError> {
        for scope in [Some(Scope::HOST), None] {
            for _ in 0..ATTEMPTS {
                let name = start_write(&self.object, &nonce(random))?;
                if self.ask(client, name, scope)?.is_some() {
                    return Ok(scope);
                }
            }
        }
        Err(ToolError::other("no repository answers, or none takes objects of this name"))
    }

    fn wait_until_stored(
        &self,
        client: &mut Client,
        random: &mut Random,
        (packet, digest): (&Name, &[u8; 32]),
        scope: Option<Scope>,
    ) -> Result<(), ToolError> {
        for _ in 0..CHECKS {
            let name = checked_start_write(packet, digest, &nonce(random))?;
            if self.ask(client, name, scope)? == Some(true) {
                return Ok(());
            }
            self.turn(client, client.now() + STORED_INTERVAL)?;
        }
        Err(ToolError::other("the repository does not say that all of it is stored"))
    }

    /// Asks the repository whether what it is asked about is stored; `None` without an answer.
    fn ask(&self, client: &mut Client, name: Name, scope: Option<Scope>) -> Result<Option<bool>, ToolError> {
        if self.interrupt.came() {
            return Err(interrupted());
        }
        let fields = InterestFields { scope, ..InterestFields::default() };
        match client.ask(&(name, fields), TIMEOUT) {
            Ok(data) => {
                let info = RepositoryInfo::decode(data.content()).map_err(ToolError::other)?;
                Ok(Some(info.kind == "DATA"))
            }
            Err(AskError::Timeout(_)) => Ok(None),
            Err(error) => Err(ToolError::other(error)),
        }
    }

    /// Answers what comes until then.
    fn turn(&self, client: &mut Client, until: Instant) -> Result<(), ToolError> {
        client.run(Some(until))?;
        if self.interrupt.came() { Err(interrupted()) } else { Ok(()) }
    }
}

fn nonce(random: &mut Random) -> [u8; NONCE_BYTES] {
    random.next_u64().to_be_bytes()
}

fn interrupted() -> ToolError {
    ToolError::other("interrupted before all was stored")
}
