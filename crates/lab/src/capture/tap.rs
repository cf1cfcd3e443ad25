//! Takes packets from the interfaces of a namespace, by a packet socket, and counts what it misses.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimeout, ReceiveTimestampns, RxqOvfl};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg,
    setsockopt, socket,
};
use nix::sys::time::{TimeVal, TimeValLike};
use serde::{Deserialize, Serialize};

use super::pcapng::{Direction, Writer};

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
    /// The interfaces' names and indices.
    pub interfaces: Vec<(String, u32)>,
    /// Bytes kept of each frame.
    pub snap_bytes: u32,
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
struct Seen {
    index: u32,
    direction: Direction,
    time_ns: u64,
    length: usize,
    /// Frames missed so far, as the kernel counts them.
    missed: Option<u32>,
}

fn take(fd: &OwnedFd, file: BufWriter<File>, config: &TapConfig, stop: &AtomicBool) -> io::Result<TapCounts> {
    let names: Vec<&str> = config.interfaces.iter().map(|(name, _)| name.as_str()).collect();
    let places: BTreeMap<u32, u32> =
        config.interfaces.iter().zip(0u32..).map(|((_, index), place)| (*index, place)).collect();
    let mut writer = Writer::new(file, &names, config.snap_bytes)?;
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
        if let Some(place) = places.get(&seen.index) {
            let kept = buffer.get(..seen.length.min(snap)).unwrap_or_default();
            let length = u32::try_from(seen.length).unwrap_or(u32::MAX);
            writer.frame(*place, seen.time_ns, seen.direction, length, kept)?;
            counts.frames += 1;
        }
    }
    if !places.is_empty() {
        writer.statistics(0, last_ns, counts.frames, counts.dropped)?;
    }
    writer.flush()?;
    Ok(counts)
}

/// The next frame, or nothing when none came for a while.
fn receive(fd: &OwnedFd, buffer: &mut [u8], control: &mut [u8]) -> io::Result<Option<Seen>> {
    use nix::errno::Errno;
    let mut slices = [IoSliceMut::new(buffer)];
    let message = recvmsg::<LinkAddr>(fd.as_raw_fd(), &mut slices, Some(control), MsgFlags::MSG_TRUNC);
    let message = match message {
        Ok(message) => message,
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut seen =
        Seen { index: 0, direction: Direction::In, time_ns: 0, length: message.bytes, missed: None };
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
