//! ContentObjects, the Data of CCNx 0.8.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::brief::{DataBrief, DataFacts};
use crate::ccnx::block::{
    body_element_len, element_len, write_blob_element, write_close, write_open, write_text_element,
};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::ccnx::signed_info::{ContentKind, KeyLocator, SignedInfo};
use crate::ccnx::ticks::Ticks;
use crate::ccnx::{MAX_ENCODED_BYTES, first_message, span_in, whole_message};
use crate::error::{DecodeError, EncodeError, Rule};
use crate::hash::{NameHasher, PrefixHashes};
use crate::name::Component;
use crate::span::Span;
use crate::time::Duration;

/// DigestAlgorithm of a signature that names none: SHA-256.
pub const DEFAULT_DIGEST_ALGORITHM: &str = "2.16.840.1.101.3.4.2.1";

/// The fewest bytes that SignatureBits may have.
pub const MIN_SIGNATURE_BYTES: usize = 16;

/// The fewest bytes that a Witness may have.
pub const MIN_WITNESS_BYTES: usize = 8;

/// A ContentObject read in place. Everything in it has been checked but the signature; nothing was copied.
#[derive(Clone, Copy, Debug)]
pub struct ContentObjectView<'a> {
    wire: &'a [u8],
    layout: Layout,
}

/// Fields of a ContentObject by value, and places of those that are not worth copying.
#[derive(Clone, Copy, Debug)]
struct Layout {
    timestamp: Ticks,
    kind: Option<ContentKind>,
    freshness_seconds: Option<u32>,
    component_count: u16,
    /// The Component elements.
    name: Span,
    digest_algorithm: Span,
    witness: Span,
    signature_bits: Span,
    publisher: Span,
    final_block_id: Span,
    /// The element, for it is read again when asked for.
    signed_info: Span,
    ext_opt: Span,
    content: Span,
    /// From Name to the close of Content.
    signed: Span,
}

/// Signature: what proves that the publisher made a ContentObject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The digest algorithm's object identifier, as text; [`DEFAULT_DIGEST_ALGORITHM`] unless given. CCNx
    /// 0.8.2 writes `HMAC` for signatures with a symmetric key.
    pub digest_algorithm: Option<&'a str>,
    /// The way from this object's digest to the root of a Merkle tree, whose digest is signed instead: a DER
    /// DigestInfo with a MerklePath.
    pub witness: Option<&'a [u8]>,
    /// The signature itself.
    pub bits: &'a [u8],
}

impl<'a> ContentObjectView<'a> {
    /// Reads one ContentObject that fills `wire` exactly.
    ///
    /// # Errors
    /// Any element but those of CCNx 0.8 in their order, or a value outside its range; more than 65,535
    /// bytes.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode_with(wire, |_| {})
    }

    /// Reads one ContentObject and hashes all prefixes of its name on the way.
    ///
    /// # Errors
    /// As [`ContentObjectView::decode`]; the hashes mean nothing then.
    #[inline]
    pub fn decode_hashed(
        wire: &'a [u8],
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let mut pass = hasher.begin(crate::Dialect::Ccnx, hashes);
        let view = Self::decode_with(wire, |component| pass.component(component))?;
        pass.finish();
        Ok(view)
    }

    /// Reads the ContentObject that `bytes` begin with. `known` gets the bytes from the first component of
    /// the name on, before anything behind them has been read: whoever recognises the name gives how many of
    /// these bytes are how many whole components, and these are not read.
    ///
    /// # Errors
    /// As [`ContentObjectView::decode`].
    #[inline]
    pub fn decode_first_asking(
        bytes: &'a [u8],
        known: impl FnOnce(&'a [u8]) -> Option<(usize, usize)>,
    ) -> Result<Self, DecodeError> {
        let reader = first_message(bytes, "ContentObject");
        Self::read(reader, |reader| CcnxNameRef::read_asking(reader, known)).map(|(view, _)| view)
    }

    #[inline(always)]
    fn decode_with(wire: &'a [u8], visit: impl FnMut(Component<'a>)) -> Result<Self, DecodeError> {
        let reader = whole_message(wire, "ContentObject")?;
        let (view, reader) = Self::read(reader, |reader| CcnxNameRef::read_with(reader, visit))?;
        reader.finish()?;
        Ok(view)
    }

    /// Reads the ContentObject with which the reader's bytes begin.
    #[inline(always)]
    fn read(
        mut reader: Reader<'a>,
        read_name: impl FnOnce(&mut Reader<'a>) -> Result<CcnxNameRef<'a>, DecodeError>,
    ) -> Result<(Self, Reader<'a>), DecodeError> {
        let wire = reader.rest();
        reader.open(Dtag::CONTENT_OBJECT, "ContentObject")?;
        let signature = Signature::read(&mut reader)?;
        let signed_start = reader.position();
        let name = read_name(&mut reader)?;
        let info_start = reader.position();
        let info = SignedInfo::read(&mut reader)?;
        let info_end = reader.position();
        let content = reader.blob_element(Dtag::CONTENT, "Content", ..)?;
        let signed = Span::new(signed_start, reader.position());
        reader.close("ContentObject")?;
        let place = |part: Option<&[u8]>| part.map_or(Span::ABSENT, |part| span_in(wire, part));
        let layout = Layout {
            timestamp: info.timestamp,
            kind: info.kind,
            freshness_seconds: info.freshness_seconds,
            // A message of 65,535 bytes holds at most 32,765 components.
            component_count: name.len() as u16,
            name: span_in(wire, name.component_bytes()),
            digest_algorithm: place(signature.digest_algorithm.map(str::as_bytes)),
            witness: place(signature.witness),
            signature_bits: span_in(wire, signature.bits),
            publisher: span_in(wire, info.publisher),
            final_block_id: place(info.final_block_id),
            signed_info: Span::new(info_start, info_end),
            ext_opt: place(info.ext_opt),
            content: span_in(wire, content),
            signed,
        };
        Ok((ContentObjectView { wire: reader.read_since(0), layout }, reader))
    }

    /// The whole message.
    pub fn wire(&self) -> &'a [u8] {
        self.wire
    }

    /// The name, without the implicit digest.
    pub fn name(&self) -> CcnxNameRef<'a> {
        CcnxNameRef::from_checked(self.part(self.layout.name), self.layout.component_count.into())
    }

    /// What proves that the publisher made this.
    pub fn signature(&self) -> Signature<'a> {
        let algorithm = self.layout.digest_algorithm.of(self.wire);
        Signature {
            digest_algorithm: algorithm.and_then(|text| std::str::from_utf8(text).ok()),
            witness: self.layout.witness.of(self.wire),
            bits: self.part(self.layout.signature_bits),
        }
    }

    /// SHA-256 of the publisher's public key.
    pub fn publisher(&self) -> &'a [u8; 32] {
        // The length was checked; the zeros only spare a panic path.
        self.part(self.layout.publisher).first_chunk().unwrap_or(&[0; 32])
    }

    /// When the object was signed, counted from 1970.
    pub fn timestamp(&self) -> Ticks {
        self.layout.timestamp
    }

    /// What the object is.
    pub fn kind(&self) -> ContentKind {
        self.layout.kind.unwrap_or_default()
    }

    /// How long the object counts as fresh after arrival, in seconds; `None` for ever.
    pub fn freshness_seconds(&self) -> Option<u32> {
        self.layout.freshness_seconds
    }

    /// The last component of the name of the last object of the sequence.
    pub fn final_block_id(&self) -> Option<&'a [u8]> {
        self.layout.final_block_id.of(self.wire)
    }

    /// Where to find the key that verifies the signature; absent for symmetric keys.
    pub fn key_locator(&self) -> Option<KeyLocator<'a>> {
        let mut reader = Reader::new(self.part(self.layout.signed_info), "SignedInfo");
        SignedInfo::read(&mut reader).ok()?.key_locator
    }

    /// All of SignedInfo, for encoding it again.
    pub fn signed_info(&self) -> SignedInfo<'a> {
        SignedInfo {
            publisher: self.publisher(),
            timestamp: self.layout.timestamp,
            kind: self.layout.kind,
            freshness_seconds: self.layout.freshness_seconds,
            final_block_id: self.final_block_id(),
            key_locator: self.key_locator(),
            ext_opt: self.layout.ext_opt.of(self.wire),
        }
    }

    /// The content; empty when there is none.
    pub fn content(&self) -> &'a [u8] {
        self.part(self.layout.content)
    }

    /// Where in [`wire`](ContentObjectView::wire) the bytes are that the signature covers: from Name to the
    /// close of Content.
    pub fn signed_range(&self) -> Range<usize> {
        self.layout.signed.range().unwrap_or_default()
    }

    /// The bytes that the signature covers.
    pub fn signed_bytes(&self) -> &'a [u8] {
        self.part(self.layout.signed)
    }

    /// SHA-256 of the whole message, the last component of its full name. Computed at each call.
    pub fn implicit_digest(&self) -> [u8; 32] {
        Sha256::digest(self.wire).into()
    }

    #[inline(always)]
    pub(crate) fn brief(&self) -> DataBrief {
        let layout = &self.layout;
        let freshness = layout.freshness_seconds;
        let facts = DataFacts {
            freshness: freshness.map_or(Duration::MAX, |secs| Duration::from_secs(secs.into())),
            name: layout.name,
            content: layout.content,
            component_count: layout.component_count,
            has_content_type: false,
            has_final_block: false,
        };
        DataBrief::of_ccnx(facts, layout.publisher.range().map_or(0, |range| range.start))
    }

    fn part(&self, span: Span) -> &'a [u8] {
        span.of(self.wire).unwrap_or_default()
    }
}

impl<'a> Signature<'a> {
    #[inline(always)]
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::SIGNATURE, "Signature")?;
        let signature = Signature {
            digest_algorithm: reader.optional_text(Dtag::DIGEST_ALGORITHM, "DigestAlgorithm")?,
            witness: reader.optional_blob(Dtag::WITNESS, "Witness", MIN_WITNESS_BYTES..)?,
            bits: reader.blob_element(Dtag::SIGNATURE_BITS, "SignatureBits", MIN_SIGNATURE_BYTES..)?,
        };
        reader.close("Signature")?;
        Ok(signature)
    }

    fn check(&self) -> Result<(), DecodeError> {
        let too_short = |field, len| Err(DecodeError::new(field, 0, Rule::BadLength(len)));
        match (self.witness, self.bits) {
            (Some(witness), _) if witness.len() < MIN_WITNESS_BYTES => too_short("Witness", witness.len()),
            (_, bits) if bits.len() < MIN_SIGNATURE_BYTES => too_short("SignatureBits", bits.len()),
            _ => Ok(()),
        }
    }

    fn encoded_len(&self) -> usize {
        let algorithm =
            self.digest_algorithm.map(|text| body_element_len(Dtag::DIGEST_ALGORITHM, text.len()));
        let witness = self.witness.map(|witness| body_element_len(Dtag::WITNESS, witness.len()));
        let bits = body_element_len(Dtag::SIGNATURE_BITS, self.bits.len());
        element_len(Dtag::SIGNATURE, algorithm.unwrap_or(0) + witness.unwrap_or(0) + bits)
    }

    fn encode_into(&self, out: &mut Vec<u8>) {
        write_open(out, Dtag::SIGNATURE);
        if let Some(text) = self.digest_algorithm {
            write_text_element(out, Dtag::DIGEST_ALGORITHM, text);
        }
        if let Some(witness) = self.witness {
            write_blob_element(out, Dtag::WITNESS, witness);
        }
        write_blob_element(out, Dtag::SIGNATURE_BITS, self.bits);
        write_close(out);
    }
}

/// Everything in a ContentObject but the signature.
///
/// ```
/// use cairn_packet::ccnx::{ContentObjectFields, ContentObjectView, SignedInfo, Ticks, uri};
/// use cairn_packet::EncodeError;
/// let name = uri::parse("ccnx:/a/%00")?;
/// let object = ContentObjectFields {
///     name: (&name).into(),
///     signed_info: SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0)),
///     content: b"hi",
/// };
/// let wire = object.encode(None, |_signed_bytes| Ok::<_, EncodeError>([0xaa; 16]))?;
/// assert_eq!(ContentObjectView::decode(&wire)?.content(), b"hi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ContentObjectFields<'a> {
    /// The name, without the implicit digest.
    pub name: NameSource<'a>,
    /// What the publisher says about the content.
    pub signed_info: SignedInfo<'a>,
    /// The content.
    pub content: &'a [u8],
}

impl ContentObjectFields<'_> {
    /// The ContentObject with the signature that `sign` makes of the bytes it is given. `digest_algorithm` is
    /// the object identifier to name in it, if it is not SHA-256.
    ///
    /// # Errors
    /// Those of `sign`, and those of [`signed_bytes`](ContentObjectFields::signed_bytes) and [`assemble`].
    pub fn encode<S: AsRef<[u8]>, E: From<EncodeError>>(
        &self,
        digest_algorithm: Option<&str>,
        sign: impl FnOnce(&[u8]) -> Result<S, E>,
    ) -> Result<Vec<u8>, E> {
        let signed = self.signed_bytes()?;
        let bits = sign(&signed)?;
        let signature = Signature { digest_algorithm, witness: None, bits: bits.as_ref() };
        Ok(assemble(&signature, &signed)?)
    }

    /// The bytes that the signature covers: Name, SignedInfo and Content.
    ///
    /// # Errors
    /// A name that CCNx cannot express, an empty FinalBlockID or ExtOpt, more than 8,800 bytes.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, EncodeError> {
        let len = self.name.encoded_len()?
            + self.signed_info.encoded_len()?
            + body_element_len(Dtag::CONTENT, self.content.len());
        limit(len)?;
        let mut out = Vec::with_capacity(len);
        self.name.encode_into(&mut out)?;
        self.signed_info.encode_into(&mut out)?;
        write_blob_element(&mut out, Dtag::CONTENT, self.content);
        Ok(out)
    }
}

/// The ContentObject made of a signature and the bytes that it covers.
///
/// # Errors
/// A signature or witness that is too short, more than 8,800 bytes.
pub fn assemble(signature: &Signature<'_>, signed_bytes: &[u8]) -> Result<Vec<u8>, EncodeError> {
    signature.check()?;
    let len = element_len(Dtag::CONTENT_OBJECT, signature.encoded_len() + signed_bytes.len());
    limit(len)?;
    let mut out = Vec::with_capacity(len);
    write_open(&mut out, Dtag::CONTENT_OBJECT);
    signature.encode_into(&mut out);
    out.extend_from_slice(signed_bytes);
    write_close(&mut out);
    Ok(out)
}

fn limit(size: usize) -> Result<(), EncodeError> {
    if size > MAX_ENCODED_BYTES {
        return Err(EncodeError::TooLarge { size, limit: MAX_ENCODED_BYTES });
    }
    Ok(())
}
