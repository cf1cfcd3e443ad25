//! One socket to a forwarder, with the codec of the language it speaks.

use std::collections::VecDeque;
use std::io;

use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{Data, Dialect, Interest, LinkHeader, NackReason, Packet};
use system::Clock;

use crate::arrivals::{Arrivals, Counters};
use crate::codec::{Codec, OutgoingPacket};
use crate::datagrams::Train;
use crate::error::ClientError;
use crate::input::Input;
use crate::remote::Remote;
use crate::socket::{Socket, Waited};

/// Bytes that gather before they are written without the application waiting for anything: as many as are
/// worth a system call, and still in the processor's cache when the kernel copies them.
const WRITE_BYTES: usize = 128 << 10;

/// Bytes that wait to be written before a sender has to wait.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);

/// One socket to a forwarder. Packets go in with the `send_*` methods and come out of
/// [`Connection::receive`].
///
/// What is sent is written when the application waits for something, or when some has gathered, or with
/// [`Connection::flush`]. When a megabyte has gathered that the forwarder does not take, sending waits.
#[derive(Debug)]
pub struct Connection {
    remote: Remote,
    socket: Socket,
    clock: Clock,
    codec: Codec,
    input: Input,
    output: Vec<u8>,
    /// Whether it waits for the system: for room to write, or a connection to come about.
    waits: bool,
    /// Bytes of `output` that were written.
    written: usize,
    /// Lengths of the frames in `output`, for datagrams.
    frames: VecDeque<usize>,
    arrivals: Arrivals,
}

impl Connection {
    /// Connects to a forwarder that speaks NDN.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn open(remote: &Remote) -> Result<Self, ClientError> {
        Connection::open_in(Dialect::Ndn, remote)
    }

    /// Connects to a forwarder that speaks this dialect. One of CCNx has a port of its own
    /// ([`packet::ccnx::PORT`]), neither Nacks nor anything beside a packet, and no registration by NFD's
    /// management protocol.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn open_in(dialect: Dialect, remote: &Remote) -> Result<Self, ClientError> {
        Connection::open_within(dialect, remote, CONNECT_TIMEOUT)
    }

    pub(crate) fn open_within(
        dialect: Dialect,
        remote: &Remote,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let socket = Socket::connect(remote, timeout)
            .map_err(|error| ClientError::Connect { remote: remote.clone(), error })?;
        let codec = Codec::new(dialect, socket.is_datagram(), Random::from_seed(Clock::seed()))?;
        Ok(Connection {
            remote: remote.clone(),
            clock: Clock::start(),
            codec,
            input: Input::new(socket.is_datagram()),
            output: Vec::new(),
            waits: true,
            written: 0,
            frames: VecDeque::new(),
            arrivals: Arrivals::default(),
            socket,
        })
    }

    /// Connects to the same place again, with the clock of before.
    pub(crate) fn reopen(&mut self) -> Result<(), ClientError> {
        let opened = Connection::open_in(self.dialect(), &self.remote)?;
        self.adopt(opened);
        Ok(())
    }

    /// Goes on over another connection to the same place, with the clock of before.
    pub(crate) fn adopt(&mut self, mut opened: Connection) {
        (opened.clock, opened.arrivals.counters) = (self.clock, self.arrivals.counters);
        opened.waits = self.waits;
        *self = opened;
    }

    /// Waits for nothing from now on: whoever sends looks for room before, and [adopts](Self::adopt) a new
    /// connection when there is one.
    #[cfg(feature = "async")]
    pub(crate) fn never_wait(&mut self) {
        self.waits = false;
    }

    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// Whether less is to be written than a sender would have to wait for.
    pub fn has_room(&self) -> bool {
        self.output.len() <= MAX_OUTPUT_BYTES
    }

    /// Whether something waits to be written.
    #[cfg(feature = "async")]
    pub(crate) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// When the link has something to do.
    #[cfg(feature = "async")]
    pub(crate) fn link_deadline(&self) -> Instant {
        self.codec.next_deadline()
    }

    /// The socket once more, to be waited on.
    #[cfg(feature = "async")]
    pub(crate) fn poll_handle(&self) -> io::Result<crate::socket::PollHandle> {
        self.socket.poll_handle()
    }

    /// Whether a frame is a datagram: then nothing tells that the forwarder at the other end is another one.
    pub(crate) fn is_datagram(&self) -> bool {
        self.socket.is_datagram()
    }

    /// The language that the forwarder speaks.
    pub fn dialect(&self) -> Dialect {
        self.codec.dialect()
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
        self.arrivals.counters
    }

    /// Sends an Interest.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_interest(&mut self, interest: &Interest) -> Result<(), ClientError> {
        self.send_interest_with(interest, LinkHeader::NONE)
    }

    /// Sends an Interest with link fields, such as the face it has to leave by.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_interest_with(&mut self, interest: &Interest, header: LinkHeader) -> Result<(), ClientError> {
        self.send(OutgoingPacket { dialect: interest.dialect(), wire: interest.wire(), header, nack: None })
    }

    /// Answers an Interest that came with `asked`.
    ///
    /// # Errors
    /// The forwarder went away.
    pub fn send_data(&mut self, data: &Data, asked: &LinkHeader) -> Result<(), ClientError> {
        let header = LinkHeader { pit_token: asked.pit_token.clone(), ..LinkHeader::default() };
        self.send(OutgoingPacket { dialect: data.dialect(), wire: data.wire(), header, nack: None })
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
        let nack = Some(reason);
        self.send(OutgoingPacket { dialect: interest.dialect(), wire: interest.wire(), header, nack })
    }

    /// The next packet, with what its last hop tells; waits for it until `until`, for ever if that is
    /// [`Instant::NEVER`]. `None` when the time is up, and when a signal came.
    ///
    /// # Errors
    /// The forwarder went away, or does not speak the connection's dialect.
    pub fn receive(&mut self, until: Instant) -> Result<Option<(Packet, LinkHeader)>, ClientError> {
        loop {
            if let Some(packet) = self.next_read()? {
                return Ok(Some(packet));
            }
            self.write_some()?;
            if self.read_some()? {
                continue;
            }
            let now = self.clock.now();
            self.codec.handle_timeout(now);
            if now >= until {
                return Ok(None);
            }
            let deadline = until.min(self.codec.next_deadline());
            let timeout = (deadline < Instant::NEVER).then(|| deadline.saturating_since(now));
            if self.wait(!self.output.is_empty(), timeout)? == Waited::Interrupted {
                return Ok(None);
            }
        }
    }

    /// Takes back a Data that came over this connection and is done with, so that the next can have its
    /// memory. It changes nothing if others still refer to the Data.
    pub fn recycle(&mut self, data: Data) {
        self.arrivals.recycle(data);
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
            if self.arrivals.have_room() {
                while self.take_next_frame()? {}
                self.read_some()?;
            }
            self.write_some()?;
        }
        Ok(())
    }

    fn send(&mut self, packet: OutgoingPacket<'_>) -> Result<(), ClientError> {
        if self.waits && !self.has_room() {
            self.flush()?;
        }
        let now = self.clock.now();
        // Where a frame ends has to be known for datagrams alone.
        let (is_datagram, frames) = (self.socket.is_datagram(), &mut self.frames);
        self.codec.send(now, packet, &mut self.output, |length| {
            if is_datagram {
                frames.push_back(length);
            }
        })?;
        self.arrivals.counters.packets_out += 1;
        if self.output.len() - self.written >= WRITE_BYTES {
            self.write_some()?;
        }
        Ok(())
    }

    /// Writes what the kernel takes.
    fn write_some(&mut self) -> Result<(), ClientError> {
        let is_all = if self.socket.is_datagram() { self.write_datagrams()? } else { self.write_stream()? };
        if is_all {
            self.output.clear();
            self.written = 0;
            self.frames.clear();
        }
        Ok(())
    }

    /// Says whether all is written.
    fn write_stream(&mut self) -> Result<bool, ClientError> {
        while let Some(rest) = self.output.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.socket.write(rest) {
                Ok(count) => {
                    self.arrivals.counters.bytes_out += count as u64;
                    self.written += count;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(true)
    }

    /// Says whether all is written, or lost.
    fn write_datagrams(&mut self) -> Result<bool, ClientError> {
        while let Some(datagrams) = self.socket.datagrams() {
            let Some(train) = datagrams.train_of(&self.frames) else { break };
            let (count, stride, length) = (train.datagrams, train.segment, train.len_bytes);
            let train =
                self.output.get(self.written..).and_then(|rest| rest.get(..length)).unwrap_or_default();
            match datagrams.send(train, stride) {
                Ok(()) => self.arrivals.counters.bytes_out += length as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    return Err(self.broken(error));
                }
                Err(error) if count > 1 && datagrams.handle_uncut(stride, &error) => continue,
                // A datagram that does not leave is a datagram lost, and nothing more.
                Err(_) => self.arrivals.counters.unsent += count as u64,
            }
            self.written += length;
            self.frames.drain(..count);
        }
        Ok(true)
    }

    /// The next packet among those that were read.
    pub(crate) fn next_read(&mut self) -> Result<Option<(Packet, LinkHeader)>, ClientError> {
        // One frame after the other, as they are asked for: what is read at once may hold thousands of small
        // ones.
        while self.arrivals.is_empty() && self.take_next_frame()? {}
        Ok(self.arrivals.pop())
    }

    /// Takes in the next frame that was read; says whether there was one.
    fn take_next_frame(&mut self) -> Result<bool, ClientError> {
        match self.input.next_frame(|stream| self.codec.frame_len(stream)) {
            Ok(Some(frame)) => {
                let frame = self.input.bytes.get(frame).unwrap_or_default();
                self.codec.receive(self.input.read_at, frame, &mut self.arrivals);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => {
                let (remote, dialect) = (self.remote.clone(), self.dialect());
                Err(ClientError::OtherDialect { remote, dialect, error: error.into() })
            }
        }
    }

    /// Reads what is there, as far as there is room for it; says whether there was anything. All whole frames
    /// that were read before must have been taken.
    fn read_some(&mut self) -> Result<bool, ClientError> {
        let free = self.input.make_room();
        let read = match self.socket.datagrams() {
            Some(datagrams) => datagrams.receive(free),
            None => self.socket.read(free).map(|length| Train { length, stride: 1 }),
        };
        let train = match read {
            Ok(Train { length: 0, .. }) if !self.socket.is_datagram() => {
                return Err(ClientError::Closed(self.remote.clone()));
            }
            Ok(train) => train,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            Err(error) => return Err(self.broken(error)),
        };
        self.arrivals.counters.bytes_in += train.length as u64;
        self.input.handle_read(self.clock.now(), train);
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
