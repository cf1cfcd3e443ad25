//! Exclude: which components, just below the prefix, an Interest does not want (CCNx 0.8, "Interest").
//!
//! An Exclude lists components in strictly ascending canonical order. Between two of them, before the first
//! and behind the last there may be an Any, which excludes everything in the gap, or a Bloom filter, which
//! excludes what is in it.

use std::cmp::Ordering;
use std::ops::Range;

use crate::ccnx::block::{CLOSE, element_len, write_blob_element, write_close, write_open};
use crate::ccnx::bloom::BloomRef;
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::compare_components;
use crate::ccnx::reader::Reader;
use crate::error::{DecodeError, Rule};

const FIELD: &str = "Exclude";

/// The header that opens a Component.
const COMPONENT_OPENING: u8 = 0xfa;
/// The last byte of the header of a BLOB, but for four bits of its length.
const BLOB_ENDING: u8 = 0x85;

/// How long a Bloom filter may be, in bytes: its header and 2^13 bits.
const BLOOM_BYTES: std::ops::RangeInclusive<usize> = 1..=1024 + 8;

/// Entries of an Exclude in a message. Every node that the Interest comes by reads all of them; tools that
/// list what is there send another Interest long before, where an Interest is full.
const MAX_ENTRIES: usize = 512;

/// Bytes of a component that is looked for in a Bloom filter, which takes a dozen instructions for each. No
/// name that is known has longer ones.
const MAX_FILTERED_BYTES: usize = 1024;

/// An Exclude inside a message, which it borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcludeRef<'a> {
    /// What is in the element; was read once without an error.
    entries: &'a [u8],
}

/// One entry of an Exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcludeEntry<'a> {
    /// This component.
    Component(&'a [u8]),
    /// Everything between its neighbours.
    Any,
    /// What is in this filter, between its neighbours.
    Bloom(&'a [u8]),
}

impl<'a> ExcludeRef<'a> {
    /// Reads an Exclude element that fills `wire`.
    ///
    /// # Errors
    /// Anything else in it, two fillers in a row, components that are not strictly ascending, more than 512
    /// entries.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, FIELD);
        let exclude = Self::read_optional(&mut reader)?;
        reader.finish()?;
        exclude.ok_or(DecodeError::new(FIELD, 0, Rule::Missing))
    }

    /// Reads the element, if it is next.
    #[inline(always)]
    pub(crate) fn read_optional(reader: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        if !reader.try_open(Dtag::EXCLUDE) {
            return Ok(None);
        }
        let exclude;
        (exclude, *reader) = Self::read_entries(*reader)?;
        Ok(Some(exclude))
    }

    /// The same of an Interest that was read before, when the entries took so many bytes.
    pub(crate) fn read_again(
        reader: &mut Reader<'a>,
        entry_bytes: usize,
    ) -> Result<Option<Self>, DecodeError> {
        if entry_bytes == 0 || !reader.try_open(Dtag::EXCLUDE) {
            return Self::read_optional(reader);
        }
        let start = reader.position();
        reader.skip(entry_bytes);
        let entries = reader.read_since(start);
        reader.close(FIELD)?;
        Ok(Some(ExcludeRef { entries }))
    }

    /// Reads what is in the element, and its close. The reader comes and goes by value, so that it may stay
    /// in registers where there is no Exclude.
    #[inline(never)]
    fn read_entries(mut reader: Reader<'a>) -> Result<(Self, Reader<'a>), DecodeError> {
        let start = reader.position();
        let mut order = Order::default();
        let mut count = 0;
        let mut admit = |at, entry| {
            count += 1;
            if count > MAX_ENTRIES {
                return Err(DecodeError::new(FIELD, at, Rule::TooManyEntries { limit: MAX_ENTRIES }));
            }
            order.admit(entry).map_err(|rule| DecodeError::new(FIELD, at, rule))
        };
        loop {
            let (from, mut rest) = (reader.position(), reader.rest());
            let bytes = rest.len();
            while let Some((component, behind)) = split_usual_component(rest) {
                admit(from + (bytes - rest.len()), ExcludeEntry::Component(component))?;
                rest = behind;
            }
            reader.skip(bytes - rest.len());
            let at = reader.position();
            let Some(entry) = read_entry(&mut reader)? else { break };
            admit(at, entry)?;
        }
        let entries = reader.read_since(start);
        reader.close(FIELD)?;
        Ok((ExcludeRef { entries }, reader))
    }

    pub(crate) fn from_checked(entries: &'a [u8]) -> Self {
        ExcludeRef { entries }
    }

    /// The entries, in the order of the element.
    pub fn entries(&self) -> impl Iterator<Item = ExcludeEntry<'a>> + use<'a> {
        let mut rest = self.entries;
        std::iter::from_fn(move || {
            if let Some((component, behind)) = split_usual_component(rest) {
                rest = behind;
                return Some(ExcludeEntry::Component(component));
            }
            let mut reader = Reader::new(rest, FIELD);
            let entry = read_entry(&mut reader).ok().flatten();
            rest = reader.rest();
            entry
        })
    }

    /// The entries as they are on the wire, without the element around them.
    pub fn entry_bytes(&self) -> &'a [u8] {
        self.entries
    }

    /// Whether `component` is excluded. A Bloom filter that cannot be read excludes everything in its gap,
    /// and any filter components of more than 1,024 bytes.
    pub fn excludes(&self, component: &[u8]) -> bool {
        let mut filler = None;
        for entry in self.entries() {
            match entry {
                ExcludeEntry::Component(listed) => match compare_components(component, listed) {
                    Ordering::Equal => return true,
                    Ordering::Less => break,
                    Ordering::Greater => filler = None,
                },
                ExcludeEntry::Any | ExcludeEntry::Bloom(_) => filler = Some(entry),
            }
        }
        fills(filler, component)
    }

    /// The same in a form in which one component after the other is found quickly.
    pub fn to_sorted(&self) -> SortedExclude<'a> {
        // None has fewer bytes than an empty component.
        let most = (self.entries.len() / 2).min(MAX_ENTRIES);
        let mut sorted = SortedExclude { components: Vec::with_capacity(most), fillers: Vec::new() };
        let mut rest = self.entries;
        loop {
            while let Some((component, behind)) = split_usual_component(rest) {
                sorted.components.push(component);
                rest = behind;
            }
            let mut reader = Reader::new(rest, FIELD);
            match read_entry(&mut reader).ok().flatten() {
                Some(ExcludeEntry::Component(component)) => sorted.components.push(component),
                Some(filler) => sorted.fillers.push((sorted.components.len(), filler)),
                None => return sorted,
            }
            rest = reader.rest();
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        element_len(Dtag::EXCLUDE, self.entries.len())
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) {
        write_open(out, Dtag::EXCLUDE);
        out.extend_from_slice(self.entries);
        write_close(out);
    }
}

/// Whether what is between two components excludes one that lies there.
fn fills(filler: Option<ExcludeEntry<'_>>, component: &[u8]) -> bool {
    match filler {
        Some(ExcludeEntry::Any) => true,
        Some(ExcludeEntry::Bloom(bytes)) => {
            component.len() > MAX_FILTERED_BYTES
                || BloomRef::decode(bytes).is_none_or(|bloom| bloom.contains(component))
        }
        Some(ExcludeEntry::Component(_)) | None => false,
    }
}

/// An Exclude that many components are looked up in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedExclude<'a> {
    components: Vec<&'a [u8]>,
    /// What fills gaps, each with the number of components before it, in that order.
    fillers: Vec<(usize, ExcludeEntry<'a>)>,
}

impl SortedExclude<'_> {
    /// As [`ExcludeRef::excludes`].
    pub fn excludes(&self, component: &[u8]) -> bool {
        let Err(before) = self.components.binary_search_by(|listed| compare_components(listed, component))
        else {
            return true;
        };
        let filler = self.fillers.binary_search_by_key(&before, |(place, _)| *place).ok();
        fills(filler.and_then(|place| self.fillers.get(place)).map(|(_, filler)| *filler), component)
    }

    /// Whether there is a Bloom filter, which is asked about every byte of a component.
    pub fn has_filter(&self) -> bool {
        self.fillers.iter().any(|(_, filler)| matches!(filler, ExcludeEntry::Bloom(_)))
    }

    /// Number of entries.
    pub fn entry_count(&self) -> usize {
        self.components.len() + self.fillers.len()
    }
}

/// An Exclude that is being put together, entry by entry, in ascending order.
///
/// ```
/// use cairn_packet::ccnx::exclude::{Exclude, ExcludeEntry};
/// let mut exclude = Exclude::default();
/// exclude.push(ExcludeEntry::Component(b"b"))?;
/// exclude.push(ExcludeEntry::Any)?;
/// exclude.push(ExcludeEntry::Component(b"d"))?;
/// assert!(exclude.as_ref().excludes(b"c"));
/// assert!(!exclude.as_ref().excludes(b"a"));
/// assert!(exclude.push(ExcludeEntry::Component(b"c")).is_err());
/// # Ok::<(), cairn_packet::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclude {
    entries: Vec<u8>,
    /// Where in `entries` the last component's bytes are.
    last_component: Option<Range<usize>>,
    after_filler: bool,
}

impl Exclude {
    /// Excludes exactly these components; their order does not matter.
    pub fn components<'c>(components: impl IntoIterator<Item = &'c [u8]>) -> Self {
        let mut sorted: Vec<&[u8]> = components.into_iter().collect();
        sorted.sort_by(|a, b| compare_components(a, b));
        sorted.dedup();
        let mut exclude = Exclude::default();
        for component in sorted {
            exclude.append_component(component);
        }
        exclude
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// [`Rule::OutOfOrder`] for a component that is not behind the last one, or for a filler directly after a
    /// filler; [`Rule::BadLength`] for a Bloom filter that is empty or longer than 1,032 bytes.
    pub fn push(&mut self, entry: ExcludeEntry<'_>) -> Result<(), DecodeError> {
        let error = |rule| DecodeError::new(FIELD, self.entries.len(), rule);
        let last_component = self.last_component.clone().and_then(|range| self.entries.get(range));
        Order { last_component, after_filler: self.after_filler }.admit(entry).map_err(error)?;
        match entry {
            ExcludeEntry::Component(component) => self.append_component(component),
            ExcludeEntry::Any => self.append_filler(Dtag::ANY, &[]),
            ExcludeEntry::Bloom(bytes) if BLOOM_BYTES.contains(&bytes.len()) => {
                self.append_filler(Dtag::BLOOM, bytes);
            }
            ExcludeEntry::Bloom(bytes) => return Err(error(Rule::BadLength(bytes.len()))),
        }
        Ok(())
    }

    /// A borrowed view, to test components or to put into an Interest.
    pub fn as_ref(&self) -> ExcludeRef<'_> {
        ExcludeRef { entries: &self.entries }
    }

    fn append_component(&mut self, component: &[u8]) {
        write_blob_element(&mut self.entries, Dtag::COMPONENT, component);
        let close = self.entries.len() - 1;
        self.last_component = Some(close - component.len()..close);
        self.after_filler = false;
    }

    fn append_filler(&mut self, tag: Dtag, bytes: &[u8]) {
        write_blob_element(&mut self.entries, tag, bytes);
        self.after_filler = true;
    }
}

/// Keeps watch over the order of entries.
#[derive(Default)]
struct Order<'a> {
    last_component: Option<&'a [u8]>,
    after_filler: bool,
}

impl<'a> Order<'a> {
    #[inline]
    fn admit(&mut self, entry: ExcludeEntry<'a>) -> Result<(), Rule> {
        let in_order = match entry {
            ExcludeEntry::Component(component) => {
                let last = self.last_component.replace(component);
                self.after_filler = false;
                last.is_none_or(|last| compare_components(last, component) == Ordering::Less)
            }
            ExcludeEntry::Any | ExcludeEntry::Bloom(_) => !std::mem::replace(&mut self.after_filler, true),
        };
        if in_order { Ok(()) } else { Err(Rule::OutOfOrder) }
    }
}

/// The component that `entries` begin with, if its length is written in one byte or two, as nearly always,
/// and what is behind it. A list may have hundreds of them, which it takes several times as long to read
/// block by block.
#[inline(always)]
fn split_usual_component(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[opening, first], rest) = entries.split_first_chunk::<2>()?;
    if opening != COMPONENT_OPENING {
        return None;
    }
    if first == CLOSE {
        return Some((&[], rest));
    }
    let (high, last, rest) = match first & 0x80 {
        0 => rest.split_first().map(|(&last, rest)| (first, last, rest))?,
        _ => (0, first, rest),
    };
    let len = usize::from(high) << 4 | usize::from(last >> 3 & 0x0f);
    if last & !0x78 != BLOB_ENDING || len == 0 {
        return None;
    }
    let (component, rest) = rest.split_at_checked(len)?;
    match rest.split_first()? {
        (&CLOSE, rest) => Some((component, rest)),
        _ => None,
    }
}

#[inline]
fn read_entry<'a>(reader: &mut Reader<'a>) -> Result<Option<ExcludeEntry<'a>>, DecodeError> {
    if let Some(component) = reader.optional_blob(Dtag::COMPONENT, "Component", ..)? {
        return Ok(Some(ExcludeEntry::Component(component)));
    }
    if reader.try_open(Dtag::ANY) {
        reader.close("Any")?;
        return Ok(Some(ExcludeEntry::Any));
    }
    let bloom = reader.optional_blob(Dtag::BLOOM, "Bloom", BLOOM_BYTES)?;
    Ok(bloom.map(ExcludeEntry::Bloom))
}

#[cfg(test)]
mod tests {
    use super::ExcludeEntry::{Any, Bloom, Component};
    use super::*;

    fn build(entries: &[ExcludeEntry<'_>]) -> Result<Exclude, DecodeError> {
        let mut exclude = Exclude::default();
        entries.iter().try_for_each(|&entry| exclude.push(entry))?;
        Ok(exclude)
    }

    #[test]
    fn listed_components_and_those_in_an_any_gap_are_excluded_and_no_others() {
        let excluded = |entries: &[ExcludeEntry<'_>]| -> String {
            let exclude = build(entries).unwrap();
            ["", "a", "b", "c", "d", "e", "aa"]
                .iter()
                .filter(|component| {
                    let excluded = exclude.as_ref().excludes(component.as_bytes());
                    assert_eq!(exclude.as_ref().to_sorted().excludes(component.as_bytes()), excluded);
                    excluded
                })
                .map(|component| format!("[{component}]"))
                .collect()
        };
        assert_eq!(excluded(&[]), "");
        assert_eq!(excluded(&[Any]), "[][a][b][c][d][e][aa]");
        assert_eq!(excluded(&[Component(b"b"), Any, Component(b"d")]), "[b][c][d]");
        assert_eq!(excluded(&[Any, Component(b"b"), Component(b"d")]), "[][a][b][d]");
        assert_eq!(excluded(&[Component(b"b"), Component(b"d"), Any]), "[b][d][e][aa]");
        assert_eq!(excluded(&[Component(b"")]), "[]");
    }

    #[test]
    fn a_bloom_filter_rules_its_gap_and_one_that_is_broken_excludes_all_of_it() {
        let mut bloom = crate::ccnx::bloom::Bloom::with_sizes(6, 4, 7).unwrap();
        bloom.insert(b"c");
        let exclude = build(&[Component(b"b"), Bloom(bloom.as_bytes()), Component(b"e")]).unwrap();
        assert!(exclude.as_ref().excludes(b"c"));
        assert!(!exclude.as_ref().excludes(b"d"));
        assert!(!exclude.as_ref().excludes(b"a") && !exclude.as_ref().excludes(b"f"));
        let exclude = build(&[Component(b"b"), Bloom(b"junk"), Component(b"e")]).unwrap();
        assert!(exclude.as_ref().excludes(b"d") && !exclude.as_ref().excludes(b"f"));
        let exclude = build(&[Bloom(bloom.as_bytes())]).unwrap();
        assert!(!exclude.as_ref().excludes(&[7; 1024]) && exclude.as_ref().excludes(&[7; 1025]));
    }

    #[test]
    fn entries_out_of_order_are_refused_when_built_and_when_read() {
        let wrong: &[&[ExcludeEntry<'_>]] = &[
            &[Component(b"b"), Component(b"b")],
            &[Component(b"b"), Any, Component(b"a")],
            &[Component(b"bb"), Component(b"c")],
            &[Any, Any],
            &[Any, Bloom(b"x")],
            &[Bloom(b"x"), Any],
        ];
        for entries in wrong {
            assert_eq!(build(entries).unwrap_err().rule, Rule::OutOfOrder);
            let mut wire = Vec::new();
            write_open(&mut wire, Dtag::EXCLUDE);
            for entry in *entries {
                match entry {
                    Component(bytes) => write_blob_element(&mut wire, Dtag::COMPONENT, bytes),
                    Any => write_blob_element(&mut wire, Dtag::ANY, b""),
                    Bloom(bytes) => write_blob_element(&mut wire, Dtag::BLOOM, bytes),
                }
            }
            write_close(&mut wire);
            let error = ExcludeRef::decode(&wire).unwrap_err();
            assert_eq!((error.field, error.rule), ("Exclude", Rule::OutOfOrder));
        }
        assert_eq!(build(&[Bloom(b"")]).unwrap_err().rule, Rule::BadLength(0));
        assert_eq!(build(&[Bloom(&[0; 1033])]).unwrap_err().rule, Rule::BadLength(1033));
    }

    #[test]
    fn an_exclude_of_more_entries_than_every_node_can_read_is_refused() {
        let list = |count: u16| {
            let parts: Vec<[u8; 2]> = (0..count).map(u16::to_be_bytes).collect();
            let exclude = Exclude::components(parts.iter().map(|part| &part[..]));
            let mut wire = Vec::new();
            exclude.as_ref().encode_into(&mut wire);
            ExcludeRef::decode(&wire).map(|exclude| exclude.entries().count()).map_err(|error| error.rule)
        };
        assert_eq!(list(512), Ok(512));
        assert_eq!(list(513), Err(Rule::TooManyEntries { limit: 512 }));
    }

    #[test]
    fn components_are_read_alike_at_once_and_block_by_block() {
        let block_by_block = |entries: &[u8]| {
            let mut reader = Reader::new(entries, FIELD);
            match read_entry(&mut reader) {
                Ok(Some(Component(component))) => Some((component.to_vec(), reader.rest().to_vec())),
                _ => None,
            }
        };
        for len in [0, 1, 2, 15, 16, 17, 127, 128, 2047, 2048] {
            let mut entries = Vec::new();
            write_blob_element(&mut entries, Dtag::COMPONENT, &vec![0x85; len]);
            let at_once = split_usual_component(&entries);
            assert_eq!(at_once.is_some(), len < 2048, "{len}");
            entries.extend_from_slice(b"behind");
            // Every byte of the headers, and that behind the component, in every other form.
            for place in (0..entries.len().min(6)).chain([entries.len() - 7]) {
                for byte in 0..=255 {
                    let mut changed = entries.clone();
                    changed[place] = byte;
                    if let Some((component, rest)) = split_usual_component(&changed) {
                        let expected = Some((component.to_vec(), rest.to_vec()));
                        assert_eq!(block_by_block(&changed), expected, "{len} {place} {byte}");
                    }
                }
            }
            for end in 0..entries.len() - 6 {
                assert_eq!(split_usual_component(&entries[..end]), None, "{len} {end}");
            }
        }
    }

    #[test]
    fn a_set_of_components_is_sorted_and_each_listed_once() {
        let exclude = Exclude::components([&b"bb"[..], b"c", b"", b"c"]);
        let entries: Vec<_> = exclude.as_ref().entries().collect();
        assert_eq!(entries, [Component(b""), Component(b"c"), Component(b"bb")]);
    }
}
