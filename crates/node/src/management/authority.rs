//! Who may give commands.

use std::collections::BTreeMap;
use std::fmt;

use management::{Command, CommandSignature, Reach};
use packet::ndn::KeyLocator;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, Name, NameRef};
use thiserror::Error;
use trust::Certificate;

use crate::control::Now;

/// Verifies signatures and knows what each key may do. Implemented over keys and trust rules elsewhere.
pub trait VerifyCommand: Send + fmt::Debug {
    /// Whether anything is known about `key`, by its name or that of its certificate.
    fn knows(&self, key: NameRef<'_>) -> bool;

    /// Checks that `key` has made `signature`, and that it may give `command` now.
    ///
    /// # Errors
    /// Why not, for the log.
    fn verify_command(
        &self,
        unix_millis: u64,
        command: Command,
        reach: Reach,
        key: NameRef<'_>,
        signature: &CommandSignature<'_>,
    ) -> Result<(), String>;

    /// Checks that the owner of the prefix has signed a prefix announcement.
    ///
    /// # Errors
    /// Why not, for the log.
    fn verify_announcement(&self, unix_millis: u64, reach: Reach, announcement: &Data) -> Result<(), String>;
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
pub enum Refusal {
    /// It is not signed, or not in a way that names a key: not worth an answer.
    #[error("malformed: {0}")]
    Malformed(String),
    /// It is signed by somebody who may not, wrongly, or not for the first time.
    #[error("unauthorized: {0}")]
    Unauthorized(String),
    /// It is signed by a key that nothing is known about.
    #[error("{0} is not a trusted key")]
    Stranger(Name),
}

impl Authority {
    /// Commands of keys that `verifier` accepts.
    pub fn of_keys(verifier: Box<dyn VerifyCommand>) -> Self {
        Authority::Keys(verifier, ReplayGuard::default())
    }

    /// Whether `interest` is to be obeyed.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check(
        &mut self,
        now: Now,
        command: Command,
        reach: Reach,
        interest: &Interest,
    ) -> Result<(), Refusal> {
        let Authority::Keys(verifier, guard) = self else { return Ok(()) };
        let (signature, key) = signature_and_key(interest)?;
        let time_ms = guard.check(now, key, &signature)?;
        if !verifier.knows(key) {
            return Err(Refusal::Stranger(key.to_name()));
        }
        let verdict = verifier.verify_command(now.unix_millis, command, reach, key, &signature);
        verdict.map_err(Refusal::Unauthorized)?;
        guard.remember(now, key, time_ms);
        Ok(())
    }

    /// Whether `interest` is to be obeyed, when the key that it names is that of `certificate`, which is known to count.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_delegate(
        &mut self,
        now: Now,
        interest: &Interest,
        certificate: &Certificate,
    ) -> Result<(), Refusal> {
        let Authority::Keys(_, guard) = self else { return Ok(()) };
        let (signature, key) = signature_and_key(interest)?;
        // Others may have come while it waited.
        let time_ms = guard.check(now, key, &signature)?;
        let verified =
            certificate.verifier().verify(signature.info.signature_type, &signature.signed, signature.value);
        verified.map_err(|error| Refusal::Unauthorized(error.to_string()))?;
        guard.remember(now, key, time_ms);
        Ok(())
    }

    /// Whether a prefix announcement is to be believed.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn check_announcement(
        &self,
        now: Now,
        reach: Reach,
        announcement: &Data,
    ) -> Result<(), String> {
        match self {
            Authority::Anyone => Ok(()),
            Authority::Keys(verifier, _) => {
                verifier.verify_announcement(now.unix_millis, reach, announcement)
            }
        }
    }
}

/// The signature of a command, and the name of the key that made it.
fn signature_and_key(interest: &Interest) -> Result<(CommandSignature<'_>, NameRef<'_>), Refusal> {
    let signature = CommandSignature::of(interest).map_err(|error| Refusal::Malformed(error.to_string()))?;
    match signature.info.key_locator {
        Some(KeyLocator::Name(key)) => Ok((signature, key)),
        _ => Err(Refusal::Malformed("the signature does not name a key".to_owned())),
    }
}

/// Refuses commands that were given before: the time in a signature must be near to now, and later than that of the last
/// command by the same key.
///
/// At the limit the key that was not used for longest is forgotten. Its old commands are still refused once they are
/// older than the grace period.
#[derive(Clone, Debug, Default)]
pub struct ReplayGuard {
    /// Time in the last command by each key, and when it came.
    last: BTreeMap<Name, (u64, Instant)>,
}

impl ReplayGuard {
    /// How far the time in a command may be from now, in milliseconds.
    pub const GRACE_MS: u64 = 120_000;
    /// Keys remembered.
    pub const MAX_KEYS: usize = 1000;
    /// How long a key is remembered that is not used.
    pub const KEY_LIFETIME: Duration = Duration::from_secs(3600);

    /// Gives the time in a command that is new.
    fn check(&self, now: Now, key: NameRef<'_>, signature: &CommandSignature<'_>) -> Result<u64, Refusal> {
        let refuse = |reason: &str| Err(Refusal::Unauthorized(reason.to_owned()));
        let Some(time_ms) = signature.time_ms else { return refuse("the signature does not say its time") };
        if now.unix_millis.abs_diff(time_ms) > Self::GRACE_MS {
            return refuse("the time in the signature is more than two minutes off");
        }
        let last = self.last.get(&key.to_name());
        let last = last.filter(|(_, used)| now.monotonic.saturating_since(*used) <= Self::KEY_LIFETIME);
        match last {
            Some((last_ms, _)) if time_ms <= *last_ms => {
                refuse("the time in the signature is not later than in the last command")
            }
            _ => Ok(time_ms),
        }
    }

    fn remember(&mut self, now: Now, key: NameRef<'_>, time_ms: u64) {
        let key = key.to_name();
        if !self.last.contains_key(&key) && self.last.len() >= Self::MAX_KEYS {
            let oldest = self.last.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.last.remove(&oldest);
            }
        }
        self.last.insert(key, (time_ms, now.monotonic));
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
            _: Reach,
            key: NameRef<'_>,
            signature: &CommandSignature<'_>,
        ) -> Result<(), String> {
            let is_signed = signature.value == key.canonical();
            let may = command == Command::RibRegister;
            if is_signed && may { Ok(()) } else { Err(format!("signed {is_signed}, may {may}")) }
        }

        fn verify_announcement(&self, _: u64, _: Reach, _: &Data) -> Result<(), String> {
            Err("nobody's".to_owned())
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
            .interest(Reach::Localhost, &parameters)
            .unwrap()
            .build_signed(&info, |_| value)
            .unwrap()
    }

    fn check(authority: &mut Authority, offset_s: u64, interest: &Interest) -> Result<(), Refusal> {
        authority.check(now(offset_s), Command::RibRegister, Reach::Localhost, interest)
    }

    #[test]
    fn anyone_may_do_anything_where_no_keys_are_configured() {
        let unsigned =
            Command::FacesDestroy.interest(Reach::Localhost, &ControlParameters::default()).unwrap();
        let unsigned = unsigned.build().unwrap();
        assert_eq!(
            Authority::Anyone.check(now(0), Command::FacesDestroy, Reach::Localhost, &unsigned),
            Ok(())
        );
    }

    #[test]
    fn what_is_not_signed_by_a_named_key_is_not_worth_an_answer() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let builder = Command::RibRegister.interest(Reach::Localhost, &ControlParameters::default()).unwrap();
        let digest = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).time_ms(NOW_MS);
        for interest in [builder.build().unwrap(), builder.build_signed(&digest, |_| vec![0; 32]).unwrap()] {
            assert!(matches!(check(&mut authority, 0, &interest), Err(Refusal::Malformed(_))));
        }
    }

    #[test]
    fn a_command_is_obeyed_once_and_only_around_its_time() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let refused = |outcome: Result<(), Refusal>| matches!(outcome, Err(Refusal::Unauthorized(_)));
        let first = command("/alice/KEY/1", Some(NOW_MS), true);
        assert_eq!(check(&mut authority, 0, &first), Ok(()));
        assert!(refused(check(&mut authority, 1, &first)), "again");
        assert!(refused(check(&mut authority, 1, &command("/alice/KEY/1", Some(NOW_MS - 1), true))), "older");
        assert_eq!(check(&mut authority, 1, &command("/alice/KEY/1", Some(NOW_MS + 1), true)), Ok(()));
        // Another key has a time of its own.
        assert_eq!(check(&mut authority, 1, &command("/bob/KEY/1", Some(NOW_MS - 5), true)), Ok(()));
        assert!(refused(check(&mut authority, 121, &command("/carol/KEY/1", Some(NOW_MS), true))), "too old");
        let early = command("/carol/KEY/1", Some(NOW_MS + 121_001), true);
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
        let stranger = Refusal::Stranger("/stranger/KEY/1".parse().unwrap());
        assert_eq!(check(&mut authority, 0, &interest), Err(stranger));
    }

    #[test]
    fn a_verifier_decides_by_the_command_too() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let interest = command("/alice/KEY/1", Some(NOW_MS), true);
        let outcome = authority.check(now(0), Command::FacesDestroy, Reach::Localhost, &interest);
        assert_eq!(outcome, Err(Refusal::Unauthorized("signed true, may false".to_owned())));
    }

    #[test]
    fn the_number_of_keys_remembered_has_a_limit() {
        let mut authority = Authority::of_keys(Box::new(Friend));
        let extra = 20;
        for number in 0..ReplayGuard::MAX_KEYS + extra {
            let interest = command(&format!("/k/{number}"), Some(NOW_MS + number as u64), true);
            let at = Now { monotonic: Instant::from_millis(number as u64), unix_millis: NOW_MS };
            assert_eq!(authority.check(at, Command::RibRegister, Reach::Localhost, &interest), Ok(()));
        }
        let Authority::Keys(_, guard) = &authority else { panic!("made of keys") };
        assert_eq!(guard.last.len(), ReplayGuard::MAX_KEYS);
        assert!(!guard.last.contains_key(&"/k/19".parse::<Name>().unwrap()));
        assert!(guard.last.contains_key(&"/k/20".parse::<Name>().unwrap()));
    }
}
