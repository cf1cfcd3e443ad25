//! Content that is made when it is asked for, the same each time: byte for byte decided by seed, content,
//! file and segment.

use flow::source::{Reply, Source, SourceError};
use packet::random::Random;
use packet::time::Duration;
use packet::{Component, Data, Dialect, Interest, Name, NameRef};
use trust::Signer;

use super::error::{self, JobError};
use super::layout::Layout;
use super::packets::{self, Object};
use crate::experiment::plan::ContentPlan;
use crate::keys::{self, KeyRole};

/// The names of one content's files and segments.
#[derive(Debug, Clone)]
pub struct Files {
    prefix: Name,
    layout: Layout,
    freshness: Duration,
    seed: u64,
    dialect: Dialect,
    /// The owner's, where the owner signs.
    signer: Option<Signer>,
}

impl Files {
    /// The files of a content, in a run with this seed.
    ///
    /// # Errors
    ///
    /// When the prefix is not a name, or a key cannot be made. The experiment's check has ruled that out.
    pub fn new(plan: &ContentPlan, place: usize, seed: u64, dialect: Dialect) -> Result<Self, JobError> {
        let prefix = error::name(&plan.prefix)?;
        let signer = plan.signed.map(|_| keys::signer(seed, KeyRole::Trusted, &plan.prefix)).transpose()?;
        let seed = Random::derive(seed, place as u64).next_u64();
        let (layout, freshness) = (Layout::new(plan, seed), Duration::from_nanos(plan.freshness_ns));
        Ok(Files { prefix, layout, freshness, seed, dialect, signer })
    }

    /// The prefix of all files.
    #[must_use]
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// What they are asked for in.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// How many segments a file has.
    #[must_use]
    pub fn segments(&self, file: u32) -> u64 {
        self.layout.segments(file)
    }

    /// How the files are cut.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many files there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.layout.count()
    }

    /// The name of a segment.
    ///
    /// # Errors
    ///
    /// When the name gets too long.
    pub fn name(&self, file: u32, segment: u64) -> Result<Name, packet::DecodeError> {
        let name = self.prefix.with(Component::generic(file.to_string().as_bytes()))?;
        packets::with_segment(self.dialect, &name, segment)
    }

    /// The file and segment that a name means.
    #[must_use]
    pub fn place(&self, name: NameRef<'_>) -> Option<(u32, u64)> {
        if !self.prefix.as_ref().is_prefix_of(name) {
            return None;
        }
        let depth = self.prefix.as_ref().component_count();
        let file = std::str::from_utf8(name.component(depth)?.value).ok()?.parse().ok()?;
        let segment = packets::segment(self.dialect, name.component(depth + 1)?)?;
        (file < self.count() && segment < self.segments(file)).then_some((file, segment))
    }

    /// The bytes of a segment.
    #[must_use]
    pub fn content(&self, file: u32, segment: u64) -> Vec<u8> {
        let (_, length) = self.layout.bytes(file, segment);
        let mut random = Random::derive(self.seed, (u64::from(file) << 40) ^ segment);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 8);
        while (bytes.len() as u64) < length {
            bytes.extend_from_slice(&random.next_u64().to_le_bytes());
        }
        bytes.truncate(usize::try_from(length).unwrap_or(0));
        bytes
    }

    /// Data by the name that an Interest asks for, as long as the right one, whose bytes are others, signed
    /// by `signer`.
    #[must_use]
    pub fn forgery(&self, interest: &Interest, signer: Option<&Signer>) -> Option<Data> {
        let (file, segment) = self.place(interest.name())?;
        let content: Vec<u8> = self.content(file, segment).into_iter().map(|byte| !byte).collect();
        self.made_of(file, segment, &content, signer)
    }

    fn made_of(&self, file: u32, segment: u64, content: &[u8], signer: Option<&Signer>) -> Option<Data> {
        let name = self.name(file, segment).ok()?;
        let last = self.name(file, self.segments(file) - 1).ok()?;
        let (freshness, last) = (self.freshness, last.as_ref().last());
        packets::data(self.dialect, &Object { name: &name, content, freshness, last }, signer)
    }
}

/// Answers with the segment that an Interest names.
impl Source for Files {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let data = self.place(interest.name()).and_then(|(file, segment)| {
            self.made_of(file, segment, &self.content(file, segment), self.signer.as_ref())
        });
        Ok(data.map_or(Reply::NotMine, Reply::Data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::plan::NodeIndex;

    fn files(dialect: Dialect) -> Files {
        let plan = ContentPlan {
            name: "f".into(),
            prefix: "/lab/f".into(),
            at: NodeIndex(0),
            count: 3,
            size_bytes: 10_001,
            sizes: None,
            segment_bytes: 4096,
            freshness_ns: 1_000_000_000,
            signed: None,
        };
        Files::new(&plan, 0, 7, dialect).unwrap()
    }

    #[test]
    fn the_segments_of_a_file_are_as_long_as_the_file_and_always_the_same() {
        let files = files(Dialect::Ndn);
        assert_eq!(files.segments(1), 3);
        let total: usize = (0..3).map(|segment| files.content(1, segment).len()).sum();
        assert_eq!(total, 10_001);
        assert_eq!(files.content(1, 2), files.content(1, 2));
        assert_ne!(files.content(1, 0), files.content(2, 0));
    }

    #[test]
    fn an_interest_is_answered_with_the_segment_it_names_and_others_are_not() {
        for dialect in [Dialect::Ndn, Dialect::Ccnx] {
            let mut files = files(dialect);
            let names = files.clone();
            let name = |file, segment| names.name(file, segment).unwrap();
            let ask = |name: Name| dialect.interest(name, 1, Duration::from_secs(4)).unwrap();
            let answer = |files: &mut Files, name| match files.answer(&ask(name)).unwrap() {
                Reply::Data(data) => Some(data),
                Reply::NotMine => None,
                other => panic!("{other:?}"),
            };
            let data = answer(&mut files, name(2, 1)).unwrap();
            assert_eq!(data.dialect(), dialect);
            assert_eq!(data.content(), files.content(2, 1));
            assert_eq!(files.place(data.name()), Some((2, 1)));
            assert!(answer(&mut files, "/lab/f/3".parse().unwrap()).is_none());
            assert!(answer(&mut files, name(2, 3)).is_none(), "there are only three segments");
            assert!(answer(&mut files, "/other".parse().unwrap()).is_none());
        }
    }
}
