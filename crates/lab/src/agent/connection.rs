//! A connection to a forwarder over its Unix socket: packets in, packets out, never waiting where there is
//! something to do.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use packet::ndn::lp::LpPacketView;
use packet::ndn::tlv;
use packet::{Buffer, Data, Dialect, Interest, LinkHeader, Packet, PitToken};

/// More bytes than this waiting to be sent make a sender hold back.
const MOST_WAITING_BYTES: usize = 4 << 20;
/// A peer whose packet is longer than this does not speak NDN.
const LONGEST_PACKET_BYTES: usize = 64 << 10;

/// A packet from the forwarder, and the token that is wanted back with the answer.
pub type Incoming = (Packet, PitToken);

/// A connection to a forwarder.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    inbox: Vec<u8>,
    taken: usize,
    outbox: VecDeque<u8>,
    /// Packets that made no sense.
    malformed: u64,
}

impl Connection {
    /// Connects, and tries again until `deadline` while the forwarder is not there yet.
    ///
    /// # Errors
    ///
    /// When nobody listens at `path` by the deadline.
    pub fn open(path: &Path, deadline: Instant) -> io::Result<Self> {
        loop {
            match UnixStream::connect(path) {
                Ok(stream) => {
                    stream.set_nonblocking(true)?;
                    let (inbox, outbox) = (Vec::new(), VecDeque::new());
                    return Ok(Connection { stream, inbox, taken: 0, outbox, malformed: 0 });
                }
                Err(error) if Instant::now() >= deadline => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Packets that made no sense.
    #[must_use]
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Is so much waiting that a sender should hold back?
    #[must_use]
    pub fn is_congested(&self) -> bool {
        self.outbox.len() > MOST_WAITING_BYTES
    }

    /// Queues an Interest.
    pub fn send_interest(&mut self, interest: &Interest) {
        self.outbox.extend(interest.wire().iter());
    }

    /// Queues an answer to an Interest that came with `token`.
    pub fn send_data(&mut self, data: &Data, token: &PitToken) {
        if token.is_none() {
            self.outbox.extend(data.wire().iter());
            return;
        }
        let header = LinkHeader { pit_token: token.clone(), ..LinkHeader::default() };
        let mut packet = LpPacketView::with_header(&header);
        packet.fragment = Some(data.wire());
        let mut frame = Vec::new();
        packet.encode(&mut frame);
        self.outbox.extend(frame);
    }

    /// Sends what can be sent now.
    ///
    /// # Errors
    ///
    /// When the forwarder is gone.
    pub fn flush(&mut self) -> io::Result<()> {
        while !self.outbox.is_empty() {
            let (front, _) = self.outbox.as_slices();
            match (&self.stream).write(front) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until something can be received, or sent when something waits, or `until` has come.
    ///
    /// # Errors
    ///
    /// When the socket cannot be waited for.
    pub fn wait(&self, until: Instant) -> io::Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        let mut events = PollFlags::POLLIN;
        if !self.outbox.is_empty() {
            events |= PollFlags::POLLOUT;
        }
        // Rounded up: waking early would spin until the moment has come.
        let left_ms = i32::try_from(left.as_micros().div_ceil(1000).min(1000)).unwrap_or(1000);
        let timeout = PollTimeout::try_from(left_ms).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(self.stream.as_fd(), events)], timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what has come.
    ///
    /// # Errors
    ///
    /// When the forwarder has closed the connection, or sends what is not NDN.
    pub fn receive(&mut self) -> io::Result<()> {
        if self.taken > 0 {
            self.inbox.drain(..self.taken);
            self.taken = 0;
        }
        let mut piece = [0; 64 << 10];
        match (&self.stream).read(&mut piece) {
            Ok(0) => {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, "the forwarder closed the connection"));
            }
            Ok(length) => self.inbox.extend_from_slice(piece.get(..length).unwrap_or_default()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The next whole packet that was read.
    ///
    /// # Errors
    ///
    /// When the bytes are not NDN, so that no later packet can be found either.
    pub fn next_packet(&mut self) -> io::Result<Option<Incoming>> {
        loop {
            let rest = self.inbox.get(self.taken..).unwrap_or_default();
            let Some(length) = packet_length(rest)? else { return Ok(None) };
            let Some(bytes) = rest.get(..length) else { return Ok(None) };
            let packet = Buffer::copy_from(bytes);
            self.taken += length;
            match decode(&packet) {
                Some(incoming) => return Ok(Some(incoming)),
                None => self.malformed += 1,
            }
        }
    }
}

/// The length of the packet that `bytes` begin with, once its head is there.
fn packet_length(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Ok((_, at)) = tlv::read_number(bytes, 0) else { return Ok(None) };
    let Ok((length, at)) = tlv::read_number(bytes, at) else { return Ok(None) };
    let length = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(at);
    if length > LONGEST_PACKET_BYTES {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("a packet of {length} bytes is not NDN")));
    }
    Ok(Some(length))
}

fn decode(frame: &Buffer) -> Option<Incoming> {
    let view = LpPacketView::decode(frame).ok()?;
    let packet = Packet::decode(Dialect::Ndn, frame.slice_of(view.fragment?)?, view.nack).ok()?;
    Some((packet, view.link_header().pit_token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_known_by_its_head_and_a_wrong_one_is_refused() {
        assert_eq!(packet_length(&[]).unwrap(), None);
        assert_eq!(packet_length(&[5]).unwrap(), None);
        assert_eq!(packet_length(&[5, 3, 1]).unwrap(), Some(5));
        assert_eq!(packet_length(&[6, 253, 1, 0]).unwrap(), Some(260));
        assert!(packet_length(&[6, 254, 1, 0, 0, 0]).is_err());
    }
}
