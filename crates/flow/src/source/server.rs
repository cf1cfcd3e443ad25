//! Serving a source: counts what was answered, and knows when it is over.

use packet::time::{Duration, Instant};
use packet::{Interest, LinkHeader, Packet};
use thiserror::Error;

use super::{Reply, Source, SourceError};

/// How long a source is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// Until so many Data have been given; `None` for any number.
    pub max_data: Option<u64>,
    /// Until nobody has asked for so long.
    pub idle: Option<Duration>,
    /// Until then, whatever happens.
    pub until: Option<Instant>,
}

/// What a server has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeCounters {
    /// Interests that came.
    pub interests: u64,
    /// Data given.
    pub data: u64,
    /// Bytes of content in them.
    pub content_bytes: u64,
    /// Interests sent back.
    pub nacks: u64,
    /// Interests that the source left unanswered.
    pub unanswered: u64,
    /// Interests that were about something else.
    pub not_mine: u64,
}

/// Serves a source.
///
/// # Calling order
/// Give it each Interest ([`Server::handle_interest`]) and send what it says, until [`Server::is_over`];
/// whether it is may change when [`Server::next_deadline`] has come.
#[derive(Debug)]
pub struct Server<S> {
    source: S,
    config: ServerConfig,
    counters: ServeCounters,
    asked_at: Instant,
}

impl ServeCounters {
    /// Counts an Interest that was answered so.
    #[inline]
    fn count(&mut self, reply: &Reply) {
        match reply {
            Reply::Data(data) => {
                self.data += 1;
                self.content_bytes += data.content().len() as u64;
            }
            Reply::Nack(_) => self.nacks += 1,
            Reply::NoReply => self.unanswered += 1,
            Reply::NotMine => self.not_mine += 1,
        }
    }
}

impl<S: Source> Server<S> {
    /// Serves `source` from `now` on.
    pub fn new(source: S, config: ServerConfig, now: Instant) -> Self {
        Server { source, config, counters: ServeCounters::default(), asked_at: now }
    }

    /// What answers an Interest.
    ///
    /// # Errors
    /// The source cannot go on.
    #[inline]
    pub fn handle_interest(&mut self, now: Instant, interest: &Interest) -> Result<Reply, SourceError> {
        self.asked_at = now;
        self.counters.interests += 1;
        // It stays where the source has put it: it is large, and some are asked millions of times.
        let reply = self.source.answer(interest);
        if let Ok(reply) = &reply {
            self.counters.count(reply);
        }
        reply
    }

    /// Whether all that was to be served has been.
    pub fn is_over(&self, now: Instant) -> bool {
        self.next_deadline() <= now || self.config.max_data.is_some_and(|most| self.counters.data >= most)
    }

    /// When it will be over if nobody asks; [`Instant::NEVER`] for never.
    pub fn next_deadline(&self) -> Instant {
        let idle = self.config.idle.map_or(Instant::NEVER, |idle| self.asked_at + idle);
        self.config.until.map_or(idle, |until| until.min(idle))
    }

    /// What it has done.
    pub fn counters(&self) -> &ServeCounters {
        &self.counters
    }

    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The source, to be asked for something else than an answer.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }
}

/// Carries Interests to a [`Server`] and its answers back: a connection to a forwarder, or a face inside one.
pub trait AppFace {
    /// Why it can carry no more.
    type Error;

    /// The time by the face's clock.
    fn now(&self) -> Instant;

    /// The next Interest, with what is to be given back with its answer; waits until `until` at the latest.
    /// `None` if there is none by then, or if there was a signal.
    ///
    /// # Errors
    /// There will be no more.
    fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, Self::Error>;

    /// Sends what answers an Interest that came with `asked`: Data, or a Nack.
    ///
    /// # Errors
    /// There is nobody to send to any more.
    fn send(&mut self, answer: Packet, asked: &LinkHeader) -> Result<(), Self::Error>;

    /// Has all that was sent leave.
    ///
    /// # Errors
    /// As [`AppFace::send`].
    fn flush(&mut self) -> Result<(), Self::Error>;
}

/// Why serving ended before it was over.
#[derive(Debug, Error)]
pub enum ServeError<E> {
    /// Nothing is carried any more.
    #[error(transparent)]
    AppFace(E),
    /// The source cannot go on.
    #[error(transparent)]
    Source(SourceError),
}

/// How long nothing may come until there is a look whether to go on: a signal that comes between such a look
/// and the wait behind it ends no wait.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Serves until the server is over. `watch` is told of each Interest and its answer, and in between, at every
/// signal and once a second, of nothing; it says whether to go on.
///
/// # Errors
/// Nothing is carried any more, or the source cannot go on.
pub fn serve<S: Source, F: AppFace>(
    face: &mut F,
    server: &mut Server<S>,
    mut watch: impl FnMut(Option<(&Interest, &Reply)>) -> bool,
) -> Result<(), ServeError<F::Error>> {
    while !server.is_over(face.now()) && watch(None) {
        let until = server.next_deadline().min(face.now() + CHECK_INTERVAL);
        let next = face.next_interest(until).map_err(ServeError::AppFace)?;
        let Some((interest, header)) = next else { continue };
        let reply = server.handle_interest(face.now(), &interest).map_err(ServeError::Source)?;
        // Only the bytes are large, and they are shared.
        if let Some(answer) = reply.clone().into_packet(&interest) {
            face.send(answer, &header).map_err(ServeError::AppFace)?;
        }
        if !watch(Some((&interest, &reply))) {
            break;
        }
    }
    face.flush().map_err(ServeError::AppFace)
}
