//! Finding the version of an object.

use packet::ndn::InterestBuilder;
use packet::time::Instant;
use packet::{Dialect, NackReason, Name, NameRef};

use super::ccnx::{LATER_ATTEMPTS, VersionSearch};
use super::config::{Discovery, FetchConfig, FetchError};
use crate::naming::METADATA;

/// Asks for metadata or for the name as a prefix, a few times, and gives up.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// The object without version.
    prefix: Name,
    /// What is asked for now.
    asked: Name,
    by_prefix: bool,
    may_fall_back: bool,
    attempts: u32,
    waiting: Waiting,
    /// In CCNx, where versions are found by excluding those that are known.
    search: Option<VersionSearch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// The next Interest leaves at this time.
    ToSend(Instant),
    /// The answer is given up at this time.
    ForAnswer(Instant),
    /// Something came and is being checked.
    ForOwner,
}

impl Finder {
    pub(super) fn new(
        prefix: &Name,
        discovery: Discovery,
        dialect: Dialect,
        now: Instant,
    ) -> Result<Self, FetchError> {
        let by_prefix = discovery == Discovery::Prefix;
        let by_metadata = !by_prefix && dialect == Dialect::Ndn;
        let too_long = |_| FetchError::NameTooLong { name: prefix.clone() };
        Ok(Finder {
            search: (!by_prefix && !by_metadata).then(VersionSearch::default),
            asked: if by_metadata { prefix.with(METADATA).map_err(too_long)? } else { prefix.clone() },
            prefix: prefix.clone(),
            by_prefix,
            may_fall_back: discovery == Discovery::MetadataThenPrefix,
            attempts: 0,
            waiting: Waiting::ToSend(now),
        })
    }

    pub(super) fn is_by_prefix(&self) -> bool {
        self.by_prefix
    }

    /// Whether Data of this name answers what was asked.
    pub(super) fn is_answered_by(&self, name: NameRef<'_>) -> bool {
        matches!(self.waiting, Waiting::ForAnswer(_) | Waiting::ToSend(_))
            && self.asked.as_ref().is_prefix_of(name)
    }

    pub(super) fn is_about(&self, name: NameRef<'_>) -> bool {
        self.asked.as_ref() == name && matches!(self.waiting, Waiting::ForAnswer(_))
    }

    pub(super) fn wait_for_owner(&mut self) {
        self.waiting = Waiting::ForOwner;
    }

    /// What is asked for now.
    pub(super) fn asked(&self) -> &Name {
        &self.asked
    }

    pub(super) fn search(&self) -> Option<&VersionSearch> {
        self.search.as_ref()
    }

    /// Something with a version has come, and the next question is for a later one; says whether that is so.
    pub(super) fn look_for_later_version(&mut self, now: Instant, name: NameRef<'_>) -> bool {
        let (prefix, search) = (&self.prefix, self.search.as_mut());
        let Some(is_latest) = search.and_then(|search| search.handle_answer(now, prefix, name)) else {
            return false;
        };
        self.waiting = Waiting::ToSend(now);
        if is_latest {
            self.attempts = 0;
        }
        true
    }

    /// The latest version, when the time for a later one is over.
    pub(super) fn settled_version(&self, now: Instant) -> Option<Name> {
        let is_over = matches!(self.waiting, Waiting::ForAnswer(until) if until <= now);
        self.search.as_ref().filter(|_| is_over && self.attempts >= LATER_ATTEMPTS)?.best().cloned()
    }

    /// Whether an Interest is to leave now; it counts as sent then.
    pub(super) fn is_due(&mut self, now: Instant, config: &FetchConfig) -> bool {
        match self.waiting {
            Waiting::ToSend(at) if at <= now => {}
            _ => return false,
        }
        self.attempts += 1;
        let patience = self.search.as_ref().map_or(config.discovery_timeout, |it| it.patience(config));
        self.waiting = Waiting::ForAnswer(now + patience);
        self.search.iter_mut().for_each(|search| search.handle_asked(now));
        true
    }

    pub(super) fn poll(&mut self, now: Instant, config: &FetchConfig) -> Option<InterestBuilder> {
        if !self.is_due(now, config) {
            return None;
        }
        let lifetime = config.discovery_timeout.min(config.lifetime);
        let builder = InterestBuilder::new(self.asked.clone()).can_be_prefix(true).lifetime(lifetime);
        Some(builder.must_be_fresh(!self.by_prefix || config.must_be_fresh))
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, config: &FetchConfig) -> Result<(), FetchError> {
        match self.waiting {
            Waiting::ForAnswer(until) if until <= now => {
                let (name, attempts) = (self.asked.clone(), self.attempts);
                self.try_again(now, now, config, FetchError::NotFound { name, attempts })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn handle_nack(
        &mut self,
        now: Instant,
        reason: NackReason,
        config: &FetchConfig,
    ) -> Result<(), FetchError> {
        if reason == NackReason::Duplicate {
            return Ok(());
        }
        let error = FetchError::DiscoveryNack { name: self.asked.clone(), reason };
        // Nobody there, or somebody who knows better: a few more tries, further and further apart.
        let rest = packet::time::Duration::from_millis(10 << self.attempts.min(10));
        self.try_again(now, now + rest.min(config.discovery_timeout), config, error)
    }

    /// What came was of no use.
    pub(super) fn handle_refusal(
        &mut self,
        now: Instant,
        config: &FetchConfig,
        error: FetchError,
    ) -> Result<(), FetchError> {
        self.try_again(now, now, config, error)
    }

    fn try_again(
        &mut self,
        now: Instant,
        at: Instant,
        config: &FetchConfig,
        error: FetchError,
    ) -> Result<(), FetchError> {
        if self.attempts < config.discovery_attempts {
            self.waiting = Waiting::ToSend(at);
            return Ok(());
        }
        if self.may_fall_back && !self.by_prefix {
            (self.by_prefix, self.attempts, self.search) = (true, 0, None);
            self.asked = self.prefix.clone();
            self.waiting = Waiting::ToSend(now);
            return Ok(());
        }
        Err(error)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match self.waiting {
            Waiting::ToSend(at) | Waiting::ForAnswer(at) => Some(at),
            Waiting::ForOwner => None,
        }
    }
}
