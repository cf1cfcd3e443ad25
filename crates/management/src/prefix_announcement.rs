//! Prefix announcements: Data by which the owner of a prefix says that it can be reached through whoever
//! shows it.

use packet::error::{DecodeError, Rule};
use packet::ndn::tlv::{self, Reader};
use packet::ndn::{DataBuilder, types as ndn};
use packet::{Component, ComponentKind, ContentType, Data, Name, UnixTime};

use crate::fields::Fields;
use crate::segments::with_number;
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

/// A span of time in seconds since the Unix epoch, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidityPeriod {
    /// From then on.
    pub not_before_s: u64,
    /// Up to then.
    pub not_after_s: u64,
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
    /// More bytes than a name can have, or a validity beyond the year 9999.
    pub fn to_data(&self) -> Result<DataBuilder, DecodeError> {
        let name = with_number(&self.prefix.with(KEYWORD)?, ComponentKind::VERSION, self.version)?;
        let name = with_number(&name, ComponentKind::SEGMENT, 0)?;
        let mut content = Vec::new();
        tlv::write_nni_element(&mut content, types::EXPIRATION_PERIOD, self.expiration_period_ms);
        if let Some(validity) = self.validity {
            tlv::write_element(&mut content, ndn::VALIDITY_PERIOD, &validity.encode()?);
        }
        let data = DataBuilder::new(name).content_type(ContentType::PREFIX_ANNOUNCEMENT);
        Ok(data.content(content))
    }
}

impl ValidityPeriod {
    /// Whether `now_s`, in seconds since the Unix epoch, lies within.
    pub fn contains(self, now_s: u64) -> bool {
        (self.not_before_s..=self.not_after_s).contains(&now_s)
    }

    /// Reads the value of a ValidityPeriod element.
    ///
    /// # Errors
    /// A bound that is missing or no date.
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::new(Reader::new(value, "ValidityPeriod"))?;
        let bound = |kind, field| {
            let element = fields.first(kind).ok_or_else(|| fields.missing(field))?;
            read_date(element.value).ok_or_else(|| DecodeError::new(field, element.start, Rule::BadText))
        };
        Ok(ValidityPeriod {
            not_before_s: bound(ndn::NOT_BEFORE, "NotBefore")?,
            not_after_s: bound(ndn::NOT_AFTER, "NotAfter")?,
        })
    }

    fn encode(self) -> Result<Vec<u8>, DecodeError> {
        let mut value = Vec::new();
        for (kind, field, bound) in [
            (ndn::NOT_BEFORE, "NotBefore", self.not_before_s),
            (ndn::NOT_AFTER, "NotAfter", self.not_after_s),
        ] {
            let date = write_date(bound).ok_or_else(|| DecodeError::new(field, 0, Rule::BadValue(bound)))?;
            tlv::write_element(&mut value, kind, &date);
        }
        Ok(value)
    }
}

/// Seconds since the Unix epoch of `YYYYMMDDThhmmss`, UTC; none before that.
fn read_date(text: &[u8]) -> Option<u64> {
    UnixTime::from_iso(text).filter(|_| text >= b"1970".as_slice()).map(UnixTime::as_secs)
}

/// The same the other way; `None` beyond the year 9999.
fn write_date(seconds: u64) -> Option<[u8; 15]> {
    (seconds <= UnixTime::END.as_secs()).then(|| UnixTime::from_secs(seconds).to_iso())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_the_calendar_has_them() {
        // Numbers by `date -u -d … +%s`.
        for (text, seconds) in [
            ("19700101T000000", 0),
            ("20000229T120000", 951_825_600),
            ("20240101T000000", 1_704_067_200),
            ("20250101T000000", 1_735_689_600),
            ("21000301T000000", 4_107_542_400),
            ("99991231T235959", 253_402_300_799),
        ] {
            assert_eq!(read_date(text.as_bytes()), Some(seconds), "{text}");
            assert_eq!(write_date(seconds).as_ref().map(|date| date.as_slice()), Some(text.as_bytes()));
        }
        for text in [
            "20230229T000000",
            "20240001T000000",
            "20241301T000000",
            "20240100T000000",
            "20240101 000000",
            "20240101T240000",
            "2024010T0000000",
            "19691231T235959",
            "",
        ] {
            assert_eq!(read_date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(write_date(253_402_300_800), None);
        assert_eq!(write_date(u64::MAX), None);
    }
}
