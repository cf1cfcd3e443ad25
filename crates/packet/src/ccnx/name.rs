//! Names on the CCNx wire, and the way to and from the canonical form that the rest of Cairn uses.
//!
//! A ccnb Name is an element of Component elements, each with at most one BLOB. The canonical form of a name
//! is the concatenation of its components as NDN TLVs; a CCNx component is a GenericNameComponent (type 8)
//! there. Both forms have exactly one spelling for each name, so names may be compared as bytes.

use std::cmp::Ordering;
use std::fmt;

use once_cell::race::OnceBox;
use smallvec::SmallVec;

use crate::buffer::Buffer;
use crate::ccnx::block::{
    BlockKind, body_element_len, body_lengths, element_len, write_blob_element, write_close, write_open,
};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::ccnx::uri::{self, Escaping};
use crate::error::{DecodeError, Rule};
use crate::name::{Component, ComponentKind, Name, NameRef};
use crate::ndn::tlv;

/// How a component of 32 bytes begins: the tag, and the header of its BLOB.
const DIGEST_HEADER: [u8; 3] = [0xfa, 0x02, 0x85];

/// How a component begins in canonical form.
const GENERIC: u8 = 8;

/// A name inside a message, which it borrows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CcnxNameRef<'a> {
    /// The Component elements, which were all read once without an error.
    components: &'a [u8],
    count: usize,
}

impl<'a> CcnxNameRef<'a> {
    /// The name without components.
    pub const ROOT: CcnxNameRef<'static> = CcnxNameRef { components: &[], count: 0 };

    /// Reads a Name element that fills `wire`.
    ///
    /// # Errors
    /// Anything in the Name but Components, or in a Component but one BLOB.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "Name");
        let name = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(name)
    }

    /// Reads the Name element that is next.
    #[inline]
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::read_with(reader, |_| {})
    }

    /// Reads the element `tag`, which must be next and is made like a Name.
    pub(crate) fn read_as(
        reader: &mut Reader<'a>,
        tag: Dtag,
        field: &'static str,
    ) -> Result<Self, DecodeError> {
        reader.open(tag, field)?;
        Self::read_inside(reader, field, |_| {})
    }

    /// Reads the Name element that is next and shows each component to `visit`.
    #[inline(always)]
    pub(crate) fn read_with(
        reader: &mut Reader<'a>,
        visit: impl FnMut(Component<'a>),
    ) -> Result<Self, DecodeError> {
        reader.open(Dtag::NAME, "Name")?;
        Self::read_inside(reader, "Name", visit)
    }

    /// The same of a name that may begin with `before`, so many components of a name that was good: what it
    /// has in common with them is not read again.
    #[inline(always)]
    pub(crate) fn read_after(reader: &mut Reader<'a>, before: (&[u8], usize)) -> Result<Self, DecodeError> {
        reader.open(Dtag::NAME, "Name")?;
        let (bytes, count) = if reader.rest().starts_with(before.0) { before } else { (&[][..], 0) };
        Self::read_behind(reader, "Name", (bytes.len(), count), |_| {})
    }

    /// The same of a name that has been recognised: `known` gets all that follows the tag, and gives how many
    /// bytes of it are how many whole components, if it knows.
    #[inline(always)]
    pub(crate) fn read_asking(
        reader: &mut Reader<'a>,
        known: impl FnOnce(&'a [u8]) -> Option<(usize, usize)>,
    ) -> Result<Self, DecodeError> {
        reader.open(Dtag::NAME, "Name")?;
        let known = known(reader.rest()).unwrap_or((0, 0));
        Self::read_behind(reader, "Name", known, |_| {})
    }

    #[inline(always)]
    fn read_inside(
        reader: &mut Reader<'a>,
        field: &'static str,
        visit: impl FnMut(Component<'a>),
    ) -> Result<Self, DecodeError> {
        Self::read_behind(reader, field, (0, 0), visit)
    }

    /// Reads what is in a name behind so many bytes, which are so many components.
    #[inline(always)]
    fn read_behind(
        reader: &mut Reader<'a>,
        field: &'static str,
        (bytes, mut count): (usize, usize),
        mut visit: impl FnMut(Component<'a>),
    ) -> Result<Self, DecodeError> {
        let start = reader.position();
        reader.skip(bytes);
        while reader.next_is(Dtag::COMPONENT) {
            visit(Component::generic(reader.element(Dtag::COMPONENT, BlockKind::Blob, "Component")?));
            count += 1;
        }
        if count > NameRef::MAX_COMPONENTS {
            let (found, limit) = (count, NameRef::MAX_COMPONENTS);
            return Err(DecodeError::new(field, start, Rule::TooManyComponents { found, limit }));
        }
        let components = reader.read_since(start);
        reader.close(field)?;
        Ok(CcnxNameRef { components, count })
    }

    /// Borrows Component elements that were read before.
    pub(crate) fn from_checked(components: &'a [u8], count: usize) -> Self {
        CcnxNameRef { components, count }
    }

    /// The components from first to last.
    pub fn components(&self) -> Components<'a> {
        Components { rest: self.components, left: self.count }
    }

    /// How many components there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True for the name without components.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The Component elements as they are on the wire, without the Name element around them.
    pub fn component_bytes(&self) -> &'a [u8] {
        self.components
    }

    /// Whether all components of this name are the first ones of `other`.
    pub fn is_prefix_of(&self, other: &CcnxNameRef<'_>) -> bool {
        other.components.starts_with(self.components)
    }

    /// The component behind the prefix of `count` components, if there is one.
    pub fn component(&self, count: usize) -> Option<&'a [u8]> {
        self.components().nth(count)
    }

    /// The name without its last component, and that component; `None` for the name without components.
    pub fn split_last(&self) -> Option<(CcnxNameRef<'a>, &'a [u8])> {
        let mut components = self.components();
        let mut before = components.rest;
        let mut last = components.next()?;
        for _ in 1..self.count {
            before = components.rest;
            last = components.next()?;
        }
        let parent = self.components.get(..self.components.len() - before.len())?;
        Some((CcnxNameRef { components: parent, count: self.count - 1 }, last))
    }

    /// Whether the last component may have as many bytes as a digest. Few names of which that is not so have
    /// the bytes of its header there.
    #[inline(always)]
    pub(crate) fn may_end_in_digest(&self) -> bool {
        let Some([tag, high, low, ..]) = self.components.last_chunk::<36>() else { return false };
        [*tag, *high, *low] == DIGEST_HEADER
    }

    /// Whether the components of a name in canonical form are the first ones of this.
    pub fn begins_with(&self, prefix: NameRef<'_>) -> bool {
        let (mut own, mut rest) = (self.components, prefix.canonical());
        while let [GENERIC, len @ 1..=127, inside @ ..] = rest {
            // The tag, a header of one byte or two, as many bytes, and the close.
            let (high, low) = (len >> 4, 0x80 | (len & 0x0f) << 3 | 5);
            let header = if high == 0 { &[0xfa, low][..] } else { &[0xfa, high, low][..] };
            let Some((value, next)) = inside.split_at_checked(usize::from(*len)) else { return false };
            let Some(behind) = own.strip_prefix(header).and_then(|own| own.strip_prefix(value)) else {
                return false;
            };
            (own, rest) = (behind.get(1..).unwrap_or_default(), next);
        }
        let mut own = Components { rest: own, left: self.count };
        NameRef::from_checked(rest)
            .components()
            .all(|component| component.kind == ComponentKind::GENERIC && own.next() == Some(component.value))
    }

    /// Length of the Name element, in bytes.
    pub fn encoded_len(&self) -> usize {
        element_len(Dtag::NAME, self.components.len())
    }

    /// Appends the Name element.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        write_open(out, Dtag::NAME);
        out.extend_from_slice(self.components);
        write_close(out);
    }

    /// Appends the canonical form: every component as a GenericNameComponent TLV.
    pub fn append_canonical(&self, out: &mut Vec<u8>) {
        for component in self.components() {
            Component::generic(component).append_to(out);
        }
    }

    /// The name as the rest of Cairn uses it.
    ///
    /// # Errors
    /// More than [`NameRef::MAX_BYTES`] in canonical form, which no name in a message has.
    pub fn to_name(&self) -> Result<Name, DecodeError> {
        Name::limited(Buffer::copy_from(&self.to_canonical()))
    }

    /// The bytes of the canonical form.
    #[inline]
    fn to_canonical(self) -> CanonicalName {
        // No component is longer in canonical form than as an element.
        let mut usual = [0; USUAL_NAME_BYTES];
        if let Some(place) = usual.get_mut(..self.components.len()) {
            let len = self.write_canonical(place);
            return CanonicalName::from_buf_and_len(usual, len);
        }
        let mut long = CanonicalName::from_elem(0, self.components.len());
        let len = self.write_canonical(&mut long);
        long.truncate(len);
        long
    }

    /// Writes the canonical form to the start of `out`, which has room for it; gives its length.
    #[inline(always)]
    fn write_canonical(self, out: &mut [u8]) -> usize {
        let (mut free, mut len) = (out, 0);
        for component in self.components() {
            let [high, low] = (component.len() as u16).to_be_bytes();
            // Those of fewer than 253 bytes have a length of one byte.
            let long = [GENERIC, 0xfd, high, low];
            let header = if component.len() < 0xfd { &[GENERIC, low][..] } else { &long[..] };
            let Some((place, rest)) = free.split_at_mut_checked(header.len()) else { break };
            let Some((value, rest)) = rest.split_at_mut_checked(component.len()) else { break };
            place.copy_from_slice(header);
            value.copy_from_slice(component);
            (free, len) = (rest, len + header.len() + component.len());
        }
        len
    }
}

/// Bytes of most names in canonical form, or fewer.
const USUAL_NAME_BYTES: usize = 128;

/// The bytes of a name in canonical form; those of most names stand where they are kept.
type CanonicalName = SmallVec<[u8; USUAL_NAME_BYTES]>;

/// The canonical form of the name of one packet, made when it is first asked for. Forwarding a packet does
/// not ask. It takes one word, because packets of either dialect are moved about with it.
#[derive(Debug)]
pub(crate) struct LazyCanonical(OnceBox<CanonicalName>);

impl Clone for LazyCanonical {
    /// A copy of a packet makes its own if somebody asks for it: copies are made for every packet that is
    /// sent, and a name may be long.
    #[inline(always)]
    fn clone(&self) -> Self {
        LazyCanonical::none()
    }
}

impl LazyCanonical {
    /// Nobody has asked yet.
    #[inline(always)]
    pub(crate) const fn none() -> Self {
        LazyCanonical(OnceBox::new())
    }

    /// Whether somebody has asked.
    pub(crate) fn is_made(&self) -> bool {
        self.0.get().is_some()
    }

    /// The canonical form of `name`, which is the same at each call.
    #[inline(never)]
    pub(crate) fn of(&self, name: CcnxNameRef<'_>) -> NameRef<'_> {
        NameRef::from_checked(self.0.get_or_init(|| Box::new(name.to_canonical())))
    }
}

impl Ord for CcnxNameRef<'_> {
    /// Canonical order: by the first component that differs, a prefix before what it is a prefix of.
    fn cmp(&self, other: &Self) -> Ordering {
        let mut others = other.components();
        for component in self.components() {
            match others.next().map(|other| compare_components(component, other)) {
                Some(Ordering::Equal) => {}
                Some(different) => return different,
                None => return Ordering::Greater,
            }
        }
        self.count.cmp(&other.count)
    }
}

impl PartialOrd for CcnxNameRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for CcnxNameRef<'_> {
    /// Writes the `ccnx:` URI with the escapes that CCNx's own tools print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ccnx:")?;
        uri::write(f, self.components(), Escaping::Mixed)
    }
}

impl fmt::Debug for CcnxNameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Canonical order of components: the shorter first, equally long ones byte by byte.
pub fn compare_components(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// The components of a [`CcnxNameRef`].
#[derive(Clone, Debug)]
pub struct Components<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Components<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        // The elements have been checked, so this only has to find where they end.
        let (_, inside) = self.rest.split_first()?;
        let (header_len, body_len) = body_lengths(inside, BlockKind::Blob).unwrap_or((0, 0));
        let (body, end) = inside.get(header_len..)?.split_at_checked(body_len)?;
        self.rest = end.get(1..)?;
        self.left -= 1;
        Some(body)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Components<'_> {}

/// A name that is to be encoded, in the form that is at hand.
#[derive(Clone, Copy, Debug)]
pub enum NameSource<'a> {
    /// As it was in another message.
    Ccnb(CcnxNameRef<'a>),
    /// In canonical form.
    Canonical(NameRef<'a>),
}

impl NameSource<'_> {
    /// Length of the Name element, in bytes.
    ///
    /// # Errors
    /// Those of [`NameSource::encode_into`].
    pub fn encoded_len(&self) -> Result<usize, DecodeError> {
        match self {
            NameSource::Ccnb(name) => Ok(name.encoded_len()),
            NameSource::Canonical(name) => encoded_len_from_canonical(name.canonical()),
        }
    }

    /// Appends the Name element. After an error `out` holds a part of it.
    ///
    /// # Errors
    /// Components of another type than 8: CCNx cannot say that a component is a digest or a keyword.
    pub fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.encode_as(Dtag::NAME, out)
    }

    /// Appends the name as the element `tag`.
    pub(crate) fn encode_as(&self, tag: Dtag, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        write_open(out, tag);
        match self {
            NameSource::Ccnb(name) => out.extend_from_slice(name.components),
            NameSource::Canonical(name) => write_canonical(name.canonical(), out)?,
        }
        write_close(out);
        Ok(())
    }

    /// The name as the rest of Cairn uses it.
    ///
    /// # Errors
    /// Those of [`CcnxNameRef::to_name`].
    pub fn to_name(&self) -> Result<Name, DecodeError> {
        match self {
            NameSource::Ccnb(name) => name.to_name(),
            NameSource::Canonical(name) => Ok(name.to_name()),
        }
    }
}

impl<'a> From<CcnxNameRef<'a>> for NameSource<'a> {
    fn from(name: CcnxNameRef<'a>) -> Self {
        NameSource::Ccnb(name)
    }
}

impl<'a> From<NameRef<'a>> for NameSource<'a> {
    fn from(name: NameRef<'a>) -> Self {
        NameSource::Canonical(name)
    }
}

impl<'a> From<&'a Name> for NameSource<'a> {
    fn from(name: &'a Name) -> Self {
        NameSource::Canonical(name.as_ref())
    }
}

/// The components of a name in canonical form; the first error ends them.
fn canonical_components(canonical: &[u8]) -> impl Iterator<Item = Result<&[u8], DecodeError>> {
    let mut reader = tlv::Reader::new(canonical, "Name");
    std::iter::from_fn(move || match reader.element().transpose()? {
        Ok(element) if element.kind == u32::from(ComponentKind::GENERIC.number()) => Some(Ok(element.value)),
        Ok(element) => {
            let rule = Rule::UnexpectedType(element.kind.into());
            Some(Err(DecodeError::new("Component", element.start, rule)))
        }
        Err(error) => {
            // What follows cannot be told apart any more.
            reader = tlv::Reader::new(&[], "Name");
            Some(Err(error))
        }
    })
}

/// Length of the Name element of the name with the canonical form `canonical`, in bytes.
///
/// # Errors
/// Those of [`write_canonical`].
fn encoded_len_from_canonical(canonical: &[u8]) -> Result<usize, DecodeError> {
    let mut content_len = 0;
    for component in canonical_components(canonical) {
        content_len += body_element_len(Dtag::COMPONENT, component?.len());
    }
    Ok(element_len(Dtag::NAME, content_len))
}

/// Appends the components of the name with the canonical form `canonical`. After an error `out` holds some of
/// them.
///
/// # Errors
/// Bytes that are not TLVs in their shortest form, and components of another type than 8.
fn write_canonical(canonical: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    for component in canonical_components(canonical) {
        write_blob_element(out, Dtag::COMPONENT, component?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ccnb(components: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::NAME);
        for component in components {
            write_blob_element(&mut out, Dtag::COMPONENT, component);
        }
        write_close(&mut out);
        out
    }

    #[test]
    fn components_of_every_length_come_out_and_go_through_the_canonical_form() {
        for len in [0, 1, 15, 16, 252, 253, 2047, 2048, 65_535, 65_536] {
            let long = vec![0xcc; len];
            let wire = ccnb(&[b"a", &long, b""]);
            let name = CcnxNameRef::decode(&wire).unwrap();
            assert_eq!(name.components().collect::<Vec<_>>(), [b"a", &long[..], b""]);
            assert_eq!((name.len(), name.components().len()), (3, 3));
            assert_eq!(name.component(1), Some(&long[..]));
            assert_eq!(name.component(3), None);

            let mut canonical = Vec::new();
            name.append_canonical(&mut canonical);
            let source = NameSource::from(NameRef::from_checked(&canonical));
            let mut again = Vec::new();
            source.encode_into(&mut again).unwrap();
            assert_eq!(again, wire);
            assert_eq!(source.encoded_len(), Ok(wire.len()));
        }
    }

    #[test]
    fn components_that_ccnx_cannot_express_are_refused() {
        let refused = |canonical: &[u8]| write_canonical(canonical, &mut Vec::new()).unwrap_err();
        let digest = [8, 1, b'a', 1, 2, 0xaa, 0xbb];
        assert_eq!(refused(&digest), DecodeError::new("Component", 3, Rule::UnexpectedType(1)));
        assert_eq!(refused(&[8, 2, b'a']).rule, Rule::Truncated { missing: 1 });
        assert_eq!(canonical_components(&[8, 2, b'a']).count(), 1);
    }

    #[test]
    fn order_is_by_length_then_bytes_and_prefixes_come_first() {
        let sorted: &[&[&[u8]]] =
            &[&[], &[b""], &[b"", b""], &[b"b"], &[b"b", b"a"], &[b"b", b"aa"], &[b"c"], &[b"aa"]];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                let (a, b) = (ccnb(a), ccnb(b));
                let (a, b) = (CcnxNameRef::decode(&a).unwrap(), CcnxNameRef::decode(&b).unwrap());
                assert_eq!(a.cmp(&b), i.cmp(&j), "{a} {b}");
                if a.is_prefix_of(&b) {
                    assert!(a <= b);
                }
            }
        }
    }

    #[test]
    fn a_name_splits_into_its_parent_and_its_last_component() {
        let wire = ccnb(&[b"a", b"", b"c"]);
        let name = CcnxNameRef::decode(&wire).unwrap();
        let (parent, last) = name.split_last().unwrap();
        assert_eq!((parent.to_string().as_str(), last), ("ccnx:/a/...", &b"c"[..]));
        let (parent, last) = parent.split_last().unwrap();
        assert_eq!((parent.len(), last), (1, &b""[..]));
        assert_eq!(parent.split_last().unwrap().0, CcnxNameRef::ROOT);
        assert_eq!(CcnxNameRef::ROOT.split_last(), None);
        assert!(parent.is_prefix_of(&name) && !name.is_prefix_of(&parent));
    }

    #[test]
    fn an_empty_blob_and_anything_else_in_a_component_is_refused() {
        let refused = |wire: &[u8]| CcnxNameRef::decode(wire).unwrap_err();
        assert_eq!(refused(&[0xf2, 0xfa, 0x85, 0, 0]).rule, Rule::BadLength(0));
        assert_eq!(refused(&[0xf2, 0xfa, 0x8e, b'a', 0, 0]).rule, Rule::UnexpectedBlock("UDATA"));
        assert_eq!(refused(&[0xf2, 0xf2, 0, 0]), DecodeError::new("Name", 1, Rule::UnexpectedType(14)));
        assert_eq!(refused(&[0xf2, 0, 0]), DecodeError::new("Name", 2, Rule::Trailing(1)));
    }
}
