//! SignatureInfo and InterestSignatureInfo (NDN packet format, section 5): what a signature says about
//! itself.
//!
//! Signatures are made and verified elsewhere; here they are only carried.

use super::tlv::{self, Element, Reader};
use super::{ValidityPeriod, decode_name, types};
use crate::error::{DecodeError, Rule};
use crate::name::{Name, NameRef};

/// SignatureType.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignatureType(pub u64);

impl SignatureType {
    /// SHA-256 of the signed portion, without a key.
    pub const DIGEST_SHA256: SignatureType = SignatureType(0);
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    pub const SHA256_WITH_RSA: SignatureType = SignatureType(1);
    /// ECDSA with SHA-256.
    pub const SHA256_WITH_ECDSA: SignatureType = SignatureType(3);
    /// HMAC with SHA-256.
    pub const HMAC_WITH_SHA256: SignatureType = SignatureType(4);
    /// Ed25519.
    pub const ED25519: SignatureType = SignatureType(5);
    /// No signature at all.
    pub const NULL: SignatureType = SignatureType(200);
}

/// Where the key of a signature is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocator<'a> {
    /// Name of the key or of its certificate.
    Name(NameRef<'a>),
    /// SHA-256 of the key.
    Digest(&'a [u8]),
}

/// A SignatureInfo or InterestSignatureInfo read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureInfo<'a> {
    /// The algorithm.
    pub signature_type: SignatureType,
    /// The key.
    pub key_locator: Option<KeyLocator<'a>>,
    /// SignatureNonce, at least one byte.
    pub nonce: Option<&'a [u8]>,
    /// SignatureTime, milliseconds since the Unix epoch.
    pub time_ms: Option<u64>,
    /// SignatureSeqNum.
    pub sequence_number: Option<u64>,
    /// The value of ValidityPeriod, as certificates have it.
    pub validity_period: Option<&'a [u8]>,
}

impl<'a> SignatureInfo<'a> {
    /// Reads a SignatureInfo or InterestSignatureInfo that fills `wire` exactly, type and length included, as
    /// it stands in a name component of a signed Interest older than v0.3.
    ///
    /// # Errors
    /// Another element, or any broken rule of the format.
    pub fn decode_element(wire: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "SignatureInfo");
        let element = match reader.element()? {
            Some(element)
                if [types::SIGNATURE_INFO, types::INTEREST_SIGNATURE_INFO].contains(&element.kind) =>
            {
                element
            }
            Some(element) => {
                let rule = Rule::UnexpectedType(element.kind.into());
                return Err(DecodeError::new("SignatureInfo", element.start, rule));
            }
            None => return Err(DecodeError::new("SignatureInfo", 0, Rule::Missing)),
        };
        reader.finish()?;
        SignatureInfo::decode(&reader, element, "SignatureInfo")
    }

    /// Whether [`decode`](Self::decode) would read `element`, for whoever has no use for what is in it.
    #[inline(always)]
    pub(crate) fn check(
        reader: &Reader<'a>,
        element: Element<'a>,
        field: &'static str,
    ) -> Result<(), DecodeError> {
        let mut inside = reader.inside(element, field);
        // Many say nothing but how they are made.
        if inside.fixed::<1>(types::SIGNATURE_TYPE).is_some() && inside.is_empty() {
            return Ok(());
        }
        SignatureInfo::decode(reader, element, field).map(|_| ())
    }

    /// Reads `element`, which `reader` returned.
    pub(crate) fn decode(
        reader: &Reader<'a>,
        element: Element<'a>,
        field: &'static str,
    ) -> Result<Self, DecodeError> {
        let mut inside = reader.inside(element, field);
        let signature_type = match inside.fixed::<1>(types::SIGNATURE_TYPE) {
            Some(&[number]) => number.into(),
            None => tlv::read_nni(inside.required(types::SIGNATURE_TYPE, "SignatureType")?, "SignatureType")?,
        };
        let mut info = SignatureInfo {
            signature_type: SignatureType(signature_type),
            key_locator: None,
            nonce: None,
            time_ms: None,
            sequence_number: None,
            validity_period: None,
        };
        let mut last_rank = 0;
        while let Some(element) = inside.element()? {
            let rank = match element.kind {
                types::SIGNATURE_TYPE => 0,
                types::KEY_LOCATOR => 1,
                types::SIGNATURE_NONCE => 2,
                types::SIGNATURE_TIME => 3,
                types::SIGNATURE_SEQ_NUM => 4,
                // Odd, and yet allowed here: the certificate format puts it there.
                types::VALIDITY_PERIOD => 5,
                _ => {
                    tlv::skip_unexpected(element, false, field)?;
                    continue;
                }
            };
            if rank <= last_rank {
                tlv::skip_unexpected(element, true, field)?;
                continue;
            }
            last_rank = rank;
            match rank {
                1 => info.key_locator = decode_key_locator(&inside, element)?,
                2 if element.value.is_empty() => {
                    return Err(DecodeError::new("SignatureNonce", element.start, Rule::BadLength(0)));
                }
                2 => info.nonce = Some(element.value),
                3 => info.time_ms = Some(tlv::read_nni(element, "SignatureTime")?),
                4 => info.sequence_number = Some(tlv::read_nni(element, "SignatureSeqNum")?),
                _ => info.validity_period = Some(element.value),
            }
        }
        Ok(info)
    }

    /// Reads an element, header included, that was checked when its packet was decoded.
    pub(crate) fn from_checked(element: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(element, "SignatureInfo");
        let element = reader.element().ok()??;
        SignatureInfo::decode(&reader, element, "SignatureInfo").ok()
    }
}

/// A locator of a kind that is not known but may be ignored counts as none.
fn decode_key_locator<'a>(
    reader: &Reader<'a>,
    element: Element<'a>,
) -> Result<Option<KeyLocator<'a>>, DecodeError> {
    let mut inside = reader.inside(element, "KeyLocator");
    let mut locator = None;
    while let Some(inner) = inside.element()? {
        match inner.kind {
            types::NAME if locator.is_none() => {
                decode_name(&inside, inner)?;
                locator = Some(KeyLocator::Name(NameRef::from_checked(inner.value)));
            }
            types::KEY_DIGEST if locator.is_none() => locator = Some(KeyLocator::Digest(inner.value)),
            kind => {
                tlv::skip_unexpected(inner, matches!(kind, types::NAME | types::KEY_DIGEST), "KeyLocator")?;
            }
        }
    }
    Ok(locator)
}

/// What to write into a SignatureInfo.
#[derive(Clone, Debug)]
pub struct SignatureInfoBuilder {
    value: Vec<u8>,
}

impl SignatureInfoBuilder {
    /// Only the algorithm. Further fields must be added in the order of the methods below, the format's
    /// order.
    pub fn new(signature_type: SignatureType) -> Self {
        let mut value = Vec::new();
        tlv::write_nni_element(&mut value, types::SIGNATURE_TYPE, signature_type.0);
        SignatureInfoBuilder { value }
    }

    /// Adds a KeyLocator that names the key.
    pub fn key_name(mut self, name: &Name) -> Self {
        let canonical = name.canonical();
        let inner_len = tlv::element_len(types::NAME, canonical.len());
        tlv::write_header(&mut self.value, types::KEY_LOCATOR, inner_len);
        tlv::write_element(&mut self.value, types::NAME, canonical);
        self
    }

    /// Adds a KeyLocator that holds the key's digest.
    pub fn key_digest(mut self, digest: &[u8; 32]) -> Self {
        tlv::write_header(&mut self.value, types::KEY_LOCATOR, tlv::element_len(types::KEY_DIGEST, 32));
        tlv::write_element(&mut self.value, types::KEY_DIGEST, digest);
        self
    }

    /// Adds SignatureNonce.
    pub fn nonce(mut self, nonce: u64) -> Self {
        tlv::write_element(&mut self.value, types::SIGNATURE_NONCE, &nonce.to_be_bytes());
        self
    }

    /// Adds SignatureTime, milliseconds since the Unix epoch.
    pub fn time_ms(mut self, time_ms: u64) -> Self {
        tlv::write_nni_element(&mut self.value, types::SIGNATURE_TIME, time_ms);
        self
    }

    /// Adds SignatureSeqNum.
    pub fn sequence_number(mut self, number: u64) -> Self {
        tlv::write_nni_element(&mut self.value, types::SIGNATURE_SEQ_NUM, number);
        self
    }

    /// Adds a ValidityPeriod.
    pub fn validity_period(mut self, validity: &ValidityPeriod) -> Self {
        validity.write(&mut self.value);
        self
    }

    pub(crate) fn encoded_len(&self, kind: u32) -> usize {
        tlv::element_len(kind, self.value.len())
    }

    /// The whole SignatureInfo element, as it stands in a name component of a signed Interest older than
    /// v0.3.
    pub fn encode_element(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.encoded_len(types::SIGNATURE_INFO));
        self.write(types::SIGNATURE_INFO, &mut out);
        out
    }

    pub(crate) fn write(&self, kind: u32, out: &mut Vec<u8>) {
        tlv::write_element(out, kind, &self.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_in_a_name_component_is_read_whole_or_not_at_all() {
        let element = SignatureInfoBuilder::new(SignatureType::ED25519).time_ms(7).encode_element();
        let info = SignatureInfo::decode_element(&element).unwrap();
        assert_eq!((info.signature_type, info.time_ms), (SignatureType::ED25519, Some(7)));
        for len in 0..element.len() {
            assert!(SignatureInfo::decode_element(&element[..len]).is_err());
        }
        assert!(SignatureInfo::decode_element(&[&element[..], &[0]].concat()).is_err());
        // A SignatureValue is no SignatureInfo.
        assert!(SignatureInfo::decode_element(&[0x17, 3, 0x1b, 1, 0]).is_err());
    }
}
