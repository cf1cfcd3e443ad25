//! What a repository holds below a prefix, as name enumeration asks for it.

use std::collections::BTreeMap;

use packet::ccnx::management::{Collection, Link};
use packet::ccnx::{InterestView, Ticks, markers};
use packet::time::{Duration, Instant};
use packet::{Component, DecodeError, Name};

use crate::store::Children;

/// Listings that are kept for those who go on reading them; the one that was read longest ago makes room.
const MAX_LISTINGS: usize = 16;
/// How long one is kept that nobody reads: three times as long as an Interest lives.
const KEPT: Duration = Duration::from_secs(12);
/// Content of one segment.
const SEGMENT_BYTES: usize = 4096;

/// Listings that are being read, by their prefixes.
#[derive(Debug, Default)]
pub(super) struct Listings {
    open: BTreeMap<Name, Listing>,
    /// How many changes the store had seen when something was listed last, and the version of what was
    /// listed then: what has not changed keeps its version.
    latest: Option<(u64, Ticks)>,
    /// Those that made room for others while they were being read.
    pub(super) replaced: u64,
}

/// One that is being read.
#[derive(Debug)]
struct Listing {
    version: Ticks,
    content: Vec<u8>,
    read_at: Instant,
}

/// Which segment of which listing.
#[derive(Clone, Debug)]
pub(super) struct PageId {
    /// What is listed.
    pub(super) prefix: Name,
    /// When it was listed.
    pub(super) version: Ticks,
    pub(super) segment: u64,
}

/// A segment of a listing.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) name: Name,
    pub(super) content: &'a [u8],
    /// The number of the last segment, as a component, if this is it.
    pub(super) last: Option<Vec<u8>>,
}

impl Listings {
    /// The store says what is below a prefix. The listing begins.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        time: Ticks,
        prefix: &Name,
        children: &Children,
    ) -> Result<Ticks, DecodeError> {
        let version = match self.latest {
            Some((changes, version)) if changes == children.changes => version,
            // A clock that goes back must not give two listings the same version.
            Some((_, version)) if version.count() >= time.count() => Ticks::from_count(version.count() + 1),
            _ => time,
        };
        self.latest = Some((children.changes, version));
        let link = |component: &Vec<u8>| {
            let name = Name::from_components([Component::generic(component)])?;
            Link { name: (&name).into(), label: None, authenticator: None }.encode()
        };
        let links = children.components.iter().map(link).collect::<Result<Vec<_>, _>>()?;
        let content = Collection::encode(links);
        self.open.retain(|_, listing| now.saturating_since(listing.read_at) < KEPT);
        if self.open.len() >= MAX_LISTINGS && !self.open.contains_key(prefix) {
            let oldest = self.open.iter().min_by_key(|(_, listing)| listing.read_at);
            if let Some(oldest) = oldest.map(|(prefix, _)| prefix.clone()) {
                self.open.remove(&oldest);
                self.replaced += 1;
            }
        }
        self.open.insert(prefix.clone(), Listing { version, content, read_at: now });
        Ok(version)
    }

    /// A segment of a listing that is being read.
    pub(super) fn page(&mut self, now: Instant, key: &[u8; 32], id: &PageId) -> Option<Page<'_>> {
        let PageId { prefix, version, segment } = id;
        let (version, segment) = (*version, *segment);
        let listing = self.open.get_mut(prefix).filter(|listing| listing.version == version)?;
        let start = usize::try_from(segment).ok()?.checked_mul(SEGMENT_BYTES)?;
        let rest = listing.content.get(start..).filter(|rest| !rest.is_empty())?;
        listing.read_at = now;
        let content = rest.get(..SEGMENT_BYTES).unwrap_or(rest);
        let number = markers::segment(segment);
        let last = (content.len() == rest.len()).then(|| number.clone());
        let name = page_name(prefix, key, version, &number).ok()?;
        Some(Page { name, content, last })
    }
}

/// `/<prefix>/%C1.E.be/%C1.M.K%00<key>/<version>/<segment>`.
fn page_name(prefix: &Name, key: &[u8; 32], version: Ticks, segment: &[u8]) -> Result<Name, DecodeError> {
    let key = [markers::KEY_DIGEST, key].concat();
    let components = [markers::ENUMERATE, &key, &markers::version(version), segment];
    components.into_iter().try_fold(prefix.clone(), |name, part| name.with(Component::generic(part)))
}

/// Whether the Interest does not want an answer of this name: it has that already.
pub(super) fn is_excluded(interest: &InterestView<'_>, name: &Name) -> bool {
    let next = name.as_ref().component(interest.name().len());
    interest.exclude().zip(next).is_some_and(|(exclude, next)| exclude.excludes(next.value))
}
