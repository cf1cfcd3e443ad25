//! What the system says about interfaces, as far as it is read (`rtnetlink(7)`).

use formats::netlink::messages;

/// The kind that says that an interface has gone.
const LINK_REMOVED: u16 = 17;
/// Where the number of the interface stands, behind the header.
const INDEX_AT: usize = 4;

/// The numbers of interfaces that have gone, by the messages in one datagram.
pub(crate) fn removed_interfaces(datagram: &[u8]) -> impl Iterator<Item = u32> + '_ {
    messages(datagram)
        .filter(|message| message.kind == LINK_REMOVED)
        .filter_map(|message| message.number_at(INDEX_AT))
}

#[cfg(test)]
mod tests {
    use formats::netlink::Request;

    use super::*;

    fn message(kind: u16, index: u32, extra: usize) -> Vec<u8> {
        let mut message = Request::new(kind, 0);
        message.put(&[0; INDEX_AT]);
        message.put(&index.to_ne_bytes());
        message.attribute(3, &vec![0; extra]);
        message.finish()
    }

    #[test]
    fn interfaces_that_have_gone_are_found_among_other_messages() {
        let datagram = [message(16, 3, 5), message(17, 4, 3), message(20, 5, 0), message(17, 6, 0)].concat();
        assert_eq!(removed_interfaces(&datagram).collect::<Vec<_>>(), [4, 6]);
        for len in 0..datagram.len() {
            assert!(removed_interfaces(&datagram[..len]).count() <= 1);
        }
    }
}
