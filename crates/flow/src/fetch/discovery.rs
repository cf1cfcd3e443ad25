//! Finding the version of an object.

use packet::time::Instant;
use packet::{AnyName, Dialect, NackReason, Name, NameRef};

use super::config::{Discovery, FetchConfig, FetchError};
use super::version_search::{LATER_ATTEMPTS, VersionSearch};
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
    waiting: DiscoveryState,
    /// In CCNx, where versions are found by excluding those that are known.
    search: Option<VersionSearch>,
    /// Whether the latest version that is known is the one, whatever may still come.
    is_settled: bool,
    /// Why what the search has found last was refused.
    last_rejection: Option<FetchError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiscoveryState {
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
        let search = VersionSearch::of(dialect).filter(|_| !by_prefix);
        let by_metadata = !by_prefix && search.is_none();
        let too_long = |_| FetchError::NameTooLong { name: AnyName::new(dialect, prefix.clone()) };
        Ok(Finder {
            search,
            asked: if by_metadata { prefix.with(METADATA).map_err(too_long)? } else { prefix.clone() },
            prefix: prefix.clone(),
            by_prefix,
            may_fall_back: discovery == Discovery::MetadataThenPrefix,
            attempts: 0,
            waiting: DiscoveryState::ToSend(now),
            is_settled: false,
            last_rejection: None,
        })
    }

    pub(super) fn is_by_prefix(&self) -> bool {
        self.by_prefix
    }

    /// Whether Data of this name answers what was asked.
    pub(super) fn is_answered_by(&self, name: NameRef<'_>) -> bool {
        matches!(self.waiting, DiscoveryState::ForAnswer(_) | DiscoveryState::ToSend(_))
            && self.asked.as_ref().is_prefix_of(name)
    }

    pub(super) fn is_about(&self, name: NameRef<'_>) -> bool {
        self.asked.as_ref() == name && matches!(self.waiting, DiscoveryState::ForAnswer(_))
    }

    pub(super) fn wait_for_owner(&mut self) {
        self.waiting = DiscoveryState::ForOwner;
    }

    /// What is asked for now.
    pub(super) fn asked(&self) -> &Name {
        &self.asked
    }

    fn asked_in(&self, dialect: Dialect) -> AnyName {
        AnyName::new(dialect, self.asked.clone())
    }

    pub(super) fn search(&self) -> Option<&VersionSearch> {
        self.search.as_ref()
    }

    /// Something with a version has come, and the next question is for a later one; says whether that is so.
    pub(super) fn look_for_later_version(&mut self, now: Instant, name: NameRef<'_>) -> bool {
        let Some(search) = self.search.as_mut() else { return false };
        let Some(is_latest) = search.handle_answer(now, &self.prefix, name) else { return false };
        self.is_settled |= search.is_exhausted();
        self.waiting =
            if self.is_settled { DiscoveryState::ForAnswer(now) } else { DiscoveryState::ToSend(now) };
        if is_latest {
            self.attempts = 0;
        }
        true
    }

    /// The latest version, when the time for a later one is over.
    pub(super) fn settled_version(&self, now: Instant, config: &FetchConfig) -> Option<Name> {
        let is_over = matches!(self.waiting, DiscoveryState::ForAnswer(until) if until <= now);
        let attempts = LATER_ATTEMPTS.min(config.discovery_attempts);
        let is_settled = is_over && (self.is_settled || self.attempts >= attempts);
        self.search.as_ref().filter(|_| is_settled)?.best().cloned()
    }

    /// Whether an Interest is to leave now; it counts as sent then.
    pub(super) fn is_due(&mut self, now: Instant, config: &FetchConfig) -> bool {
        match self.waiting {
            DiscoveryState::ToSend(at) if at <= now => {}
            _ => return false,
        }
        self.attempts += 1;
        let timeout = self.search.as_ref().map_or(config.discovery_timeout, |it| it.answer_timeout(config));
        self.waiting = DiscoveryState::ForAnswer(now + timeout);
        self.search.iter_mut().for_each(|search| search.handle_asked(now));
        true
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, config: &FetchConfig) -> Result<(), FetchError> {
        match self.waiting {
            DiscoveryState::ForAnswer(until) if until <= now => {
                let (name, attempts) = (self.asked_in(config.dialect), self.attempts);
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
        let error = FetchError::DiscoveryNack { name: self.asked_in(config.dialect), reason };
        // Nobody there, or somebody who knows better: a few more tries, further and further apart.
        let rest = packet::time::Duration::from_millis(10 << self.attempts.min(10));
        self.try_again(now, now + rest.min(config.discovery_timeout), config, error)
    }

    /// What came, of this name, was of no use. In CCNx it is excluded from now on, and what else there is
    /// may be asked for as often as before.
    pub(super) fn handle_refusal(
        &mut self,
        now: Instant,
        config: &FetchConfig,
        name: NameRef<'_>,
        error: FetchError,
    ) -> Result<(), FetchError> {
        if let Some(search) = &mut self.search {
            self.last_rejection = Some(error.clone());
            let is_new = search.handle_refusal(&self.prefix, name);
            self.attempts = match search.is_exhausted() {
                true => config.discovery_attempts,
                false if is_new => 0,
                false => self.attempts,
            };
        }
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
            self.waiting = DiscoveryState::ToSend(at);
            return Ok(());
        }
        if self.search.as_ref().is_some_and(|search| search.best().is_some()) {
            (self.is_settled, self.waiting) = (true, DiscoveryState::ForAnswer(now));
            return Ok(());
        }
        // By prefix, what was refused would come again.
        if let Some(error) = self.last_rejection.take() {
            return Err(error);
        }
        if self.may_fall_back && !self.by_prefix {
            (self.by_prefix, self.attempts, self.search) = (true, 0, None);
            self.asked = self.prefix.clone();
            self.waiting = DiscoveryState::ToSend(now);
            return Ok(());
        }
        Err(error)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match self.waiting {
            DiscoveryState::ToSend(at) | DiscoveryState::ForAnswer(at) => Some(at),
            DiscoveryState::ForOwner => None,
        }
    }
}
