//! In which order packets answer an Interest of CCNx: the leftmost below its name, or the leftmost below the
//! last child, as in a content store. Names are compared in memory; what only the packet itself can tell, its
//! publisher and its digest, whoever reads it finds out.
//!
//! The digest of a packet is the last component of its whole name. It is not known here and comes where a
//! component of 32 bytes would at the earliest.

use std::cmp::Ordering;

use packet::ccnx::InterestView;
use packet::ccnx::name::compare_components;
use packet::{Component, Dialect, NameRef};

use super::{Located, Store};
use crate::key::{ObjectName, SegmentForm, prefix_key};
use crate::object::{Object, ObjectId};

/// Names that are compared for one Interest. A cache may miss, so beyond that it does.
const MAX_COMPARED: usize = 4096;
/// Packets that are read for one Interest.
const MAX_READ: usize = 64;
/// The same where nothing but its name can make the first one the wrong one, or a bad disk.
const MAX_READ_BY_NAME: usize = 4;
/// No component begins with a byte of ones, so this stands behind all names with one component more.
const BEHIND: [u8; 4] = [0xff; 4];
const DIGEST_BYTES: usize = 32;

/// Looks below an Interest's name.
struct Walk<'a> {
    store: &'a Store,
    view: &'a InterestView<'a>,
    name: NameRef<'a>,
    found: Vec<Located>,
    compared: usize,
    most: usize,
}

/// A child: the segment of this number, or all below this component, or both.
struct Child {
    component: Vec<u8>,
    segment: Option<u32>,
    is_prefix: bool,
}

/// A packet: its object, and its number in it.
type Packet = (ObjectId, u32);

impl Store {
    /// Where packets lie that may answer, in the order in which they are to be tried.
    pub(super) fn locate_ccnx(&self, view: &InterestView<'_>, name: NameRef<'_>) -> Vec<Located> {
        let by_name = view.publisher().is_none() && view.exclude().is_none();
        let most = if by_name { MAX_READ_BY_NAME } else { MAX_READ };
        let mut walk = Walk { store: self, view, name, found: Vec::new(), compared: 0, most };
        walk.by_digest();
        let start = prefix_key(Dialect::Ccnx, name);
        let (object, segment) = ObjectName::of_packet(Dialect::Ccnx, name);
        let exact = self.objects.catalogue.find(&object.key()).map(|id| (id, segment));
        match view.child_selector().is_rightmost() {
            true => walk.rightmost(&start, exact),
            false => walk.leftmost(&start, 0, exact),
        }
        walk.found
    }

    /// The object whose segments stand right behind the name with this prefix key.
    fn segmented(&self, start: &[u8]) -> Option<ObjectId> {
        self.objects.catalogue.find(&[start, &[0, SegmentForm::Marker as u8]].concat())
    }

    fn object(&self, id: Option<ObjectId>) -> Option<&Object> {
        self.objects.catalogue.get(id?)
    }
}

impl Walk<'_> {
    fn is_full(&self) -> bool {
        self.found.len() >= self.most || self.compared >= MAX_COMPARED
    }

    /// Whether an answer may have so many components behind the Interest's name, its digest counted.
    fn allows(&self, suffix: usize) -> bool {
        let allowed = self.view.min_suffix_components()..=self.view.max_suffix_components();
        u16::try_from(suffix).is_ok_and(|suffix| allowed.contains(&suffix))
    }

    fn excludes(&self, component: &[u8]) -> bool {
        self.view.exclude().is_some_and(|exclude| exclude.excludes(component))
    }

    /// The packet whose digest the Interest's name ends in.
    fn by_digest(&mut self) {
        let ends_in_digest = self.name.last().is_some_and(|last| last.value.len() == DIGEST_BYTES);
        if ends_in_digest && self.allows(0) {
            let name = self.name.prefix(self.name.component_count() - 1);
            self.store.locate_exact(Dialect::Ccnx, name, &mut self.found);
        }
    }

    /// Notes the packet of a name that has `depth` components more than the Interest's.
    fn tell(&mut self, packet: Option<Packet>, depth: usize) {
        if let Some((id, segment)) = packet.filter(|_| self.allows(depth + 1)) {
            let object = self.store.objects.catalogue.get(id);
            self.found.extend(object.and_then(|object| self.store.located(id, object, segment)));
        }
    }

    /// All below the name with this prefix key, which has `depth` components more than the Interest's, and
    /// the packet of just this name, in canonical order.
    fn leftmost(&mut self, start: &[u8], depth: usize, exact: Option<Packet>) {
        // What is below has more components still.
        if depth + 1 > usize::from(self.view.max_suffix_components()) {
            return;
        }
        let (mut from, mut exact) = (start.to_vec(), exact);
        let segmented = self.store.segmented(start);
        let mut segment = self.store.object(segmented).and_then(|object| object.extents.first_segment());
        while !self.is_full() {
            let prefix = self.next_prefix(start, depth, &mut from);
            let Some(child) = first_of(prefix, segment, Ordering::Less) else { break };
            if child.component.len() >= DIGEST_BYTES {
                self.tell(exact.take(), depth);
            }
            let below = below(start, &child.component);
            if child.is_prefix {
                from = [&below[..], &BEHIND].concat();
            }
            if let Some(number) = child.segment {
                let object = self.store.object(segmented);
                segment = object.and_then(|object| object.extents.next_segment(number + 1));
            }
            self.visit(&child, &below, depth, segmented);
        }
        self.tell(exact, depth);
    }

    /// The last child first, and what is below each in canonical order.
    fn rightmost(&mut self, start: &[u8], exact: Option<Packet>) {
        let (mut end, mut exact) = ([start, &BEHIND].concat(), exact);
        let segmented = self.store.segmented(start);
        let mut segment = self.store.object(segmented).and_then(|object| object.extents.last_segment());
        while !self.is_full() {
            let prefix = self.last_prefix(start, &end);
            let Some(child) = first_of(prefix, segment, Ordering::Greater) else { break };
            if child.component.len() < DIGEST_BYTES {
                self.tell(exact.take(), 0);
            }
            let below = below(start, &child.component);
            if child.is_prefix {
                end.clone_from(&below);
            }
            if let Some(number) = child.segment {
                let object = self.store.object(segmented);
                segment = object.and_then(|object| object.extents.segment_before(number));
            }
            self.visit(&child, &below, 0, segmented);
        }
        self.tell(exact, 0);
    }

    /// Notes what is below a child of a name with `depth` components more than the Interest's, unless it is
    /// excluded.
    fn visit(&mut self, child: &Child, below: &[u8], depth: usize, segmented: Option<ObjectId>) {
        self.compared += 1;
        if depth == 0 && self.excludes(&child.component) {
            return;
        }
        let packet = segmented.zip(child.segment);
        if !child.is_prefix {
            return self.tell(packet, depth + 1);
        }
        let single = || self.store.objects.catalogue.find(&[below, &[0, SegmentForm::Single as u8]].concat());
        let exact = packet.or_else(|| Some((single()?, 0)));
        self.leftmost(below, depth + 1, exact);
    }

    /// The first component that objects have at or behind `from`, which is moved to them.
    fn next_prefix(&self, start: &[u8], depth: usize, from: &mut Vec<u8>) -> Option<Vec<u8>> {
        loop {
            let (key, _) = self.store.objects.catalogue.first_from(from)?;
            if !key.starts_with(start) {
                return None;
            }
            match ObjectName::from_key(key)?.name.component(self.name.component_count() + depth) {
                Some(component) => return Some(component.value.to_vec()),
                // An object of just this name.
                None => *from = [key.as_ref(), &[0]].concat(),
            }
        }
    }

    /// The last component that objects have right behind the Interest's name, before `end`.
    fn last_prefix(&self, start: &[u8], end: &[u8]) -> Option<Vec<u8>> {
        let key = self.store.objects.catalogue.last_before(end).filter(|key| key.starts_with(start))?;
        Some(ObjectName::from_key(key)?.name.component(self.name.component_count())?.value.to_vec())
    }
}

/// The prefix key of a name with one component more.
fn below(start: &[u8], component: &[u8]) -> Vec<u8> {
    let mut below = start.to_vec();
    Component::generic(component).append_to(&mut below);
    below
}

/// The child that comes first in this order: of the next prefix and the next segment.
fn first_of(prefix: Option<Vec<u8>>, segment: Option<u32>, first: Ordering) -> Option<Child> {
    let of_segment = segment.map(|segment| packet::ccnx::markers::segment(segment.into()));
    let order = match (&prefix, &of_segment) {
        (Some(prefix), Some(segment)) => compare_components(prefix, segment),
        (Some(_), None) => first,
        (None, Some(_)) => first.reverse(),
        (None, None) => return None,
    };
    let (has_prefix, has_segment) = (order == first, order == first.reverse());
    let (is_prefix, is_segment) = (has_prefix || order.is_eq(), has_segment || order.is_eq());
    let component = if is_prefix { prefix } else { of_segment }?;
    Some(Child { component, segment: segment.filter(|_| is_segment), is_prefix })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use packet::ccnx::{ChildSelector, Exclude, InterestFields};
    use packet::random::Random;
    use packet::{Data, Interest, Name, NameHasher, UnixTime};

    use super::*;
    use crate::disk::SimulatedDisk;
    use crate::store::{Answer, StoreConfig, StoreKeys};
    use crate::testing::ccnx_data_of;

    /// The first answer in canonical order of full names, or the first below the last child.
    fn expected<'d>(stored: &'d [Data], interest: &Interest) -> Option<&'d Data> {
        let full = |data: &Data| -> Vec<(usize, Vec<u8>)> {
            let digest = data.implicit_digest();
            let components = data.name().components().map(|component| component.value.to_vec());
            components.chain([digest.to_vec()]).map(|value| (value.len(), value)).collect()
        };
        let mut answers: Vec<&Data> = stored.iter().filter(|data| interest.matches(data)).collect();
        answers.sort_by_key(|data| full(data));
        let depth = interest.component_count();
        if interest.ccnx()?.child_selector().is_rightmost() {
            let last = answers.iter().map(|data| full(data).get(depth).cloned()).max()?;
            answers.retain(|data| full(data).get(depth).cloned() == last);
        }
        answers.first().copied()
    }

    fn draw_name(random: &mut Random, at_least: u64) -> Name {
        let long = [7; 33];
        let values = [&b"a"[..], b"b", b"aa", &[0], &[0, 1], &[0, 2], b"", &long];
        let count = at_least + random.below(5 - at_least);
        let components = (0..count).map(|_| Component::generic(values[random.below(8) as usize]));
        Name::from_components(components).unwrap()
    }

    fn draw_interest(random: &mut Random, stored: &[Data]) -> Interest {
        let mut name = draw_name(random, 0);
        if random.chance(0.3) {
            let data = &stored[random.below(stored.len() as u64) as usize];
            name = data.name().to_name().with(Component::generic(&data.implicit_digest())).unwrap();
            name = name.prefix(name.as_ref().component_count() - random.below(2) as usize);
        }
        let excluded: Vec<&[u8]> =
            [&b"a"[..], b"b", &[0, 1]].into_iter().filter(|_| random.chance(0.3)).collect();
        let exclude = Exclude::components(excluded.iter().copied());
        let min = random.chance(0.3).then(|| random.below(4) as u16);
        let max = random.chance(0.3).then(|| min.unwrap_or(0) + random.below(3) as u16);
        let fields = InterestFields {
            min_suffix_components: min,
            max_suffix_components: max,
            exclude: (!excluded.is_empty()).then(|| exclude.as_ref()),
            child_selector: random.chance(0.5).then_some(ChildSelector::RIGHTMOST),
            ..InterestFields::default()
        };
        Interest::decode_ccnx(fields.encode(&name).unwrap().into()).unwrap()
    }

    #[test]
    fn answers_are_those_of_a_list_that_is_searched_whole() {
        let (mut found, now) = (0, UnixTime::from_millis(1));
        for seed in 0..60 {
            let mut random = Random::from_seed(seed);
            let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
            let disk = Arc::new(SimulatedDisk::new(seed));
            let (mut store, _) = Store::open(disk, StoreConfig::default(), keys).unwrap();
            let mut stored: Vec<Data> = Vec::new();
            for number in 0..1 + random.below(30) {
                let data = ccnx_data_of(&draw_name(&mut random, 0), &[number as u8], None);
                stored.retain(|other| other.name() != data.name());
                store.insert(now, &data).unwrap();
                stored.push(data);
            }
            store.commit().unwrap();
            for _ in 0..200 {
                let interest = draw_interest(&mut random, &stored);
                let answer = match store.answer(now, &interest) {
                    Some(Answer::Data(data)) => Some(data),
                    _ => None,
                };
                let names = |data: Option<&Data>| data.map(|data| data.name().to_string());
                let expected = expected(&stored, &interest);
                assert_eq!(names(answer.as_ref()), names(expected), "seed {seed}: {interest:?}");
                found += u32::from(answer.is_some());
            }
        }
        assert!(found > 2000, "{found}");
    }
}
