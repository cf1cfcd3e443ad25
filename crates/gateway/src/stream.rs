//! An object on its way to a client: fetched as fast as the client takes it, and no faster.
//!
//! A [`Stream`] drives its fetch only when it is asked for more. What the fetch brings waits in the fetch's
//! own buffer, which is bounded, and a full buffer asks for nothing: so a slow client slows the network down.
//! When the client goes away the stream is dropped, and with it the fetch and all that it asked for.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use client::AsyncClient;
use flow::{Discovery, FetchConfig, TransferConfig};
use hyper::body::Bytes;
use packet::Name;
use tokio::io::AsyncWrite;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

use crate::failure::Failure;
use crate::resolve::Extent;
use crate::transfers::{TrackedTransfer, Transfers};
use crate::trust_policy::TrustPolicy;

/// Bytes that are handed over to HTTP at once.
const HAND_OVER_BYTES: usize = 64 << 10;

/// How often a segment is asked for in vain. A browser asks again by itself, and people do not wait for
/// minutes.
const MAX_ATTEMPTS: u32 = 8;

/// What a stream needs to fetch.
#[derive(Clone, Debug)]
pub(crate) struct FetchContext {
    pub(crate) client: AsyncClient,
    pub(crate) trust_policy: TrustPolicy,
    pub(crate) object: Name,
    pub(crate) extent: Extent,
    /// Bytes of packets that a fetch may keep.
    pub(crate) buffer_bytes: usize,
    /// How long nothing may come.
    pub(crate) drought: Duration,
    /// Where it is told of.
    pub(crate) transfers: Arc<Transfers>,
}

/// A part of what is sent, one after the other.
#[derive(Clone, Debug)]
pub(crate) enum Chunk {
    /// What stands between parts.
    Text(Bytes),
    /// These bytes of the object, whose size is known.
    Part(RangeInclusive<u64>),
    /// All of an object of unknown size.
    All,
}

/// Between the fetch, which writes, and the stream, which reads; both run in one task.
#[derive(Debug)]
struct Pipe {
    /// Bytes to be passed over: a part need not begin where a segment does.
    skip: u64,
    /// Bytes still to come, if that is known.
    left: Option<u64>,
    queue: VecDeque<Bytes>,
    queued_bytes: usize,
}

struct Sink(Arc<Mutex<Pipe>>);

type Fetch = Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>;

/// The bytes of one response.
pub(crate) struct Stream {
    fetch_context: FetchContext,
    chunks: VecDeque<Chunk>,
    running: Option<(Fetch, Arc<Mutex<Pipe>>)>,
    /// What came before anything was sent.
    ready: Option<Bytes>,
    /// Bytes of all that is still to be sent, if that is known.
    left: Option<u64>,
    /// Runs while the client waits and nothing comes.
    drought: Option<Pin<Box<Sleep>>>,
    transfer: TrackedTransfer,
    /// One of those that may fetch at once.
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    pub(crate) fn new(fetch_context: FetchContext, chunks: Vec<Chunk>, permit: OwnedSemaphorePermit) -> Self {
        let left = chunks.iter().try_fold(0u64, |sum, chunk| {
            Some(match chunk {
                Chunk::Text(text) => sum + text.len() as u64,
                Chunk::Part(part) => sum + (part.end() - part.start() + 1),
                Chunk::All => return None,
            })
        });
        let transfer = fetch_context.transfers.begin(fetch_context.object.clone(), left);
        Stream {
            fetch_context,
            chunks: chunks.into(),
            running: None,
            ready: None,
            left,
            drought: None,
            transfer,
            _permit: permit,
        }
    }

    /// Bytes still to be sent, if that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.left
    }

    /// Waits for the first bytes and keeps them, so that what goes wrong at the beginning can still be told.
    pub(crate) async fn begin(&mut self) -> Result<&[u8], Failure> {
        if self.ready.is_none() {
            let first = std::future::poll_fn(|context| self.poll_next(context)).await;
            self.ready = first.transpose()?;
        }
        Ok(self.ready.as_deref().unwrap_or_default())
    }

    /// The next bytes; `None` at the end.
    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        let next = match self.ready.take() {
            Some(ready) => Poll::Ready(Some(Ok(ready))),
            None => self.poll_in_time(context),
        };
        if let Poll::Ready(Some(Ok(bytes))) = &next {
            self.transfer.sent(bytes.len());
            if let Some(left) = &mut self.left {
                *left = left.saturating_sub(bytes.len() as u64);
            }
        }
        next
    }

    fn poll_in_time(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        let next = self.poll_next(context);
        if next.is_ready() {
            self.drought = None;
            return next;
        }
        let longest = self.fetch_context.drought;
        let drought = self.drought.get_or_insert_with(|| Box::pin(tokio::time::sleep(longest)));
        match drought.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.chunks.clear();
                self.running = None;
                let words = format!("nothing more of {} came for {longest:?}", self.fetch_context.object);
                Poll::Ready(Some(Err(Failure::NoAnswer(words))))
            }
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        loop {
            let Some((fetch, pipe)) = &mut self.running else {
                match self.chunks.pop_front() {
                    None => return Poll::Ready(None),
                    Some(Chunk::Text(text)) => return Poll::Ready(Some(Ok(text))),
                    Some(Chunk::Part(part)) => self.running = Some(self.fetch_context.part(&part)),
                    Some(Chunk::All) => self.running = Some(self.fetch_context.all()),
                }
                continue;
            };
            if let Some(bytes) = locked(pipe).pop() {
                return Poll::Ready(Some(Ok(bytes)));
            }
            // Polled whenever the pipe is empty: a fetch that found it full need not be woken.
            match fetch.as_mut().poll(context) {
                Poll::Pending => match locked(pipe).pop() {
                    Some(bytes) => return Poll::Ready(Some(Ok(bytes))),
                    None => return Poll::Pending,
                },
                Poll::Ready(Err(failure)) => {
                    self.chunks.clear();
                    self.running = None;
                    return Poll::Ready(Some(Err(failure)));
                }
                Poll::Ready(Ok(())) => {
                    let (rest, missing) = {
                        let mut pipe = locked(pipe);
                        (std::mem::take(&mut pipe.queue), pipe.left.unwrap_or(0))
                    };
                    self.running = None;
                    for bytes in rest.into_iter().rev() {
                        self.chunks.push_front(Chunk::Text(bytes));
                    }
                    if missing > 0 {
                        self.chunks.clear();
                        let words = format!("{} ends {missing} bytes too early", self.fetch_context.object);
                        return Poll::Ready(Some(Err(Failure::NotTrusted(words))));
                    }
                }
            }
        }
    }
}

impl FetchContext {
    /// A fetch of some bytes.
    fn part(&self, part: &RangeInclusive<u64>) -> (Fetch, Arc<Mutex<Pipe>>) {
        let segment_bytes = match self.extent {
            Extent::Sized { segment_bytes, .. } => segment_bytes.max(1),
            _ => u64::MAX,
        };
        let (first, last) = (part.start() / segment_bytes, part.end() / segment_bytes);
        let config = FetchConfig { first_segment: first, end_segment: Some(last + 1), ..self.config() };
        let skip = part.start() % segment_bytes;
        self.fetch(config, skip, Some(part.end() - part.start() + 1))
    }

    /// A fetch of all segments up to the last, or of the one that is meant.
    fn all(&self) -> (Fetch, Arc<Mutex<Pipe>>) {
        let mut config = self.config();
        if let Extent::Segment(number) = self.extent {
            (config.first_segment, config.end_segment) = (number, Some(number.saturating_add(1)));
        }
        self.fetch(config, 0, None)
    }

    fn config(&self) -> FetchConfig {
        FetchConfig {
            discovery: Discovery::Unversioned,
            transfer: TransferConfig { max_attempts: MAX_ATTEMPTS, ..TransferConfig::default() },
            buffer_bytes: self.buffer_bytes,
            ..FetchConfig::default()
        }
    }

    fn fetch(&self, config: FetchConfig, skip: u64, left: Option<u64>) -> (Fetch, Arc<Mutex<Pipe>>) {
        let pipe = Arc::new(Mutex::new(Pipe { skip, left, queue: VecDeque::new(), queued_bytes: 0 }));
        let mut sink = Sink(pipe.clone());
        let (client, object) = (self.client.clone(), self.object.clone());
        let trust = self.trust_policy.object();
        let fetch = async move {
            client.get(&object, trust).config(config).write_to(&mut sink).await?;
            Ok(())
        };
        (Box::pin(fetch), pipe)
    }
}

fn locked(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pipe {
    fn pop(&mut self) -> Option<Bytes> {
        let bytes = self.queue.pop_front()?;
        self.queued_bytes -= bytes.len();
        Some(bytes)
    }

    /// Takes what is wanted of `bytes`; false if there is no room.
    fn push(&mut self, mut bytes: &[u8]) -> bool {
        if self.queued_bytes >= HAND_OVER_BYTES {
            return false;
        }
        let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
        bytes = bytes.get(skipped..).unwrap_or_default();
        self.skip -= skipped as u64;
        if let Some(left) = &mut self.left {
            let wanted = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
            bytes = bytes.get(..wanted).unwrap_or_default();
            *left -= wanted as u64;
        }
        if !bytes.is_empty() {
            self.queued_bytes += bytes.len();
            self.queue.push_back(Bytes::copy_from_slice(bytes));
        }
        true
    }
}

impl AsyncWrite for Sink {
    fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // The stream polls again when it has emptied the pipe.
        if locked(&self.0).push(bytes) { Poll::Ready(Ok(bytes.len())) } else { Poll::Pending }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_passes_on_what_is_wanted_and_takes_no_more_than_it_has_room_for() {
        let mut pipe = Pipe { skip: 5, left: Some(7), queue: VecDeque::new(), queued_bytes: 0 };
        assert!(pipe.push(b"012"));
        assert!(pipe.push(b"3456"));
        assert!(pipe.push(b"789abcdef"));
        let all: Vec<u8> = std::iter::from_fn(|| pipe.pop()).flatten().collect();
        assert_eq!((&all[..], pipe.left), (&b"56789ab"[..], Some(0)));
        let mut pipe = Pipe { skip: 0, left: None, queue: VecDeque::new(), queued_bytes: 0 };
        let taken = std::iter::repeat_with(|| pipe.push(&[0; 8000])).take_while(|taken| *taken).count();
        assert_eq!(taken, HAND_OVER_BYTES.div_ceil(8000));
        pipe.pop();
        assert!(pipe.push(&[0; 8000]));
    }
}
