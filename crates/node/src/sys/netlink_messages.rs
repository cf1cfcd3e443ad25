//! What the system says about interfaces, as far as it is read (`rtnetlink(7)`).

/// Bytes of the header of a message: length, kind, flags, sequence number, port.
const HEADER_BYTES: usize = 16;
/// The kind that says that an interface has gone.
const LINK_REMOVED: u16 = 17;
/// Where the number of the interface stands, behind the header.
const INDEX_AT: usize = 4;

/// The numbers of interfaces that have gone, by the messages in one datagram.
pub(crate) fn removed_interfaces(datagram: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let mut rest = datagram;
    let messages = std::iter::from_fn(move || {
        let len = u32::from_ne_bytes(bytes_at(rest, 0)?) as usize;
        let message = rest.get(..len).filter(|message| message.len() >= HEADER_BYTES)?;
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    });
    messages.filter_map(|message| {
        let kind = u16::from_ne_bytes(bytes_at(message, 4)?);
        let index = u32::from_ne_bytes(bytes_at(message, HEADER_BYTES + INDEX_AT)?);
        (kind == LINK_REMOVED).then_some(index)
    })
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, index: u32, extra: usize) -> Vec<u8> {
        let len = HEADER_BYTES + 16 + extra;
        let mut bytes = Vec::new();
        bytes.extend((len as u32).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend([0; INDEX_AT]);
        bytes.extend(index.to_ne_bytes());
        bytes.resize(len.next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn interfaces_that_have_gone_are_found_among_other_messages() {
        let datagram = [message(16, 3, 5), message(17, 4, 3), message(20, 5, 0), message(17, 6, 0)].concat();
        assert_eq!(removed_interfaces(&datagram).collect::<Vec<_>>(), [4, 6]);
    }

    #[test]
    fn a_datagram_that_ends_early_or_is_nonsense_ends_the_reading() {
        let datagram = [message(17, 4, 3), message(17, 6, 0)].concat();
        for len in 0..datagram.len() {
            assert!(removed_interfaces(&datagram[..len]).count() <= 1);
        }
        assert_eq!(removed_interfaces(&[0; 64]).count(), 0);
        assert_eq!(removed_interfaces(&[0xff; 64]).count(), 0);
    }
}
