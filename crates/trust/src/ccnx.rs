//! Signatures of CCNx 0.8: what is signed, by which key, and the way through a Merkle tree.
//!
//! A ContentObject says who published it by the digest of a public key, and where that key is. Keys are RSA
//! keys, of 1,024 bits unless somebody asked for more; nobody makes those any more, so a key of that size is
//! read here and nowhere else. Whether the publisher may sign that name is the caller's question.
//!
//! ```
//! use cairn_trust::ccnx::{CcnxSigner, verify_by_own_key};
//! use cairn_trust::{KeyKind, PrivateKey};
//! use packet::ccnx::{ContentObjectView, Ticks, uri};
//!
//! let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa)?)?;
//! let name = uri::parse("ccnx:/parc.com/hello")?;
//! let wire = signer.sign(&name, b"world", Ticks::from_unix(1_234_567_890, 0), |info| info)?;
//! verify_by_own_key(&ContentObjectView::decode(&wire)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod merkle;
mod request;

use packet::Data;
use packet::ccnx::content_object::DEFAULT_DIGEST_ALGORITHM;
use packet::ccnx::{ContentObjectFields, ContentObjectView, KeyLocator, NameSource, SignedInfo, Ticks};

use crate::digest::sha256;
use crate::error::{KeyError, SignError, VerifyError};
use crate::key::der::{self, Reader};
use crate::key::{KeyKind, PrivateKey, PublicKey};

pub use merkle::SignedTree;
pub use request::{CcndRequest, ndnld_control_components, ndnld_control_prefix, signed_content};

/// The file with a key for CCNx unless another is named: of a node among what it keeps, of tools among keys.
pub const DEFAULT_KEY_FILE: &str = "ccnx.key";

/// Signs ContentObjects with one key, which it puts into each of them. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct CcnxSigner {
    key: PrivateKey,
    public: PublicKey,
    publisher: [u8; 32],
}

/// The digest algorithm that CCNx 0.8.2 names for signatures with a secret that both sides know.
const HMAC: &str = "HMAC";
/// 1.2.840.113550.11.1.2.2: a Merkle tree over SHA-256.
const MERKLE_TREE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0e, 0x0b, 0x01, 0x02, 0x02];
/// A tree of 2^32 leaves is higher than any that is made.
const MAX_TREE_HEIGHT: usize = 32;

impl CcnxSigner {
    /// A signer with an RSA key, the only kind that all of CCNx 0.8 verifies.
    ///
    /// # Errors
    /// A key of another kind.
    pub fn new(key: PrivateKey) -> Result<Self, KeyError> {
        if key.kind() != KeyKind::Rsa {
            return Err(KeyError::CcnxKind(key.kind()));
        }
        let public = key.public_key()?;
        let publisher = public.digest();
        Ok(CcnxSigner { key, public, publisher })
    }

    /// The key's digest, by which objects say who published them. A forwarder's is its CCNDID.
    pub fn publisher(&self) -> &[u8; 32] {
        &self.publisher
    }

    /// The public key, a DER SubjectPublicKeyInfo.
    pub fn spki(&self) -> &[u8] {
        self.public.spki()
    }

    /// A signed ContentObject. `complete` adds to what is said about it; the key is in it unless `complete`
    /// names another place.
    ///
    /// # Errors
    /// What cannot be encoded; a failure of the library.
    pub fn sign<'a>(
        &'a self,
        name: impl Into<NameSource<'a>>,
        content: &'a [u8],
        now: Ticks,
        complete: impl FnOnce(SignedInfo<'a>) -> SignedInfo<'a>,
    ) -> Result<Vec<u8>, SignError> {
        let object = self.fields(name, content, now, complete);
        object.encode(None, |signed_bytes| self.key.sign(signed_bytes))
    }

    /// The same, decoded.
    ///
    /// # Errors
    /// As [`sign`](CcnxSigner::sign).
    pub fn sign_data<'a>(
        &'a self,
        name: impl Into<NameSource<'a>>,
        content: &'a [u8],
        now: Ticks,
        complete: impl FnOnce(SignedInfo<'a>) -> SignedInfo<'a>,
    ) -> Result<Data, SignError> {
        let wire = self.sign(name, content, now, complete)?;
        Data::decode_ccnx(wire.into()).map_err(|error| SignError::Encode(error.into()))
    }

    /// What an object says before it is signed.
    fn fields<'a>(
        &'a self,
        name: impl Into<NameSource<'a>>,
        content: &'a [u8],
        now: Ticks,
        complete: impl FnOnce(SignedInfo<'a>) -> SignedInfo<'a>,
    ) -> ContentObjectFields<'a> {
        let key_locator = Some(KeyLocator::Key(self.spki()));
        let signed_info = complete(SignedInfo { key_locator, ..SignedInfo::new(&self.publisher, now) });
        ContentObjectFields { name: name.into(), signed_info, content }
    }
}

/// Checks the signature of an object by the key that it carries, which must be its publisher's.
///
/// # Errors
/// It carries none; otherwise as [`verify`].
pub fn verify_by_own_key(object: &ContentObjectView<'_>) -> Result<(), VerifyError> {
    verify(object, &own_key(object)?.ok_or(VerifyError::NoKey)?)
}

/// The key that an object carries, itself or in a certificate; `None` if it carries none, and maybe names the
/// object that holds it.
///
/// # Errors
/// It is not the publisher's, or no key that can be used.
pub fn own_key(object: &ContentObjectView<'_>) -> Result<Option<PublicKey>, VerifyError> {
    let from_certificate;
    let spki = match object.key_locator() {
        Some(KeyLocator::Key(spki)) => spki,
        Some(KeyLocator::Certificate(der)) => {
            from_certificate = key_in_x509(der).map_err(|_| VerifyError::OtherPublisher)?;
            &from_certificate
        }
        Some(KeyLocator::KeyName { .. }) | None => return Ok(None),
    };
    if sha256(spki) != *object.publisher() {
        return Err(VerifyError::OtherPublisher);
    }
    PublicKey::from_spki_of_ccnx(spki).map(Some).map_err(|_| VerifyError::OtherPublisher)
}

/// The key in a file that names a publisher: a public key (SubjectPublicKeyInfo, DER), or the object that
/// holds one, as `ccnpeek` prints it.
///
/// # Errors
/// No key that can be used.
pub fn publisher_key(bytes: &[u8]) -> Result<PublicKey, KeyError> {
    let object = ContentObjectView::decode(bytes);
    PublicKey::from_spki_of_ccnx(object.map_or(bytes, |object| object.content()))
}

/// The SubjectPublicKeyInfo of an X.509 certificate. Whoever signed that says nothing here: the publisher's
/// digest is of the key alone.
fn key_in_x509(der: &[u8]) -> Result<Vec<u8>, KeyError> {
    const VERSION: u8 = 0xa0;
    let mut outer = Reader::new(der, "X.509 certificate");
    let mut to_be_signed = outer.inside(der::SEQUENCE)?.inside(der::SEQUENCE)?;
    if to_be_signed.peek() == Some(VERSION) {
        to_be_signed.value(VERSION)?;
    }
    to_be_signed.value(der::INTEGER)?;
    for _signature_issuer_validity_subject in 0..4 {
        to_be_signed.value(der::SEQUENCE)?;
    }
    Ok(der::element(der::SEQUENCE, &[to_be_signed.value(der::SEQUENCE)?]))
}

/// Checks the signature of an object by the key of its publisher.
///
/// # Errors
/// The key is another's; a digest algorithm other than SHA-256; a way through a Merkle tree that leads
/// nowhere; a signature that does not fit.
pub fn verify(object: &ContentObjectView<'_>, key: &PublicKey) -> Result<(), VerifyError> {
    if key.digest() != *object.publisher() {
        return Err(VerifyError::OtherPublisher);
    }
    let signature = object.signature();
    if signature.digest_algorithm.is_some_and(|algorithm| algorithm != DEFAULT_DIGEST_ALGORITHM) {
        return Err(VerifyError::UnknownDigest);
    }
    let holds = match signature.witness {
        None => key.verifies(object.signed_bytes(), signature.bits),
        Some(witness) => {
            let root = merkle_root(sha256(object.signed_bytes()), witness);
            key.verifies(&root.map_err(|_| VerifyError::Witness)?, signature.bits)
        }
    };
    if holds { Ok(()) } else { Err(VerifyError::Wrong) }
}

/// Checks the signature of an object by a secret that both sides know.
///
/// # Errors
/// A signature of another kind, or one that does not fit.
pub fn verify_by_secret(object: &ContentObjectView<'_>, secret: &PrivateKey) -> Result<(), VerifyError> {
    let signature = object.signature();
    if signature.digest_algorithm.is_some_and(|algorithm| algorithm != HMAC) {
        return Err(VerifyError::UnknownDigest);
    }
    let key = secret.hmac_key().ok_or(VerifyError::Unsigned)?;
    aws_lc_rs::hmac::verify(key, object.signed_bytes(), signature.bits).map_err(|_| VerifyError::Wrong)
}

/// The root of the tree, from the digest of a leaf and the digests beside the way up. A witness is a
/// DigestInfo around a MerklePath: the leaf's number, counted from the root as 1, and the digests from the
/// root down.
fn merkle_root(leaf: [u8; 32], witness: &[u8]) -> Result<[u8; 32], KeyError> {
    const WHAT: &str = "Merkle path";
    let mut outer = Reader::new(witness, WHAT);
    let mut info = outer.inside(der::SEQUENCE)?;
    if info.inside(der::SEQUENCE)?.value(der::OBJECT_IDENTIFIER)? != MERKLE_TREE {
        return Err(KeyError::Malformed(WHAT));
    }
    let mut path = Reader::new(info.value(der::OCTET_STRING)?, WHAT).inside(der::SEQUENCE)?;
    let mut node = path.number()?;
    let mut list = path.inside(der::SEQUENCE)?;
    let mut beside: Vec<[u8; 32]> = Vec::new();
    while list.peek().is_some() {
        let digest = list.value(der::OCTET_STRING)?;
        if beside.len() >= MAX_TREE_HEIGHT {
            return Err(KeyError::Malformed(WHAT));
        }
        beside.push(digest.try_into().map_err(|_| KeyError::Malformed(WHAT))?);
    }
    let mut digest = leaf;
    while node > 1 {
        let sibling = beside.pop().ok_or(KeyError::Malformed(WHAT))?;
        let (left, right) = if node & 1 == 0 { (digest, sibling) } else { (sibling, digest) };
        digest = merkle::digest_above(&left, &right);
        node >>= 1;
    }
    if node == 1 && beside.is_empty() { Ok(digest) } else { Err(KeyError::Malformed(WHAT)) }
}

#[cfg(test)]
mod tests {
    use packet::ccnx::{ContentKind, uri};

    use super::*;

    fn signer() -> CcnxSigner {
        CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap()
    }

    fn object(signer: &CcnxSigner) -> Vec<u8> {
        let name = uri::parse("ccnx:/a/b").unwrap();
        signer.sign(&name, b"content", Ticks::from_unix(1_700_000_000, 0), |info| info).unwrap()
    }

    #[test]
    fn what_was_signed_verifies_and_no_changed_byte_of_it_does() {
        let signer = signer();
        let wire = object(&signer);
        let view = ContentObjectView::decode(&wire).unwrap();
        assert_eq!(view.publisher(), signer.publisher());
        assert_eq!(verify_by_own_key(&view), Ok(()));
        for place in view.signed_range().step_by(7) {
            let mut changed = wire.clone();
            changed[place] ^= 1;
            if let Ok(view) = ContentObjectView::decode(&changed) {
                assert!(verify_by_own_key(&view).is_err(), "byte {place}");
            }
        }
    }

    #[test]
    fn a_certificate_in_the_key_locator_brings_the_publishers_key_and_no_other() {
        let (signer, other) = (signer(), signer());
        let sequence = |parts: &[&[u8]]| der::element(der::SEQUENCE, parts);
        let certificate = |spki: &[u8]| {
            let (number, empty) = (der::integer(7), sequence(&[]));
            let version = der::element(0xa0, &[&der::integer(2)]);
            let signed = sequence(&[&version, &number, &empty, &empty, &empty, &empty, spki]);
            sequence(&[&signed, &empty, &der::element(der::BIT_STRING, &[&[0]])])
        };
        let name = uri::parse("ccnx:/a").unwrap();
        for (der, expected) in [
            (certificate(signer.spki()), Ok(())),
            (certificate(other.spki()), Err(VerifyError::OtherPublisher)),
            (b"no certificate".to_vec(), Err(VerifyError::OtherPublisher)),
        ] {
            let locator = Some(KeyLocator::Certificate(&der));
            let complete = |info| SignedInfo { key_locator: locator, ..info };
            let wire = signer.sign(&name, b"x", Ticks::from_unix(1_700_000_000, 0), complete).unwrap();
            assert_eq!(verify_by_own_key(&ContentObjectView::decode(&wire).unwrap()), expected);
        }
    }

    #[test]
    fn a_key_that_is_not_the_publishers_verifies_nothing() {
        let (one, other) = (signer(), signer());
        let wire = object(&one);
        let view = ContentObjectView::decode(&wire).unwrap();
        assert_eq!(verify(&view, &other.public), Err(VerifyError::OtherPublisher));
        assert_eq!(verify(&view, &one.public), Ok(()));
    }

    /// The digest of two nodes.
    fn above(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
        sha256(&[*left, *right].concat())
    }

    fn witness(node: u64, beside: &[[u8; 32]]) -> Vec<u8> {
        let digests: Vec<Vec<u8>> =
            beside.iter().map(|digest| der::element(der::OCTET_STRING, &[digest])).collect();
        let list = der::element(der::SEQUENCE, &digests.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let path = der::element(der::SEQUENCE, &[&der::integer(node), &list]);
        let algorithm = der::element(der::SEQUENCE, &[&der::element(der::OBJECT_IDENTIFIER, &[MERKLE_TREE])]);
        der::element(der::SEQUENCE, &[&algorithm, &der::element(der::OCTET_STRING, &[&path])])
    }

    #[test]
    fn every_leaf_of_a_tree_leads_to_its_root_and_nothing_else_does() {
        let leaves = [0, 1, 2, 3].map(|number: u8| sha256(&[number]));
        let [left, right] = [above(&leaves[0], &leaves[1]), above(&leaves[2], &leaves[3])];
        let root = above(&left, &right);
        let beside = [[right, leaves[1]], [right, leaves[0]], [left, leaves[3]], [left, leaves[2]]];
        for (node, (leaf, beside)) in (4..).zip(leaves.into_iter().zip(beside)) {
            assert_eq!(merkle_root(leaf, &witness(node, &beside)), Ok(root));
            assert_ne!(merkle_root(leaf, &witness(node ^ 1, &beside)), Ok(root));
            assert!(merkle_root(leaf, &witness(node, &beside[..1])).is_err());
            assert!(merkle_root(leaf, &witness(node >> 1, &beside)).is_err());
        }
        assert!(merkle_root(leaves[0], &witness(0, &[])).is_err());
        assert!(merkle_root(leaves[0], &witness(u64::MAX >> 1, &[left; 63])).is_err());
        assert_eq!(merkle_root(root, &witness(1, &[])), Ok(root));
        for cut in 0..witness(4, &beside[0]).len() {
            assert!(merkle_root(leaves[0], &witness(4, &beside[0])[..cut]).is_err());
        }
    }

    #[test]
    fn captured_objects_of_other_implementations_verify() {
        let (mut verified, mut by_secret) = (0, 0);
        let secret = PrivateKey::hmac(b"000102030405060708090a0b0c0d0e0f");
        for vector in testkit::vectors::load("ccnx") {
            // Those put together by hand have no real signature.
            if vector.kind() != "ccnx-content" || vector.get("capture").is_none() {
                continue;
            }
            let view = ContentObjectView::decode(&vector.bytes).unwrap();
            match view.key_locator() {
                Some(KeyLocator::Key(_)) => {
                    assert_eq!(verify_by_own_key(&view), Ok(()), "{}", vector.name);
                    verified += 1;
                }
                None => {
                    assert_eq!(verify_by_secret(&view, &secret), Ok(()), "{}", vector.name);
                    by_secret += 1;
                }
                // A key object holds the key itself.
                Some(_) if view.kind() == ContentKind::Key => {
                    let key = PublicKey::from_spki_of_ccnx(view.content()).unwrap();
                    assert_eq!(verify(&view, &key), Ok(()), "{}", vector.name);
                    verified += 1;
                }
                Some(_) => {}
            }
        }
        assert!(verified >= 10 && by_secret >= 1, "{verified} {by_secret}");
    }

    #[test]
    fn segments_that_ccnputfile_signed_as_a_tree_verify_and_neither_content_nor_witness_can_change() {
        let vectors = testkit::vectors::load("ccnx");
        let key = vectors.iter().find(|vector| vector.name.contains("content-key-of-ccnputfile")).unwrap();
        let key =
            PublicKey::from_spki_of_ccnx(ContentObjectView::decode(&key.bytes).unwrap().content()).unwrap();
        let mut depths = Vec::new();
        for vector in vectors.iter().filter(|vector| vector.get("witness").is_some()) {
            let view = ContentObjectView::decode(&vector.bytes).unwrap();
            if *view.publisher() != key.digest() {
                continue;
            }
            assert_eq!(verify(&view, &key), Ok(()), "{}", vector.name);
            let witness = view.signature().witness.unwrap();
            depths.push(witness.len() / 32);
            let last = [witness, view.content()].map(|part| part.as_ptr_range().end.addr() - 1);
            for place in last.map(|address| address - vector.bytes.as_ptr().addr()) {
                let mut changed = vector.bytes.clone();
                changed[place] ^= 1;
                let changed = ContentObjectView::decode(&changed).unwrap();
                assert_eq!(verify(&changed, &key), Err(VerifyError::Wrong), "{} {place}", vector.name);
            }
        }
        depths.sort_unstable();
        assert_eq!(depths, [1, 1, 2, 3]);
    }
}
