//! Which parameters each command needs, allows and forbids.

use engine::FaceId;
use management::{Command, ControlParameters, ControlResponse, FacePersistency, StatusCode};
use packet::Name;

use super::MAX_PREFIX_COMPONENTS;

/// Which of a command's parameters are there, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldSet(u32);

macro_rules! field_set {
    ($($name:ident = $bit:literal: $field:ident;)*) => {
        impl FieldSet {
            $(const $name: FieldSet = FieldSet(1 << $bit);)*

            fn of(parameters: &ControlParameters) -> Self {
                FieldSet($(u32::from(parameters.$field.is_some()) << $bit)|*)
            }
        }
    };
}

field_set! {
    NAME = 0: name;
    FACE_ID = 1: face_id;
    URI = 2: uri;
    LOCAL_URI = 3: local_uri;
    ORIGIN = 4: origin;
    COST = 5: cost;
    CAPACITY = 6: capacity;
    COUNT = 7: count;
    FLAGS = 8: flags;
    MASK = 9: mask;
    STRATEGY = 10: strategy;
    EXPIRATION_PERIOD = 11: expiration_period_ms;
    FACE_PERSISTENCY = 12: face_persistency;
    MARKING_INTERVAL = 13: base_congestion_marking_interval_ns;
    CONGESTION_THRESHOLD = 14: default_congestion_threshold_bytes;
    MTU = 15: mtu_bytes;
}

impl FieldSet {
    const NONE: FieldSet = FieldSet(0);

    const fn with(self, other: FieldSet) -> FieldSet {
        FieldSet(self.0 | other.0)
    }

    const fn contains(self, other: FieldSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Fields that say what a face is to be like.
const FACE_SETTINGS: FieldSet = FieldSet::FACE_PERSISTENCY
    .with(FieldSet::MARKING_INTERVAL)
    .with(FieldSet::CONGESTION_THRESHOLD)
    .with(FieldSet::MTU)
    .with(FieldSet::FLAGS)
    .with(FieldSet::MASK);

/// Fields of a command.
struct CommandFields {
    required: FieldSet,
    /// Others that it may have.
    optional: FieldSet,
}

const fn fields(command: Command) -> CommandFields {
    const NAME: FieldSet = FieldSet::NAME;
    const FACE: FieldSet = FieldSet::FACE_ID;
    let (required, optional) = match command {
        Command::FacesCreate => (FieldSet::URI, FACE_SETTINGS.with(FieldSet::LOCAL_URI)),
        Command::FacesUpdate => (FieldSet::NONE, FACE_SETTINGS.with(FACE)),
        Command::FacesDestroy => (FACE, FieldSet::NONE),
        Command::FibAddNextHop => (NAME, FACE.with(FieldSet::COST)),
        Command::FibRemoveNextHop => (NAME, FACE),
        Command::CsConfig => (FieldSet::NONE, FieldSet::CAPACITY.with(FieldSet::FLAGS).with(FieldSet::MASK)),
        Command::CsErase => (NAME, FieldSet::COUNT),
        Command::StrategySet => (NAME.with(FieldSet::STRATEGY), FieldSet::NONE),
        Command::StrategyUnset => (NAME, FieldSet::NONE),
        Command::RibRegister => (
            NAME,
            FACE.with(FieldSet::ORIGIN)
                .with(FieldSet::COST)
                .with(FieldSet::FLAGS)
                .with(FieldSet::EXPIRATION_PERIOD),
        ),
        Command::RibUnregister => (NAME, FACE.with(FieldSet::ORIGIN)),
        Command::RibAnnounce => (FieldSet::NONE, FieldSet::NONE),
    };
    CommandFields { required, optional }
}

/// Whether `command` can have these parameters, as far as that can be told from them alone.
pub(super) fn are_valid(command: Command, parameters: &ControlParameters) -> bool {
    let present = FieldSet::of(parameters);
    let CommandFields { required, optional } = fields(command);
    if !present.contains(required) || !required.with(optional).contains(present) {
        return false;
    }
    let flags_need_a_mask =
        matches!(command, Command::FacesCreate | Command::FacesUpdate | Command::CsConfig);
    if flags_need_a_mask && parameters.flags.is_some() != parameters.mask.is_some() {
        return false;
    }
    if matches!(parameters.face_persistency, Some(FacePersistency::Unknown(_))) {
        return false;
    }
    match command {
        Command::FacesDestroy => parameters.face_id != Some(0),
        Command::CsErase => parameters.count != Some(0),
        Command::StrategyUnset => !parameters.name.as_ref().is_some_and(|name| name.as_ref().is_root()),
        _ => true,
    }
}

/// The prefix that a command is about, if it is short enough.
pub(super) fn prefix(parameters: &ControlParameters) -> Result<Name, ControlResponse> {
    let name = parameters.name.clone().unwrap_or_else(Name::root);
    if name.as_ref().component_count() > MAX_PREFIX_COMPONENTS {
        let text = format!("a prefix cannot exceed {MAX_PREFIX_COMPONENTS} components");
        return Err(ControlResponse::error(StatusCode::NameTooLong, text));
    }
    Ok(name)
}

/// The face that a command is about: the one it came by if it names none.
///
/// Numbers that no face can have are mapped to one that is never given to a face.
pub(super) fn face_or_self(parameters: &ControlParameters, from: FaceId) -> FaceId {
    match parameters.face_id {
        None | Some(0) => from,
        Some(number) => face_id(number),
    }
}

/// The face with this number.
pub(super) fn face_id(number: u64) -> FaceId {
    FaceId(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use management::RouteOrigin;

    use super::*;

    /// Parameters with exactly these fields, by number.
    fn parameters(fields: FieldSet) -> ControlParameters {
        let has = |field| fields.contains(field);
        let number = |field| has(field).then_some(1);
        ControlParameters {
            name: has(FieldSet::NAME).then(|| "/a".parse().unwrap()),
            face_id: number(FieldSet::FACE_ID),
            uri: has(FieldSet::URI).then(String::new),
            local_uri: has(FieldSet::LOCAL_URI).then(String::new),
            origin: has(FieldSet::ORIGIN).then_some(RouteOrigin::App),
            cost: number(FieldSet::COST),
            capacity: number(FieldSet::CAPACITY),
            count: number(FieldSet::COUNT),
            flags: number(FieldSet::FLAGS),
            mask: number(FieldSet::MASK),
            strategy: has(FieldSet::STRATEGY).then(|| "/s".parse().unwrap()),
            expiration_period_ms: number(FieldSet::EXPIRATION_PERIOD),
            face_persistency: has(FieldSet::FACE_PERSISTENCY).then_some(FacePersistency::Persistent),
            base_congestion_marking_interval_ns: number(FieldSet::MARKING_INTERVAL),
            default_congestion_threshold_bytes: number(FieldSet::CONGESTION_THRESHOLD),
            mtu_bytes: number(FieldSet::MTU),
        }
    }

    #[test]
    fn a_command_is_valid_with_what_it_needs_and_with_all_it_may_have_and_with_nothing_else() {
        for &command in Command::ALL {
            let CommandFields { required, optional } = fields(command);
            assert!(are_valid(command, &parameters(required)), "{command:?}");
            assert!(are_valid(command, &parameters(required.with(optional))), "{command:?}");
            for bit in 0..16 {
                let field = FieldSet(1 << bit);
                let without = parameters(FieldSet(required.0 & !field.0));
                assert_eq!(are_valid(command, &without), !required.contains(field), "{command:?} {bit}");
                // Flags and Mask only come together.
                let is_allowed = required.with(optional).contains(field);
                if !is_allowed {
                    assert!(!are_valid(command, &parameters(required.with(field))), "{command:?} {bit}");
                }
            }
        }
    }

    #[test]
    fn flags_need_a_mask_but_for_routes() {
        for command in [Command::FacesCreate, Command::FacesUpdate, Command::CsConfig] {
            let CommandFields { required, .. } = fields(command);
            for half in [FieldSet::FLAGS, FieldSet::MASK] {
                assert!(!are_valid(command, &parameters(required.with(half))), "{command:?}");
            }
        }
        assert!(are_valid(Command::RibRegister, &parameters(FieldSet::NAME.with(FieldSet::FLAGS))));
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        let valid = |command, change: fn(&mut ControlParameters)| {
            let mut parameters = parameters(fields(command).required);
            change(&mut parameters);
            are_valid(command, &parameters)
        };
        assert!(!valid(Command::FacesDestroy, |p| p.face_id = Some(0)));
        assert!(!valid(Command::CsErase, |p| p.count = Some(0)));
        assert!(!valid(Command::StrategyUnset, |p| p.name = Some(Name::root())));
        assert!(valid(Command::StrategySet, |p| p.name = Some(Name::root())));
        assert!(!valid(Command::FacesUpdate, |p| p.face_persistency = Some(FacePersistency::Unknown(3))));
    }

    #[test]
    fn no_face_and_face_zero_mean_the_one_the_command_came_by() {
        let face = |number| {
            let parameters = ControlParameters { face_id: number, ..Default::default() };
            face_or_self(&parameters, FaceId(300)).0
        };
        assert_eq!([face(None), face(Some(0)), face(Some(7)), face(Some(1 << 40))], [300, 300, 7, u32::MAX]);
    }
}
