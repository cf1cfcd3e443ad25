use super::{decode_all, write_optional_text};
use crate::ccnx::block::{element_len, write_close, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// Collection: elements in a row. Name enumeration answers with one of [`Link`]s, ndnld with one of
/// [`NdnldConnection`](super::NdnldConnection)s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection<'a> {
    /// The elements, all of which are whole.
    items: &'a [u8],
}

impl<'a> Collection<'a> {
    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Anything but whole elements in it. What they are is not looked at.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "Collection", |reader| {
            reader.open(Dtag::COLLECTION, "Collection")?;
            let start = reader.position();
            while !reader.at_close() {
                reader.skip_element_inside("Collection", 1)?;
            }
            let items = reader.read_since(start);
            reader.close("Collection")?;
            Ok(Collection { items })
        })
    }

    /// The elements' bytes, one after the other.
    pub fn items(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut reader = Reader::new(self.items, "Collection");
        std::iter::from_fn(
            move || if reader.is_empty() { None } else { reader.skip_element("Collection").ok() },
        )
    }

    /// The elements read as links; those that are something else give errors.
    pub fn links(&self) -> impl Iterator<Item = Result<Link<'a>, DecodeError>> + use<'a> {
        self.items().map(Link::decode)
    }

    /// The Collection of `items`, whole elements one after the other.
    pub fn encode<T: AsRef<[u8]>>(items: impl IntoIterator<Item = T>) -> Vec<u8> {
        let items: Vec<T> = items.into_iter().collect();
        let content_len = items.iter().map(|item| item.as_ref().len()).sum();
        let mut out = Vec::with_capacity(element_len(Dtag::COLLECTION, content_len));
        write_open(&mut out, Dtag::COLLECTION);
        for item in &items {
            out.extend_from_slice(item.as_ref());
        }
        write_close(&mut out);
        out
    }
}

/// Link: a name that stands for another, or an item of a list.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The name that is pointed to.
    pub name: NameSource<'a>,
    /// What to call it.
    pub label: Option<&'a str>,
    /// The LinkAuthenticator element, which says what the target must be; not looked into.
    pub authenticator: Option<&'a [u8]>,
}

impl<'a> Link<'a> {
    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "Link", |reader| {
            reader.open(Dtag::LINK, "Link")?;
            let name = CcnxNameRef::read(reader)?.into();
            let label = reader.optional_text(Dtag::LABEL, "Label")?;
            let authenticator = match reader.next_is(Dtag::LINK_AUTHENTICATOR) {
                true => Some(reader.skip_element_inside("LinkAuthenticator", 2)?),
                false => None,
            };
            reader.close("Link")?;
            Ok(Link { name, label, authenticator })
        })
    }

    /// The element's bytes.
    ///
    /// # Errors
    /// A name that CCNx cannot express.
    pub fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::LINK);
        self.name.encode_into(&mut out)?;
        write_optional_text(&mut out, Dtag::LABEL, self.label);
        out.extend_from_slice(self.authenticator.unwrap_or_default());
        write_close(&mut out);
        Ok(out)
    }
}
