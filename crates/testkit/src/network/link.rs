//! What joins nodes: links with two ends, and segments with more.

use std::collections::BTreeMap;

use engine::Outgoing;
use link::v2::{self, EndpointId, LinkService};
use link::{Impairment, ImpairmentConfig, Wire};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Interest, LinkHeader};

use super::trace::Trace;

/// How packets get from one end of a link to the others.
#[derive(Clone, Debug)]
pub enum Medium {
    /// Whole, unchanged, in order, after a fixed time. Either dialect.
    Ideal {
        /// The time.
        delay: Duration,
    },
    /// In frames of NDNLPv2, over a link that may be bad.
    Framed(Box<Framed>),
}

/// Parameters of [`Medium::Framed`].
#[derive(Clone, Debug, Default)]
pub struct Framed {
    /// The link service of each end. Its link type is set by the number of ends.
    pub service: v2::Config,
    /// What happens to frames, in each direction independently.
    pub impairment: ImpairmentConfig,
    /// Deliver frames with a flipped bit, which Ethernet and UDP would discard by their checksums.
    pub without_checksum: bool,
}

impl Medium {
    /// An ideal link.
    pub fn ideal(delay: Duration) -> Self {
        Medium::Ideal { delay }
    }

    /// A link with frames of at most 1,500 bytes and without reliability.
    pub fn framed(impairment: ImpairmentConfig) -> Self {
        let service = v2::Config { transport_mtu_bytes: Some(1500), ..v2::Config::default() };
        Medium::Framed(Box::new(Framed { service, impairment, without_checksum: false }))
    }

    /// The same with reliability.
    pub fn reliable(impairment: ImpairmentConfig) -> Self {
        let Medium::Framed(mut framed) = Medium::framed(impairment) else {
            return Medium::ideal(Duration::ZERO);
        };
        framed.service.reliability = Some(v2::ReliabilityConfig::default());
        Medium::Framed(framed)
    }
}

/// One end of a link, which is a port of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) node: usize,
    pub(super) port: usize,
}

/// Something that came out of the end of a link.
pub(super) enum Arrival {
    Packet {
        packet: Outgoing,
        header: LinkHeader,
    },
    /// The link gave up repeating this Interest.
    Loss {
        interest: Interest,
    },
}

pub(super) struct Link {
    pub(super) ends: Vec<End>,
    pub(super) is_up: bool,
    pub(super) medium: Medium,
    /// Packets under way on an ideal link, by time of arrival, and the end they arrive at.
    passages: BTreeMap<(Instant, u64), (usize, Outgoing, LinkHeader)>,
    serial: u64,
    lines: Vec<Line>,
    pub(super) undecodable: u64,
    seed: u64,
}

/// What an end of a framed link has.
struct Line {
    service: LinkService,
    /// To every other end, in their order.
    wires: Vec<(usize, Wire<Impairment>)>,
    /// When the transport will have sent all it was given.
    busy_until: Instant,
}

/// Frames under way in one direction at most.
const MAX_UNDER_WAY: usize = 10_000;

impl Link {
    pub(super) fn new(ends: Vec<End>, medium: Medium, seed: u64) -> Self {
        let mut link = Link {
            ends,
            is_up: true,
            medium,
            passages: BTreeMap::new(),
            serial: 0,
            lines: Vec::new(),
            undecodable: 0,
            seed,
        };
        link.reset();
        link
    }

    /// Forgets all that is under way, and starts the services anew.
    pub(super) fn reset(&mut self) {
        self.passages.clear();
        self.lines.clear();
        self.seed = Random::from_seed(self.seed).next_u64();
        let Medium::Framed(framed) = &self.medium else { return };
        let many = self.ends.len() > 2;
        let link_type = if many { v2::LinkType::MultiAccess } else { v2::LinkType::PointToPoint };
        let reliability = framed.service.reliability.clone().filter(|_| !many);
        let config = v2::Config { link_type, reliability, ..framed.service.clone() };
        for end in 0..self.ends.len() {
            let others = (0..self.ends.len()).filter(|&other| other != end);
            let wire = |other: usize| {
                let number = (end * self.ends.len() + other) as u64;
                let seed = Random::derive(self.seed, number).next_u64();
                (other, Wire::new(Impairment::new(framed.impairment.clone(), seed), MAX_UNDER_WAY))
            };
            self.lines.push(Line {
                service: LinkService::new(config.clone(), Random::derive(self.seed, 1 << 32 | end as u64))
                    .expect("a link's configuration makes sense"),
                wires: others.map(wire).collect(),
                busy_until: Instant::ZERO,
            });
        }
    }

    pub(super) fn set_impairment(&mut self, impairment: &ImpairmentConfig) {
        let Medium::Framed(framed) = &mut self.medium else { return };
        framed.impairment = impairment.clone();
        for (_, wire) in self.lines.iter_mut().flat_map(|line| &mut line.wires) {
            wire.tap_mut().set_config(impairment.clone());
        }
    }

    /// Takes a packet at `end`.
    pub(super) fn send(&mut self, now: Instant, end: usize, packet: Outgoing, mut header: LinkHeader) {
        if let Medium::Ideal { delay } = self.medium {
            // As every link service does, too.
            header.incoming_face = None;
            header.next_hop_face = None;
            for other in (0..self.ends.len()).filter(|&other| other != end) {
                self.serial += 1;
                self.passages.insert((now + delay, self.serial), (other, packet.clone(), header.clone()));
            }
            return;
        }
        let Some(line) = self.lines.get_mut(end) else { return };
        let (wire, nack) = match packet {
            Outgoing::Interest(interest) => (interest.wire().clone(), None),
            Outgoing::Data(data) => (data.wire().clone(), None),
            Outgoing::Nack(interest, reason) => (interest.wire().clone(), Some(reason)),
        };
        let rate = line.wires.first().and_then(|(_, wire)| wire.tap().config().rate_bits_per_second);
        let waiting = line.busy_until.saturating_since(now).as_secs_f64();
        line.service.handle_send_queue(rate.map(|rate| (waiting * rate as f64 / 8.0) as u64));
        // What cannot be sent is counted by the service.
        let _ = line.service.send(now, header, nack, wire);
    }

    /// Moves frames; gives what arrived, and at which end.
    pub(super) fn settle(&mut self, now: Instant, number: usize, trace: &mut Trace) -> Vec<(usize, Arrival)> {
        let mut arrivals = Vec::new();
        while self.passages.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let Some((_, (end, packet, header))) = self.passages.pop_first() else { break };
            arrivals.push((end, Arrival::Packet { packet, header }));
        }
        for end in 0..self.lines.len() {
            self.launch_frames(now, end, number, trace);
            self.land_frames(now, end);
        }
        for (end, line) in self.lines.iter_mut().enumerate() {
            while let Some(delivery) = line.service.poll_deliver() {
                match decode(delivery.packet, delivery.nack) {
                    Some(packet) => arrivals.push((end, Arrival::Packet { packet, header: delivery.header })),
                    None => self.undecodable += 1,
                }
            }
            while let Some(v2::Event::LostPacket { kind, packet }) = line.service.poll_event() {
                if kind == v2::PacketKind::Interest
                    && let Ok(interest) = Interest::decode_ndn(packet)
                {
                    arrivals.push((end, Arrival::Loss { interest }));
                }
            }
        }
        arrivals
    }

    /// From the service of `end` onto the wires.
    fn launch_frames(&mut self, now: Instant, end: usize, number: usize, trace: &mut Trace) {
        let Some(line) = self.lines.get_mut(end) else { return };
        let mut frame = Vec::new();
        while line.service.poll_transmit(now, &mut frame).is_some() {
            trace.note_frame(now, number, end, &frame);
            let rate = line.wires.first().and_then(|(_, wire)| wire.tap().config().rate_bits_per_second);
            if let Some(rate) = rate {
                let time = Duration::from_secs_f64(frame.len() as f64 * 8.0 / rate as f64);
                line.busy_until = line.busy_until.max(now) + time;
            }
            for (_, wire) in &mut line.wires {
                wire.send(now, with_checksum(&frame));
            }
            frame.clear();
        }
    }

    /// From the wires of `from` into the services of the others.
    fn land_frames(&mut self, now: Instant, from: usize) {
        let without_checksum = matches!(&self.medium, Medium::Framed(framed) if framed.without_checksum);
        let mut landed = Vec::new();
        if let Some(line) = self.lines.get_mut(from) {
            for (to, wire) in &mut line.wires {
                while let Some(frame) = wire.poll_deliver(now) {
                    landed.push((*to, frame));
                }
            }
        }
        for (to, frame) in landed {
            let Some((frame, intact)) = without_trailer(&frame) else { continue };
            if let Some(line) = self.lines.get_mut(to)
                && (intact || without_checksum)
            {
                // What is wrong with a frame is counted by the service.
                let _ = line.service.receive(now, EndpointId(from as u64), frame);
            }
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        for line in &mut self.lines {
            if line.service.next_deadline() <= now {
                line.service.handle_timeout(now);
            }
        }
    }

    pub(super) fn next_deadline(&self) -> Instant {
        let passage = self.passages.first_key_value().map_or(Instant::NEVER, |((at, _), _)| *at);
        let lines = self.lines.iter().flat_map(|line| {
            let wires = line.wires.iter().map(|(_, wire)| wire.next_deadline());
            wires.chain([line.service.next_deadline()])
        });
        lines.min().unwrap_or(Instant::NEVER).min(passage)
    }

    pub(super) fn services(&self) -> impl Iterator<Item = &LinkService> {
        self.lines.iter().map(|line| &line.service)
    }
}

fn decode(packet: Buffer, nack: Option<packet::NackReason>) -> Option<Outgoing> {
    if let Ok(interest) = Interest::decode_ndn(packet.clone()) {
        return Some(match nack {
            Some(reason) => Outgoing::Nack(interest, reason),
            None => Outgoing::Interest(interest),
        });
    }
    Data::decode_ndn(packet).ok().map(Outgoing::Data)
}

const TRAILER_BYTES: usize = 8;

fn with_checksum(frame: &[u8]) -> Vec<u8> {
    [frame, &checksum(frame)[..]].concat()
}

fn without_trailer(frame: &[u8]) -> Option<(&[u8], bool)> {
    let (frame, trailer) = frame.split_at_checked(frame.len().checked_sub(TRAILER_BYTES)?)?;
    Some((frame, checksum(frame) == trailer))
}

fn checksum(frame: &[u8]) -> [u8; TRAILER_BYTES] {
    let hash = frame.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash.to_be_bytes()
}
