//! Where an element ends in a stream of them.

use super::tlv::{self, MAX_PACKET_BYTES};
use super::types;
use crate::error::{DecodeError, Rule};

/// Length of the Data at the start of `stream`, in bytes; `None` when the bytes end before it does.
///
/// # Errors
/// What no further bytes can mend: another type, a number that is not in its shortest form, a length beyond
/// [`MAX_PACKET_BYTES`].
pub fn data_len(stream: &[u8]) -> Result<Option<usize>, DecodeError> {
    element_len(stream, &[types::DATA], MAX_PACKET_BYTES, "Data")
}

/// Length of the element at the start of `stream`, which is of one of these types and has no more than
/// `limit` bytes; `None` when the bytes end before it does.
#[inline(always)]
pub(super) fn element_len(
    stream: &[u8],
    kinds: &[u32],
    limit: usize,
    field: &'static str,
) -> Result<Option<usize>, DecodeError> {
    let Some(&kind) = stream.first() else { return Ok(None) };
    if !kinds.contains(&kind.into()) {
        return Err(DecodeError::new(field, 0, Rule::UnexpectedType(kind.into())));
    }
    let (length, start) = match tlv::read_number(stream, 1) {
        Ok(number) => number,
        Err(Rule::Truncated { .. }) => return Ok(None),
        Err(rule) => return Err(DecodeError::new(field, 1, rule)),
    };
    match usize::try_from(length).ok().and_then(|length| start.checked_add(length)) {
        Some(end) if end <= limit => Ok((end <= stream.len()).then_some(end)),
        end => {
            let size = end.unwrap_or(usize::MAX);
            Err(DecodeError::new(field, 1, Rule::TooLarge { size, limit }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_in_a_stream_ends_where_its_length_says_and_nothing_else_is_waited_for() {
        assert_eq!(data_len(&[]), Ok(None));
        assert_eq!(data_len(&[6, 2, 0]), Ok(None));
        assert_eq!(data_len(&[6, 2, 0, 0, 6]), Ok(Some(4)));
        assert_eq!(data_len(&[5, 2, 0, 0]).unwrap_err().rule, Rule::UnexpectedType(5));
        // A Data of 8,800 bytes may still come, one of 8,801 may not.
        assert_eq!(data_len(&[6, 253, 0x22, 0x5c]), Ok(None));
        assert!(matches!(data_len(&[6, 253, 0x22, 0x5d]).unwrap_err().rule, Rule::TooLarge { .. }));
    }
}
