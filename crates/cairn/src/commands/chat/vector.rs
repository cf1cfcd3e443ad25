//! Who has said how much: a state vector, as State Vector Sync (version 2) writes it.

use std::collections::BTreeMap;

use packet::ndn::tlv::{self, Reader};
use packet::ndn::types;
use packet::{DecodeError, Dialect, Name, Rule};

use super::names::can_be_member;

const STATE_VECTOR: u32 = 201;
const ENTRY: u32 = 202;
const SEQUENCE_NUMBER: u32 = 204;

/// Members that a vector may have. More are cut off, so that strangers cannot fill our memory.
pub(super) const MAX_MEMBERS: usize = 256;

/// The highest number of each member's messages; the first message has number 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StateVector(BTreeMap<Name, u64>);

impl StateVector {
    pub(super) fn get(&self, member: &Name) -> u64 {
        self.0.get(member).copied().unwrap_or(0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Name, u64)> {
        self.0.iter().map(|(name, number)| (name, *number))
    }

    /// Raises a member's number; says from what, if it was lower.
    pub(super) fn raise(&mut self, member: &Name, number: u64) -> Option<u64> {
        let before = self.get(member);
        let has_room = self.0.len() < MAX_MEMBERS || self.0.contains_key(member);
        if number <= before || !has_room {
            return None;
        }
        self.0.insert(member.clone(), number);
        Some(before)
    }

    /// Whether it knows of any message that `other` does not.
    pub(super) fn is_ahead_of(&self, other: &StateVector) -> bool {
        self.iter().any(|(member, number)| number > other.get(member))
    }

    /// Without names that no member's messages can have in this dialect: whoever invents one is to have us
    /// ask for nothing.
    pub(super) fn only_members_of(mut self, dialect: Dialect) -> Self {
        self.0.retain(|name, _| can_be_member(dialect, name.as_ref()));
        self
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut entries = Vec::new();
        for (member, number) in self.iter() {
            let mut entry = Vec::new();
            tlv::write_name(&mut entry, member);
            tlv::write_nni_element(&mut entry, SEQUENCE_NUMBER, number);
            tlv::write_element(&mut entries, ENTRY, &entry);
        }
        let mut out = Vec::new();
        tlv::write_element(&mut out, STATE_VECTOR, &entries);
        out
    }

    /// Reads what [`StateVector::encode`] wrote; all elements are critical.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut outer = Reader::new(bytes, "StateVector");
        let vector = outer.required(STATE_VECTOR, "StateVector")?;
        outer.finish()?;
        let mut entries = outer.inside(vector, "StateVector");
        let mut found = StateVector::default();
        while let Some(entry) = entries.element()? {
            if entry.kind != ENTRY {
                let rule = Rule::UnrecognisedCritical(entry.kind.into());
                return Err(DecodeError::new("StateVector", entry.start, rule));
            }
            let mut inside = entries.inside(entry, "StateVectorEntry");
            let name = tlv::read_name(inside.required(types::NAME, "Name")?)?;
            let number = tlv::read_nni(inside.required(SEQUENCE_NUMBER, "SeqNo")?, "SeqNo")?;
            inside.finish()?;
            found.raise(&name, number);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_protocol_is_written_and_read() {
        let mut vector = StateVector::default();
        vector.raise(&"/A".parse().unwrap(), 5);
        let bytes = vector.encode();
        assert_eq!(bytes, b"\xc9\x0a\xca\x08\x07\x03\x08\x01A\xcc\x01\x05");
        assert_eq!(StateVector::decode(&bytes), Ok(vector));
        assert!(StateVector::decode(&bytes[..9]).is_err());
        assert!(StateVector::decode(b"\xc9\x02\xcb\x00").is_err());
    }

    #[test]
    fn names_below_which_no_message_can_have_a_name_are_no_members() {
        let mut vector = StateVector::default();
        let deep = |components: usize| "/a".repeat(components);
        let long = |bytes: usize| format!("/{}", "x".repeat(bytes));
        for name in [&deep(127), &deep(128), &long(3900), &long(4000), "/ann/t=1", "/ann"] {
            vector.raise(&name.parse().unwrap(), 1);
        }
        let of = |dialect| vector.clone().only_members_of(dialect).0.into_keys().collect::<Vec<Name>>();
        let named = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect::<Vec<Name>>();
        let both = named(&[&deep(127), "/ann", &long(3900)]);
        assert_eq!(of(Dialect::Ccnx), both);
        assert_eq!(of(Dialect::Ndn), named(&[&deep(127), "/ann", "/ann/t=1", &long(3900)]));
    }

    #[test]
    fn strangers_cannot_make_it_grow_without_end() {
        let mut vector = StateVector::default();
        for number in 0..MAX_MEMBERS + 10 {
            vector.raise(&format!("/{number}").parse().unwrap(), 1);
        }
        assert_eq!(vector.iter().count(), MAX_MEMBERS);
    }
}
