//! FaceQueryFilter: which faces `faces/query` is to list.

use packet::error::DecodeError;

use crate::dataset::FaceStatus;
use crate::fields::{self, Fields};
use crate::types;
use crate::values::{FacePersistency, FaceScope, LinkType};

/// What a face must be like. A field that is absent matches every face.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceQueryFilter {
    /// Its number.
    pub face_id: Option<u64>,
    /// Scheme of its URI or its local URI.
    pub uri_scheme: Option<String>,
    /// Its URI.
    pub uri: Option<String>,
    /// Its local URI.
    pub local_uri: Option<String>,
    /// Whether its peer is on the same host.
    pub scope: Option<FaceScope>,
    /// When it goes away by itself.
    pub persistency: Option<FacePersistency>,
    /// How many peers it has.
    pub link_type: Option<LinkType>,
}

impl FaceQueryFilter {
    /// Reads the FaceQueryFilter element that `wire`, the value of the last name component, begins with.
    ///
    /// # Errors
    /// Another element, or a malformed field.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::of_element(wire, types::FACE_QUERY_FILTER, "FaceQueryFilter")?;
        Ok(FaceQueryFilter {
            face_id: fields.number(types::FACE_ID, "FaceId")?,
            uri_scheme: fields.text(types::URI_SCHEME, "UriScheme")?,
            uri: fields.text(types::URI, "Uri")?,
            local_uri: fields.text(types::LOCAL_URI, "LocalUri")?,
            scope: fields.number(types::FACE_SCOPE, "FaceScope")?.map(FaceScope::from_number),
            persistency: fields
                .number(types::FACE_PERSISTENCY, "FacePersistency")?
                .map(FacePersistency::from_number),
            link_type: fields.number(types::LINK_TYPE, "LinkType")?.map(LinkType::from_number),
        })
    }

    /// The whole element, which goes into a generic component behind `faces/query`.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        fields::write_container(&mut out, types::FACE_QUERY_FILTER, |out| {
            fields::write_number(out, types::FACE_ID, self.face_id);
            fields::write_text(out, types::URI_SCHEME, self.uri_scheme.as_deref());
            fields::write_text(out, types::URI, self.uri.as_deref());
            fields::write_text(out, types::LOCAL_URI, self.local_uri.as_deref());
            fields::write_number(out, types::FACE_SCOPE, self.scope.map(FaceScope::number));
            fields::write_number(out, types::FACE_PERSISTENCY, self.persistency.map(FacePersistency::number));
            fields::write_number(out, types::LINK_TYPE, self.link_type.map(LinkType::number));
        });
        out
    }

    /// Whether `face` is as wanted.
    pub fn matches(&self, face: &FaceStatus) -> bool {
        fn fits<T: PartialEq>(wanted: Option<&T>, is: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == is)
        }
        let has_scheme = |uri: &str, scheme: &str| uri.split_once("://").is_some_and(|(is, _)| is == scheme);
        fits(self.face_id.as_ref(), &face.face_id)
            && self
                .uri_scheme
                .as_deref()
                .is_none_or(|scheme| has_scheme(&face.uri, scheme) || has_scheme(&face.local_uri, scheme))
            && fits(self.uri.as_ref(), &face.uri)
            && fits(self.local_uri.as_ref(), &face.local_uri)
            && fits(self.scope.as_ref(), &face.scope)
            && fits(self.persistency.as_ref(), &face.persistency)
            && fits(self.link_type.as_ref(), &face.link_type)
    }
}
