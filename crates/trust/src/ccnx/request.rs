//! Signed requests to a ccnd, and to an ndnld beside it.

use packet::ccnx::management::{ForwardingEntry, NdnldConnection, NdnldVerb, StrategySelection, Verb};
use packet::ccnx::{ContentObjectView, InterestFields, Scope, Ticks};
use packet::{Component, DecodeError, Interest, Name};

use super::{CcnxSigner, verify_by_own_key};
use crate::error::SignError;

/// What is asked of a ccnd. Neither the action nor the forwarder's id need stand in it.
#[derive(Clone, Copy, Debug)]
pub enum CcndRequest<'a> {
    /// That a prefix leads to a face, or no more.
    Prefix(Verb, ForwardingEntry<'a>),
    /// That a prefix has another strategy.
    Strategy(Verb, StrategySelection<'a>),
    /// Something about links of NDNLP v1, which ndnld is asked for.
    Link(NdnldVerb, NdnldConnection<'a>),
}

impl CcndRequest<'_> {
    fn action(&self) -> &'static str {
        match self {
            CcndRequest::Prefix(verb, _) | CcndRequest::Strategy(verb, _) => verb.as_str(),
            CcndRequest::Link(verb, _) => verb.as_str(),
        }
    }

    fn content(&self, ccnd_id: &[u8; 32]) -> Result<Vec<u8>, DecodeError> {
        let (action, ccnd_id) = (Some(self.action()), Some(ccnd_id));
        match self {
            CcndRequest::Prefix(_, entry) => ForwardingEntry { action, ccnd_id, ..*entry }.encode(),
            CcndRequest::Strategy(_, choice) => StrategySelection { action, ccnd_id, ..*choice }.encode(),
            CcndRequest::Link(_, connection) => Ok(NdnldConnection { action, ..*connection }.encode()),
        }
    }
}

/// The prefix of what is asked of the ndnld beside a ccnd: `/ccnx/ndnld/<CCNDID>/control`.
///
/// # Errors
/// None: such a name is short.
pub fn ndnld_control_prefix(ccnd_id: &[u8; 32]) -> Result<Name, DecodeError> {
    Name::from_components(ndnld_control_components(ccnd_id).map(Component::generic))
}

/// The components of [`ndnld_control_prefix`].
pub fn ndnld_control_components(ccnd_id: &[u8; 32]) -> [&[u8]; 4] {
    [b"ccnx", b"ndnld", ccnd_id, b"control"]
}

impl CcnxSigner {
    /// The Interest that asks something of the ccnd with this id: `/ccnx/<CCNDID>/<verb>/<object>`, or, for
    /// links, `/ccnx/ndnld/<CCNDID>/control/<verb>/<object>`. The object is signed by this key, and the
    /// Interest does not leave this host. `fields` are what else it says, such as a nonce.
    ///
    /// # Errors
    /// A prefix that CCNx cannot express, or that is too long; a failure of the library.
    pub fn ccnd_request(
        &self,
        ccnd_id: &[u8; 32],
        request: CcndRequest<'_>,
        now: Ticks,
        fields: InterestFields<'_>,
    ) -> Result<Interest, SignError> {
        let content = request.content(ccnd_id).map_err(invalid)?;
        let object = self.sign(&Name::root(), &content, now, |info| info)?;
        let prefix = match request {
            CcndRequest::Link(..) => ndnld_control_prefix(ccnd_id),
            CcndRequest::Prefix(..) | CcndRequest::Strategy(..) => {
                Name::from_components([&b"ccnx"[..], ccnd_id].map(Component::generic))
            }
        };
        let with = |name: Name, value: &[u8]| name.with(Component::generic(value));
        let name = prefix.and_then(|prefix| with(prefix, request.action().as_bytes()));
        let name = name.and_then(|name| with(name, &object)).map_err(invalid)?;
        Ok(InterestFields { scope: Some(Scope::HOST), ..fields }.build(&name)?)
    }
}

/// What a request's last component asks for: the Content of the object there, if its signature holds.
pub fn signed_content(object: &[u8]) -> Option<&[u8]> {
    let object = ContentObjectView::decode(object).ok()?;
    verify_by_own_key(&object).ok()?;
    Some(object.content())
}

fn invalid(error: DecodeError) -> SignError {
    SignError::Encode(error.into())
}

#[cfg(test)]
mod tests {
    use packet::ccnx::uri;

    use super::*;
    use crate::key::{KeyKind, PrivateKey};

    #[test]
    fn a_request_has_the_name_that_ccnd_or_ndnld_expects_and_a_signed_object_at_its_end() {
        let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
        let room = uri::parse("ccnx:/room").unwrap();
        let (entry, choice) = (ForwardingEntry::new(&room), StrategySelection::new(&room));
        let list = NdnldConnection::default();
        let (id, now) = ([7; 32], Ticks::from_unix(1_700_000_000, 0));
        let (action, ccnd_id) = (Some("selfreg"), Some(&id));
        let sent_entry = ForwardingEntry { action, ccnd_id, ..entry }.encode().unwrap();
        let sent_choice =
            StrategySelection { action: Some("setstrategy"), ccnd_id, ..choice }.encode().unwrap();
        let sent_list = NdnldConnection { action: Some("listconnections"), ..list }.encode();
        for (request, expected, sent) in [
            (CcndRequest::Prefix(Verb::SelfReg, entry), vec![&b"ccnx"[..], &id, b"selfreg"], sent_entry),
            (
                CcndRequest::Strategy(Verb::SetStrategy, choice),
                vec![b"ccnx", &id, b"setstrategy"],
                sent_choice,
            ),
            (
                CcndRequest::Link(NdnldVerb::ListConnections, list),
                vec![b"ccnx", b"ndnld", &id, b"control", b"listconnections"],
                sent_list,
            ),
        ] {
            let interest = signer.ccnd_request(&id, request, now, InterestFields::default()).unwrap();
            assert_eq!(interest.ccnx().unwrap().scope(), Some(Scope::HOST));
            let components: Vec<&[u8]> = interest.name().components().map(|part| part.value).collect();
            let (object, before) = components.split_last().unwrap();
            assert_eq!(before, expected);
            assert_eq!(signed_content(object).unwrap(), sent);
        }
    }
}
