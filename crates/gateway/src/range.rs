//! Parts of an object: the header Range (RFC 9110, section 14).
//!
//! Written here because of two things that libraries leave out: a header that makes no sense is passed over,
//! as the RFC asks, and is not the same as one that asks for what is not there; and where some of several
//! parts are there, these are sent.

use std::ops::RangeInclusive;

/// Parts that are sent for one request. Who asks for more gets the whole object, which the RFC allows.
pub const MAX_PARTS: usize = 8;

/// What of an object is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedRange {
    /// All of it.
    Whole,
    /// These bytes, at least one part of at least one byte, in the order they were asked for.
    Parts(Vec<RangeInclusive<u64>>),
    /// Only bytes that are not there (status 416).
    Unsatisfiable,
}

/// What the value of a header Range asks for, of an object of `size_bytes`.
///
/// ```
/// use cairn_gateway::range::{RequestedRange, wanted};
///
/// assert_eq!(wanted(b"bytes=0-99", 1000), RequestedRange::Parts(vec![0..=99]));
/// assert_eq!(wanted(b"bytes=-100", 1000), RequestedRange::Parts(vec![900..=999]));
/// assert_eq!(wanted(b"bytes=1000-", 1000), RequestedRange::Unsatisfiable);
/// assert_eq!(wanted(b"lines=1-2", 1000), RequestedRange::Whole);
/// ```
pub fn wanted(header: &[u8], size_bytes: u64) -> RequestedRange {
    let Some(list) = std::str::from_utf8(header).ok().and_then(list_of) else { return RequestedRange::Whole };
    let (mut parts, mut asked, mut total) = (Vec::new(), 0, 0u64);
    for text in list.split(',').map(|text| text.trim_matches([' ', '\t'])) {
        if text.is_empty() {
            // A list may have empty elements.
            continue;
        }
        asked += 1;
        if asked > MAX_PARTS {
            return RequestedRange::Whole;
        }
        let Some(part) = Part::parse(text) else { return RequestedRange::Whole };
        if let Some(part) = part.within(size_bytes) {
            total = total.saturating_add(part.end() - part.start() + 1);
            parts.push(part);
        }
    }
    match parts.len() {
        0 if asked > 0 => RequestedRange::Unsatisfiable,
        0 => RequestedRange::Whole,
        // Parts that overlap so much are an attack, or a mistake.
        _ if total > size_bytes => RequestedRange::Whole,
        _ => RequestedRange::Parts(parts),
    }
}

/// The list of ranges, if they are counted in bytes.
fn list_of(header: &str) -> Option<&str> {
    let (unit, list) = header.trim_matches([' ', '\t']).split_once('=')?;
    unit.trim_end_matches([' ', '\t']).eq_ignore_ascii_case("bytes").then_some(list)
}

#[derive(Clone, Copy)]
enum Part {
    From(u64),
    Between(u64, u64),
    Last(u64),
}

impl Part {
    fn parse(text: &str) -> Option<Self> {
        match text.split_once('-')? {
            ("", "") => None,
            ("", count) => Some(Part::Last(number(count)?)),
            (first, "") => Some(Part::From(number(first)?)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Part::Between(first, last))
            }
        }
    }

    fn within(self, size_bytes: u64) -> Option<RangeInclusive<u64>> {
        let end = size_bytes.checked_sub(1)?;
        match self {
            Part::From(first) if first <= end => Some(first..=end),
            Part::Between(first, last) if first <= end => Some(first..=last.min(end)),
            Part::Last(count) if count > 0 => Some(size_bytes.saturating_sub(count)..=end),
            _ => None,
        }
    }
}

/// Digits only. A number that no counter holds is as good as the largest one.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_every_form_are_read() {
        for (header, expected) in [
            ("bytes=0-0", vec![0..=0]),
            ("bytes=0-", vec![0..=99]),
            ("Bytes = 10-200", vec![10..=99]),
            ("bytes=-5", vec![95..=99]),
            ("bytes=-500", vec![0..=99]),
            ("bytes=0-9, 20-29,-1", vec![0..=9, 20..=29, 99..=99]),
            ("bytes=0-0,200-300", vec![0..=0]),
            ("bytes=, 0-0 ,", vec![0..=0]),
            ("bytes=5-99999999999999999999999", vec![5..=99]),
        ] {
            assert_eq!(wanted(header.as_bytes(), 100), RequestedRange::Parts(expected), "{header}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_passed_over() {
        for header in
            ["", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=9-5", "bytes=0-1,x", "bytes=+1-2", "b=1-2"]
        {
            assert_eq!(wanted(header.as_bytes(), 100), RequestedRange::Whole, "{header}");
        }
        assert_eq!(wanted(b"bytes=\xff-1", 100), RequestedRange::Whole);
    }

    #[test]
    fn bytes_that_are_not_there_are_refused() {
        for header in ["bytes=100-", "bytes=-0", "bytes=100-200,300-"] {
            assert_eq!(wanted(header.as_bytes(), 100), RequestedRange::Unsatisfiable, "{header}");
        }
        assert_eq!(wanted(b"bytes=0-", 0), RequestedRange::Unsatisfiable);
    }

    #[test]
    fn many_parts_or_parts_over_parts_are_the_whole() {
        assert_eq!(wanted(b"bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8", 100), RequestedRange::Whole);
        assert_eq!(wanted(b"bytes=0-,0-", 100), RequestedRange::Whole);
    }
}
