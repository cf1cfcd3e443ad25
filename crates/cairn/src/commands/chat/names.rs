//! How the names of a room and of its members' messages are made in each dialect.

use packet::ccnx::{Ticks, markers};
use packet::random::Random;
use packet::{Component, ComponentKind, Dialect, Name, NameRef, UnixTime};

use crate::tool::ToolError;

/// What comes behind a room's name before a state vector that is a component, in CCNx: a command marker, as
/// those of name enumeration and of repositories.
const STATE_VECTORS: &[u8] = b"\xc1.svs";

/// Bytes of the names that a state vector tells of: with their numbers, a signature and the name of the room
/// they fit into a packet.
pub(super) const MAX_TOLD_BYTES: usize = 4000;

/// Where state vectors of a room go.
pub(super) fn vector_prefix(dialect: Dialect, room: &Name) -> Result<Name, ToolError> {
    Ok(room.with(match dialect {
        Dialect::Ndn => Component::new(ComponentKind::VERSION, &[2]),
        Dialect::Ccnx => Component::generic(STATE_VECTORS),
    })?)
}

/// A member's name with the time of coming. Two may have one name, and one may come twice.
pub(super) fn with_coming(
    dialect: Dialect,
    member: &Name,
    unix: UnixTime,
    random: &mut Random,
) -> Result<Name, ToolError> {
    Ok(match dialect {
        Dialect::Ndn => {
            let micros = unix.as_millis().saturating_mul(1000) + random.below(1000);
            member.with_number(ComponentKind::TIMESTAMP, micros)?
        }
        Dialect::Ccnx => {
            let ticks = Ticks::from(unix).count() + random.below(Ticks::PER_SECOND / 1000);
            member.with(Component::generic(&markers::version(Ticks::from_count(ticks))))?
        }
    })
}

/// Whether a component of a member's name is the time of coming, in either dialect.
pub(super) fn is_coming(component: &Component<'_>) -> bool {
    component.kind == ComponentKind::TIMESTAMP
        || (component.kind == ComponentKind::GENERIC && markers::parse_version(component.value).is_some())
}

/// The name of a member's message: in CCNx, numbers are segments.
pub(super) fn with_number(dialect: Dialect, member: &Name, number: u64) -> Result<Name, ToolError> {
    Ok(match dialect {
        Dialect::Ndn => member.with_number(ComponentKind::SEQUENCE_NUMBER, number)?,
        Dialect::Ccnx => member.with(Component::generic(&markers::segment(number)))?,
    })
}

/// Whether messages can have names below this one, in this dialect.
pub(super) fn can_be_member(dialect: Dialect, name: NameRef<'_>) -> bool {
    name.component_count() < NameRef::MAX_COMPONENTS
        && name.canonical().len() <= MAX_TOLD_BYTES
        && (dialect == Dialect::Ndn
            || name.components().all(|component| component.kind == ComponentKind::GENERIC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_ccnx_is_a_segment_below_a_version() {
        let member = with_coming(
            Dialect::Ccnx,
            &"/ann".parse().unwrap(),
            UnixTime::from_secs(1_234_567_890),
            &mut Random::from_seed(1),
        );
        let member = member.unwrap().with(Component::generic(b"room")).unwrap();
        let name = with_number(Dialect::Ccnx, &member, 258).unwrap();
        let name = packet::name::name_in_dialect(Dialect::Ccnx, name.as_ref());
        assert!(name.starts_with("ccnx:/ann/=FD0499602D2") && name.ends_with("/room/=000102"), "{name}");
        assert_eq!(member.components().filter(is_coming).count(), 1);
    }
}
