//! An object in a file, published for CCNx.

use std::collections::VecDeque;
use std::fs::File;

use flow::source::{Reply, Source, SourceError};
use flow::{CcnxPublication, SegmentTree};
use packet::{Data, Interest};

use super::file_object::read_segment;
use super::packet_cache::{CACHE_BYTES, PacketCache};

/// Answers for the segments of one version. Keeps packets that were asked for lately, for each costs a
/// signature.
#[derive(Debug)]
pub struct CcnxFileObject {
    publication: CcnxPublication,
    file: File,
    cache: PacketCache,
    /// Those used last at the end.
    trees: VecDeque<SegmentTree>,
}

/// Bytes that signed trees may take, one for each half megabyte of an object.
const TREE_BYTES: usize = 4 << 20;

impl CcnxFileObject {
    /// Answers for `publication`, whose bytes are in `file` from its beginning.
    pub fn new(publication: CcnxPublication, file: File) -> Self {
        CcnxFileObject { publication, file, cache: PacketCache::new(CACHE_BYTES), trees: VecDeque::new() }
    }

    /// What is published.
    pub fn publication(&self) -> &CcnxPublication {
        &self.publication
    }

    /// The packet of a segment, signed alone or in its tree.
    ///
    /// # Errors
    /// There is no such segment, its bytes cannot be read, or it cannot be signed.
    pub fn packet(&mut self, segment: u64) -> Result<Data, SourceError> {
        let content = self.read(segment)?;
        let Some(together) = self.publication.tree_of(segment) else {
            return Ok(self.publication.segment(segment, &content)?);
        };
        let known = self.trees.iter().position(|tree| tree.holds(segment));
        let tree = match known.and_then(|place| self.trees.remove(place)) {
            Some(tree) => tree,
            None => {
                let first = *together.start();
                let mut leaves = Vec::new();
                for segment in together {
                    leaves.push(self.publication.leaf(segment, &self.read(segment)?)?);
                }
                self.publication.sign_tree(first, &leaves)?
            }
        };
        let made = self.publication.segment_in(&tree, segment, &content);
        if made.is_ok() {
            self.trees.push_back(tree);
            let each = self.trees.back().map_or(1, SegmentTree::footprint_bytes).max(1);
            while self.trees.len() > (TREE_BYTES / each).max(1) {
                self.trees.pop_front();
            }
        }
        Ok(made?)
    }

    fn read(&self, segment: u64) -> Result<Vec<u8>, SourceError> {
        let Some(range) = self.publication.range(segment) else { return Ok(Vec::new()) };
        // A segment is smaller than a packet.
        let mut content = vec![0; usize::try_from(range.len_bytes).unwrap_or(0)];
        read_segment(&self.file, range, &mut content)?;
        Ok(content)
    }

    /// The packet of a segment as it was made lately, or made now.
    fn kept(&mut self, segment: u64) -> Result<Data, SourceError> {
        if let Some(data) = self.cache.get(segment) {
            return Ok(data);
        }
        let data = self.packet(segment)?;
        self.cache.keep(segment, &data);
        Ok(data)
    }
}

impl Source for CcnxFileObject {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let answer = self.publication.answer(interest);
        Reply::of_object(interest, answer, |range| self.kept(range.segment))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use packet::ccnx::{InterestFields, Ticks, markers, uri};
    use packet::{Component, Name};
    use trust::ccnx::{CcnxSigner, verify_by_own_key};
    use trust::{KeyKind, PrivateKey};

    use super::super::tests::file_of;
    use super::*;

    fn ask(source: &mut CcnxFileObject, name: &Name) -> Option<Data> {
        let wire = InterestFields::default().encode(name).unwrap();
        match source.answer(&Interest::decode_ccnx(wire.into()).unwrap()).unwrap() {
            Reply::Data(data) => Some(data),
            _ => None,
        }
    }

    #[test]
    fn segments_in_trees_verify_one_by_one_and_have_as_few_signatures_as_there_are_trees() {
        let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
        let (bytes, now) = (vec![7; 2 * 128 * 10 + 5], Ticks::from_unix(1_700_000_000, 0));
        let name = uri::parse("ccnx:/a/file").unwrap();
        let publication =
            CcnxPublication::new(name, now, bytes.len() as u64, 10, signer).unwrap().with_trees();
        let (name, last) = (publication.name().clone(), publication.last_segment());
        let mut source = CcnxFileObject::new(publication, file_of("trees", &bytes));
        let mut signatures = Vec::new();
        for segment in (0..=last).rev() {
            let data = ask(&mut source, &name.with(Component::generic(&markers::segment(segment))).unwrap());
            let data = data.unwrap();
            let object = data.ccnx().unwrap();
            assert_eq!(verify_by_own_key(&object), Ok(()), "{segment}");
            // The last one is alone.
            assert_eq!(object.signature().witness.is_some(), segment < last);
            signatures.push(object.signature().bits.to_vec());
        }
        signatures.sort();
        signatures.dedup();
        assert_eq!((last, signatures.len(), source.trees.len()), (256, 3, 2));
    }
}
