//! The files of a folder as objects of CCNx.

use packet::ccnx::{Ticks, markers};
use packet::{Component, Dialect, Interest, Name};
use trust::ccnx::CcnxSigner;

use super::request::{MAX_DEPTH, is_file_name};
use super::{EntryKind, Files};
use crate::publish::{Answer, CcnxPublication};
use crate::source::{Reply, Source, SourceError};

/// Answers for the files of a folder: `a/b` is the object `<prefix>/a/b`, its version the time of its last
/// change. CCNx finds the latest version by asking, and so there is no metadata; listings are not served.
#[derive(Debug)]
pub struct CcnxFolderSource<F> {
    /// The prefix of its names.
    pub prefix: Name,
    /// Bytes of content in a segment.
    pub segment_bytes: u64,
    /// How long segments count as fresh after arrival; for ever if it is not said.
    pub freshness_seconds: Option<u32>,
    /// Signs every segment.
    pub signer: CcnxSigner,
    /// Where the files are.
    pub files: F,
}

impl<F: Files> Source for CcnxFolderSource<F> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        if interest.dialect() != Dialect::Ccnx || !self.prefix.as_ref().is_prefix_of(interest.name()) {
            return Ok(Reply::NotMine);
        }
        let below = interest.name().components().skip(self.prefix.as_ref().component_count());
        let path: Vec<&[u8]> = below
            .map(|component| component.value)
            .take_while(|component| markers::parse_version(component).is_none())
            .collect();
        if path.len() > MAX_DEPTH || !path.iter().all(|component| is_file_name(component)) {
            return Ok(Reply::NoReply);
        }
        let found = self.files.look_up(&path).filter(|(_, attributes)| attributes.kind == EntryKind::File);
        let Some((entry, attributes)) = found else { return Ok(Reply::NoReply) };
        let mut name = self.prefix.clone();
        for component in &path {
            name = name.with(Component::generic(component))?;
        }
        const SECOND: u64 = 1_000_000_000;
        let modified = attributes.modified;
        let version = Ticks::from_unix(modified / SECOND, (modified % SECOND) as u32);
        let (size, signer) = (attributes.size_bytes, self.signer.clone());
        let mut publication = CcnxPublication::new(name, version, size, self.segment_bytes, signer)?;
        if let Some(seconds) = self.freshness_seconds {
            publication = publication.with_freshness_seconds(seconds);
        }
        let Answer::Segment(range) = publication.answer(interest) else { return Ok(Reply::NoReply) };
        // It shrank meanwhile; the next question finds the new version.
        let content = self.files.read(&entry, range.offset_bytes, range.len_bytes);
        let Some(content) = content else { return Ok(Reply::NoReply) };
        Ok(Reply::matching(interest, publication.segment(range.segment, &content)?))
    }
}
