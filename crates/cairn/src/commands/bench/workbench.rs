//! What all parts of `cairn bench forward` share: where forwarders run, what was measured, what went wrong.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use node::load::Shape;
use packet::Dialect;
use thiserror::Error;

use super::process::{Forwarder, Processors};
use super::subjects::{Stage, Subject};
use super::{ForwardArguments, Part};

/// Why nothing was measured.
#[derive(Debug, Error)]
pub(super) enum BenchError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("{subject} forwarded nothing within {seconds} seconds")]
    Silent { subject: &'static str, seconds: u64 },
}

/// One line of the result.
pub(super) struct Row {
    pub(super) part: &'static str,
    pub(super) subject: &'static str,
    /// What, how much, and in which unit.
    pub(super) values: Vec<(&'static str, f64, &'static str)>,
}

/// How long a forwarder may take until the first packet comes through.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A forwarder after the other is put onto it.
pub(super) struct Bench<'a> {
    pub(super) arguments: &'a ForwardArguments,
    pub(super) stage: Stage,
    pub(super) anywhere: Processors,
    pub(super) apart: Processors,
    pub(super) rows: Vec<Row>,
    pub(super) progress: ProgressBar,
}

impl Bench<'_> {
    /// One that does not forward in one way may well do so in another.
    pub(super) fn note_silent(&mut self, part: Part, subject: &Subject, seconds: f64) {
        self.rows.push(Row {
            part: part.title(),
            subject: subject.name(),
            values: vec![("forwarded nothing within", seconds, " s")],
        });
    }
}

pub(super) fn shape(arguments: &ForwardArguments, dialect: Dialect, payload_bytes: usize) -> Shape {
    Shape { name_bytes: arguments.name_bytes, payload_bytes, dialect }
}

pub(super) fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)
}

pub(super) fn silent_if_late(
    subject: &Subject,
    deadline: Instant,
    forwarder: &mut Forwarder,
) -> Result<(), BenchError> {
    if Instant::now() > deadline || forwarder.has_ended() {
        return Err(BenchError::Silent { subject: subject.name(), seconds: START_TIMEOUT.as_secs() });
    }
    Ok(())
}

impl Part {
    /// What is spoken.
    pub(super) fn dialect(self) -> Dialect {
        match self {
            Part::CcnxLatencyRow
            | Part::CcnxUdp
            | Part::CcnxUdpOne
            | Part::CcnxUdpSixteen
            | Part::CcnxCached => Dialect::Ccnx,
            _ => Dialect::Ndn,
        }
    }

    /// What stands above its numbers.
    pub(super) fn title(self) -> &'static str {
        match self {
            Part::Udp => "UDP, 1 kB of payload",
            Part::UdpOne => "UDP, 1 kB of payload, window 1",
            Part::UdpSixteen => "UDP, 1 kB of payload, window 16",
            Part::UnixOne => "unix sockets, 1 kB of payload, window 1",
            Part::UnixSixteen => "unix sockets, 1 kB of payload, window 16",
            Part::UdpLarge => "UDP, 8 kB of payload",
            Part::UdpCached => "UDP, cache hits of 1 kB",
            Part::UdpVeth => "UDP over veth, 1 kB of payload",
            Part::Tcp => "TCP, 1 kB of payload",
            Part::Unix => "unix sockets, 1 kB of payload",
            Part::Latency => "latency at low load",
            Part::LatencyApart => "latency at low load, the forwarder on a processor of its own",
            Part::LatencyRow => "latency through three in a row",
            Part::CcnxLatencyRow => "CCNx, latency through three in a row",
            Part::CcnxUdp => "CCNx, UDP, 1 kB of payload",
            Part::CcnxUdpOne => "CCNx, UDP, 1 kB of payload, window 1",
            Part::CcnxUdpSixteen => "CCNx, UDP, 1 kB of payload, window 16",
            Part::CcnxCached => "CCNx, UDP, cache hits of 4 kB",
            Part::Pending => "150,000 pending Interests on one face, pings on another",
            Part::Start => "start",
        }
    }
}
