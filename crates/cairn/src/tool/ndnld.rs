//! Asking ndnld, or a node in its place, for links of NDNLP v1: its control protocol (NDN-0006, section 3.3).

use client::{Client, ClientError, Clock, Event};
use link::v1::Timings;
use packet::ccnx::management::{
    ForwardingEntry, ForwardingFlags, NdnldConnection, NdnldVerb, StatusResponse, Verb,
};
use packet::ccnx::{InterestFields, Ticks};
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Name};
use trust::ccnx::{CcndRequest, CcnxSigner};

use super::ToolError;

/// How long ndnldc waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A forwarder of CCNx whose links are managed.
pub(crate) struct LinkControl {
    client: Client,
    signer: CcnxSigner,
    ccnd_id: [u8; 32],
}

impl LinkControl {
    /// Finds out who the forwarder is.
    pub(crate) fn new(mut client: Client, signer: CcnxSigner) -> Result<Self, ToolError> {
        let ccnd_id = client.ccnd_id()?.ok_or_else(|| ToolError::other("there is no key to sign with"))?;
        Ok(LinkControl { client, signer, ccnd_id })
    }

    /// What answers a request of the control protocol; nothing if nobody does, which is how it refuses.
    pub(crate) fn ask(
        &mut self,
        verb: NdnldVerb,
        asked: &NdnldConnection<'_>,
    ) -> Result<Option<Data>, ToolError> {
        self.request(CcndRequest::Link(verb, *asked))
    }

    /// Has a prefix lead to a face, or no more; false if it is not done.
    pub(crate) fn register(&mut self, verb: Verb, prefix: &Name, face: u32) -> Result<bool, ToolError> {
        let entry = ForwardingEntry {
            face_id: Some(face),
            flags: Some(ForwardingFlags::ACTIVE.with(ForwardingFlags::ADVERTISE)),
            ..ForwardingEntry::new(prefix)
        };
        let answer = self.request(CcndRequest::Prefix(verb, entry))?;
        let object = answer.as_ref().and_then(Data::ccnx);
        Ok(object.is_some_and(|object| StatusResponse::of_refused(&object).is_none()))
    }

    fn request(&mut self, asked: CcndRequest<'_>) -> Result<Option<Data>, ToolError> {
        let now = Ticks::from(self.client.connection().clock().unix());
        let nonce = Random::from_seed(Clock::seed()).next_u64().to_be_bytes();
        let lifetime = Some(Ticks::from_duration(TIMEOUT));
        let fields = InterestFields { lifetime, nonce: Some(&nonce), ..InterestFields::default() };
        let request = self.signer.ccnd_request(&self.ccnd_id, asked, now, fields);
        let request = request.map_err(ClientError::from)?;
        let wanted = self.client.express_as_is(request, TIMEOUT)?;
        loop {
            match self.client.next(None)? {
                Some(Event::Data { id, data, .. }) if id == wanted => return Ok(Some(data)),
                Some(Event::Timeout { id }) if id == wanted => return Ok(None),
                Some(_) => {}
                None => return Err(ToolError::other("interrupted")),
            }
        }
    }
}

/// What is asked for where nothing else is said: the paper's parameters.
pub(crate) fn usual() -> NdnldConnection<'static> {
    NdnldConnection {
        face_id: Some(0),
        flags: Some(packet::ccnx::ndnlp::Flags::NONE),
        ..Timings::PAPER.message()
    }
}

/// A connection in a line, as ndnldc prints it.
pub(crate) fn line(connection: &NdnldConnection<'_>) -> String {
    let mut text = format!(
        "face={} {} {}",
        connection.face_id.unwrap_or_default(),
        connection.lower_protocol.unwrap_or_default(),
        connection.host.unwrap_or_default()
    );
    if let Some(interface) = connection.local_interface {
        text.push_str(&format!(" on {interface}"));
    }
    if connection.flags.is_some_and(|flags| flags.ack_requested()) {
        text.push_str(" RLA");
    }
    if connection.status == Some("error") {
        text.push_str(" ERROR");
    }
    text
}
