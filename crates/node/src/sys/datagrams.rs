//! Datagrams in trains: one system call receives or sends many, and the kernel walks its stack once for all
//! those of a train, which have one sender or receiver and, but for the last, one size.
#![allow(unsafe_code, reason = "trains of datagrams have no safe interface")]

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};

use packet::{Buffer, SpareBuffer};

/// The most that a datagram of UDP over IPv4 carries.
pub(crate) const MAX_DATAGRAM_BYTES: usize = 65_507;
/// Slices that the bytes of one train may be in, which is what one call takes of each.
pub(crate) const MAX_TRAIN_SLICES: usize = 1024;
/// Trains that one call receives at most.
const RECEIVE_TRAINS: usize = 16;
/// Trains that one call sends at most.
pub(crate) const SEND_TRAINS: usize = 32;
/// Bytes that the largest train takes, and that make a round number with the counts before them.
pub(crate) const SLOT_BYTES: usize = 65_536 - 2 * size_of::<usize>();
/// A train with fewer bytes would waste the memory it is kept in.
const MIN_KEPT_BYTES: usize = SLOT_BYTES / 4 * 3;

/// Room for one control message that holds a number.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Receives trains, each into a piece of memory in which it may stay.
pub(crate) struct Receiver {
    slots: Vec<Slot>,
    names: Vec<libc::sockaddr_storage>,
    controls: Vec<Control>,
    trains: Vec<Received>,
}

enum Slot {
    /// Memory that nobody refers to.
    Spare(SpareBuffer),
    /// A train, to which others may refer.
    Kept(Buffer),
    /// Nothing yet, or no longer.
    Empty,
}

/// What was received: where it lies, who sent it, and where to cut it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Who sent it.
    pub(crate) from: SocketAddr,
    /// The size of all datagrams in it but the last, which may be smaller. Never zero.
    pub(crate) stride: usize,
    len: usize,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        // SAFETY: all bytes zero are a valid sockaddr_storage, of an unspecified family.
        let name: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        Receiver {
            slots: Vec::with_capacity(RECEIVE_TRAINS),
            names: vec![name; RECEIVE_TRAINS],
            controls: vec![Control([0; 64]); RECEIVE_TRAINS],
            trains: Vec::with_capacity(RECEIVE_TRAINS),
        }
    }

    /// Receives up to `most` trains; gives how many. They are valid until the next call.
    pub(crate) fn receive(&mut self, socket: &impl AsFd, most: usize) -> io::Result<usize> {
        self.receive_with(socket, most, || None)
    }

    /// The same, with memory of [`SLOT_BYTES`] from `spare`, or new, in the place of that in which trains
    /// were kept.
    pub(crate) fn receive_with(
        &mut self,
        socket: &impl AsFd,
        most: usize,
        spare: impl FnMut() -> Option<SpareBuffer>,
    ) -> io::Result<usize> {
        self.trains.clear();
        let most = most.clamp(1, RECEIVE_TRAINS);
        self.empty_slots(most, spare);
        let mut vectors = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; RECEIVE_TRAINS];
        // SAFETY: all bytes zero are a valid mmsghdr: null pointers with lengths of zero.
        let mut headers: [libc::mmsghdr; RECEIVE_TRAINS] = unsafe { std::mem::zeroed() };
        let slots = self.slots.iter_mut().take(most).zip(&mut self.names).zip(&mut self.controls);
        for (((slot, name), control), (vector, header)) in slots.zip(vectors.iter_mut().zip(&mut headers)) {
            let memory = match slot {
                Slot::Spare(spare) => spare.memory_mut(),
                Slot::Kept(_) | Slot::Empty => &mut [],
            };
            *vector = libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() };
            header.msg_hdr.msg_name = std::ptr::from_mut(name).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = control.0.len() as _;
        }
        // SAFETY: every header points to a name, a vector and a control buffer of the lengths it gives, all
        // of which outlive the call and are used by nothing else meanwhile; `most` is at most the
        // number of headers.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                headers.as_mut_ptr(),
                most as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for (header, name) in headers.iter().take(count).zip(&self.names) {
            let len = header.msg_len as usize;
            let stride = segment_size(&header.msg_hdr).filter(|&size| size > 0).unwrap_or(len);
            let from = read_address(name).unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)));
            self.trains.push(Received { from, stride: stride.max(1), len });
        }
        Ok(count)
    }

    /// How many trains like those received last make about so many bytes: at least two.
    pub(crate) fn trains_within(&self, bytes: usize) -> usize {
        let received: usize = self.trains.iter().map(|train| train.len).sum();
        let mean = received.checked_div(self.trains.len()).unwrap_or(SLOT_BYTES).max(1);
        (bytes / mean).clamp(2, RECEIVE_TRAINS)
    }

    /// Train number `index` of those received last.
    pub(crate) fn train(&self, index: usize) -> Option<(Received, &[u8])> {
        let train = *self.trains.get(index)?;
        let bytes = match self.slots.get(index)? {
            Slot::Spare(spare) => spare.memory(),
            Slot::Kept(kept) => kept,
            Slot::Empty => return None,
        };
        Some((train, bytes.get(..train.len)?))
    }

    /// The memory of train number `index`, for what is in it to stay there; `None` if it would be wasted on
    /// it.
    pub(crate) fn keep(&mut self, index: usize) -> Option<Buffer> {
        let train = *self.trains.get(index)?;
        if train.len < MIN_KEPT_BYTES {
            return None;
        }
        let slot = self.slots.get_mut(index)?;
        let kept = match std::mem::replace(slot, Slot::Empty) {
            Slot::Spare(spare) => spare.into_buffer(train.len),
            Slot::Kept(kept) => kept,
            Slot::Empty => return None,
        };
        *slot = Slot::Kept(kept.clone());
        Some(kept)
    }

    /// Has memory that nobody refers to in the first `count` slots.
    fn empty_slots(&mut self, count: usize, mut spare: impl FnMut() -> Option<SpareBuffer>) {
        self.slots.resize_with(self.slots.len().max(count), || Slot::Empty);
        for slot in self.slots.iter_mut().take(count) {
            let kept = match std::mem::replace(slot, Slot::Empty) {
                Slot::Spare(spare) => Some(spare),
                Slot::Kept(kept) => kept.reclaim(),
                Slot::Empty => None,
            };
            let memory = kept.or_else(&mut spare).unwrap_or_else(|| SpareBuffer::new(SLOT_BYTES));
            *slot = Slot::Spare(memory);
        }
    }
}

/// The size of the datagrams that the kernel joined, if it did.
fn segment_size(header: &libc::msghdr) -> Option<usize> {
    // SAFETY: the kernel filled the control buffer that the header points to and set its length;
    // CMSG_FIRSTHDR and CMSG_NXTHDR stay within it.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: not null, so it points to a whole control message header within the buffer.
        let (level, kind, len) =
            unsafe { ((*message).cmsg_level, (*message).cmsg_type, (*message).cmsg_len) };
        // SAFETY: it only computes a length.
        let needed = unsafe { libc::CMSG_LEN(size_of::<libc::c_int>() as libc::c_uint) };
        if (level, kind) == (libc::SOL_UDP, libc::UDP_GRO) && len >= needed as _ {
            // SAFETY: this message holds an int, by its length; the buffer may hold it at any alignment.
            let size = unsafe { std::ptr::read_unaligned(libc::CMSG_DATA(message).cast::<libc::c_int>()) };
            return usize::try_from(size).ok();
        }
        // SAFETY: as for the first header.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    None
}

/// Datagrams for one peer: all of `segment` bytes but the last, which may be smaller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Train<'a> {
    /// Who gets them.
    pub(crate) to: SocketAddr,
    /// All of them, one behind the other, in at most [`MAX_TRAIN_SLICES`] slices, wherever these are cut.
    pub(crate) slices: &'a [IoSlice<'a>],
    /// How many bytes that is.
    pub(crate) len_bytes: usize,
    /// The size of each, to cut them by.
    pub(crate) segment: usize,
}

impl Train<'_> {
    /// How many datagrams there are.
    pub(crate) fn datagrams(&self) -> usize {
        self.len_bytes.div_ceil(self.segment.max(1))
    }
}

/// Sends trains, up to [`SEND_TRAINS`] of them; gives how many went. An error is about the first, of which
/// nothing went.
pub(crate) fn send(socket: &impl AsFd, trains: &[Train<'_>]) -> io::Result<usize> {
    send_with(socket, trains, false)
}

/// The same, by a socket that may be connected to whom all of them are for, which spares the system looking
/// for the way.
pub(crate) fn send_with(socket: &impl AsFd, trains: &[Train<'_>], is_connected: bool) -> io::Result<usize> {
    if let [train] = trains {
        return send_one(socket, train, is_connected).map(|()| 1);
    }
    let mut names = [MaybeUninit::<libc::sockaddr_storage>::uninit(); SEND_TRAINS];
    let mut controls = [Control([0; 64]); SEND_TRAINS];
    // SAFETY: all bytes zero are a valid mmsghdr: null pointers with lengths of zero.
    let mut headers: [libc::mmsghdr; SEND_TRAINS] = unsafe { std::mem::zeroed() };
    let places = names.iter_mut().zip(&mut controls).zip(&mut headers);
    let mut count = 0;
    for (train, ((name, control), header)) in trains.iter().zip(places) {
        if !is_connected {
            header.msg_hdr.msg_namelen = write_address(name, train.to);
            header.msg_hdr.msg_name = name.as_mut_ptr().cast();
        }
        // An IoSlice is an iovec, by its documentation; and the kernel only reads what it sends.
        header.msg_hdr.msg_iov = train.slices.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_iovlen = train.slices.len() as _;
        if train.segment < train.len_bytes {
            set_segment_size(&mut header.msg_hdr, control, train.segment);
        }
        count += 1;
    }
    // SAFETY: each of the first `count` headers points to a name, to slices and perhaps to a control buffer
    // of the lengths it gives; all of them, and the bytes of the trains, outlive the call.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_fd().as_raw_fd(),
            headers.as_mut_ptr(),
            count,
            (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as _,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Sends one train: with less to prepare than for many.
fn send_one(socket: &impl AsFd, train: &Train<'_>, is_connected: bool) -> io::Result<()> {
    let mut name = MaybeUninit::<libc::sockaddr_storage>::uninit();
    let mut control = Control([0; 64]);
    // SAFETY: all bytes zero are a valid msghdr: null pointers with lengths of zero.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    if !is_connected {
        header.msg_namelen = write_address(&mut name, train.to);
        header.msg_name = name.as_mut_ptr().cast();
    }
    // An IoSlice is an iovec, by its documentation; and the kernel only reads what it sends.
    header.msg_iov = train.slices.as_ptr().cast_mut().cast();
    header.msg_iovlen = train.slices.len() as _;
    if train.segment < train.len_bytes {
        set_segment_size(&mut header, &mut control, train.segment);
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the header points to slices and perhaps to a name and a control buffer of the lengths it gives;
    // all of them, and the bytes of the train, outlive the call.
    let sent = unsafe { libc::sendmsg(socket.as_fd().as_raw_fd(), &raw const header, flags) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Adds the control message that has the kernel cut the train.
fn set_segment_size(header: &mut libc::msghdr, control: &mut Control, size: usize) {
    header.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: both only compute lengths.
    let (space, len) = unsafe { (libc::CMSG_SPACE(2), libc::CMSG_LEN(2)) };
    header.msg_controllen = space as _;
    // SAFETY: the control buffer is aligned for a header and longer than `space`, so there is a first one,
    // with room for two bytes behind it.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header);
        (*message).cmsg_level = libc::SOL_UDP;
        (*message).cmsg_type = libc::UDP_SEGMENT;
        (*message).cmsg_len = len as _;
        std::ptr::write_unaligned(libc::CMSG_DATA(message).cast::<u16>(), size as u16);
    }
}

fn write_address(name: &mut MaybeUninit<libc::sockaddr_storage>, address: SocketAddr) -> libc::socklen_t {
    match address {
        SocketAddr::V4(address) => {
            let written = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: address.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: a sockaddr_storage has room for, and the alignment of, every kind of address.
            unsafe { name.as_mut_ptr().cast::<libc::sockaddr_in>().write(written) };
            size_of::<libc::sockaddr_in>() as libc::socklen_t
        }
        SocketAddr::V6(address) => {
            let written = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: address.port().to_be(),
                sin6_flowinfo: address.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                sin6_scope_id: address.scope_id(),
            };
            // SAFETY: as above.
            unsafe { name.as_mut_ptr().cast::<libc::sockaddr_in6>().write(written) };
            size_of::<libc::sockaddr_in6>() as libc::socklen_t
        }
    }
}

fn read_address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let place = std::ptr::from_ref(name);
    match libc::c_int::from(name.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that this is what the kernel wrote; storage is large and aligned enough
            // for it.
            let read = unsafe { &*place.cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(read.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddr::V4(SocketAddrV4::new(ip, u16::from_be(read.sin_port))))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let read = unsafe { &*place.cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(read.sin6_addr.s6_addr);
            // The flow label is no part of who the peer is.
            Some(SocketAddr::V6(SocketAddrV6::new(ip, u16::from_be(read.sin6_port), 0, read.sin6_scope_id)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::sys::options;

    fn receive_all(receiver: &mut Receiver, socket: &UdpSocket, wanted: usize) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut datagrams = Vec::new();
        let deadline = Instant::now() + Duration::from_secs(5);
        while datagrams.len() < wanted && Instant::now() < deadline {
            let Ok(count) = receiver.receive(socket, 4) else { continue };
            for index in 0..count {
                let (train, bytes) = receiver.train(index).unwrap();
                datagrams.extend(bytes.chunks(train.stride).map(|datagram| (train.from, datagram.to_vec())));
            }
        }
        datagrams
    }

    fn trains_arrive_as_they_were_sent(local: &str, offload: bool) {
        let (near, far) = (UdpSocket::bind(local).unwrap(), UdpSocket::bind(local).unwrap());
        far.set_nonblocking(true).unwrap();
        if offload {
            let _ = options::receive_trains(&far);
        }
        let to = far.local_addr().unwrap();
        let bytes: Vec<u8> = (0..250u8).collect();
        let whole = [IoSlice::new(&bytes)];
        let pieces = [&bytes[..30], &bytes[30..101], &bytes[101..200]].map(IoSlice::new);
        let short = [IoSlice::new(&bytes[..7])];
        let trains = [
            Train { to, slices: &whole, len_bytes: 250, segment: 100 },
            Train { to, slices: &short, len_bytes: 7, segment: 7 },
            Train { to, slices: &pieces, len_bytes: 200, segment: 100 },
        ];
        assert_eq!(send(&near, &trains).unwrap(), 3);
        let mut receiver = Receiver::new();
        let received = receive_all(&mut receiver, &far, 6);
        let expected: Vec<_> =
            [&bytes[..100], &bytes[100..200], &bytes[200..], &bytes[..7], &bytes[..100], &bytes[100..200]]
                .map(|datagram| (near.local_addr().unwrap(), datagram.to_vec()))
                .into();
        assert_eq!(received, expected);
        assert_eq!(receiver.receive(&far, 4).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    /// A control message of this kind that says how long it is.
    fn size_told_by(kind: libc::c_int, len: usize) -> Option<usize> {
        let mut control = Control([0; 64]);
        // SAFETY: all bytes zero are a valid header without pointers.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = control.0.len() as _;
        // SAFETY: the buffer is aligned for a message header and has room for one with an int.
        unsafe {
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_UDP;
            (*message).cmsg_type = kind;
            (*message).cmsg_len = len as _;
            std::ptr::write_unaligned(libc::CMSG_DATA(message).cast::<libc::c_int>(), 1200);
        }
        segment_size(&header)
    }

    #[test]
    fn a_control_message_that_is_too_short_for_what_it_should_hold_is_not_read() {
        // SAFETY: it only computes a length.
        let whole = unsafe { libc::CMSG_LEN(4) } as usize;
        assert_eq!(size_told_by(libc::UDP_GRO, whole), Some(1200));
        assert_eq!(size_told_by(libc::UDP_SEGMENT, whole), None);
        for len in [0, 1, whole - 4, whole - 1] {
            assert_eq!(size_told_by(libc::UDP_GRO, len), None, "{len}");
        }
    }

    #[test]
    fn trains_arrive_with_their_boundaries_over_ipv4() {
        trains_arrive_as_they_were_sent("127.0.0.1:0", true);
        trains_arrive_as_they_were_sent("127.0.0.1:0", false);
    }

    #[test]
    fn trains_arrive_with_their_boundaries_over_ipv6() {
        if UdpSocket::bind("[::1]:0").is_ok() {
            trains_arrive_as_they_were_sent("[::1]:0", true);
        }
    }

    #[test]
    fn what_is_kept_of_a_train_stays_as_it_is_when_more_arrive() {
        let (near, far) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        far.set_nonblocking(true).unwrap();
        let to = far.local_addr().unwrap();
        let mut receiver = Receiver::new();
        let mut kept = Vec::new();
        for round in 0..5u8 {
            let bytes = vec![round; if round == 2 { 1000 } else { 60_000 }];
            near.send_to(&bytes, to).unwrap();
            let deadline = Instant::now() + Duration::from_secs(5);
            while receiver.receive_with(&far, 4, || None).is_err() && Instant::now() < deadline {}
            kept.push(receiver.keep(0));
            let (train, received) = receiver.train(0).unwrap();
            assert_eq!((train.stride, received), (bytes.len(), &bytes[..]));
        }
        for (round, kept) in (0..).zip(kept) {
            // A small one would waste the memory.
            assert_eq!(kept.is_some(), round != 2);
            assert!(kept.is_none_or(|kept| kept.len() == 60_000 && kept.iter().all(|&byte| byte == round)));
        }
    }

    #[test]
    fn a_train_that_the_kernel_refuses_is_an_error_about_the_first() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let bytes = vec![0; 70_000];
        let to = socket.local_addr().unwrap();
        let slices = [IoSlice::new(&bytes)];
        assert!(send(&socket, &[Train { to, slices: &slices, len_bytes: 70_000, segment: 70_000 }]).is_err());
    }
}
