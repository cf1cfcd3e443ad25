//! Data packets (NDN packet format, section 4).

use sha2::{Digest as _, Sha256};

use super::signature::{SignatureInfo, SignatureInfoBuilder, SignatureType};
use super::tlv::{self, Element, MAX_PACKET_BYTES, PACKET_HEADER_BYTES, Reader};
use super::{decode_name, outer_element, types};
use crate::brief::{DataBrief, DataFacts};
use crate::buffer::Buffer;
use crate::data::{ContentType, Data};
use crate::error::{DecodeError, EncodeError, Rule};
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::{Component, Name, NameRef};
use crate::span::Span;
use crate::time::Duration;

/// A Data read in place. Everything in it has been checked but the signature; nothing was copied.
#[derive(Clone, Copy, Debug)]
pub struct DataView<'a> {
    wire: &'a [u8],
    layout: Layout,
}

/// Fields of a Data by value, and places of those that are not worth copying.
#[derive(Clone, Copy, Debug)]
struct Layout {
    freshness: Duration,
    content_type: ContentType,
    name: Span,
    component_count: u16,
    final_block: Span,
    content: Span,
    /// The element with its header.
    signature_info: Span,
    signature_value: Span,
    /// From Name to SignatureInfo.
    signed: Span,
}

impl<'a> DataView<'a> {
    /// Reads one Data that fills `wire` exactly.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    #[inline(always)]
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode_asking(wire, |_| None)
    }

    /// The same for whoever may know the name already, as the one of an Interest that was read before:
    /// `components_of` gets its bytes, and tells how many components they are if they are known for a
    /// name. They are not looked into again then.
    ///
    /// # Errors
    /// As [`DataView::decode`].
    #[inline(always)]
    pub fn decode_asking(
        wire: &'a [u8],
        components_of: impl FnOnce(&'a [u8]) -> Option<usize>,
    ) -> Result<Self, DecodeError> {
        let (mut reader, signed_start) = outer_element(wire, types::DATA, "Data")?;
        let name = reader.required(types::NAME, "Name")?;
        let component_count = match components_of(name.value) {
            Some(count) => count as u16,
            None => decode_name(&reader, name)?.component_count,
        };
        let mut layout = Layout {
            freshness: Duration::ZERO,
            content_type: ContentType::BLOB,
            name: Span::new(name.value_start, name.end()),
            component_count,
            final_block: Span::ABSENT,
            content: Span::ABSENT,
            signature_info: Span::ABSENT,
            signature_value: Span::ABSENT,
            signed: Span::ABSENT,
        };
        let last_rank = layout.read_usual_fields(&mut reader, signed_start)?;
        // Passed by value, so that it need not be in memory before it is where it will stay.
        let is_complete = last_rank == LAST_RANK && reader.is_empty();
        let layout = if is_complete { layout } else { layout.with_rest(reader, last_rank, signed_start)? };
        Ok(DataView { wire, layout })
    }

    /// Reads one Data and hashes all prefixes of its name on the way.
    ///
    /// # Errors
    /// As [`DataView::decode`]; the hashes mean nothing then.
    #[inline]
    pub fn decode_hashed(
        wire: &'a [u8],
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let view = Self::decode(wire)?;
        hasher.hash_into(crate::Dialect::Ndn, view.name().components(), hashes);
        Ok(view)
    }

    /// The whole packet, outer type and length included.
    pub fn wire(&self) -> &'a [u8] {
        self.wire
    }

    /// The name, without the implicit digest.
    pub fn name(&self) -> NameRef<'a> {
        NameRef::from_checked(self.layout.name.of(self.wire).unwrap_or_default())
    }

    /// Number of components of the name.
    pub fn component_count(&self) -> usize {
        self.layout.component_count.into()
    }

    /// What the content is.
    pub fn content_type(&self) -> ContentType {
        self.layout.content_type
    }

    /// How long the Data counts as fresh after arrival; zero when not given.
    pub fn freshness(&self) -> Duration {
        self.layout.freshness
    }

    /// FinalBlockId: the last component of the last packet of a sequence.
    pub fn final_block(&self) -> Option<Component<'a>> {
        let element =
            Reader::new(self.layout.final_block.of(self.wire)?, "FinalBlockId").element().ok()??;
        Some(Component::from_checked(element))
    }

    /// The content; empty when there is none.
    pub fn content(&self) -> &'a [u8] {
        self.layout.content.of(self.wire).unwrap_or_default()
    }

    /// SignatureInfo.
    pub fn signature_info(&self) -> Option<SignatureInfo<'a>> {
        SignatureInfo::from_checked(self.layout.signature_info.of(self.wire)?)
    }

    /// SignatureValue.
    pub fn signature_value(&self) -> &'a [u8] {
        self.layout.signature_value.of(self.wire).unwrap_or_default()
    }

    /// The bytes the signature covers: from Name to SignatureInfo.
    pub fn signed_portion(&self) -> &'a [u8] {
        self.layout.signed.of(self.wire).unwrap_or_default()
    }

    /// SHA-256 of the whole packet, the last component of its full name. Computed at each call.
    pub fn implicit_digest(&self) -> [u8; 32] {
        Sha256::digest(self.wire).into()
    }

    #[inline(always)]
    pub(crate) fn brief(&self) -> DataBrief {
        let layout = &self.layout;
        DataBrief::new(DataFacts {
            freshness: layout.freshness,
            name: layout.name,
            content: layout.content,
            component_count: layout.component_count,
            has_content_type: layout.content_type != ContentType::BLOB,
            has_final_block: layout.final_block != Span::ABSENT,
        })
    }
}

impl Layout {
    /// Reads the fields of almost every Data as long as they follow each other in their usual form; gives the
    /// rank of the last.
    #[inline(always)]
    fn read_usual_fields(&mut self, reader: &mut Reader<'_>, signed_start: usize) -> Result<u8, DecodeError> {
        let mut last_rank = 0;
        if let Some(meta_info) = reader.plain(types::META_INFO) {
            let mut inside = reader.inside(meta_info, "MetaInfo");
            match inside.plain(types::FRESHNESS_PERIOD).filter(|_| inside.is_empty()) {
                Some(period) => {
                    self.freshness = Duration::from_millis(tlv::read_nni(period, "FreshnessPeriod")?);
                }
                None => *self = self.with_meta_info(reader.inside(meta_info, "MetaInfo"))?,
            }
            last_rank = 1;
        }
        if let Some(content) = reader.plain(types::CONTENT) {
            self.content = Span::new(content.value_start, content.end());
            last_rank = 2;
        }
        if let Some(info) = reader.plain(types::SIGNATURE_INFO) {
            SignatureInfo::check(reader, info, "SignatureInfo")?;
            self.signature_info = Span::new(info.start, info.end());
            self.signed = Span::new(signed_start, info.end());
            last_rank = 3;
            if let Some(value) = reader.plain(types::SIGNATURE_VALUE) {
                self.signature_value = Span::new(value.value_start, value.end());
                last_rank = LAST_RANK;
            }
        }
        Ok(last_rank)
    }

    /// The same with the fields that `reader` has left, whatever they are, which is all a Data may have.
    #[inline(never)]
    fn with_rest(
        mut self,
        mut reader: Reader<'_>,
        mut last_rank: u8,
        signed_start: usize,
    ) -> Result<Self, DecodeError> {
        while let Some(element) = reader.element()? {
            match rank(element.kind) {
                Some(rank) if rank > last_rank => {
                    last_rank = rank;
                    self.read_field(&reader, element, signed_start)?;
                }
                known => tlv::skip_unexpected(element, known.is_some(), "Data")?,
            }
        }
        for (field, span) in
            [("SignatureInfo", self.signature_info), ("SignatureValue", self.signature_value)]
        {
            if span == Span::ABSENT {
                return Err(DecodeError::new(field, reader.position(), Rule::Missing));
            }
        }
        Ok(self)
    }

    #[inline(never)]
    fn with_meta_info(mut self, reader: Reader<'_>) -> Result<Self, DecodeError> {
        self.read_meta_info(reader)?;
        Ok(self)
    }

    #[inline]
    fn read_field(
        &mut self,
        reader: &Reader<'_>,
        element: Element<'_>,
        signed_start: usize,
    ) -> Result<(), DecodeError> {
        let value = Span::new(element.value_start, element.end());
        match element.kind {
            types::META_INFO => self.read_meta_info(reader.inside(element, "MetaInfo"))?,
            types::CONTENT => self.content = value,
            types::SIGNATURE_INFO => {
                SignatureInfo::check(reader, element, "SignatureInfo")?;
                self.signature_info = Span::new(element.start, element.end());
                self.signed = Span::new(signed_start, element.end());
            }
            types::SIGNATURE_VALUE if self.signature_info != Span::ABSENT => {
                self.signed = Span::new(signed_start, element.start);
                self.signature_value = value;
            }
            // A signature that nothing describes.
            types::SIGNATURE_VALUE => {
                return Err(DecodeError::new("SignatureInfo", element.start, Rule::Missing));
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn read_meta_info(&mut self, mut reader: Reader<'_>) -> Result<(), DecodeError> {
        let mut last_rank = 0;
        while let Some(element) = reader.element()? {
            let rank = match element.kind {
                types::CONTENT_TYPE => 1,
                types::FRESHNESS_PERIOD => 2,
                types::FINAL_BLOCK_ID => 3,
                // Section 4: the application's own elements may stand here whatever their number.
                128..=252 => continue,
                _ => {
                    tlv::skip_unexpected(element, false, "MetaInfo")?;
                    continue;
                }
            };
            if rank <= last_rank {
                tlv::skip_unexpected(element, true, "MetaInfo")?;
                continue;
            }
            last_rank = rank;
            match rank {
                1 => {
                    self.content_type = ContentType(tlv::read_nni(element, "ContentType")?);
                }
                2 => self.freshness = Duration::from_millis(tlv::read_nni(element, "FreshnessPeriod")?),
                _ => {
                    let mut inside = reader.inside(element, "FinalBlockId");
                    let component = inside
                        .element()?
                        .ok_or_else(|| DecodeError::new("FinalBlockId", element.start, Rule::Missing))?;
                    Component::from_element(component)?;
                    inside.finish()?;
                    self.final_block = Span::new(element.value_start, element.end());
                }
            }
        }
        Ok(())
    }
}

/// What no field may follow.
const LAST_RANK: u8 = 4;

/// Place of a recognised element in the order the format prescribes.
#[inline]
fn rank(kind: u32) -> Option<u8> {
    Some(match kind {
        types::META_INFO => 1,
        types::CONTENT => 2,
        types::SIGNATURE_INFO => 3,
        types::SIGNATURE_VALUE => LAST_RANK,
        types::NAME => 0,
        _ => return None,
    })
}

/// Puts a Data together and encodes it once.
///
/// ```
/// use cairn_packet::ndn::DataBuilder;
/// use cairn_packet::time::Duration;
/// let data = DataBuilder::new("/A".parse().unwrap())
///     .freshness(Duration::from_secs(1))
///     .content(b"hi".to_vec())
///     .build_with_digest()
///     .unwrap();
/// assert_eq!(data.content(), b"hi");
/// ```
#[derive(Clone, Debug)]
pub struct DataBuilder {
    name: Name,
    content_type: ContentType,
    freshness: Option<Duration>,
    final_block: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
}

/// Bytes of most signatures, with their header.
const USUAL_SIGNATURE_BYTES: usize = 80;

impl DataBuilder {
    /// A Data with nothing but a name.
    pub fn new(name: Name) -> Self {
        DataBuilder {
            name,
            content_type: ContentType::BLOB,
            freshness: None,
            final_block: None,
            content: None,
        }
    }

    /// Sets ContentType.
    pub fn content_type(mut self, content_type: ContentType) -> Self {
        self.content_type = content_type;
        self
    }

    /// Sets FreshnessPeriod, rounded down to milliseconds.
    pub fn freshness(mut self, freshness: Duration) -> Self {
        self.freshness = Some(freshness);
        self
    }

    /// Sets FinalBlockId.
    pub fn final_block(mut self, component: Component<'_>) -> Self {
        let mut encoded = Vec::with_capacity(component.encoded_len());
        component.append_to(&mut encoded);
        self.final_block = Some(encoded);
        self
    }

    /// Sets Content, which may be empty.
    pub fn content(mut self, content: Vec<u8>) -> Self {
        self.content = Some(content);
        self
    }

    /// Encodes with a DigestSha256 signature, which proves integrity and nothing about who wrote it.
    ///
    /// # Errors
    /// More than 8,800 bytes in all.
    pub fn build_with_digest(&self) -> Result<Data, EncodeError> {
        self.build_signed(&SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256), |signed| {
            Sha256::digest(signed).to_vec()
        })
    }

    /// Encodes with the signature that `sign` returns for the signed portion.
    ///
    /// # Errors
    /// More than 8,800 bytes in all.
    pub fn build_signed(
        &self,
        info: &SignatureInfoBuilder,
        sign: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<Data, EncodeError> {
        let meta_len = self.meta_info_len();
        let signed_len = tlv::element_len(types::NAME, self.name.canonical().len())
            + if meta_len > 0 { tlv::element_len(types::META_INFO, meta_len) } else { 0 }
            + self.content.as_ref().map_or(0, |content| tlv::element_len(types::CONTENT, content.len()))
            + info.encoded_len(types::SIGNATURE_INFO);
        // The header tells the length of all, and that of the signature is not known yet: it is put in front
        // when it is.
        let mut wire = Vec::with_capacity(PACKET_HEADER_BYTES + signed_len + USUAL_SIGNATURE_BYTES);
        wire.resize(PACKET_HEADER_BYTES, 0);
        tlv::write_element(&mut wire, types::NAME, self.name.canonical());
        if meta_len > 0 {
            tlv::write_header(&mut wire, types::META_INFO, meta_len);
            self.write_meta_info(&mut wire);
        }
        if let Some(content) = &self.content {
            tlv::write_element(&mut wire, types::CONTENT, content);
        }
        info.write(types::SIGNATURE_INFO, &mut wire);
        let signed = wire.get(PACKET_HEADER_BYTES..).unwrap_or_default();
        debug_assert_eq!(signed.len(), signed_len);
        let signature = sign(signed);
        let value_len = signed_len + tlv::element_len(types::SIGNATURE_VALUE, signature.len());
        let size = tlv::element_len(types::DATA, value_len);
        if size > MAX_PACKET_BYTES {
            return Err(EncodeError::TooLarge { size, limit: MAX_PACKET_BYTES });
        }
        tlv::write_element(&mut wire, types::SIGNATURE_VALUE, &signature);
        let end = wire.len();
        let too_large = EncodeError::TooLarge { size, limit: MAX_PACKET_BYTES };
        let start = tlv::write_packet_header(&mut wire, types::DATA, end).ok_or(too_large)?;
        Ok(Data::decode_ndn(Buffer::copy_from(wire.get(start..).unwrap_or_default()))?)
    }

    fn meta_info_len(&self) -> usize {
        let kind = self.content_type;
        (if kind == ContentType::BLOB { 0 } else { tlv::nni_element_len(types::CONTENT_TYPE, kind.0) })
            + self.freshness.map_or(0, |time| tlv::nni_element_len(types::FRESHNESS_PERIOD, time.as_millis()))
            + self
                .final_block
                .as_ref()
                .map_or(0, |block| tlv::element_len(types::FINAL_BLOCK_ID, block.len()))
    }

    fn write_meta_info(&self, out: &mut Vec<u8>) {
        if self.content_type != ContentType::BLOB {
            tlv::write_nni_element(out, types::CONTENT_TYPE, self.content_type.0);
        }
        if let Some(freshness) = self.freshness {
            tlv::write_nni_element(out, types::FRESHNESS_PERIOD, freshness.as_millis());
        }
        if let Some(block) = &self.final_block {
            tlv::write_element(out, types::FINAL_BLOCK_ID, block);
        }
    }
}
