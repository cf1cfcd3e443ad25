//! A link's connection to the forwarder: a stream of messages that are wrapped as for a link adapter.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use packet::Buffer;
use packet::ccnx::pdu::{unwrap_pdu, wrap_pdu};
use packet::ccnx::{MAX_MESSAGE_BYTES, message_len};

/// Bytes that wait until the forwarder takes them; what comes beyond is dropped, as on any link.
const MAX_WAITING_BYTES: usize = 4 << 20;
/// Bytes that are read in one turn.
const READ_BYTES: usize = 1 << 16;

/// The stream.
pub(super) struct ForwarderFace {
    stream: OwnedFd,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// How much of `outgoing` is sent.
    sent: usize,
    dropped: u64,
}

impl ForwarderFace {
    /// Over a stream on which the forwarder has been told that it is a link adapter's. `incoming` has come
    /// already.
    pub(super) fn new(stream: OwnedFd, incoming: Vec<u8>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&stream, true)?;
        Ok(ForwarderFace { stream, incoming, outgoing: Vec::new(), sent: 0, dropped: 0 })
    }

    /// Shows every message that has come to `visit`.
    ///
    /// # Errors
    /// The forwarder has closed the stream, or what comes is not its language.
    pub(super) fn receive(&mut self, mut visit: impl FnMut(Buffer)) -> io::Result<()> {
        let mut piece = vec![0; READ_BYTES];
        match rustix::io::read(&self.stream, &mut piece[..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => self.incoming.extend_from_slice(piece.get(..len).unwrap_or_default()),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let mut rest = &self.incoming[..];
        let malformed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        while let Some(len) = message_len(rest).map_err(malformed)? {
            let (wrapped, behind) = rest.split_at(len);
            // Until the forwarder knows what it speaks to, it wraps nothing.
            for message in messages(unwrap_pdu(wrapped).unwrap_or(wrapped)) {
                visit(Buffer::copy_from(message));
            }
            rest = behind;
        }
        if rest.len() > 2 * MAX_MESSAGE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message without end"));
        }
        self.incoming.drain(..self.incoming.len() - rest.len());
        Ok(())
    }

    /// Has a message sent; one that is not whole, as from a faulty neighbour, is dropped.
    pub(super) fn send(&mut self, message: &[u8]) {
        let is_whole = matches!(message_len(message), Ok(Some(len)) if len == message.len());
        if !is_whole || self.outgoing.len() - self.sent + message.len() > MAX_WAITING_BYTES {
            self.dropped += 1;
            return;
        }
        self.outgoing.extend_from_slice(&wrap_pdu(message));
    }

    /// Writes what the stream takes.
    ///
    /// # Errors
    /// The forwarder has closed the stream.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.outgoing.len() {
            let rest = self.outgoing.get(self.sent..).unwrap_or_default();
            match rustix::net::send(&self.stream, rest, rustix::net::SendFlags::NOSIGNAL) {
                Ok(len) => self.sent += len,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.outgoing.drain(..self.sent);
        self.sent = 0;
        Ok(())
    }

    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Messages that were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The messages that stand one after the other.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let len = message_len(bytes).ok().flatten().filter(|len| *len > 0)?;
        let (message, rest) = bytes.split_at_checked(len)?;
        bytes = rest;
        Some(message)
    })
}
