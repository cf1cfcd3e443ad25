//! What the link does with parity frames.

use packet::Buffer;
use packet::ndn::lp::LpPacketView;
use packet::time::Instant;

use super::{EndpointId, LinkService, Received};
use crate::DropReason;
use crate::v2::parity::{Parity, Rebuilt};

impl LinkService {
    pub(super) fn start_parity(&mut self) {
        let mtu_bytes = self.config.effective_mtu_bytes();
        self.parity = self.config.parity.as_ref().map(|config| Box::new(Parity::new(config, mtu_bytes)));
    }

    /// Whether parity frames are sent at present. Then frames must leave in the order in which they were
    /// made, as one that left before those it stands for would come while all of them are missing.
    #[inline]
    pub fn sends_parity(&self) -> bool {
        self.parity.as_ref().is_some_and(|parity| parity.sender.is_on())
    }

    /// Notes that a frame leaves of which `head` is not in the packet.
    #[inline]
    pub(super) fn note_leaving_for_parity(&mut self, now: Instant, head: &[u8], packet: &[u8]) {
        let Some(parity) = &mut self.parity else { return };
        if head.is_empty() {
            parity.sender.note(now, packet);
        } else {
            parity.sender.note(now, &[head, packet].concat());
        }
    }

    /// Whether the packet may leave as it stands without anybody asking what leaves after it; then it is
    /// noted.
    #[inline]
    pub(super) fn is_bare_for_parity(&mut self, now: Instant, packet: &[u8]) -> bool {
        let Some(parity) = &mut self.parity else { return true };
        let bare = !parity.sender.is_on();
        if bare {
            parity.sender.note(now, packet);
        }
        bare
    }

    /// Notes that a frame came.
    #[inline]
    pub(super) fn note_heard_for_parity(&mut self, frame: &[u8]) {
        if let Some(parity) = &mut self.parity {
            parity.receiver.note(frame);
        }
    }

    /// Sends a parity frame, if one is due.
    pub(super) fn transmit_parity(&mut self, frames: &mut Vec<u8>) -> bool {
        let sent = self.parity.as_mut().is_some_and(|parity| parity.sender.transmit(frames));
        self.counters.parity.sent += u64::from(sent);
        self.counters.idle_out += u64::from(sent);
        sent
    }

    /// Takes in a parity frame, and with it the frame that it gives.
    #[cold]
    pub(super) fn receive_parity(
        &mut self,
        now: Instant,
        from: EndpointId,
        value: &[u8],
    ) -> Result<(), DropReason> {
        let Some(parity) = &mut self.parity else { return Ok(()) };
        self.counters.parity.received += 1;
        match parity.receiver.rebuild(value) {
            Rebuilt::Nothing => Ok(()),
            Rebuilt::TooManyMissing => {
                self.counters.parity.not_rebuilt += 1;
                Ok(())
            }
            Rebuilt::Wrong => Err(DropReason::BadParity),
            Rebuilt::Frame(frame) => {
                let outcome = self.receive_rebuilt(now, from, &frame);
                if let Some(parity) = &mut self.parity {
                    parity.receiver.give_back(frame);
                }
                outcome
            }
        }
    }

    fn receive_rebuilt(&mut self, now: Instant, from: EndpointId, frame: &[u8]) -> Result<(), DropReason> {
        // Nobody puts parity frames into blocks, and one inside another would have no end.
        let is_parity = |(view, _): (LpPacketView<'_>, usize)| !view.parity.is_empty();
        if LpPacketView::decode_first(frame).is_ok_and(is_parity) {
            return Err(DropReason::BadParity);
        }
        self.counters.parity.rebuilt += 1;
        match self.try_receive(now, from, frame)? {
            Received::Packet { packet, header, nack } => {
                self.deliver(from, Buffer::copy_from(packet), header, nack)
            }
            Received::Taken => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::LinkType;
    use packet::random::Random;

    use super::*;
    use crate::v2::parity::OpenBlock;
    use crate::v2::{Config, ParityConfig};

    /// A service that has heard a parity frame, and the outcome of one for this frame alone.
    fn outcome_of_block(frame: &[u8]) -> (Result<(), DropReason>, LinkService) {
        let (link_type, parity) = (LinkType::MultiAccess, Some(ParityConfig::default()));
        let config = Config { link_type, parity, ..Config::default() };
        let mut service = LinkService::new(config, Random::from_seed(1)).unwrap();
        let (mut block, mut wire) = (OpenBlock::default(), Vec::new());
        block.add(frame);
        block.encode(&mut wire);
        let outcome = service.receive(Instant::ZERO, EndpointId(3), &wire);
        (outcome, service)
    }

    #[test]
    fn what_is_rebuilt_comes_from_whoever_sent_the_parity_frame() {
        let (outcome, mut service) = outcome_of_block(&[6, 1, 7]);
        assert_eq!(outcome, Ok(()));
        let delivery = service.poll_deliver().unwrap();
        assert_eq!((&*delivery.packet, delivery.from), (&[6, 1, 7][..], EndpointId(3)));
        assert_eq!((service.counters().parity.rebuilt, service.counters().packets_in), (1, 1));
    }

    #[test]
    fn what_is_rebuilt_is_checked_like_any_frame() {
        for (frame, reason) in [
            (&[6, 9, 7][..], DropReason::MalformedFrame),
            (&[7, 0], DropReason::MalformedFrame),
            (&[100, 3, 80, 1, 9], DropReason::MalformedPacket),
        ] {
            let (outcome, mut service) = outcome_of_block(frame);
            assert_eq!((outcome, service.poll_deliver()), (Err(reason), None), "{frame:?}");
        }
    }

    #[test]
    fn a_parity_frame_inside_another_is_refused() {
        let (mut inner, mut wire) = (OpenBlock::default(), Vec::new());
        inner.add(&[6, 1, 7]);
        inner.encode(&mut wire);
        let (outcome, service) = outcome_of_block(&wire);
        assert_eq!(outcome, Err(DropReason::BadParity));
        assert_eq!(service.counters().parity.rebuilt, 0);
    }
}
