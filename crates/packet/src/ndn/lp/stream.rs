//! Where frames end in a stream of them.

use super::{MAX_FRAME_BYTES, types};
use crate::error::{DecodeError, Rule};
use crate::ndn::tlv;

const FIELD: &str = "LpPacket";

/// Length of the frame at the start of `stream`, in bytes; `None` when the bytes end before it does.
///
/// # Errors
/// What no further bytes can mend: a type that no frame has, a number that is not in its shortest form, a
/// length beyond [`MAX_FRAME_BYTES`].
#[inline]
pub fn frame_len(stream: &[u8]) -> Result<Option<usize>, DecodeError> {
    let Some(&kind) = stream.first() else { return Ok(None) };
    // Anything else would be no frame, and its length not worth waiting for.
    if ![types::INTEREST, types::DATA, types::LP_PACKET].contains(&kind.into()) {
        return Err(DecodeError::new(FIELD, 0, Rule::UnexpectedType(kind.into())));
    }
    let (length, start) = match tlv::read_number(stream, 1) {
        Ok(number) => number,
        Err(Rule::Truncated { .. }) => return Ok(None),
        Err(rule) => return Err(DecodeError::new(FIELD, 1, rule)),
    };
    match usize::try_from(length).ok().and_then(|length| start.checked_add(length)) {
        Some(end) if end <= MAX_FRAME_BYTES => Ok((end <= stream.len()).then_some(end)),
        end => {
            let size = end.unwrap_or(usize::MAX);
            Err(DecodeError::new(FIELD, 1, Rule::TooLarge { size, limit: MAX_FRAME_BYTES }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
