//! Where frames end in a stream of them, and how they begin.

use super::{MAX_FRAME_BYTES, types};
use crate::error::DecodeError;
use crate::ndn::stream::element_len;

/// Length of the frame at the start of `stream`, in bytes; `None` when the bytes end before it does.
///
/// # Errors
/// What no further bytes can mend: a type that no frame has, a number that is not in its shortest form, a
/// length beyond [`MAX_FRAME_BYTES`].
#[inline]
pub fn frame_len(stream: &[u8]) -> Result<Option<usize>, DecodeError> {
    // Anything else would be no frame, and its length not worth waiting for.
    element_len(stream, &[types::INTEREST, types::DATA, types::LP_PACKET], MAX_FRAME_BYTES, "LpPacket")
}

/// Whether a frame begins as an LpPacket, and not as the bare Interest or Data that a frame may be as well.
#[inline]
pub fn is_lp_packet(frame: &[u8]) -> bool {
    frame.first().is_some_and(|&kind| u32::from(kind) == types::LP_PACKET)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Rule;

    #[test]
    fn elements_in_a_stream_end_where_their_length_says() {
        assert_eq!(frame_len(&[]), Ok(None));
        assert_eq!(frame_len(&[5]), Ok(None));
        assert_eq!(frame_len(&[5, 2, 0]), Ok(None));
        assert_eq!(frame_len(&[5, 2, 0, 0]), Ok(Some(4)));
        assert_eq!(frame_len(&[6, 2, 0, 0, 5]), Ok(Some(4)));
        assert_eq!(frame_len(&[100, 0, 5]), Ok(Some(2)));
        assert_eq!(frame_len(&[100, 253, 1]), Ok(None));
        assert_eq!(frame_len(&[100, 253, 0x22, 0x60]), Ok(None));
    }

    #[test]
    fn what_is_no_frame_or_too_large_is_refused_before_it_is_waited_for() {
        let rule = |stream: &[u8]| frame_len(stream).unwrap_err().rule;
        assert_eq!(rule(&[7]), Rule::UnexpectedType(7));
        assert_eq!(rule(b"GET / HTTP/1.1"), Rule::UnexpectedType(b'G'.into()));
        assert_eq!(rule(&[5, 253, 0xff, 0xff]), Rule::TooLarge { size: 4 + 0xffff, limit: MAX_FRAME_BYTES });
        assert!(matches!(rule(&[5, 255, 255, 255, 255, 255, 255, 255, 255, 255]), Rule::TooLarge { .. }));
        assert_eq!(rule(&[5, 253, 0, 1]), Rule::NotShortest);
    }

    #[test]
    fn a_frame_of_either_kind_is_told_by_how_it_begins() {
        assert!(is_lp_packet(&[100, 0]) && is_lp_packet(&[100]));
        assert!(!is_lp_packet(&[5, 0]) && !is_lp_packet(&[]));
    }
}
