//! Serving a source of Data over a connection.

use flow::source::{Carrier, Reply};
use packet::time::Instant;
use packet::{Interest, LinkHeader};

use crate::client::{Client, Event};
use crate::error::ClientError;

/// Carries what it is asked for what it has [registered](Client::register). What else happens meanwhile, such
/// as answers to Interests of its own, is lost.
///
/// ```no_run
/// use client::{Client, Remote};
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
impl Carrier for Client {
    type Error = ClientError;

    fn now(&self) -> Instant {
        Client::now(self)
    }

    fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, ClientError> {
        let until = Some(until).filter(|until| *until != Instant::NEVER);
        Ok(match self.next(until)? {
            Some(Event::Interest { interest, header }) => Some((interest, header)),
            Some(_) | None => None,
        })
    }

    fn send(&mut self, interest: &Interest, asked: &LinkHeader, reply: &Reply) -> Result<(), ClientError> {
        match reply {
            Reply::Data(data) => self.reply(data, asked),
            Reply::Nack(reason) => self.refuse(interest, *reason, asked),
            Reply::Silence | Reply::NotMine => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        Client::flush(self)
    }
}
