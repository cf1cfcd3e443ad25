//! One signature for all segments of an object (`trust::manifest`).

use packet::{Data, Interest, Name};
use trust::manifest::{ManifestWriter, manifest_name};

use super::{Answer, Authenticity, Publication, PublicationConfig, PublishError, SegmentRange, SegmentSize};
use crate::naming::{NamingConvention, segment_number};

/// A manifest in the making, or made.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    prefix: Name,
    writer: ManifestWriter,
    listed: u64,
    packets: Vec<Data>,
}

impl Listing {
    pub(super) fn start(config: &PublicationConfig, name: &Name) -> Result<Option<Self>, PublishError> {
        if config.authenticity == Authenticity::EachPacket {
            return Ok(None);
        }
        // Readers of manifests tell segments by typed components.
        if config.convention != NamingConvention::Typed {
            return Err(PublishError::ManifestNames);
        }
        let mut writer = ManifestWriter::new(name.clone()).freshness(config.freshness);
        if let SegmentSize::Packet(bytes) = config.segment_size {
            writer = writer.packet_bytes(bytes as usize);
        }
        Ok(Some(Listing { prefix: manifest_name(name)?, writer, listed: 0, packets: Vec::new() }))
    }

    /// The answer to an Interest for the manifest; `None` if it is for something else.
    pub(super) fn answer(&self, interest: &Interest) -> Option<Answer> {
        let name = interest.name();
        if !self.prefix.as_ref().is_prefix_of(name) {
            return None;
        }
        let number = name.component(self.prefix.as_ref().component_count()).and_then(segment_number);
        let packet = self.packets.get(usize::try_from(number.unwrap_or(0)).unwrap_or(usize::MAX));
        let found = packet.filter(|packet| interest.matches(packet));
        Some(found.map_or(Answer::Refuse, |packet| Answer::Data(packet.clone())))
    }
}

impl Publication {
    /// The segment whose bytes [`Publication::list_segment`] needs next; `None` when all are listed, or there
    /// is no manifest.
    ///
    /// ```
    /// use cairn_flow::{Authenticity, Publication, PublicationConfig};
    /// use trust::Signer;
    ///
    /// let bytes = vec![7u8; 20_000];
    /// // A real publisher signs with a key.
    /// let length = bytes.len() as u64;
    /// let mut config = PublicationConfig::new("/lab/file".parse()?, 1, length, Signer::digest());
    /// config.authenticity = Authenticity::Manifest;
    /// let mut publication = Publication::new(config)?;
    /// while let Some(range) = publication.next_unlisted() {
    ///     let start = range.offset_bytes as usize;
    ///     publication.list_segment(&bytes[start..start + range.len_bytes as usize])?;
    /// }
    /// assert_eq!(publication.manifest()[0].name().to_string(), "/lab/file/v=1/32=manifest/seg=0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_unlisted(&self) -> Option<SegmentRange> {
        let listing = self.listing.as_ref()?;
        self.range(listing.listed)
    }

    /// Lists the next segment in the manifest; after the last one the manifest is signed.
    ///
    /// # Errors
    /// No segment is left to list; content that has not the segment's length; the signer fails.
    pub fn list_segment(&mut self, content: &[u8]) -> Result<(), PublishError> {
        let last = self.last_segment;
        let segment = self.listing.as_ref().map_or(last + 1, |listing| listing.listed);
        let data = self.segment(segment, content)?;
        let Some(listing) = &mut self.listing else { return Err(PublishError::NoSegment { segment, last }) };
        listing.writer.push_segment(&data);
        listing.listed += 1;
        if segment == last {
            listing.packets = listing.writer.finish(&self.config.signer)?;
        }
        Ok(())
    }

    /// The packets of the manifest; none if there is no manifest, or not all segments are listed.
    pub fn manifest(&self) -> &[Data] {
        self.listing.as_ref().map_or(&[], |listing| &listing.packets)
    }
}
