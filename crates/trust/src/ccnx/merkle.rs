//! Signing many objects with one signature: a Merkle tree over their digests, of which the root is signed.
//!
//! Nodes are numbered as in a heap: the root is 1, those below node n are 2n and 2n + 1, and the leaves of a
//! tree over n objects are n to 2n − 1. Each object carries its way up, a Witness, beside the signature.

use packet::ccnx::content_object::{Signature, assemble};
use packet::ccnx::{NameSource, SignedInfo, Ticks};

use super::{CcnxSigner, MERKLE_TREE};
use crate::digest::{Sha256, sha256};
use crate::error::SignError;
use crate::key::der;

/// Digests of several objects, and the signature of their root.
#[derive(Clone, Debug)]
pub struct SignedTree {
    /// By number; nothing is at 0.
    nodes: Vec<[u8; 32]>,
    signature: Vec<u8>,
}

/// The digest of two nodes that stand beside each other.
pub(super) fn digest_above(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(left);
    hash.update(right);
    hash.finish()
}

impl CcnxSigner {
    /// What of an object is signed, when `complete` has added to what is said about it: Name, SignedInfo and
    /// Content. Its SHA-256 is a leaf of a tree.
    ///
    /// # Errors
    /// What cannot be encoded.
    pub fn signed_bytes<'a>(
        &'a self,
        name: impl Into<NameSource<'a>>,
        content: &'a [u8],
        now: Ticks,
        complete: impl FnOnce(SignedInfo<'a>) -> SignedInfo<'a>,
    ) -> Result<Vec<u8>, SignError> {
        Ok(self.fields(name, content, now, complete).signed_bytes()?)
    }

    /// Signs the root of a tree over these leaves, in their order.
    ///
    /// # Errors
    /// A failure of the library.
    pub fn sign_tree(&self, leaves: &[[u8; 32]]) -> Result<SignedTree, SignError> {
        let mut nodes = vec![[0; 32]; leaves.len()];
        nodes.extend_from_slice(leaves);
        for number in (1..leaves.len()).rev() {
            if let Some(&[left, right]) = nodes.get(2 * number..2 * number + 2)
                && let Some(node) = nodes.get_mut(number)
            {
                *node = digest_above(&left, &right);
            }
        }
        let signature = self.key.sign(nodes.get(1).map_or(&[][..], |root| root))?;
        Ok(SignedTree { nodes, signature })
    }
}

impl SignedTree {
    /// How many objects it is of.
    pub fn leaf_count(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Bytes of memory that it takes.
    pub fn footprint_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<[u8; 32]>() + self.signature.capacity()
    }

    /// The object that is leaf `leaf`, of the bytes that were signed; `None` if they are not that leaf.
    ///
    /// # Errors
    /// An object that is too large.
    pub fn object(&self, leaf: usize, signed_bytes: &[u8]) -> Result<Option<Vec<u8>>, SignError> {
        let number = self.leaf_count() + leaf;
        if leaf >= self.leaf_count() || self.nodes.get(number) != Some(&sha256(signed_bytes)) {
            return Ok(None);
        }
        let witness = self.witness(number);
        let signature = Signature { digest_algorithm: None, witness: Some(&witness), bits: &self.signature };
        Ok(Some(assemble(&signature, signed_bytes)?))
    }

    /// The way from a leaf to the root, as a DigestInfo around a MerklePath: the leaf's number, and the
    /// digests beside the way from the root down.
    fn witness(&self, number: usize) -> Vec<u8> {
        let mut beside = Vec::new();
        let mut above = number;
        while above > 1 {
            beside.extend(self.nodes.get(above ^ 1).map(|digest| der::element(der::OCTET_STRING, &[digest])));
            above /= 2;
        }
        beside.reverse();
        let beside: Vec<&[u8]> = beside.iter().map(Vec::as_slice).collect();
        let list = der::element(der::SEQUENCE, &beside);
        let path = der::element(der::SEQUENCE, &[&der::integer(number as u64), &list]);
        let algorithm = der::element(der::SEQUENCE, &[&der::element(der::OBJECT_IDENTIFIER, &[MERKLE_TREE])]);
        der::element(der::SEQUENCE, &[&algorithm, &der::element(der::OCTET_STRING, &[&path])])
    }
}

#[cfg(test)]
mod tests {
    use packet::ccnx::{ContentObjectView, uri};

    use super::super::{merkle_root, verify_by_own_key};
    use super::*;
    use crate::error::VerifyError;
    use crate::key::{KeyKind, PrivateKey};

    #[test]
    fn every_object_of_a_tree_of_any_size_verifies_and_none_with_another_content() {
        let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
        let now = Ticks::from_unix(1_700_000_000, 0);
        for count in [1, 2, 3, 7, 8, 9] {
            let signed: Vec<Vec<u8>> = (0..count)
                .map(|number: u8| {
                    let name = uri::parse(&format!("ccnx:/a/{number}")).unwrap();
                    signer.signed_bytes(&name, &[number], now, |info| info).unwrap()
                })
                .collect();
            let leaves: Vec<[u8; 32]> = signed.iter().map(|bytes| sha256(bytes)).collect();
            let tree = signer.sign_tree(&leaves).unwrap();
            assert_eq!(tree.leaf_count(), signed.len());
            for (leaf, bytes) in signed.iter().enumerate() {
                let wire = tree.object(leaf, bytes).unwrap().unwrap();
                assert_eq!(verify_by_own_key(&ContentObjectView::decode(&wire).unwrap()), Ok(()));
                let place = wire.windows(2).rposition(|pair| pair == [0x8d, leaf as u8]).unwrap();
                let mut changed = wire.clone();
                changed[place + 1] ^= 0x80;
                let changed = ContentObjectView::decode(&changed).unwrap();
                assert_eq!(verify_by_own_key(&changed), Err(VerifyError::Wrong), "{count} {leaf}");
                assert_eq!(tree.object(leaf + 1, bytes).unwrap(), None);
                assert_eq!(
                    merkle_root(leaves[leaf], &tree.witness(tree.leaf_count() + leaf)),
                    Ok(tree.nodes[1])
                );
            }
        }
    }
}
