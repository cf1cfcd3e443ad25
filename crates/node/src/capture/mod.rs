//! Capture: frames of faces, by face and name, as pcapng that Wireshark opens.
//!
//! A node offers captures at a unix socket of its own, which only its user may open. Whoever connects says in
//! one line what to capture, and reads pcapng until it hangs up. [`Request`] is that line; `cairn capture` is
//! the client.

mod pcapng;
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};

use engine::FaceId;
use link::{Direction, FrameTap, TapVerdict};
use packet::AnyName;
use packet::time::Instant;
use thiserror::Error;

pub use pcapng::Writer;
pub(crate) use server::CaptureServer;

use crate::codec::Codec;

/// What stands before the reason where there is none to be had; a capture begins otherwise.
pub const REFUSED: &str = "refused: ";

/// What to capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// One face; all if not given, those that are yet to come included.
    pub face: Option<FaceId>,
    /// Packets with names under this one, of its dialect. A fragment has no name unless it is the first.
    pub prefix: Option<AnyName>,
}

/// A line that asks for no capture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a request for a capture: {0}")]
pub struct RequestError(String);

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("capture")?;
        if let Some(face) = self.face {
            write!(f, " face={face}")?;
        }
        match &self.prefix {
            Some(prefix) => write!(f, " prefix={prefix}"),
            None => Ok(()),
        }
    }
}

impl std::str::FromStr for Request {
    type Err = RequestError;

    fn from_str(line: &str) -> Result<Self, RequestError> {
        let bad = || RequestError(line.chars().take(100).collect());
        let mut words = line.split_whitespace();
        if words.next() != Some("capture") {
            return Err(bad());
        }
        let mut request = Request::default();
        for word in words {
            match word.split_once('=') {
                Some(("face", face)) => request.face = Some(FaceId(face.parse().map_err(|_| bad())?)),
                Some(("prefix", prefix)) => request.prefix = Some(prefix.parse().map_err(|_| bad())?),
                _ => return Err(bad()),
            }
        }
        Ok(request)
    }
}

/// A frame that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) face: FaceId,
    pub(crate) remote: Arc<str>,
    pub(crate) direction: Direction,
    pub(crate) at: Instant,
    pub(crate) frame: Vec<u8>,
}

/// Sees the frames of one face and passes copies on, as long as somebody keeps up with them.
pub(crate) struct CaptureTap {
    pub(crate) face: FaceId,
    pub(crate) remote: Arc<str>,
    pub(crate) dialect: packet::Dialect,
    pub(crate) prefix: Option<AnyName>,
    pub(crate) frames: SyncSender<Captured>,
    /// Frames that nobody had time for.
    pub(crate) missed: Arc<AtomicU64>,
}

impl FrameTap for CaptureTap {
    fn on_frame(&mut self, now: Instant, direction: Direction, frame: &mut Vec<u8>) -> TapVerdict {
        let wanted = match &self.prefix {
            None => true,
            Some(prefix) if prefix.dialect != self.dialect => false,
            Some(prefix) => Codec::name_in(self.dialect, frame)
                .is_some_and(|name| name.starts_with(prefix.name.canonical())),
        };
        if wanted {
            let captured = Captured {
                face: self.face,
                remote: self.remote.clone(),
                direction,
                at: now,
                frame: frame.clone(),
            };
            if let Err(TrySendError::Full(_)) = self.frames.try_send(captured) {
                self.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
        TapVerdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_as_it_is_written() {
        for line in [
            "capture",
            "capture face=256",
            "capture prefix=/a/b",
            "capture face=300 prefix=/lab/x",
            "capture prefix=ccnx:/a/b",
        ] {
            assert_eq!(line.parse::<Request>().unwrap().to_string(), line);
        }
        for line in ["", "captures", "capture face=x", "capture color=red", "capture face=1 extra"] {
            assert!(line.parse::<Request>().is_err(), "{line}");
        }
    }
}
