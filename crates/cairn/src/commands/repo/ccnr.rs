//! Serving a repository to clients of CCNx, beside any forwarder that speaks it.

use std::sync::Arc;

use client::{Client, ClientError, Event};
use flow::source::AppFace;
use packet::name::name_in_dialect;
use packet::time::{Duration, Instant};
use packet::{Dialect, Interest, LinkHeader, Now, Packet};
use repo::ccnr::{Ccnr, CcnrConfig, CcnrDriver, InterestOrigin, NamespaceChange, Outgoing};
use repo::fetch::SegmentFetchConfig;
use repo::service::ServiceHandle;
use trust::ccnx::CcnxSigner;

use super::window::{Answers, CcnxService, Served, Window, WindowFace};
use crate::tool::ToolError;
use crate::tool::serving::leave;

/// How long the store may take before it is looked whether it has said something.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// A repository as ccnr is one.
pub(super) struct CcnxRepository {
    face: CcnxFace,
    service: ServiceHandle,
    answers: Answers,
}

/// A connection whose Interests that the store has no answer for go to the repository's protocol.
struct CcnxFace {
    client: Client,
    driver: CcnrDriver,
}

impl CcnxRepository {
    /// Registers its prefixes with the forwarder.
    pub(super) fn start(
        mut client: Client,
        service: ServiceHandle,
        answers: Answers,
        signer: CcnxSigner,
        config: CcnrConfig,
    ) -> Result<Self, ToolError> {
        let ccnr = Ccnr::new(now(&client), signer, config)?;
        for prefix in ccnr.prefixes()? {
            client.register(&prefix)?;
        }
        // The connection cannot be woken by it, and looks.
        let driver = CcnrDriver::new(ccnr, service.clone(), Arc::new(|| {}));
        let face = CcnxFace { client, driver };
        Ok(CcnxRepository { face, service, answers })
    }

    /// Serves for as long as `goes_on` says. Gives what it served.
    pub(super) fn run(mut self, goes_on: impl Fn() -> bool) -> Result<Served, ToolError> {
        let mut window = Window::new(CcnxService(self.service), self.answers);
        while goes_on() {
            window.turn(&mut self.face)?;
        }
        leave(&mut self.face.client);
        Ok(window.served())
    }
}

fn now(client: &Client) -> Now {
    Now { instant: client.now(), unix: client.connection().clock().unix() }
}

impl CcnxFace {
    /// Does what the protocol wants done.
    fn drive(&mut self) -> Result<(), ClientError> {
        self.driver.turn(now(&self.client));
        while let Some(outgoing) = self.driver.poll_outgoing() {
            match outgoing {
                Outgoing::Interest(interest) => {
                    // That nothing comes the protocol sees by its own clock.
                    self.client.express_as_is(interest, SegmentFetchConfig::CCNX.timeout)?;
                }
                Outgoing::Data(data) => self.client.reply(&data, &LinkHeader::NONE)?,
                Outgoing::Namespaces(change) => self.change_namespaces(&change)?,
                Outgoing::Fetched { object, stored, is_complete } => {
                    let part = if is_complete { "" } else { ", which are not all" };
                    tell!(
                        "stored {stored} packets of {}{part}",
                        name_in_dialect(Dialect::Ccnx, object.as_ref())
                    );
                }
            }
        }
        Ok(())
    }

    /// A policy names other prefixes.
    fn change_namespaces(&mut self, change: &NamespaceChange) -> Result<(), ClientError> {
        for prefix in &change.added {
            self.client.register(prefix)?;
        }
        for prefix in &change.removed {
            self.client.unregister(prefix)?;
        }
        tell!("the policy takes objects below {} names", change.count);
        Ok(())
    }
}

impl AppFace for CcnxFace {
    type Error = ClientError;

    fn now(&self) -> Instant {
        self.client.now()
    }

    fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, ClientError> {
        loop {
            self.drive()?;
            let store_due = match self.driver.is_waiting() {
                true => self.client.now() + CHECK_INTERVAL,
                false => Instant::NEVER,
            };
            let due = until.min(self.driver.next_deadline()).min(store_due);
            match self.client.next(Some(due))? {
                Some(Event::Interest { interest, header }) => return Ok(Some((interest, header))),
                Some(Event::Data { data, .. }) => self.driver.handle_data(now(&self.client), &data),
                Some(_) => {}
                // The time is up, or there was a signal.
                None if until <= self.client.now() || due > self.client.now() => return Ok(None),
                None => {}
            }
        }
    }

    fn send(&mut self, answer: Packet, asked: &LinkHeader) -> Result<(), ClientError> {
        self.client.send(answer, asked)
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        self.client.flush()
    }
}

/// What the store does not hold may be a question to the repository itself.
impl WindowFace for CcnxFace {
    fn handle_not_found(&mut self, interest: &Interest) -> Result<(), ClientError> {
        self.driver.handle_interest(now(&self.client), interest, InterestOrigin::Forwarder);
        self.drive()
    }
}
