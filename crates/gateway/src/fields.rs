//! What a gateway tells another in metadata: how an object was answered by the web server it comes from.
//!
//! Extensions of metadata, as those of ndn6-file-server are, which others pass over. The numbers are our own.

use flow::naming::Metadata;
use flow::source::folder::MODIFIED;
use packet::ndn::{tlv, types};
use packet::{DecodeError, Name, NameRef, UnixTime};

/// Content-Type, as text.
const CONTENT_TYPE: u32 = 0xf520;
/// The URL that the web server sends to, as text.
const LOCATION: u32 = 0xf522;
/// The name of that URL, if it is of the same web server.
const LOCATION_NAME: u32 = 0xf524;

/// Bytes of a text that is taken over.
const MAX_TEXT_BYTES: usize = 2048;

/// Metadata, and what stands in it beside what all producers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) metadata: Metadata,
    pub(crate) fields: Fields,
}

/// What is known of an object beside its name and size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) modified: Option<UnixTime>,
    pub(crate) content_type: Option<String>,
    pub(crate) location: Option<Location>,
}

/// Where to look instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) url: String,
    pub(crate) name: Option<Name>,
}

impl Description {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.metadata.encode(&mut out);
        if let Some(modified) = self.fields.modified {
            tlv::write_nni_element(&mut out, MODIFIED, modified.as_millis().saturating_mul(1_000_000));
        }
        if let Some(kind) = &self.fields.content_type {
            tlv::write_element(&mut out, CONTENT_TYPE, kind.as_bytes());
        }
        if let Some(location) = &self.fields.location {
            tlv::write_element(&mut out, LOCATION, location.url.as_bytes());
            if let Some(name) = &location.name {
                tlv::write_element(&mut out, LOCATION_NAME, name.canonical());
            }
        }
        out
    }

    /// # Errors
    /// It is no metadata. What is wrong with the fields is passed over.
    pub(crate) fn decode(content: &[u8]) -> Result<Self, DecodeError> {
        let metadata = Metadata::decode(content)?;
        let mut fields = Fields::default();
        let (mut url, mut name) = (None, None);
        let mut reader = tlv::Reader::new(content, "metadata");
        while let Some(element) = reader.element()? {
            match element.kind {
                MODIFIED => {
                    let nanos = tlv::read_nni(element, "Modified").ok();
                    fields.modified = nanos.map(|nanos| UnixTime::from_millis(nanos / 1_000_000));
                }
                CONTENT_TYPE => fields.content_type = text(element.value),
                LOCATION => url = text(element.value),
                LOCATION_NAME => name = NameRef::decode(element.value).ok().map(NameRef::to_name),
                types::NAME => {}
                _ => {}
            }
        }
        fields.location = url.map(|url| Location { url, name });
        Ok(Description { metadata, fields })
    }
}

/// Text that may stand in a header: a stranger wrote it.
fn text(bytes: &[u8]) -> Option<String> {
    let is_plain = bytes.iter().all(|byte| (0x20..0x7f).contains(byte));
    let text = std::str::from_utf8(bytes).ok()?;
    (is_plain && !text.is_empty() && text.len() <= MAX_TEXT_BYTES).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_read_and_others_pass_over_it() {
        let metadata = Metadata {
            name: "/web/a/v=7".parse().unwrap(),
            last_segment: Some(0),
            segment_bytes: Some(8000),
            size_bytes: Some(3),
        };
        let fields = Fields {
            modified: Some(UnixTime::from_secs(1_700_000_000)),
            content_type: Some("text/html; charset=utf-8".into()),
            location: Some(Location {
                url: "http://example.org/a/".into(),
                name: Some("/web/a/...".parse().unwrap()),
            }),
        };
        let description = Description { metadata, fields };
        let content = description.encode();
        assert_eq!(Description::decode(&content), Ok(description.clone()));
        assert_eq!(Metadata::decode(&content), Ok(description.metadata));
    }

    #[test]
    fn text_that_would_be_another_header_is_passed_over() {
        for bad in [&b"text/html\r\nSet-Cookie: a=b"[..], b"", b"\xff", &[b'a'; 3000]] {
            let mut content = Vec::new();
            let name: Name = "/a/v=1".parse().unwrap();
            tlv::write_element(&mut content, types::NAME, name.canonical());
            tlv::write_element(&mut content, CONTENT_TYPE, bad);
            assert_eq!(Description::decode(&content).unwrap().fields.content_type, None);
        }
    }
}
