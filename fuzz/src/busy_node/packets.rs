//! Packets of both dialects, about few enough names that they have to do with each other.

use arbitrary::Arbitrary;
use packet::ccnx::{AnswerOriginKind, ContentObjectFields, InterestFields, Scope, SignedInfo, Ticks};
use packet::ndn::{DataBuilder, InterestBuilder};
use packet::time::Duration;
use packet::{Buffer, Component, ComponentKind, Data, Dialect, EncodeError, Interest, Name};

/// Components that names are made of. Scopes are among them.
const WORDS: [&[u8]; 6] = [b"a", b"b", b"localhost", b"localhop", b"", b"abcdefghijklmnopqrstuvwxyz"];

/// A name of up to four components.
#[derive(Debug, Arbitrary)]
pub struct AnyName {
    length: u8,
    words: [u8; 4],
}

impl AnyName {
    /// The name. The dialects share all names made here.
    pub fn to_name(&self, _dialect: Dialect) -> Name {
        let words = self.words.iter().map(|&word| Component::generic(WORDS[usize::from(word) % WORDS.len()]));
        Name::from_components(words.take(usize::from(self.length % 5))).expect("a short name")
    }
}

/// An Interest.
#[derive(Debug, Arbitrary)]
pub struct AnyInterest {
    name: AnyName,
    can_be_prefix: bool,
    must_be_fresh: bool,
    /// Few, so that they repeat.
    nonce: Option<u8>,
    lifetime_millis: Option<u16>,
    hop_limit: Option<u8>,
    hint: Option<AnyName>,
    scope: Option<u8>,
    max_suffix: Option<u8>,
    /// Ask for one Data by its digest: for that of this content, or for one that does not exist.
    digest_of: Option<AnyData>,
}

impl AnyInterest {
    /// The packet; `None` if the dialect has no such Interest.
    pub fn build(&self, dialect: Dialect) -> Option<Interest> {
        let mut name = self.name.to_name(dialect);
        if let Some(wanted) = &self.digest_of {
            let data = wanted.build(dialect, None)?;
            let digest = data.implicit_digest();
            let kind = match dialect {
                Dialect::Ndn => ComponentKind::IMPLICIT_DIGEST,
                Dialect::Ccnx => ComponentKind::GENERIC,
            };
            name = data.name().to_name().with(Component::new(kind, &digest)).ok()?;
        }
        match dialect {
            Dialect::Ndn => self.build_ndn(name),
            Dialect::Ccnx => self.build_ccnx(&name),
        }
    }

    fn build_ndn(&self, name: Name) -> Option<Interest> {
        let mut builder = InterestBuilder::new(name)
            .can_be_prefix(self.can_be_prefix)
            .must_be_fresh(self.must_be_fresh)
            .forwarding_hint(self.hint.iter().map(|hint| hint.to_name(Dialect::Ndn)).collect());
        if let Some(nonce) = self.nonce {
            builder = builder.nonce(nonce.into());
        }
        if let Some(millis) = self.lifetime_millis {
            builder = builder.lifetime(Duration::from_millis(millis.into()));
        }
        if let Some(hops) = self.hop_limit {
            builder = builder.hop_limit(hops);
        }
        builder.build().ok()
    }

    fn build_ccnx(&self, name: &Name) -> Option<Interest> {
        let nonce = self.nonce.map(|nonce| u32::from(nonce).to_be_bytes());
        let fields = InterestFields {
            max_suffix_components: self.max_suffix.map(u16::from),
            answer_origin_kind: AnswerOriginKind::new(if self.must_be_fresh { 3 } else { 7 }),
            scope: self.scope.and_then(|scope| Scope::new(u64::from(scope % 4))),
            lifetime: self
                .lifetime_millis
                .map(|millis| Ticks::from_duration(Duration::from_millis(millis.into()))),
            nonce: nonce.as_ref().map(|nonce| &nonce[..]),
            ..InterestFields::default()
        };
        Interest::decode_ccnx(Buffer::from(fields.encode(name).ok()?)).ok()
    }
}

/// A Data.
#[derive(Debug, Arbitrary)]
pub struct AnyData {
    name: AnyName,
    freshness_millis: Option<u16>,
    content_bytes: u8,
}

impl AnyData {
    /// The packet, under its own name or as a reply to an Interest.
    pub fn build(&self, dialect: Dialect, reply_to: Option<&Interest>) -> Option<Data> {
        let name = match reply_to {
            Some(interest) if interest.implicit_digest().is_none() => interest.name().to_name(),
            Some(interest) => interest.name().prefix(interest.component_count() - 1).to_name(),
            None => self.name.to_name(dialect),
        };
        let content = vec![0x2a; self.content_bytes.into()];
        match dialect {
            Dialect::Ndn => {
                let mut builder = DataBuilder::new(name).content(content);
                if let Some(millis) = self.freshness_millis {
                    builder = builder.freshness(Duration::from_millis(millis.into()));
                }
                builder.build_with_digest().ok()
            }
            Dialect::Ccnx => {
                let mut signed_info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
                signed_info.freshness_seconds = self.freshness_millis.map(|millis| u32::from(millis) / 1000);
                let fields = ContentObjectFields { name: (&name).into(), signed_info, content: &content };
                let wire = fields.encode(None, |_signed| Ok::<_, EncodeError>([0xaa; 16])).ok()?;
                Data::decode_ccnx(Buffer::from(wire)).ok()
            }
        }
    }
}
