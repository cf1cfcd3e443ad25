//! Requests to a forwarder of CCNx 0.8: who it is, which prefixes it is to send here, and by which strategy
//! it is to forward.
//!
//! They do what NFD's commands `rib/register`, `rib/unregister`, `strategy-choice/set` and
//! `strategy-choice/unset` do, so that whoever gives these need not know which dialect the forwarder speaks:
//! a request goes out in place of the command, and its answer is read as if NFD had given it.

use management::{Command, ControlParameters, ControlResponse, StatusCode};
use packet::ccnx::management::{
    ForwardingEntry, StatusResponse, StrategySelection, Verb, ccnd_key_prefix, strategy_in_ccnd,
};
use packet::ccnx::{InterestFields, Scope, markers};
use packet::{Data, DecodeError, Interest, Name};
use trust::UnixTime;
use trust::ccnx::{CcndRequest, CcnxSigner};

use crate::error::{ClientError, Unsendable};

/// Where the verb stands in the name of a request.
const VERB_AT: usize = 2;

/// Where the word for a strategy stands in its name: /localhost/nfd/strategy/multicast.
const STRATEGY_WORD_AT: usize = 3;

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
        ccnd_key_prefix(markers::LOCALHOST)
    }

    /// Asks for the object with its key, on this host.
    pub(crate) fn who_is_it(nonce: u32) -> Result<Interest, ClientError> {
        let name = Ccnd::key_name().map_err(Unsendable::from)?;
        let nonce = nonce.to_be_bytes();
        let fields =
            InterestFields { scope: Some(Scope::HOST), nonce: Some(&nonce), ..InterestFields::default() };
        Ok(fields.build(&name)?)
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
        let registration = |verb, face_id| {
            CcndRequest::Prefix(verb, ForwardingEntry { face_id, ..ForwardingEntry::new(prefix) })
        };
        let choice = |verb, strategy| {
            CcndRequest::Strategy(verb, StrategySelection { strategy, ..StrategySelection::new(prefix) })
        };
        let request = match command {
            Command::RibRegister => registration(Verb::SelfReg, None),
            Command::RibUnregister => registration(Verb::Unreg, self.face),
            Command::StrategySet => {
                let word = parameters.strategy.as_ref().and_then(strategy_in_ccnx);
                choice(Verb::SetStrategy, Some(word.ok_or(Unsendable::OtherDialect)?))
            }
            Command::StrategyUnset => choice(Verb::RemoveStrategy, None),
            _ => return Err(Unsendable::OtherDialect.into()),
        };
        let nonce = nonce.to_be_bytes();
        let fields = InterestFields { nonce: Some(&nonce), ..InterestFields::default() };
        Ok(self.signer.ccnd_request(id, request, now.into(), fields)?)
    }

    /// What an answer would be if NFD had given it.
    ///
    /// # Errors
    /// It makes no sense.
    pub(crate) fn response(&mut self, data: &Data) -> Result<ControlResponse, DecodeError> {
        let object = data.ccnx();
        if let Some(status) = object.as_ref().and_then(StatusResponse::of_refused).transpose()? {
            let code = match status.code {
                StatusResponse::ADDRESS..=StatusResponse::PARAMETER => StatusCode::BadParameters,
                _ => StatusCode::Unauthorized,
            };
            let text = format!("{} (CCNx code {})", status.text.unwrap_or("refused"), status.code);
            return Ok(ControlResponse::error(code, text));
        }
        match data.name().component(VERB_AT).and_then(|verb| Verb::of(verb.value)) {
            Some(Verb::SetStrategy | Verb::RemoveStrategy) => {
                StrategySelection::decode(data.content())?;
            }
            _ => {
                let entry = ForwardingEntry::decode(data.content())?;
                self.face = entry.face_id.or(self.face);
            }
        }
        Ok(ControlResponse::ok(&ControlParameters::default()))
    }
}

/// What ccnd calls a strategy that NFD's command names; `None` if it has none that does the same.
fn strategy_in_ccnx(name: &Name) -> Option<&'static str> {
    strategy_in_ccnd(name.as_ref().component(STRATEGY_WORD_AT)?.value)
}

#[cfg(test)]
mod tests {
    use packet::ccnx::{ContentObjectView, Ticks};
    use trust::{KeyKind, PrivateKey};

    use super::*;

    const NOW: UnixTime = UnixTime::from_secs(1_700_000_000);

    fn signer() -> CcnxSigner {
        CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap()
    }

    fn choice(strategy: &str) -> ControlParameters {
        let strategy = format!("/localhost/nfd/strategy/{strategy}").parse().unwrap();
        let name = packet::ccnx::uri::parse("ccnx:/room").unwrap();
        ControlParameters { name: Some(name), strategy: Some(strategy), ..ControlParameters::default() }
    }

    #[test]
    fn a_strategy_is_chosen_by_ccnd_s_word_for_it_and_taken_back() {
        let mut ccnd = Ccnd { id: Some([7; 32]), ..Ccnd::new(signer()) };
        for (command, verb, word) in [
            (Command::StrategySet, "setstrategy", Some("parallel")),
            (Command::StrategyUnset, "removestrategy", None),
        ] {
            let request = ccnd.request(command, &choice("multicast/v=5"), NOW, 1).unwrap();
            let name = request.name().to_name();
            assert_eq!(name.as_ref().component(VERB_AT).unwrap().value, verb.as_bytes());
            let object = name.as_ref().last().unwrap().value.to_vec();
            let object = ContentObjectView::decode(&object).unwrap();
            let asked = StrategySelection::decode(object.content()).unwrap();
            assert_eq!((asked.action, asked.strategy, asked.ccnd_id), (Some(verb), word, Some(&[7; 32])));

            let room = packet::ccnx::uri::parse("ccnx:/room").unwrap();
            let done = StrategySelection { strategy: Some("parallel"), ..StrategySelection::new(&room) };
            let done = done.encode().unwrap();
            let answer = signer().sign(&name, &done, Ticks::from(NOW), |info| info).unwrap();
            let answer = Data::decode_ccnx(answer.into()).unwrap();
            assert!(ccnd.response(&answer).unwrap().is_ok());
            let nonsense = signer().sign(&name, b"nonsense", Ticks::from(NOW), |info| info).unwrap();
            assert!(ccnd.response(&Data::decode_ccnx(nonsense.into()).unwrap()).is_err());
        }
        let unknown = ccnd.request(Command::StrategySet, &choice("self-learning"), NOW, 1);
        assert!(matches!(unknown, Err(ClientError::Unsendable(Unsendable::OtherDialect))), "{unknown:?}");
    }
}
