//! What a consumer sends and receives by: datagrams, or a stream with one element after another.

use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use packet::ndn::lp::LpPacketView;
use packet::ndn::{DataView, InterestView, types};

use super::SEAL;

/// The most that waits to be written to a stream; who cannot write more has lost his packet.
const MAX_WAITING: usize = 64 << 10;

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The content that the producer made for this number.
    Good(u64),
    /// Something else under its name.
    Forged(u64),
    /// The Interest came back.
    Nack(u64),
}

/// One end of a connection to a forwarder.
#[derive(Debug)]
pub(crate) enum Line {
    /// Each frame is a datagram.
    Datagrams(UdpSocket),
    /// One over a unix socket.
    Unix(UnixStream, StreamBuffers),
    /// One over TCP.
    Tcp(TcpStream, StreamBuffers),
}

/// What a stream has not yet given up or taken.
#[derive(Debug, Default)]
pub(crate) struct StreamBuffers {
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

impl Line {
    pub(crate) fn udp(local: SocketAddr, peer: SocketAddr) -> io::Result<Line> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(peer)?;
        socket.set_nonblocking(true)?;
        Ok(Line::Datagrams(socket))
    }

    pub(crate) fn unix(path: &Path) -> io::Result<Line> {
        let stream = UnixStream::connect(path)?;
        stream.set_nonblocking(true)?;
        Ok(Line::Unix(stream, StreamBuffers::default()))
    }

    pub(crate) fn tcp(stream: TcpStream) -> io::Result<Line> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Line::Tcp(stream, StreamBuffers::default()))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Line::Datagrams(socket) => socket.as_fd(),
            Line::Unix(stream, _) => stream.as_fd(),
            Line::Tcp(stream, _) => stream.as_fd(),
        }
    }

    /// Sends a frame; false if there was no room for it.
    pub(crate) fn send(&mut self, frame: &[u8]) -> bool {
        match self {
            Line::Datagrams(socket) => socket.send(frame).is_ok(),
            Line::Unix(stream, waiting) => waiting.send(stream, frame),
            Line::Tcp(stream, waiting) => waiting.send(stream, frame),
        }
    }

    /// Takes what has come.
    ///
    /// # Errors
    /// The connection is closed.
    pub(crate) fn receive(&mut self, mut take: impl FnMut(Answer)) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        loop {
            let read = match self {
                Line::Datagrams(socket) => socket.recv(&mut buffer),
                Line::Unix(stream, _) => stream.read(&mut buffer),
                Line::Tcp(stream, _) => stream.read(&mut buffer),
            };
            let bytes = match read {
                Ok(length) => buffer.get(..length).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // A datagram that found nobody.
                Err(_) if matches!(self, Line::Datagrams(_)) => return Ok(()),
                Err(error) => return Err(error),
            };
            match self {
                Line::Datagrams(_) => {
                    let frame = LpPacketView::decode(bytes);
                    frame.ok().and_then(|frame| read_frame(&frame)).into_iter().for_each(&mut take);
                }
                _ if bytes.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                Line::Unix(_, waiting) | Line::Tcp(_, waiting) => waiting.take(bytes, &mut take),
            }
        }
    }
}

impl StreamBuffers {
    fn send(&mut self, mut stream: impl io::Write, frame: &[u8]) -> bool {
        let fits = self.outgoing.len() + frame.len() <= MAX_WAITING;
        if fits {
            self.outgoing.extend_from_slice(frame);
        }
        if let Ok(written) = stream.write(&self.outgoing) {
            self.outgoing.drain(..written);
        }
        fits
    }

    fn take(&mut self, bytes: &[u8], take: &mut impl FnMut(Answer)) {
        self.incoming.extend_from_slice(bytes);
        let mut used = 0;
        while let Ok((frame, length)) =
            LpPacketView::decode_first(self.incoming.get(used..).unwrap_or_default())
        {
            read_frame(&frame).into_iter().for_each(&mut *take);
            used += length;
        }
        self.incoming.drain(..used);
    }
}

/// What a frame says to somebody who asks for numbers. An Interest that comes back as it went out is an
/// echo's answer.
fn read_frame(frame: &LpPacketView<'_>) -> Option<Answer> {
    let fragment = frame.fragment?;
    if u32::from(*fragment.first()?) == types::DATA {
        let data = DataView::decode(fragment).ok()?;
        let number = data.name().last()?.number()?;
        let good = data.content().strip_prefix(SEAL) == Some(&number.to_be_bytes());
        return Some(if good { Answer::Good(number) } else { Answer::Forged(number) });
    }
    let number = InterestView::decode(fragment).ok()?.name().last()?.number()?;
    Some(if frame.nack.is_some() { Answer::Nack(number) } else { Answer::Good(number) })
}

#[cfg(test)]
mod tests {
    use packet::NackReason;
    use packet::ndn::DataBuilder;

    use super::*;
    use crate::wire::{Template, numbered};

    fn data(number: u64, content: Vec<u8>) -> Vec<u8> {
        let name = numbered("/a", number).unwrap();
        DataBuilder::new(name).content(content).build_with_digest().unwrap().wire().to_vec()
    }

    fn read(frame: &[u8]) -> Option<Answer> {
        read_frame(&LpPacketView::decode(frame).unwrap())
    }

    #[test]
    fn only_the_producers_own_content_is_a_good_answer() {
        let good = [SEAL, &7u64.to_be_bytes()].concat();
        assert_eq!(read(&data(7, good.clone())), Some(Answer::Good(7)));
        assert_eq!(read(&data(8, good)), Some(Answer::Forged(8)));
        assert_eq!(read(&data(7, b"anything".to_vec())), Some(Answer::Forged(7)));
    }

    #[test]
    fn a_nack_is_no_answer() {
        let interest = Template::interest("/a", |interest| interest).unwrap();
        let nack = Template::nack(&interest, NackReason::Congestion).stamp(5, 1);
        assert_eq!(read(&nack), Some(Answer::Nack(5)));
    }

    #[test]
    fn frames_of_a_stream_are_found_wherever_it_is_cut() {
        let stream = [data(1, vec![]), data(2, vec![0; 300]), data(3, vec![])].concat();
        for cut in 0..stream.len() {
            let mut waiting = StreamBuffers::default();
            let mut found = Vec::new();
            for part in [&stream[..cut], &stream[cut..]] {
                waiting.take(part, &mut |answer| found.push(answer));
            }
            assert_eq!(found, [1, 2, 3].map(Answer::Forged), "cut at {cut}");
        }
    }
}
