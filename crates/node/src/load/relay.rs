//! The bare relay: what arrives from one side leaves by the other, by the same system calls as a node's, and
//! nothing is looked at.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::fd::AsFd;

use rustix::event::epoll;

use super::exchange::{is_passing, socket};
use super::stream::set_nonblocking;
use crate::sys::datagrams::{Receiver, SEND_TRAINS, Train, send};
use crate::transport::stream_socket::StreamSocket;

/// Relays datagrams between the peer at `producer` and whoever else sends to `local`, until the process ends.
///
/// # Errors
/// A socket that fails.
pub fn relay_udp(local: SocketAddr, producer: SocketAddr) -> io::Result<()> {
    let socket = socket(local)?;
    let epoll = watch(&[&socket])?;
    let mut receiver = Receiver::new();
    let mut consumer = None;
    let mut events = Vec::with_capacity(8);
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        let count = match receiver.receive(&socket, 8) {
            Ok(count) => count,
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(error),
        };
        let mut slices = [IoSlice::new(&[]); SEND_TRAINS];
        let mut ways = [(producer, 0, 0); SEND_TRAINS];
        let mut ready = 0;
        for (train, bytes) in (0..count).filter_map(|index| receiver.train(index)) {
            let to = if train.from == producer {
                consumer
            } else {
                consumer = Some(train.from);
                Some(producer)
            };
            if let (Some(to), Some(slice), Some(way)) = (to, slices.get_mut(ready), ways.get_mut(ready)) {
                *slice = IoSlice::new(bytes);
                *way = (to, bytes.len(), train.stride);
                ready += 1;
            }
        }
        let mut trains = [Train { to: producer, slices: &[], len_bytes: 0, segment: 0 }; SEND_TRAINS];
        for (train, (slices, (to, len_bytes, segment))) in trains.iter_mut().zip(slices.chunks(1).zip(ways)) {
            *train = Train { to, slices, len_bytes, segment };
        }
        let mut rest = trains.get(..ready).unwrap_or_default();
        while !rest.is_empty() {
            let sent = send(&socket, rest).unwrap_or(1).max(1);
            rest = rest.get(sent..).unwrap_or_default();
        }
    }
}

/// Relays bytes between two connections until one of them ends.
///
/// # Errors
/// A socket that fails.
pub fn relay_streams(consumer: &StreamSocket, producer: &StreamSocket) -> io::Result<()> {
    set_nonblocking(consumer, false)?;
    set_nonblocking(producer, false)?;
    let epoll = watch(&[consumer, producer])?;
    let mut bytes = vec![0; 256 << 10];
    let mut events = Vec::with_capacity(8);
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let (mut from, mut to) =
                if event.data.u64() == 0 { (consumer, producer) } else { (producer, consumer) };
            match from.read(&mut bytes)? {
                0 => return Ok(()),
                read => to.write_all(bytes.get(..read).unwrap_or_default())?,
            }
        }
    }
}

fn watch(sources: &[&dyn AsFd]) -> io::Result<std::os::fd::OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (number, source) in sources.iter().enumerate() {
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&epoll, source.as_fd(), data, epoll::EventFlags::IN)?;
    }
    Ok(epoll)
}
