//! Interests and Data over UDP, as fast as the forwarder between takes them.

use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use packet::ndn::lp::is_lp_packet;
use socket2::{Domain, Protocol, Socket, Type};
use system::is_try_again;
use system::trains::{MAX_TRAIN_BYTES, MAX_TRAIN_DATAGRAMS};

use super::LoadReport;
use super::packets::{Shape, Template};
use crate::sys::datagrams::{self, Receiver, Train};
use crate::sys::options;

/// How to exchange.
#[derive(Clone, Copy, Debug)]
pub struct UdpExchangeConfig {
    /// Where the consumer sends Interests.
    pub forwarder: SocketAddr,
    /// Interests that may be on their way.
    pub window: u64,
    /// Different names to ask for; 0 for a new one each time.
    pub catalogue: u64,
    /// The packets.
    pub shape: Shape,
}

/// A consumer and a producer on one thread.
pub struct UdpExchange {
    config: UdpExchangeConfig,
    consumer: UdpSocket,
    producer: UdpSocket,
    receiver: Receiver,
    interests: Vec<u8>,
    interest: Template,
    answers: Vec<u8>,
    data: Template,
    framed: Vec<u8>,
    next: u64,
    totals: LoadReport,
    started: Instant,
    last_data: Instant,
}

/// Without Data for so long, what is on its way counts as lost.
const TIMEOUT: Duration = Duration::from_millis(100);

/// The receive buffers to ask for.
const RECEIVE_BYTES: usize = 16 << 20;

/// How long nothing is tried when there was nothing to do.
const PAUSE: Duration = Duration::from_micros(2);

pub(super) fn socket(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    if options::force_receive_buffer(&socket, RECEIVE_BYTES).is_err() {
        socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    }
    socket.set_send_buffer_size(4 << 20)?;
    socket.bind(&local.into())?;
    let _ = options::receive_trains(&socket);
    Ok(socket.into())
}

impl UdpExchange {
    /// Binds a consumer and a producer.
    ///
    /// # Errors
    /// Sockets that cannot be had.
    pub fn new(config: UdpExchangeConfig, consumer: SocketAddr, producer: SocketAddr) -> io::Result<Self> {
        let (interest, data) = (
            config.shape.interest().map_err(io::Error::other)?,
            config.shape.data().map_err(io::Error::other)?,
        );
        let now = Instant::now();
        Ok(UdpExchange {
            config,
            consumer: socket(consumer)?,
            producer: socket(producer)?,
            receiver: Receiver::new(),
            interests: interest.wire.repeat(MAX_TRAIN_DATAGRAMS),
            answers: data.wire.repeat(MAX_TRAIN_DATAGRAMS),
            interest,
            data,
            framed: Vec::new(),
            next: 0,
            totals: LoadReport::default(),
            started: now,
            last_data: now,
        })
    }

    /// Where the producer listens.
    ///
    /// # Errors
    /// None that a bound socket has.
    pub fn producer_address(&self) -> io::Result<SocketAddr> {
        self.producer.local_addr()
    }

    /// Changes how many Interests may be on their way.
    pub fn set_window(&mut self, window: u64) {
        self.config.window = window;
    }

    /// What has been done so far.
    pub fn report(&self) -> LoadReport {
        LoadReport { seconds: self.started.elapsed().as_secs_f64(), ..self.totals }
    }

    /// Exchanges for a while.
    ///
    /// # Errors
    /// A socket that fails.
    pub fn run(&mut self, span: Duration) -> io::Result<()> {
        let end = Instant::now() + span;
        while Instant::now() < end {
            let worked = self.produce()? | self.collect()? | self.ask()?;
            if !worked {
                // Whoever sleeps has to be woken, which would be counted as a cost of forwarding.
                let pause = Instant::now() + PAUSE;
                while Instant::now() < pause {
                    std::hint::spin_loop();
                }
            }
        }
        Ok(())
    }

    /// Sends one train of Interests, if the window is open; gives how many.
    ///
    /// # Errors
    /// A socket that fails.
    pub fn ask_once(&mut self) -> io::Result<u64> {
        let before = self.totals.interests;
        self.ask()?;
        Ok(self.totals.interests - before)
    }

    /// Interests on their way.
    fn pending(&self) -> u64 {
        self.totals.interests - self.totals.data - self.totals.lost
    }

    fn ask(&mut self) -> io::Result<bool> {
        if self.pending() > 0 && self.last_data.elapsed() > TIMEOUT {
            self.totals.lost += self.pending();
        }
        // As many as can be answered with one train.
        let longest = self.interest.len().max(self.data.len());
        let train = (MAX_TRAIN_BYTES / longest).clamp(1, MAX_TRAIN_DATAGRAMS);
        // A window that opened a little is worth a train only when it has opened by one.
        let room = self.config.window.saturating_sub(self.pending());
        if room < (train as u64).min(self.config.window) {
            return Ok(false);
        }
        let count = train.min(usize::try_from(room).unwrap_or(train));
        for packet in self.interests.chunks_exact_mut(self.interest.len()).take(count) {
            let number =
                if self.config.catalogue > 0 { self.next % self.config.catalogue } else { self.next };
            self.interest.number(packet, number, self.next as u32);
            self.next += 1;
        }
        let bytes = self.interests.get(..count * self.interest.len()).unwrap_or_default();
        let train = Train {
            to: self.config.forwarder,
            slices: &[IoSlice::new(bytes)],
            len_bytes: bytes.len(),
            segment: self.interest.len(),
        };
        if self.totals.data + self.totals.lost == self.totals.interests {
            self.last_data = Instant::now();
        }
        match datagrams::send(&self.consumer, &[train]) {
            Ok(_) => {
                self.totals.interests += count as u64;
                Ok(true)
            }
            Err(error) if is_passing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn collect(&mut self) -> io::Result<bool> {
        let count = match self.receiver.receive(&self.consumer, 16) {
            Ok(count) => count,
            Err(error) if is_passing(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut data = 0;
        for (train, bytes) in (0..count).filter_map(|index| self.receiver.train(index)) {
            answer_echoes(&self.consumer, train.from, bytes.chunks(train.stride));
            data +=
                bytes.chunks(train.stride).filter(|frame| is_answer(frame, self.data.len())).count() as u64;
        }
        if data > 0 {
            self.last_data = Instant::now();
        }
        // Data for Interests that were given up already come late and count for nothing.
        self.totals.data += data.min(self.pending());
        Ok(true)
    }

    fn produce(&mut self) -> io::Result<bool> {
        let count = match self.receiver.receive(&self.producer, 16) {
            Ok(count) => count,
            Err(error) if is_passing(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let most = (MAX_TRAIN_BYTES / self.data.len()).clamp(1, MAX_TRAIN_DATAGRAMS);
        for (train, bytes) in (0..count).filter_map(|index| self.receiver.train(index)) {
            answer_echoes(&self.producer, train.from, bytes.chunks(train.stride));
            let mut frames =
                bytes.chunks(train.stride).filter_map(|frame| self.interest.digits(frame)).peekable();
            while frames.peek().is_some() {
                let (mut ready, mut plain) = (0, true);
                self.framed.clear();
                for (packet, (digits, token)) in
                    self.answers.chunks_exact_mut(self.data.len()).take(most).zip(frames.by_ref())
                {
                    self.data.put_digits(packet, digits);
                    ready += 1;
                    if !token.is_empty() {
                        plain = false;
                        let view = packet::ndn::lp::LpPacketView {
                            pit_token: token,
                            fragment: Some(packet),
                            ..Default::default()
                        };
                        view.encode(&mut self.framed);
                    }
                }
                let bytes = if plain {
                    self.answers.get(..ready * self.data.len()).unwrap_or_default()
                } else {
                    &self.framed
                };
                let segment = bytes.len() / ready.max(1);
                // What the socket does not take is lost, as on any network.
                let slices = [IoSlice::new(bytes)];
                let train = Train { to: train.from, slices: &slices, len_bytes: bytes.len(), segment };
                let _ = datagrams::send(&self.producer, &[train]);
                self.totals.answered += ready as u64;
            }
        }
        Ok(true)
    }
}

/// Tells a forwarder that asks that this end keeps up, as a node would: what stands at its ends is not to be
/// measured.
fn answer_echoes<'f>(socket: &UdpSocket, to: SocketAddr, frames: impl Iterator<Item = &'f [u8]>) {
    for frame in frames.filter(|frame| is_lp_packet(frame)) {
        if let Some(reply) = link::v2::answer_echo(frame, RECEIVE_BYTES as u64) {
            let _ = socket.send_to(&reply, to);
        }
    }
}

/// Whether a frame is a Data, or the last fragment of one that the forwarder has cut. Nacks are smaller than
/// what was asked for.
fn is_answer(frame: &[u8], data_len: usize) -> bool {
    let is_last_fragment = |view: packet::ndn::lp::LpPacketView<'_>| {
        let (index, count) = (view.frag_index.unwrap_or(0), view.frag_count.unwrap_or(1));
        count > 1 && index.checked_add(1) == Some(count)
    };
    frame.len() >= data_len
        || is_lp_packet(frame) && packet::ndn::lp::LpPacketView::decode(frame).is_ok_and(is_last_fragment)
}

/// Errors that say "not now", or that speak of a peer that was not there yet.
pub(super) fn is_passing(error: &io::Error) -> bool {
    is_try_again(error) || error.kind() == io::ErrorKind::ConnectionRefused
}
