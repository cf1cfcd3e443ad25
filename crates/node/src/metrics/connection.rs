//! One connection to the server of metrics: a request as it comes, and how far its answer has been read.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use system::is_try_again;

use crate::origin::Origin;
use crate::transport::websocket::end_of_head;

/// How long a request may take, and how long it may wait for its page.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of an answer that must be read in each [`TIMEOUT`].
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of a request that are read; what matters stands in its first line.
pub(super) const MAX_REQUEST_BYTES: usize = 8192;

/// Somebody who has connected. The owner tells it when its stream is ready, gives it the page that it waits
/// for, and drops it when it has come to an end.
pub(super) struct Connection<S> {
    pub(super) stream: S,
    pub(super) origin: Origin,
    stage: Stage,
    until: Instant,
}

enum Stage {
    /// Says what it wants.
    Asking { request: Vec<u8> },
    /// Has asked for metrics.
    Waiting { wants_body: bool },
    /// Reads the answer: a head, and a page that others may read, too.
    Reading { head: Vec<u8>, page: Option<Page>, written: usize },
}

/// All metrics, as they were at one time.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// Pages are numbered as they are made.
    pub(super) number: u64,
    pub(super) text: Arc<str>,
}

/// How a visit has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// All of the answer has been written.
    Answered,
    /// The request was larger than any that makes sense; that was the answer.
    TooLarge,
    /// The other side has gone, or the connection broke.
    Left,
}

const TOO_LARGE: &str = "431 Request Header Fields Too Large";

impl<S: Read + Write> Connection<S> {
    pub(super) fn new(stream: S, origin: Origin, now: Instant) -> Self {
        Connection { stream, origin, stage: Stage::Asking { request: Vec::new() }, until: now + TIMEOUT }
    }

    /// When it has taken too long, unless it gets on before.
    pub(super) fn deadline(&self) -> Instant {
        self.until
    }

    /// What it waits for at its stream.
    pub(super) fn interest(&self) -> PollFlags {
        match self.stage {
            Stage::Asking { .. } => PollFlags::IN,
            Stage::Waiting { .. } => PollFlags::empty(),
            Stage::Reading { .. } => PollFlags::OUT,
        }
    }

    pub(super) fn is_asking(&self) -> bool {
        matches!(self.stage, Stage::Asking { .. })
    }

    pub(super) fn waits_for_page(&self) -> bool {
        matches!(self.stage, Stage::Waiting { .. })
    }

    /// The number of the page that it reads.
    pub(super) fn page_number(&self) -> Option<u64> {
        match &self.stage {
            Stage::Reading { page, .. } => page.as_ref().map(|page| page.number),
            _ => None,
        }
    }

    /// The stream can be read or written. A bounded number of bytes is moved.
    pub(super) fn handle_ready(&mut self, now: Instant) -> Option<End> {
        let step = match self.stage {
            Stage::Asking { .. } => self.listen(now),
            // Nothing was waited for: the stream has broken.
            Stage::Waiting { .. } => Ok(Some(End::Left)),
            Stage::Reading { .. } => self.talk(),
        };
        match step {
            Ok(end) => end,
            Err(error) if is_try_again(&error) => None,
            Err(_) => Some(End::Left),
        }
    }

    /// The page it has waited for is there.
    pub(super) fn give(&mut self, now: Instant, page: &Page) -> Option<End> {
        let Stage::Waiting { wants_body } = self.stage else { return None };
        let head = head("200 OK", page.text.len());
        let chunks = u32::try_from(page.text.len() / CHUNK_BYTES).unwrap_or(u32::MAX);
        self.until = now + TIMEOUT.saturating_mul(chunks.saturating_add(1));
        let page = wants_body.then(|| page.clone());
        self.stage = Stage::Reading { head, page, written: 0 };
        self.handle_ready(now)
    }

    fn listen(&mut self, now: Instant) -> io::Result<Option<End>> {
        let Stage::Asking { request } = &mut self.stage else { return Ok(None) };
        let mut read_now = [0; 1024];
        let read = self.stream.read(&mut read_now)?;
        let searched = request.len();
        request.extend_from_slice(read_now.get(..read).unwrap_or_default());
        let has_ended = end_of_head(request, searched).is_some();
        if !has_ended && read > 0 && request.len() < MAX_REQUEST_BYTES {
            return Ok(None);
        }
        if request.is_empty() {
            return Ok(Some(End::Left));
        }
        let request = std::mem::take(request);
        self.until = now + TIMEOUT;
        if !has_ended && request.len() >= MAX_REQUEST_BYTES {
            return self.refuse(TOO_LARGE, "A request has at most 8192 bytes here.\n");
        }
        let line = request.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        let mut words = line.split(|byte| *byte == b' ');
        match (words.next(), words.next()) {
            (Some(method @ (b"GET" | b"HEAD")), Some(b"/metrics" | b"/")) => {
                self.stage = Stage::Waiting { wants_body: method == b"GET" };
                Ok(None)
            }
            (Some(b"GET"), Some(_)) => self.refuse("404 Not Found", "Metrics are at /metrics.\n"),
            (Some(b"HEAD"), Some(_)) => self.refuse("404 Not Found", ""),
            _ => self.refuse("400 Bad Request", "This serves metrics at /metrics and nothing else.\n"),
        }
    }

    fn refuse(&mut self, status: &str, why: &str) -> io::Result<Option<End>> {
        let mut head = head(status, why.len());
        head.extend_from_slice(why.as_bytes());
        self.stage = Stage::Reading { head, page: None, written: 0 };
        self.talk()
    }

    fn talk(&mut self) -> io::Result<Option<End>> {
        let Stage::Reading { head, page, written } = &mut self.stage else { return Ok(None) };
        let body = page.as_ref().map_or(&[][..], |page| page.text.as_bytes());
        let left = match head.get(*written..).filter(|left| !left.is_empty()) {
            Some(left) => left,
            None => body.get(written.saturating_sub(head.len())..).unwrap_or_default(),
        };
        *written += self.stream.write(left.get(..CHUNK_BYTES).unwrap_or(left))?;
        if *written < head.len() + body.len() {
            return Ok(None);
        }
        let was_too_large = head.windows(TOO_LARGE.len()).any(|part| part == TOO_LARGE.as_bytes());
        Ok(Some(if was_too_large { End::TooLarge } else { End::Answered }))
    }
}

fn head(status: &str, bytes: usize) -> Vec<u8> {
    let kind = "Content-Type: text/plain; version=0.0.4; charset=utf-8";
    format!("HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n")
        .into_bytes()
}
