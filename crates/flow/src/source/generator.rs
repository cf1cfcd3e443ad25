//! Data that is made when it is asked for, whatever its name.

use packet::ndn::DataBuilder;
use packet::random::Random;
use packet::time::Duration;
use packet::{Interest, NackReason, Name};
use trust::Signer;

use super::{Reply, Source, SourceError};
use crate::naming::DIALECT;

/// Answers every Interest of NDN below its prefixes with Data of the very name that was asked for.
#[derive(Debug)]
pub struct Generator {
    prefixes: Vec<Name>,
    signer: Signer,
    random: Random,
    freshness: Duration,
    /// What contents begin with.
    content: Vec<u8>,
    least_bytes: u64,
    /// The share of Interests that are left unanswered, and of the others that of those sent back.
    ignored_share: f64,
    refused_share: f64,
}

impl Generator {
    /// Empty Data, signed by `signer`. `seed` decides sizes and what is left out.
    pub fn new(prefixes: Vec<Name>, signer: Signer, seed: u64) -> Self {
        Generator {
            prefixes,
            signer,
            random: Random::from_seed(seed),
            freshness: Duration::ZERO,
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

    /// The same with Data that counts as fresh for so long; zero leaves the field out.
    #[must_use]
    pub fn with_freshness(self, freshness: Duration) -> Self {
        Generator { freshness, ..self }
    }

    /// The same, leaving this share of all Interests unanswered, from 0 to 1, and of the others sending that
    /// share back.
    #[must_use]
    pub fn with_failures(self, ignored: f64, refused: f64) -> Self {
        Generator { ignored_share: ignored, refused_share: refused, ..self }
    }
}

impl Source for Generator {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        if interest.dialect() != DIALECT
            || !self.prefixes.iter().any(|prefix| prefix.as_ref().is_prefix_of(interest.name()))
        {
            return Ok(Reply::NotMine);
        }
        if self.random.chance(self.ignored_share) {
            return Ok(Reply::Silence);
        }
        if self.random.chance(self.refused_share) {
            return Ok(Reply::Nack(NackReason::Congestion));
        }
        let spread = self.content.len() as u64 - self.least_bytes;
        let length = self.least_bytes + self.random.below(spread + 1);
        let content = self.content.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
        let mut data = DataBuilder::new(interest.name().to_name()).content(content.to_vec());
        if self.freshness > Duration::ZERO {
            data = data.freshness(self.freshness);
        }
        Ok(Reply::Data(self.signer.sign_data(&data)?))
    }
}
