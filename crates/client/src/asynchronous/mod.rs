//! The client for tokio: many tasks, one connection, and the state machines of the client that blocks.
//!
//! A [driver](driver) task owns the waiting. It takes turns of the very [`Client`] that blocks, of which none
//! waits any more, and sleeps until the socket, a deadline or one of the tasks has something for it. A call
//! of a task changes the client, wakes the driver, and looks after every turn whether what it waits for has
//! come.

mod driver;
mod get;
mod readiness;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flow::source::{ServeCounters, Source};
use management::{Command, ControlParameters, ControlResponse};
use packet::time::{Duration, Instant};
use packet::{BuildInterest, Data, Interest, LinkHeader, NackReason, Name};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::client::command_exchange::{CommandExchange, ExchangeStep};
use crate::client::commands::about;
use crate::client::{AskError, Client, OutageCounters};
use crate::error::ClientError;
use crate::event::Event;
use crate::get::{Get, Trust};
use crate::pending::{Kind, RequestId};
use crate::remote::Remote;
use crate::retry::must_be_ok;
use crate::session::Answer;

/// What the tasks and the driver share.
#[derive(Debug)]
struct Shared {
    client: Mutex<Client>,
    /// Something may have come that a task waits for.
    changed: Notify,
    /// The driver has something to do.
    poked: Notify,
    /// Why the driver has ended, until somebody is told; `None` while it goes on.
    end: Mutex<Option<End>>,
}

#[derive(Debug)]
struct End {
    why: Option<ClientError>,
    remote: Remote,
}

impl Shared {
    fn client(&self) -> MutexGuard<'_, Client> {
        // Whoever panicked did so in a source or a callback of the application.
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails when the driver has ended. The first is told why.
    fn must_go_on(&self) -> Result<(), ClientError> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(end) = end.as_mut() else { return Ok(()) };
        Err(end.why.take().unwrap_or_else(|| ClientError::Closed(end.remote.clone())))
    }
}

/// Ends the driver with the last of those who use it.
#[derive(Debug)]
struct Owner {
    shared: Arc<Shared>,
    driver: JoinHandle<()>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A [`Client`] for tasks of tokio. Clones use the same connection, any number at once: a task fetches while
/// another asks, and sources answer meanwhile. Dropping what a call returned ends what it waited for.
///
/// ```no_run
/// use cairn_client::{AsyncClient, Remote, Trust};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = AsyncClient::connect(&Remote::default_forwarder()?).await?;
/// let name = "/lab/file".parse()?;
/// let (bytes, fetched) = client.get(&name, Trust::anybody()).into_memory().await?;
/// println!("{} bytes of {}: {}", bytes.len(), fetched.name, fetched.summary.text);
/// # Ok(())
/// # }
/// ```
///
/// Sources answer in the driver's task, and are to be quick: what waits for a disk belongs into memory first.
/// They must not call the client that serves them, which waits for them.
#[derive(Clone, Debug)]
pub struct AsyncClient {
    owner: Arc<Owner>,
}

/// A request that is forgotten when nobody waits for it any more.
struct Claim<'a> {
    client: &'a AsyncClient,
    id: RequestId,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.client.lock().session.forget(self.id);
    }
}

impl AsyncClient {
    /// Connects to a forwarder. Should it go away, the client connects again.
    ///
    /// # Errors
    /// Nobody is there.
    ///
    /// # Panics
    /// Outside of a runtime of tokio with I/O and time enabled, as all of tokio does.
    pub async fn connect(remote: &Remote) -> Result<Self, ClientError> {
        let place = remote.clone();
        let connecting = tokio::task::spawn_blocking(move || Client::connect(&place));
        match connecting.await {
            Ok(client) => Ok(AsyncClient::over(client?)),
            Err(_) => Err(ClientError::Closed(remote.clone())),
        }
    }

    /// Goes on with a client that has been told what it is to be told: [`Client::when_gone`],
    /// [`Client::sign_commands_with`], [`Client::show_credentials`].
    ///
    /// # Panics
    /// As [`AsyncClient::connect`].
    pub fn over(mut client: Client) -> Self {
        client.connection.never_wait();
        let shared = Arc::new(Shared {
            client: Mutex::new(client),
            changed: Notify::new(),
            poked: Notify::new(),
            end: Mutex::new(None),
        });
        let driver = tokio::spawn(driver::drive(shared.clone()));
        AsyncClient { owner: Arc::new(Owner { shared, driver }) }
    }

    fn shared(&self) -> &Shared {
        &self.owner.shared
    }

    fn lock(&self) -> MutexGuard<'_, Client> {
        self.shared().client()
    }

    /// Changes the client, and has the driver see to what follows.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Client) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        self.shared().must_go_on()?;
        let changed = change(&mut self.lock());
        self.shared().poked.notify_one();
        changed
    }

    /// Looks at the client after every turn until there is something to be seen.
    async fn until<T>(&self, mut look: impl FnMut(&mut Client) -> Option<T>) -> Result<T, ClientError> {
        loop {
            let mut changed = std::pin::pin!(self.shared().changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            if let Some(seen) = look(&mut self.lock()) {
                return Ok(seen);
            }
            self.shared().must_go_on()?;
            changed.await;
        }
    }

    /// Waits for room to send: none while the forwarder takes less than it is given.
    async fn room(&self) -> Result<(), ClientError> {
        self.until(|client| (client.is_gone() || client.connection.has_room()).then_some(())).await
    }

    /// Waits for what comes of a request that was claimed; `None` if the forwarder went away with it.
    async fn answer(&self, id: RequestId) -> Result<Option<Answer>, ClientError> {
        let _claim = Claim { client: self, id };
        self.until(|client| match client.session.take_answer(id) {
            Some(answer) => Some(Some(answer)),
            None => (!client.session.is_claimed(id)).then_some(None),
        })
        .await
    }

    /// The time now, on the clock of the connection.
    pub fn now(&self) -> Instant {
        self.lock().now()
    }

    /// How many Interests wait for an answer, or have one that [`AsyncClient::next`] has not told of yet.
    pub fn pending(&self) -> usize {
        self.lock().pending()
    }

    /// Whether the forwarder went away, and is not there again yet.
    pub fn is_gone(&self) -> bool {
        self.lock().is_gone()
    }

    /// What outages there were.
    pub fn outages(&self) -> OutageCounters {
        self.lock().outages()
    }

    /// How many Interests came beyond what is kept for [`AsyncClient::next`].
    pub fn dropped(&self) -> u64 {
        self.lock().dropped()
    }

    /// Expresses one Interest and waits for its Data: [`Client::ask`].
    ///
    /// # Errors
    /// No answer, or a Nack; the forwarder went away, if the client is to fail then.
    pub async fn ask(&self, interest: &impl BuildInterest, timeout: Duration) -> Result<Data, AskError> {
        self.room().await?;
        let (id, name) = self.change(|client| {
            let interest = client.with_nonce(interest, timeout)?;
            let name = interest.any_name();
            let id = client.express_as_is(interest, timeout)?;
            client.session.claim(id, Kind::Question);
            Ok((id, name))
        })?;
        match self.answer(id).await? {
            Some(Answer::Data(data)) => Ok(data),
            Some(Answer::Nack(reason)) => Err(AskError::Nack { name, reason }),
            Some(Answer::Timeout) | None => Err(AskError::Timeout(name)),
        }
    }

    /// Expresses an Interest, of which [`AsyncClient::next`] tells what came: [`Client::express`].
    ///
    /// # Errors
    /// It cannot be written; the forwarder went away, if the client is to fail then.
    pub async fn express(
        &self,
        interest: &impl BuildInterest,
        timeout: Duration,
    ) -> Result<RequestId, ClientError> {
        self.room().await?;
        self.change(|client| client.express(interest, timeout))
    }

    /// The next thing that happens, told to one of those who wait for it.
    ///
    /// # Errors
    /// The forwarder does not speak the connection's dialect, or went away and the client is to fail then.
    pub async fn next(&self) -> Result<Event, ClientError> {
        self.until(|client| client.session.poll_event()).await
    }

    /// Answers an Interest that came with `asked`.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then; otherwise the answer is dropped.
    pub async fn reply(&self, data: &Data, asked: &LinkHeader) -> Result<(), ClientError> {
        self.room().await?;
        self.change(|client| client.reply(data, asked))
    }

    /// Answers an Interest that came with `asked` with a Nack.
    ///
    /// # Errors
    /// As [`AsyncClient::reply`].
    pub async fn nack(
        &self,
        interest: &Interest,
        reason: NackReason,
        asked: &LinkHeader,
    ) -> Result<(), ClientError> {
        self.room().await?;
        self.change(|client| client.nack(interest, reason, asked))
    }

    /// Waits until all that was sent is written.
    ///
    /// # Errors
    /// The forwarder went away, if the client is to fail then.
    pub async fn flush(&self) -> Result<(), ClientError> {
        self.shared().poked.notify_one();
        self.until(|client| (client.is_gone() || !client.connection.has_output()).then_some(())).await
    }

    /// The object `name`, with or without its version, from whom `trust` names: [`Client::get`].
    pub fn get(&self, name: &Name, trust: Trust) -> Get<'_, &AsyncClient> {
        let dialect = self.lock().connection().dialect();
        Get::new(self, name, trust, dialect)
    }

    /// Registers `prefix` and has `source` answer Interests under it from now on: [`Client::serve`].
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses; the source is not attached then.
    pub async fn serve(
        &self,
        prefix: &Name,
        source: impl Source + Send + 'static,
    ) -> Result<(), ClientError> {
        self.attach(prefix, source);
        let registered = self.register(prefix).await;
        registered.inspect_err(|_| self.lock().session.detach(prefix))
    }

    /// Has `source` answer Interests under `prefix` without registering it.
    pub fn attach(&self, prefix: &Name, source: impl Source + Send + 'static) {
        self.lock().attach(prefix, source);
    }

    /// What the source that is attached under this very prefix has done: [`Client::served`].
    pub fn served(&self, prefix: &Name) -> Option<ServeCounters> {
        self.lock().served(prefix)
    }

    /// Ends what [`AsyncClient::serve`] began.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses; the source answers no more in any case.
    pub async fn stop_serving(&self, prefix: &Name) -> Result<(), ClientError> {
        self.lock().session.detach(prefix);
        self.unregister(prefix).await
    }

    /// Asks the forwarder for Interests under `prefix`, now and whenever it has started again.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub async fn register(&self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = about(prefix);
        self.execute(Command::RibRegister, &wanted).await?;
        self.lock().keep(Command::RibRegister, &wanted);
        Ok(())
    }

    /// Asks the forwarder for no more Interests under `prefix`.
    ///
    /// # Errors
    /// The forwarder does not answer, or refuses.
    pub async fn unregister(&self, prefix: &Name) -> Result<(), ClientError> {
        let wanted = about(prefix);
        self.lock().forget(Command::RibRegister, &wanted);
        self.execute(Command::RibUnregister, &wanted).await
    }

    /// Asks the forwarder for no more Interests at all, for who is about to end: [`Client::withdraw`]. Waits
    /// for the answers, but not longer than `timeout`.
    pub async fn withdraw(&self, timeout: Duration) {
        // What the forwarder says to it changes nothing, and who ends has no use for an error.
        let _ = tokio::time::timeout(driver::span(timeout), self.withdraw_all()).await;
    }

    async fn withdraw_all(&self) -> Result<(), ClientError> {
        let prefixes = self.change(|client| {
            let prefixes = client.registered();
            prefixes.iter().for_each(|prefix| client.forget(Command::RibRegister, &about(prefix)));
            Ok(prefixes)
        })?;
        let mut asked = Vec::with_capacity(prefixes.len());
        for prefix in &prefixes {
            self.room().await?;
            let id = self.change(|client| client.send_command(Command::RibUnregister, &about(prefix)))?;
            asked.push(Claim { client: self, id });
        }
        self.until(|client| {
            let session = &mut client.session;
            let is_over =
                |claim: &Claim<'_>| session.take_answer(claim.id).is_some() || !session.is_claimed(claim.id);
            asked.iter().all(is_over).then_some(())
        })
        .await
    }

    async fn execute(&self, command: Command, parameters: &ControlParameters) -> Result<(), ClientError> {
        let response = self.command(command, parameters).await?;
        must_be_ok(&self.lock().management_request(command, parameters), response)
    }

    /// Gives the forwarder a command and waits for how it went, for a refusal too.
    ///
    /// # Errors
    /// The forwarder does not answer, or its answer makes no sense.
    pub async fn command(
        &self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<ControlResponse, ClientError> {
        let mut exchange = CommandExchange::new(&self.lock(), command, parameters);
        loop {
            self.room().await?;
            let id = self.change(|client| exchange.poll(client))?;
            let Some(answer) = self.answer(id).await? else {
                return Err(ClientError::Away(self.lock().connection().remote().clone()));
            };
            let step = exchange.handle_answer(&mut self.lock(), answer)?;
            match step {
                ExchangeStep::Done(response) => return Ok(response),
                ExchangeStep::Again(Duration::ZERO) => {}
                ExchangeStep::Again(after) => tokio::time::sleep(driver::span(after)).await,
            }
        }
    }
}
