//! What turns frames into packets and back: the one place of the data plane that knows the languages faces
//! speak.
//!
//! A [`Codec`] belongs to one face, of the dialect that whoever made the face or its listener chose. It may
//! keep what it has to remember between frames, such as sequence numbers and half a message; one frame may
//! hold several packets; and frames that nobody asked for, such as heartbeats, leave when its deadline has
//! come. The rest of the data plane moves frames and packets and asks no questions about either.

mod ccnx;
mod drops;
mod input;
mod link_settings;
mod ndn;
mod usual_settings;

use std::borrow::Cow;

use engine::Transmit;
use packet::Dialect;
use packet::random::Random;
use packet::time::Instant;

pub(crate) use ccnx::CcnxCodec;
pub(crate) use input::{Frame, PacketInput};
pub(crate) use link_settings::LinkSettings;
pub(crate) use ndn::NdnCodec;

use crate::face_uri::FaceUri;
use crate::transport::FrameSink;

/// What a face's frames are made of.
pub(crate) enum Codec {
    /// NDN packets in NDNLPv2.
    Ndn(Box<NdnCodec>),
    /// Messages of CCNx as they are, one after the other.
    Ccnx(Box<CcnxCodec>),
    /// No frames at all: packets cross as they are.
    Bare(Box<Bare>),
}

/// What is known of a face whose packets cross as they are.
pub(crate) struct Bare {
    dialect: Dialect,
    settings: LinkSettings,
}

/// Where the first frame in a stream of bytes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The frame takes so many bytes, all of which are there.
    Complete(usize),
    /// More bytes are needed.
    Incomplete,
    /// The stream is no stream of frames: it is a request for the status page, which takes so many bytes.
    StatusRequest(usize),
    /// This is no stream of frames, or the frame is larger than any may be.
    Invalid,
}

impl Codec {
    /// The codec of a face to somebody who speaks `dialect`; `None` if the settings do not fit together.
    pub(crate) fn new(dialect: Dialect, settings: LinkSettings, random: Random) -> Option<Self> {
        match dialect {
            Dialect::Ndn => Some(Codec::Ndn(Box::new(NdnCodec::new(settings, random)?))),
            Dialect::Ccnx => Some(Codec::Ccnx(Box::new(CcnxCodec::new(settings, random)?))),
        }
    }

    /// The codec of a face inside the process.
    pub(crate) fn bare(dialect: Dialect, settings: LinkSettings) -> Self {
        Codec::Bare(Box::new(Bare { dialect, settings }))
    }

    /// The language of the face's packets.
    #[inline]
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Codec::Ndn(_) => Dialect::Ndn,
            Codec::Ccnx(_) => Dialect::Ccnx,
            Codec::Bare(bare) => bare.dialect,
        }
    }

    /// Whether packets are turned into frames, which taps could see.
    pub(crate) fn has_frames(&self) -> bool {
        !matches!(self, Codec::Bare(_))
    }

    /// Takes in a frame that arrived; what is in it goes to `input`.
    #[inline]
    pub(crate) fn receive(&mut self, frame: Frame<'_>, input: &mut PacketInput<'_>) {
        match self {
            Codec::Ndn(codec) => codec.receive(frame, input),
            Codec::Ccnx(codec) => codec.receive(frame, input),
            Codec::Bare(_) => {}
        }
    }

    /// Turns a packet into frames.
    #[inline]
    pub(crate) fn send(&mut self, now: Instant, transmit: Transmit, sink: &mut impl FrameSink) {
        match self {
            Codec::Ndn(codec) => codec.send(now, transmit, sink),
            Codec::Ccnx(codec) => codec.send(now, transmit, sink),
            Codec::Bare(_) => {}
        }
    }

    /// Lets time pass; frames that are to be sent go to `sink`.
    pub(crate) fn handle_timeout(&mut self, now: Instant, sink: &mut impl FrameSink) {
        match self {
            Codec::Ndn(codec) => codec.handle_timeout(now, sink),
            Codec::Ccnx(codec) => codec.handle_timeout(now, sink),
            Codec::Bare(_) => {}
        }
    }

    /// Frames that what was received asks for.
    pub(crate) fn poll_frames(&mut self, now: Instant, sink: &mut impl FrameSink) {
        match self {
            Codec::Ndn(codec) => codec.poll_frames(now, sink),
            Codec::Ccnx(codec) => codec.poll_frames(now, sink),
            Codec::Bare(_) => {}
        }
    }

    /// The largest frame that the path was found to carry, if that has changed since the last call.
    pub(crate) fn poll_path_mtu(&mut self) -> Option<usize> {
        match self {
            Codec::Ndn(codec) => codec.poll_path_mtu(),
            Codec::Ccnx(_) | Codec::Bare(_) => None,
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub(crate) fn next_deadline(&self) -> Instant {
        match self {
            Codec::Ndn(codec) => codec.next_deadline(),
            Codec::Ccnx(codec) => codec.next_deadline(),
            Codec::Bare(_) => Instant::NEVER,
        }
    }

    /// How much waits to be sent.
    pub(crate) fn handle_send_queue(&mut self, queued_bytes: u64) {
        match self {
            Codec::Ndn(codec) => codec.handle_send_queue(queued_bytes),
            Codec::Ccnx(_) | Codec::Bare(_) => {}
        }
    }

    /// Where the first frame of `stream` ends.
    #[inline]
    pub(crate) fn framing(&mut self, stream: &[u8]) -> Framing {
        match self {
            Codec::Ndn(_) => ndn::framing(stream),
            Codec::Ccnx(codec) => codec.framing(stream),
            Codec::Bare(_) => Framing::Invalid,
        }
    }

    /// What the link does.
    pub(crate) fn settings(&self) -> &LinkSettings {
        match self {
            Codec::Ndn(codec) => codec.settings(),
            Codec::Ccnx(codec) => codec.settings(),
            Codec::Bare(bare) => &bare.settings,
        }
    }

    /// Changes what the link does; false if the settings do not fit together, and nothing was changed.
    pub(crate) fn set_settings(&mut self, settings: LinkSettings) -> bool {
        match self {
            Codec::Ndn(codec) => codec.set_settings(settings),
            Codec::Ccnx(codec) => codec.set_settings(settings),
            Codec::Bare(bare) => bare.settings == settings,
        }
    }

    /// What was dropped, by the words of the link protocol.
    pub(crate) fn drops(&self) -> Vec<(&'static str, u64)> {
        match self {
            Codec::Ndn(codec) => codec.drops(),
            Codec::Ccnx(codec) => codec.drops(),
            Codec::Bare(_) => Vec::new(),
        }
    }

    /// What was done with parity frames, where there are any.
    pub(crate) fn parity_counters(&self) -> link::v2::ParityCounters {
        match self {
            Codec::Ndn(codec) => codec.parity_counters(),
            Codec::Ccnx(_) | Codec::Bare(_) => link::v2::ParityCounters::default(),
        }
    }

    /// The largest frame, as configured or as the path was found to carry.
    pub(crate) fn mtu_bytes(&self) -> Option<usize> {
        match self {
            Codec::Ndn(codec) => codec.mtu_bytes(),
            Codec::Ccnx(codec) => codec.settings().transport_mtu_bytes,
            Codec::Bare(_) => None,
        }
    }

    /// Whether [`poll_frames`](Self::poll_frames) may give frames though nothing is sent.
    #[inline]
    pub(crate) fn wants_poll(&self) -> bool {
        match self {
            Codec::Ndn(codec) => codec.wants_poll(),
            Codec::Ccnx(codec) => codec.wants_poll(),
            Codec::Bare(_) => false,
        }
    }

    /// Whether frames must leave in the order in which they were made.
    #[inline]
    pub(crate) fn keeps_order(&self) -> bool {
        match self {
            Codec::Ndn(codec) => codec.keeps_order(),
            // What stands around a message stands in frames of its own.
            Codec::Ccnx(codec) => codec.keeps_order(),
            Codec::Bare(_) => true,
        }
    }

    /// What incomplete packets take.
    #[inline]
    pub(crate) fn partial_bytes(&self) -> usize {
        match self {
            Codec::Ndn(codec) => codec.partial_bytes(),
            Codec::Ccnx(codec) => codec.partial_bytes(),
            Codec::Bare(_) => 0,
        }
    }

    /// What packets take that wait until the neighbour can take them.
    #[inline]
    pub(crate) fn waiting_bytes(&self) -> usize {
        match self {
            Codec::Ndn(codec) => codec.waiting_bytes(),
            Codec::Ccnx(codec) => codec.waiting_bytes(),
            Codec::Bare(_) => 0,
        }
    }

    /// Drops the packets that wait, and counts them.
    pub(crate) fn evict_waiting_packets(&mut self) {
        match self {
            Codec::Ndn(codec) => codec.evict_waiting_packets(),
            Codec::Ccnx(codec) => codec.evict_waiting_packets(),
            Codec::Bare(_) => {}
        }
    }

    /// Drops the incomplete packets, and counts them.
    pub(crate) fn evict_partial_packets(&mut self) {
        match self {
            Codec::Ndn(codec) => codec.evict_partial_packets(),
            Codec::Ccnx(codec) => codec.evict_partial_packets(),
            Codec::Bare(_) => {}
        }
    }

    /// What comes next by the face begins another stream.
    pub(crate) fn begin_stream(&mut self) {
        if let Codec::Ccnx(codec) = self {
            codec.begin_stream();
        }
    }

    /// Whether the peer has turned out to be a link adapter, behind which there are other hosts.
    pub(crate) fn is_adapter(&self) -> bool {
        matches!(self, Codec::Ccnx(codec) if codec.is_adapter())
    }

    /// The name of the packet in a frame, in canonical form; `None` if there is none, as in a fragment that
    /// is not the first.
    pub(crate) fn name_in(dialect: Dialect, frame: &[u8]) -> Option<Cow<'_, [u8]>> {
        match dialect {
            Dialect::Ndn => ndn::name_in(frame).map(Cow::Borrowed),
            Dialect::Ccnx => ccnx::name_in(frame).map(Cow::Owned),
        }
    }

    /// Whether a frame that nobody is known to send makes it worth while to know them.
    pub(crate) fn is_welcome(dialect: Dialect, frame: &[u8]) -> bool {
        match dialect {
            Dialect::Ndn => ndn::is_welcome(frame),
            Dialect::Ccnx => ccnx::is_welcome(frame),
        }
    }

    /// Whether a face to that place can be asked to speak NDNLP v1.
    pub(crate) fn may_speak_ndnlp1(dialect: Dialect, remote: &FaceUri) -> bool {
        match dialect {
            Dialect::Ndn => false,
            Dialect::Ccnx => matches!(remote, FaceUri::Udp(_) | FaceUri::Ip(_) | FaceUri::Ethernet(_)),
        }
    }

    /// Whether a frame is a packet of NDNLP v1, perhaps padded.
    pub(crate) fn is_ndnlp1(frame: &[u8]) -> bool {
        ccnx::is_ndnlp1(frame)
    }

    /// Whether neighbours know their peers by port as well, and expect their own.
    pub(crate) fn expects_own_port(dialect: Dialect) -> bool {
        match dialect {
            Dialect::Ndn => false,
            // So does ndnld.
            Dialect::Ccnx => true,
        }
    }

    /// Whether a frame only says that its sender is there. As the first of a peer on this host it says that
    /// the peer is an application.
    pub(crate) fn is_heartbeat(dialect: Dialect, frame: &[u8]) -> bool {
        match dialect {
            Dialect::Ndn => false,
            Dialect::Ccnx => ccnx::is_heartbeat(frame),
        }
    }
}
