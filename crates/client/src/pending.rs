//! Interests that wait for an answer.

use std::collections::{BTreeMap, BTreeSet};

use packet::time::Instant;
use packet::{Component, ComponentKind, Data, Dialect, Interest, Name, NameRef};

/// One Interest that was expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

/// Who an Interest is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anybody who has the Data. Another forwarder can carry it as well.
    Question,
    /// The forwarder itself.
    Command,
}

#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) id: RequestId,
    pub(crate) interest: Interest,
    pub(crate) sent: Instant,
    deadline: Instant,
    kind: Kind,
}

/// Pending Interests by name, and by when they are given up.
#[derive(Debug, Default)]
pub(crate) struct PendingTable {
    by_name: BTreeMap<Name, Vec<Pending>>,
    by_deadline: BTreeSet<(Instant, RequestId, Name)>,
    /// How many names end in an implicit digest; only then is that of each Data computed.
    by_digest: usize,
    next_id: u64,
}

impl PendingTable {
    pub(crate) fn len(&self) -> usize {
        self.by_deadline.len()
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        // Numbers go on: no request is taken for one of before.
        *self = PendingTable { next_id: self.next_id, ..PendingTable::default() };
    }

    /// All that are not for the forwarder itself.
    pub(crate) fn interests(&mut self) -> impl Iterator<Item = &mut Interest> {
        let pending = self.by_name.values_mut().flatten();
        pending.filter(|pending| pending.kind == Kind::Question).map(|pending| &mut pending.interest)
    }

    /// Forgets what is for the forwarder itself.
    pub(crate) fn forget_commands(&mut self) {
        let pending = self.by_name.values().flatten();
        let commands: Vec<RequestId> =
            pending.filter(|pending| pending.kind == Kind::Command).map(|pending| pending.id).collect();
        commands.into_iter().for_each(|id| self.take(id));
    }

    /// Takes this one out.
    pub(crate) fn take(&mut self, id: RequestId) {
        let Some((.., name)) = self.by_deadline.iter().find(|(_, other, _)| *other == id).cloned() else {
            return;
        };
        self.take_matching(&name, |pending| pending.id == id, &mut Vec::new());
    }

    pub(crate) fn insert(
        &mut self,
        interest: Interest,
        sent: Instant,
        deadline: Instant,
        kind: Kind,
    ) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let name = interest.name().to_name();
        self.by_digest += usize::from(interest.implicit_digest().is_some());
        self.by_deadline.insert((deadline, id, name.clone()));
        self.by_name.entry(name).or_default().push(Pending { id, interest, sent, deadline, kind });
        id
    }

    /// When the next one is given up; [`Instant::NEVER`] if none waits.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.by_deadline.first().map_or(Instant::NEVER, |(deadline, ..)| *deadline)
    }

    /// Takes all that `data` answers.
    pub(crate) fn take_answered(&mut self, data: &Data) -> Vec<Pending> {
        let mut taken = Vec::new();
        let name = data.name();
        for count in 1..=name.component_count() {
            self.take_matching(
                &name.prefix(count).to_name(),
                |pending| pending.interest.matches(data),
                &mut taken,
            );
        }
        if self.by_digest > 0 {
            let digest = data.implicit_digest();
            let kind = match data.dialect() {
                Dialect::Ndn => ComponentKind::IMPLICIT_DIGEST,
                Dialect::Ccnx => ComponentKind::GENERIC,
            };
            let component = Component::new(kind, &digest);
            if let Ok(full) = name.to_name().with(component) {
                self.take_matching(&full, |pending| pending.interest.matches(data), &mut taken);
            }
        }
        taken
    }

    /// Takes those of this name: they came back.
    pub(crate) fn take_named(&mut self, name: NameRef<'_>) -> Vec<Pending> {
        let mut taken = Vec::new();
        self.take_matching(&name.to_name(), |_| true, &mut taken);
        taken
    }

    /// Takes one whose time is up.
    pub(crate) fn take_expired(&mut self, now: Instant) -> Option<Pending> {
        let (deadline, id, name) = self.by_deadline.first()?.clone();
        if deadline > now {
            return None;
        }
        let mut taken = Vec::new();
        self.take_matching(&name, |pending| pending.id == id, &mut taken);
        taken.pop()
    }

    fn take_matching(&mut self, name: &Name, wanted: impl Fn(&Pending) -> bool, taken: &mut Vec<Pending>) {
        let Some(all) = self.by_name.get_mut(name) else { return };
        let first_new = taken.len();
        taken.extend(all.extract_if(.., |pending| wanted(pending)));
        if all.is_empty() {
            self.by_name.remove(name);
        }
        for pending in taken.iter().skip(first_new) {
            self.by_deadline.remove(&(pending.deadline, pending.id, name.clone()));
            self.by_digest -= usize::from(pending.interest.implicit_digest().is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::{DataBuilder, InterestBuilder};

    fn interest(uri: &str, prefix: bool) -> Interest {
        InterestBuilder::new(uri.parse().unwrap()).can_be_prefix(prefix).build().unwrap()
    }

    #[test]
    fn a_data_takes_exactly_those_it_answers() {
        let data = DataBuilder::new("/a/b/c".parse().unwrap()).build_with_digest().unwrap();
        let digest = data.implicit_digest();
        let full =
            data.name().to_name().with(Component::new(ComponentKind::IMPLICIT_DIGEST, &digest)).unwrap();
        let mut table = PendingTable::default();
        let at = Instant::from_secs(9);
        let by_digest = InterestBuilder::new(full).build().unwrap();
        let answered = [
            table.insert(interest("/a/b/c", false), Instant::ZERO, at, Kind::Question),
            table.insert(interest("/a", true), Instant::ZERO, at, Kind::Question),
            table.insert(interest("/a/b/c", false), Instant::ZERO, at, Kind::Question),
            table.insert(by_digest, Instant::ZERO, at, Kind::Question),
        ];
        let others = [("/a/b", false), ("/a/b/c/d", true), ("/b", true)];
        for (uri, prefix) in others {
            table.insert(interest(uri, prefix), Instant::ZERO, at, Kind::Question);
        }
        let mut taken: Vec<RequestId> = table.take_answered(&data).iter().map(|pending| pending.id).collect();
        taken.sort();
        assert_eq!(taken, answered);
        assert_eq!(table.len(), others.len());
        assert!(table.take_answered(&data).is_empty());
    }

    #[test]
    fn a_data_of_ccnx_takes_the_interest_for_its_digest() {
        use packet::ccnx::{ContentObjectFields, InterestFields, SignedInfo, Ticks};
        let name: Name = "/a/b".parse().unwrap();
        let signed_info = SignedInfo::new(&[1; 32], Ticks::from_unix(1_700_000_000, 0));
        let object = ContentObjectFields { name: (&name).into(), signed_info, content: b"x" };
        let wire = object.encode(None, |_| Ok::<_, packet::EncodeError>([0; 16])).unwrap();
        let data = Data::decode_ccnx(wire.into()).unwrap();
        let full = name.with(Component::generic(&data.implicit_digest())).unwrap();
        let wire = InterestFields::default().encode(&full).unwrap();
        let interest = Interest::decode_ccnx(wire.into()).unwrap();
        let mut table = PendingTable::default();
        let id = table.insert(interest, Instant::ZERO, Instant::from_secs(1), Kind::Question);
        assert_eq!(table.take_answered(&data).iter().map(|pending| pending.id).collect::<Vec<_>>(), [id]);
    }

    #[test]
    fn the_earliest_is_given_up_first_and_once() {
        let mut table = PendingTable::default();
        let late = table.insert(interest("/a", false), Instant::ZERO, Instant::from_secs(2), Kind::Question);
        let early = table.insert(interest("/a", false), Instant::ZERO, Instant::from_secs(1), Kind::Question);
        assert_eq!(table.next_deadline(), Instant::from_secs(1));
        let mut expired = |secs| table.take_expired(Instant::from_secs(secs)).map(|pending| pending.id);
        assert_eq!([expired(0), expired(3), expired(3), expired(3)], [None, Some(early), Some(late), None]);
        assert_eq!(table.next_deadline(), Instant::NEVER);
    }
}
