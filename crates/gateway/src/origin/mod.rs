//! A web server as a producer of named data: what is asked for below a prefix is fetched from it, signed, and
//! published.
//!
//! However many ask for a URL, the web server is asked once, and what it sends is passed on while it comes.
//! Only what is for everybody is published (`policy`), from this one server ([`mapping`]), under a version
//! that follows from what the server says of its state.

pub mod mapping;
mod object;
mod policy;
mod table;
mod web;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::{AsyncClient, ClientError, Clock, Event};
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName};
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use trust::Signer;

use crate::conditions::parse_date;
use crate::fields::{Fields, Location};
use crate::until::unless;
use mapping::Mapping;
use object::{OriginObject, ServerAnswer, version_of};
use policy::Verdict;
use table::{Outcome, Table};
use web::{ClientValidators, Web, next_bytes};

/// Room that is made at once for more of an answer whose size is not known.
const GROWTH_BYTES: usize = 1 << 20;

pub use web::{TlsSetupError, WebError};

/// How much of this machine, and of the web server, strangers may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginLimits {
    /// URLs that are remembered.
    pub urls: usize,
    /// Bytes of one answer.
    pub max_object_bytes: u64,
    /// Bytes of all that are kept, those that are still to come included.
    pub max_kept_bytes: u64,
    /// Questions to the web server at once.
    pub fetches: usize,
    /// Interests that wait for one URL.
    pub waiting: usize,
    /// How long the web server may take until it answers, and between two parts of its answer.
    pub timeout: Duration,
    /// How long one answer may take in all.
    pub longest: Duration,
}

impl Default for OriginLimits {
    fn default() -> Self {
        OriginLimits {
            urls: 16_384,
            max_object_bytes: 256 << 20,
            max_kept_bytes: 512 << 20,
            fetches: 16,
            waiting: 1024,
            timeout: Duration::from_secs(10),
            longest: Duration::from_secs(600),
        }
    }
}

/// What is published, and how.
#[derive(Clone, Debug)]
pub struct OriginConfig {
    /// The web server, and the prefix.
    pub mapping: Mapping,
    /// Signs every packet.
    pub signer: Signer,
    /// How long an answer counts as fresh that does not say.
    pub usual_freshness: Duration,
    /// How much strangers may use.
    pub limits: OriginLimits,
}

impl OriginConfig {
    /// The usual limits, and a second of freshness for what does not say.
    pub fn new(mapping: Mapping, signer: Signer) -> Self {
        OriginConfig {
            mapping,
            signer,
            usual_freshness: Duration::from_secs(1),
            limits: OriginLimits::default(),
        }
    }
}

/// A web server that answers Interests.
#[derive(Clone)]
pub struct OriginServer {
    shared: Arc<Shared>,
}

struct Shared {
    client: AsyncClient,
    config: OriginConfig,
    web: Web,
    table: Mutex<Table>,
    fetches: Semaphore,
    clock: Clock,
}

impl fmt::Debug for OriginServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OriginServer").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

/// What is sent for an Interest.
#[derive(Debug)]
enum Sent {
    Data(Data, LinkHeader),
    Nack(Interest, LinkHeader),
}

impl OriginServer {
    /// A web server, behind a connection to a forwarder.
    ///
    /// # Errors
    /// TLS is asked for, and the system has no certificates.
    pub fn new(client: AsyncClient, config: OriginConfig) -> Result<Self, WebError> {
        let web = Web::new(config.mapping.clone())?;
        let table = Mutex::new(Table::new(config.limits.clone()));
        let fetches = Semaphore::new(config.limits.fetches);
        let shared = Shared { client, config, web, table, fetches, clock: Clock::start() };
        Ok(OriginServer { shared: Arc::new(shared) })
    }

    /// Registers the prefix, and answers until `end` comes.
    ///
    /// # Errors
    /// The forwarder refuses, or went away and the client is to fail then.
    pub async fn run(&self, end: impl Future<Output = ()>) -> Result<(), ClientError> {
        let prefix = self.shared.config.mapping.prefix();
        self.shared.client.register(prefix).await?;
        let mut end = pin!(end);
        loop {
            match unless(end.as_mut(), self.shared.client.next()).await {
                None => return self.shared.client.unregister(prefix).await,
                Some(Ok(Event::Interest { interest, header })) => self.handle(interest, header).await?,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
            }
        }
    }

    /// Questions that were put to the web server.
    pub fn asked(&self) -> u64 {
        self.table().asked
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.shared.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn handle(&self, interest: Interest, header: LinkHeader) -> Result<(), ClientError> {
        let object = table::object_of(interest.name());
        let Some(target) = self.shared.config.mapping.target_of(object.as_ref()) else {
            return self.shared.client.nack(&interest, NackReason::Unspecified, &header).await;
        };
        let (outcome, known) = {
            let mut table = self.table();
            (table.ask(&object, interest, header, &self.shared.config.signer), table.known(&object))
        };
        match outcome {
            Outcome::Answer(sent) => self.send(sent).await?,
            Outcome::Waits => {}
            Outcome::Fetch => {
                let origin = self.clone();
                tokio::spawn(async move { origin.fetch(object, target, known).await });
            }
        }
        Ok(())
    }

    async fn send(&self, sent: Vec<Sent>) -> Result<(), ClientError> {
        for sent in sent {
            match sent {
                Sent::Data(data, header) => self.shared.client.reply(&data, &header).await?,
                Sent::Nack(interest, header) => {
                    self.shared.client.nack(&interest, NackReason::Unspecified, &header).await?;
                }
            }
        }
        Ok(())
    }

    /// Asks the web server, and tells those who wait.
    async fn fetch(&self, object: Name, target: String, known: ClientValidators) {
        let limits = &self.shared.config.limits;
        let done = match self.shared.fetches.acquire().await {
            Ok(_permit) => timeout(limits.longest, self.fetch_now(&object, &target, &known)).await,
            Err(_) => return,
        };
        // Whatever went wrong, those who wait need not do so any longer.
        let sent = self.table().fetched(&object, done.is_ok_and(|done| done.is_some()), self.signer());
        // Who does not hear of it asks again.
        let _ = self.send(sent).await;
    }

    fn signer(&self) -> &Signer {
        &self.shared.config.signer
    }

    /// `None` if nothing of use came.
    async fn fetch_now(&self, object: &Name, target: &str, known: &ClientValidators) -> Option<()> {
        let config = &self.shared.config;
        let asking = timeout(config.limits.timeout, self.shared.web.get(target, known));
        let response = asking.await.ok()?.ok()?;
        match policy::verdict(response.status(), response.headers(), config.usual_freshness) {
            Verdict::Publish { fresh } => self.publish(object, target, response, fresh).await,
            Verdict::Unchanged { fresh } => self.table().refresh(object, fresh).then_some(()),
            Verdict::Refuse(_) => {
                self.table().refuse(object);
                Some(())
            }
            Verdict::Later => None,
        }
    }

    async fn publish(
        &self,
        object: &Name,
        target: &str,
        response: Response<Incoming>,
        fresh: Duration,
    ) -> Option<()> {
        let config = &self.shared.config;
        let (parts, mut body) = response.into_parts();
        let fields = self.fields(&parts.headers, target);
        let known = ClientValidators {
            etag: text(&parts.headers, header::ETAG),
            modified: text(&parts.headers, header::LAST_MODIFIED),
        };
        let now = self.shared.clock.unix();
        let version =
            self.table().next_version(object, |held| version_of(&known, fields.modified, now, held));
        let has_validator = known != ClientValidators::default();
        let length =
            text(&parts.headers, header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        let make = |size_bytes| {
            let told = ServerAnswer { fields: fields.clone(), known: known.clone() };
            OriginObject::new(object.clone(), version, size_bytes, config.signer.clone(), told, fresh).ok()
        };
        if let Some(size_bytes) = length.filter(|_| has_validator) {
            // It can be published while it comes.
            let sent = {
                let mut table = self.table();
                if !table.begin(object, make(size_bytes)?) {
                    table.refuse(object);
                    return Some(());
                }
                table.settle(object, self.signer())
            };
            self.send(sent).await.ok()?;
            while let Some(bytes) = timeout(config.limits.timeout, next_bytes(&mut body)).await.ok()? {
                let bytes = bytes.ok()?;
                let sent = {
                    let mut table = self.table();
                    if !table.push(object, &bytes) {
                        return None;
                    }
                    table.settle(object, self.signer())
                };
                self.send(sent).await.ok()?;
            }
            return self.table().is_complete(object).then_some(());
        }
        // Its size, or that it is not what it was before, is known at its end only.
        let Some(bytes) = self.receive(object, &mut body).await? else {
            self.table().refuse(object);
            return Some(());
        };
        let mut table = self.table();
        if !has_validator && table.holds(object, &bytes) {
            table.refresh(object, fresh);
            return Some(());
        }
        let held = make(bytes.len() as u64)?.complete(bytes);
        if !table.begin(object, held) {
            table.refuse(object);
        }
        Some(())
    }

    /// All of an answer whose size is not known. The inner nothing means that it is too much.
    async fn receive(&self, object: &Name, body: &mut Incoming) -> Option<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        while let Some(more) = timeout(self.shared.config.limits.timeout, next_bytes(body)).await.ok()? {
            let more = more.ok()?;
            if !self.table().receive(object, more.len() as u64) {
                return Some(None);
            }
            // Never room for twice of what is there, as a vector makes it by itself.
            if bytes.capacity() - bytes.len() < more.len() {
                bytes.reserve_exact(more.len().max(GROWTH_BYTES).max(bytes.len() / 8));
            }
            bytes.extend_from_slice(&more);
        }
        Some(Some(bytes))
    }

    fn fields(&self, headers: &HeaderMap, target: &str) -> Fields {
        let location = text(headers, header::LOCATION).map(|url| {
            let name = self.shared.config.mapping.name_of_location(&url, target);
            Location { url, name }
        });
        Fields {
            modified: text(headers, header::LAST_MODIFIED).and_then(|date| parse_date(&date)),
            content_type: text(headers, header::CONTENT_TYPE),
            location,
        }
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
