//! Datasets in segments: cutting them up, and putting them together again.

use packet::error::{DecodeError, EncodeError};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Component, ComponentKind, ContentType, Data, Name, NameRef};
use thiserror::Error;

use crate::control_response::ControlResponse;
use crate::request::discovery_interest;

/// Most bytes of content in one segment.
pub const MAX_SEGMENT_BYTES: usize = 8000;

/// How long a segment, a notification or the answer to a command counts as fresh.
pub const FRESHNESS: Duration = Duration::from_secs(1);

/// The segments of the dataset called `name`, which are called `<name>/v=<version>/seg=<number>`. There is at
/// least one; only the last says that it is the last. They are yet to be signed.
///
/// # Errors
/// More bytes than a name can have.
pub fn segments(name: &Name, version: u64, content: &[u8]) -> Result<Vec<DataBuilder>, DecodeError> {
    let versioned = name.with_number(ComponentKind::VERSION, version)?;
    let mut chunks: Vec<&[u8]> = content.chunks(MAX_SEGMENT_BYTES).collect();
    if chunks.is_empty() {
        chunks.push(&[]);
    }
    let last = chunks.len() - 1;
    let segment = |(number, chunk): (usize, &&[u8])| {
        let name = versioned.with_number(ComponentKind::SEGMENT, number as u64)?;
        let data = DataBuilder::new(name.clone()).freshness(FRESHNESS).content(chunk.to_vec());
        Ok(match name.as_ref().last() {
            Some(component) if number == last => data.final_block(component),
            _ => data,
        })
    };
    chunks.iter().enumerate().map(segment).collect()
}

/// The Data that answers a request called `name` with `response`. Yet to be signed.
pub fn response_data(name: Name, response: &ControlResponse) -> DataBuilder {
    DataBuilder::new(name).freshness(FRESHNESS).content(response.encode())
}

/// The same for a dataset that is refused.
pub fn refusal_data(name: Name, response: &ControlResponse) -> DataBuilder {
    response_data(name, response).content_type(ContentType::NACK)
}

/// A dataset that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DatasetError {
    /// The forwarder refused.
    #[error("the forwarder answers {} {}", .0.code.number(), .0.text)]
    Refused(ControlResponse),
    /// The Data is no segment of what was asked for.
    #[error("{0} is not a segment of the dataset")]
    NotASegment(Name),
    /// More than [`DatasetFetch::MAX_BYTES`].
    #[error("the dataset has more than {} bytes", DatasetFetch::MAX_BYTES)]
    TooLarge,
    /// A packet is malformed.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
    /// A request cannot be written.
    #[error(transparent)]
    Unwritable(#[from] EncodeError),
}

/// Fetches one dataset, segment by segment.
///
/// Express [`DatasetFetch::interest`], again if it is lost, and give what comes to [`DatasetFetch::receive`],
/// until that gives the content.
///
/// ```
/// use cairn_management::{Dataset, DatasetFetch, segments};
/// let name = Dataset::FacesList.name()?;
/// let content = vec![7; 9000];
/// let served: Vec<_> = segments(&name, 1, &content)?
///     .iter()
///     .map(|segment| segment.build_with_digest())
///     .collect::<Result<_, _>>()?;
///
/// let mut fetch = DatasetFetch::new(name);
/// assert_eq!(fetch.interest()?.build()?.name().to_string(), "/localhost/nfd/faces/list");
/// assert_eq!(fetch.receive(&served[0])?, None);
/// assert_eq!(fetch.interest()?.build()?.name().to_string(), "/localhost/nfd/faces/list/v=1/seg=1");
/// assert_eq!(fetch.receive(&served[1])?, Some(content));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DatasetFetch {
    name: Name,
    /// Name and version, once known.
    versioned: Option<Name>,
    next_segment: u64,
    last_segment: Option<u64>,
    content: Vec<u8>,
}

impl DatasetFetch {
    /// Most bytes of a dataset.
    pub const MAX_BYTES: usize = 64 << 20;

    /// Fetches the newest version of the dataset called `name`.
    pub fn new(name: Name) -> Self {
        DatasetFetch { name, versioned: None, next_segment: 0, last_segment: None, content: Vec::new() }
    }

    /// What to ask for next.
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn interest(&self) -> Result<InterestBuilder, DecodeError> {
        match &self.versioned {
            None => Ok(discovery_interest(self.name.clone())),
            Some(name) => {
                Ok(InterestBuilder::new(name.with_number(ComponentKind::SEGMENT, self.next_segment)?))
            }
        }
    }

    /// Takes in the answer; gives the whole content with the last.
    ///
    /// # Errors
    /// A refusal, a Data that is no segment, too many bytes. The fetch is at an end then.
    pub fn receive(&mut self, data: &Data) -> Result<Option<Vec<u8>>, DatasetError> {
        let view = data.ndn().ok_or_else(|| DatasetError::NotASegment(data.name().to_name()))?;
        // ndnd refuses under the name that was asked for, without marking it as a refusal.
        let is_unversioned = data.name() == self.name.as_ref();
        if view.content_type() == ContentType::NACK
            || is_unversioned && ControlResponse::decode(view.content()).is_ok()
        {
            return Err(DatasetError::Refused(ControlResponse::decode(view.content())?));
        }
        let (versioned, segment) = self.place(data.name())?;
        if self.versioned.is_none() {
            self.versioned = Some(versioned);
        }
        if let Some(last) = view.final_block().filter(|last| last.kind == ComponentKind::SEGMENT) {
            self.last_segment = last.number();
        }
        // A cache may answer the first request with another segment than the first; a repeated answer is
        // passed over.
        if segment != self.next_segment {
            return Ok(None);
        }
        if self.content.len() + view.content().len() > Self::MAX_BYTES {
            return Err(DatasetError::TooLarge);
        }
        self.content.extend_from_slice(view.content());
        self.next_segment += 1;
        let done = self.last_segment.is_some_and(|last| segment >= last);
        Ok(done.then(|| std::mem::take(&mut self.content)))
    }

    /// Name with version, and segment number, of a segment's name.
    fn place(&self, name: NameRef<'_>) -> Result<(Name, u64), DatasetError> {
        let count = name.component_count();
        let versioned = name.prefix(count.saturating_sub(1));
        let number =
            name.last().filter(|last| last.kind == ComponentKind::SEGMENT).and_then(Component::number);
        let is_ours = match &self.versioned {
            Some(ours) => ours.as_ref() == versioned,
            None => {
                count == self.name.as_ref().component_count() + 2
                    && self.name.as_ref().is_prefix_of(name)
                    && versioned.last().is_some_and(|version| version.kind == ComponentKind::VERSION)
            }
        };
        match number {
            Some(number) if is_ours => Ok((versioned.to_name(), number)),
            _ => Err(DatasetError::NotASegment(name.to_name())),
        }
    }
}
