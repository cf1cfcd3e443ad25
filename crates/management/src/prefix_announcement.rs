//! Prefix announcements: Data by which the owner of a prefix says that it can be reached through whoever
//! shows it.

use packet::error::{DecodeError, Rule};
use packet::ndn::tlv::{self, Reader};
use packet::ndn::{DataBuilder, ValidityPeriod, types as ndn};
use packet::{Component, ComponentKind, ContentType, Data, Name};

use crate::fields::Fields;
use crate::types;

/// A prefix announcement, apart from its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixAnnouncement {
    /// The prefix announced.
    pub prefix: Name,
    /// The announcement's version.
    pub version: u64,
    /// How long a route made from it may live, in milliseconds from when it is shown.
    pub expiration_period_ms: u64,
    /// When it may be used.
    pub validity: Option<ValidityPeriod>,
}

/// The keyword in the name of every announcement.
const KEYWORD: Component<'static> = Component::new(ComponentKind::KEYWORD, b"PA");

impl PrefixAnnouncement {
    /// Reads an announcement. Its signature is for the caller to verify.
    ///
    /// # Errors
    /// Another type of content, a name that is not `/<prefix>/32=PA/v=<version>/seg=0`, a malformed or
    /// missing field, or an unknown one that may not be ignored.
    pub fn decode(data: &Data) -> Result<Self, DecodeError> {
        let wrong = |field, rule| DecodeError::new(field, 0, rule);
        let view = data.ndn().ok_or_else(|| wrong("PrefixAnnouncement", Rule::Missing))?;
        if view.content_type() != ContentType::PREFIX_ANNOUNCEMENT {
            return Err(wrong("ContentType", Rule::BadValue(view.content_type().0)));
        }
        let name = view.name();
        let Some(len) = name.component_count().checked_sub(3) else {
            return Err(wrong("Name", Rule::BadLength(name.component_count())));
        };
        let component = |index, kind| {
            name.component(len + index)
                .filter(|component| component.kind == kind)
                .ok_or_else(|| wrong("Name", Rule::Missing))
        };
        if component(0, ComponentKind::KEYWORD)? != KEYWORD {
            return Err(wrong("Name", Rule::Missing));
        }
        let version =
            component(1, ComponentKind::VERSION)?.number().ok_or_else(|| wrong("Name", Rule::Missing))?;
        if component(2, ComponentKind::SEGMENT)?.number() != Some(0) {
            return Err(wrong("Name", Rule::Missing));
        }
        let fields = Fields::new(Reader::new(view.content(), "PrefixAnnouncement"))?;
        for element in fields.elements() {
            if !matches!(element.kind, types::EXPIRATION_PERIOD | ndn::VALIDITY_PERIOD) {
                tlv::skip_unexpected(element, false, "PrefixAnnouncement")?;
            }
        }
        let validity =
            fields.first(ndn::VALIDITY_PERIOD).map(|element| ValidityPeriod::decode(element.value));
        Ok(PrefixAnnouncement {
            prefix: name.prefix(len).to_name(),
            version,
            expiration_period_ms: fields.required_number(types::EXPIRATION_PERIOD, "ExpirationPeriod")?,
            validity: validity.transpose()?,
        })
    }

    /// The announcement as Data that is yet to be signed.
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn to_data(&self) -> Result<DataBuilder, DecodeError> {
        let name = self.prefix.with(KEYWORD)?.with_number(ComponentKind::VERSION, self.version)?;
        let name = name.with_number(ComponentKind::SEGMENT, 0)?;
        let mut content = Vec::new();
        tlv::write_nni_element(&mut content, types::EXPIRATION_PERIOD, self.expiration_period_ms);
        if let Some(validity) = self.validity {
            validity.write(&mut content);
        }
        let data = DataBuilder::new(name).content_type(ContentType::PREFIX_ANNOUNCEMENT);
        Ok(data.content(content))
    }
}
