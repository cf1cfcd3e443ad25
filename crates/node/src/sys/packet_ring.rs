//! Ethernet frames without IP (AF_PACKET), received by way of a ring of memory that the kernel shares, so that a burst costs one
//! system call or none.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::control::MacAddress;

/// Slots of the ring, and the memory that they may take together.
const MAX_SLOTS: usize = 1024;
const MAX_RING_BYTES: usize = 16 << 20;
/// Slots that the kernel keeps together.
const BLOCK_BYTES: usize = 1 << 18;
/// Bytes of the header of a frame: both addresses and the type.
pub(crate) const HEADER_BYTES: usize = 14;
/// Bytes of payload below which a frame is filled up with zeros.
const MIN_PAYLOAD_BYTES: usize = 46;

/// A socket for frames of one type on one interface.
pub(crate) struct PacketRing {
    socket: OwnedFd,
    memory: *mut u8,
    length: usize,
    slot_bytes: usize,
    slots: usize,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone and is not tied to the thread that made it.
unsafe impl Send for PacketRing {}

/// A frame that arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReceivedFrame<'a> {
    pub(crate) from: MacAddress,
    pub(crate) to: MacAddress,
    /// What follows the header, padding included.
    pub(crate) payload: &'a [u8],
}

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
        // The kernel's header, room for alignment, and the frame; a power of two, so that blocks hold whole slots.
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
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = PacketRing { socket, memory: memory.cast(), length, slot_bytes, slots, next: 0 };
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

    /// Shows the next frame to `visit`; false if there is none.
    pub(crate) fn receive(&mut self, visit: impl FnOnce(ReceivedFrame<'_>)) -> bool {
        let offset = self.next * self.slot_bytes;
        debug_assert!(offset + self.slot_bytes <= self.length);
        // SAFETY: the slot lies within the mapping, which lives as long as `self`.
        let slot = unsafe { self.memory.add(offset) };
        // SAFETY: each slot begins with a header whose first word is the status; slots are aligned to 2,048 bytes. Kernel and process
        // hand the slot to each other by this word, so it is read and written atomically.
        let status = unsafe { AtomicU32::from_ptr(slot.cast()) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the status says that the kernel has filled in the header and leaves the slot alone.
        let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
        let start = usize::from(header.tp_mac).min(self.slot_bytes);
        let length = (header.tp_snaplen as usize).min(self.slot_bytes - start);
        // SAFETY: within the slot by the two lines above, initialised by the kernel, and not changed until the status is given back.
        let frame = unsafe { std::slice::from_raw_parts(slot.add(start), length) };
        if let (Some(to), Some(from), Some(payload)) =
            (frame.first_chunk::<6>(), frame.get(6..12), frame.get(HEADER_BYTES..))
            && let Ok(from) = from.try_into()
        {
            visit(ReceivedFrame { from: MacAddress(from), to: MacAddress(*to), payload });
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.slots;
        true
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
        unsafe { libc::munmap(self.memory.cast(), self.length) };
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
