//! One packet at a time: how long it takes.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::packets::{Shape, Template};

/// Round-trip times of pings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PingReport {
    /// Times of the pings that were answered, in nanoseconds, shortest first.
    pub round_trip_nanos: Vec<u64>,
    /// Pings that were not.
    pub lost: u64,
}

impl PingReport {
    /// The time that the given part of the pings took at most ([`packet::quantile`]); zero if none was
    /// answered.
    pub fn quantile(&self, part: f64) -> u64 {
        let at = |place: usize| self.round_trip_nanos.get(place).copied().unwrap_or(0) as f64;
        packet::quantile(self.round_trip_nanos.len(), part, at).map_or(0, |nanos| nanos as u64)
    }
}

/// A consumer that sends an Interest now and then.
pub struct UdpPing {
    socket: UdpSocket,
    interest: Template,
    next: u64,
}

/// How long a ping may take before it counts as lost.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Pings in a row without an answer after which nobody waits for more.
const HOPELESS: u32 = 20;

impl UdpPing {
    /// Binds a consumer of packets of this shape. `first` begins its numbers, so that two consumers do not
    /// share answers.
    ///
    /// # Errors
    /// A socket that cannot be had.
    pub fn new(local: SocketAddr, forwarder: SocketAddr, shape: Shape, first: u64) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(forwarder)?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        Ok(UdpPing { socket, interest: shape.interest().map_err(io::Error::other)?, next: first })
    }

    /// Sends one Interest; how long its Data took, or `None`.
    pub fn ping(&mut self) -> Option<Duration> {
        let mut wire = self.interest.wire.clone();
        self.interest.number(&mut wire, self.next, self.next as u32);
        self.next += 1;
        let (expected, _) = self.interest.digits(&wire)?;
        let mut answer = [0; 65_536];
        let start = Instant::now();
        self.socket.send(&wire).ok()?;
        while start.elapsed() < TIMEOUT {
            let received = self.socket.recv(&mut answer).ok()?;
            // Answers to those before may come late. Nacks have a reason but no content.
            let frame = answer.get(..received)?;
            let digits = frame.windows(expected.len()).any(|window| window == expected);
            if digits && received > wire.len() {
                return Some(start.elapsed());
            }
        }
        None
    }

    /// Sends `count` Interests with `pause` between. If [`HOPELESS`] in a row are not answered, all others
    /// count as lost, too.
    pub fn series(&mut self, count: usize, pause: Duration) -> PingReport {
        let mut report = PingReport::default();
        let mut in_vain = 0;
        for sent in 0..count {
            match self.ping() {
                Some(time) => {
                    report.round_trip_nanos.push(time.as_nanos() as u64);
                    in_vain = 0;
                }
                None => {
                    report.lost += 1;
                    in_vain += 1;
                }
            }
            if in_vain == HOPELESS {
                report.lost += (count - sent - 1) as u64;
                break;
            }
            std::thread::sleep(pause);
        }
        report.round_trip_nanos.sort_unstable();
        report
    }
}

/// Answers Interests one by one until `stop` is set; those with numbers below 2^32 only until `silent` is
/// set. It says that it keeps up, as a forwarder does: who says nothing is sent to slowly.
///
/// # Errors
/// A socket that fails.
pub fn udp_producer(
    socket: &UdpSocket,
    shape: Shape,
    stop: &AtomicBool,
    silent: &AtomicBool,
) -> io::Result<()> {
    let (interest, data) =
        (shape.interest().map_err(io::Error::other)?, shape.data().map_err(io::Error::other)?);
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    let (mut frame, mut answer) = ([0; 65_536], data.wire.clone());
    while !stop.load(Ordering::Relaxed) {
        let Ok((received, from)) = socket.recv_from(&mut frame) else { continue };
        let frame = frame.get(..received).unwrap_or_default();
        if let Some(reply) = link::v2::answer_echo(frame, 0) {
            let _ = socket.send_to(&reply, from);
        }
        let Some((digits, token)) = interest.digits(frame) else { continue };
        let number: u64 =
            std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0);
        if number < 1 << 32 && silent.load(Ordering::Relaxed) {
            continue;
        }
        data.put_digits(&mut answer, digits);
        if token.is_empty() {
            let _ = socket.send_to(&answer, from);
        } else {
            let mut framed = Vec::new();
            let view = packet::ndn::lp::LpPacketView {
                pit_token: token,
                fragment: Some(&answer),
                ..Default::default()
            };
            view.encode(&mut framed);
            let _ = socket.send_to(&framed, from);
        }
    }
    Ok(())
}
