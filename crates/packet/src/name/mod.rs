//! Names: what is asked for and what is sent, instead of addresses.
//!
//! A name is a sequence of typed components, kept in canonical form: the components' TLVs one after the
//! other, each number in its shortest form (the TLV-VALUE of an NDN Name). Both dialects use this form;
//! components of CCNx are generic components. Two names are equal exactly when their canonical bytes are, and
//! canonical order is the order of those bytes, a prefix first. A packet of CCNx has its name in another form
//! on the wire; [`WireName`] is a name as its packet has it, which is all that forwarding needs.

mod any_name;
mod component;
mod scope;
mod uri;
mod wire_name;

use std::cmp::Ordering;
use std::fmt;

use crate::buffer::Buffer;
use crate::error::{DecodeError, Rule};
use crate::ndn::tlv;

pub use any_name::{AnyName, AnyNameError, name_in_dialect};
pub use component::{Component, ComponentKind};
pub use scope::NameScope;
pub(crate) use scope::may_limit_scope;
pub use uri::UriError;
pub use wire_name::WireName;

/// An owned name: one reference-counted buffer, cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Name {
    canonical: Buffer,
}

impl Name {
    /// The name without components, a prefix of all names.
    pub fn root() -> Self {
        Name { canonical: Buffer::copy_from(&[]) }
    }

    /// The name made of `components`.
    ///
    /// # Errors
    /// A component that its kind does not allow, or more than 65,535 bytes in all.
    pub fn from_components<'a>(
        components: impl IntoIterator<Item = Component<'a>>,
    ) -> Result<Self, DecodeError> {
        let mut canonical = Vec::new();
        for component in components {
            component.check(canonical.len())?;
            component.append_to(&mut canonical);
        }
        Name::limited(canonical)
    }

    /// The name whose canonical form (an NDN Name's TLV-VALUE) is in `canonical`, sharing the buffer.
    ///
    /// # Errors
    /// What [`NameRef::decode`] refuses.
    pub fn from_canonical(canonical: Buffer) -> Result<Self, DecodeError> {
        NameRef::decode(&canonical)?;
        Ok(Name { canonical })
    }

    /// This name with one more component.
    ///
    /// # Errors
    /// As [`Name::from_components`].
    pub fn with(&self, component: Component<'_>) -> Result<Self, DecodeError> {
        component.check(self.canonical.len())?;
        let mut canonical = Vec::with_capacity(self.canonical.len() + component.encoded_len());
        canonical.extend_from_slice(&self.canonical);
        component.append_to(&mut canonical);
        Name::limited(canonical)
    }

    /// This name with one more component, which holds a number in as few bytes as a NonNegativeInteger may
    /// have.
    ///
    /// # Errors
    /// As [`Name::from_components`].
    pub fn with_number(&self, kind: ComponentKind, number: u64) -> Result<Self, DecodeError> {
        let mut digits = Vec::with_capacity(8);
        tlv::write_nni(&mut digits, number);
        self.with(Component::new(kind, &digits))
    }

    /// The prefix of `count` components (all of it if there are fewer), sharing the buffer.
    pub fn prefix(&self, count: usize) -> Name {
        let len = self.as_ref().prefix(count).canonical.len();
        Name { canonical: self.canonical.slice(0..len).unwrap_or_else(|| self.canonical.clone()) }
    }

    /// A borrowed view.
    #[inline(always)]
    pub fn as_ref(&self) -> NameRef<'_> {
        NameRef { canonical: &self.canonical }
    }

    /// The components from first to last.
    pub fn components(&self) -> Components<'_> {
        self.as_ref().components()
    }

    /// The canonical bytes.
    pub fn canonical(&self) -> &Buffer {
        &self.canonical
    }

    pub(crate) fn limited(canonical: impl Into<Buffer>) -> Result<Self, DecodeError> {
        let canonical = canonical.into();
        match canonical.len() {
            size if size > NameRef::MAX_BYTES => {
                Err(DecodeError::new("Name", 0, Rule::TooLarge { size, limit: NameRef::MAX_BYTES }))
            }
            _ => Ok(Name { canonical }),
        }
    }
}

/// A borrowed name in canonical form. All its bytes have been checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NameRef<'a> {
    canonical: &'a [u8],
}

impl<'a> NameRef<'a> {
    /// The longest name, in canonical bytes.
    pub const MAX_BYTES: usize = 65_535;

    /// Most components that a name in a packet may have. Work for a packet grows with them, here and in every
    /// forwarder it comes by; real names have ten or twenty.
    pub const MAX_COMPONENTS: usize = 128;

    /// The name without components.
    pub const ROOT: NameRef<'static> = NameRef { canonical: &[] };

    /// Checks that `canonical` is a sequence of legal components (an NDN Name's TLV-VALUE) and borrows it.
    ///
    /// # Errors
    /// A malformed TLV, a component type outside 1 to 65535, a digest component that has not 32 bytes, more
    /// than one ParametersSha256DigestComponent, more than 65,535 bytes.
    pub fn decode(canonical: &'a [u8]) -> Result<Self, DecodeError> {
        if canonical.len() > Self::MAX_BYTES {
            let rule = Rule::TooLarge { size: canonical.len(), limit: Self::MAX_BYTES };
            return Err(DecodeError::new("Name", 0, rule));
        }
        let mut reader = tlv::Reader::new(canonical, "Name");
        let mut digests = 0;
        while let Some(element) = reader.element()? {
            let component = Component::from_element(element)?;
            digests += usize::from(component.kind == ComponentKind::PARAMETERS_DIGEST);
            if digests > 1 {
                return Err(DecodeError::new(
                    "ParametersSha256DigestComponent",
                    element.start,
                    Rule::OutOfOrder,
                ));
            }
        }
        Ok(NameRef { canonical })
    }

    /// Borrows bytes that a decoder has already checked component by component.
    pub(crate) fn from_checked(canonical: &'a [u8]) -> Self {
        NameRef { canonical }
    }

    /// The components from first to last.
    pub fn components(self) -> Components<'a> {
        Components { rest: tlv::Reader::new(self.canonical, "Name") }
    }

    /// Number of components; walks the name.
    pub fn component_count(self) -> usize {
        self.components().count()
    }

    /// True for the name without components.
    pub fn is_root(self) -> bool {
        self.canonical.is_empty()
    }

    /// The component at `index`, counted from 0.
    pub fn component(self, index: usize) -> Option<Component<'a>> {
        self.components().nth(index)
    }

    /// The last component.
    pub fn last(self) -> Option<Component<'a>> {
        self.components().last()
    }

    /// The prefix of `count` components; all of the name if there are fewer.
    pub fn prefix(self, count: usize) -> NameRef<'a> {
        let mut components = self.components();
        let _ = count.checked_sub(1).and_then(|last| components.nth(last));
        let len = if count == 0 { 0 } else { components.rest.position() };
        NameRef { canonical: self.canonical.get(..len).unwrap_or(self.canonical) }
    }

    /// True if this name is a prefix of `other`, or equal to it.
    ///
    /// Canonical encodings are self-delimiting, so a prefix in bytes is a prefix in components.
    #[inline]
    pub fn is_prefix_of(self, other: NameRef<'_>) -> bool {
        other.canonical.starts_with(self.canonical)
    }

    /// The canonical bytes.
    #[inline(always)]
    pub fn canonical(self) -> &'a [u8] {
        self.canonical
    }

    /// An owned copy.
    pub fn to_name(self) -> Name {
        Name { canonical: Buffer::copy_from(self.canonical) }
    }
}

/// Iterates over the components of a checked name.
#[derive(Clone, Copy, Debug)]
pub struct Components<'a> {
    rest: tlv::Reader<'a>,
}

impl<'a> Iterator for Components<'a> {
    type Item = Component<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Component<'a>> {
        let element = match self.rest.short() {
            Some(element) => element,
            None if self.rest.is_empty() => return None,
            None => self.next_long()?,
        };
        Some(Component::from_checked(element))
    }
}

impl<'a> Components<'a> {
    #[cold]
    fn next_long(&mut self) -> Option<tlv::Element<'a>> {
        // The bytes were checked when the name was made; `ok` only spares a panic path.
        self.rest.element().ok().flatten()
    }
}

impl PartialOrd for NameRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for NameRef<'_> {
    /// Canonical order (NDN packet format, section 2.1): with every number in its shortest form it is the
    /// order of the canonical bytes.
    fn cmp(&self, other: &Self) -> Ordering {
        self.canonical.cmp(other.canonical)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(&other.as_ref())
    }
}

impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

impl fmt::Debug for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
