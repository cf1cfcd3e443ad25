//! SignedInfo: what the publisher of a ContentObject says about it and signs together with it.

use crate::ccnx::block::{
    body_element_len, decimal_element_len, element_len, write_blob_element, write_close,
    write_decimal_element, write_open,
};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::ccnx::selectors::PublisherId;
use crate::ccnx::ticks::Ticks;
use crate::error::{DecodeError, Rule};

/// The fields of SignedInfo; what is `None` is left out on the wire.
#[derive(Clone, Copy, Debug)]
pub struct SignedInfo<'a> {
    /// SHA-256 of the publisher's public key, a DER SubjectPublicKeyInfo.
    pub publisher: &'a [u8; 32],
    /// When the object was signed, counted from 1970.
    pub timestamp: Ticks,
    /// What the object is; [`ContentKind::Data`] unless given.
    pub kind: Option<ContentKind>,
    /// How long the object counts as fresh after arrival, in seconds; for ever unless given.
    pub freshness_seconds: Option<u32>,
    /// The last component of the name of the last object of a sequence.
    pub final_block_id: Option<&'a [u8]>,
    /// Where to find the key; absent for symmetric keys.
    pub key_locator: Option<KeyLocator<'a>>,
    /// Bytes for extensions.
    pub ext_opt: Option<&'a [u8]>,
}

/// Type: what a ContentObject is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContentKind {
    /// Payload; the default.
    #[default]
    Data,
    /// Encrypted payload.
    Encrypted,
    /// The name is not used any more.
    Gone,
    /// A public key as a DER SubjectPublicKeyInfo.
    Key,
    /// A link to another name.
    Link,
    /// A refusal.
    Nack,
    /// Anything else.
    Other([u8; 3]),
}

impl ContentKind {
    const KNOWN: [(ContentKind, [u8; 3]); 6] = [
        (ContentKind::Data, [0x0c, 0x04, 0xc0]),
        (ContentKind::Encrypted, [0x10, 0xd0, 0x91]),
        (ContentKind::Gone, [0x18, 0xe3, 0x44]),
        (ContentKind::Key, [0x28, 0x46, 0x3f]),
        (ContentKind::Link, [0x2c, 0x83, 0x4a]),
        (ContentKind::Nack, [0x34, 0x00, 0x8a]),
    ];

    /// The kind that is on the wire as `bytes`, which spell a word in base 64.
    pub fn from_bytes(bytes: [u8; 3]) -> Self {
        let known = Self::KNOWN.into_iter().find(|&(_, known)| known == bytes);
        known.map_or(ContentKind::Other(bytes), |(kind, _)| kind)
    }

    /// The bytes on the wire.
    pub fn to_bytes(self) -> [u8; 3] {
        match self {
            ContentKind::Other(bytes) => bytes,
            _ => Self::KNOWN.into_iter().find(|&(kind, _)| kind == self).map_or([0; 3], |(_, bytes)| bytes),
        }
    }
}

/// Where the key is that verifies a ContentObject.
#[derive(Clone, Copy, Debug)]
pub enum KeyLocator<'a> {
    /// The key itself, a DER SubjectPublicKeyInfo.
    Key(&'a [u8]),
    /// A certificate with the key.
    Certificate(&'a [u8]),
    /// The name of an object that holds the key.
    KeyName {
        /// The name.
        name: NameSource<'a>,
        /// Who must have published that object.
        publisher: Option<PublisherId<'a>>,
    },
}

impl<'a> SignedInfo<'a> {
    /// The two fields that must be there, and no others.
    pub const fn new(publisher: &'a [u8; 32], timestamp: Ticks) -> Self {
        SignedInfo {
            publisher,
            timestamp,
            kind: None,
            freshness_seconds: None,
            final_block_id: None,
            key_locator: None,
            ext_opt: None,
        }
    }

    /// Reads the element, which must be next.
    #[inline(always)]
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::SIGNED_INFO, "SignedInfo")?;
        let publisher =
            reader.array_element(Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, "PublisherPublicKeyDigest")?;
        let at = reader.position();
        let timestamp = reader.blob_element(Dtag::TIMESTAMP, "Timestamp", ..)?;
        let is_readable = Ticks::TIMESTAMP_WIDTHS.contains(&timestamp.len());
        let Some(timestamp) = Ticks::from_bytes(timestamp).filter(|_| is_readable) else {
            return Err(DecodeError::new("Timestamp", at, Rule::BadLength(timestamp.len())));
        };
        let kind = reader.optional_array(Dtag::TYPE, "Type")?.copied().map(ContentKind::from_bytes);
        let freshness =
            reader.optional_decimal(Dtag::FRESHNESS_SECONDS, "FreshnessSeconds", u32::MAX.into())?;
        let final_block_id = reader.optional_blob(Dtag::FINAL_BLOCK_ID, "FinalBlockID", 1..)?;
        let key_locator = KeyLocator::read_optional(reader)?;
        let ext_opt = reader.optional_blob(Dtag::EXT_OPT, "ExtOpt", 1..)?;
        reader.close("SignedInfo")?;
        Ok(SignedInfo {
            publisher,
            timestamp,
            kind,
            // The limit given to the reader is that of the type.
            freshness_seconds: freshness.map(|seconds| seconds as u32),
            final_block_id,
            key_locator,
            ext_opt,
        })
    }

    pub(crate) fn encoded_len(&self) -> Result<usize, DecodeError> {
        let blob = |tag, bytes: Option<&[u8]>| bytes.map_or(0, |bytes| body_element_len(tag, bytes.len()));
        let content = body_element_len(Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, self.publisher.len())
            + body_element_len(Dtag::TIMESTAMP, self.timestamp.for_timestamp().as_bytes().len())
            + self.kind.map_or(0, |_| body_element_len(Dtag::TYPE, 3))
            + self
                .freshness_seconds
                .map_or(0, |seconds| decimal_element_len(Dtag::FRESHNESS_SECONDS, seconds.into()))
            + blob(Dtag::FINAL_BLOCK_ID, self.final_block_id)
            + self.key_locator.map_or(Ok(0), |locator| locator.encoded_len())?
            + blob(Dtag::EXT_OPT, self.ext_opt);
        Ok(element_len(Dtag::SIGNED_INFO, content))
    }

    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.check()?;
        write_open(out, Dtag::SIGNED_INFO);
        write_blob_element(out, Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, self.publisher);
        write_blob_element(out, Dtag::TIMESTAMP, self.timestamp.for_timestamp().as_bytes());
        if let Some(kind) = self.kind {
            write_blob_element(out, Dtag::TYPE, &kind.to_bytes());
        }
        if let Some(seconds) = self.freshness_seconds {
            write_decimal_element(out, Dtag::FRESHNESS_SECONDS, seconds.into());
        }
        if let Some(component) = self.final_block_id {
            write_blob_element(out, Dtag::FINAL_BLOCK_ID, component);
        }
        if let Some(locator) = self.key_locator {
            locator.encode_into(out)?;
        }
        if let Some(bytes) = self.ext_opt {
            write_blob_element(out, Dtag::EXT_OPT, bytes);
        }
        write_close(out);
        Ok(())
    }

    /// Refuses what the decoder would refuse.
    fn check(&self) -> Result<(), DecodeError> {
        let width = self.timestamp.as_bytes().len();
        if width > *Ticks::TIMESTAMP_WIDTHS.end() {
            return Err(DecodeError::new("Timestamp", 0, Rule::BadLength(width)));
        }
        let fields = [("FinalBlockID", self.final_block_id), ("ExtOpt", self.ext_opt)];
        match fields.into_iter().find(|(_, bytes)| bytes.is_some_and(<[u8]>::is_empty)) {
            Some((field, _)) => Err(DecodeError::new(field, 0, Rule::BadLength(0))),
            None => Ok(()),
        }
    }
}

impl<'a> KeyLocator<'a> {
    #[inline(always)]
    fn read_optional(reader: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        if !reader.try_open(Dtag::KEY_LOCATOR) {
            return Ok(None);
        }
        let locator = match reader.optional_blob(Dtag::KEY, "Key", ..)? {
            Some(key) => KeyLocator::Key(key),
            None => {
                let locator;
                (locator, *reader) = Self::read_other(*reader)?;
                locator
            }
        };
        reader.close("KeyLocator")?;
        Ok(Some(locator))
    }

    /// Reads what is there if it is no key. The reader comes and goes by value, so that it may stay in
    /// registers where a key is.
    #[inline(never)]
    fn read_other(mut reader: Reader<'a>) -> Result<(Self, Reader<'a>), DecodeError> {
        if let Some(certificate) = reader.optional_blob(Dtag::CERTIFICATE, "Certificate", ..)? {
            return Ok((KeyLocator::Certificate(certificate), reader));
        }
        reader.open(Dtag::KEY_NAME, "KeyName")?;
        let name = CcnxNameRef::read(&mut reader)?.into();
        let publisher = PublisherId::read_optional(&mut reader)?;
        reader.close("KeyName")?;
        Ok((KeyLocator::KeyName { name, publisher }, reader))
    }

    fn encoded_len(&self) -> Result<usize, DecodeError> {
        let content = match self {
            KeyLocator::Key(key) => body_element_len(Dtag::KEY, key.len()),
            KeyLocator::Certificate(certificate) => body_element_len(Dtag::CERTIFICATE, certificate.len()),
            KeyLocator::KeyName { name, publisher } => {
                let publisher = publisher.map_or(0, |publisher| publisher.encoded_len());
                element_len(Dtag::KEY_NAME, name.encoded_len()? + publisher)
            }
        };
        Ok(element_len(Dtag::KEY_LOCATOR, content))
    }

    fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        write_open(out, Dtag::KEY_LOCATOR);
        match self {
            KeyLocator::Key(key) => write_blob_element(out, Dtag::KEY, key),
            KeyLocator::Certificate(certificate) => {
                write_blob_element(out, Dtag::CERTIFICATE, certificate);
            }
            KeyLocator::KeyName { name, publisher } => {
                write_open(out, Dtag::KEY_NAME);
                name.encode_into(out)?;
                if let Some(publisher) = publisher {
                    publisher.check()?;
                    publisher.encode_into(out);
                }
                write_close(out);
            }
        }
        write_close(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_spell_their_names_in_base_64() {
        for (kind, bytes) in ContentKind::KNOWN {
            assert_eq!(ContentKind::from_bytes(bytes), kind);
            assert_eq!(kind.to_bytes(), bytes);
        }
        let other = [1, 2, 3];
        assert_eq!(ContentKind::from_bytes(other), ContentKind::Other(other));
        assert_eq!(ContentKind::Other(other).to_bytes(), other);
    }
}
