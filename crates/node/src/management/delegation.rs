//! Commands by keys that an operator's key has certified, directly or by way of others: they wait until the
//! certificates between have been fetched.
//!
//! A certificate is asked for first where the command came from, because who signs with a key usually has its
//! certificate, and may not be reachable yet by any route; after that by the routes. Only keys under the name
//! of an operator's identity are looked into, so that a stranger can make the node ask for nothing but names
//! of its operators, and so many at a time.

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
use crate::control::OutgoingInterest;

/// Commands that may wait, and how many of them from one face.
const MAX_WAITING: usize = 64;
const MAX_WAITING_PER_FACE: usize = 8;
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
    questions: VecDeque<OutgoingInterest>,
    concluded: VecDeque<(PendingCommand, Result<Certificate, ValidationError>)>,
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

    /// Lets a command wait until it is known whether `key` is an operator's delegate; false if there is no
    /// room.
    pub(super) fn await_certificate(&mut self, now: Now, key: Name, pending: PendingCommand) -> bool {
        self.look_at_revocations();
        let waits =
            |branch: &Branch| branch.pending.values().filter(|other| other.from == pending.from).count();
        if self.branches.values().map(waits).sum::<usize>() >= MAX_WAITING_PER_FACE {
            return false;
        }
        let Some(branch) = self.branches.get_mut(word_of(pending.command, pending.scope)) else {
            return false;
        };
        let from = pending.from;
        let id = branch.validator.validate(now.unix, Subject::Key(key));
        branch.pending.insert(id, pending);
        branch.drain(now, from, &mut self.questions, &mut self.concluded);
        true
    }

    /// A Data has come that may be a certificate.
    pub(super) fn handle_data(&mut self, now: Now, data: &Data) {
        for branch in self.branches.values_mut() {
            let answered = |name: &Name| name.as_ref().is_prefix_of(data.name());
            let Some(from) =
                branch.fetches.iter().find(|(name, _)| answered(name)).map(|(_, fetch)| fetch.from)
            else {
                continue;
            };
            branch.fetches.retain(|name, _| !answered(name));
            branch.validator.handle_data(now.unix, data);
            branch.drain(now, from, &mut self.questions, &mut self.concluded);
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
            let before = branch.fetches.get(name).map(|fetch| fetch.attempts);
            branch.drain(now, from, &mut self.questions, &mut self.concluded);
            // It was not asked for again.
            if branch.fetches.get(name).map(|fetch| fetch.attempts) == before {
                branch.fetches.remove(name);
            }
        }
    }

    /// The next Interest for a certificate.
    pub(super) fn poll_interest(&mut self) -> Option<OutgoingInterest> {
        self.questions.pop_front()
    }

    /// The next command about whose key all is known: the certificate that it signs with, or why it is
    /// nobody's delegate.
    pub(super) fn poll_concluded(
        &mut self,
    ) -> Option<(PendingCommand, Result<Certificate, ValidationError>)> {
        self.concluded.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub(super) fn next_deadline(&self) -> Instant {
        let deadlines = self.branches.values().flat_map(|branch| branch.fetches.values());
        deadlines.map(|fetch| fetch.deadline).min().unwrap_or(Instant::NEVER)
    }
}

impl Branch {
    /// Takes what the validator wants and what it has decided, on account of a command that came from `from`.
    fn drain(
        &mut self,
        now: Now,
        from: FaceId,
        questions: &mut VecDeque<OutgoingInterest>,
        concluded: &mut VecDeque<(PendingCommand, Result<Certificate, ValidationError>)>,
    ) {
        while let Some(interest) = self.validator.poll_interest() {
            let fetch = self.fetches.entry(interest.name().to_name());
            let fetch = fetch.or_insert(Fetch { attempts: 0, deadline: Instant::NEVER, from });
            fetch.attempts += 1;
            fetch.deadline = now.instant + FETCH_LIFETIME;
            let next_hop = (fetch.attempts == 1).then_some(fetch.from);
            questions.push_back(OutgoingInterest { interest, next_hop });
        }
        while let Some(outcome) = self.validator.poll_outcome() {
            if let Some(pending) = self.pending.remove(&outcome.id) {
                concluded.push_back((pending, outcome.verdict));
            }
        }
    }
}
