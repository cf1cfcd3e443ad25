//! Interests as CCNx 0.8 writes them.

use std::ops::Range;

use crate::brief::{InterestBrief, InterestFacts};
use crate::buffer::Buffer;
use crate::ccnx::block::{
    body_element_len, decimal_element_len, element_len, write_blob_element, write_close,
    write_decimal_element, write_open,
};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::exclude::ExcludeRef;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::ccnx::selectors::{AnswerOriginKind, ChildSelector, PublisherId, PublisherIdKind, Scope};
use crate::ccnx::ticks::Ticks;
use crate::ccnx::{MAX_ENCODED_BYTES, MAX_MESSAGE_BYTES, first_message, span_in, whole_message};
use crate::error::{DecodeError, EncodeError, Rule};
use crate::hash::{NameHasher, PrefixHashes};

use crate::interest::{Interest, Nonce, fold_nonce};
use crate::name::Component;
use crate::span::Span;
use crate::time::Duration;

/// Lifetime of an Interest that names none.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(4);

/// MaxSuffixComponents of an Interest that names none, and the largest number of suffix components told
/// apart.
pub const MAX_SUFFIX_COMPONENTS: u16 = 32_767;

/// How long a nonce may be, in bytes.
pub const NONCE_BYTES: std::ops::RangeInclusive<usize> = 4..=64;

/// An Interest read in place. Everything in it has been checked; nothing was copied.
///
/// ```
/// use cairn_packet::ccnx::InterestView;
/// let wire = [0x01, 0xd2, 0xf2, 0xfa, 0x8d, b'a', 0, 0, 0x02, 0xd2, 0x8e, b'1', 0, 0];
/// let interest = InterestView::decode(&wire)?;
/// assert_eq!(interest.name().to_string(), "ccnx:/a");
/// assert_eq!(interest.scope().map(|scope| scope.number()), Some(1));
/// assert_eq!(interest.lifetime().as_millis(), 4000);
/// # Ok::<(), cairn_packet::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InterestView<'a> {
    wire: &'a [u8],
    layout: Layout,
}

/// Fields of an Interest by value, and places of those that are not worth copying.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The Component elements.
    name: Span,
    component_count: u16,
    min_suffix: Option<u16>,
    max_suffix: Option<u16>,
    child_selector: Option<ChildSelector>,
    answer_origin_kind: Option<AnswerOriginKind>,
    scope: Option<Scope>,
    publisher_kind: PublisherIdKind,
    publisher: Span,
    /// What is in the Exclude element.
    exclude: Span,
    /// From behind the Name to InterestLifetime.
    aggregation: Span,
    nonce: Span,
    lifetime: Option<Ticks>,
    face_id: Option<u32>,
}

impl<'a> InterestView<'a> {
    /// Reads one Interest that fills `wire` exactly.
    ///
    /// # Errors
    /// Any element but those of CCNx 0.8 in their order, or a value outside its range; more than 65,535
    /// bytes.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        Self::decode_with(wire, |_| {})
    }

    /// Reads one Interest and hashes all prefixes of its name on the way.
    ///
    /// # Errors
    /// As [`InterestView::decode`]; the hashes mean nothing then.
    #[inline]
    pub fn decode_hashed(
        wire: &'a [u8],
        hasher: &NameHasher,
        hashes: &mut PrefixHashes,
    ) -> Result<Self, DecodeError> {
        let mut pass = hasher.begin(crate::Dialect::Ccnx, hashes);
        let view = Self::decode_with(wire, |component| pass.component(component))?;
        pass.finish();
        Ok(view)
    }

    /// Reads the Interest that `bytes` begin with. Its name may begin with `before`, so many components of a
    /// name that was good: what it has in common with them is not read again.
    ///
    /// # Errors
    /// As [`InterestView::decode`].
    #[inline]
    pub fn decode_first_after(bytes: &'a [u8], before: (&[u8], usize)) -> Result<Self, DecodeError> {
        let reader = first_message(bytes, "Interest");
        Self::read(reader, |reader| CcnxNameRef::read_after(reader, before)).map(|(view, _)| view)
    }

    #[inline(always)]
    fn decode_with(wire: &'a [u8], visit: impl FnMut(Component<'a>)) -> Result<Self, DecodeError> {
        let reader = whole_message(wire, "Interest")?;
        let (view, reader) = Self::read(reader, |reader| CcnxNameRef::read_with(reader, visit))?;
        reader.finish()?;
        Ok(view)
    }

    /// Reads the Interest with which the reader's bytes begin.
    #[inline(always)]
    fn read(
        mut reader: Reader<'a>,
        read_name: impl FnOnce(&mut Reader<'a>) -> Result<CcnxNameRef<'a>, DecodeError>,
    ) -> Result<(Self, Reader<'a>), DecodeError> {
        let wire = reader.rest();
        reader.open(Dtag::INTEREST, "Interest")?;
        let name = read_name(&mut reader)?;
        let layout = Layout::read(wire, name, &mut reader, 0)?;
        reader.close("Interest")?;
        Ok((InterestView { wire: reader.read_since(0), layout }, reader))
    }

    /// The whole message.
    pub fn wire(&self) -> &'a [u8] {
        self.wire
    }

    /// The name, or prefix, that is asked for.
    pub fn name(&self) -> CcnxNameRef<'a> {
        CcnxNameRef::from_checked(
            self.layout.name.of(self.wire).unwrap_or_default(),
            self.layout.component_count.into(),
        )
    }

    /// Fewest components, the implicit digest counted, that the answer's name has behind this one's.
    pub fn min_suffix_components(&self) -> u16 {
        self.layout.min_suffix.unwrap_or(0)
    }

    /// Most components, the implicit digest counted, that the answer's name has behind this one's.
    pub fn max_suffix_components(&self) -> u16 {
        self.layout.max_suffix.unwrap_or(MAX_SUFFIX_COMPONENTS)
    }

    /// Who must have published the answer.
    pub fn publisher(&self) -> Option<PublisherId<'a>> {
        let digest = self.layout.publisher.of(self.wire)?;
        Some(PublisherId { kind: self.layout.publisher_kind, digest })
    }

    /// What may not follow the prefix in the answer's name.
    pub fn exclude(&self) -> Option<ExcludeRef<'a>> {
        self.layout.exclude.of(self.wire).map(ExcludeRef::from_checked)
    }

    /// Which of several answers is wanted; the leftmost unless given.
    pub fn child_selector(&self) -> ChildSelector {
        self.layout.child_selector.unwrap_or_default()
    }

    /// Where the answer may come from; store or producer, but not stale, unless given.
    pub fn answer_origin_kind(&self) -> AnswerOriginKind {
        self.layout.answer_origin_kind.unwrap_or_default()
    }

    /// How far the Interest may go; `None` for any distance.
    pub fn scope(&self) -> Option<Scope> {
        self.layout.scope
    }

    /// How long the sender waits, from arrival; four seconds unless given.
    pub fn lifetime(&self) -> Duration {
        self.layout.lifetime.map_or(DEFAULT_LIFETIME, Ticks::duration)
    }

    /// Tells repetitions of this Interest apart: 4 to 64 bytes.
    pub fn nonce(&self) -> Option<&'a [u8]> {
        self.layout.nonce.of(self.wire)
    }

    /// The face that the Interest must leave by. Forwarders believe it of local applications only.
    pub fn face_id(&self) -> Option<u32> {
        self.layout.face_id
    }

    /// Everything but the name, for encoding it again.
    pub fn fields(&self) -> InterestFields<'a> {
        InterestFields {
            min_suffix_components: self.layout.min_suffix,
            max_suffix_components: self.layout.max_suffix,
            publisher: self.publisher(),
            exclude: self.exclude(),
            child_selector: self.layout.child_selector,
            answer_origin_kind: self.layout.answer_origin_kind,
            scope: self.layout.scope,
            lifetime: self.layout.lifetime,
            nonce: self.nonce(),
            face_id: self.layout.face_id,
        }
    }

    /// Where in [`wire`](InterestView::wire) the selectors are: from behind the Name up to InterestLifetime.
    /// Two Interests are the same to a forwarder if their names are equal and these bytes are.
    pub fn aggregation_range(&self) -> Range<usize> {
        self.layout.aggregation.range().unwrap_or_default()
    }

    /// Reads what follows the name once more in an Interest that was good. `name` is where its components
    /// are, and how many; `exclude_bytes` what the entries of its Exclude take.
    pub(crate) fn decode_behind(
        wire: &'a [u8],
        name: Span,
        component_count: u16,
        exclude_bytes: usize,
    ) -> Option<Self> {
        let mut reader = Reader::new(wire, "Interest");
        // The components, and the close of the name.
        reader.skip(name.range()?.end + 1);
        let name = CcnxNameRef::from_checked(name.of(wire)?, component_count.into());
        let layout = Layout::read(wire, name, &mut reader, exclude_bytes).ok()?;
        Some(InterestView { wire, layout })
    }

    #[inline(always)]
    pub(crate) fn brief(&self) -> InterestBrief {
        let layout = &self.layout;
        let facts = InterestFacts {
            lifetime: self.lifetime(),
            nonce: self.nonce().map(fold_nonce),
            name: layout.name,
            component_count: layout.component_count,
            hop_limit_at: 0,
            can_be_prefix: true,
            must_be_fresh: !self.answer_origin_kind().stale(),
            ends_in_implicit_digest: self.name().may_end_in_digest(),
            has_forwarding_hint: false,
        };
        let has_selectors = layout.aggregation.range().is_some_and(|range| !range.is_empty());
        let exclude_bytes = layout.exclude.range().map_or(0, |range| range.len() as u16);
        InterestBrief::of_ccnx(facts, exclude_bytes, has_selectors, layout.face_id.is_some())
    }
}

impl Layout {
    #[inline(always)]
    fn read<'a>(
        wire: &'a [u8],
        name: CcnxNameRef<'a>,
        reader: &mut Reader<'a>,
        exclude_bytes: usize,
    ) -> Result<Self, DecodeError> {
        let start = reader.position();
        let largest = i32::MAX as u64;
        let min = reader.optional_decimal(Dtag::MIN_SUFFIX_COMPONENTS, "MinSuffixComponents", largest)?;
        let at_max = reader.position();
        let max = reader.optional_decimal(Dtag::MAX_SUFFIX_COMPONENTS, "MaxSuffixComponents", largest)?;
        let (min, max) = (min.map(clamp_suffix), max.map(clamp_suffix));
        check_suffix_range(min, max).map_err(|error| error.shifted(at_max))?;
        let publisher = PublisherId::read_optional(reader)?;
        let exclude = ExcludeRef::read_again(reader, exclude_bytes)?;
        let child_selector = read_small(reader, Dtag::CHILD_SELECTOR, "ChildSelector", ChildSelector::new)?;
        let answer_origin_kind =
            read_small(reader, Dtag::ANSWER_ORIGIN_KIND, "AnswerOriginKind", AnswerOriginKind::new)?;
        let at_scope = reader.position();
        let scope = read_small(reader, Dtag::SCOPE, "Scope", Scope::new)?;
        check_marking(answer_origin_kind, scope).map_err(|error| error.shifted(at_scope))?;
        let aggregation = Span::new(start, reader.position());
        let lifetime = reader
            .optional_blob(Dtag::INTEREST_LIFETIME, "InterestLifetime", 1..=8)?
            .and_then(Ticks::from_bytes);
        let nonce = reader.optional_blob(Dtag::NONCE, "Nonce", NONCE_BYTES)?;
        let face_id = read_small(reader, Dtag::FACE_ID, "FaceID", |number| u32::try_from(number).ok())?;
        let place = |part: Option<&[u8]>| part.map_or(Span::ABSENT, |part| span_in(wire, part));
        Ok(Layout {
            name: span_in(wire, name.component_bytes()),
            // A message of 65,535 bytes holds at most 32,765 components.
            component_count: name.len() as u16,
            min_suffix: min,
            max_suffix: max,
            child_selector,
            answer_origin_kind,
            scope,
            publisher_kind: publisher.map_or(PublisherIdKind::PublicKey, |publisher| publisher.kind),
            publisher: place(publisher.map(|publisher| publisher.digest)),
            exclude: place(exclude.map(|exclude| exclude.entry_bytes())),
            aggregation,
            nonce: place(nonce),
            lifetime,
            face_id,
        })
    }
}

/// The Interest in `view` with its Nonce set to `nonce`, everything else kept.
pub(crate) fn with_nonce(view: InterestView<'_>, nonce: Nonce) -> Result<Buffer, DecodeError> {
    let bytes = nonce.0.to_be_bytes();
    rewritten(view, InterestFields { nonce: Some(&bytes), ..view.fields() })
}

/// The Interest in `view` without its FaceID, everything else kept.
pub(crate) fn without_face_id(view: InterestView<'_>) -> Result<Buffer, DecodeError> {
    rewritten(view, InterestFields { face_id: None, ..view.fields() })
}

/// What was received may be longer than what is made here.
fn rewritten(view: InterestView<'_>, fields: InterestFields<'_>) -> Result<Buffer, DecodeError> {
    let encoded = fields.encode_within(view.name().into(), MAX_MESSAGE_BYTES);
    encoded.map(Buffer::from).map_err(|error| match error {
        EncodeError::Invalid(error) => error,
        EncodeError::TooLarge { size, limit } => {
            DecodeError::new("Interest", 0, Rule::TooLarge { size, limit })
        }
    })
}

/// Everything in an Interest but its name; what is `None` is left out on the wire.
///
/// ```
/// use cairn_packet::ccnx::{InterestFields, InterestView, Scope, uri};
/// let name = uri::parse("ccnx:/a")?;
/// let wire = InterestFields { scope: Some(Scope::HOST), ..InterestFields::default() }.encode(&name)?;
/// assert_eq!(InterestView::decode(&wire)?.scope(), Some(Scope::HOST));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterestFields<'a> {
    /// See [`InterestView::min_suffix_components`].
    pub min_suffix_components: Option<u16>,
    /// See [`InterestView::max_suffix_components`].
    pub max_suffix_components: Option<u16>,
    /// See [`InterestView::publisher`].
    pub publisher: Option<PublisherId<'a>>,
    /// See [`InterestView::exclude`].
    pub exclude: Option<ExcludeRef<'a>>,
    /// See [`InterestView::child_selector`].
    pub child_selector: Option<ChildSelector>,
    /// See [`InterestView::answer_origin_kind`].
    pub answer_origin_kind: Option<AnswerOriginKind>,
    /// See [`InterestView::scope`].
    pub scope: Option<Scope>,
    /// See [`InterestView::lifetime`].
    pub lifetime: Option<Ticks>,
    /// See [`InterestView::nonce`].
    pub nonce: Option<&'a [u8]>,
    /// See [`InterestView::face_id`].
    pub face_id: Option<u32>,
}

impl InterestFields<'_> {
    /// The Interest for `name` with these fields.
    ///
    /// # Errors
    /// A field outside its range, a component of `name` that CCNx cannot express, more than 8,800 bytes.
    pub fn encode<'n>(&self, name: impl Into<NameSource<'n>>) -> Result<Vec<u8>, EncodeError> {
        self.encode_within(name.into(), MAX_ENCODED_BYTES)
    }

    /// The same, decoded.
    ///
    /// # Errors
    /// As [`encode`](InterestFields::encode).
    pub fn build<'n>(&self, name: impl Into<NameSource<'n>>) -> Result<Interest, EncodeError> {
        Interest::decode_ccnx(self.encode(name)?.into()).map_err(EncodeError::Invalid)
    }

    fn encode_within(&self, name: NameSource<'_>, limit: usize) -> Result<Vec<u8>, EncodeError> {
        self.check()?;
        let len = element_len(Dtag::INTEREST, name.encoded_len()? + self.encoded_len());
        if len > limit {
            return Err(EncodeError::TooLarge { size: len, limit });
        }
        let mut out = Vec::with_capacity(len);
        write_open(&mut out, Dtag::INTEREST);
        name.encode_into(&mut out)?;
        self.write(&mut out);
        write_close(&mut out);
        Ok(out)
    }

    fn check(&self) -> Result<(), DecodeError> {
        check_suffix_range(self.min_suffix_components, self.max_suffix_components)?;
        check_marking(self.answer_origin_kind, self.scope)?;
        self.publisher.map_or(Ok(()), |publisher| publisher.check())?;
        match self.nonce {
            Some(nonce) if !NONCE_BYTES.contains(&nonce.len()) => {
                Err(DecodeError::new("Nonce", 0, Rule::BadLength(nonce.len())))
            }
            _ => Ok(()),
        }
    }

    /// The decimal fields before and behind publisher and Exclude, in the order of the wire.
    fn decimals(&self) -> ([Decimal; 2], [Decimal; 3]) {
        (
            [
                (Dtag::MIN_SUFFIX_COMPONENTS, self.min_suffix_components.map(u64::from)),
                (Dtag::MAX_SUFFIX_COMPONENTS, self.max_suffix_components.map(u64::from)),
            ],
            [
                (Dtag::CHILD_SELECTOR, self.child_selector.map(|selector| selector.number().into())),
                (Dtag::ANSWER_ORIGIN_KIND, self.answer_origin_kind.map(|kind| kind.bits().into())),
                (Dtag::SCOPE, self.scope.map(|scope| scope.number().into())),
            ],
        )
    }

    fn encoded_len(&self) -> usize {
        let (before, behind) = self.decimals();
        let decimals = before.into_iter().chain(behind).chain([self.face_decimal()]);
        decimals
            .filter_map(|(tag, value)| value.map(|value| decimal_element_len(tag, value)))
            .chain(self.publisher.map(|publisher| publisher.encoded_len()))
            .chain(self.exclude.map(|exclude| exclude.encoded_len()))
            .chain(
                self.lifetime.map(|ticks| body_element_len(Dtag::INTEREST_LIFETIME, ticks.as_bytes().len())),
            )
            .chain(self.nonce.map(|nonce| body_element_len(Dtag::NONCE, nonce.len())))
            .sum()
    }

    fn write(&self, out: &mut Vec<u8>) {
        let (before, behind) = self.decimals();
        write_decimals(out, &before);
        if let Some(publisher) = self.publisher {
            publisher.encode_into(out);
        }
        if let Some(exclude) = self.exclude {
            exclude.encode_into(out);
        }
        write_decimals(out, &behind);
        if let Some(lifetime) = self.lifetime {
            write_blob_element(out, Dtag::INTEREST_LIFETIME, lifetime.as_bytes());
        }
        if let Some(nonce) = self.nonce {
            write_blob_element(out, Dtag::NONCE, nonce);
        }
        write_decimals(out, &[self.face_decimal()]);
    }

    fn face_decimal(&self) -> Decimal {
        (Dtag::FACE_ID, self.face_id.map(u64::from))
    }
}

/// A field that is written in decimal digits, if it is there.
type Decimal = (Dtag, Option<u64>);

fn write_decimals(out: &mut Vec<u8>, fields: &[Decimal]) {
    for &(tag, value) in fields {
        if let Some(value) = value {
            write_decimal_element(out, tag, value);
        }
    }
}

/// Reads a decimal field whose range is known to `make`.
#[inline(always)]
fn read_small<T>(
    reader: &mut Reader<'_>,
    tag: Dtag,
    field: &'static str,
    make: impl FnOnce(u64) -> Option<T>,
) -> Result<Option<T>, DecodeError> {
    let start = reader.position();
    match reader.optional_decimal(tag, field, u64::MAX)? {
        None => Ok(None),
        Some(number) => match make(number) {
            Some(value) => Ok(Some(value)),
            None => Err(DecodeError::new(field, start, Rule::BadValue(number))),
        },
    }
}

fn check_suffix_range(min: Option<u16>, max: Option<u16>) -> Result<(), DecodeError> {
    let max = max.unwrap_or(MAX_SUFFIX_COMPONENTS);
    if min.unwrap_or(0) > max {
        return Err(DecodeError::new("MaxSuffixComponents", 0, Rule::BadValue(max.into())));
    }
    Ok(())
}

/// Only an Interest that does not leave the forwarder may mark what is in its store.
fn check_marking(kind: Option<AnswerOriginKind>, scope: Option<Scope>) -> Result<(), DecodeError> {
    match (kind, scope) {
        (Some(kind), scope) if kind.marks_stale() && scope != Some(Scope::LOCAL) => {
            let rule = scope.map_or(Rule::Missing, |scope| Rule::BadValue(scope.number().into()));
            Err(DecodeError::new("Scope", 0, rule))
        }
        _ => Ok(()),
    }
}

fn clamp_suffix(number: u64) -> u16 {
    number.min(MAX_SUFFIX_COMPONENTS.into()) as u16
}
