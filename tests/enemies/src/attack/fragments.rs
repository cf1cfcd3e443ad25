//! Packets of which the rest never comes.

use std::io;

use packet::ndn::lp::LpPacketView;

use super::arms::Ports;
use super::{Attack, Field};
use crate::pace::Spent;

/// The payload of most: small, so that there can be many.
const SMALL: usize = 40;
/// The payload of some: as much as fits into a datagram.
const LARGE: usize = 1300;
/// How the Data in each begins: it says that nearly as many bytes will come as a packet may have, and
/// memory is set aside for them.
const START: &[u8] = &[0x06, 0xfd, 0x22, 0x00];

/// First slices of packets, of many ports, each with a new number.
#[derive(Default)]
pub(super) struct Fragments {
    ports: Ports,
    sent: u64,
}

impl Attack for Fragments {
    fn name(&self) -> &'static str {
        "fragments"
    }

    fn about(&self) -> &'static str {
        "first fragments of packets that never become whole, of 200 ports"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(200.min(field.descriptors), field.node)?;
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        let packets = (0..room).map(|_| {
            self.sent += 1;
            let mut payload = START.to_vec();
            payload.resize(if self.sent.is_multiple_of(4) { LARGE } else { SMALL }, 0);
            let view = LpPacketView {
                sequence: Some(field.random.next_u64()),
                frag_index: Some(0),
                frag_count: Some(2 + self.sent % 5),
                fragment: Some(&payload),
                ..LpPacketView::default()
            };
            let mut frame = Vec::new();
            view.encode(&mut frame);
            frame
        });
        let packets: Vec<Vec<u8>> = packets.collect();
        Ok(self.ports.volley(&packets))
    }
}
