//! Datagrams in trains: one system call takes or brings many, and the kernel walks its stack once for all of
//! them.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg, setsockopt, sockopt::UdpGroSegment,
};
use system::trains::{TrainLimits, TrainSize, refuses_segments};

/// A connected UDP socket that sends and receives trains.
#[derive(Debug)]
pub(crate) struct DatagramSocket {
    socket: UdpSocket,
    /// What leaves together; datagrams too large for a train turn out when one is refused.
    limits: TrainLimits,
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
        DatagramSocket { socket, limits: TrainLimits::KERNEL }
    }

    /// The first datagrams of these lengths that can leave together.
    pub(crate) fn train_of(&self, lengths: &VecDeque<usize>) -> Option<TrainSize> {
        self.limits.train_of(lengths.iter().copied())
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
        let is_about_segments = refuses_segments(error);
        if is_about_segments {
            self.limits.largest_datagram = self.limits.largest_datagram.min(stride.saturating_sub(1));
        }
        is_about_segments
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
    use nix::errno::Errno;

    use super::*;

    #[test]
    fn datagrams_of_a_size_that_was_refused_in_a_train_go_alone() {
        let mut datagrams = DatagramSocket::over(UdpSocket::bind("127.0.0.1:0").unwrap());
        let train_of = |datagrams: &DatagramSocket, lengths: [usize; 2]| {
            datagrams.train_of(&VecDeque::from(lengths)).map(|train| train.datagrams)
        };
        assert!(!datagrams.handle_uncut(100, &io::Error::from_raw_os_error(Errno::ENOBUFS as i32)));
        assert_eq!(train_of(&datagrams, [1400, 1400]), Some(2));
        assert!(datagrams.handle_uncut(1400, &io::Error::from_raw_os_error(Errno::EINVAL as i32)));
        assert_eq!(train_of(&datagrams, [1400, 1400]), Some(1));
        assert_eq!(train_of(&datagrams, [1399, 1399]), Some(2));
    }
}
