//! Quantities as people write them on command lines, and as they are shown.

use flow::{SegmentSize, USUAL_CONTENT_BYTES};
use packet::time::Duration;

pub(crate) use packet::units::{bytes as size, duration_or_millis as duration, per_second as rate};

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
    let secs = duration.as_secs_f64();
    match duration.as_nanos() {
        nanos @ 0..=999 => format!("{nanos} ns"),
        1_000..=999_999 => format!("{:.0} µs", secs * 1e6),
        1_000_000..=999_999_999 => format!("{:.3} ms", secs * 1e3),
        _ => format!("{secs:.3} s"),
    }
}

/// A size in the unit that suits it.
pub(crate) fn show_size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{:.2} kB", b / 1e3),
        b if b < 1e9 => format!("{:.2} MB", b / 1e6),
        b => format!("{:.2} GB", b / 1e9),
    }
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
