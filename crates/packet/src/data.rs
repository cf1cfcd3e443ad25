//! The Data as the rest of Cairn sees it, whichever dialect it came in.

use std::sync::Arc;

use crate::Dialect;
use crate::buffer::{Buffer, SpareBuffer};
use crate::ccnx::{self, CanonicalName};
use crate::error::DecodeError;
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::{Component, NameRef};
use crate::ndn;
use crate::time::Duration;

/// What the content of an NDN Data is. Any number may stand in a packet; a forwarder passes those on that it
/// does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentType(pub u64);

impl ContentType {
    /// Payload; the default.
    pub const BLOB: ContentType = ContentType(0);
    /// A list of names.
    pub const LINK: ContentType = ContentType(1);
    /// A certificate.
    pub const KEY: ContentType = ContentType(2);
    /// An application's refusal.
    pub const NACK: ContentType = ContentType(3);
    /// A list of digests.
    pub const MANIFEST: ContentType = ContentType(4);
    /// A prefix announcement.
    pub const PREFIX_ANNOUNCEMENT: ContentType = ContentType(5);
}

/// An owned Data, called ContentObject in CCNx: the received bytes, shared, and what was read from them.
/// Cloning shares the bytes.
#[derive(Clone, Debug)]
pub struct Data {
    wire: Buffer,
    /// Of a Data of NDN.
    brief: ndn::DataBrief,
    /// Of a ContentObject of CCNx.
    ccnx: Option<Arc<CcnxParts>>,
}

/// In this order, what is read when it goes lies beside the count of its owners.
#[derive(Clone, Debug)]
#[repr(C)]
struct CcnxParts {
    /// In canonical form, which differs from the one on the wire.
    name: CanonicalName,
    layout: ccnx::ContentObjectLayout,
}

impl CcnxParts {
    #[inline]
    fn of(view: ccnx::ContentObjectView<'_>) -> Arc<Self> {
        Arc::new(CcnxParts { name: view.name().to_canonical(), layout: view.layout() })
    }
}

impl Data {
    /// Reads one NDN Data that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ndn(wire: Buffer) -> Result<Self, DecodeError> {
        let brief = ndn::DataView::decode(&wire)?.brief();
        Ok(Data { wire, brief, ccnx: None })
    }

    /// The same, hashing all prefixes of the name on the way.
    ///
    /// # Errors
    /// As [`Data::decode_ndn`].
    #[inline]
    pub fn decode_ndn_hashed(
        wire: Buffer,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let brief = ndn::DataView::decode_hashed(&wire, hasher, hashes)?.brief();
        Ok(Data { wire, brief, ccnx: None })
    }

    /// A copy, in the memory of `spare` if there is any, of a packet that has been read where it lies, which
    /// is in the cache, as the copy may not be for a while.
    #[inline(always)]
    pub fn copy_of(view: ndn::DataView<'_>, spare: Option<SpareBuffer>) -> Self {
        Data::within(None, view, || spare)
    }

    /// A packet that has been read where it lies in `memory`, and stays there; or a copy, as by
    /// [`copy_of`](Self::copy_of), if it does not lie there.
    #[inline(always)]
    pub fn within(
        memory: Option<&Buffer>,
        view: ndn::DataView<'_>,
        spare: impl FnOnce() -> Option<SpareBuffer>,
    ) -> Self {
        let wire = match memory.and_then(|memory| memory.slice_of(view.wire())) {
            Some(wire) => wire,
            None => match spare() {
                Some(spare) => spare.fill(view.wire()),
                None => Buffer::copy_from(view.wire()),
            },
        };
        Data { wire, brief: view.brief(), ccnx: None }
    }

    /// What was read of a packet of CCNx and stands apart from it, as a hint to fetch it ahead.
    #[inline]
    pub fn beside(&self) -> Option<&(impl Sized + use<>)> {
        self.ccnx.as_deref()
    }

    /// The same Data in memory that nobody else refers to, which is that of `spare` if there is any.
    pub fn moved(&self, spare: Option<SpareBuffer>) -> Self {
        let wire = match spare {
            Some(spare) => spare.fill(&self.wire),
            None => Buffer::copy_from(&self.wire),
        };
        Data { wire, brief: self.brief, ccnx: self.ccnx.clone() }
    }

    /// A packet of CCNx that has been read in other memory; `wire` holds the same bytes.
    #[inline]
    pub fn in_memory(view: ccnx::ContentObjectView<'_>, wire: Buffer) -> Self {
        debug_assert_eq!(view.wire(), &*wire);
        Data { wire, brief: ndn::DataBrief::NONE, ccnx: Some(CcnxParts::of(view)) }
    }

    /// Reads one ContentObject that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ccnx(wire: Buffer) -> Result<Self, DecodeError> {
        let parts = CcnxParts::of(ccnx::ContentObjectView::decode(&wire)?);
        Ok(Data { wire, brief: ndn::DataBrief::NONE, ccnx: Some(parts) })
    }

    /// The same, hashing all prefixes of the name on the way.
    ///
    /// # Errors
    /// As [`Data::decode_ccnx`].
    pub fn decode_ccnx_hashed(
        wire: Buffer,
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let parts = CcnxParts::of(ccnx::ContentObjectView::decode_hashed(&wire, hasher, hashes)?);
        Ok(Data { wire, brief: ndn::DataBrief::NONE, ccnx: Some(parts) })
    }

    /// The language it is written in.
    #[inline]
    pub fn dialect(&self) -> Dialect {
        if self.ccnx.is_none() { Dialect::Ndn } else { Dialect::Ccnx }
    }

    /// All fields of an NDN Data; `None` for a ContentObject of CCNx. Reads the packet again, so ask once for
    /// several fields.
    #[inline]
    pub fn ndn(&self) -> Option<ndn::DataView<'_>> {
        if self.ccnx.is_none() { ndn::DataView::decode(&self.wire).ok() } else { None }
    }

    /// All fields of a ContentObject of CCNx; `None` for a Data of NDN.
    #[inline]
    pub fn ccnx(&self) -> Option<ccnx::ContentObjectView<'_>> {
        Some(ccnx::ContentObjectView::from_parts(&self.wire, self.ccnx.as_ref()?.layout))
    }

    /// The whole packet as it goes on the wire.
    #[inline]
    pub fn wire(&self) -> &Buffer {
        &self.wire
    }

    /// The whole packet, and nothing else of it.
    #[inline]
    pub fn into_wire(self) -> Buffer {
        self.wire
    }

    /// The name in canonical form, without the implicit digest.
    #[inline(always)]
    pub fn name(&self) -> NameRef<'_> {
        match &self.ccnx {
            None => self.brief.name(&self.wire),
            Some(parts) => NameRef::from_checked(&parts.name),
        }
    }

    /// Number of components of the name.
    #[inline(always)]
    pub fn component_count(&self) -> usize {
        match &self.ccnx {
            None => self.brief.component_count as usize,
            Some(parts) => parts.layout.component_count(),
        }
    }

    /// How long the Data counts as fresh after arrival. A ContentObject that does not say is fresh for ever;
    /// a Data of NDN that does not is never fresh.
    #[inline(always)]
    pub fn freshness(&self) -> Duration {
        match self.ccnx() {
            None => self.brief.freshness,
            Some(view) => {
                view.freshness_seconds().map_or(Duration::MAX, |secs| Duration::from_secs(secs.into()))
            }
        }
    }

    /// The content; empty when there is none.
    #[inline]
    pub fn content(&self) -> &[u8] {
        match self.ccnx() {
            None => self.brief.content(&self.wire),
            Some(view) => view.content(),
        }
    }

    /// What the content of an NDN Data is; `None` for a ContentObject of CCNx.
    #[inline]
    pub fn content_type(&self) -> Option<ContentType> {
        if self.ccnx.is_none() && !self.brief.has_content_type() {
            return Some(ContentType::BLOB);
        }
        self.ndn().map(|view| view.content_type())
    }

    /// FinalBlockId of an NDN Data: the last component of the last packet of a sequence.
    #[inline]
    pub fn final_block(&self) -> Option<Component<'_>> {
        if self.brief.has_final_block() { self.ndn()?.final_block() } else { None }
    }

    /// The same Data of NDN under another name, which must have as many bytes and components as this one's;
    /// `None` if it has not. Nothing is decoded again, and the signature is not renewed: for whoever
    /// makes many Data that nobody verifies, as load generators do.
    pub fn renamed(&self, name: NameRef<'_>) -> Option<Data> {
        if self.ccnx.is_some() {
            return None;
        }
        let old = self.name().canonical();
        let start = (old.as_ptr() as usize).checked_sub(self.wire.as_ptr() as usize)?;
        if name.canonical().len() != old.len() || name.component_count() != self.component_count() {
            return None;
        }
        let wire = self.wire.with(start, name.canonical())?;
        Some(Data { wire, brief: self.brief, ccnx: None })
    }

    /// SHA-256 of the whole packet, the last component of its full name. Computed at each call.
    pub fn implicit_digest(&self) -> [u8; 32] {
        use sha2::{Digest as _, Sha256};
        Sha256::digest(&self.wire).into()
    }
}
