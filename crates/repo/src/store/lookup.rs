//! Finding what answers an Interest: candidates are found in memory, read from the disk, and checked before
//! they are served.

use std::sync::Arc;

use flow::Metadata;
use flow::naming::METADATA;
use packet::UnixTime;
use packet::ccnx::markers;
use packet::time::Duration;
use packet::{AnyName, ComponentKind, Data, Dialect, Interest, Name, NameRef};
use smallvec::SmallVec;

use super::{Event, Store};
use crate::disk::DiskFile;
use crate::extent::RecordPlace;
use crate::key::{ObjectName, prefix_key};
use crate::limits::Rejection;
use crate::located::{Located, ReadError, is_answer};
use crate::memory_objects::{HotObject, HotObjects, Request};
use crate::object::{Object, ObjectId};

/// So many objects and packets are looked at for one Interest. A cache may miss, so beyond that it does.
const MAX_EXAMINED: usize = 64;
/// Lengths of components that hold a version by marker: the marker and one to eight bytes.
const MARKED_VERSION_BYTES: std::ops::RangeInclusive<u8> = 2..=9;

/// Which of several objects below a prefix answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The one with the highest version right behind the prefix; the first in canonical order if none has a
    /// version there.
    #[default]
    Newest,
    /// The first in canonical order.
    Leftmost,
}

/// What answers an Interest.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A stored packet.
    Data(Data),
    /// Nobody stored an answer, or one about another version, but the store knows the newest version: its
    /// owner makes a packet of that, signed by whom it likes.
    Metadata(Metadata),
}

impl Store {
    /// Answers an Interest, reading what is needed at once.
    pub fn answer(&mut self, now: UnixTime, interest: &Interest) -> Option<Answer> {
        let metadata = self.known_metadata(interest);
        for located in self.locate(now, interest) {
            match located.read_data() {
                Ok((data, arrival))
                    if is_answer(now, interest, &data, arrival) && !is_outdated(&data, metadata.as_ref()) =>
                {
                    self.served(&located);
                    return Some(Answer::Data(data));
                }
                Ok(_) => self.history.counters.vain_reads += 1,
                Err(error) => self.report(now, &located, &error),
            }
        }
        if metadata.is_none() {
            self.history.counters.misses += 1;
        }
        metadata.map(Answer::Metadata)
    }

    /// Reads one packet of an object; `None` if it is not there, or not as it was written: then the object is
    /// dropped, and an event tells of it.
    pub fn read_segment(&mut self, now: UnixTime, id: ObjectId, segment: u32) -> Option<Data> {
        let located = self.located(id, self.objects.catalogue.get(id)?, segment)?;
        match located.read_data() {
            Ok((data, _)) => Some(data),
            Err(error) => {
                self.report(now, &located, &error);
                None
            }
        }
    }

    /// Where packets lie that may answer an Interest, the most likely one first. Whoever reads one checks it
    /// with [`is_answer`].
    pub fn locate(&self, now: UnixTime, interest: &Interest) -> Vec<Located> {
        let name = interest.name();
        let mut found = match interest.ccnx() {
            Some(view) => self.locate_ccnx(&view, name),
            None => Vec::new(),
        };
        if interest.dialect() == Dialect::Ndn {
            for name in [Some(name), without_digest(interest)].into_iter().flatten() {
                self.locate_exact(Dialect::Ndn, name, &mut found);
            }
            if interest.can_be_prefix() && found.is_empty() {
                self.locate_below(name, &mut found);
            }
        }
        if interest.must_be_fresh() {
            found.retain(|located| {
                self.objects.catalogue.get(located.id).is_some_and(|object| object.fresh_until > now)
            });
        }
        found
    }

    /// A packet was served that this says where it lay.
    pub fn served(&mut self, located: &Located) {
        let Located { id, object, segment, .. } = *located;
        self.served_hot(Request { id, object, segment });
    }

    /// A packet was served by somebody who knew where it lies.
    pub(crate) fn served_hot(&mut self, Request { id, object: number, segment }: Request) {
        self.history.counters.hits += 1;
        // Its object may have left while it was read.
        if let Some(policy) = &mut self.objects.eviction
            && self.objects.catalogue.get(id).is_some_and(|object| object.number == number)
        {
            policy.request(id, segment);
        }
    }

    /// So many packets were served, of which nothing more is known.
    pub(crate) fn served_untold(&mut self, count: u64) {
        self.history.counters.hits += count;
        self.history.counters.untold_hits += count;
    }

    /// Lets others read the packets of an object by themselves of which one was in memory.
    pub(crate) fn show(&self, now: UnixTime, located: &Located) {
        let hot = self.objects.catalogue.hot();
        if !hot.wants(now, located.id) {
            return;
        }
        let Some(object) = self.objects.catalogue.get(located.id) else { return };
        let Some(name) = object.name().filter(|_| HotObjects::is_worth_it(&object.extents)) else { return };
        let mut files: SmallVec<[(u32, Arc<dyn DiskFile>); 1]> = SmallVec::new();
        for run in object.extents.iter() {
            if let Some(volume) = self.volumes.get(run.volume)
                && !files.iter().any(|(number, _)| *number == run.volume)
            {
                files.push((run.volume, Arc::clone(&volume.file)));
            }
        }
        let shown = HotObject {
            id: located.id,
            number: object.number,
            form: name.form,
            extents: object.extents.clone(),
            files,
            format: self.format.clone(),
        };
        hot.show(self.name_hashes(&name).whole(), shown);
    }

    /// So many Interests were not answered.
    pub(crate) fn missed(&mut self, count: u64) {
        self.history.counters.misses += count;
    }

    /// A packet was read that was not the answer.
    pub(crate) fn read_in_vain(&mut self) {
        self.history.counters.vain_reads += 1;
    }

    /// A packet could not be read. If it still should lie there, its object is dropped and an event tells of
    /// it.
    pub fn report(&mut self, now: UnixTime, located: &Located, error: &ReadError) {
        // What a network brings wrong may be right the next time. If it stays wrong, the packet comes from
        // upstream and is stored anew.
        if matches!(error, ReadError::Io(_)) || located.is_remote() {
            self.history.rejections.count(Rejection::DiskFailed);
            return;
        }
        let object = self.objects.catalogue.get(located.id).filter(|object| object.number == located.object);
        let Some(object) =
            object.filter(|object| object.extents.find(located.segment) == Some(located.place))
        else {
            return;
        };
        let name = object.name().map(|object| AnyName::new(object.dialect, object.name.to_name()));
        self.history.rejections.count(Rejection::Corrupt);
        if self.delete_objects(now, &[located.id]).is_err() {
            // Not durably gone, but not served either; whoever opens the store next finds the same.
            self.forget(located.id);
        }
        if let Some(name) = name {
            self.tell(Event::Corrupt(name));
        }
    }

    pub(super) fn located_at(&self, place: RecordPlace, object: u64, segment: u32) -> Option<Located> {
        let file = Arc::clone(&self.volumes.get(place.volume)?.file);
        Some(Located { id: ObjectId::MAX, segment, place, object, file, format: self.format.clone() })
    }

    pub(super) fn located(&self, id: ObjectId, object: &Object, segment: u32) -> Option<Located> {
        let place = object.extents.find(segment)?;
        Some(self.located_at(place, object.number, segment)?.of(id))
    }

    pub(super) fn locate_exact(&self, dialect: Dialect, name: NameRef<'_>, found: &mut Vec<Located>) {
        let (object, segment) = ObjectName::of_packet(dialect, name);
        let located = self
            .objects
            .catalogue
            .find(&object.key())
            .and_then(|id| self.located(id, self.objects.catalogue.get(id)?, segment));
        found.extend(located);
    }

    fn locate_below(&self, name: NameRef<'_>, found: &mut Vec<Located>) {
        let newest = match self.config.preference {
            Preference::Newest => self.versions(Dialect::Ndn, name).next(),
            Preference::Leftmost => None,
        };
        let ids = newest.into_iter().chain(self.objects.catalogue.below(Dialect::Ndn, name));
        for id in ids.take(MAX_EXAMINED) {
            let Some(object) = self.objects.catalogue.get(id) else { continue };
            let first = object.extents.first_segment();
            found.extend(first.and_then(|segment| self.located(id, object, segment)));
        }
    }

    /// Objects with a version right behind `name`, the highest first.
    fn versions(&self, dialect: Dialect, name: NameRef<'_>) -> impl Iterator<Item = ObjectId> {
        let start = prefix_key(dialect, name);
        let typed = [start.as_slice(), &[ComponentKind::VERSION.number() as u8]].concat();
        let marked = MARKED_VERSION_BYTES.rev().flat_map(move |len| {
            let generic = ComponentKind::GENERIC.number() as u8;
            self.objects
                .catalogue
                .below_key_reversed(&[start.as_slice(), &[generic, len, markers::VERSION]].concat())
        });
        self.objects.catalogue.below_key_reversed(&typed).chain(marked).take(MAX_EXAMINED)
    }

    /// What is known of the newest version of the object that the Interest asks about, if it is a question
    /// for metadata.
    pub(crate) fn known_metadata(&self, interest: &Interest) -> Option<Metadata> {
        let name = interest.name();
        let asks = interest.can_be_prefix() && interest.must_be_fresh() && name.last() == Some(METADATA);
        if !asks || !self.config.answers_metadata {
            return None;
        }
        let prefix = name.prefix(interest.component_count() - 1);
        let is_servable = |object: &&Object| object.extents.first_segment() == Some(0);
        let object = self
            .versions(interest.dialect(), prefix)
            .filter_map(|id| self.objects.catalogue.get(id))
            .find(|object| is_servable(object) && is_version_of(object, prefix))?;
        Some(Metadata {
            name: object.name()?.name.to_name(),
            last_segment: object.final_segment.map(u64::from),
            segment_bytes: None,
            size_bytes: None,
        })
    }
}

/// Whether the object's name is `prefix` and a version, and nothing more.
fn is_version_of(object: &Object, prefix: NameRef<'_>) -> bool {
    object.name().is_some_and(|object| object.name.component_count() == prefix.component_count() + 1)
}

/// Whether stored metadata tells of another version than what is known of the newest one here: then it would
/// hide that, or name one that has left.
pub(crate) fn is_outdated(data: &Data, known: Option<&Metadata>) -> bool {
    let told = || Metadata::decode(data.content()).ok();
    known.is_some_and(|known| told().is_some_and(|told| told.name != known.name))
}

/// The Interest's name without the digest that it ends in, if it does.
fn without_digest(interest: &Interest) -> Option<NameRef<'_>> {
    let name = interest.name();
    let is_digest = name.last()?.kind == ComponentKind::IMPLICIT_DIGEST;
    is_digest.then(|| name.prefix(interest.component_count() - 1))
}

/// The packet that says this in answer to an Interest for metadata: fresh for as little as may be, signed by
/// its digest alone.
///
/// # Errors
/// The name would be over-long.
pub fn metadata_packet(
    now: UnixTime,
    prefix: &Name,
    metadata: &Metadata,
) -> Result<Data, packet::EncodeError> {
    use packet::ndn::DataBuilder;
    let mut content = Vec::new();
    metadata.encode(&mut content);
    let convention = flow::NamingConvention::Typed;
    let name = prefix.with(METADATA).and_then(|name| convention.with_version(&name, now.as_millis()));
    let name = name.and_then(|name| convention.with_segment(&name, 0)).unwrap_or_else(|_| prefix.clone());
    DataBuilder::new(name).freshness(Duration::from_millis(1)).content(content).build_with_digest()
}
