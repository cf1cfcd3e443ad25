//! Who may give commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use management::{Command, CommandScope, CommandSignature};
use packet::ndn::KeyLocator;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, Name, NameRef};
use thiserror::Error;
use trust::Certificate;

use super::KeyRejection;
use super::signer::RouteSigner;
use crate::control::Now;

/// Verifies signatures and knows what each key may do. Implemented over keys and trust rules elsewhere.
pub trait VerifyCommand: Send + fmt::Debug {
    /// Whether anything is known about `key`, by its name or that of its certificate.
    fn knows(&self, key: NameRef<'_>) -> bool;

    /// Checks that `key` has made `signature`, and that it may give `command` now.
    ///
    /// # Errors
    /// Why not.
    fn verify_command(
        &self,
        unix_millis: u64,
        command: Command,
        scope: CommandScope,
        key: NameRef<'_>,
        signature: &CommandSignature<'_>,
    ) -> Result<(), KeyRejection>;

    /// Checks that `key`, whose command is accepted, may have routes for `prefix`. For whoever does not bind
    /// keys to names, all may.
    ///
    /// # Errors
    /// The prefix is not below the identity of the key, and must be.
    fn verify_owner(
        &self,
        _command: Command,
        _scope: CommandScope,
        _key: NameRef<'_>,
        _prefix: NameRef<'_>,
    ) -> Result<(), KeyRejection> {
        Ok(())
    }

    /// Whether the key that made a route is revoked by now. Where nobody revokes keys, none is.
    fn has_revoked(&self, _signer: &RouteSigner) -> bool {
        false
    }

    /// Checks that the owner of the prefix has signed a prefix announcement.
    ///
    /// # Errors
    /// Why not.
    fn verify_announcement(
        &self,
        unix_millis: u64,
        scope: CommandScope,
        announcement: &Data,
    ) -> Result<(), KeyRejection>;
}

/// Whose commands are carried out.
#[derive(Debug)]
pub enum Authority {
    /// Anybody's, signed or not. The default of NFD: whoever reaches the local socket is trusted.
    Anyone,
    /// Those of keys that a verifier accepts, if they are new.
    Keys(Box<dyn VerifyCommand>, ReplayGuard),
}

/// A command that is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuthorizationError {
    /// It is not signed, or not in a way that names a key: not worth an answer.
    #[error("malformed: {0}")]
    Malformed(String),
    /// It is signed by somebody who may not, wrongly, or not for the first time.
    #[error("unauthorized: {0}")]
    Unauthorized(String),
    /// It is signed by a key that nothing is known about.
    #[error("{0} is not a trusted key")]
    UnknownKey(Name),
}

impl Authority {
    /// Commands of keys that `verifier` accepts.
    pub fn of_keys(verifier: Box<dyn VerifyCommand>) -> Self {
        Authority::Keys(verifier, ReplayGuard::default())
    }

    /// The node starts: see [`ReplayGuard::start`].
    pub(super) fn start(&mut self, now: Now, last_ms: u64) {
        if let Authority::Keys(_, guard) = self {
            guard.start(now, last_ms);
        }
    }

    /// The latest time in a command that was obeyed and is ahead of now, once.
    pub(super) fn take_time_ahead(&mut self) -> Option<u64> {
        match self {
            Authority::Anyone => None,
            Authority::Keys(_, guard) => guard.ahead_ms.take(),
        }
    }

    /// Whether `interest` is to be obeyed.
    ///
    /// # Errors
    /// Why not.
    pub fn check(
        &mut self,
        now: Now,
        command: Command,
        scope: CommandScope,
        interest: &Interest,
    ) -> Result<(), AuthorizationError> {
        let Authority::Keys(verifier, guard) = self else { return Ok(()) };
        let (signature, key) = signature_and_key(interest)?;
        let time_ms = guard.check(now, key, &signature)?;
        if !verifier.knows(key) {
            return Err(AuthorizationError::UnknownKey(key.to_name()));
        }
        let verdict = verifier.verify_command(now.unix_millis, command, scope, key, &signature);
        verdict.map_err(|rejection| AuthorizationError::Unauthorized(rejection.to_string()))?;
        guard.remember(now, key, time_ms);
        Ok(())
    }

    /// Whether `interest` is to be obeyed, when the key that it names is that of `certificate`, which is
    /// known to count.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_delegate(
        &mut self,
        now: Now,
        interest: &Interest,
        certificate: &Certificate,
    ) -> Result<(), AuthorizationError> {
        let Authority::Keys(_, guard) = self else { return Ok(()) };
        let (signature, key) = signature_and_key(interest)?;
        // Others may have come while it waited.
        let time_ms = guard.check(now, key, &signature)?;
        let verified =
            certificate.verifier().verify(signature.info.signature_type, &signature.signed, signature.value);
        verified.map_err(|error| AuthorizationError::Unauthorized(error.to_string()))?;
        guard.remember(now, key, time_ms);
        Ok(())
    }

    /// Whether who signed `interest`, which is to be obeyed, may give or take routes for `prefix`.
    ///
    /// # Errors
    /// Why not.
    pub fn check_owner(
        &self,
        command: Command,
        scope: CommandScope,
        interest: &Interest,
        prefix: NameRef<'_>,
    ) -> Result<(), AuthorizationError> {
        let Authority::Keys(verifier, _) = self else { return Ok(()) };
        let (_, key) = signature_and_key(interest)?;
        let verdict = verifier.verify_owner(command, scope, key, prefix);
        verdict.map_err(|rejection| AuthorizationError::Unauthorized(rejection.to_string()))
    }

    /// Whether the key that made a route is revoked by now.
    pub(super) fn has_revoked(&self, signer: &RouteSigner) -> bool {
        match self {
            Authority::Anyone => false,
            Authority::Keys(verifier, _) => verifier.has_revoked(signer),
        }
    }

    /// Whether a prefix announcement is to be believed.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_announcement(
        &self,
        now: Now,
        scope: CommandScope,
        announcement: &Data,
    ) -> Result<(), KeyRejection> {
        match self {
            Authority::Anyone => Ok(()),
            Authority::Keys(verifier, _) => {
                verifier.verify_announcement(now.unix_millis, scope, announcement)
            }
        }
    }
}

/// The signature of a command, and the name of the key that made it.
fn signature_and_key(interest: &Interest) -> Result<(CommandSignature<'_>, NameRef<'_>), AuthorizationError> {
    let signature =
        CommandSignature::of(interest).map_err(|error| AuthorizationError::Malformed(error.to_string()))?;
    match signature.info.key_locator {
        Some(KeyLocator::Name(key)) => Ok((signature, key)),
        _ => Err(AuthorizationError::Malformed("the signature does not name a key".to_owned())),
    }
}

/// Refuses commands that were given before.
///
/// The time in a signature must be near to now, later than the start of the node, and later than what is
/// remembered of its key. Times ahead of now count one by one and not as the last one, so that a clock that
/// was ahead and is put right locks nobody out. When the node's own clock is put back, what is remembered
/// lies in the future: then only the very times that were used are refused.
///
/// At the limit the key that was not used for longest is forgotten, and its last time counts for all keys of
/// which nothing is remembered.
#[derive(Clone, Debug, Default)]
pub struct ReplayGuard {
    keys: BTreeMap<Name, History>,
    /// For keys of which nothing is remembered: times up to this are those of commands from before.
    least_ms: u64,
    /// When the node started, by the clock that is never put right.
    started: Option<Instant>,
    /// The latest time ahead of now that has not been asked for.
    ahead_ms: Option<u64>,
}

/// What is remembered of a key.
#[derive(Clone, Debug)]
struct History {
    /// All times up to this are refused.
    until_ms: u64,
    /// The latest times that were used.
    recent_ms: BTreeSet<u64>,
    used: Instant,
}

impl ReplayGuard {
    /// How old a command may be, in milliseconds.
    pub const GRACE_MS: u64 = 120_000;
    /// How far ahead of now the time in a command may be, in milliseconds.
    pub const AHEAD_MS: u64 = 10_000;
    /// Keys remembered.
    pub const MAX_KEYS: usize = 1000;
    /// Times remembered of each one by one.
    pub const MAX_RECENT: usize = 64;
    /// How long a key is remembered that is not used.
    pub const KEY_LIFETIME: Duration = Duration::from_secs(3600);

    /// The node starts now: commands from before have been obeyed, or not, by the one before it. `last_ms` is
    /// the latest time that it has seen, if that is known.
    pub(super) fn start(&mut self, now: Now, last_ms: u64) {
        self.started = Some(now.monotonic);
        if last_ms > now.unix_millis.saturating_add(Self::AHEAD_MS) {
            let seconds = (last_ms - now.unix_millis) / 1000;
            tracing::warn!(
                "the clock is {seconds} s behind the latest command that was obeyed before: until it is put \
                 right, signed commands may be refused"
            );
        }
        let last_ms = last_ms.min(now.unix_millis.saturating_add(Self::AHEAD_MS));
        self.least_ms = self.least_ms.max(now.unix_millis).max(last_ms);
    }

    /// Gives the time in a command that is new.
    fn check(
        &mut self,
        now: Now,
        key: NameRef<'_>,
        signature: &CommandSignature<'_>,
    ) -> Result<u64, AuthorizationError> {
        let refuse = |reason: &str| Err(AuthorizationError::Unauthorized(reason.to_owned()));
        let Some(time_ms) = signature.time_ms else { return refuse("the signature does not say its time") };
        if now.unix_millis.saturating_sub(time_ms) > Self::GRACE_MS {
            return refuse("the time in the signature is more than two minutes ago; compare the clocks");
        }
        if time_ms.saturating_sub(now.unix_millis) > Self::AHEAD_MS {
            return refuse("the time in the signature is more than ten seconds ahead; compare the clocks");
        }
        // The clock was put back since the start.
        if self.least_ms > now.unix_millis.saturating_add(Self::AHEAD_MS) {
            self.least_ms = now.unix_millis;
        }
        let history = self.keys.get_mut(&key.to_name());
        let history =
            history.filter(|history| now.monotonic.saturating_since(history.used) <= Self::KEY_LIFETIME);
        let Some(history) = history else {
            let least_ms = self.least_ms.max(self.start_ms(now));
            return match time_ms <= least_ms {
                true => refuse("the time in the signature is before the start of this node; sign anew"),
                false => Ok(time_ms),
            };
        };
        history.catch_up(now);
        if time_ms <= history.until_ms || history.recent_ms.contains(&time_ms) {
            return refuse("the time in the signature is not later than in the last command");
        }
        Ok(time_ms)
    }

    /// When the node started, by the clock as it goes now: one that was wrong then and has been put right is
    /// believed only now.
    fn start_ms(&self, now: Now) -> u64 {
        self.started.map_or(0, |started| {
            now.unix_millis.saturating_sub(now.monotonic.saturating_since(started).as_millis())
        })
    }

    fn remember(&mut self, now: Now, key: NameRef<'_>, time_ms: u64) {
        let key = key.to_name();
        if !self.keys.contains_key(&key) && self.keys.len() >= Self::MAX_KEYS {
            let oldest = self.keys.iter().min_by_key(|(_, history)| history.used).map(|(key, _)| key.clone());
            if let Some(forgotten) = oldest.and_then(|oldest| self.keys.remove(&oldest)) {
                let last_ms = forgotten.recent_ms.last().copied().unwrap_or(0).max(forgotten.until_ms);
                self.least_ms = self.least_ms.max(last_ms.min(now.unix_millis));
            }
        }
        let until_ms = self.least_ms.max(self.start_ms(now));
        let history = self.keys.entry(key).or_insert_with(|| History {
            until_ms,
            recent_ms: BTreeSet::new(),
            used: now.monotonic,
        });
        if time_ms > now.unix_millis {
            self.ahead_ms = self.ahead_ms.max(Some(time_ms));
        }
        history.used = now.monotonic;
        history.recent_ms.insert(time_ms);
        history.catch_up(now);
    }
}

impl History {
    /// What was ahead and is no more counts as the last time.
    fn catch_up(&mut self, now: Now) {
        // The clock was put back.
        if self.until_ms > now.unix_millis.saturating_add(ReplayGuard::AHEAD_MS) {
            self.until_ms = now.unix_millis;
        }
        let past = self.recent_ms.range(..=now.unix_millis).next_back().copied();
        self.until_ms = self.until_ms.max(past.unwrap_or(0));
        while self.recent_ms.len() > ReplayGuard::MAX_RECENT {
            // Of more than there is room for, the rest counts from the earliest on.
            self.until_ms = self.until_ms.max(self.recent_ms.pop_first().unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use management::ControlParameters;
    use packet::ndn::{SignatureInfoBuilder, SignatureType};

    use super::*;

    /// Accepts signatures that are the name of the key, and of commands only those for routes.
    #[derive(Debug)]
    struct Friend;

    impl VerifyCommand for Friend {
        fn knows(&self, key: NameRef<'_>) -> bool {
            key != "/stranger/KEY/1".parse::<Name>().unwrap().as_ref()
        }

        fn verify_command(
            &self,
            _: u64,
            command: Command,
            _: CommandScope,
            key: NameRef<'_>,
            signature: &CommandSignature<'_>,
        ) -> Result<(), KeyRejection> {
            let is_signed = signature.value == key.canonical();
            let may = command == Command::RibRegister;
            match (is_signed, may) {
                (true, true) => Ok(()),
                (false, _) => Err(trust::VerifyError::Wrong.into()),
                (true, false) => {
                    let module = Some(command.words().0);
                    Err(KeyRejection::NotPrivileged { certificate: key.to_name(), module })
                }
            }
        }

        fn verify_announcement(&self, _: u64, _: CommandScope, _: &Data) -> Result<(), KeyRejection> {
            Err(KeyRejection::NoKeyName)
        }
    }

    const NOW_MS: u64 = 1_700_000_000_000;

    fn now(offset_s: u64) -> Now {
        Now { monotonic: Instant::from_secs(10 + offset_s), unix_millis: NOW_MS + offset_s * 1000 }
    }

    fn command(key: &str, time_ms: Option<u64>, honest: bool) -> Interest {
        let key: Name = key.parse().unwrap();
        let mut info = SignatureInfoBuilder::new(SignatureType::ED25519).key_name(&key).nonce(1);
        if let Some(time_ms) = time_ms {
            info = info.time_ms(time_ms);
        }
        let value = if honest { key.canonical().to_vec() } else { b"forged".to_vec() };
        let parameters = ControlParameters::default();
        Command::RibRegister
            .interest(CommandScope::Localhost, &parameters)
            .unwrap()
            .build_signed(&info, |_| value)
            .unwrap()
    }

    fn check(
        authority: &mut Authority,
        offset_s: u64,
        interest: &Interest,
    ) -> Result<(), AuthorizationError> {
        authority.check(now(offset_s), Command::RibRegister, CommandScope::Localhost, interest)
    }

    #[test]
    fn anyone_may_do_anything_where_no_keys_are_configured() {
        let unsigned =
            Command::FacesDestroy.interest(CommandScope::Localhost, &ControlParameters::default()).unwrap();
        let unsigned = unsigned.build().unwrap();
        assert_eq!(
            Authority::Anyone.check(now(0), Command::FacesDestroy, CommandScope::Localhost, &unsigned),
            Ok(())
        );
    }

    #[test]
    fn what_is_not_signed_by_a_named_key_is_not_worth_an_answer() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let builder =
            Command::RibRegister.interest(CommandScope::Localhost, &ControlParameters::default()).unwrap();
        let digest = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).time_ms(NOW_MS);
        for interest in [builder.build().unwrap(), builder.build_signed(&digest, |_| vec![0; 32]).unwrap()] {
            assert!(matches!(check(&mut authority, 0, &interest), Err(AuthorizationError::Malformed(_))));
        }
    }

    #[test]
    fn a_command_is_obeyed_once_and_only_around_its_time() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let refused = |outcome: Result<(), AuthorizationError>| {
            matches!(outcome, Err(AuthorizationError::Unauthorized(_)))
        };
        let first = command("/alice/KEY/1", Some(NOW_MS), true);
        assert_eq!(check(&mut authority, 0, &first), Ok(()));
        assert!(refused(check(&mut authority, 1, &first)), "again");
        assert!(refused(check(&mut authority, 1, &command("/alice/KEY/1", Some(NOW_MS - 1), true))), "older");
        assert_eq!(check(&mut authority, 1, &command("/alice/KEY/1", Some(NOW_MS + 1), true)), Ok(()));
        // Another key has a time of its own.
        assert_eq!(check(&mut authority, 1, &command("/bob/KEY/1", Some(NOW_MS - 5), true)), Ok(()));
        assert!(refused(check(&mut authority, 121, &command("/carol/KEY/1", Some(NOW_MS), true))), "too old");
        let early = command("/carol/KEY/1", Some(NOW_MS + 11_001), true);
        assert!(refused(check(&mut authority, 1, &early)), "too early");
        assert!(refused(check(&mut authority, 1, &command("/carol/KEY/1", None, true))), "no time");
        // What is forged does not count as the last command.
        assert!(refused(check(&mut authority, 1, &command("/dave/KEY/1", Some(NOW_MS + 9), false))));
        assert_eq!(check(&mut authority, 1, &command("/dave/KEY/1", Some(NOW_MS), true)), Ok(()));
    }

    #[test]
    fn of_a_key_that_nothing_is_known_about_it_is_said_which_it_is() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let interest = command("/stranger/KEY/1", Some(NOW_MS), true);
        let stranger = AuthorizationError::UnknownKey("/stranger/KEY/1".parse().unwrap());
        assert_eq!(check(&mut authority, 0, &interest), Err(stranger));
    }

    #[test]
    fn a_verifier_decides_by_the_command_too() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let interest = command("/alice/KEY/1", Some(NOW_MS), true);
        let outcome = authority.check(now(0), Command::FacesDestroy, CommandScope::Localhost, &interest);
        assert_eq!(
            outcome,
            Err(AuthorizationError::Unauthorized("/alice/KEY/1 may not give commands for faces".to_owned()))
        );
    }

    #[test]
    fn the_number_of_keys_remembered_has_a_limit() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let extra = 20;
        for number in 0..ReplayGuard::MAX_KEYS + extra {
            let interest = command(&format!("/k/{number}"), Some(NOW_MS + number as u64), true);
            let at = Now { monotonic: Instant::from_millis(number as u64), unix_millis: NOW_MS };
            assert_eq!(authority.check(at, Command::RibRegister, CommandScope::Localhost, &interest), Ok(()));
        }
        let Authority::Keys(_, guard) = &authority else { panic!("made of keys") };
        assert_eq!(guard.keys.len(), ReplayGuard::MAX_KEYS);
        assert!(!guard.keys.contains_key(&"/k/19".parse::<Name>().unwrap()));
        assert!(guard.keys.contains_key(&"/k/20".parse::<Name>().unwrap()));
    }

    #[test]
    fn a_command_of_a_forgotten_key_is_not_obeyed_again() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let victim = command("/victim/KEY/1", Some(NOW_MS), true);
        assert_eq!(check(&mut authority, 0, &victim), Ok(()));
        for number in 0..ReplayGuard::MAX_KEYS {
            let other = command(&format!("/k/{number}"), Some(NOW_MS + 1000), true);
            assert_eq!(check(&mut authority, 1, &other), Ok(()));
        }
        assert!(check(&mut authority, 1, &victim).is_err());
    }

    #[test]
    fn a_command_from_before_the_start_is_not_obeyed_again_and_one_from_after_it_is() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        authority.start(now(10), 0);
        for seconds in [0, 9, 10] {
            let old = command("/alice/KEY/1", Some(NOW_MS + seconds * 1000), true);
            assert!(check(&mut authority, 11, &old).is_err(), "{seconds}");
        }
        let new = command("/alice/KEY/1", Some(NOW_MS + 10_001), true);
        assert_eq!(check(&mut authority, 11, &new), Ok(()));
        // One whose clock was ahead has been seen by the node before: it wrote down up to when.
        let mut authority = Authority::of_keys(Box::new(Friend));
        authority.start(now(10), NOW_MS + 15_000);
        let ahead = command("/alice/KEY/1", Some(NOW_MS + 14_000), true);
        assert!(check(&mut authority, 11, &ahead).is_err());
        // However far ahead it says, it does not lock anybody out for long.
        let mut authority = Authority::of_keys(Box::new(Friend));
        authority.start(now(10), u64::MAX);
        assert_eq!(check(&mut authority, 21, &command("/alice/KEY/1", Some(NOW_MS + 21_000), true)), Ok(()));
    }

    #[test]
    fn a_clock_that_was_ahead_and_is_put_right_locks_its_owner_out_for_no_second() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let ahead = command("/alice/KEY/1", Some(NOW_MS + 9000), true);
        assert_eq!(check(&mut authority, 0, &ahead), Ok(()));
        let right = command("/alice/KEY/1", Some(NOW_MS + 1000), true);
        assert_eq!(check(&mut authority, 1, &right), Ok(()));
        // And neither is obeyed again, now or when its time has come.
        for seconds in [1, 9, 10, 60] {
            assert!(check(&mut authority, seconds, &ahead).is_err(), "{seconds}");
            assert!(check(&mut authority, seconds, &right).is_err(), "{seconds}");
        }
    }

    #[test]
    fn when_the_node_s_own_clock_is_put_back_keys_go_on_and_what_was_used_stays_used() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        authority.start(now(3600), 0);
        let wrong = command("/alice/KEY/1", Some(NOW_MS + 3_600_001), true);
        assert_eq!(check(&mut authority, 3601, &wrong), Ok(()));
        // An hour back, while a second has passed.
        let put_right =
            |seconds: u64| Now { monotonic: Instant::from_secs(3612), unix_millis: NOW_MS + seconds * 1000 };
        let right = command("/alice/KEY/1", Some(NOW_MS + 2001), true);
        let asked = |authority: &mut Authority, seconds, interest: &Interest| {
            authority.check(put_right(seconds), Command::RibRegister, CommandScope::Localhost, interest)
        };
        assert_eq!(asked(&mut authority, 2, &right), Ok(()));
        assert_eq!(
            asked(&mut authority, 2, &command("/bob/KEY/1", Some(NOW_MS + 2000), true)),
            Err(AuthorizationError::Unauthorized(
                "the time in the signature is before the start of this node; sign anew".to_owned()
            ))
        );
        assert_eq!(asked(&mut authority, 2, &command("/bob/KEY/1", Some(NOW_MS + 2001), true)), Ok(()));
        assert!(asked(&mut authority, 3595, &wrong).is_err(), "its time comes a second time");
    }

    #[test]
    fn a_clock_that_was_wrong_at_the_start_and_is_put_right_lets_nothing_from_before_the_start_in() {
        for wrong_by_s in [3600_u64, 30] {
            // The clock of a machine without a battery; the node starts at NOW_MS by the true one.
            let mut authority = Authority::of_keys(Box::new(Friend));
            let wrong = NOW_MS - wrong_by_s * 1000;
            authority.start(Now { monotonic: Instant::from_secs(10), unix_millis: wrong }, NOW_MS - 15_000);
            // Put right: a command that the node before obeyed fifteen seconds before this one started.
            let replayed = command("/alice/KEY/1", Some(NOW_MS - 15_000), true);
            assert!(check(&mut authority, 5, &replayed).is_err(), "{wrong_by_s}");
            let new = command("/alice/KEY/1", Some(NOW_MS + 4000), true);
            assert_eq!(check(&mut authority, 5, &new), Ok(()));
            assert!(check(&mut authority, 6, &replayed).is_err(), "{wrong_by_s}");
        }
    }

    #[test]
    fn many_commands_by_a_clock_ahead_are_obeyed_once_each() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let commands: Vec<_> = (0..3 * ReplayGuard::MAX_RECENT as u64)
            .map(|number| command("/alice/KEY/1", Some(NOW_MS + 5000 + number), true))
            .collect();
        for interest in &commands {
            assert_eq!(check(&mut authority, 0, interest), Ok(()));
        }
        for interest in &commands {
            assert!(check(&mut authority, 1, interest).is_err());
        }
    }
}
