//! Components with a meaning: their first byte is a marker that no UTF-8 text starts with (CCNx 0.8, "Naming
//! conventions").

use crate::ccnx::ticks::Ticks;

/// A segment's number comes after it.
pub const SEGMENT: u8 = 0x00;
/// A version comes after it.
pub const VERSION: u8 = 0xfd;

/// The service of the forwarder on this host, before a service's name:
/// `/%C1.M.S.localhost/%C1.M.SRV/ccnd/KEY`.
pub const LOCALHOST: &[u8] = b"\xc1.M.S.localhost";
/// The same within the next host.
pub const NEIGHBORHOOD: &[u8] = b"\xc1.M.S.neighborhood";
/// Comes before the name of a service.
pub const SERVICE: &[u8] = b"\xc1.M.SRV";
/// What a component with the digest of a public key starts with.
pub const KEY_DIGEST: &[u8] = b"\xc1.M.K\x00";
/// What a component with a nonce starts with.
pub const NONCE: &[u8] = b"\xc1.N\x00";
/// Enumerates names.
pub const ENUMERATE: &[u8] = b"\xc1.E.be";
/// What is said of an object stands below it and this.
pub const METADATA: &[u8] = b"\xc1.META.M";
/// Below [`METADATA`], the header of a file.
pub const HEADER: &[u8] = b".header";
/// Asks a repository to store what is named before.
pub const START_WRITE: &[u8] = b"\xc1.R.sw";
/// The same, unless it is already stored.
pub const CHECKED_START_WRITE: &[u8] = b"\xc1.R.sw-c";

/// The component of segment `number`, from 0: the marker and the number in as few bytes as will do, none for
/// 0.
pub fn segment(number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let zeros = number.leading_zeros() as usize / 8;
    let mut component = vec![SEGMENT];
    component.extend_from_slice(bytes.get(zeros..).unwrap_or_default());
    component
}

/// The number of a segment; `None` for a component that [`segment`] does not make.
pub fn parse_segment(component: &[u8]) -> Option<u64> {
    match component {
        [SEGMENT, 0, ..] => None,
        [SEGMENT, digits @ ..] if digits.len() <= 8 => {
            Some(digits.iter().fold(0, |number, &digit| number << 8 | u64::from(digit)))
        }
        _ => None,
    }
}

/// The component of the version made at `timestamp`.
pub fn version(timestamp: Ticks) -> Vec<u8> {
    [&[VERSION], timestamp.as_bytes()].concat()
}

/// When a version was made; `None` for any other component. Like CCNx's own tools, this counts only
/// components of seven bytes as versions.
pub fn parse_version(component: &[u8]) -> Option<Ticks> {
    match component {
        [VERSION, timestamp @ ..] if timestamp.len() == 6 => Ticks::from_bytes(timestamp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_as_short_as_they_can_be_and_nothing_else_is_one() {
        assert_eq!(segment(0), [0x00]);
        assert_eq!(segment(257), [0x00, 0x01, 0x01]);
        for number in [0, 1, 255, 256, u64::MAX - 1, u64::MAX] {
            assert_eq!(parse_segment(&segment(number)), Some(number));
        }
        for other in [&b""[..], b"a", &[0x00, 0x00], &[0x00, 0x00, 0x01], &[0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9]]
        {
            assert_eq!(parse_segment(other), None, "{other:?}");
        }
    }

    #[test]
    fn versions_are_timestamps_behind_a_marker() {
        let timestamp = Ticks::from_unix(1_234_567_890, 0);
        assert_eq!(version(timestamp), [0xfd, 0x04, 0x99, 0x60, 0x2d, 0x20, 0x00]);
        assert_eq!(parse_version(&version(timestamp)), Some(timestamp));
        assert_eq!(parse_version(&[0xfd, 1, 2]), None);
        assert_eq!(parse_version(&[0x00, 4, 0x99, 0x60, 0x2d, 0x20, 0]), None);
    }
}
