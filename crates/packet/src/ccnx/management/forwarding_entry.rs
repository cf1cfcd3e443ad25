use super::{decode_all, optional_u32, write_optional_blob, write_optional_decimal, write_optional_text};
use crate::ccnx::block::{write_close, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// ForwardingEntry: registers a prefix on a face of ccnd or removes it, or reports that (CCNx 0.8,
/// "Registration").
#[derive(Clone, Copy, Debug)]
pub struct ForwardingEntry<'a> {
    /// The verb: `prefixreg`, `selfreg` or `unreg`; absent from answers.
    pub action: Option<&'a str>,
    /// The prefix.
    pub name: NameSource<'a>,
    /// CCNDID: the digest of ccnd's public key.
    pub ccnd_id: Option<&'a [u8; 32]>,
    /// The face; the one that the request arrived on unless given.
    pub face_id: Option<u32>,
    /// How Interests are forwarded; [`ForwardingFlags::default`] unless given.
    pub flags: Option<ForwardingFlags>,
    /// How long the entry shall exist, or will go on to, in seconds.
    pub freshness_seconds: Option<u32>,
}

/// How ccnd forwards Interests under a prefix to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ForwardingFlags(pub u32);

impl ForwardingFlags {
    /// The entry is used.
    pub const ACTIVE: ForwardingFlags = ForwardingFlags(1);
    /// The entry counts for longer prefixes that have entries of their own, too.
    pub const CHILD_INHERIT: ForwardingFlags = ForwardingFlags(2);
    /// The prefix may be announced to others. ccnd makes no use of it.
    pub const ADVERTISE: ForwardingFlags = ForwardingFlags(4);
    /// Used only where there is no other face.
    pub const LAST: ForwardingFlags = ForwardingFlags(8);
    /// Entries of shorter prefixes that have [`ForwardingFlags::CAPTURE_OK`] are not used any more.
    pub const CAPTURE: ForwardingFlags = ForwardingFlags(16);
    /// Only Interests of local applications.
    pub const LOCAL: ForwardingFlags = ForwardingFlags(32);
    /// The face gets every Interest at once, whatever the strategy.
    pub const TAP: ForwardingFlags = ForwardingFlags(64);
    /// May be put out of use by a longer prefix with [`ForwardingFlags::CAPTURE`].
    pub const CAPTURE_OK: ForwardingFlags = ForwardingFlags(128);
    /// In answers: the entry was there before.
    pub const REFRESHED: ForwardingFlags = ForwardingFlags(0x1_0000);

    /// Whether all of `flags` are set.
    pub const fn contains(self, flags: ForwardingFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These flags and those.
    #[must_use]
    pub const fn with(self, flags: ForwardingFlags) -> Self {
        ForwardingFlags(self.0 | flags.0)
    }
}

impl Default for ForwardingFlags {
    /// Active, and inherited by longer prefixes.
    fn default() -> Self {
        ForwardingFlags::ACTIVE.with(ForwardingFlags::CHILD_INHERIT)
    }
}

impl<'a> ForwardingEntry<'a> {
    /// An entry for `name` with nothing else in it.
    pub fn new(name: impl Into<NameSource<'a>>) -> Self {
        ForwardingEntry {
            action: None,
            name: name.into(),
            ccnd_id: None,
            face_id: None,
            flags: None,
            freshness_seconds: None,
        }
    }

    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order, or a value outside its range.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "ForwardingEntry", Self::read)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::FORWARDING_ENTRY, "ForwardingEntry")?;
        let entry = ForwardingEntry {
            action: reader.optional_text(Dtag::ACTION, "Action")?,
            name: CcnxNameRef::read(reader)?.into(),
            ccnd_id: reader.optional_array(Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, "PublisherPublicKeyDigest")?,
            face_id: optional_u32(reader, Dtag::FACE_ID, "FaceID")?,
            flags: optional_u32(reader, Dtag::FORWARDING_FLAGS, "ForwardingFlags")?.map(ForwardingFlags),
            freshness_seconds: optional_u32(reader, Dtag::FRESHNESS_SECONDS, "FreshnessSeconds")?,
        };
        reader.close("ForwardingEntry")?;
        Ok(entry)
    }

    /// Whether `wire` is a request with a verb and without a name. ccnd refuses it, and gives no answer to
    /// other requests that it cannot read.
    pub fn lacks_name(wire: &[u8]) -> bool {
        let mut reader = Reader::new(wire, "ForwardingEntry");
        reader.try_open(Dtag::FORWARDING_ENTRY)
            && matches!(reader.optional_text(Dtag::ACTION, "Action"), Ok(Some(_)))
            && !reader.next_is(Dtag::NAME)
    }

    /// The element's bytes.
    ///
    /// # Errors
    /// A name that CCNx cannot express.
    pub fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::FORWARDING_ENTRY);
        write_optional_text(&mut out, Dtag::ACTION, self.action);
        self.name.encode_into(&mut out)?;
        write_optional_blob(&mut out, Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, self.ccnd_id.map(|id| &id[..]));
        write_optional_decimal(&mut out, Dtag::FACE_ID, self.face_id);
        write_optional_decimal(&mut out, Dtag::FORWARDING_FLAGS, self.flags.map(|flags| flags.0));
        write_optional_decimal(&mut out, Dtag::FRESHNESS_SECONDS, self.freshness_seconds);
        write_close(&mut out);
        Ok(out)
    }
}
