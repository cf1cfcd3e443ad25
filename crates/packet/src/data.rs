//! The Data as the rest of Cairn sees it, whichever dialect it came in.

use crate::Dialect;
use crate::brief::{DataBrief, DataFlag};
use crate::buffer::{Buffer, SpareBuffer};
use crate::ccnx::{self, CcnxNameRef, LazyCanonical};
use crate::error::DecodeError;
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::{AnyName, Component, NameRef, WireName};
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
    brief: DataBrief,
    /// The name of a ContentObject of CCNx, if anybody has asked for it in canonical form.
    canonical: LazyCanonical,
}

impl Data {
    #[inline(always)]
    fn of(wire: Buffer, brief: DataBrief) -> Self {
        let brief = brief.with_scope(&wire);
        Data { wire, brief, canonical: LazyCanonical::none() }
    }

    /// Reads one Data of either dialect that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode(dialect: Dialect, wire: Buffer) -> Result<Self, DecodeError> {
        match dialect {
            Dialect::Ndn => Data::decode_ndn(wire),
            Dialect::Ccnx => Data::decode_ccnx(wire),
        }
    }

    /// Reads one NDN Data that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ndn(wire: Buffer) -> Result<Self, DecodeError> {
        let brief = ndn::DataView::decode(&wire)?.brief();
        Ok(Data::of(wire, brief))
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
        Ok(Data::of(wire, brief))
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
        Data::of(placed(memory, view.wire(), spare), view.brief())
    }

    /// The same of a ContentObject of CCNx.
    #[inline(always)]
    pub fn ccnx_within(
        memory: Option<&Buffer>,
        view: ccnx::ContentObjectView<'_>,
        spare: impl FnOnce() -> Option<SpareBuffer>,
    ) -> Self {
        Data::of(placed(memory, view.wire(), spare), view.brief())
    }

    /// The same Data in memory that nobody else refers to, which is that of `spare` if there is any.
    pub fn moved(&self, spare: Option<SpareBuffer>) -> Self {
        let wire = match spare {
            Some(spare) => spare.fill(&self.wire),
            None => Buffer::copy_from(&self.wire),
        };
        Data { wire, brief: self.brief, canonical: self.canonical.clone() }
    }

    /// Reads one ContentObject that fills `wire` exactly, keeping the buffer.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    pub fn decode_ccnx(wire: Buffer) -> Result<Self, DecodeError> {
        let brief = ccnx::ContentObjectView::decode(&wire)?.brief();
        Ok(Data::of(wire, brief))
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
        let brief = ccnx::ContentObjectView::decode_hashed(&wire, hasher, hashes)?.brief();
        Ok(Data::of(wire, brief))
    }

    /// The language it is written in.
    #[inline(always)]
    pub fn dialect(&self) -> Dialect {
        self.brief.dialect()
    }

    /// All fields of an NDN Data; `None` for a ContentObject of CCNx. Reads the packet again, so ask once for
    /// several fields.
    #[inline]
    pub fn ndn(&self) -> Option<ndn::DataView<'_>> {
        if self.dialect() == Dialect::Ndn { ndn::DataView::decode(&self.wire).ok() } else { None }
    }

    /// All fields of a ContentObject of CCNx; `None` for a Data of NDN. Reads the packet again, so ask once
    /// for several fields.
    #[inline]
    pub fn ccnx(&self) -> Option<ccnx::ContentObjectView<'_>> {
        if self.dialect() == Dialect::Ccnx { ccnx::ContentObjectView::decode(&self.wire).ok() } else { None }
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

    /// The name in canonical form, without the implicit digest. In CCNx that is made when it is first asked
    /// for, and kept; to compare two names, their [components on the wire](Self::wire_components) will do.
    #[inline(always)]
    pub fn name(&self) -> NameRef<'_> {
        match self.ccnx_name() {
            None => self.brief.name(&self.wire),
            Some(name) => self.canonical.of(name),
        }
    }

    /// Whether this copy holds its name in canonical form beside the packet's bytes: in CCNx, from when
    /// [`Data::name`] was first asked for on. What keeps many packets asks for [`Data::wire_name`] instead.
    pub fn holds_canonical_name(&self) -> bool {
        self.canonical.is_made()
    }

    /// The name as it is on the wire in CCNx; `None` in NDN.
    #[inline(always)]
    pub fn ccnx_name(&self) -> Option<CcnxNameRef<'_>> {
        match self.dialect() {
            Dialect::Ndn => None,
            Dialect::Ccnx => Some(CcnxNameRef::from_checked(self.wire_components(), self.component_count())),
        }
    }

    /// A copy of the name with its dialect, which shows it as people write it there.
    pub fn any_name(&self) -> AnyName {
        AnyName::new(self.dialect(), self.name().to_name())
    }

    /// The name in the form that it has on the wire.
    #[inline(always)]
    pub fn wire_name(&self) -> WireName<'_> {
        match self.ccnx_name() {
            None => WireName::Ndn(self.brief.name(&self.wire)),
            Some(name) => WireName::Ccnx(name),
        }
    }

    /// The components of the name as they are on the wire, see
    /// [`Interest::wire_components`](crate::Interest::wire_components).
    #[inline(always)]
    pub fn wire_components(&self) -> &[u8] {
        self.brief.components(&self.wire)
    }

    /// Whether the name may be one of limited scope, see
    /// [`Interest::may_have_limited_scope`](crate::Interest::may_have_limited_scope).
    #[inline(always)]
    pub fn may_have_limited_scope(&self) -> bool {
        self.brief.has(DataFlag::MayHaveLimitedScope)
    }

    /// Number of components of the name.
    #[inline(always)]
    pub fn component_count(&self) -> usize {
        self.brief.component_count()
    }

    /// SHA-256 of the public key of whoever published a ContentObject of CCNx; `None` in NDN.
    #[inline]
    pub fn ccnx_publisher(&self) -> Option<&[u8; 32]> {
        if self.dialect() == Dialect::Ccnx { self.brief.publisher(&self.wire) } else { None }
    }

    /// How long the Data counts as fresh after arrival. A ContentObject that does not say is fresh for ever;
    /// a Data of NDN that does not is never fresh.
    #[inline(always)]
    pub fn freshness(&self) -> Duration {
        self.brief.freshness
    }

    /// The content; empty when there is none.
    #[inline]
    pub fn content(&self) -> &[u8] {
        self.brief.content(&self.wire)
    }

    /// What the content of an NDN Data is; `None` for a ContentObject of CCNx.
    #[inline]
    pub fn content_type(&self) -> Option<ContentType> {
        if self.dialect() == Dialect::Ndn && !self.brief.has(DataFlag::HasContentType) {
            return Some(ContentType::BLOB);
        }
        self.ndn().map(|view| view.content_type())
    }

    /// FinalBlockId of an NDN Data: the last component of the last packet of a sequence.
    #[inline]
    pub fn final_block(&self) -> Option<Component<'_>> {
        if self.brief.has(DataFlag::HasFinalBlock) { self.ndn()?.final_block() } else { None }
    }

    /// The same Data of NDN under another name, which must have as many bytes and components as this one's;
    /// `None` if it has not. Nothing is decoded again, and the signature is not renewed: for whoever
    /// makes many Data that nobody verifies, as load generators do.
    pub fn renamed(&self, name: NameRef<'_>) -> Option<Data> {
        if self.dialect() == Dialect::Ccnx {
            return None;
        }
        let old = self.name().canonical();
        let start = (old.as_ptr() as usize).checked_sub(self.wire.as_ptr() as usize)?;
        if name.canonical().len() != old.len() || name.component_count() != self.component_count() {
            return None;
        }
        let wire = self.wire.with(start, name.canonical())?;
        Some(Data::of(wire, self.brief))
    }

    /// SHA-256 of the whole packet, the last component of its full name. Computed at each call.
    pub fn implicit_digest(&self) -> [u8; 32] {
        use sha2::{Digest as _, Sha256};
        Sha256::digest(&self.wire).into()
    }
}

/// The bytes of a packet in `memory`, if they lie there, or a copy of them.
#[inline(always)]
fn placed(memory: Option<&Buffer>, bytes: &[u8], spare: impl FnOnce() -> Option<SpareBuffer>) -> Buffer {
    match memory.and_then(|memory| memory.slice_of(bytes)) {
        Some(wire) => wire,
        None => match spare() {
            Some(spare) => spare.fill(bytes),
            None => Buffer::copy_from(bytes),
        },
    }
}
