//! Commands by keys that an operator's key has certified, directly or by way of others: they wait until the
//! certificates between have been fetched.
//!
//! A certificate is asked for first where the command came from, because who signs with a key usually has its
//! certificate, and may not be reachable yet by any route; after that by the routes. Only keys under the name
//! of an operator's identity are looked into, so that a stranger can make the node ask for nothing but names
//! of its operators, and so many at a time.
//!
//! Whoever gives a command in the name of somebody else's key is asked for its certificate, and may answer
//! with a forged one. That is nothing to the owner of the key whose command waits for the same: it is looked
//! into once more, and its own face is asked.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use engine::FaceId;
use management::{Command, CommandScope};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, NackReason, Name, NameRef, Now};
use trust::certificate::names::identity_of;
use trust::policy::Policy;
use trust::validator::{CertificateFetchError, Subject, ValidationError, ValidationId};
use trust::{Certificate, Revocations, Validator, ValidatorLimits};

use super::RevocationList;
use super::keys::{MODULES, Privileges, word_of};
use super::rib::Holder;
use crate::control::OutgoingInterest;

/// Commands that may wait, and how many of them from one application, or one address of neighbours.
const MAX_WAITING: usize = 64;
const MAX_WAITING_PER_HOLDER: usize = 8;
/// How often a command is looked into once more because of what others have answered: as often as others can
/// be before it.
const MAX_RENEWALS: u32 = MAX_WAITING_PER_HOLDER as u32;
/// How long a certificate is waited for, and how often it is asked for: a command itself waits four seconds.
const FETCH_LIFETIME: Duration = Duration::from_millis(900);
const FETCH_ATTEMPTS: u32 = 3;
/// Certificates between a key and an operator's.
const MAX_DEPTH: usize = 5;

/// A command that waits.
#[derive(Clone, Debug)]
pub(super) struct PendingCommand {
    pub(super) command: Command,
    pub(super) scope: CommandScope,
    pub(super) interest: Interest,
    pub(super) from: FaceId,
    /// Whose share it takes up.
    pub(super) holder: Holder,
    /// The key that has signed it.
    pub(super) key: Name,
    pub(super) renewals: u32,
}

impl PendingCommand {
    /// Whether it takes up the share of `other`, too.
    fn shares_with(&self, other: &PendingCommand) -> bool {
        self.from == other.from || self.holder == other.holder && self.holder != Holder::Host
    }
}

/// A certificate that was asked for.
#[derive(Debug)]
struct Fetch {
    attempts: u32,
    deadline: Instant,
    /// Where the command came from that needs it.
    from: FaceId,
}

/// What one word of privilege may be passed on by, and how far that has been looked into.
#[derive(Debug)]
struct Branch {
    validator: Validator,
    pending: BTreeMap<ValidationId, PendingCommand>,
    fetches: BTreeMap<Name, Fetch>,
}

/// Follows certificates from keys that give commands up to those of operators.
#[derive(Default)]
pub struct Delegation {
    /// By the word for what may be done, because each operator passes on what is his.
    branches: BTreeMap<&'static str, Branch>,
    revocations: Arc<RevocationList>,
    /// Those that the validators know.
    revoked: Arc<Revocations>,
    /// The Data that came last, as many as may be asked for at once.
    arrived: VecDeque<Data>,
    out: Out,
}

/// What is to be done.
#[derive(Default)]
struct Out {
    questions: VecDeque<OutgoingInterest>,
    concluded: VecDeque<(PendingCommand, Result<Certificate, ValidationError>)>,
    /// Data among those that came that are no certificates of the keys they name.
    bad: VecDeque<Data>,
}

impl fmt::Debug for Delegation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delegation").field("branches", &self.branches).finish_non_exhaustive()
    }
}

impl Delegation {
    /// Keys certified by these operators may do what the operators may.
    pub fn new(operators: &[(Certificate, Privileges)], seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        let limits = ValidatorLimits {
            pending: MAX_WAITING,
            depth: MAX_DEPTH,
            fetch_attempts: FETCH_ATTEMPTS,
            fetch_lifetime: FETCH_LIFETIME,
            ..ValidatorLimits::default()
        };
        let branch = |word: &'static str| {
            let anchors = operators.iter().filter(|(_, privileges)| privileges.include(word));
            let anchors: Vec<_> = anchors.map(|(certificate, _)| certificate.clone()).collect();
            let seeded = Random::from_seed(random.next_u64());
            let validator = Validator::new(Policy::Hierarchical, anchors, limits, seeded);
            let branch = Branch { validator, pending: BTreeMap::new(), fetches: BTreeMap::new() };
            (!branch.validator.anchors().is_empty()).then_some((word, branch))
        };
        Delegation { branches: MODULES.into_iter().filter_map(branch).collect(), ..Delegation::default() }
    }

    /// The same, but no certificate counts that these records revoke.
    #[must_use]
    pub fn with_revocations(self, revocations: Arc<RevocationList>) -> Self {
        Delegation { revocations, ..self }
    }

    fn look_at_revocations(&mut self) {
        let current = self.revocations.current();
        if !Arc::ptr_eq(&current, &self.revoked) {
            for branch in self.branches.values_mut() {
                branch.validator.set_revocations(Arc::clone(&current));
            }
            self.revoked = current;
        }
    }

    /// Whether `key` may have been certified by somebody who may give such commands.
    pub(super) fn concerns(&self, command: Command, scope: CommandScope, key: NameRef<'_>) -> bool {
        let Some(branch) = self.branches.get(word_of(command, scope)) else { return false };
        let Some(identity) = identity_of(key) else { return false };
        branch.validator.anchors().iter().any(|anchor| anchor.identity().is_prefix_of(identity))
    }

    /// Lets a command wait until it is known whether its key is an operator's delegate's; false if there is
    /// no room.
    pub(super) fn await_certificate(&mut self, now: Now, pending: PendingCommand) -> bool {
        self.look_at_revocations();
        let waits =
            |branch: &Branch| branch.pending.values().filter(|other| other.shares_with(&pending)).count();
        if self.branches.values().map(waits).sum::<usize>() >= MAX_WAITING_PER_HOLDER {
            return false;
        }
        let Some(branch) = self.branches.get_mut(word_of(pending.command, pending.scope)) else {
            return false;
        };
        let from = pending.from;
        branch.look_into(now, pending, &mut self.out);
        branch.drain(now, from, &self.arrived, &mut self.out);
        true
    }

    /// A Data has come that may be a certificate.
    pub(super) fn handle_data(&mut self, now: Now, data: &Data) {
        if self.arrived.len() >= MAX_WAITING {
            self.arrived.pop_front();
        }
        self.arrived.push_back(data.clone());
        for branch in self.branches.values_mut() {
            let answered = |name: &Name| name.as_ref().is_prefix_of(data.name());
            let Some(from) =
                branch.fetches.iter().find(|(name, _)| answered(name)).map(|(_, fetch)| fetch.from)
            else {
                continue;
            };
            branch.fetches.retain(|name, _| !answered(name));
            branch.validator.handle_data(now.unix, data);
            branch.drain(now, from, &self.arrived, &mut self.out);
        }
    }

    /// A question came back.
    pub(super) fn handle_nack(&mut self, now: Now, name: NameRef<'_>, reason: NackReason) {
        self.fail(now, &name.to_name(), CertificateFetchError::Nack(reason));
    }

    /// Gives up what has waited long enough, and asks again.
    pub(super) fn handle_timeout(&mut self, now: Now) {
        let is_late = |fetch: &Fetch| fetch.deadline <= now.instant;
        let late: Vec<Name> = self
            .branches
            .values()
            .flat_map(|branch| branch.fetches.iter().filter(|(_, fetch)| is_late(fetch)))
            .map(|(name, _)| name.clone())
            .collect();
        for name in late {
            self.fail(now, &name, CertificateFetchError::Timeout);
        }
    }

    fn fail(&mut self, now: Now, name: &Name, failure: CertificateFetchError) {
        for branch in self.branches.values_mut() {
            let Some(fetch) = branch.fetches.get(name) else { continue };
            // That an application has not got it says nothing about the network.
            let failure = if fetch.attempts <= 1 { CertificateFetchError::Timeout } else { failure };
            let from = fetch.from;
            branch.validator.handle_failure(name.as_ref(), failure);
            let attempts = fetch.attempts;
            branch.ask(now, from, &mut self.out);
            if branch.fetches.get(name).is_some_and(|fetch| fetch.attempts == attempts) {
                // It was not asked for again.
                branch.fetches.remove(name);
            }
            branch.drain(now, from, &self.arrived, &mut self.out);
        }
    }

    /// The next Interest for a certificate.
    pub(super) fn poll_interest(&mut self) -> Option<OutgoingInterest> {
        self.out.questions.pop_front()
    }

    /// The next command about whose key all is known: the certificate that it signs with, or why it is
    /// nobody's delegate.
    pub(super) fn poll_concluded(
        &mut self,
    ) -> Option<(PendingCommand, Result<Certificate, ValidationError>)> {
        self.out.concluded.pop_front()
    }

    /// The next Data that the content store is to forget, so that whoever owns the key is asked when he gives
    /// a command.
    pub(super) fn poll_bad_certificate(&mut self) -> Option<Data> {
        self.out.bad.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub(super) fn next_deadline(&self) -> Instant {
        let deadlines = self.branches.values().flat_map(|branch| branch.fetches.values());
        deadlines.map(|fetch| fetch.deadline).min().unwrap_or(Instant::NEVER)
    }
}

impl Branch {
    /// Begins to follow the certificates of a command's key.
    fn look_into(&mut self, now: Now, pending: PendingCommand, out: &mut Out) {
        let (from, key) = (pending.from, Subject::Key(pending.key.clone()));
        let id = self.validator.validate(now.unix, key);
        self.pending.insert(id, pending);
        self.ask(now, from, out);
    }

    /// Takes what the validator wants, on account of a command that came from `from`.
    fn ask(&mut self, now: Now, from: FaceId, out: &mut Out) {
        while let Some(interest) = self.validator.poll_interest() {
            let fetch = self.fetches.entry(interest.name().to_name());
            let fetch = fetch.or_insert(Fetch { attempts: 0, deadline: Instant::NEVER, from });
            fetch.attempts += 1;
            fetch.deadline = now.instant + FETCH_LIFETIME;
            let next_hop = (fetch.attempts == 1).then_some(fetch.from);
            out.questions.push_back(OutgoingInterest { interest, next_hop });
        }
    }

    /// Takes what the validator wants and what it has decided, after something came, or did not, that was
    /// asked for on account of a command that came from `from`.
    fn drain(&mut self, now: Now, from: FaceId, arrived: &VecDeque<Data>, out: &mut Out) {
        self.ask(now, from, out);
        while let Some(outcome) = self.validator.poll_outcome() {
            let Some(pending) = self.pending.remove(&outcome.id) else { continue };
            if let Err(error) = &outcome.verdict {
                let bad = arrived.iter().rfind(|data| error.concerns(data.name()));
                let is_new = |data: &&Data| out.bad.iter().all(|other| other.wire() != data.wire());
                let bad = bad.filter(is_new).cloned();
                out.bad.extend(bad);
            }
            if outcome.verdict.is_err() && pending.from != from && pending.renewals < MAX_RENEWALS {
                let again = PendingCommand { renewals: pending.renewals + 1, ..pending };
                self.look_into(now, again, out);
            } else {
                out.concluded.push_back((pending, outcome.verdict));
            }
        }
    }
}
