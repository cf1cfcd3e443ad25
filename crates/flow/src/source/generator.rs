//! Data that is made when it is asked for, whatever its name.

use std::fmt;

use packet::ccnx::{SignedInfo, Ticks};
use packet::ndn::DataBuilder;
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Dialect, Interest, NackReason, Name, NameRef, UnixTime};
use trust::Signer;
use trust::ccnx::CcnxSigner;

use super::{Reply, Source, SourceError};

/// Makes Data of one dialect.
pub trait DataSigner {
    /// Which dialect.
    fn dialect(&self) -> Dialect;

    /// A signed packet, which counts as fresh for so long, if it is said.
    ///
    /// # Errors
    /// The packet would be too large; the library fails.
    fn sign_content(
        &mut self,
        name: NameRef<'_>,
        content: &[u8],
        freshness: Option<Duration>,
    ) -> Result<Data, SourceError>;
}

impl DataSigner for Signer {
    fn dialect(&self) -> Dialect {
        Dialect::Ndn
    }

    fn sign_content(
        &mut self,
        name: NameRef<'_>,
        content: &[u8],
        freshness: Option<Duration>,
    ) -> Result<Data, SourceError> {
        let mut data = DataBuilder::new(name.to_name()).content(content.to_vec());
        if let Some(freshness) = freshness.filter(|freshness| *freshness > Duration::ZERO) {
            data = data.freshness(freshness);
        }
        Ok(self.sign_data(&data)?)
    }
}

/// Makes objects of CCNx, which say when they were made.
pub struct CcnxDataSigner {
    signer: CcnxSigner,
    clock: Box<dyn FnMut() -> UnixTime + Send>,
}

impl CcnxDataSigner {
    /// Signs by `signer`; `clock` is asked what time it is.
    pub fn new(signer: CcnxSigner, clock: impl FnMut() -> UnixTime + Send + 'static) -> Self {
        CcnxDataSigner { signer, clock: Box::new(clock) }
    }
}

impl fmt::Debug for CcnxDataSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CcnxDataSigner").field("signer", &self.signer).finish_non_exhaustive()
    }
}

impl DataSigner for CcnxDataSigner {
    fn dialect(&self) -> Dialect {
        Dialect::Ccnx
    }

    fn sign_content(
        &mut self,
        name: NameRef<'_>,
        content: &[u8],
        freshness: Option<Duration>,
    ) -> Result<Data, SourceError> {
        let freshness_seconds = freshness.map(Ticks::whole_seconds);
        let complete = |info| SignedInfo { freshness_seconds, ..info };
        Ok(self.signer.sign_data(name, content, (self.clock)().into(), complete)?)
    }
}

/// Answers every Interest of its signer's dialect below its prefixes with Data of the very name that was
/// asked for.
#[derive(Debug)]
pub struct Generator<S = Signer> {
    prefixes: Vec<Name>,
    signer: S,
    random: Random,
    freshness: Option<Duration>,
    /// What contents begin with.
    content: Vec<u8>,
    least_bytes: u64,
    /// The share of Interests that are left unanswered, and of the others that of those sent back.
    ignored_share: f64,
    refused_share: f64,
}

impl<S: DataSigner> Generator<S> {
    /// Empty Data, signed by `signer`. `seed` decides sizes and what is left out.
    pub fn new(prefixes: Vec<Name>, signer: S, seed: u64) -> Self {
        Generator {
            prefixes,
            signer,
            random: Random::from_seed(seed),
            freshness: None,
            content: Vec::new(),
            least_bytes: 0,
            ignored_share: 0.0,
            refused_share: 0.0,
        }
    }

    /// The same with `content`.
    #[must_use]
    pub fn with_content(self, content: Vec<u8>) -> Self {
        Generator { least_bytes: content.len() as u64, content, ..self }
    }

    /// The same with contents of any size from `least` bytes up to all that there are, drawn anew each time.
    #[must_use]
    pub fn with_least_bytes(self, least: u64) -> Self {
        Generator { least_bytes: least.min(self.content.len() as u64), ..self }
    }

    /// The same with Data that counts as fresh for so long. Data of NDN that does not say it is never fresh,
    /// an object of CCNx always.
    #[must_use]
    pub fn with_freshness(self, freshness: Duration) -> Self {
        Generator { freshness: Some(freshness), ..self }
    }

    /// The same, leaving this share of all Interests unanswered, from 0 to 1, and of the others sending that
    /// share back.
    #[must_use]
    pub fn with_failures(self, ignored: f64, refused: f64) -> Self {
        Generator { ignored_share: ignored, refused_share: refused, ..self }
    }
}

impl<S: DataSigner> Source for Generator<S> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        if interest.dialect() != self.signer.dialect()
            || !self.prefixes.iter().any(|prefix| prefix.as_ref().is_prefix_of(interest.name()))
        {
            return Ok(Reply::NotMine);
        }
        if self.random.chance(self.ignored_share) {
            return Ok(Reply::NoReply);
        }
        if self.random.chance(self.refused_share) {
            return Ok(Reply::Nack(NackReason::Congestion));
        }
        let spread = self.content.len() as u64 - self.least_bytes;
        let length = self.least_bytes + self.random.below(spread + 1);
        let content = self.content.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
        let data = self.signer.sign_content(interest.name(), content, self.freshness)?;
        Ok(match interest.dialect().always_asks_by_prefix() {
            // What is asked for can be a longer name, or anything but this.
            true => Reply::matching(interest, data),
            false => Reply::Data(data),
        })
    }
}
