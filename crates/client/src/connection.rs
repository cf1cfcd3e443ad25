//! One socket to a forwarder, with NDNLPv2 on it.

use std::collections::VecDeque;
use std::io;

use link::v2::{Config, EndpointId, Framed, LinkService, Received};
use packet::ndn::tlv;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Buffer, Data, Interest, LinkHeader, NackReason};

use crate::clock::Clock;
use crate::error::ClientError;
use crate::remote::Remote;
use crate::socket::{Socket, Waited};

/// Bytes read from the socket at once.
const READ_BYTES: usize = 256 << 10;

/// Frames read from a datagram socket before anything else happens.
const DATAGRAMS_AT_ONCE: usize = 64;

/// The largest frame: a packet of 8,800 bytes and what the link puts before it.
const MAX_FRAME_BYTES: usize = 9100;

/// Bytes that wait to be written before a sender has to wait.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Packets that wait for the application. Beyond that nothing more is read, and the forwarder's queue fills.
const MAX_INCOMING: usize = 16 << 10;

/// A packet from the forwarder.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// Somebody asks.
    Interest {
        /// The Interest.
        interest: Interest,
        /// What its last hop tells; goes back with the answer.
        header: LinkHeader,
    },
    /// Somebody answers.
    Data {
        /// The Data.
        data: Data,
        /// What its last hop tells.
        header: LinkHeader,
    },
    /// An Interest of ours came back.
    Nack {
        /// The Interest.
        interest: Interest,
        /// Why.
        reason: NackReason,
        /// What its last hop tells.
        header: LinkHeader,
    },
}

/// What went over a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent.
    pub packets_out: u64,
    /// Packets received.
    pub packets_in: u64,
    /// Bytes sent, link headers included.
    pub bytes_out: u64,
    /// Bytes received, link headers included.
    pub bytes_in: u64,
    /// Frames and packets that could not be read, and were dropped.
    pub malformed: u64,
    /// Datagrams that the kernel would not take, and were dropped.
    pub unsent: u64,
}

/// One socket to a forwarder. Packets go in with the `send_*` methods and come out of [`Connection::receive`].
///
/// What is sent is written when the application waits for something, or when a megabyte has gathered, or with
/// [`Connection::flush`].
#[derive(Debug)]
pub struct Connection {
    remote: Remote,
    socket: Socket,
    clock: Clock,
    link: LinkService,
    input: Vec<u8>,
    /// The bytes of `input` that hold something.
    filled: usize,
    output: Vec<u8>,
    /// Bytes of `output` that were written.
    written: usize,
    /// Lengths of the frames in `output`, for datagrams.
    frames: VecDeque<usize>,
    incoming: VecDeque<Incoming>,
    counters: Counters,
}

impl Connection {
    /// Connects to a forwarder.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn open(remote: &Remote) -> Result<Self, ClientError> {
        let socket = Socket::connect(remote)
            .map_err(|error| ClientError::Connect { remote: remote.clone(), error })?;
        let config = Config {
            transport_mtu_bytes: socket.is_datagram().then_some(tlv::MAX_PACKET_BYTES),
            local_fields: true,
            congestion_marking: None,
            ..Config::default()
        };
        let link = LinkService::new(config, Random::from_seed(Clock::seed()))
            .map_err(|error| ClientError::Unsendable(error.to_string()))?;
        Ok(Connection {
            remote: remote.clone(),
            socket,
            clock: Clock::start(),
            link,
            input: vec![0; READ_BYTES],
            filled: 0,
            output: Vec::new(),
            written: 0,
            frames: VecDeque::new(),
            incoming: VecDeque::new(),
            counters: Counters::default(),
        })
    }

    /// Where the forwarder is.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// The clocks, which count from when the connection was opened.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// What went over it.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sends an Interest.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_interest(&mut self, interest: &Interest) -> Result<(), ClientError> {
        self.send(interest.wire(), LinkHeader::default(), None)
    }

    /// Sends an Interest with link fields, such as the face it has to leave by.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_interest_with(&mut self, interest: &Interest, header: LinkHeader) -> Result<(), ClientError> {
        self.send(interest.wire(), header, None)
    }

    /// Answers an Interest that came with `asked`.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_data(&mut self, data: &Data, asked: &LinkHeader) -> Result<(), ClientError> {
        let header = LinkHeader { pit_token: asked.pit_token.clone(), ..LinkHeader::default() };
        self.send(data.wire(), header, None)
    }

    /// Sends an Interest that came with `asked` back.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_nack(
        &mut self,
        interest: &Interest,
        reason: NackReason,
        asked: &LinkHeader,
    ) -> Result<(), ClientError> {
        let header = LinkHeader { pit_token: asked.pit_token.clone(), ..LinkHeader::default() };
        self.send(interest.wire(), header, Some(reason))
    }

    /// The next packet; waits for it until `until`, for ever if that is [`Instant::NEVER`]. `None` when the time is up, and
    /// when a signal came.
    ///
    /// # Errors
    /// The forwarder went away, or does not speak NDN.
    pub fn receive(&mut self, until: Instant) -> Result<Option<Incoming>, ClientError> {
        loop {
            if let Some(packet) = self.incoming.pop_front() {
                return Ok(Some(packet));
            }
            self.write_some()?;
            if self.read_some()? {
                continue;
            }
            let now = self.clock.now();
            self.link.handle_timeout(now);
            if now >= until {
                return Ok(None);
            }
            let deadline = until.min(self.link.next_deadline());
            let timeout = (deadline < Instant::NEVER).then(|| deadline.saturating_since(now));
            if self.wait(!self.output.is_empty(), timeout)? == Waited::Interrupted {
                return Ok(None);
            }
        }
    }

    /// The next packet that is already here, read from the socket if need be; never waits.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub fn try_receive(&mut self) -> Result<Option<Incoming>, ClientError> {
        if self.incoming.is_empty() {
            self.read_some()?;
        }
        Ok(self.incoming.pop_front())
    }

    /// Writes all that was sent.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        self.write_some()?;
        while !self.output.is_empty() {
            self.wait(true, Some(Duration::from_secs(1)))?;
            // The forwarder may wait for us to read before it reads.
            if self.incoming.len() < MAX_INCOMING {
                self.read_some()?;
            }
            self.write_some()?;
        }
        Ok(())
    }

    fn send(
        &mut self,
        packet: &Buffer,
        header: LinkHeader,
        nack: Option<NackReason>,
    ) -> Result<(), ClientError> {
        if self.output.len() > MAX_OUTPUT_BYTES {
            self.flush()?;
        }
        let now = self.clock.now();
        let start = self.output.len();
        let framed = self.link.frame(now, header, nack, packet, &mut self.output);
        match framed.map_err(|reason| ClientError::Unsendable(reason.as_str().to_owned()))? {
            Framed::Whole => {
                self.output.extend_from_slice(packet);
                self.frames.push_back(self.output.len() - start);
            }
            Framed::Taken => {
                while let Some(length) = self.link.poll_transmit(now, &mut self.output) {
                    self.frames.push_back(length);
                }
            }
        }
        self.counters.packets_out += 1;
        Ok(())
    }

    /// Writes what the kernel takes.
    fn write_some(&mut self) -> Result<(), ClientError> {
        while self.written < self.output.len() {
            let rest = self.output.get(self.written..).unwrap_or_default();
            let piece = match self.frames.front() {
                Some(length) if self.socket.is_datagram() => rest.get(..*length).unwrap_or(rest),
                _ => rest,
            };
            match self.socket.write(piece) {
                Ok(count) => {
                    self.counters.bytes_out += count as u64;
                    self.written += count;
                    self.frames.pop_front();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A datagram that does not leave is a datagram lost, and nothing more.
                Err(error)
                    if self.socket.is_datagram() && error.kind() != io::ErrorKind::ConnectionRefused =>
                {
                    self.written += piece.len();
                    self.frames.pop_front();
                    self.counters.unsent += 1;
                }
                Err(error) => return Err(self.broken(error)),
            }
        }
        self.output.clear();
        self.written = 0;
        self.frames.clear();
        Ok(())
    }

    /// Reads what is there, up to a limit; says whether there was anything.
    fn read_some(&mut self) -> Result<bool, ClientError> {
        if self.socket.is_datagram() { self.read_datagrams() } else { self.read_stream() }
    }

    fn read_datagrams(&mut self) -> Result<bool, ClientError> {
        for count in 0..DATAGRAMS_AT_ONCE {
            let length = match self.socket.read(&mut self.input) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(count > 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.broken(error)),
            };
            self.counters.bytes_in += length as u64;
            let now = self.clock.now();
            let frame = self.input.get(..length).unwrap_or_default();
            take_frame(&mut self.link, &mut self.incoming, &mut self.counters, now, frame);
        }
        Ok(true)
    }

    fn read_stream(&mut self) -> Result<bool, ClientError> {
        let free = self.input.get_mut(self.filled..).unwrap_or_default();
        let count = match self.socket.read(free) {
            Ok(0) => return Err(ClientError::Closed(self.remote.clone())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            Err(error) => return Err(self.broken(error)),
        };
        self.counters.bytes_in += count as u64;
        self.filled += count;
        let now = self.clock.now();
        let mut start = 0;
        loop {
            let bytes = self.input.get(start..self.filled).unwrap_or_default();
            match frame_length(bytes) {
                Ok(Some(length)) => {
                    let frame = bytes.get(..length).unwrap_or_default();
                    take_frame(&mut self.link, &mut self.incoming, &mut self.counters, now, frame);
                    start += length;
                }
                Ok(None) => break,
                Err(problem) => return Err(ClientError::NotNdn(self.remote.clone(), problem)),
            }
        }
        // What is left is less than a frame.
        self.input.copy_within(start..self.filled, 0);
        self.filled -= start;
        Ok(true)
    }

    fn wait(&self, or_writable: bool, timeout: Option<Duration>) -> Result<Waited, ClientError> {
        self.socket.wait(or_writable, timeout).map_err(|error| self.broken(error))
    }

    fn broken(&self, error: io::Error) -> ClientError {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                ClientError::Closed(self.remote.clone())
            }
            _ => ClientError::Socket(self.remote.clone(), error),
        }
    }
}

/// The length of the frame that `bytes` begin with; `None` if it is not whole yet.
fn frame_length(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    let number = |at| match tlv::read_number(bytes, at) {
        Ok(number) => Ok(Some(number)),
        Err(packet::Rule::Truncated { .. }) => Ok(None),
        Err(_) => Err("a number is not in its shortest form"),
    };
    let Some((_, length_start)) = number(0)? else { return Ok(None) };
    let Some((length, value_start)) = number(length_start)? else { return Ok(None) };
    match usize::try_from(length).ok().and_then(|length| length.checked_add(value_start)) {
        Some(whole) if whole <= MAX_FRAME_BYTES => Ok((whole <= bytes.len()).then_some(whole)),
        _ => Err("a frame is larger than frames may be"),
    }
}

/// Hands a frame to the link and puts what comes of it into the queue.
fn take_frame(
    link: &mut LinkService,
    incoming: &mut VecDeque<Incoming>,
    counters: &mut Counters,
    now: Instant,
    frame: &[u8],
) {
    match link.receive_frame(now, EndpointId(0), frame) {
        Ok(Received::Packet { packet, header, nack }) => {
            take_packet(incoming, counters, Buffer::copy_from(packet), header, nack);
        }
        Ok(Received::Taken) => {
            while let Some(delivery) = link.poll_deliver() {
                take_packet(incoming, counters, delivery.packet, delivery.header, delivery.nack);
            }
        }
        Err(_) => counters.malformed += 1,
    }
}

fn take_packet(
    incoming: &mut VecDeque<Incoming>,
    counters: &mut Counters,
    packet: Buffer,
    header: LinkHeader,
    nack: Option<NackReason>,
) {
    let decoded = match (packet.first(), nack) {
        (Some(5), None) => {
            Interest::decode_ndn(packet).map(|interest| Incoming::Interest { interest, header })
        }
        (Some(5), Some(reason)) => {
            Interest::decode_ndn(packet).map(|interest| Incoming::Nack { interest, reason, header })
        }
        _ => Data::decode_ndn(packet).map(|data| Incoming::Data { data, header }),
    };
    match decoded {
        Ok(packet) => {
            counters.packets_in += 1;
            incoming.push_back(packet);
        }
        Err(_) => counters.malformed += 1,
    }
}
