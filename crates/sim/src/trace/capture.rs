//! What went over a link, as a capture file that Wireshark reads.

use std::io::{self, Write};

use packet::ndn::lp::LpPacketView;
use packet::time::Instant;

use crate::arena::{EndId, LinkId};
use crate::in_flight::InFlight;

/// The frames of one link, in order of arrival where packets pass by reference and of sending where the link
/// carries frames.
///
/// Written as pcapng with Ethernet headers of type 0x8624, which Wireshark's NDN dissector takes. The
/// hardware address of an end is `02:00` + number of the link in two bytes + number of the end in two bytes.
#[derive(Clone, Debug)]
pub struct Capture {
    link: LinkId,
    frames: Vec<(Instant, u32, Vec<u8>)>,
    max_frames: usize,
    lost: u64,
}

const ETHERTYPE_NDN: [u8; 2] = [0x86, 0x24];

impl Capture {
    pub(crate) fn new(link: LinkId, max_frames: usize) -> Self {
        Capture { link, frames: Vec::new(), max_frames, lost: 0 }
    }

    /// The link.
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// Frames captured: when, from which end, and the bytes of NDNLPv2.
    pub fn frames(&self) -> impl Iterator<Item = (Instant, u32, &[u8])> {
        self.frames.iter().map(|(at, end, bytes)| (*at, *end, bytes.as_slice()))
    }

    /// Frames that found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn note_packet(&mut self, now: Instant, end: EndId, in_flight: &InFlight) {
        let Some(packet) = &in_flight.packet else { return };
        let nack = packet.nack_reason();
        let view = LpPacketView { nack, ..LpPacketView::with_header(&in_flight.header) };
        let mut frame = Vec::new();
        if nack.is_none() && view == LpPacketView::default() {
            frame.extend_from_slice(packet.wire());
        } else {
            LpPacketView { fragment: Some(packet.wire()), ..view }.encode(&mut frame);
        }
        self.note_frame(now, end, &frame);
    }

    pub(crate) fn note_frame(&mut self, now: Instant, end: EndId, frame: &[u8]) {
        if self.frames.len() < self.max_frames {
            self.frames.push((now, end.0, frame.to_vec()));
        } else {
            self.lost += 1;
        }
    }

    /// Writes the frames as a pcapng file with times in nanoseconds since 1970, as if the simulation had
    /// begun then.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_pcapng(&self, mut to: impl Write) -> io::Result<()> {
        // Section header: byte order, version 1.0, length not given.
        block(
            &mut to,
            0x0a0d_0d0a,
            &[
                &0x1a2b_3c4du32.to_le_bytes(),
                &1u16.to_le_bytes(),
                &0u16.to_le_bytes(),
                &u64::MAX.to_le_bytes(),
            ],
        )?;
        // Interface: Ethernet, no limit on the length; option 9 says that times are in 10^-9 s; option 0 ends
        // the options.
        block(
            &mut to,
            1,
            &[
                &1u16.to_le_bytes(),
                &0u16.to_le_bytes(),
                &0u32.to_le_bytes(),
                &[9, 0, 1, 0, 9, 0, 0, 0],
                &[0, 0, 0, 0],
            ],
        )?;
        for (at, end, frame) in &self.frames {
            let (from, towards) = (self.address(*end), [0xff; 6]);
            let len = (14 + frame.len()) as u32;
            let nanos = at.as_nanos();
            block(
                &mut to,
                6,
                &[
                    &0u32.to_le_bytes(),
                    &((nanos >> 32) as u32).to_le_bytes(),
                    &(nanos as u32).to_le_bytes(),
                    &len.to_le_bytes(),
                    &len.to_le_bytes(),
                    &towards,
                    &from,
                    &ETHERTYPE_NDN,
                    frame,
                ],
            )?;
        }
        Ok(())
    }

    fn address(&self, end: u32) -> [u8; 6] {
        let [.., a, b] = self.link.0.to_be_bytes();
        let [.., c, d] = end.to_be_bytes();
        [2, 0, a, b, c, d]
    }
}

/// A block: its type, its length, its body padded to four bytes, its length again.
fn block(to: &mut impl Write, kind: u32, parts: &[&[u8]]) -> io::Result<()> {
    let body: usize = parts.iter().map(|part| part.len()).sum();
    let padding = body.next_multiple_of(4) - body;
    let total = ((12 + body + padding) as u32).to_le_bytes();
    to.write_all(&kind.to_le_bytes())?;
    to.write_all(&total)?;
    for part in parts {
        to.write_all(part)?;
    }
    to.write_all(&[0; 3][..padding])?;
    to.write_all(&total)
}
