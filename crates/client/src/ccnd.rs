//! Requests to a forwarder of CCNx 0.8: who it is, and which prefixes it is to send here.
//!
//! They do what NFD's commands `rib/register` and `rib/unregister` do, so that whoever registers prefixes
//! need not know which dialect the forwarder speaks: a request goes out in place of the command, and its
//! answer is read as if NFD had given it.

use management::{Command, ControlParameters, ControlResponse, StatusCode};
use packet::ccnx::management::{ForwardingEntry, StatusResponse};
use packet::ccnx::{ContentKind, InterestFields, Scope, markers};
use packet::{Component, Data, DecodeError, Interest, Name};
use trust::UnixTime;
use trust::ccnx::CcnxSigner;

use crate::error::{ClientError, Unsendable};

const CCNX: &[u8] = b"ccnx";
const CCND: &[u8] = b"ccnd";
const KEY: &[u8] = b"KEY";

/// What is known of the ccnd at the other end, and the key that requests to it are signed with.
#[derive(Debug)]
pub(crate) struct Ccnd {
    signer: CcnxSigner,
    /// The digest of its key, which is part of the name of every request.
    id: Option<[u8; 32]>,
    /// Our face, as it calls it.
    face: Option<u32>,
}

impl Ccnd {
    pub(crate) fn new(signer: CcnxSigner) -> Self {
        Ccnd { signer, id: None, face: None }
    }

    /// Another one may be there now, with another key, and call our face something else.
    pub(crate) fn forget(&mut self) {
        (self.id, self.face) = (None, None);
    }

    /// Whether it must be asked who it is before anything else can be asked of it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.id.is_none()
    }

    /// The digest of its key, once that is known.
    pub(crate) fn id(&self) -> Option<&[u8; 32]> {
        self.id.as_ref()
    }

    /// Where the object with its key is.
    pub(crate) fn key_name() -> Result<Name, DecodeError> {
        name(&[markers::LOCALHOST, markers::SERVICE, CCND, KEY])
    }

    /// Asks for the object with its key.
    pub(crate) fn who_is_it(nonce: u32) -> Result<Interest, ClientError> {
        interest(&Ccnd::key_name().map_err(Unsendable::from)?, nonce)
    }

    /// Its key has come. Who answers there is on this host, and might as well be the ccnd.
    pub(crate) fn handle_key(&mut self, data: &Data) {
        self.id = data.ccnx().map(|object| *object.publisher());
    }

    /// The request in place of a command of NFD; there is none for most.
    pub(crate) fn request(
        &self,
        command: Command,
        parameters: &ControlParameters,
        now: UnixTime,
        nonce: u32,
    ) -> Result<Interest, ClientError> {
        let (Some(id), Some(prefix)) = (&self.id, &parameters.name) else {
            return Err(Unsendable::OtherDialect.into());
        };
        let (verb, face_id) = match command {
            Command::RibRegister => ("selfreg", None),
            Command::RibUnregister => ("unreg", self.face),
            _ => return Err(Unsendable::OtherDialect.into()),
        };
        let entry = ForwardingEntry {
            action: Some(verb),
            ccnd_id: Some(id),
            face_id,
            ..ForwardingEntry::new(prefix)
        };
        let content = entry.encode().map_err(Unsendable::from)?;
        let object = self.signer.sign(&Name::root(), &content, now.into(), |info| info)?;
        let name = name(&[CCNX, id, verb.as_bytes(), &object]).map_err(Unsendable::from)?;
        interest(&name, nonce)
    }

    /// What an answer would be if NFD had given it.
    ///
    /// # Errors
    /// It makes no sense.
    pub(crate) fn response(&mut self, data: &Data) -> Result<ControlResponse, DecodeError> {
        if data.ccnx().is_some_and(|object| object.kind() == ContentKind::Nack) {
            let status = StatusResponse::decode(data.content())?;
            let code = match status.code {
                StatusResponse::ADDRESS..=StatusResponse::PARAMETER => StatusCode::BadParameters,
                _ => StatusCode::Unauthorized,
            };
            let text = format!("{} (CCNx code {})", status.text.unwrap_or("refused"), status.code);
            return Ok(ControlResponse::error(code, text));
        }
        let entry = ForwardingEntry::decode(data.content())?;
        self.face = entry.face_id.or(self.face);
        Ok(ControlResponse::ok(&ControlParameters::default()))
    }
}

fn name(components: &[&[u8]]) -> Result<Name, DecodeError> {
    Name::from_components(components.iter().map(|component| Component::generic(component)))
}

/// An Interest that does not leave this host.
fn interest(name: &Name, nonce: u32) -> Result<Interest, ClientError> {
    let nonce = nonce.to_be_bytes();
    let fields =
        InterestFields { scope: Some(Scope::HOST), nonce: Some(&nonce), ..InterestFields::default() };
    let wire = fields.encode(name)?;
    Ok(Interest::decode_ccnx(wire.into()).map_err(Unsendable::from)?)
}
