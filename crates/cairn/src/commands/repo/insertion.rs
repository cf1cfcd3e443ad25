//! Handing an object over to a repository elsewhere: it is told to insert, fetches, and says when it is done.

use client::{Client, Event};
use flow::source::Packets;
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Name};
use repo::protocol::{
    Code, Command, CommandStatus, Notify, ObjectCommand, Query, check_prefix, message_name, notify_prefix,
};
use trust::{InterestSigner, Signer, sha256};

use crate::tool::ToolError;
use crate::tool::interrupt::Interrupt;

/// How long the repository may take to fetch the command.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(4);
const NOTIFY_ATTEMPTS: u32 = 3;
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Checks in a row without an answer, or with one that says that there is no such command.
const MAX_UNANSWERED: u32 = 20;

/// An object on its way to a repository.
pub(in crate::commands) struct Insertion<'a> {
    /// The repository's name.
    pub(in crate::commands) repository: &'a Name,
    /// A prefix that is registered.
    pub(in crate::commands) publisher: Name,
    /// The object with its version.
    pub(in crate::commands) object: Name,
    pub(in crate::commands) last_segment: u64,
    /// Signs the command.
    pub(in crate::commands) signer: Signer,
}

impl Insertion<'_> {
    /// Waits until the object is stored there, which the client serves meanwhile; gives how many packets are.
    pub(in crate::commands) fn run(
        &self,
        client: &mut Client,
        interrupt: &Interrupt,
    ) -> Result<u64, ToolError> {
        let object =
            ObjectCommand { end: Some(self.last_segment), ..ObjectCommand::whole(self.object.clone()) };
        let command = Command { objects: vec![object] }.encode();
        let request = sha256(&command);
        let mut random = Random::from_seed(client::Clock::seed());
        let nonce = random.next_u32().to_be_bytes();
        let message = DataBuilder::new(message_name(&self.publisher, self.repository, "insert", &nonce)?)
            .freshness(Duration::from_secs(1))
            .content(command);
        let message = self.signer.sign_data(&message)?;
        client.attach(&message.name().to_name(), Packets::new([message]));
        let mut signer = InterestSigner::new(self.signer.clone(), random);
        let notify = Notify { publisher: self.publisher.clone(), nonce: nonce.to_vec(), hint: None };
        let notify = InterestBuilder::new(notify_prefix(self.repository, "insert")?)
            .application_parameters(notify.encode());
        let mut tries = 0;
        while ask(client, &mut signer, &notify, NOTIFY_TIMEOUT)?.is_none() {
            tries += 1;
            if tries == NOTIFY_ATTEMPTS || interrupt.came() {
                let why =
                    format!("{} does not answer, or does not take commands of this key", self.repository);
                return Err(ToolError::other(why));
            }
        }
        self.wait(client, &mut signer, request, interrupt)
    }

    /// Asks how far it is until it is done.
    fn wait(
        &self,
        client: &mut Client,
        signer: &mut InterestSigner,
        request: [u8; 32],
        interrupt: &Interrupt,
    ) -> Result<u64, ToolError> {
        let query = InterestBuilder::new(check_prefix(self.repository, "insert")?)
            .must_be_fresh(true)
            .application_parameters(Query { request }.encode());
        let mut silence = 0;
        while silence < MAX_UNANSWERED && !interrupt.came() {
            let answer = ask(client, signer, &query, CHECK_TIMEOUT)?;
            let status = answer.map(|data| CommandStatus::decode(data.content())).transpose()?;
            match status {
                Some(status) if status.code == Code::COMPLETED => {
                    return Ok(status.objects.iter().filter_map(|object| object.inserted).sum());
                }
                // It may be asked before it has noted the command.
                None | Some(CommandStatus { code: Code::NOT_FOUND, .. }) => silence += 1,
                Some(status) if status.code >= Code::FAILED => {
                    let stored: u64 = status.objects.iter().filter_map(|object| object.inserted).sum();
                    let why = format!("{} could not store all of it: {stored} packets are", self.repository);
                    return Err(ToolError::other(why));
                }
                Some(_) => silence = 0,
            }
            let until = client.now() + CHECK_INTERVAL;
            client.run(Some(until))?;
        }
        Err(ToolError::other(format!("{} does not say whether it has stored all of it", self.repository)))
    }
}

/// Asks by an Interest that is signed, with a nonce of its own each time, so that no cache answers.
fn ask(
    client: &mut Client,
    signer: &mut InterestSigner,
    interest: &InterestBuilder,
    timeout: Duration,
) -> Result<Option<Data>, ToolError> {
    let unix = client.connection().clock().unix().as_millis();
    let signed = signer.sign(unix, &interest.clone().lifetime(timeout))?;
    let wanted = client.express_as_is(signed, timeout)?;
    loop {
        match client.next(None)? {
            Some(Event::Data { id, data, .. }) if id == wanted => return Ok(Some(data)),
            Some(Event::Nack { id, .. } | Event::Timeout { id }) if id == wanted => return Ok(None),
            Some(Event::SourceFailed { error, .. }) => return Err(ToolError::other(error)),
            Some(_) => {}
            // A signal.
            None => return Ok(None),
        }
    }
}
