//! ValidityPeriod: from when to when a certificate or a prefix announcement counts.

use std::fmt;

use super::tlv::{self, Reader};
use super::types;
use crate::UnixTime;
use crate::error::{DecodeError, Rule};

/// From when to when something counts. Both ends are inside, whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidityPeriod {
    /// The first second.
    pub not_before: UnixTime,
    /// The last second.
    pub not_after: UnixTime,
}

impl ValidityPeriod {
    /// Whether `time` lies inside.
    pub fn contains(&self, time: UnixTime) -> bool {
        (self.not_before.as_secs()..=self.not_after.as_secs()).contains(&time.as_secs())
    }

    /// Reads the value of a ValidityPeriod element. Years before 1970 count as its beginning.
    ///
    /// # Errors
    /// An end that is missing, or no date of the form `YYYYMMDDThhmmss`.
    pub fn decode(value: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value, "ValidityPeriod");
        let mut end = |kind, field| {
            let element = reader.required(kind, field)?;
            UnixTime::from_iso(element.value)
                .ok_or_else(|| DecodeError::new(field, element.start, Rule::BadText))
        };
        Ok(ValidityPeriod {
            not_before: end(types::NOT_BEFORE, "NotBefore")?,
            not_after: end(types::NOT_AFTER, "NotAfter")?,
        })
    }

    /// Appends the element. What lies behind [`UnixTime::END`] is written as that.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (not_before, not_after) = (self.not_before.to_iso(), self.not_after.to_iso());
        let ends = tlv::element_len(types::NOT_BEFORE, not_before.len())
            + tlv::element_len(types::NOT_AFTER, not_after.len());
        tlv::write_header(out, types::VALIDITY_PERIOD, ends);
        tlv::write_element(out, types::NOT_BEFORE, &not_before);
        tlv::write_element(out, types::NOT_AFTER, &not_after);
    }
}

impl fmt::Display for ValidityPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.not_before, self.not_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(not_before: &[u8], not_after: &[u8]) -> Vec<u8> {
        let mut value = Vec::new();
        tlv::write_element(&mut value, types::NOT_BEFORE, not_before);
        tlv::write_element(&mut value, types::NOT_AFTER, not_after);
        value
    }

    #[test]
    fn both_ends_are_inside_and_come_back_as_they_were_written() {
        let validity =
            ValidityPeriod { not_before: UnixTime::from_secs(10), not_after: UnixTime::from_secs(20) };
        let inside = |millis| validity.contains(UnixTime::from_millis(millis));
        assert_eq!([9_999, 10_000, 20_999, 21_000].map(inside), [false, true, true, false]);
        let mut wire = Vec::new();
        validity.write(&mut wire);
        let element = Reader::new(&wire, "").required(types::VALIDITY_PERIOD, "").unwrap();
        assert_eq!(ValidityPeriod::decode(element.value), Ok(validity));
    }

    #[test]
    fn an_end_that_is_missing_or_no_date_is_refused_by_its_name() {
        let of = |value: &[u8]| ValidityPeriod::decode(value).map_err(|error| error.field);
        let day = b"20240101T000000";
        assert_eq!(of(&period(day, b"20230229T000000")), Err("NotAfter"));
        assert_eq!(of(&period(b"20240101 000000", day)), Err("NotBefore"));
        assert_eq!(of(&period(day, day)[..19]), Err("NotAfter"));
        assert_eq!(of(&[]), Err("NotBefore"));
        let early = of(&period(b"19000101T000000", day)).unwrap();
        assert_eq!(early.not_before, UnixTime::ZERO);
    }
}
