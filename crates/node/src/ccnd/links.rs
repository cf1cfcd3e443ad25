//! Links of NDNLP v1 that clients of ndnld make. ndnld is a process of its own beside ccnd; here its links
//! are faces of the node, and the node answers in its place.

use std::collections::BTreeMap;

use engine::FaceId;
use packet::ccnx::management::NdnldConnection;

use super::DIALECT;
use crate::control::{CreateFace, CreateFaceError, FaceChanges, FacePersistency, FaceSnapshot, NodeControl};
use crate::ndnld::{LinkRequest, LinkStatus, LinkTable, MAX_LINKS};

/// The links that clients have made, by the numbers of their faces, and the node whose faces they are.
pub(super) struct Links<'a> {
    pub(super) made: &'a mut BTreeMap<FaceId, LinkRequest>,
    pub(super) node: &'a mut dyn NodeControl,
}

impl LinkTable for Links<'_> {
    fn connect(&mut self, asked: &NdnldConnection<'_>) -> Option<LinkStatus> {
        let link = LinkRequest::of(asked)?;
        self.made.retain(|face, _| self.node.face(*face).is_some());
        if self.made.len() >= MAX_LINKS {
            return None;
        }
        let request = CreateFace {
            remote: link.remote.clone(),
            local: link.local.clone(),
            persistency: FacePersistency::Permanent,
            changes: FaceChanges {
                ndnlp1: Some(link.is_acknowledged()),
                ndnlp1_timings: Some(link.timings()),
                ..FaceChanges::default()
            },
            dialect: DIALECT,
        };
        let mut made = self.node.create_face(request.clone());
        // One whose peer has come by itself is to be as it is asked for now, and to stay.
        if let Err(CreateFaceError::Exists(face)) = &made
            && face.persistency == FacePersistency::OnDemand
            && self.node.destroy_face(face.id)
        {
            made = self.node.create_face(request);
        }
        let face = match made {
            Ok(face) => face,
            // Whoever asks twice is told of the link that there is. A face that is no link of ndnld's is
            // somebody else's: who disconnected it would destroy it.
            Err(CreateFaceError::Exists(face)) if self.made.contains_key(&face.id) => *face,
            Err(error) => {
                tracing::debug!(%error, "a link that a client of ndnld asked for was not made");
                return None;
            }
        };
        let FaceSnapshot { id, state, .. } = face;
        let asked = self.made.entry(id).or_insert(link).clone();
        Some(LinkStatus { asked, face: id, state })
    }

    fn disconnect(&mut self, face: FaceId) -> Option<LinkStatus> {
        let asked = self.made.remove(&face)?;
        // One that has gone by itself is forgotten, and unknown.
        let state = self.node.face(face)?.state;
        self.node.destroy_face(face);
        Some(LinkStatus { asked, face, state })
    }

    fn list(&mut self) -> Vec<LinkStatus> {
        let mut list = Vec::new();
        self.made.retain(|&face, asked| {
            let Some(status) = self.node.face(face) else { return false };
            list.push(LinkStatus { asked: asked.clone(), face, state: status.state });
            true
        });
        list
    }
}
