//! Ethernet frames without IP (AF_PACKET), received by way of a ring of memory that the kernel shares, so
//! that a burst costs one system call or none.
#![allow(unsafe_code, reason = "a packet ring has no safe interface")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use super::ring_slots::{HEADER_BYTES, ReceivedFrame, RingSlots};
use crate::drop_reason::{DropCounters, DropReason};
use crate::face_uri::MacAddress;

/// Slots of the ring, and the memory that they may take together.
const MAX_SLOTS: usize = 1024;
const MAX_RING_BYTES: usize = 16 << 20;
/// Slots that the kernel keeps together.
const BLOCK_BYTES: usize = 1 << 18;
/// Bytes of payload below which a frame is filled up with zeros.
const MIN_PAYLOAD_BYTES: usize = 46;

/// A socket for frames of one type on one interface.
pub(crate) struct PacketRing {
    socket: OwnedFd,
    slots: RingSlots,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to the thread that made it.
unsafe impl Send for PacketRing {}

impl AsFd for PacketRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl PacketRing {
    /// Opens a socket for frames of `ethertype` on the interface with this index.
    pub(crate) fn open(ethertype: u16, interface: u32, mtu_bytes: usize) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: plain numbers; type 0 receives nothing until the socket is bound.
        let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened and belongs to nobody else.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        option(&socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        // The kernel's header, room for alignment, and the frame; a power of two, so that blocks hold whole
        // slots.
        let slot_bytes = (128 + HEADER_BYTES + mtu_bytes).next_power_of_two().clamp(2048, BLOCK_BYTES);
        let slots = MAX_SLOTS.min(MAX_RING_BYTES / slot_bytes);
        let blocks = slots * slot_bytes / BLOCK_BYTES;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as libc::c_uint,
            tp_block_nr: blocks as libc::c_uint,
            tp_frame_size: slot_bytes as libc::c_uint,
            tp_frame_nr: slots as libc::c_uint,
        };
        option(&socket, libc::PACKET_RX_RING, &request)?;
        let length = blocks * BLOCK_BYTES;
        // SAFETY: a new shared mapping of the ring that was just set up, of exactly its length.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        let memory = NonNull::new(memory).filter(|memory| memory.as_ptr() != libc::MAP_FAILED);
        let memory = memory.ok_or_else(io::Error::last_os_error)?.cast();
        // SAFETY: the mapping is zero at first and has this size, which is that of its slots; it begins with
        // a page, slots are multiples of 2,048 bytes; it is unmapped when the ring is dropped. Only
        // the kernel writes to it.
        let ring = PacketRing { socket, slots: unsafe { RingSlots::new(memory, slot_bytes, slots) }, length };
        ring.bind(ethertype, interface)?;
        Ok(ring)
    }

    fn bind(&self, ethertype: u16, interface: u32) -> io::Result<()> {
        // SAFETY: all bytes zero are a valid address without an interface.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_protocol = ethertype.to_be();
        address.sll_ifindex = interface as libc::c_int;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the kernel reads an address of the length given.
        let outcome = unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) };
        if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Receives what is sent to a group, too.
    pub(crate) fn join(&self, interface: u32, group: MacAddress) -> io::Result<()> {
        let mut address = [0; 8];
        address[..6].copy_from_slice(&group.0);
        let request = libc::packet_mreq {
            mr_ifindex: interface as libc::c_int,
            mr_type: libc::PACKET_MR_MULTICAST as libc::c_ushort,
            mr_alen: 6,
            mr_address: address,
        };
        option(&self.socket, libc::PACKET_ADD_MEMBERSHIP, &request)
    }

    /// The error of the socket, which is none afterwards.
    pub(crate) fn take_error(&self) -> io::Result<()> {
        Ok(rustix::net::sockopt::socket_error(&self.socket)??)
    }

    /// Shows the next frame to `visit`; false if there is none.
    pub(crate) fn receive(&mut self, visit: impl FnOnce(ReceivedFrame<'_>)) -> bool {
        self.slots.receive(visit)
    }

    /// Counts what did not come through since this was last asked.
    pub(crate) fn note_losses(&mut self, drops: &mut DropCounters) {
        let losses = self.slots.take_losses();
        drops.add(DropReason::Truncated, losses.truncated);
        drops.add(DropReason::OtherNetwork, losses.tagged);
        drops.add(DropReason::RingOverrun, losses.overruns);
    }

    /// Sends one frame.
    pub(crate) fn send(
        &self,
        from: MacAddress,
        to: MacAddress,
        ethertype: u16,
        payload: [&[u8]; 2],
        spare: &mut Vec<u8>,
    ) -> io::Result<()> {
        spare.clear();
        spare.extend_from_slice(&to.0);
        spare.extend_from_slice(&from.0);
        spare.extend_from_slice(&ethertype.to_be_bytes());
        spare.extend(payload.iter().copied().flatten());
        spare.resize(spare.len().max(HEADER_BYTES + MIN_PAYLOAD_BYTES), 0);
        let flags = rustix::net::SendFlags::DONTWAIT;
        rustix::net::send(&self.socket, spare, flags)?;
        Ok(())
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and no slice of it outlives a call of `receive`.
        unsafe { libc::munmap(self.slots.as_ptr().cast(), self.length) };
    }
}

/// Sets an option of packet sockets.
fn option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of `value`, which is borrowed.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            length,
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
