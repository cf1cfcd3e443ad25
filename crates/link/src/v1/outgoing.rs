//! Messages on their way out, cut into packets (NDN-0006, section 2.2.1).

use packet::Buffer;
use packet::ccnx::ndnlp::{Flags, Fragment, LinkData, Sequence};

use crate::DropReason;

/// A message and how far it has been sent.
#[derive(Debug)]
pub(crate) struct OutgoingMessage {
    message: Buffer,
    id: Sequence,
    flags: Flags,
    count: u16,
    /// Bytes in each packet but the last.
    payload_len: usize,
    next_index: u16,
}

impl OutgoingMessage {
    /// Cuts `message` into packets with at most `max_payload_len` bytes each, of which the first is number
    /// `id`.
    pub(crate) fn new(
        message: Buffer,
        id: Sequence,
        flags: Flags,
        max_payload_len: Option<usize>,
    ) -> Result<Self, DropReason> {
        if message.is_empty() {
            return Err(DropReason::MalformedPacket);
        }
        let payload_len = max_payload_len.unwrap_or(message.len());
        if payload_len == 0 {
            return Err(DropReason::NoRoomInMtu);
        }
        let count =
            u16::try_from(message.len().div_ceil(payload_len)).map_err(|_| DropReason::FragmentLimit)?;
        Ok(OutgoingMessage { message, id, flags, count, payload_len, next_index: 0 })
    }

    /// How many packets carry it.
    pub(crate) fn count(&self) -> u16 {
        self.count
    }

    /// How many of them are still to be sent.
    pub(crate) fn packets_left(&self) -> u16 {
        self.count - self.next_index
    }

    /// The next packet; `None` after the last.
    pub(crate) fn next_packet(&mut self) -> Option<OutgoingPacket> {
        let index = self.next_index;
        if index >= self.count {
            return None;
        }
        self.next_index += 1;
        Some(OutgoingPacket {
            message: self.message.clone(),
            id: self.id,
            flags: self.flags,
            fragment: Fragment { index, count: self.count },
            payload_len: self.payload_len,
        })
    }
}

/// One packet of a message. It refers to the message, so sending it again costs no copy that is kept.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingPacket {
    pub(crate) message: Buffer,
    id: Sequence,
    flags: Flags,
    pub(crate) fragment: Fragment,
    payload_len: usize,
}

impl OutgoingPacket {
    /// Number of the first packet of the message.
    pub(crate) fn message_id(&self) -> Sequence {
        self.id
    }

    /// Number of this packet.
    pub(crate) fn sequence(&self) -> Sequence {
        self.id.plus(self.fragment.index.into())
    }

    /// Whether the peer is to acknowledge it.
    pub(crate) fn requests_ack(&self) -> bool {
        self.flags.ack_requested()
    }

    /// Its fields.
    pub(crate) fn data(&self) -> LinkData<'_> {
        let start = usize::from(self.fragment.index) * self.payload_len;
        let end = self.message.len().min(start.saturating_add(self.payload_len));
        LinkData {
            sequence: self.sequence(),
            flags: self.flags,
            fragment: self.fragment,
            payload: self.message.get(start..end).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (sequence, index, count, first and last byte, length) of each packet.
    fn cut(len: usize, max_payload_len: Option<usize>) -> Vec<(u64, u16, u16, u8, u8, usize)> {
        let message: Vec<u8> = (0..len).map(|at| (at / 100) as u8).collect();
        let id = Sequence::new(600);
        let mut message =
            OutgoingMessage::new(Buffer::from(message), id, Flags::NONE, max_payload_len).unwrap();
        std::iter::from_fn(|| message.next_packet())
            .map(|packet| {
                let LinkData { sequence, fragment, payload, .. } = packet.data();
                let (first, last) = (payload[0], payload[payload.len() - 1]);
                (sequence.get(), fragment.index, fragment.count, first, last, payload.len())
            })
            .collect()
    }

    /// The table of section 2.2.1: octets 0-999, 1000-1999 and 2000-2499.
    #[test]
    fn the_papers_message_of_2500_octets_is_cut_as_its_table_says() {
        let packets = cut(2500, Some(1000));
        assert_eq!(packets, [(600, 0, 3, 0, 9, 1000), (601, 1, 3, 10, 19, 1000), (602, 2, 3, 20, 24, 500)]);
    }

    #[test]
    fn only_what_exceeds_a_packet_is_cut() {
        assert_eq!(cut(1000, Some(1000)), [(600, 0, 1, 0, 9, 1000)]);
        assert_eq!(cut(1001, Some(1000)).len(), 2);
        assert_eq!(cut(2000, Some(1000)).len(), 2);
        assert_eq!(cut(100_000, None).len(), 1);
    }

    #[test]
    fn a_message_of_more_packets_than_can_be_counted_is_refused() {
        let count = |len| {
            let message = Buffer::from(vec![1; len]);
            OutgoingMessage::new(message, Sequence::new(0), Flags::NONE, Some(1))
                .map(|message| message.count())
        };
        assert_eq!(count(65_535), Ok(65_535));
        assert_eq!(count(65_536), Err(DropReason::FragmentLimit));
        assert_eq!(count(0), Err(DropReason::MalformedPacket));
    }
}
