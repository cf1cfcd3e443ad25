//! Where a stored packet lies, and reading it from there.

use std::io;
use std::sync::Arc;

use packet::time::Duration;
use packet::{Data, Interest, SpareBuffer, UnixTime};

use crate::disk::DiskFile;
use crate::extent::RecordPlace;
use crate::object::ObjectId;
use crate::record::{Format, Header};

/// Why a stored packet could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What lies there is not what was written.
    #[error("what lies on the disk is not what was written")]
    Corrupt,
}

/// Where a packet lies. It can be read from any thread, while the store does something else.
#[derive(Clone, Debug)]
pub struct Located {
    /// The object's place in the catalogue.
    pub id: ObjectId,
    /// The packet's number in the object.
    pub segment: u32,
    pub(crate) place: RecordPlace,
    pub(crate) object: u64,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) format: Format,
}

impl Located {
    /// Reads the packet and checks all that can be checked.
    ///
    /// # Errors
    /// What failed; [`Store::report`](crate::Store::report) must be told.
    pub fn read_data(&self) -> Result<(Data, UnixTime), ReadError> {
        let mut memory = SpareBuffer::new(self.place.len_bytes as usize);
        self.file.read_at(self.place.offset(), memory.memory_mut())?;
        self.decode(memory)
    }

    /// The same if its bytes are in memory and are what they should be; otherwise
    /// [`read_data`](Self::read_data) has more to say. The record is read to memory that `spare` gives, if it
    /// has as much, for new memory costs the system as much as reading does.
    pub(crate) fn read_in_memory(
        &self,
        spare: impl FnOnce(usize) -> Option<SpareBuffer>,
    ) -> Option<(Data, UnixTime)> {
        let len = self.place.len_bytes as usize;
        let spare = spare(len).filter(|spare| spare.capacity_bytes() >= len);
        let mut memory = spare.unwrap_or_else(|| SpareBuffer::new(len));
        let bytes = memory.memory_mut().get_mut(..len)?;
        let is_read = self.file.read_in_memory(self.place.offset(), bytes);
        is_read.then(|| self.decode(memory).ok()).flatten()
    }

    /// The packet stays where its record was read to, so there is no copy beside the one out of the cache.
    fn decode(&self, memory: SpareBuffer) -> Result<(Data, UnixTime), ReadError> {
        let bytes = memory.into_buffer(self.place.len_bytes as usize);
        let (header, payload) = self.record(&bytes).ok_or(ReadError::Corrupt)?;
        let wire = bytes.slice_of(payload).ok_or(ReadError::Corrupt)?;
        let data = Data::decode(header.dialect, wire).map_err(|_| ReadError::Corrupt)?;
        if self.format.name_hash(data.dialect(), data.name()) != header.name_hash {
            return Err(ReadError::Corrupt);
        }
        Ok((data, header.arrival))
    }

    /// Whether it lives on a network.
    pub(crate) fn is_remote(&self) -> bool {
        self.file.is_remote()
    }

    pub(crate) fn of(self, id: ObjectId) -> Self {
        Located { id, ..self }
    }

    pub(crate) fn object_number(&self) -> u64 {
        self.object
    }

    fn record<'b>(&self, bytes: &'b [u8]) -> Option<(Header, &'b [u8])> {
        let (header, payload) = self.format.read(bytes, self.place.volume, self.place.offset())?;
        (header.object == self.object && header.segment == self.segment).then_some((header, payload))
    }
}

/// Whether `data`, which came at `arrival`, answers the Interest now.
pub fn is_answer(now: UnixTime, interest: &Interest, data: &Data, arrival: UnixTime) -> bool {
    let is_fresh = || data.freshness() > Duration::ZERO && arrival.after(data.freshness()) > now;
    interest.matches(data) && (!interest.must_be_fresh() || is_fresh())
}
