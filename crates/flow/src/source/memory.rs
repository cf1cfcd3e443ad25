//! An object whose bytes are in memory, all of them or as many as have come.

use packet::{Data, Interest};

use super::{Reply, Source, SourceError};
use crate::publish::{Answer, CcnxPublication, Publication, PublishError, SegmentRange};

/// What cuts an object into segments, in either dialect.
pub trait Segmented {
    /// What answers `interest`.
    ///
    /// # Errors
    /// A packet cannot be made.
    fn answer(&self, interest: &Interest) -> Result<Answer, PublishError>;

    /// The packet of a segment with this content.
    ///
    /// # Errors
    /// There is no such segment, or its content has another length; it cannot be signed.
    fn segment(&self, segment: u64, content: &[u8]) -> Result<Data, PublishError>;
}

impl Segmented for Publication {
    fn answer(&self, interest: &Interest) -> Result<Answer, PublishError> {
        Publication::answer(self, interest)
    }

    fn segment(&self, segment: u64, content: &[u8]) -> Result<Data, PublishError> {
        Publication::segment(self, segment, content)
    }
}

/// Each segment with a signature of its own.
impl Segmented for CcnxPublication {
    fn answer(&self, interest: &Interest) -> Result<Answer, PublishError> {
        Ok(CcnxPublication::answer(self, interest))
    }

    fn segment(&self, segment: u64, content: &[u8]) -> Result<Data, PublishError> {
        CcnxPublication::segment(self, segment, content)
    }
}

/// Answers for one version of an object with packets that are made when they are asked for.
///
/// ```
/// use cairn_flow::source::{MemoryObject, Reply, Source};
/// use cairn_flow::{Publication, PublicationConfig};
/// use packet::ndn::InterestBuilder;
/// use trust::Signer;
///
/// let bytes = vec![7; 20_000];
/// let config = PublicationConfig::new("/lab/file".parse()?, 1, 20_000, Signer::digest());
/// let mut source = MemoryObject::new(Publication::new(config)?, bytes);
/// let interest = InterestBuilder::new("/lab/file/v=1/seg=2".parse()?).build()?;
/// assert!(matches!(source.answer(&interest)?, Reply::Data(data) if data.content() == [7; 4000]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryObject<P, B> {
    publication: P,
    bytes: B,
}

impl<P: Segmented, B: AsRef<[u8]>> MemoryObject<P, B> {
    /// Answers for `publication`, whose bytes are `bytes`; more of them may come later.
    pub fn new(publication: P, bytes: B) -> Self {
        MemoryObject { publication, bytes }
    }

    /// What is published.
    pub fn publication(&self) -> &P {
        &self.publication
    }

    /// Its bytes.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// Its bytes, for those that come.
    pub fn bytes_mut(&mut self) -> &mut B {
        &mut self.bytes
    }

    /// What answers `interest`; `None` if it asks for a segment whose bytes have not come.
    ///
    /// # Errors
    /// A packet cannot be made.
    pub fn reply(&self, interest: &Interest) -> Result<Option<Reply>, SourceError> {
        let answer = self.publication.answer(interest)?;
        let content = match answer {
            Answer::Segment(range) => match self.content(range) {
                Some(content) => content,
                None => return Ok(None),
            },
            _ => &[],
        };
        let packet = |range: SegmentRange| Ok(self.publication.segment(range.segment, content)?);
        Reply::of_object(interest, answer, packet).map(Some)
    }

    fn content(&self, range: SegmentRange) -> Option<&[u8]> {
        let start = usize::try_from(range.offset_bytes).ok()?;
        let len = usize::try_from(range.len_bytes).ok()?;
        self.bytes.as_ref().get(start..start.checked_add(len)?)
    }
}

/// A segment whose bytes have not come is left unanswered.
impl<P: Segmented, B: AsRef<[u8]>> Source for MemoryObject<P, B> {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        Ok(self.reply(interest)?.unwrap_or(Reply::NoReply))
    }
}

#[cfg(test)]
mod tests {
    use packet::ccnx::{InterestFields, Ticks};
    use packet::ndn::InterestBuilder;
    use packet::{NackReason, Name};
    use trust::ccnx::CcnxSigner;
    use trust::{KeyKind, PrivateKey, Signer};

    use super::*;
    use crate::publish::{PublicationConfig, SegmentSize};

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    fn ask(uri: &str) -> Interest {
        InterestBuilder::new(name(uri)).can_be_prefix(true).build().unwrap()
    }

    fn ask_ccnx(name: &Name) -> Interest {
        Interest::decode_ccnx(InterestFields::default().encode(name).unwrap().into()).unwrap()
    }

    /// Two and a half segments.
    fn ndn() -> Publication {
        let mut config = PublicationConfig::new(name("/a/file"), 7, 250, Signer::digest());
        config.segment_size = SegmentSize::Content(100);
        Publication::new(config).unwrap()
    }

    fn content_of(reply: Reply) -> Vec<u8> {
        match reply {
            Reply::Data(data) => data.content().to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_object_answers_as_far_as_its_bytes_have_come_and_sends_back_what_it_will_never_have() {
        let mut object = MemoryObject::new(ndn(), Vec::new());
        assert_eq!(content_of(object.reply(&ask("/a/file/32=metadata")).unwrap().unwrap()).first(), Some(&7));
        object.bytes_mut().extend([1; 199]);
        assert_eq!(content_of(object.reply(&ask("/a/file")).unwrap().unwrap()), [1; 100]);
        let second = ask("/a/file/v=7/seg=1");
        assert!(object.reply(&second).unwrap().is_none(), "a byte of it is missing");
        assert!(matches!(object.answer(&second).unwrap(), Reply::NoReply));
        object.bytes_mut().extend([2; 51]);
        assert_eq!(content_of(object.answer(&ask("/a/file/v=7/seg=2")).unwrap()), [2; 50]);
        let sent_back = object.answer(&ask("/a/file/v=7/seg=3")).unwrap();
        assert!(matches!(sent_back, Reply::Nack(NackReason::Unspecified)), "{sent_back:?}");
        assert!(matches!(object.answer(&ask("/a/other")).unwrap(), Reply::NotMine));
    }

    #[test]
    fn a_segment_that_is_asked_for_by_the_digest_of_another_packet_is_not_given() {
        let mut object = MemoryObject::new(ndn(), [3; 250]);
        let Reply::Data(data) = object.answer(&ask("/a/file/v=7/seg=1")).unwrap() else { panic!("no Data") };
        let named = |digest: [u8; 32]| {
            let digest = packet::Component::new(packet::ComponentKind::IMPLICIT_DIGEST, &digest);
            InterestBuilder::new(name("/a/file/v=7/seg=1").with(digest).unwrap()).build().unwrap()
        };
        assert_eq!(content_of(object.answer(&named(data.implicit_digest())).unwrap()), [3; 100]);
        assert!(matches!(object.answer(&named([0; 32])).unwrap(), Reply::NoReply));
    }

    #[test]
    fn an_object_of_ccnx_is_silent_where_one_of_ndn_sends_back() {
        let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa).unwrap()).unwrap();
        let version = Ticks::from_unix(1_700_000_000, 0);
        let publication = CcnxPublication::new(name("/a/file"), version, 250, 100, signer).unwrap();
        let whole = publication.name().clone();
        let segment =
            |number: u64| whole.with(packet::Component::generic(&packet::ccnx::markers::segment(number)));
        let mut object = MemoryObject::new(publication, [4; 250]);
        assert_eq!(content_of(object.answer(&ask_ccnx(&name("/a/file"))).unwrap()), [4; 100]);
        assert_eq!(content_of(object.answer(&ask_ccnx(&segment(2).unwrap())).unwrap()), [4; 50]);
        assert!(matches!(object.answer(&ask_ccnx(&segment(3).unwrap())).unwrap(), Reply::NoReply));
        assert!(matches!(object.answer(&ask("/a/file")).unwrap(), Reply::NotMine));
    }
}
