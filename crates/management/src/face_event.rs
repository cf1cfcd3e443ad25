//! FaceEventNotification: what happened to a face.

use packet::error::DecodeError;

use crate::fields::{self, Fields};
use crate::types;
use crate::values::{FaceEventKind, FaceFlags, FacePersistency, FaceScope, LinkType};

/// One item of the notification stream `/localhost/nfd/faces/events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceEventNotification {
    /// What happened.
    pub kind: FaceEventKind,
    /// The face.
    pub face_id: u64,
    /// Where the peer is.
    pub uri: String,
    /// Where this end is.
    pub local_uri: String,
    /// Whether the peer is on this host.
    pub scope: FaceScope,
    /// When the face goes away by itself.
    pub persistency: FacePersistency,
    /// How many peers there are.
    pub link_type: LinkType,
    /// What the face does beside carrying packets.
    pub flags: FaceFlags,
}

impl FaceEventNotification {
    /// Reads the FaceEventNotification element that `wire`, the content of a Data, begins with.
    ///
    /// # Errors
    /// Another element, or a field that is missing or malformed.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::of_element(wire, types::FACE_EVENT_NOTIFICATION, "FaceEventNotification")?;
        let number = |kind, field| fields.required_number(kind, field);
        Ok(FaceEventNotification {
            kind: FaceEventKind::from_number(number(types::FACE_EVENT_KIND, "FaceEventKind")?),
            face_id: number(types::FACE_ID, "FaceId")?,
            uri: fields.required_text(types::URI, "Uri")?,
            local_uri: fields.required_text(types::LOCAL_URI, "LocalUri")?,
            scope: FaceScope::from_number(number(types::FACE_SCOPE, "FaceScope")?),
            persistency: FacePersistency::from_number(number(types::FACE_PERSISTENCY, "FacePersistency")?),
            link_type: LinkType::from_number(number(types::LINK_TYPE, "LinkType")?),
            flags: FaceFlags(number(types::FLAGS, "Flags")?),
        })
    }

    /// The whole element.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        fields::write_container(&mut out, types::FACE_EVENT_NOTIFICATION, |out| {
            fields::write_number(out, types::FACE_EVENT_KIND, Some(self.kind.number()));
            fields::write_number(out, types::FACE_ID, Some(self.face_id));
            fields::write_text(out, types::URI, Some(&self.uri));
            fields::write_text(out, types::LOCAL_URI, Some(&self.local_uri));
            fields::write_number(out, types::FACE_SCOPE, Some(self.scope.number()));
            fields::write_number(out, types::FACE_PERSISTENCY, Some(self.persistency.number()));
            fields::write_number(out, types::LINK_TYPE, Some(self.link_type.number()));
            fields::write_number(out, types::FLAGS, Some(self.flags.0));
        });
        out
    }
}
