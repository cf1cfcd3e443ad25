//! ndnld's control protocol: its clients make, destroy and list links of NDNLP v1 (NDN-0006, section 3.3).
//!
//! A request is the Interest `/ccnx/ndnld/<CCNDID>/control/<verb>/<object>`, whose last component holds a
//! signed NdnldConnection. What cannot be done gets no answer. Two have links: the node, as faces of its own,
//! and the [`adaptor`] beside a forwarder that has none.

pub mod adaptor;
mod link_request;

use engine::FaceId;
use packet::ccnx::management::{Collection, NdnldConnection, NdnldVerb};
use trust::ccnx::signed_content;

use crate::control::FaceState;
pub(crate) use link_request::LinkRequest;

/// Links at once; what is asked for beyond gets no answer.
pub(crate) const MAX_LINKS: usize = 256;
/// Bytes of a list: what an object holds beside its long name, keys and signature.
const MAX_LIST_BYTES: usize = 6500;

/// A link as clients are told of it.
#[derive(Clone, Debug)]
pub(crate) struct LinkStatus {
    pub(crate) asked: LinkRequest,
    pub(crate) face: FaceId,
    pub(crate) state: FaceState,
}

/// Whoever has links.
pub(crate) trait LinkTable {
    /// Makes a link, or gives the one that there is; `None` if there can be none.
    fn connect(&mut self, asked: &NdnldConnection<'_>) -> Option<LinkStatus>;

    /// Destroys the link behind a face, and gives what it was; `None` if there is none.
    fn disconnect(&mut self, face: FaceId) -> Option<LinkStatus>;

    /// All links, those of the oldest faces first.
    fn list(&mut self) -> Vec<LinkStatus>;
}

/// The content that answers a request, of `room` bytes at most if it is a list; `None` for no answer.
pub(crate) fn answer(verb: &[u8], object: &[u8], room: usize, links: &mut impl LinkTable) -> Option<Vec<u8>> {
    let asked = NdnldConnection::decode(signed_content(object)?).ok()?;
    let verb = NdnldVerb::of(verb).filter(|verb| asked.action == Some(verb.as_str()))?;
    match verb {
        NdnldVerb::Connect => links.connect(&asked).map(|link| link.tell(verb)),
        NdnldVerb::Disconnect => links.disconnect(FaceId(asked.face_id?)).map(|link| link.tell(verb)),
        NdnldVerb::ListConnections => {
            let mut bytes = 0;
            let items = links.list().into_iter().map(|link| link.tell(verb));
            Some(Collection::encode(items.take_while(|item| {
                bytes += item.len();
                bytes <= room.min(MAX_LIST_BYTES)
            })))
        }
    }
}

impl LinkStatus {
    fn tell(&self, verb: NdnldVerb) -> Vec<u8> {
        self.asked.tell(verb, self.face, self.state)
    }
}
