//! Serving sources of Data: attached, so that they answer whatever else the client does, or in a loop that
//! counts.

use flow::source::{AppFace, ServeCounters, Source};
use packet::time::Instant;
use packet::{AnyName, Interest, LinkHeader, Name, Packet};

use super::Client;
use crate::error::ClientError;

impl Client {
    /// Registers `prefix` and has `source` answer Interests under it, whenever the client waits for
    /// something: in [`Client::run`], [`Client::next`], [`Client::get`] and every other call that waits. Of
    /// several sources that with the longest prefix answers.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses; the source is not attached then.
    pub fn serve(&mut self, prefix: &Name, source: impl Source + Send + 'static) -> Result<(), ClientError> {
        // Who asks as soon as there is a route is not to be kept waiting.
        self.attach(prefix, source);
        self.register(prefix).inspect_err(|_| self.session.detach(prefix))
    }

    /// Has `source` answer Interests under `prefix` without registering it: for what is registered by other
    /// means, or under a shorter prefix.
    pub fn attach(&mut self, prefix: &Name, source: impl Source + Send + 'static) {
        self.session.attach(prefix.clone(), Box::new(source));
    }

    /// What the source that is [attached](Client::serve) under this very prefix has done.
    pub fn served(&self, prefix: &Name) -> Option<ServeCounters> {
        self.session.served(prefix)
    }

    /// Ends what [`Client::serve`] began.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses; the source answers no more in any case.
    pub fn stop_serving(&mut self, prefix: &Name) -> Result<(), ClientError> {
        self.session.detach(prefix);
        self.unregister(prefix)
    }

    /// Answers by what is [attached](Client::serve), until `until` at the latest, which is for ever if it is
    /// `None`, or until a signal comes. What else happens is kept for [`Client::next`].
    ///
    /// # Errors
    /// A source cannot go on; the forwarder does not speak the connection's dialect, or went away and the
    /// client is to fail then.
    pub fn run(&mut self, until: Option<Instant>) -> Result<(), ClientError> {
        let until = until.unwrap_or(Instant::NEVER);
        loop {
            if let Some((prefix, error)) = self.session.take_failure() {
                let prefix = AnyName::new(self.connection.dialect(), prefix);
                return Err(ClientError::Source { prefix, error });
            }
            if !self.goes_on(until)? {
                return self.flush();
            }
        }
    }
}

/// Carries what it is asked for what it has [registered](Client::register), but for what is
/// [attached](Client::attach). What else happens meanwhile is kept for [`Client::next`].
///
/// ```no_run
/// use cairn_client::{Client, Remote};
/// use flow::source::{Generator, Server, ServerConfig, serve};
/// use trust::Signer;
///
/// let mut client = Client::connect(&Remote::default_forwarder()?)?;
/// let prefix = "/lab/ping".parse()?;
/// client.register(&prefix)?;
/// let pongs = Generator::new(vec![prefix], Signer::digest(), 1).with_content(b"pong".to_vec());
/// let mut server = Server::new(pongs, ServerConfig::default(), client.now());
/// serve(&mut client, &mut server, |_| true)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl AppFace for Client {
    type Error = ClientError;

    fn now(&self) -> Instant {
        Client::now(self)
    }

    fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, ClientError> {
        loop {
            if let Some(found) = self.session.poll_interest() {
                return Ok(Some(found));
            }
            if !self.goes_on(until)? {
                return Ok(self.session.poll_interest());
            }
        }
    }

    fn send(&mut self, answer: Packet, asked: &LinkHeader) -> Result<(), ClientError> {
        match answer {
            Packet::Data(data) => self.reply(&data, asked),
            Packet::Nack(interest, reason) => self.nack(&interest, reason, asked),
            // It answers nothing.
            Packet::Interest(_) => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        Client::flush(self)
    }
}
