//! ndnld's control protocol: the Interest `/ccnx/ndnld/<CCNDID>/control/<verb>/<object>`, whose last
//! component holds a signed NdnldConnection (NDN-0006, section 3.3.1). What cannot be done gets no answer.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use client::Remote;
use engine::FaceId;
use node::LinkRequest;
use packet::ccnx::management::{ForwardingEntry, ForwardingFlags, NdnldConnection};
use packet::ccnx::pdu::EMPTY_PDU;
use packet::ccnx::{ContentObjectView, InterestFields, Scope, Ticks, message_len};
use packet::time::Duration;
use packet::{Component, Interest, Name};
use trust::ccnx::{CcnxSigner, verify_by_own_key};

use super::Neighbour;
use super::worker::Worker;
use crate::tool::ToolError;
use crate::tool::ccnx::ccnx_interest;

/// How long the forwarder may take to say which face a new connection is.
const PATIENCE: StdDuration = StdDuration::from_secs(3);
/// For how long the forwarder keeps the registration that is made only to learn that.
const DISCOVERY_SECONDS: u32 = 1;
/// The most bytes of what comes until it has.
const MAX_DISCOVERY_BYTES: usize = 1 << 16;
/// What an answer of ours holds beside its name: 8,800 bytes, less signature and key of the longest kind.
const MAX_ANSWER_BYTES: usize = 7300;

/// Whom links are asked of.
pub(crate) struct Control {
    /// The forwarder, to which each link has a connection of its own.
    pub(crate) forwarder: Remote,
    pub(crate) ccnd_id: [u8; 32],
    pub(crate) signer: CcnxSigner,
    pub(crate) worker: Worker,
}

impl Control {
    /// What is asked for lies below this name.
    pub(crate) fn prefix(&self) -> Result<Name, ToolError> {
        let components: [&[u8]; 4] = [b"ccnx", b"ndnld", &self.ccnd_id, b"control"];
        Ok(Name::from_components(components.map(Component::generic))?)
    }

    /// The content that answers a request; `None` for no answer, with the reason on standard error.
    pub(crate) fn handle_interest(&mut self, interest: &Interest, now: Ticks) -> Option<Vec<u8>> {
        // As links decide whom this host sends to, only its own programs may ask; the forwarder lets no such
        // Interest come from elsewhere.
        let scope = interest.ccnx()?.scope()?;
        if scope > Scope::HOST {
            return None;
        }
        let mut components = interest.name().components().skip(4);
        let (verb, object) = (components.next()?, components.next()?);
        if components.next().is_some() {
            return None;
        }
        let object = ContentObjectView::decode(object.value).ok()?;
        verify_by_own_key(&object).ok()?;
        let asked = NdnldConnection::decode(object.content()).ok()?;
        let action = asked.action.filter(|action| action.as_bytes() == verb.value)?;
        match action {
            "connect" => match self.connect(&asked, now) {
                Ok(told) => told,
                Err(error) => {
                    tell!("cairn: no link to {}: {error}", asked.host.unwrap_or_default().escape_debug());
                    None
                }
            },
            "disconnect" => {
                let face = FaceId(asked.face_id?);
                self.worker.call(move |links| links.remove(face))?
            }
            "listconnections" => {
                let room = MAX_ANSWER_BYTES.saturating_sub(interest.name().canonical().len());
                self.worker.call(move |links| links.list(room))
            }
            _ => None,
        }
    }

    fn connect(&mut self, asked: &NdnldConnection<'_>, now: Ticks) -> Result<Option<Vec<u8>>, ToolError> {
        let wrong = || ToolError::other("the address makes no sense");
        let (request, remote, local) = LinkRequest::of(asked).ok_or_else(wrong)?;
        let neighbour = Neighbour::of(remote, local).ok_or_else(wrong)?;
        let known = neighbour.clone();
        if let Some(told) = self.worker.call(move |links| links.tell_of(&known)).flatten() {
            return Ok(Some(told));
        }
        // The forwarder is not bothered for what cannot be had.
        let checked = neighbour.clone();
        if let Some(outcome) = self.worker.call(move |links| links.prepare(&checked)) {
            outcome.map_err(in_words)?;
        }
        let (face, stream, came) = self.open_face(now)?;
        let shown = neighbour.to_string();
        let added = self.worker.call(move |links| links.add(face, request, neighbour, stream, came));
        let added = added.ok_or_else(|| ToolError::other("the thread of the links has ended"))?;
        let told = added.map_err(in_words)?;
        tell!("link {face} leads to {shown}");
        Ok(Some(told))
    }

    /// A connection to the forwarder that is a link adapter's, with the number of its face there.
    fn open_face(&self, now: Ticks) -> Result<(FaceId, OwnedFd, Vec<u8>), ToolError> {
        match &self.forwarder {
            Remote::Unix(path) => {
                let mut stream = UnixStream::connect(path).map_err(in_words)?;
                stream.set_read_timeout(Some(PATIENCE / 3)).map_err(in_words)?;
                let (face, came) = self.learn_face(&mut stream, now)?;
                Ok((face, stream.into(), came))
            }
            Remote::Tcp(host) => {
                let address = host
                    .addresses()
                    .map_err(in_words)?
                    .next()
                    .ok_or_else(|| ToolError::other("no such host"))?;
                let mut stream =
                    std::net::TcpStream::connect_timeout(&address, PATIENCE).map_err(in_words)?;
                stream.set_read_timeout(Some(PATIENCE / 3)).map_err(in_words)?;
                stream.set_nodelay(true).map_err(in_words)?;
                let (face, came) = self.learn_face(&mut stream, now)?;
                Ok((face, stream.into(), came))
            }
            _ => Err(ToolError::other("links need a forwarder that is reached over unix:// or tcp://")),
        }
    }

    /// Registers a name for a second, by which the forwarder tells the number of the face, and then says that
    /// this is a link adapter. What has come behind the answer belongs to the link.
    pub(super) fn learn_face(
        &self,
        stream: &mut (impl io::Read + io::Write),
        now: Ticks,
    ) -> Result<(FaceId, Vec<u8>), ToolError> {
        let interest = self.discovery(now)?;
        stream.write_all(interest.wire()).map_err(in_words)?;
        let deadline = StdInstant::now() + PATIENCE;
        let mut came = Vec::new();
        loop {
            let mut piece = [0; 4096];
            let len = match stream.read(&mut piece) {
                Ok(0) => return Err(ToolError::other("the forwarder has closed the connection")),
                Ok(len) => len,
                Err(error) if is_silence(error.kind()) => 0,
                Err(error) => return Err(in_words(error)),
            };
            came.extend_from_slice(piece.get(..len).unwrap_or_default());
            while let Some(len) = message_len(&came)? {
                let message: Vec<u8> = came.drain(..len).collect();
                let object = ContentObjectView::decode(&message).ok();
                let entry = object.as_ref().and_then(|object| ForwardingEntry::decode(object.content()).ok());
                if let Some(face) = entry.and_then(|entry| entry.face_id) {
                    stream.write_all(&EMPTY_PDU).map_err(in_words)?;
                    return Ok((FaceId(face), came));
                }
            }
            if came.len() > MAX_DISCOVERY_BYTES || StdInstant::now() > deadline {
                return Err(ToolError::other("the forwarder does not say which face the connection is"));
            }
        }
    }

    fn discovery(&self, now: Ticks) -> Result<Interest, ToolError> {
        let of_ours: [&[u8]; 4] = [b"ccnx", b"ndnld", &self.ccnd_id, b"discover-faceid"];
        let prefix = Name::from_components(of_ours.map(Component::generic))?;
        let entry = ForwardingEntry {
            action: Some("selfreg"),
            ccnd_id: Some(&self.ccnd_id),
            flags: Some(ForwardingFlags::LAST.with(ForwardingFlags::LOCAL)),
            freshness_seconds: Some(DISCOVERY_SECONDS),
            ..ForwardingEntry::new(&prefix)
        };
        let object = self.signer.sign(&Name::root(), &entry.encode()?, now, |info| info)?;
        let asked: [&[u8]; 4] = [b"ccnx", &self.ccnd_id, b"selfreg", &object];
        let name = Name::from_components(asked.map(Component::generic))?;
        let fields = InterestFields { scope: Some(Scope::HOST), ..InterestFields::default() };
        ccnx_interest(&name, fields, Duration::from_secs(4))
    }
}

/// Whether nothing came within the time that a read may take.
fn is_silence(error: io::ErrorKind) -> bool {
    matches!(error, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// What the system says, which is not about this tool's output.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn in_words(error: io::Error) -> ToolError {
    ToolError::other(error.to_string())
}
