//! The NDN dialect: packet format v0.3, and the NDNLPv2 link protocol that carries it.

mod data;
mod interest;
pub mod lp;
mod signature;
mod stream;
pub mod tlv;
pub mod types;
mod validity_period;

pub use data::{DataBuilder, DataView};
pub use interest::{DEFAULT_LIFETIME, ForwardingHint, InterestBuilder, InterestView};
pub use signature::{KeyLocator, SignatureInfo, SignatureInfoBuilder, SignatureType};
pub use stream::data_len;
pub use validity_period::ValidityPeriod;

pub(crate) use interest::{with_hop_limit, with_nonce};

use crate::error::{DecodeError, Rule};
use crate::name::{Component, ComponentKind, NameRef};
use tlv::{Element, MAX_PACKET_BYTES, Reader};

/// The port of NDN over UDP and TCP, as assigned by IANA.
pub const PORT: u16 = 6363;

/// The port at which forwarders listen for WebSocket connections.
pub const WEBSOCKET_PORT: u16 = 9696;

/// Opens the element of type `kind` that fills `wire` exactly; gives a reader of what is inside and where
/// that starts.
#[inline(always)]
fn outer_element<'a>(
    wire: &'a [u8],
    kind: u32,
    field: &'static str,
) -> Result<(Reader<'a>, usize), DecodeError> {
    if wire.len() > MAX_PACKET_BYTES {
        return Err(DecodeError::new(field, 0, Rule::TooLarge { size: wire.len(), limit: MAX_PACKET_BYTES }));
    }
    let mut reader = Reader::new(wire, field);
    let outer = match reader.plain(kind) {
        Some(outer) if reader.is_empty() => outer,
        _ => whole_element(wire, kind, field)?,
    };
    Ok((reader.inside(outer, field), outer.value_start))
}

/// The element of type `kind` that fills `wire` exactly.
#[cold]
fn whole_element<'a>(wire: &'a [u8], kind: u32, field: &'static str) -> Result<Element<'a>, DecodeError> {
    let mut reader = Reader::new(wire, field);
    let outer = reader.required(kind, field)?;
    reader.finish()?;
    Ok(outer)
}

/// What decoding a Name finds out.
struct DecodedName {
    component_count: u16,
    ends_in_implicit_digest: bool,
}

/// Checks the Name in `element` and counts its components.
#[inline(always)]
fn decode_name(reader: &Reader<'_>, element: Element<'_>) -> Result<DecodedName, DecodeError> {
    let mut inside = reader.inside(element, "Name");
    let mut name = DecodedName { component_count: 0, ends_in_implicit_digest: false };
    // Almost every component is of a type that nothing depends on here, and of a few bytes.
    while inside.short().is_some() {
        // A packet of 8,800 bytes holds at most 4,400 components.
        name.component_count += 1;
    }
    let mut has_parameters_digest = false;
    while let Some(inner) = inside.element()? {
        let component = Component::from_element(inner)?;
        if component.kind == ComponentKind::PARAMETERS_DIGEST {
            if has_parameters_digest {
                let field = "ParametersSha256DigestComponent";
                return Err(DecodeError::new(field, inner.start, Rule::OutOfOrder));
            }
            has_parameters_digest = true;
        }
        name.component_count += 1;
        name.ends_in_implicit_digest = component.kind == ComponentKind::IMPLICIT_DIGEST;
    }
    if usize::from(name.component_count) > NameRef::MAX_COMPONENTS {
        return Err(too_many_components(name.component_count.into(), element.start));
    }
    Ok(name)
}

#[cold]
fn too_many_components(found: usize, offset: usize) -> DecodeError {
    let limit = NameRef::MAX_COMPONENTS;
    DecodeError::new("Name", offset, Rule::TooManyComponents { found, limit })
}
