//! Datagrams in trains: one system call takes or brings many, and the kernel walks its stack once for all of
//! them.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg, setsockopt, sockopt::UdpGroSegment,
};

/// The most datagrams in one train that every kernel takes.
const MAX_TRAIN_DATAGRAMS: usize = 64;
/// The most bytes in one train: what fits into one IP packet, which a train is until it is cut.
const MAX_TRAIN_BYTES: usize = 65_000;

/// A connected UDP socket that sends and receives trains.
#[derive(Debug)]
pub(crate) struct DatagramSocket {
    socket: UdpSocket,
    /// Datagrams of more bytes go alone: the kernel would not cut a train of them, as it does not for those
    /// that IP has to break up.
    max_cut_bytes: usize,
}

/// What was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Train {
    /// Bytes in all.
    pub(crate) length: usize,
    /// Bytes of each datagram but the last, which may be smaller. Never zero.
    pub(crate) stride: usize,
}

impl DatagramSocket {
    /// Asks the kernel to hand over trains as they are; one that does not know how hands over datagrams.
    pub(crate) fn over(socket: UdpSocket) -> Self {
        let _ = setsockopt(&socket, UdpGroSegment, &true);
        DatagramSocket { socket, max_cut_bytes: MAX_TRAIN_BYTES }
    }

    /// How many of the datagrams of these lengths can leave together: of one length, but for the last.
    pub(crate) fn train_of(&self, lengths: &VecDeque<usize>) -> usize {
        let Some(&stride) = lengths.front().filter(|stride| **stride <= self.max_cut_bytes) else { return 1 };
        let mut bytes = 0;
        let mut count = 0;
        for &length in lengths.iter().take(MAX_TRAIN_DATAGRAMS) {
            bytes += length;
            if length > stride || bytes > MAX_TRAIN_BYTES {
                break;
            }
            count += 1;
            if length < stride {
                break;
            }
        }
        count.max(1)
    }

    /// Sends datagrams of `stride` bytes, the last of which may be smaller.
    pub(crate) fn send(&self, bytes: &[u8], stride: usize) -> io::Result<()> {
        let size = u16::try_from(stride).ok().filter(|_| stride < bytes.len());
        let cut: &[ControlMessage<'_>] = match &size {
            Some(size) => &[ControlMessage::UdpGsoSegments(size)],
            None => &[],
        };
        sendmsg::<()>(self.socket.as_raw_fd(), &[IoSlice::new(bytes)], cut, MsgFlags::empty(), None)?;
        Ok(())
    }

    /// Learns that a train of datagrams of `stride` bytes was not taken; says whether they may be taken one
    /// by one.
    pub(crate) fn handle_uncut(&mut self, stride: usize, error: &io::Error) -> bool {
        let cannot_cut = [Errno::EINVAL, Errno::EIO, Errno::EMSGSIZE]
            .iter()
            .any(|errno| error.raw_os_error() == Some(*errno as i32));
        if cannot_cut {
            self.max_cut_bytes = self.max_cut_bytes.min(stride.saturating_sub(1));
        }
        cannot_cut
    }

    /// Receives what came together.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<Train> {
        let mut control = nix::cmsg_space!(i32);
        let mut places = [IoSliceMut::new(buffer)];
        let received =
            recvmsg::<()>(self.socket.as_raw_fd(), &mut places, Some(&mut control), MsgFlags::empty())?;
        let length = received.bytes;
        let stride = received.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::UdpGroSegments(size) => usize::try_from(size).ok(),
            _ => None,
        });
        Ok(Train { length, stride: stride.unwrap_or(length).max(1) })
    }
}

impl AsFd for DatagramSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_has_one_length_but_for_its_end_and_fits_into_a_packet_of_ip() {
        let mut datagrams = DatagramSocket::over(UdpSocket::bind("127.0.0.1:0").unwrap());
        let train_of = |datagrams: &DatagramSocket, lengths: &[usize]| {
            datagrams.train_of(&lengths.iter().copied().collect())
        };
        for (lengths, expected) in [
            (&[][..], 1),
            (&[100], 1),
            (&[100, 100, 100], 3),
            (&[100, 100, 50, 50], 3),
            (&[50, 100], 1),
            (&[8800; 9], 7),
            (&[10; 100], MAX_TRAIN_DATAGRAMS),
        ] {
            assert_eq!(train_of(&datagrams, lengths), expected, "{lengths:?}");
        }
        assert!(datagrams.handle_uncut(1400, &io::Error::from_raw_os_error(Errno::EINVAL as i32)));
        assert!(!datagrams.handle_uncut(100, &io::Error::from_raw_os_error(Errno::ENOBUFS as i32)));
        assert_eq!(train_of(&datagrams, &[1400, 1400]), 1);
        assert_eq!(train_of(&datagrams, &[1399, 1399]), 2);
    }
}
