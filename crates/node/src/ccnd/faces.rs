//! Faces that clients make and destroy.

use std::net::{IpAddr, SocketAddr};

use engine::FaceId;
use packet::ccnx::management::{FaceInstance, IpProtocol, StatusResponse, Verb};

use super::requests::Answer;
use super::{Ccnd, DIALECT};
use crate::control::{
    CreateFace, CreateFaceError, FaceChanges, FacePersistency, FaceState, FaceUri, NodeControl,
};

/// The lifetime that is told of what lasts, a face or an entry, in seconds.
pub(super) const FOR_EVER: u32 = 0x7fff_ffff;
/// The same of a face that is not connected yet.
const CONNECTING: u32 = 1;

impl Ccnd {
    pub(super) fn make_face(&mut self, node: &mut dyn NodeControl, content: &[u8]) -> Option<Answer> {
        let asked = FaceInstance::decode(content).ok()?;
        if asked.action != Some(Verb::NewFace.as_str()) {
            return None;
        }
        if asked.ccnd_id != Some(self.id()) {
            return Answer::refused(StatusResponse::CCND_ID, "missing or incorrect CCNDID");
        }
        let parameter = || Answer::refused(StatusResponse::PARAMETER, "parameter error");
        let (Some(protocol), Some(host), Some(port)) = (asked.ip_protocol, asked.host, asked.port) else {
            return parameter();
        };
        let Ok(ip) = host.parse::<IpAddr>() else {
            return Answer::refused(StatusResponse::ADDRESS, "syntax error in address");
        };
        let peer = SocketAddr::new(ip, port);
        let remote = match protocol {
            IpProtocol::UDP if ip.is_multicast() => {
                return Answer::refused(StatusResponse::MULTICAST, "could not setup multicast");
            }
            IpProtocol::UDP => FaceUri::Udp(peer),
            IpProtocol::TCP => FaceUri::Tcp(peer),
            _ => return parameter(),
        };
        let made = node.create_face(CreateFace {
            remote,
            local: None,
            persistency: FacePersistency::Permanent,
            changes: FaceChanges::default(),
            dialect: DIALECT,
        });
        let face = match made {
            Ok(face) => face,
            Err(CreateFaceError::Exists(face)) => *face,
            Err(error) => {
                tracing::debug!(%error, "a face that a client of CCNx asked for was not made");
                return Answer::refused(StatusResponse::TEMPORARY, "could not create face");
            }
        };
        let lifetime = if face.state == FaceState::Up { FOR_EVER } else { CONNECTING };
        let told = FaceInstance {
            action: None,
            face_id: Some(face.id.0),
            freshness_seconds: Some(lifetime),
            ..asked
        };
        Some(Answer::Done(told.encode()))
    }

    /// Faces of the other dialect, and those inside the node, are none that clients of CCNx could know.
    pub(super) fn destroy_face(&mut self, node: &mut dyn NodeControl, content: &[u8]) -> Option<Answer> {
        let asked = FaceInstance::decode(content).ok()?;
        let right = asked.action == Some(Verb::DestroyFace.as_str()) && asked.ccnd_id == Some(self.id());
        let face = asked.face_id.filter(|_| right).and_then(|id| node.face(FaceId(id)));
        let is_theirs = |face: &crate::control::FaceSnapshot| {
            face.dialect == DIALECT && !matches!(face.remote, FaceUri::Internal(_))
        };
        let destroyed = face.filter(is_theirs).is_some_and(|face| node.destroy_face(face.id));
        if !destroyed {
            return Answer::refused(StatusResponse::TEMPORARY, "could not destroy face");
        }
        let told = FaceInstance { action: None, freshness_seconds: Some(0), ..asked };
        Some(Answer::Done(told.encode()))
    }
}
