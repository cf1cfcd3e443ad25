//! Not to send a neighbour more than it can take.
//!
//! A stock socket holds 212,992 bytes of kernel memory, about 92 datagrams of 1,400 bytes; what comes while
//! it is full is lost. How much may be on its way to a neighbour is known in one of three ways, the better
//! one used first:
//!
//! - The neighbour is a Cairn and has told how much its socket holds, in answer to an echo. If that is
//!   plenty, nothing is held back.
//! - The neighbour answers requests for an echo, or acknowledges frames: a [`Window`] keeps what its queue
//!   takes.
//! - It does neither: a [`Meter`] spaces what leaves, by what the neighbour sends itself.
//!
//! Echoes of different sizes also find out which frames the path carries, see [`path_mtu`].

pub(crate) mod echo;
mod meter;
mod path_mtu;
mod window;

use std::collections::VecDeque;

use packet::random::Random;
use packet::time::{Duration, Instant};

use meter::Meter;
use path_mtu::PathMtu;
use window::{Window, charge};

/// What is known beforehand about sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacingConfig {
    /// What the receive buffer of a neighbour holds that does not say, at least [`MIN_STOCK_BUFFER_BYTES`].
    /// Default 212,992 bytes, which is Linux' default.
    pub stock_buffer_bytes: u64,
    /// What this end's receive buffer holds, told to neighbours. Default 212,992 bytes.
    pub receive_capacity_bytes: u64,
    /// Bytes of packets that may wait until the neighbour can take them, each counted with 256 bytes more;
    /// further packets are dropped. Default 8 MiB.
    pub max_waiting_bytes: usize,
    /// Whether to find out which frames the path carries; not needed where the MTU is that of an interface.
    /// Default true.
    pub probe_path_mtu: bool,
}

impl Default for PacingConfig {
    fn default() -> Self {
        PacingConfig {
            stock_buffer_bytes: 212_992,
            receive_capacity_bytes: 212_992,
            max_waiting_bytes: 8 << 20,
            probe_path_mtu: true,
        }
    }
}

/// The smallest receive buffer that a neighbour is taken to have: eight frames. With room for one, each frame
/// would wait for the acknowledgement of the one before, which may wait itself.
pub const MIN_STOCK_BUFFER_BYTES: u64 = 8 * window::SLOT_BYTES;

/// A neighbour with a receive buffer of so much is sent to as fast as can be.
const PLENTY_BYTES: u64 = 2 << 20;
/// Of a neighbour's receive buffer this much is filled: others may send to it, too.
const SHARE: u64 = 3;
/// What a neighbour told is believed for so long, and asked for again a third of that before.
const BELIEVED: Duration = Duration::from_secs(15);
const ASK_AGAIN: Duration = Duration::from_secs(10);
/// Echoes that were asked for and have not come.
const MAX_ECHOES: usize = 8;
/// While acknowledgements come, an echo is asked for so often.
const ECHO_INTERVAL: Duration = Duration::from_millis(100);
/// Echoes in a row without an answer after which a neighbour counts as silent, and for how long.
const MAX_UNANSWERED: u32 = 4;
const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// How long an echo may take: so many round trips, within bounds.
const ECHO_ROUND_TRIPS: u64 = 4;
const ECHO_TIMEOUT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// A neighbour that got less than a frame in this time has an empty queue.
const UNHURRIED: Duration = Duration::from_micros(200);
/// After so long without a frame the path may be another one.
const PATH_MEMORY: Duration = Duration::from_secs(10);
/// What every Ethernet carries.
const ETHERNET_BYTES: usize = 1500;
/// Acknowledgements may wait so long at the neighbour for a frame to travel with.
const ACK_DELAY: Duration = Duration::from_millis(6);

/// Why an echo is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// To learn what has left the neighbour's queue.
    Progress,
    /// To learn whether frames of this size arrive.
    Probe(usize),
}

#[derive(Clone, Copy, Debug)]
struct SentEcho {
    number: u64,
    position: u64,
    sent_at: Instant,
    purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EchoSupport {
    /// It has not answered yet.
    Unknown,
    /// It answers echoes.
    Answers,
    /// It does not; asked again at that time.
    Silent(Instant),
}

impl EchoSupport {
    fn at_first(has_room: bool) -> Self {
        if has_room { EchoSupport::Unknown } else { EchoSupport::Silent(Instant::NEVER) }
    }
}

/// What the neighbour is asked to send back.
#[derive(Debug)]
struct Echoes {
    /// Whether requests fit the link: what does not cannot be asked for.
    has_room: bool,
    support: EchoSupport,
    /// Under way, in the order of sending.
    asked: VecDeque<SentEcho>,
    last_asked: Instant,
    /// What was charged since then.
    charged_since: u64,
    /// In a row without an answer.
    unanswered: u32,
    /// Whether one is to be asked for to learn of progress.
    due: bool,
    /// Whether one is to be asked for as a probe.
    probe_due: bool,
    /// The neighbour has asked for one itself, so it answers them: to be asked with the next frame.
    invited: bool,
    /// Bytes of probes that left.
    probed_bytes: u64,
}

impl Echoes {
    fn new(has_room: bool) -> Self {
        Echoes {
            has_room,
            support: EchoSupport::at_first(has_room),
            asked: VecDeque::new(),
            last_asked: Instant::ZERO,
            charged_since: 0,
            unanswered: 0,
            due: false,
            probe_due: false,
            invited: false,
            probed_bytes: 0,
        }
    }
}

/// Until when frames need not be shown to the pacer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeUntil {
    small: Instant,
    /// Those by which the path is probed: one of them has to be seen for that.
    large: Instant,
}

impl FreeUntil {
    pub(crate) const NEVER_SHOWN: Self = FreeUntil { small: Instant::NEVER, large: Instant::NEVER };

    #[inline]
    pub(crate) fn is_free(self, now: Instant, frame_len: usize) -> bool {
        now < if frame_len > path_mtu::BASE_BYTES { self.large } else { self.small }
    }
}

/// What is known of one neighbour, and what follows from it.
#[derive(Debug)]
pub(crate) struct Pacer {
    config: PacingConfig,
    random: Random,
    reliable: bool,
    window: Window,
    meter: Meter,
    path_mtu: Option<PathMtu>,
    echoes: Echoes,
    /// What the neighbour's receive buffer holds, and when it said so.
    capacity: Option<(u64, Instant)>,
    round_trip: Option<Duration>,
    /// When the neighbour has certainly taken all, however slow it is.
    settled_at: Instant,
    last_sent: Instant,
    /// When all that left would have left at the pace of the window.
    spaced_until: Instant,
    /// When what waits may be tried again; NEVER if nothing waits for time.
    release_at: Instant,
}

fn has_room(mtu_bytes: Option<usize>) -> bool {
    mtu_bytes.is_none_or(|mtu_bytes| mtu_bytes >= echo::REQUEST_BYTES)
}

impl Pacer {
    pub(crate) fn new(
        config: PacingConfig,
        reliable: bool,
        mtu_bytes: Option<usize>,
        random: Random,
    ) -> Self {
        let target = config.stock_buffer_bytes / 10 * 8;
        let window = Window::new(target);
        Pacer {
            meter: Meter::new(window.limit()),
            window,
            path_mtu: mtu_bytes.filter(|_| config.probe_path_mtu).map(PathMtu::new),
            echoes: Echoes::new(has_room(mtu_bytes)),
            config,
            random,
            reliable,
            capacity: None,
            round_trip: None,
            settled_at: Instant::ZERO,
            last_sent: Instant::ZERO,
            spaced_until: Instant::ZERO,
            release_at: Instant::NEVER,
        }
    }

    pub(crate) fn config(&self) -> &PacingConfig {
        &self.config
    }

    /// What the path carries, if that is less than the configuration allows.
    pub(crate) fn path_mtu_bytes(&self) -> Option<usize> {
        self.path_mtu.as_ref().filter(|mtu| mtu.current() < mtu.top()).map(PathMtu::current)
    }

    /// The configuration allows frames of another size.
    pub(crate) fn set_top_mtu(&mut self, mtu_bytes: Option<usize>) {
        if std::mem::replace(&mut self.echoes.has_room, has_room(mtu_bytes)) != self.echoes.has_room {
            self.echoes.support = EchoSupport::at_first(self.echoes.has_room);
        }
        let top = mtu_bytes.filter(|_| self.config.probe_path_mtu);
        if self.path_mtu.as_ref().map(PathMtu::top) != top {
            self.path_mtu = top.map(PathMtu::new);
            // What probes under way will tell is about another search.
            self.echoes.asked.retain(|asked| asked.purpose == Purpose::Progress);
        }
    }

    /// Until when frames may leave without being shown to the pacer.
    pub(crate) fn free_until(&self) -> FreeUntil {
        match self.capacity {
            Some((bytes, heard_at))
                if bytes >= PLENTY_BYTES
                    && !self.reliable
                    && !self.echoes.due
                    && self.path_mtu_bytes().is_none() =>
            {
                let small = heard_at + ASK_AGAIN;
                let probe = self.path_mtu.as_ref().map_or(Instant::NEVER, PathMtu::next_probe);
                FreeUntil { small, large: small.min(probe) }
            }
            _ => FreeUntil { small: Instant::ZERO, large: Instant::ZERO },
        }
    }

    fn is_free(&self, now: Instant) -> bool {
        self.capacity.is_some_and(|(bytes, heard_at)| bytes >= PLENTY_BYTES && now < heard_at + BELIEVED)
            && !self.reliable
    }

    /// Whether [`write_request`](Self::write_request) may have something to ask.
    #[inline]
    pub(crate) fn wants_request(&self) -> bool {
        self.echoes.due || self.echoes.probe_due
    }

    /// Whether a frame may leave now.
    pub(crate) fn admits(&mut self, now: Instant, frame_len: usize, frames_received: u64) -> bool {
        self.release_at = Instant::NEVER;
        if self.is_free(now) {
            return true;
        }
        if now >= self.settled_at && self.echoes.asked.is_empty() {
            self.window.settle();
            self.echoes.charged_since = 0;
        }
        self.meter.handle_received(now, frames_received);
        let charge = charge(frame_len);
        let is_open = self.window.admits(charge);
        match self.echoes.support {
            EchoSupport::Silent(_) if !self.reliable => {
                self.meter.admits(now, charge).inspect_err(|at| self.release_at = *at).is_ok()
            }
            // The first echo decides; until then no more leaves than any socket holds. Of who sends none
            // back acknowledgements tell.
            _ if is_open => self.is_spaced(now),
            _ => {
                self.await_room(now);
                false
            }
        }
    }

    /// Sees to it that a window that is closed does not stay so: by an answer under way, or by one to be
    /// asked for; and if there will be none, and no acknowledgement either because all of them were lost or
    /// are for frames that nobody remembers, by the time after which nothing waits at the neighbour.
    fn await_room(&mut self, now: Instant) {
        if !self.echoes.asked.is_empty() {
            return;
        }
        self.echoes.due |= !matches!(self.echoes.support, EchoSupport::Silent(_));
        let echo_expiry = self.last_sent + self.echo_timeout();
        self.release_at = self.settled_at.max(echo_expiry).max(now + Duration::from_nanos(1));
    }

    /// What is on a long path must not arrive at the neighbour all at once: a window larger than its queue is
    /// spread over the round trip, and a little faster than it opens.
    fn is_spaced(&mut self, now: Instant) -> bool {
        let (limit, target) = (self.window.limit(), self.window.target());
        let Some(round_trip) = self.round_trip.filter(|_| limit > target) else { return true };
        let spread = |bytes: u64| {
            Duration::from_secs_f64(round_trip.as_secs_f64() * 0.8 * bytes as f64 / limit as f64)
        };
        let ahead = self.spaced_until.saturating_since(now);
        if ahead <= spread(target / 2) {
            return true;
        }
        self.release_at = now + ahead.saturating_sub(spread(target / 4)).max(Duration::from_micros(1));
        false
    }

    /// Notes that a frame leaves; gives the position to hand in when it is acknowledged.
    pub(crate) fn note_sent(&mut self, now: Instant, frame_len: usize) -> u64 {
        let position = self.count(now, frame_len);
        if let Some(mtu) = &mut self.path_mtu {
            mtu.note_sent(now, frame_len);
            self.echoes.probe_due = mtu.wants_probe(now).is_some();
        }
        self.echoes.charged_since += charge(frame_len);
        if self.is_free(now) {
            let wants_news = self.capacity.is_some_and(|(_, heard_at)| now >= heard_at + ASK_AGAIN);
            self.echoes.due |= wants_news && self.echoes.asked.is_empty();
        } else if self.echoes.charged_since >= self.window.limit().min(self.window.target()) / 4 * 3 {
            // Acknowledgements tell as much, but not how long a round trip takes.
            let knows_little = !self.reliable
                || self.window.outstanding() >= self.window.limit() / 4 * 3
                || now >= self.echoes.last_asked + ECHO_INTERVAL;
            self.echoes.due = match self.echoes.support {
                EchoSupport::Silent(until) => now >= until,
                _ => knows_little && self.echoes.asked.len() < MAX_ECHOES,
            };
        }
        if std::mem::take(&mut self.echoes.invited) {
            self.echoes.due |= self.echoes.asked.is_empty();
        }
        position
    }

    fn count(&mut self, now: Instant, frame_len: usize) -> u64 {
        if now.saturating_since(self.last_sent) >= PATH_MEMORY {
            self.window.forget_round_trips();
        }
        self.last_sent = now;
        let charge = charge(frame_len);
        self.meter.note_sent(now, charge);
        if let Some(round_trip) = self.round_trip {
            let share = charge as f64 / self.window.limit() as f64;
            let time = Duration::from_secs_f64(round_trip.as_secs_f64() * 0.8 * share);
            self.spaced_until = (self.spaced_until.max(now) + time).min(now + round_trip);
        }
        let position = self.window.note_sent(charge);
        // What has been answered is there no longer, however fast it came.
        let most = UNHURRIED * self.window.outstanding().div_ceil(window::SLOT_BYTES);
        let more = UNHURRIED * charge.div_ceil(window::SLOT_BYTES);
        self.settled_at = (self.settled_at.max(now) + more).min(now + most);
        position
    }

    /// A frame has been acknowledged.
    pub(crate) fn handle_ack(&mut self, now: Instant, position: u64, round_trip: Option<Duration>) {
        // Where echoes tell how long a round trip takes, acknowledgements, which may wait, do not.
        let sample = round_trip
            .filter(|_| matches!(self.echoes.support, EchoSupport::Silent(_)))
            .map(|sample| sample.saturating_sub(ACK_DELAY).max(Duration::from_micros(1)));
        self.window.note_gone(now, position, sample);
    }

    /// A frame has been lost.
    pub(crate) fn handle_loss(&mut self, position: u64) {
        self.window.note_lost(position);
    }

    /// Appends a request for an echo, if one is due. `received_bytes` came from the neighbour so far: until
    /// it has sent an echo back, and so is where it says it is, probes never take more than that, so that
    /// nobody can have them sent to somebody else.
    pub(crate) fn write_request(&mut self, now: Instant, received_bytes: u64, frame: &mut Vec<u8>) -> bool {
        if !self.echoes.has_room {
            (self.echoes.probe_due, self.echoes.due) = (false, false);
        }
        if !std::mem::take(&mut self.echoes.probe_due) && !self.echoes.due {
            return false;
        }
        let credit = match self.round_trip {
            Some(_) => u64::MAX,
            None => received_bytes.saturating_sub(self.echoes.probed_bytes),
        };
        let wanted = self.path_mtu.as_mut().and_then(|mtu| mtu.wants_probe(now));
        let probe = wanted.filter(|size| *size as u64 <= credit && self.echoes.asked.len() < MAX_ECHOES);
        // A small request is answered where large frames vanish, and proves the address. Frames that every
        // Ethernet carries seldom vanish.
        let is_too_dear = wanted.is_some_and(|size| size > ETHERNET_BYTES) && probe.is_none();
        self.echoes.due |=
            is_too_dear && self.echoes.support == EchoSupport::Unknown && self.echoes.asked.is_empty();
        let (purpose, len) = match probe {
            Some(size) => (Purpose::Probe(size), size),
            None if std::mem::take(&mut self.echoes.due) && self.echoes.asked.len() < MAX_ECHOES => {
                (Purpose::Progress, 0)
            }
            None => return false,
        };
        if let (Purpose::Probe(size), Some(mtu)) = (purpose, &mut self.path_mtu) {
            mtu.note_probe();
            self.echoes.probed_bytes += size as u64;
        } else {
            self.echoes.charged_since = 0;
            self.echoes.last_asked = now;
            if matches!(self.echoes.support, EchoSupport::Silent(_)) {
                self.echoes.support = EchoSupport::Silent(now + RETRY_INTERVAL);
            }
        }
        let number = self.random.next_u64();
        let start = frame.len();
        echo::write_request(frame, number, self.config.receive_capacity_bytes, len);
        let position = self.count(now, frame.len() - start);
        self.echoes.asked.push_back(SentEcho { number, position, sent_at: now, purpose });
        true
    }

    /// The neighbour, or who writes its address, has asked for an echo. What that frame says of a receive
    /// buffer proves nothing: the neighbour itself is asked, once something is sent to it.
    pub(crate) fn handle_request(&mut self, now: Instant) {
        self.echoes.invited = self.capacity.is_none_or(|(_, heard_at)| now >= heard_at + ASK_AGAIN);
    }

    /// The neighbour has said what its receive buffer holds, in an answer with a number that was sent to it.
    pub(crate) fn handle_capacity(&mut self, now: Instant, bytes: u64) {
        self.capacity = Some((bytes, now));
        self.window.set_target((bytes / SHARE).max(self.config.stock_buffer_bytes / 2));
    }

    /// An echo, or what stands for one, has come. Says whether it had been asked for, and whether the MTU has
    /// changed.
    pub(crate) fn handle_echo(&mut self, now: Instant, number: u64) -> Option<bool> {
        let place = self.echoes.asked.iter().position(|asked| asked.number == number)?;
        let asked = self.echoes.asked.remove(place)?;
        let sample = now.saturating_since(asked.sent_at);
        self.round_trip = Some(self.round_trip.map_or(sample, |known| (known * 7 + sample) / 8));
        self.window.note_gone(now, asked.position, Some(sample));
        self.echoes.support = EchoSupport::Answers;
        self.echoes.unanswered = 0;
        self.release_at = Instant::NEVER;
        let changed = match (asked.purpose, &mut self.path_mtu) {
            (Purpose::Probe(size), Some(mtu)) => mtu.handle_answer(now, size),
            _ => false,
        };
        self.look_for_probe(now);
        Some(changed)
    }

    /// Lets time pass. True if the MTU has changed.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> bool {
        if self.release_at <= now {
            self.release_at = Instant::NEVER;
        }
        let mut changed = false;
        let timeout = self.echo_timeout();
        while let Some(asked) =
            self.echoes.asked.front().copied().filter(|asked| asked.sent_at + timeout <= now)
        {
            self.echoes.asked.pop_front();
            match (asked.purpose, &mut self.path_mtu) {
                (Purpose::Probe(size), Some(mtu)) => {
                    // That a probe is lost says nothing about queues.
                    changed |= mtu.handle_silence(now, size);
                    self.window.note_gone(now, asked.position, None);
                }
                _ => self.handle_unanswered(now, asked),
            }
            self.look_for_probe(now);
        }
        changed
    }

    /// The next probe need not wait for another large frame: where those vanish there may be few.
    fn look_for_probe(&mut self, now: Instant) {
        self.echoes.probe_due = self.path_mtu.as_mut().is_some_and(|mtu| mtu.wants_probe(now).is_some());
    }

    fn handle_unanswered(&mut self, now: Instant, asked: SentEcho) {
        self.echoes.unanswered += 1;
        if self.echoes.support == EchoSupport::Answers {
            self.window.note_lost(asked.position);
        } else {
            self.window.note_gone(now, asked.position, None);
        }
        if self.echoes.unanswered >= MAX_UNANSWERED || self.echoes.support != EchoSupport::Answers {
            self.echoes.unanswered = 0;
            self.echoes.support = EchoSupport::Silent(now + RETRY_INTERVAL);
        }
    }

    fn echo_timeout(&self) -> Duration {
        let (least, most) = ECHO_TIMEOUT;
        self.round_trip.map_or(least, |known| (known * ECHO_ROUND_TRIPS).clamp(least, most))
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub(crate) fn next_deadline(&self) -> Instant {
        let echo =
            self.echoes.asked.front().map_or(Instant::NEVER, |asked| asked.sent_at + self.echo_timeout());
        echo.min(self.release_at)
    }
}
