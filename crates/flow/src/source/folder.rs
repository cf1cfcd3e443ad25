//! A folder as names: every file an object, every folder with a listing.
//!
//! A file `a/b` is the object `/<prefix>/a/b`, its version the time of its last change in nanoseconds.
//! Metadata is at `/<prefix>/a/b/32=metadata`, a listing at `/<prefix>/a/32=ls`: the protocol of
//! ndn6-file-server. How files are found and read is the owner's, behind [`Files`].

mod ccnx;
mod request;

use packet::ndn::{DataBuilder, tlv};
use packet::time::Duration;
use packet::{Component, ComponentKind, ContentType, Data, Interest, Name};
use trust::Signer;

use super::{Reply, Source, SourceError};
use crate::naming::{DIALECT, METADATA, Metadata};
use crate::publish::{Publication, PublicationConfig, SegmentSize};
use request::{Request, parse};

pub use ccnx::CcnxFolderSource;
pub use request::LISTING;

/// Elements of file-server metadata beside those of every object.
const MODE: u32 = 0xf504;
const ACCESSED: u32 = 0xf506;
const CREATED: u32 = 0xf508;
const CHANGED: u32 = 0xf50a;
/// When the content was changed, in nanoseconds since 1970, as ndn6-file-server has it.
pub const MODIFIED: u32 = 0xf50c;

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// What is known of a file or folder. Times are in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Which of them it is.
    pub kind: EntryKind,
    /// Bytes of a file.
    pub size_bytes: u64,
    /// Its mode, as Unix has it.
    pub mode: u32,
    /// When its content was changed.
    pub modified: u64,
    /// When it was read.
    pub accessed: u64,
    /// When anything about it was changed.
    pub changed: u64,
    /// When it was made.
    pub created: u64,
}

/// A folder with files and folders in it, found by paths whose components are none of `.`, `..`, empty, or
/// with a slash or zero byte.
pub trait Files {
    /// A file or folder that was found.
    type Entry;

    /// What lies at this path; `None` for what is not there, or is neither file nor folder.
    fn look_up(&self, path: &[&[u8]]) -> Option<(Self::Entry, Attributes)>;

    /// The names in the folder at this path, sorted, each with a zero byte behind it, those of folders with a
    /// slash before that.
    fn listing(&self, path: &[&[u8]]) -> Vec<u8>;

    /// Bytes of a file; `None` if they are no longer there.
    fn read(&self, entry: &Self::Entry, offset_bytes: u64, len_bytes: u64) -> Option<Vec<u8>>;

    /// Milliseconds since 1970.
    fn unix_millis(&self) -> u64;
}

/// How a folder is published.
#[derive(Clone, Debug)]
pub struct FolderConfig {
    /// The prefix of its names.
    pub prefix: Name,
    /// Bytes of content in a segment.
    pub segment_size: SegmentSize,
    /// How long segments count as fresh.
    pub freshness: Duration,
    /// How long metadata counts as fresh.
    pub metadata_freshness: Duration,
    /// Signs every packet.
    pub signer: Signer,
}

/// Answers for a folder.
#[derive(Debug)]
pub struct FolderSource<F> {
    config: FolderConfig,
    files: F,
}

impl<F: Files> Source for FolderSource<F> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        if interest.dialect() != DIALECT || !self.config.prefix.as_ref().is_prefix_of(interest.name()) {
            return Ok(Reply::NotMine);
        }
        let data = match parse(&self.config.prefix, interest) {
            None => None,
            Some(Request::Metadata { path, listing }) => Some(self.metadata(&path, listing)?),
            Some(Request::Segment { path, listing, version, segment }) => {
                self.segment(&path, listing, Some(version), segment)?
            }
            Some(Request::Latest { path }) => self.segment(&path, false, None, 0)?,
        };
        Ok(data.map_or(Reply::NoReply, |data| Reply::matching(interest, data)))
    }
}

impl<F: Files> FolderSource<F> {
    /// Answers for `files`.
    pub fn new(config: FolderConfig, files: F) -> Self {
        FolderSource { config, files }
    }

    fn metadata(&self, path: &[&[u8]], listing: bool) -> Result<Data, SourceError> {
        let discovery = self.name_of(path, listing)?.with(METADATA)?;
        let found = self.files.look_up(path);
        let Some((_, attributes)) = found.filter(|(_, at)| !listing || at.kind == EntryKind::Folder) else {
            // Named like metadata of now, and short-lived: the file may appear.
            let refusal = DataBuilder::new(metadata_name(&discovery, self.files.unix_millis())?)
                .content_type(ContentType::NACK)
                .freshness(self.config.metadata_freshness);
            return Ok(self.config.signer.sign_data(&refusal)?);
        };
        let as_listing = attributes.kind == EntryKind::Folder;
        let size = if as_listing { self.files.listing(path).len() as u64 } else { attributes.size_bytes };
        let publication = self.publication(path, as_listing, &attributes, size)?;
        let mut content = Vec::new();
        Metadata {
            name: publication.name().clone(),
            last_segment: Some(publication.last_segment()),
            segment_bytes: Some(publication.segment_bytes()),
            size_bytes: Some(size),
        }
        .encode(&mut content);
        let numbers = [
            (MODE, u64::from(attributes.mode)),
            (ACCESSED, attributes.accessed),
            (CREATED, attributes.created),
            (CHANGED, attributes.changed),
            (MODIFIED, attributes.modified),
        ];
        for (kind, number) in numbers {
            tlv::write_nni_element(&mut content, kind, number);
        }
        let name = metadata_name(&discovery, attributes.modified)?;
        let mut data =
            DataBuilder::new(name.clone()).freshness(self.config.metadata_freshness).content(content);
        if let Some(last) = name.as_ref().last() {
            data = data.final_block(last);
        }
        Ok(self.config.signer.sign_data(&data)?)
    }

    /// A segment of a file or listing, if it has the version asked for.
    fn segment(
        &self,
        path: &[&[u8]],
        listing: bool,
        version: Option<u64>,
        segment: u64,
    ) -> Result<Option<Data>, SourceError> {
        let wanted = if listing { EntryKind::Folder } else { EntryKind::File };
        let found = self.files.look_up(path).filter(|(_, attributes)| attributes.kind == wanted);
        let Some((entry, attributes)) = found else { return Ok(None) };
        if version.is_some_and(|version| version != attributes.modified) {
            return Ok(None);
        }
        let listed = if listing { self.files.listing(path) } else { Vec::new() };
        let size = if listing { listed.len() as u64 } else { attributes.size_bytes };
        let publication = self.publication(path, listing, &attributes, size)?;
        let Some(range) = publication.range(segment) else { return Ok(None) };
        let content = if listing {
            let start = usize::try_from(range.offset_bytes).unwrap_or(usize::MAX);
            let end = start.saturating_add(usize::try_from(range.len_bytes).unwrap_or(0));
            Some(listed.get(start..end).unwrap_or_default().to_vec())
        } else {
            self.files.read(&entry, range.offset_bytes, range.len_bytes)
        };
        // It shrank meanwhile; the next question finds the new version.
        let Some(content) = content else { return Ok(None) };
        Ok(Some(publication.segment(segment, &content)?))
    }

    fn publication(
        &self,
        path: &[&[u8]],
        listing: bool,
        attributes: &Attributes,
        size: u64,
    ) -> Result<Publication, SourceError> {
        let name = self.name_of(path, listing)?;
        let mut config = PublicationConfig::new(name, attributes.modified, size, self.config.signer.clone());
        config.segment_size = self.config.segment_size;
        config.freshness = self.config.freshness;
        Ok(Publication::new(config)?)
    }

    fn name_of(&self, path: &[&[u8]], listing: bool) -> Result<Name, SourceError> {
        let mut name = self.config.prefix.clone();
        for component in path {
            name = name.with(Component::generic(component))?;
        }
        Ok(if listing { name.with(LISTING)? } else { name })
    }
}

/// Of a version, as its only segment.
fn metadata_name(discovery: &Name, version: u64) -> Result<Name, SourceError> {
    let version = discovery.with_number(ComponentKind::VERSION, version)?;
    Ok(version.with_number(ComponentKind::SEGMENT, 0)?)
}
