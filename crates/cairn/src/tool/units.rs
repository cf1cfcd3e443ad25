//! Quantities as people write them on command lines, and as they are shown.

use flow::{SegmentSize, USUAL_CONTENT_BYTES};
use packet::time::Duration;

use packet::units::{SIZE, SPAN};

pub(crate) use packet::units::{bytes as size, duration_or_millis as duration, per_second as rate};

/// Digits that count in what is shown to people.
const DIGITS: usize = 4;

/// A span of something that takes time.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text).map_err(|error| error.to_string())? {
        Duration::ZERO => Err("it must be more than zero".to_owned()),
        more => Ok(more),
    }
}

/// How much content a segment is to hold.
pub(crate) fn content_size(text: &str) -> Result<SegmentSize, String> {
    let bytes = size(text).map_err(|error| error.to_string())?;
    SegmentSize::of_content(bytes).map_err(|error| error.to_string())
}

/// Bytes of content that every packet can hold, beside its name and signature.
pub(crate) fn payload_size(text: &str) -> Result<usize, String> {
    let bytes = size(text).map_err(|error| error.to_string())?;
    match usize::try_from(bytes) {
        Ok(payload) if payload <= USUAL_CONTENT_BYTES as usize => Ok(payload),
        _ => Err(format!("a payload has at most {USUAL_CONTENT_BYTES} bytes")),
    }
}

/// A time in the unit that suits it.
pub(crate) fn show_duration(duration: Duration) -> String {
    SPAN.show(duration.as_nanos() as f64, DIGITS)
}

/// A size in the unit that suits it.
pub(crate) fn show_size(bytes: f64) -> String {
    // There are no parts of a byte.
    SIZE.show(bytes.round(), DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_time_takes_more_than_none() {
        assert!(positive_duration("0").is_err() && positive_duration("1ns").is_ok());
        assert_eq!(positive_duration("250"), Ok(Duration::from_millis(250)));
    }
}
