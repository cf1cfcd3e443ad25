//! Which object a packet belongs to: its name without the segment number.
//!
//! Objects are what is kept or dropped. A packet whose name ends in a segment number belongs to the object of
//! the name before it; any other packet is an object by itself. A key tells dialect, name and how segments
//! are written, so that names which differ on the wire never meet.

use packet::ccnx::markers;
use packet::ndn::tlv;
use packet::{Component, ComponentKind, Dialect, Name, NameRef};

/// How the segments of an object are told in the names of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentForm {
    /// Not at all: the object is one packet, whose name this is.
    Single = 1,
    /// By a component of the type for segments (NDN naming conventions, revision 3).
    Typed = 2,
    /// By a generic component that begins with a zero byte: a NonNegativeInteger follows in NDN (revision 1),
    /// the fewest bytes that hold the number in CCNx.
    Marker = 3,
}

/// Segment numbers that are taken for such. A packet with a larger one is an object by itself.
pub const MAX_SEGMENT: u32 = u32::MAX - 1;

/// The key of an object: dialect, canonical name, a zero byte, form.
///
/// No component begins with a zero byte, so the order of keys is the order of dialects, then the canonical
/// order of names, and a name stands before all that it is a prefix of.
pub type Key = std::sync::Arc<[u8]>;

/// An object's key, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectName<'a> {
    /// The language of its packets.
    pub dialect: Dialect,
    /// Its name, without the segment number.
    pub name: NameRef<'a>,
    /// How its packets tell their segment number.
    pub form: SegmentForm,
}

impl<'a> ObjectName<'a> {
    /// The object to which a packet of this name belongs, and the packet's number in it.
    pub fn of_packet(dialect: Dialect, name: NameRef<'a>) -> (Self, u32) {
        let single = ObjectName { dialect, name, form: SegmentForm::Single };
        let Some(last) = name.last() else { return (single, 0) };
        let Some((form, segment)) = segment_of(dialect, last) else { return (single, 0) };
        let parent = name.canonical().len() - last.encoded_len();
        match NameRef::decode(name.canonical().get(..parent).unwrap_or_default()) {
            Ok(name) => (ObjectName { dialect, name, form }, segment),
            Err(_) => (single, 0),
        }
    }

    /// The key.
    pub fn key(&self) -> Vec<u8> {
        let mut key = prefix_key(self.dialect, self.name);
        key.extend_from_slice(&[0, self.form as u8]);
        key
    }

    /// Reads a key; `None` if it is none.
    pub fn from_key(key: &'a [u8]) -> Option<Self> {
        let (&dialect, rest) = key.split_first()?;
        let (name, &[0, form]) = rest.split_last_chunk::<2>()? else { return None };
        let dialect = dialect_of(dialect)?;
        let form = match form {
            1 => SegmentForm::Single,
            2 => SegmentForm::Typed,
            3 => SegmentForm::Marker,
            _ => return None,
        };
        Some(ObjectName { dialect, name: NameRef::decode(name).ok()?, form })
    }

    /// The name of the packet with this number.
    pub fn packet_name(&self, segment: u32) -> Name {
        let name = self.name.to_name();
        let with = match self.form {
            SegmentForm::Single => return name,
            SegmentForm::Typed => name.with_number(ComponentKind::SEGMENT, segment.into()),
            SegmentForm::Marker => name.with(Component::generic(&marked(self.dialect, segment))),
        };
        with.unwrap_or(name)
    }
}

/// What the keys of all objects below a name begin with.
pub fn prefix_key(dialect: Dialect, name: NameRef<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.canonical().len() + 3);
    key.push(dialect as u8 + 1);
    key.extend_from_slice(name.canonical());
    key
}

/// Keys count dialects from 1.
fn dialect_of(byte: u8) -> Option<Dialect> {
    Dialect::from_number(byte.checked_sub(1)?)
}

/// The number in a component by which a packet tells its segment. Only the one way of writing a number counts
/// that [`ObjectName::packet_name`] writes, for otherwise two names would mean one packet.
pub(crate) fn segment_of(dialect: Dialect, component: Component<'_>) -> Option<(SegmentForm, u32)> {
    let (form, bytes) = match component.kind {
        ComponentKind::SEGMENT => (SegmentForm::Typed, component.value),
        ComponentKind::GENERIC => (SegmentForm::Marker, component.value.strip_prefix(&[0])?),
        _ => return None,
    };
    let number = bytes
        .iter()
        .try_fold(0u64, |number, &byte| (number >> 56 == 0).then_some(number << 8 | u64::from(byte)))?;
    let segment = u32::try_from(number).ok().filter(|&segment| segment <= MAX_SEGMENT)?;
    let is_usual = match (dialect, form) {
        (Dialect::Ccnx, SegmentForm::Marker) => component.value == markers::segment(number),
        _ => bytes.len() == tlv::nni_len(number),
    };
    is_usual.then_some((form, segment))
}

/// The value of the generic component that tells a segment by its marker.
fn marked(dialect: Dialect, segment: u32) -> Vec<u8> {
    match dialect {
        Dialect::Ndn => {
            let mut value = vec![0];
            tlv::write_nni(&mut value, segment.into());
            value
        }
        Dialect::Ccnx => markers::segment(segment.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(dialect: Dialect, name: &Name) -> (String, SegmentForm, u32) {
        let (object, segment) = ObjectName::of_packet(dialect, name.as_ref());
        (object.name.to_string(), object.form, segment)
    }

    #[test]
    fn packets_belong_to_the_object_before_their_segment_number() {
        let name = |uri: &str| uri.parse::<Name>().unwrap();
        assert_eq!(of(Dialect::Ndn, &name("/a/v=1/seg=7")), ("/a/v=1".into(), SegmentForm::Typed, 7));
        assert_eq!(of(Dialect::Ndn, &name("/a/b")), ("/a/b".into(), SegmentForm::Single, 0));
        assert_eq!(of(Dialect::Ndn, &name("/a/%00%01")), ("/a".into(), SegmentForm::Marker, 1));
        assert_eq!(of(Dialect::Ndn, &name("/")), ("/".into(), SegmentForm::Single, 0));
        let first = Name::from_components([Component::generic(b"a"), Component::generic(&[0])]).unwrap();
        assert_eq!(of(Dialect::Ccnx, &first), ("/a".into(), SegmentForm::Marker, 0));
        assert_eq!(of(Dialect::Ndn, &first).1, SegmentForm::Single);
    }

    #[test]
    fn numbers_written_in_an_unusual_way_are_no_segments() {
        for value in [&[0, 1][..], &[], &[0, 0, 1, 0], &[1, 0, 0, 0, 0], &[0, 0, 0, 0, 0, 0, 0, 1]] {
            let last = Component::new(ComponentKind::SEGMENT, value);
            let name = Name::from_components([Component::generic(b"a"), last]).unwrap();
            assert_eq!(of(Dialect::Ndn, &name).1, SegmentForm::Single, "{value:?}");
        }
    }

    #[test]
    fn a_name_stands_before_all_that_it_is_a_prefix_of() {
        let key = |uri: &str, form| {
            let name: Name = uri.parse().unwrap();
            ObjectName { dialect: Dialect::Ndn, name: name.as_ref(), form }.key()
        };
        let keys = [
            key("/a", SegmentForm::Single),
            key("/a", SegmentForm::Marker),
            key("/a/b", SegmentForm::Single),
            key("/a/v=2", SegmentForm::Typed),
            key("/a/v=11", SegmentForm::Typed),
            key("/a/v=256", SegmentForm::Typed),
            key("/b", SegmentForm::Single),
        ];
        assert!(keys.is_sorted());
    }

    proptest! {
        #[test]
        fn a_key_and_a_number_give_the_name_again(
            parts in proptest::collection::vec((0u8..4, proptest::collection::vec(any::<u8>(), 0..6)), 0..5),
            ccnx in any::<bool>(),
        ) {
            let dialect = if ccnx { Dialect::Ccnx } else { Dialect::Ndn };
            let kinds = [ComponentKind::GENERIC, ComponentKind::SEGMENT, ComponentKind::VERSION, ComponentKind::KEYWORD];
            let components = parts.iter().map(|(kind, value)| Component::new(kinds[*kind as usize], value));
            let name = Name::from_components(components).unwrap();
            let (object, segment) = ObjectName::of_packet(dialect, name.as_ref());
            let key = object.key();
            let again = ObjectName::from_key(&key).unwrap();
            prop_assert_eq!(again, object);
            prop_assert_eq!(again.packet_name(segment), name);
        }
    }
}
