//! An object in a file or in memory, published for CCNx.

use std::collections::VecDeque;

use flow::source::{Reply, Source, SourceError};
use flow::{Answer, CcnxPublication};
use packet::{Data, Interest};

use super::object::{Bytes, CACHE_BYTES};

/// Answers for the segments of one version. Keeps packets that were asked for lately, for each costs a
/// signature.
#[derive(Debug)]
pub struct CcnxObjectSource {
    publication: CcnxPublication,
    bytes: Bytes,
    cached: VecDeque<(u64, Data)>,
    cached_bytes: usize,
}

impl CcnxObjectSource {
    /// Answers for `publication`, whose bytes are in `bytes`.
    pub fn new(publication: CcnxPublication, bytes: Bytes) -> Self {
        CcnxObjectSource { publication, bytes, cached: VecDeque::new(), cached_bytes: 0 }
    }

    /// What is published.
    pub fn publication(&self) -> &CcnxPublication {
        &self.publication
    }

    fn keep(&mut self, segment: u64, data: Data) {
        self.cached_bytes += data.wire().len();
        self.cached.push_back((segment, data));
        while self.cached_bytes > CACHE_BYTES
            && let Some((_, oldest)) = self.cached.pop_front()
        {
            self.cached_bytes -= oldest.wire().len();
        }
    }
}

impl Source for CcnxObjectSource {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let range = match self.publication.answer(interest) {
            Answer::Segment(range) => range,
            Answer::Data(data) => return Ok(Reply::matching(interest, data)),
            // This dialect has no Nacks.
            Answer::Refuse => return Ok(Reply::NoReply),
            Answer::NotMine => return Ok(Reply::NotMine),
        };
        if let Some((_, data)) = self.cached.iter().find(|(segment, _)| *segment == range.segment) {
            return Ok(Reply::matching(interest, data.clone()));
        }
        // A segment is smaller than a packet.
        let mut content = vec![0; usize::try_from(range.len_bytes).unwrap_or(0)];
        self.bytes.read(range, &mut content).map_err(SourceError::Read)?;
        let data = self.publication.segment(range.segment, &content)?;
        self.keep(range.segment, data.clone());
        Ok(Reply::matching(interest, data))
    }
}
