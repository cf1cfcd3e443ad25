//! Takes packets from the interfaces of a namespace, by a packet socket, and counts what it misses.

use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use formats::pcapng::{Direction, Frame, Interface, Writer};
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimeout, ReceiveTimestampns, RxqOvfl};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg,
    setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};
use serde::{Deserialize, Serialize};

/// What waits between the kernel and this thread.
const KERNEL_BUFFER_BYTES: usize = 64 << 20;
const OUTGOING: u8 = 4;

/// What a tap saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapCounts {
    /// Frames that were written.
    pub frames: u64,
    /// Frames that came faster than they could be taken.
    pub dropped: u64,
}

/// A capture that runs.
#[derive(Debug)]
pub struct Tap {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<TapCounts>>,
}

/// What is captured.
#[derive(Debug, Clone)]
pub struct TapConfig {
    /// The file.
    pub file: PathBuf,
    /// What is captured of which interface; each has a place in the file.
    pub interfaces: Vec<TapInterface>,
    /// Bytes kept of each frame.
    pub snap_bytes: u32,
}

/// An interface, or the frames between it and one neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapInterface {
    /// Its name in the file.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// The only neighbour whose frames count; all when there is none.
    pub neighbour: Option<(Ipv4Addr, [u8; 6])>,
}

impl TapInterface {
    /// All of an interface.
    #[must_use]
    pub fn whole(name: &str, index: u32) -> Self {
        TapInterface { name: name.to_owned(), index, neighbour: None }
    }

    /// Does a frame that came or went by the interface `index` belong here?
    fn covers(&self, index: u32, frame: &[u8]) -> bool {
        let Some((address, ether)) = self.neighbour else { return self.index == index };
        let at = |from: usize, bytes: &[u8]| frame.get(from..from + bytes.len()) == Some(bytes);
        let is_ip = at(12, &[0x08, 0x00]);
        let is_theirs = if is_ip {
            at(26, &address.octets()) || at(30, &address.octets())
        } else {
            at(0, &ether) || at(6, &ether)
        };
        self.index == index && is_theirs
    }
}

/// Opens a packet socket in the calling thread's network namespace.
///
/// # Errors
///
/// When the kernel gives none.
pub fn open() -> io::Result<OwnedFd> {
    let fd = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll)?;
    setsockopt(&fd, ReceiveTimestampns, &true)?;
    setsockopt(&fd, RxqOvfl, &1)?;
    setsockopt(&fd, ReceiveTimeout, &TimeVal::milliseconds(50))?;
    // Without the right to a large buffer the usual one must do; what it drops is counted.
    let _ = setsockopt(&fd, RcvBufForce, &KERNEL_BUFFER_BYTES);
    Ok(fd)
}

impl Tap {
    /// Begins to capture what comes through the packet socket.
    ///
    /// # Errors
    ///
    /// When the file cannot be made.
    pub fn start(fd: OwnedFd, config: TapConfig) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let file = create(&config.file)?;
        let thread = std::thread::Builder::new()
            .name("capture".to_owned())
            .spawn(move || take(&fd, file, &config, &seen))?;
        Ok(Tap { stop, thread })
    }

    /// Ends the capture and says what it saw.
    ///
    /// # Errors
    ///
    /// When the file could not be written.
    pub fn stop(self) -> io::Result<TapCounts> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the capture's thread panicked")))
    }
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    Ok(BufWriter::with_capacity(1 << 20, File::create(path)?))
}

/// What the socket says of one frame.
struct FrameDetails {
    index: u32,
    direction: Direction,
    time_ns: u64,
    length: usize,
    /// Frames missed so far, as the kernel counts them.
    missed: Option<u32>,
}

fn take(fd: &OwnedFd, file: BufWriter<File>, config: &TapConfig, stop: &AtomicBool) -> io::Result<TapCounts> {
    let mut writer = Writer::new(file, "")?;
    for interface in &config.interfaces {
        let (name, snap_bytes) = (interface.name.as_str(), config.snap_bytes);
        writer.interface(&Interface { name, snap_bytes, ..Interface::default() })?;
    }
    let mut counts = TapCounts::default();
    let snap = usize::try_from(config.snap_bytes).unwrap_or(usize::MAX).min(64 << 10);
    let mut buffer = vec![0; snap.max(64)];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec, u32);
    let mut last_ns = 0;
    loop {
        let Some(seen) = receive(fd, &mut buffer, &mut control)? else {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            continue;
        };
        if let Some(missed) = seen.missed {
            counts.dropped = counts.dropped.max(u64::from(missed));
        }
        last_ns = seen.time_ns;
        let kept = buffer.get(..seen.length.min(snap)).unwrap_or_default();
        let place = config.interfaces.iter().position(|interface| interface.covers(seen.index, kept));
        if let Some(place) = place.and_then(|place| u32::try_from(place).ok()) {
            let length = u32::try_from(seen.length).unwrap_or(u32::MAX);
            let (time_ns, direction) = (seen.time_ns, Some(seen.direction));
            writer.frame(&Frame { interface: place, time_ns, direction, length, parts: &[kept] })?;
            counts.frames += 1;
        }
    }
    if !config.interfaces.is_empty() {
        writer.statistics(0, last_ns, counts.frames, counts.dropped)?;
    }
    writer.flush()?;
    Ok(counts)
}

/// The next frame, or nothing when none came for a while.
fn receive(fd: &OwnedFd, buffer: &mut [u8], control: &mut [u8]) -> io::Result<Option<FrameDetails>> {
    use nix::errno::Errno;
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<LinkAddr>(fd.as_raw_fd(), &mut slices, Some(control), MsgFlags::MSG_TRUNC);
    let message = match message {
        Ok(message) => message,
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut seen =
        FrameDetails { index: 0, direction: Direction::In, time_ns: 0, length: message.bytes, missed: None };
    if let Some(address) = message.address {
        seen.index = u32::try_from(address.ifindex()).unwrap_or(0);
        seen.direction = if address.pkttype() == OUTGOING { Direction::Out } else { Direction::In };
    }
    for part in message.cmsgs()? {
        match part {
            ControlMessageOwned::ScmTimestampns(time) => {
                let ns = time.num_nanoseconds();
                seen.time_ns = u64::try_from(ns).unwrap_or(0);
            }
            ControlMessageOwned::RxqOvfl(missed) => seen.missed = Some(missed),
            _ => {}
        }
    }
    Ok(Some(seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_links_over_one_interface_are_told_apart_by_the_neighbour() {
        let link = |last: u8| TapInterface {
            name: format!("to-{last}"),
            index: 3,
            neighbour: Some((Ipv4Addr::new(192, 0, 2, last), [2, 0, 0, 0, 0, last])),
        };
        let mut ip = vec![0; 34];
        ip[12] = 8;
        ip[30..34].copy_from_slice(&[192, 0, 2, 7]);
        assert!(link(7).covers(3, &ip) && !link(8).covers(3, &ip) && !link(7).covers(4, &ip));
        let mut ether = vec![0; 20];
        ether[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 8]);
        ether[12..14].copy_from_slice(&[0x86, 0x24]);
        assert!(link(8).covers(3, &ether) && !link(7).covers(3, &ether));
        assert!(TapInterface::whole("eth0", 3).covers(3, &[]));
    }
}
