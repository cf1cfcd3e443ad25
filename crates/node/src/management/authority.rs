//! Who may give commands.

use std::fmt;

use management::{Command, CommandScope, CommandSignature};
use packet::ndn::KeyLocator;
use packet::time::Instant;
use packet::{Data, Interest, NameRef, Now, UnixTime};
use trust::Certificate;

use super::KeyRejection;
use super::authorization_error::{AuthorizationError, MalformedCommand, UnauthorizedCommand};
use super::replay_guard::{CommandTimes, ReplayGuard};
use super::signer::RouteSigner;

/// A command, and who says that he has given it.
#[derive(Clone, Copy, Debug)]
pub struct SignedCommand<'a> {
    /// What is to be done.
    pub command: Command,
    /// From how far away it may come.
    pub scope: CommandScope,
    /// The name of the key, or of its certificate.
    pub key: NameRef<'a>,
    /// What that key should have made.
    pub signature: &'a CommandSignature<'a>,
}

/// Verifies signatures and knows what each key may do. Implemented over keys and trust rules elsewhere.
pub trait VerifyCommand: Send + fmt::Debug {
    /// Whether anything is known about `key`, by its name or that of its certificate.
    fn knows(&self, key: NameRef<'_>) -> bool;

    /// Checks that the key has made the signature, and that it may give the command now.
    ///
    /// # Errors
    /// Why not.
    fn verify_command(&self, now: UnixTime, signed: SignedCommand<'_>) -> Result<(), KeyRejection>;

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
        now: UnixTime,
        scope: CommandScope,
        announcement: &Data,
    ) -> Result<(), KeyRejection>;
}

/// Whose commands are carried out.
#[derive(Debug)]
pub enum CommandAuthority {
    /// Anybody's, signed or not. The default of NFD: whoever reaches the local socket is trusted.
    Anyone,
    /// Those of keys that a verifier accepts, if they are new.
    Keys(Box<dyn VerifyCommand>, ReplayGuard),
}

impl CommandAuthority {
    /// Commands of keys that `verifier` accepts.
    pub fn of_keys(verifier: Box<dyn VerifyCommand>) -> Self {
        CommandAuthority::Keys(verifier, ReplayGuard::default())
    }

    /// The node starts: see [`ReplayGuard::start`].
    pub(super) fn start(&mut self, now: Now, before: &CommandTimes) {
        if let CommandAuthority::Keys(_, guard) = self {
            guard.start(now, before);
        }
    }

    /// The times in commands that were carried out and lie ahead of now.
    pub(super) fn times_ahead(&self, now: Now) -> Vec<u64> {
        match self {
            CommandAuthority::Anyone => Vec::new(),
            CommandAuthority::Keys(_, guard) => guard.times_ahead(now),
        }
    }

    /// When to look again for [`times_ahead`](Self::times_ahead), should the clock be put back.
    pub(super) fn look_at(&self) -> Instant {
        match self {
            CommandAuthority::Anyone => Instant::NEVER,
            CommandAuthority::Keys(_, guard) => guard.look_at(),
        }
    }

    /// They were looked for.
    pub(super) fn note_look(&mut self, now: Now) {
        if let CommandAuthority::Keys(_, guard) = self {
            guard.note_look(now);
        }
    }

    /// Whether `interest` is to be carried out.
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
        let CommandAuthority::Keys(verifier, guard) = self else { return Ok(()) };
        let (signature, key) = signature_and_key(interest)?;
        let time_ms = guard.check(now, key, &signature).map_err(UnauthorizedCommand::from)?;
        if !verifier.knows(key) {
            return Err(AuthorizationError::UnknownKey(key.to_name()));
        }
        let signed = SignedCommand { command, scope, key, signature: &signature };
        verifier.verify_command(now.unix, signed).map_err(UnauthorizedCommand::from)?;
        guard.remember(now, key, time_ms);
        Ok(())
    }

    /// Whether `interest` is to be carried out, when the key that it names is that of `certificate`, which is
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
        let CommandAuthority::Keys(_, guard) = self else { return Ok(()) };
        let (signature, key) = signature_and_key(interest)?;
        // Others may have come while it waited.
        let time_ms = guard.check(now, key, &signature).map_err(UnauthorizedCommand::from)?;
        let verified =
            certificate.verifier().verify(signature.info.signature_type, &signature.signed, signature.value);
        verified.map_err(UnauthorizedCommand::from)?;
        guard.remember(now, key, time_ms);
        Ok(())
    }

    /// Whether who signed `interest`, which is to be carried out, may give or take routes for `prefix`.
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
        let CommandAuthority::Keys(verifier, _) = self else { return Ok(()) };
        let (_, key) = signature_and_key(interest)?;
        verifier.verify_owner(command, scope, key, prefix).map_err(UnauthorizedCommand::from)?;
        Ok(())
    }

    /// Whether the key that made a route is revoked by now.
    pub fn has_revoked(&self, signer: &RouteSigner) -> bool {
        match self {
            CommandAuthority::Anyone => false,
            CommandAuthority::Keys(verifier, _) => verifier.has_revoked(signer),
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
            CommandAuthority::Anyone => Ok(()),
            CommandAuthority::Keys(verifier, _) => {
                verifier.verify_announcement(now.unix, scope, announcement)
            }
        }
    }
}

/// The signature of a command, and the name of the key that made it.
fn signature_and_key(interest: &Interest) -> Result<(CommandSignature<'_>, NameRef<'_>), AuthorizationError> {
    let signature = CommandSignature::of(interest).map_err(MalformedCommand::from)?;
    match signature.info.key_locator {
        Some(KeyLocator::Name(key)) => Ok((signature, key)),
        _ => Err(MalformedCommand::NoKeyName.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::authorization_error::CommandTimeError;
    use management::ControlParameters;
    use packet::Name;
    use packet::ndn::{SignatureInfoBuilder, SignatureType};

    use super::*;

    /// Accepts signatures that are the name of the key, and of commands only those for routes.
    #[derive(Debug)]
    struct Friend;

    impl VerifyCommand for Friend {
        fn knows(&self, key: NameRef<'_>) -> bool {
            key != "/stranger/KEY/1".parse::<Name>().unwrap().as_ref()
        }

        fn verify_command(&self, _: UnixTime, signed: SignedCommand<'_>) -> Result<(), KeyRejection> {
            let SignedCommand { command, key, signature, .. } = signed;
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

        fn verify_announcement(&self, _: UnixTime, _: CommandScope, _: &Data) -> Result<(), KeyRejection> {
            Err(KeyRejection::NoKeyName)
        }
    }

    const NOW_MS: u64 = 1_700_000_000_000;

    fn now(offset_s: u64) -> Now {
        Now {
            instant: Instant::from_secs(10 + offset_s),
            unix: UnixTime::from_millis(NOW_MS + offset_s * 1000),
        }
    }

    fn up_to(until_ms: u64) -> CommandTimes {
        CommandTimes { until_ms, ..CommandTimes::default() }
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
        authority: &mut CommandAuthority,
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
            CommandAuthority::Anyone.check(now(0), Command::FacesDestroy, CommandScope::Localhost, &unsigned),
            Ok(())
        );
    }

    #[test]
    fn what_is_not_signed_by_a_named_key_is_not_worth_an_answer() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let builder =
            Command::RibRegister.interest(CommandScope::Localhost, &ControlParameters::default()).unwrap();
        let digest = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).time_ms(NOW_MS);
        for interest in [builder.build().unwrap(), builder.build_signed(&digest, |_| vec![0; 32]).unwrap()] {
            assert!(matches!(check(&mut authority, 0, &interest), Err(AuthorizationError::Malformed(_))));
        }
    }

    #[test]
    fn a_command_is_carried_out_once_and_only_around_its_time() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
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
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let interest = command("/stranger/KEY/1", Some(NOW_MS), true);
        let stranger = AuthorizationError::UnknownKey("/stranger/KEY/1".parse().unwrap());
        assert_eq!(check(&mut authority, 0, &interest), Err(stranger));
    }

    #[test]
    fn a_verifier_decides_by_the_command_too() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let interest = command("/alice/KEY/1", Some(NOW_MS), true);
        let outcome = authority.check(now(0), Command::FacesDestroy, CommandScope::Localhost, &interest);
        let refusal = outcome.unwrap_err();
        assert!(matches!(
            &refusal,
            AuthorizationError::Unauthorized(UnauthorizedCommand::Key(KeyRejection::NotPrivileged { .. }))
        ));
        assert_eq!(refusal.to_string(), "unauthorized: /alice/KEY/1 may not give commands for faces");
    }

    #[test]
    fn the_number_of_keys_remembered_has_a_limit() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let extra = 20;
        for number in 0..ReplayGuard::MAX_KEYS + extra {
            let interest = command(&format!("/k/{number}"), Some(NOW_MS + number as u64), true);
            let at =
                Now { instant: Instant::from_millis(number as u64), unix: UnixTime::from_millis(NOW_MS) };
            assert_eq!(authority.check(at, Command::RibRegister, CommandScope::Localhost, &interest), Ok(()));
        }
        let CommandAuthority::Keys(_, guard) = &authority else { panic!("made of keys") };
        assert_eq!(guard.keys.len(), ReplayGuard::MAX_KEYS);
        assert!(!guard.keys.contains_key(&"/k/19".parse::<Name>().unwrap()));
        assert!(guard.keys.contains_key(&"/k/20".parse::<Name>().unwrap()));
    }

    #[test]
    fn a_command_of_a_forgotten_key_is_not_carried_out_again() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let victim = command("/victim/KEY/1", Some(NOW_MS), true);
        assert_eq!(check(&mut authority, 0, &victim), Ok(()));
        for number in 0..ReplayGuard::MAX_KEYS {
            let other = command(&format!("/k/{number}"), Some(NOW_MS + 1000), true);
            assert_eq!(check(&mut authority, 1, &other), Ok(()));
        }
        assert!(check(&mut authority, 1, &victim).is_err());
    }

    #[test]
    fn a_command_from_before_the_start_is_not_carried_out_again_and_one_from_after_it_is() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        authority.start(now(10), &CommandTimes::default());
        for seconds in [0, 9, 10] {
            let old = command("/alice/KEY/1", Some(NOW_MS + seconds * 1000), true);
            assert!(check(&mut authority, 11, &old).is_err(), "{seconds}");
        }
        let new = command("/alice/KEY/1", Some(NOW_MS + 10_001), true);
        assert_eq!(check(&mut authority, 11, &new), Ok(()));
        // One whose clock was ahead has been seen by the node before: it wrote down up to when.
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        authority.start(now(10), &up_to(NOW_MS + 15_000));
        let ahead = command("/alice/KEY/1", Some(NOW_MS + 14_000), true);
        assert!(check(&mut authority, 11, &ahead).is_err());
        // However far ahead it says, it does not lock anybody out for long.
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        authority.start(now(10), &up_to(u64::MAX));
        assert_eq!(check(&mut authority, 21, &command("/alice/KEY/1", Some(NOW_MS + 21_000), true)), Ok(()));
    }

    #[test]
    fn a_clock_that_was_ahead_and_is_put_right_locks_its_owner_out_for_no_second() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let ahead = command("/alice/KEY/1", Some(NOW_MS + 9000), true);
        assert_eq!(check(&mut authority, 0, &ahead), Ok(()));
        let right = command("/alice/KEY/1", Some(NOW_MS + 1000), true);
        assert_eq!(check(&mut authority, 1, &right), Ok(()));
        // And neither is carried out again, now or when its time has come.
        for seconds in [1, 9, 10, 60] {
            assert!(check(&mut authority, seconds, &ahead).is_err(), "{seconds}");
            assert!(check(&mut authority, seconds, &right).is_err(), "{seconds}");
        }
    }

    #[test]
    fn when_the_node_s_own_clock_is_put_back_keys_go_on_and_what_was_used_stays_used() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        authority.start(now(3600), &CommandTimes::default());
        let wrong = command("/alice/KEY/1", Some(NOW_MS + 3_600_001), true);
        assert_eq!(check(&mut authority, 3601, &wrong), Ok(()));
        // An hour back, while a second has passed.
        let put_right = |seconds: u64| Now {
            instant: Instant::from_secs(3612),
            unix: UnixTime::from_millis(NOW_MS + seconds * 1000),
        };
        let right = command("/alice/KEY/1", Some(NOW_MS + 2001), true);
        let asked = |authority: &mut CommandAuthority, seconds, interest: &Interest| {
            authority.check(put_right(seconds), Command::RibRegister, CommandScope::Localhost, interest)
        };
        assert_eq!(asked(&mut authority, 2, &right), Ok(()));
        // The clock had not been put back at NOW_MS + 1000, by the one that is right.
        assert_eq!(
            asked(&mut authority, 2, &command("/bob/KEY/1", Some(NOW_MS + 1000), true)),
            Err(UnauthorizedCommand::from(CommandTimeError::BeforeStart).into())
        );
        assert_eq!(asked(&mut authority, 2, &command("/bob/KEY/1", Some(NOW_MS + 1001), true)), Ok(()));
        assert!(asked(&mut authority, 3595, &wrong).is_err(), "its time comes a second time");
    }

    #[test]
    fn the_first_command_after_a_clock_was_put_back_is_carried_out() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let at = |seconds: u64, unix_s: u64| Now {
            instant: Instant::from_secs(10 + seconds),
            unix: UnixTime::from_millis(NOW_MS + unix_s * 1000),
        };
        authority.start(at(0, 25), &CommandTimes::default());
        let mut give = |now, unix_s: u64| {
            let interest = command("/alice/KEY/1", Some(NOW_MS + unix_s * 1000 + 1), true);
            authority.check(now, Command::RibRegister, CommandScope::Localhost, &interest)
        };
        assert_eq!(give(at(1, 27), 26), Ok(()), "node and client are 25 s ahead");
        assert_eq!(give(at(11, 11), 10), Ok(()), "both are put right");
        for (seconds, unix_s) in [(12, 26), (12, 10), (27, 26), (40, 26), (40, 10)] {
            assert!(give(at(seconds, seconds), unix_s).is_err(), "{unix_s} again after {seconds} s");
        }
    }

    #[test]
    fn a_clock_that_was_right_and_is_put_back_lets_nothing_of_its_past_in() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let hour = 3600;
        let at = |seconds: u64, unix_s: u64| Now {
            instant: Instant::from_secs(10 + seconds),
            unix: UnixTime::from_millis(NOW_MS + unix_s * 1000),
        };
        authority.start(at(0, 2 * hour), &CommandTimes::default());
        let now = command("/alice/KEY/1", Some(NOW_MS + (2 * hour + 59) * 1000), true);
        assert_eq!(
            authority.check(at(60, 2 * hour + 60), Command::RibRegister, CommandScope::Localhost, &now),
            Ok(())
        );
        // Two seconds later it is an hour earlier: what the node before carried out then is recent once more.
        let back = at(62, hour + 62);
        for age_s in [2, 30, 119] {
            let old = command("/bob/KEY/1", Some(back.unix.as_millis() - age_s * 1000), true);
            let outcome = authority.check(back, Command::RibRegister, CommandScope::Localhost, &old);
            assert!(outcome.is_err(), "{age_s}");
        }
        let new = command("/bob/KEY/1", Some(back.unix.as_millis() - 1000), true);
        assert_eq!(authority.check(back, Command::RibRegister, CommandScope::Localhost, &new), Ok(()));
    }

    #[test]
    fn what_was_carried_out_by_a_clock_that_was_put_back_is_told_to_the_next_node_which_refuses_just_that() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
        let at = |seconds: u64, unix_s: u64| Now {
            instant: Instant::from_secs(10 + seconds),
            unix: UnixTime::from_millis(NOW_MS + unix_s * 1000),
        };
        authority.start(at(0, 25), &CommandTimes::default());
        let wrong = command("/alice/KEY/1", Some(NOW_MS + 26_000), true);
        let asked = |authority: &mut CommandAuthority, now, interest: &Interest| {
            authority.check(now, Command::RibRegister, CommandScope::Localhost, interest)
        };
        assert_eq!(asked(&mut authority, at(1, 26), &wrong), Ok(()));
        assert_eq!(authority.times_ahead(at(1, 26)), Vec::<u64>::new());
        assert!(authority.look_at() <= Instant::from_secs(12));
        let times = authority.times_ahead(at(2, 2));
        assert_eq!(times, [NOW_MS + 26_000], "the clock was put back");
        let mut before = CommandTimes::default();
        assert!(before.insert(times[0]) && !before.insert(times[0]));
        let mut next = CommandAuthority::of_keys(Box::new(Friend));
        next.start(at(3, 3), &before);
        let right = command("/alice/KEY/1", Some(NOW_MS + 3001), true);
        assert_eq!(asked(&mut next, at(4, 4), &right), Ok(()), "nobody is locked out");
        for seconds in [17, 25, 26, 27, 60] {
            assert!(asked(&mut next, at(seconds, seconds), &wrong).is_err(), "{seconds}");
        }
    }

    #[test]
    fn a_clock_that_was_wrong_at_the_start_and_is_put_right_lets_nothing_from_before_the_start_in() {
        for wrong_by_s in [3600_u64, 30] {
            // The clock of a machine without a battery; the node starts at NOW_MS by the true one.
            let mut authority = CommandAuthority::of_keys(Box::new(Friend));
            let wrong = NOW_MS - wrong_by_s * 1000;
            authority.start(
                Now { instant: Instant::from_secs(10), unix: UnixTime::from_millis(wrong) },
                &up_to(NOW_MS - 15_000),
            );
            // Put right: a command that the node before carried out fifteen seconds before this one started.
            let replayed = command("/alice/KEY/1", Some(NOW_MS - 15_000), true);
            assert!(check(&mut authority, 5, &replayed).is_err(), "{wrong_by_s}");
            let new = command("/alice/KEY/1", Some(NOW_MS + 4000), true);
            assert_eq!(check(&mut authority, 5, &new), Ok(()));
            assert!(check(&mut authority, 6, &replayed).is_err(), "{wrong_by_s}");
        }
    }

    #[test]
    fn many_commands_by_a_clock_ahead_are_carried_out_once_each() {
        let mut authority = CommandAuthority::of_keys(Box::new(Friend));
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
