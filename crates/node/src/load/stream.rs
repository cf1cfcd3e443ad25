//! Interests and Data over connections, as fast as the forwarder between takes them.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use packet::ndn::lp::{LpPacketView, frame_len};
use rustix::event::{PollFd, PollFlags, poll};

use super::LoadReport;
use super::packets::{Shape, Template};
use crate::transport::stream_socket::StreamSocket;

/// One end: a connection, what was read of a frame that goes on, and what could not be written yet.
struct End {
    socket: StreamSocket,
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
}

/// What may wait to be written at one end before it makes no more.
const MAX_OUTPUT_BYTES: usize = 256 << 10;

impl End {
    fn new(socket: StreamSocket) -> io::Result<Self> {
        set_nonblocking(&socket, true)?;
        Ok(End { socket, input: Vec::new(), output: Vec::new(), written: 0 })
    }

    /// Reads what there is and shows each frame to `visit`; false if there was nothing.
    fn read(&mut self, scratch: &mut [u8], mut visit: impl FnMut(&[u8], &mut Vec<u8>)) -> io::Result<bool> {
        let read = match (&self.socket).read(scratch) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        self.input.extend_from_slice(scratch.get(..read).unwrap_or_default());
        let mut rest = &self.input[..];
        while let Ok(Some(length)) = frame_len(rest) {
            let Some((frame, behind)) = rest.split_at_checked(length) else { break };
            visit(frame, &mut self.output);
            rest = behind;
        }
        let used = self.input.len() - rest.len();
        self.input.drain(..used);
        Ok(true)
    }

    fn write(&mut self) -> io::Result<bool> {
        let waiting = self.output.get(self.written..).unwrap_or_default();
        if waiting.is_empty() {
            return Ok(false);
        }
        match (&self.socket).write(waiting) {
            Ok(written) => self.written += written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        if self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
        }
        Ok(true)
    }

    fn has_room(&self) -> bool {
        self.output.len() - self.written < MAX_OUTPUT_BYTES
    }

    fn poll_flags(&self) -> PollFlags {
        if self.output.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT }
    }
}

/// Has reads and writes wait, or not; small frames do not wait for more.
pub(super) fn set_nonblocking(socket: &StreamSocket, nonblocking: bool) -> io::Result<()> {
    match socket {
        StreamSocket::Tcp(socket) => {
            socket.set_nodelay(true)?;
            socket.set_nonblocking(nonblocking)
        }
        StreamSocket::Unix(socket) => socket.set_nonblocking(nonblocking),
    }
}

/// A consumer and a producer on one thread, each with a connection to the forwarder.
pub struct StreamExchange {
    consumer: End,
    producer: End,
    window: u64,
    catalogue: u64,
    interest: Template,
    data: Template,
    scratch: Vec<u8>,
    next: u64,
    totals: LoadReport,
    started: Instant,
}

impl StreamExchange {
    /// An exchange over two connections.
    ///
    /// # Errors
    /// Sockets that fail.
    pub fn new(
        consumer: StreamSocket,
        producer: StreamSocket,
        shape: Shape,
        window: u64,
        catalogue: u64,
    ) -> io::Result<Self> {
        Ok(StreamExchange {
            consumer: End::new(consumer)?,
            producer: End::new(producer)?,
            window,
            catalogue,
            interest: shape.interest().map_err(io::Error::other)?,
            data: shape.data().map_err(io::Error::other)?,
            scratch: vec![0; 256 << 10],
            next: 0,
            totals: LoadReport::default(),
            started: Instant::now(),
        })
    }

    /// Changes how many Interests may be on their way.
    pub fn set_window(&mut self, window: u64) {
        self.window = window;
    }

    /// What has been done so far.
    pub fn report(&self) -> LoadReport {
        LoadReport { seconds: self.started.elapsed().as_secs_f64(), ..self.totals }
    }

    /// Exchanges for a while.
    ///
    /// # Errors
    /// A connection that fails.
    pub fn run(&mut self, span: Duration) -> io::Result<()> {
        let end = Instant::now() + span;
        while Instant::now() < end {
            let worked = self.produce()? | self.consume()?;
            if !worked {
                let mut sources = [
                    PollFd::new(&self.consumer.socket, self.consumer.poll_flags()),
                    PollFd::new(&self.producer.socket, self.producer.poll_flags()),
                ];
                let millisecond = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
                poll(&mut sources, Some(&millisecond))?;
            }
        }
        Ok(())
    }

    /// Asks for nothing more until all that was asked for has come: what is on its way would not outlive a
    /// long pause.
    ///
    /// # Errors
    /// A connection that fails.
    pub fn finish(&mut self, timeout: Duration) -> io::Result<()> {
        let window = std::mem::replace(&mut self.window, 0);
        let deadline = Instant::now() + timeout;
        while self.totals.interests > self.totals.data && Instant::now() < deadline {
            self.run(Duration::from_millis(1))?;
        }
        self.window = window;
        Ok(())
    }

    fn produce(&mut self) -> io::Result<bool> {
        let (interest, data, totals) = (&self.interest, &self.data, &mut self.totals);
        let mut worked = false;
        if self.producer.has_room() {
            worked = self.producer.read(&mut self.scratch, |frame, output| {
                let Some((digits, token)) = interest.digits(frame) else { return };
                totals.answered += 1;
                let start = output.len();
                output.extend_from_slice(&data.wire);
                data.put_digits(output.get_mut(start..).unwrap_or_default(), digits);
                if !token.is_empty() {
                    let packet = output.split_off(start);
                    LpPacketView { pit_token: token, fragment: Some(&packet), ..Default::default() }
                        .encode(output);
                }
            })?;
        }
        Ok(self.producer.write()? | worked)
    }

    fn consume(&mut self) -> io::Result<bool> {
        let (data, totals) = (&self.data, &mut self.totals);
        let mut worked = self.consumer.read(&mut self.scratch, |frame, _| {
            totals.data += u64::from(frame.len() >= data.len());
        })?;
        let pending = self.totals.interests - self.totals.data;
        let room = self.window.saturating_sub(pending);
        if room > 0 && room >= self.window.min(64) && self.consumer.has_room() {
            for _ in 0..room {
                let number = if self.catalogue > 0 { self.next % self.catalogue } else { self.next };
                let start = self.consumer.output.len();
                self.consumer.output.extend_from_slice(&self.interest.wire);
                let packet = self.consumer.output.get_mut(start..).unwrap_or_default();
                self.interest.number(packet, number, self.next as u32);
                self.next += 1;
            }
            self.totals.interests += room;
            worked = true;
        }
        Ok(self.consumer.write()? | worked)
    }
}
