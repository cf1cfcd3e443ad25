//! An application that publishes an object.

use std::sync::Arc;

use flow::source::{MemoryObject, Reply, ServeCounters, Source, SourceError};
use flow::{CcnxPublication, Publication, PublicationConfig, PublishError};
use packet::ccnx::Ticks;
use packet::{Dialect, Interest, LinkHeader, Name, UnixTime};
use trust::ccnx::CcnxSigner;

use super::{Application, Context, SourceProducer};

/// Answers with the segments of an object, made and signed when they are asked for, in the dialect of the
/// face that it is behind. What there is not is left unanswered.
#[derive(Debug)]
pub struct Publisher {
    config: PublicationConfig,
    producer: SourceProducer<Published>,
}

/// The same object in both dialects.
#[derive(Debug)]
struct Published {
    ndn: MemoryObject<Publication, Arc<[u8]>>,
    ccnx: Option<MemoryObject<CcnxPublication, Arc<[u8]>>>,
}

impl Source for Published {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let reply = match (interest.dialect(), &mut self.ccnx) {
            (Dialect::Ndn, _) => self.ndn.answer(interest)?,
            (Dialect::Ccnx, Some(ccnx)) => ccnx.answer(interest)?,
            (Dialect::Ccnx, None) => Reply::NotMine,
        };
        Ok(match reply {
            Reply::Nack(_) => Reply::NoReply,
            reply => reply,
        })
    }
}

impl Publisher {
    /// Publishes this content; its size is the content's, whatever the configuration says. Behind a face of
    /// CCNx it needs a [signer](Publisher::ccnx_signer) of that dialect.
    ///
    /// # Errors
    /// Those of the publication.
    pub fn new(config: PublicationConfig, content: impl Into<Arc<[u8]>>) -> Result<Self, PublishError> {
        let content = content.into();
        let config = PublicationConfig { size_bytes: content.len() as u64, ..config };
        let ndn = MemoryObject::new(Publication::new(config.clone())?, content);
        let prefix = ndn.publication().prefix().clone();
        let producer = SourceProducer::under(prefix, Published { ndn, ccnx: None });
        Ok(Publisher { config, producer })
    }

    /// Publishing behind a face of CCNx, too: the same name and segments, signed by `signer`, as the version
    /// of this time. It counts as fresh for whole seconds, and with less than one for ever. A version before
    /// 1978 is none to CCNx, and so is found by nobody.
    ///
    /// # Errors
    /// The name cannot be extended.
    pub fn ccnx_signer(mut self, signer: CcnxSigner, version: UnixTime) -> Result<Self, PublishError> {
        let PublicationConfig { name, size_bytes, freshness, .. } = self.config.clone();
        let segment_bytes = self.publication().segment_bytes();
        let mut publication = CcnxPublication::new(name, version.into(), size_bytes, segment_bytes, signer)?;
        let freshness_seconds = Ticks::whole_seconds(freshness);
        if freshness_seconds > 0 {
            publication = publication.with_freshness_seconds(freshness_seconds);
        }
        let published = self.producer.source_mut();
        published.ccnx = Some(MemoryObject::new(publication, Arc::clone(published.ndn.bytes())));
        Ok(self)
    }

    /// The publication for NDN.
    pub fn publication(&self) -> &Publication {
        self.producer.source().ndn.publication()
    }

    /// Segments sent.
    pub fn segments_sent(&self) -> u64 {
        self.producer.answered()
    }

    /// Interests that asked for what there is not, or could not be answered.
    pub fn failures(&self) -> u64 {
        let ServeCounters { interests, data, .. } = *self.producer.counters();
        interests - data
    }
}

impl Application for Publisher {
    fn handle_interest(&mut self, context: &mut Context<'_>, interest: &Interest, header: &LinkHeader) {
        self.producer.handle_interest(context, interest, header);
    }

    fn handle_timer(&mut self, context: &mut Context<'_>) {
        self.producer.handle_timer(context);
    }

    fn prefixes(&self) -> Vec<Name> {
        self.producer.prefixes()
    }
}
