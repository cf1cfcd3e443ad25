//! What went over a link, as a capture file that Wireshark reads.

use std::io::{self, Write};

use formats::pcapng::{Frame, Interface, Writer};
use packet::ETHERTYPE;
use packet::time::Instant;

use crate::arena::{EndId, LinkId};
use crate::events::in_flight::InFlight;

/// The frames of one link, in order of arrival where packets pass by reference and of sending where the link
/// carries frames.
///
/// Written as pcapng with Ethernet headers of type 0x8624, which Wireshark's NDN dissector takes. The
/// hardware address of an end is `02:00` + number of the link in two bytes + number of the end in two bytes.
#[derive(Clone, Debug)]
pub struct Capture {
    link: LinkId,
    frames: Vec<CapturedFrame>,
    max_frames: usize,
    lost: u64,
}

/// A frame that went over a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// When.
    pub at: Instant,
    /// The end that it came from.
    pub from: EndId,
    /// Its bytes: of NDNLPv2, or of CCNx.
    pub bytes: Vec<u8>,
}

impl Capture {
    pub(crate) fn new(link: LinkId, max_frames: usize) -> Self {
        Capture { link, frames: Vec::new(), max_frames, lost: 0 }
    }

    /// The link.
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// Frames captured.
    pub fn frames(&self) -> impl Iterator<Item = &CapturedFrame> {
        self.frames.iter()
    }

    /// Frames that found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn note_packet(&mut self, now: Instant, end: EndId, in_flight: &InFlight) {
        if let Some(frame) = in_flight.frame() {
            self.note_frame(now, end, &frame);
        }
    }

    pub(crate) fn note_frame(&mut self, now: Instant, end: EndId, frame: &[u8]) {
        if self.frames.len() < self.max_frames {
            self.frames.push(CapturedFrame { at: now, from: end, bytes: frame.to_vec() });
        } else {
            self.lost += 1;
        }
    }

    /// Writes the frames as a pcapng file with times in nanoseconds since 1970, as if the simulation had
    /// begun then.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_pcapng(&self, to: impl Write) -> io::Result<()> {
        let mut file = Writer::new(to, "")?;
        let interface = file.interface(&Interface::default())?;
        for CapturedFrame { at, from, bytes } in &self.frames {
            let (from, towards) = (self.address(*from), [0xff; 6]);
            file.frame(&Frame {
                interface,
                time_ns: at.as_nanos(),
                direction: None,
                length: (14 + bytes.len()) as u32,
                parts: &[&towards, &from, &ETHERTYPE.to_be_bytes(), bytes],
            })?;
        }
        Ok(())
    }

    fn address(&self, end: EndId) -> [u8; 6] {
        let [.., a, b] = self.link.0.to_be_bytes();
        let [.., c, d] = end.0.to_be_bytes();
        [2, 0, a, b, c, d]
    }
}
