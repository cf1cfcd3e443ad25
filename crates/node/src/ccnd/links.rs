//! ndnld's control protocol: links of NDNLP v1 are made, destroyed and listed by `ndnldc`.
//!
//! ndnld is a process of its own beside ccnd; here its links are faces of the node, and the node answers in
//! its place: the Interest `/ccnx/ndnld/<CCNDID>/control/<verb>/<object>`, whose last component holds a
//! signed NdnldConnection (NDN-0006, section 3.3.1). What cannot be done gets no answer, as there.

use std::collections::BTreeMap;

use engine::FaceId;
use packet::ccnx::management::{Collection, NdnldConnection};

use super::link_request::LinkRequest;
use super::requests::signed_content;
use super::{Ccnd, DIALECT};
use crate::control::{CreateFace, CreateFaceError, FaceChanges, FacePersistency, FaceStatus, NodeControl};

/// The name of this service, below `/ccnx`, and what stands behind CCNDID.
pub(super) const NDNLD: &[u8] = b"ndnld";
pub(super) const CONTROL: &[u8] = b"control";

/// Links that are remembered; more are refused by silence, as whatever cannot be done.
const MAX_LINKS: usize = 256;
/// Bytes of a list: what an object holds beside its long name, keys and signature.
const MAX_LIST_BYTES: usize = 6500;
/// The links that clients have made, by the numbers of their faces.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<FaceId, LinkRequest>);

impl Ccnd {
    /// The content that answers a request of ndnld's control protocol; `None` for no answer.
    pub(super) fn control_links(
        &mut self,
        node: &mut dyn NodeControl,
        verb: &[u8],
        object: &[u8],
    ) -> Option<Vec<u8>> {
        let content = signed_content(object)?;
        let asked = NdnldConnection::decode(content).ok()?;
        let action = asked.action.filter(|action| action.as_bytes() == verb)?;
        match action {
            "connect" => self.connect(node, &asked),
            "disconnect" => {
                let face = FaceId(asked.face_id?);
                let link = self.links.0.remove(&face)?;
                // One that has gone by itself is forgotten, and unknown.
                let status = node.face(face)?;
                let told = link.tell(action, face, status.state);
                node.destroy_face(face);
                Some(told)
            }
            "listconnections" => Some(self.list(node)),
            _ => None,
        }
    }

    fn connect(&mut self, node: &mut dyn NodeControl, asked: &NdnldConnection<'_>) -> Option<Vec<u8>> {
        let (link, remote, local) = LinkRequest::of(asked)?;
        self.links.0.retain(|face, _| node.face(*face).is_some());
        if self.links.0.len() >= MAX_LINKS {
            return None;
        }
        let acknowledged = link.is_acknowledged();
        let request = CreateFace {
            remote,
            local,
            persistency: FacePersistency::Permanent,
            changes: FaceChanges {
                ndnlp1: Some(acknowledged),
                ndnlp1_timings: Some(link.timings()),
                ..FaceChanges::default()
            },
            dialect: DIALECT,
        };
        let mut made = node.create_face(request.clone());
        // One whose peer has come by itself is to be as it is asked for now, and to stay.
        if let Err(CreateFaceError::Exists(face)) = &made
            && face.persistency == FacePersistency::OnDemand
            && node.destroy_face(face.id)
        {
            made = node.create_face(request);
        }
        let face = match made {
            Ok(face) => face,
            // Whoever asks twice is told of the link that there is. A face that is no link of ndnld's is
            // somebody else's: who disconnected it would destroy it.
            Err(CreateFaceError::Exists(face)) if self.links.0.contains_key(&face.id) => *face,
            Err(error) => {
                tracing::debug!(%error, "a link that a client of ndnld asked for was not made");
                return None;
            }
        };
        let FaceStatus { id, state, .. } = face;
        let link = self.links.0.entry(id).or_insert(link);
        Some(link.tell("connect", id, state))
    }

    /// As many as one object holds, those of the oldest faces first.
    fn list(&mut self, node: &mut dyn NodeControl) -> Vec<u8> {
        let mut items: Vec<Vec<u8>> = Vec::new();
        let mut bytes = 0;
        self.links.0.retain(|face, link| {
            let Some(status) = node.face(*face) else { return false };
            let item = link.tell("listconnections", *face, status.state);
            bytes += item.len();
            if bytes <= MAX_LIST_BYTES {
                items.push(item);
            }
            true
        });
        Collection::encode(items)
    }
}
