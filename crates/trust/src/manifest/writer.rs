//! The publisher's side: from digests of segments to manifest packets.

use packet::ndn::DataBuilder;
use packet::ndn::tlv::MAX_PACKET_BYTES;
use packet::time::Duration;
use packet::{ComponentKind, ContentType, Data, Name};

use super::format::{Content, Digest};
use super::{ManifestError, manifest_name};
use crate::signer::Signer;

/// Collects the digests of an object's segments, then makes the packets of its manifest.
///
/// ```
/// use packet::ndn::DataBuilder;
/// use cairn_trust::Signer;
/// use cairn_trust::manifest::ManifestWriter;
///
/// let mut manifest = ManifestWriter::new("/object/v=1".parse()?);
/// for uri in ["/object/v=1/seg=0", "/object/v=1/seg=1"] {
///     manifest.push_segment(&DataBuilder::new(uri.parse()?).build_with_digest()?);
/// }
/// let packets = manifest.finish(&Signer::digest())?; // a real publisher signs with a key
/// assert_eq!(packets.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ManifestWriter {
    versioned: Name,
    digests: Vec<Digest>,
    freshness: Duration,
    packet_bytes: usize,
}

impl ManifestWriter {
    /// The manifest of the object with this name, version included. Packets are as large as packets may be.
    pub fn new(versioned: Name) -> Self {
        ManifestWriter {
            versioned,
            digests: Vec::new(),
            freshness: Duration::from_secs(10),
            packet_bytes: MAX_PACKET_BYTES,
        }
    }

    /// Sets the FreshnessPeriod of the manifest's packets.
    pub fn freshness(mut self, freshness: Duration) -> Self {
        self.freshness = freshness;
        self
    }

    /// Sets how large the manifest's packets may become, at most 8,800 bytes.
    pub fn packet_bytes(mut self, packet_bytes: usize) -> Self {
        self.packet_bytes = packet_bytes.min(MAX_PACKET_BYTES);
        self
    }

    /// Adds the next segment, in the order of their numbers.
    pub fn push_segment(&mut self, segment: &Data) {
        self.digests.push(crate::sha256(segment.wire()));
    }

    /// The packets, first to last. Only the first is signed by `signer`, the others carry digest signatures.
    ///
    /// # Errors
    /// The name leaves no room for a digest in a packet; the signature cannot be made.
    pub fn finish(&self, signer: &Signer) -> Result<Vec<Data>, ManifestError> {
        let name = manifest_name(&self.versioned)?;
        let per_packet = self.digests_per_packet(&name, signer);
        let lists: Vec<&[Digest]> =
            if self.digests.is_empty() { vec![&[]] } else { self.digests.chunks(per_packet).collect() };
        let last = name.with_number(ComponentKind::SEGMENT, lists.len() as u64 - 1)?;
        let by_digest = Signer::digest();
        let (mut packets, mut next) = (Vec::with_capacity(lists.len()), None);
        // Each packet holds the digest of the next one, so the last is made first.
        for (number, list) in lists.iter().enumerate().rev() {
            let content = Content::encode((number * per_packet) as u64, list, next);
            let mut packet = DataBuilder::new(name.with_number(ComponentKind::SEGMENT, number as u64)?)
                .content_type(ContentType::MANIFEST)
                .freshness(self.freshness)
                .content(content);
            if let Some(last) = last.as_ref().last() {
                packet = packet.final_block(last);
            }
            let data = if number == 0 { signer } else { &by_digest }.sign_data(&packet)?;
            next = Some(crate::sha256(data.wire()));
            packets.push(data);
        }
        packets.reverse();
        Ok(packets)
    }

    /// How many digests fit a packet, whatever its number.
    fn digests_per_packet(&self, name: &Name, signer: &Signer) -> usize {
        // Headers, MetaInfo, the two numbers at their longest, the next digest: below 150 bytes beside these.
        let locator = signer.key_locator().map_or(40, |name| name.canonical().len() + 16);
        let around = name.canonical().len() + 11 + locator + signer.max_signature_bytes() + 150;
        (self.packet_bytes.saturating_sub(around) / 32).max(1)
    }
}
