//! Asking and answering over a connection.

pub(crate) mod command_exchange;
pub(crate) mod commands;
pub(crate) mod fetching;
mod outage;
mod request;
mod serving;
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{BuildInterest, Data, Interest, LinkHeader, NackReason, Now, Packet};
use system::Clock;
use trust::ccnx::CcnxSigner;
use trust::{InterestSigner, Signer};

use crate::ccnd::Ccnd;
use crate::connection::Connection;
use crate::error::ClientError;
use crate::event::Event;
use crate::pending::{Kind, RequestId};
use crate::remote::Remote;
use crate::retry::RetryPolicy;
use crate::session::{Answer, Outgoing, Session};
use crate::socket::Waited;
use outage::Outages;

pub use request::AskError;

#[cfg(feature = "async")]
pub(crate) use outage::ATTEMPT_TIMEOUT;
pub use outage::{Outage, OutageCounters, WhenGone};

/// Packets that are taken before what they ask for is sent.
const BATCH: usize = 64;

/// What a wait ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    /// Something happened, or is due.
    On,
    /// The caller's time is up.
    TimeUp,
    /// A signal came.
    Interrupted,
}

/// Expresses Interests, registers prefixes, and tells what happens.
#[derive(Debug)]
pub struct Client {
    pub(crate) connection: Connection,
    pub(crate) session: Session,
    commands: InterestSigner,
    random: Random,
    retry_policy: RetryPolicy,
    outages: Outages,
    /// Who signs requests to a forwarder of CCNx, and what is known of it.
    ccnd: Option<Ccnd>,
}

impl Client {
    /// Connects to a forwarder. Commands to it carry digest signatures until [`Client::sign_commands_with`]
    /// says otherwise, and should the forwarder go away, the client connects again, as
    /// [`Client::when_gone`] describes.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn connect(remote: &Remote) -> Result<Self, ClientError> {
        Ok(Client::over(Connection::open(remote)?))
    }

    /// Uses a connection that is already there.
    pub fn over(connection: Connection) -> Self {
        let mut random = Random::from_seed(Clock::seed());
        let commands = InterestSigner::new(Signer::digest(), Random::from_seed(random.next_u64()));
        Client {
            connection,
            session: Session::default(),
            commands,
            random,
            retry_policy: RetryPolicy::default(),
            outages: Outages::new(WhenGone::default()),
            ccnd: None,
        }
    }

    /// Connects anew to where it is connected, as when the forwarder has started again. What was expressed
    /// is forgotten; what was registered is registered again while [`Client::next`] waits; the time goes
    /// on. Only for those who told the client to fail when the forwarder goes away: otherwise it does that
    /// by itself.
    ///
    /// # Errors
    /// Nobody is there; nothing has changed then.
    pub fn reconnect(&mut self) -> Result<(), ClientError> {
        self.connection.reopen()?;
        self.session.clear();
        self.begin_anew();
        Ok(())
    }

    /// The connection underneath.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The connection underneath. What arrives while somebody else reads from it is lost to this client.
    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        self.connection.now()
    }

    /// How many Interests wait for an answer, or have one that [`Client::next`] has not told of yet.
    pub fn pending(&self) -> usize {
        self.session.pending()
    }

    /// How many Data came that nobody had asked for, or too late.
    pub fn unsolicited(&self) -> u64 {
        self.session.unsolicited()
    }

    /// How many Interests came, while the client waited for something else, beyond what is kept for
    /// [`Client::next`].
    pub fn dropped(&self) -> u64 {
        self.session.dropped()
    }

    /// Sets how long the forwarder may take to answer commands, and how often it is asked.
    pub fn set_retry_policy(&mut self, retry_policy: RetryPolicy) {
        self.retry_policy = retry_policy;
    }

    /// Signs commands to the forwarder with a key that it trusts.
    pub fn sign_commands_with(&mut self, signer: Signer) {
        let seed = self.random.next_u64();
        self.commands = InterestSigner::new(signer, Random::from_seed(seed));
    }

    /// Signs requests to a forwarder of CCNx with this key: without it, none is made and prefixes cannot be
    /// registered. Any key will do, for such a forwarder trusts every application on its host.
    pub fn sign_requests_with(&mut self, signer: CcnxSigner) {
        self.ccnd = Some(Ccnd::new(signer));
    }

    /// Answers Interests for these certificates, whenever the client waits for something: a forwarder that
    /// does not know the key that commands are signed with asks for its certificate where the command
    /// came from.
    pub fn show_credentials(&mut self, certificates: Vec<Data>) {
        self.session.show_credentials(certificates);
    }

    /// Expresses an Interest with a random nonce, which lives as long as we wait for its answer. It is of the
    /// connection's dialect: an [`InterestBuilder`](packet::ndn::InterestBuilder), or a name and
    /// [`InterestFields`](packet::ccnx::InterestFields) of CCNx.
    ///
    /// # Errors
    /// It cannot be written; the forwarder went away, if the client is to fail then.
    pub fn express(
        &mut self,
        interest: &impl BuildInterest,
        timeout: Duration,
    ) -> Result<RequestId, ClientError> {
        let interest = self.with_nonce(interest, timeout)?;
        self.express_as_is(interest, timeout)
    }

    /// An Interest with a random nonce and this lifetime.
    pub(crate) fn with_nonce(
        &mut self,
        interest: &impl BuildInterest,
        lifetime: Duration,
    ) -> Result<Interest, ClientError> {
        Ok(interest.build_with(self.random.next_u32(), lifetime)?)
    }

    /// Expresses an Interest as it is, and waits `timeout` for its answer.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then.
    pub fn express_as_is(&mut self, interest: Interest, timeout: Duration) -> Result<RequestId, ClientError> {
        let sent = if self.is_gone() { Ok(()) } else { self.connection.send_interest(&interest) };
        let now = self.connection.now();
        let id = self.session.expect(interest, now, timeout, Kind::Question);
        if let Err(error) = sent
            && let Err(error) = self.handle_outage(error)
        {
            self.session.forget(id);
            return Err(error);
        }
        Ok(id)
    }

    /// Sends an Interest that nobody waits for an answer to.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then; otherwise the Interest is dropped.
    pub fn send_only(&mut self, interest: &Interest) -> Result<(), ClientError> {
        self.send(|connection| connection.send_interest(interest))
    }

    /// Answers an Interest that came with `asked`.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then; otherwise the answer is dropped.
    pub fn reply(&mut self, data: &Data, asked: &LinkHeader) -> Result<(), ClientError> {
        self.send(|connection| connection.send_data(data, asked))
    }

    /// Answers an Interest that came with `asked` with a Nack.
    ///
    /// # Errors
    /// As [`Client::reply`].
    pub fn nack(
        &mut self,
        interest: &Interest,
        reason: NackReason,
        asked: &LinkHeader,
    ) -> Result<(), ClientError> {
        self.send(|connection| connection.send_nack(interest, reason, asked))
    }

    /// Writes all that was sent.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then.
    pub fn flush(&mut self) -> Result<(), ClientError> {
        match self.is_gone() {
            true => Ok(()),
            false => self.connection.flush().or_else(|error| self.handle_outage(error)),
        }
    }

    /// The next thing that happens, at the latest at `until`, which is for ever if it is `None`. `None` when
    /// that time has come, or a signal. While the forwarder is away, an attempt to connect to it may take
    /// two seconds longer than `until`.
    ///
    /// # Errors
    /// The forwarder does not speak the connection's dialect, or went away and the client is to fail then.
    pub fn next(&mut self, until: Option<Instant>) -> Result<Option<Event>, ClientError> {
        let until = until.unwrap_or(Instant::NEVER);
        loop {
            if let Some(event) = self.session.poll_event() {
                return Ok(Some(event));
            }
            if !self.goes_on(until)? {
                return Ok(self.session.poll_event());
            }
        }
    }

    /// Waits for something to happen, getting over outages; `false` when the time is up, or at a signal.
    fn goes_on(&mut self, until: Instant) -> Result<bool, ClientError> {
        match self.turn(until) {
            Ok(turned) => Ok(turned == WaitOutcome::On),
            Err(error) => self.handle_outage(error).map(|()| true),
        }
    }

    /// Sends what nobody is told of if the forwarder is away.
    fn send(
        &mut self,
        send: impl FnOnce(&mut Connection) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        if self.is_gone() {
            self.note_dropped(1);
            return Ok(());
        }
        send(&mut self.connection).or_else(|error| self.handle_outage(error))
    }

    /// Both clocks.
    fn both(&self) -> Now {
        self.connection.clock().both()
    }

    /// Does what is due, and waits for something to happen, until `until` at the latest: for packets, of
    /// which it takes those that came together, or for time to pass.
    pub(crate) fn turn(&mut self, until: Instant) -> Result<WaitOutcome, ClientError> {
        let now = self.both();
        let is_due = self.session.next_deadline(!self.is_gone()) <= now.instant;
        if is_due {
            self.session.handle_timeout(now, !self.is_gone());
        }
        self.go_on()?;
        // Where something was due, what has come of it is to be seen soon.
        let wait_until = |deadline: Instant| if is_due { now.instant } else { until.min(deadline) };
        if self.is_gone() {
            return Ok(match self.wait_while_gone(wait_until(self.session.next_deadline(false)))? {
                Waited::Interrupted => WaitOutcome::Interrupted,
                Waited::Over if until <= self.connection.now() => WaitOutcome::TimeUp,
                Waited::Over => WaitOutcome::On,
            });
        }
        self.transmit()?;
        let deadline = self.session.next_deadline(true).min(self.outage_deadline());
        let received = self.connection.receive(wait_until(deadline))?;
        let now = self.connection.now();
        let Some((packet, header)) = received else {
            // Something is due, or the caller's time is up, or a signal came.
            return Ok(match is_due || deadline <= now {
                true => WaitOutcome::On,
                false if until <= now => WaitOutcome::TimeUp,
                false => WaitOutcome::Interrupted,
            });
        };
        self.session.handle_packet(self.both(), packet, header);
        for _ in 1..BATCH {
            let Some((packet, header)) = self.connection.next_read()? else { break };
            self.session.handle_packet(self.both(), packet, header);
        }
        self.transmit()?;
        Ok(if until <= now { WaitOutcome::TimeUp } else { WaitOutcome::On })
    }

    /// Sends what the session has to send.
    fn transmit(&mut self) -> Result<(), ClientError> {
        if self.is_gone() {
            return Ok(());
        }
        let now = self.both();
        loop {
            // Where sending does not wait, what fetches ask for does, and an answer is lost as on any full
            // link.
            if !self.connection.waits() && !self.connection.has_room() {
                let dropped = self.session.drop_answers();
                self.note_dropped(dropped);
                return Ok(());
            }
            let Some(Outgoing { packet, header }) = self.session.poll_transmit(now) else { return Ok(()) };
            match packet {
                Packet::Interest(interest) => self.connection.send_interest_with(&interest, header)?,
                Packet::Data(data) => self.connection.send_data(&data, &header)?,
                Packet::Nack(..) if !self.connection.dialect().has_nacks() => {}
                Packet::Nack(interest, reason) => self.connection.send_nack(&interest, reason, &header)?,
            }
        }
    }
}
