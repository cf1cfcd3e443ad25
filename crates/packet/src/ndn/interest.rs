//! Interest packets (NDN packet format, section 3).

use sha2::{Digest as _, Sha256};

use super::signature::{SignatureInfo, SignatureInfoBuilder};
use super::tlv::{self, Element, MAX_PACKET_BYTES, Reader};
use super::{decode_name, outer_element, types};
use crate::brief::{InterestBrief, InterestFacts};
use crate::buffer::Buffer;
use crate::error::{DecodeError, EncodeError, Rule};
use crate::hash::{NameHasher, PrefixHashes};
use crate::interest::{Interest, Nonce};
use crate::name::{Component, ComponentKind, Name, NameRef};
use crate::span::Span;
use crate::time::Duration;

/// Lifetime of an Interest that names none.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(4);

/// An Interest read in place. Everything in it has been checked; nothing was copied.
///
/// ```
/// use cairn_packet::ndn::InterestView;
/// let wire = [0x05, 0x0b, 0x07, 0x03, 0x08, 0x01, 0x41, 0x0a, 0x04, 1, 2, 3, 4];
/// let interest = InterestView::decode(&wire).unwrap();
/// assert_eq!(interest.name().to_string(), "/A");
/// assert!(!interest.can_be_prefix());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InterestView<'a> {
    wire: &'a [u8],
    layout: Layout,
}

/// Fields of an Interest by value, and places of those that are not worth copying.
#[derive(Clone, Copy, Debug)]
struct Layout {
    lifetime: Duration,
    nonce: Option<Nonce>,
    name: Span,
    component_count: u16,
    forwarding_hint: Span,
    /// From ApplicationParameters to the end of the Interest.
    parameters: Span,
    signature_info: Span,
    signature_value: Span,
    hop_limit: Span,
    can_be_prefix: bool,
    must_be_fresh: bool,
    ends_in_implicit_digest: bool,
}

impl<'a> InterestView<'a> {
    /// Reads one Interest that fills `wire` exactly.
    ///
    /// # Errors
    /// Any broken rule of the format, at the byte where it is broken.
    #[inline(always)]
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        let (mut reader, _) = outer_element(wire, types::INTEREST, "Interest")?;
        let name = reader.required(types::NAME, "Name")?;
        let decoded = decode_name(&reader, name)?;
        if decoded.component_count == 0 {
            return Err(DecodeError::new("Name", name.start, Rule::BadLength(0)));
        }
        let mut layout = Layout {
            lifetime: DEFAULT_LIFETIME,
            nonce: None,
            name: Span::new(name.value_start, name.end()),
            component_count: decoded.component_count,
            ends_in_implicit_digest: decoded.ends_in_implicit_digest,
            forwarding_hint: Span::ABSENT,
            parameters: Span::ABSENT,
            signature_info: Span::ABSENT,
            signature_value: Span::ABSENT,
            hop_limit: Span::ABSENT,
            can_be_prefix: false,
            must_be_fresh: false,
        };
        let last_rank = layout.read_usual_fields(&mut reader);
        // Passed by value, so that it need not be in memory before it is where it will stay.
        let layout =
            if reader.is_empty() { layout } else { layout.with_rest(reader, last_rank, wire.len())? };
        Ok(InterestView { wire, layout })
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
        let view = Self::decode(wire)?;
        hasher.hash_into(crate::Dialect::Ndn, view.name().components(), hashes);
        Ok(view)
    }

    /// The whole packet, outer type and length included.
    pub fn wire(&self) -> &'a [u8] {
        self.wire
    }

    /// The name, digest components included.
    pub fn name(&self) -> NameRef<'a> {
        NameRef::from_checked(self.layout.name.of(self.wire).unwrap_or_default())
    }

    /// Number of components of the name, at least one.
    pub fn component_count(&self) -> usize {
        self.layout.component_count.into()
    }

    /// Whether the name ends in an ImplicitSha256DigestComponent.
    pub fn ends_in_implicit_digest(&self) -> bool {
        self.layout.ends_in_implicit_digest
    }

    /// Whether Data with a longer name may answer.
    pub fn can_be_prefix(&self) -> bool {
        self.layout.can_be_prefix
    }

    /// Whether a cache may answer only while the Data is fresh.
    pub fn must_be_fresh(&self) -> bool {
        self.layout.must_be_fresh
    }

    /// Names under which the Data can be reached when the Interest's own cannot be routed, best first.
    pub fn forwarding_hint(&self) -> ForwardingHint<'a> {
        ForwardingHint { rest: self.forwarding_hint_bytes() }
    }

    /// The value of the ForwardingHint element; empty when there is none.
    pub fn forwarding_hint_bytes(&self) -> &'a [u8] {
        self.layout.forwarding_hint.of(self.wire).unwrap_or_default()
    }

    /// The number that tells repetitions of this Interest apart; absent only from applications.
    pub fn nonce(&self) -> Option<Nonce> {
        self.layout.nonce
    }

    /// How long the sender waits, from arrival; four seconds unless given.
    pub fn lifetime(&self) -> Duration {
        self.layout.lifetime
    }

    /// How many more hops the Interest may take.
    pub fn hop_limit(&self) -> Option<u8> {
        self.layout.hop_limit.of(self.wire).and_then(|value| value.first().copied())
    }

    /// ApplicationParameters; may be there and empty.
    pub fn application_parameters(&self) -> Option<&'a [u8]> {
        let elements = self.layout.parameters.of(self.wire)?;
        Reader::new(elements, "ApplicationParameters").element().ok().flatten().map(|element| element.value)
    }

    /// InterestSignatureInfo of a signed Interest.
    pub fn signature_info(&self) -> Option<SignatureInfo<'a>> {
        SignatureInfo::from_checked(self.layout.signature_info.of(self.wire)?)
    }

    /// InterestSignatureValue of a signed Interest.
    pub fn signature_value(&self) -> Option<&'a [u8]> {
        self.layout.signature_value.of(self.wire)
    }

    /// The bytes a signature covers, in order: components but the parameters digest, then
    /// ApplicationParameters to InterestSignatureInfo. `None` when the Interest is not signed.
    pub fn signed_portion(&self) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let parameters = self.layout.parameters.range()?;
        let info = self.layout.signature_info.range()?;
        let wire = self.wire;
        let name = self.name().canonical();
        let mut reader = Reader::new(name, "Name");
        let components = std::iter::from_fn(move || reader.element().ok().flatten())
            .filter(|element| element.kind != u32::from(ComponentKind::PARAMETERS_DIGEST.number()))
            .filter_map(move |element| name.get(element.start..element.end()));
        Some(components.chain(wire.get(parameters.start..info.end)))
    }

    /// Whether the name carries the right ParametersSha256Digest; `None` when there are neither parameters
    /// nor a digest. Forwarders do not check this; producers do.
    pub fn parameters_digest_is_valid(&self) -> Option<bool> {
        let digest = self.name().components().find(|c| c.kind == ComponentKind::PARAMETERS_DIGEST);
        match (self.layout.parameters.of(self.wire), digest) {
            (None, None) => None,
            (Some(parameters), Some(digest)) => Some(digest.value == &Sha256::digest(parameters)[..]),
            _ => Some(false),
        }
    }

    #[inline(always)]
    pub(crate) fn brief(&self) -> InterestBrief {
        let layout = &self.layout;
        InterestBrief::new(InterestFacts {
            lifetime: layout.lifetime,
            nonce: layout.nonce,
            name: layout.name,
            component_count: layout.component_count,
            hop_limit_at: layout.hop_limit.range().map_or(0, |range| range.start as u16),
            can_be_prefix: layout.can_be_prefix,
            must_be_fresh: layout.must_be_fresh,
            ends_in_implicit_digest: layout.ends_in_implicit_digest,
            has_forwarding_hint: layout.forwarding_hint != Span::ABSENT,
        })
    }
}

impl Layout {
    /// Reads the fields of almost every Interest as long as they follow each other in their usual form; gives
    /// the rank of the last.
    #[inline(always)]
    fn read_usual_fields(&mut self, reader: &mut Reader<'_>) -> u8 {
        let mut last_rank = 0;
        if reader.fixed::<0>(types::CAN_BE_PREFIX).is_some() {
            (self.can_be_prefix, last_rank) = (true, 1);
        }
        if reader.fixed::<0>(types::MUST_BE_FRESH).is_some() {
            (self.must_be_fresh, last_rank) = (true, 2);
        }
        if let Some(nonce) = reader.fixed(types::NONCE) {
            (self.nonce, last_rank) = (Some(Nonce(u32::from_be_bytes(*nonce))), 4);
        }
        if let Some(millis) = reader.fixed(types::INTEREST_LIFETIME) {
            (self.lifetime, last_rank) = (Duration::from_millis(u16::from_be_bytes(*millis).into()), 5);
        }
        if reader.fixed::<1>(types::HOP_LIMIT).is_some() {
            let end = reader.position();
            (self.hop_limit, last_rank) = (Span::new(end - 1, end), 6);
        }
        last_rank
    }

    /// The same with the fields that `reader` has left, whatever they are.
    #[inline(never)]
    fn with_rest(
        mut self,
        mut reader: Reader<'_>,
        mut last_rank: u8,
        wire_len: usize,
    ) -> Result<Self, DecodeError> {
        while let Some(element) = reader.element()? {
            match rank(element.kind) {
                Some(rank) if rank > last_rank => {
                    last_rank = rank;
                    self.read_field(&reader, element, wire_len)?;
                }
                known => tlv::skip_unexpected(element, known.is_some(), "Interest")?,
            }
        }
        Ok(self)
    }

    #[inline]
    fn read_field(
        &mut self,
        reader: &Reader<'_>,
        element: Element<'_>,
        wire_len: usize,
    ) -> Result<(), DecodeError> {
        let value = Span::new(element.value_start, element.end());
        match element.kind {
            types::CAN_BE_PREFIX => {
                expect_len(element, 0, "CanBePrefix")?;
                self.can_be_prefix = true;
            }
            types::MUST_BE_FRESH => {
                expect_len(element, 0, "MustBeFresh")?;
                self.must_be_fresh = true;
            }
            types::FORWARDING_HINT => {
                check_forwarding_hint(reader, element)?;
                self.forwarding_hint = value;
            }
            types::NONCE => {
                let bytes = element.value.try_into().map_err(|_| bad_len(element, "Nonce"))?;
                self.nonce = Some(Nonce(u32::from_be_bytes(bytes)));
            }
            types::INTEREST_LIFETIME => {
                self.lifetime = Duration::from_millis(tlv::read_nni(element, "InterestLifetime")?);
            }
            types::HOP_LIMIT => {
                expect_len(element, 1, "HopLimit")?;
                self.hop_limit = value;
            }
            types::APPLICATION_PARAMETERS => self.parameters = Span::new(element.start, wire_len),
            // Without parameters these two are stray elements of even type, which are ignored.
            types::INTEREST_SIGNATURE_INFO if self.parameters != Span::ABSENT => {
                SignatureInfo::decode(reader, element, "InterestSignatureInfo")?;
                // The span covers the element with its header, for that is where the signed portion ends.
                self.signature_info = Span::new(element.start, element.end());
            }
            types::INTEREST_SIGNATURE_VALUE if self.parameters != Span::ABSENT => {
                self.signature_value = value;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Place of a recognised element in the order the format prescribes.
#[inline]
fn rank(kind: u32) -> Option<u8> {
    Some(match kind {
        types::CAN_BE_PREFIX => 1,
        types::MUST_BE_FRESH => 2,
        types::FORWARDING_HINT => 3,
        types::NONCE => 4,
        types::INTEREST_LIFETIME => 5,
        types::HOP_LIMIT => 6,
        types::APPLICATION_PARAMETERS => 7,
        types::INTEREST_SIGNATURE_INFO => 8,
        types::INTEREST_SIGNATURE_VALUE => 9,
        types::NAME => 0,
        _ => return None,
    })
}

#[inline]
fn expect_len(element: Element<'_>, len: usize, field: &'static str) -> Result<(), DecodeError> {
    if element.value.len() == len { Ok(()) } else { Err(bad_len(element, field)) }
}

#[cold]
fn bad_len(element: Element<'_>, field: &'static str) -> DecodeError {
    DecodeError::new(field, element.start, Rule::BadLength(element.value.len()))
}

/// Most components that all delegations of a ForwardingHint may have together, each counted as one more than
/// it has.
const MAX_HINT_COMPONENTS: usize = 256;

fn check_forwarding_hint(reader: &Reader<'_>, element: Element<'_>) -> Result<(), DecodeError> {
    let mut inside = reader.inside(element, "ForwardingHint");
    let (mut names, mut found) = (0, 0);
    while let Some(inner) = inside.element()? {
        if inner.kind == types::NAME {
            names += 1;
            // A name without components is work, too.
            found += 1 + usize::from(decode_name(&inside, inner)?.component_count);
            if found > MAX_HINT_COMPONENTS {
                let rule = Rule::TooManyComponents { found, limit: MAX_HINT_COMPONENTS };
                return Err(DecodeError::new("ForwardingHint", element.start, rule));
            }
        } else {
            tlv::skip_unexpected(inner, false, "ForwardingHint")?;
        }
    }
    if names == 0 { Err(DecodeError::new("ForwardingHint", element.start, Rule::Missing)) } else { Ok(()) }
}

/// Iterates over the delegation names of a ForwardingHint, best first.
#[derive(Clone, Copy, Debug)]
pub struct ForwardingHint<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for ForwardingHint<'a> {
    type Item = NameRef<'a>;

    fn next(&mut self) -> Option<NameRef<'a>> {
        loop {
            let mut reader = Reader::new(self.rest, "ForwardingHint");
            let element = reader.element().ok().flatten()?;
            self.rest = &self.rest[element.end()..];
            if element.kind == types::NAME {
                return Some(NameRef::from_checked(element.value));
            }
        }
    }
}

/// Puts an Interest together and encodes it once.
///
/// ```
/// use cairn_packet::ndn::InterestBuilder;
/// let name = "/ndn/ping/17".parse().unwrap();
/// let interest = InterestBuilder::new(name).must_be_fresh(true).nonce(7).build().unwrap();
/// assert!(interest.must_be_fresh());
/// ```
#[derive(Clone, Debug)]
pub struct InterestBuilder {
    name: Name,
    can_be_prefix: bool,
    must_be_fresh: bool,
    forwarding_hint: Vec<Name>,
    nonce: Option<Nonce>,
    lifetime: Option<Duration>,
    hop_limit: Option<u8>,
    parameters: Option<Vec<u8>>,
}

impl InterestBuilder {
    /// An Interest for exactly `name`, with nothing else set.
    pub fn new(name: Name) -> Self {
        InterestBuilder {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            forwarding_hint: Vec::new(),
            nonce: None,
            lifetime: None,
            hop_limit: None,
            parameters: None,
        }
    }

    /// Sets CanBePrefix.
    pub fn can_be_prefix(mut self, yes: bool) -> Self {
        self.can_be_prefix = yes;
        self
    }

    /// Sets MustBeFresh.
    pub fn must_be_fresh(mut self, yes: bool) -> Self {
        self.must_be_fresh = yes;
        self
    }

    /// Sets the delegations, best first; empty for none.
    pub fn forwarding_hint(mut self, names: Vec<Name>) -> Self {
        self.forwarding_hint = names;
        self
    }

    /// Sets the Nonce.
    pub fn nonce(mut self, nonce: u32) -> Self {
        self.nonce = Some(Nonce(nonce));
        self
    }

    /// Sets InterestLifetime, rounded down to milliseconds.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// Sets HopLimit.
    pub fn hop_limit(mut self, hops: u8) -> Self {
        self.hop_limit = Some(hops);
        self
    }

    /// Sets ApplicationParameters; the ParametersSha256Digest is put at the end of the name.
    pub fn application_parameters(mut self, parameters: Vec<u8>) -> Self {
        self.parameters = Some(parameters);
        self
    }

    /// Encodes the Interest.
    ///
    /// # Errors
    /// A name without components or over-long, or more than 8,800 bytes in all.
    pub fn build(&self) -> Result<Interest, EncodeError> {
        let mut parameters = Vec::new();
        if let Some(value) = &self.parameters {
            tlv::write_element(&mut parameters, types::APPLICATION_PARAMETERS, value);
        }
        self.encode(&parameters)
    }

    /// Signs the Interest with what `sign` returns for the signed portion, and encodes it. Parameters that
    /// were not set are there and empty, as the format demands.
    ///
    /// # Errors
    /// As [`InterestBuilder::build`].
    pub fn build_signed(
        &self,
        info: &SignatureInfoBuilder,
        sign: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<Interest, EncodeError> {
        let mut tail = Vec::new();
        tlv::write_element(
            &mut tail,
            types::APPLICATION_PARAMETERS,
            self.parameters.as_deref().unwrap_or_default(),
        );
        info.write(types::INTEREST_SIGNATURE_INFO, &mut tail);
        let mut signed = Vec::with_capacity(self.name.canonical().len() + tail.len());
        for component in self.undigested_components() {
            component.append_to(&mut signed);
        }
        signed.extend_from_slice(&tail);
        tlv::write_element(&mut tail, types::INTEREST_SIGNATURE_VALUE, &sign(&signed));
        self.encode(&tail)
    }

    fn undigested_components(&self) -> impl Iterator<Item = Component<'_>> {
        self.name.components().filter(|component| component.kind != ComponentKind::PARAMETERS_DIGEST)
    }

    /// Encodes with `tail` being all from ApplicationParameters on.
    fn encode(&self, tail: &[u8]) -> Result<Interest, EncodeError> {
        let digested;
        let name = if tail.is_empty() {
            &self.name
        } else {
            let digest = Sha256::digest(tail);
            let digest = Component::new(ComponentKind::PARAMETERS_DIGEST, &digest);
            digested = Name::from_components(self.undigested_components().chain([digest]))?;
            &digested
        };
        let hint_len: usize = self
            .forwarding_hint
            .iter()
            .map(|name| tlv::element_len(types::NAME, name.canonical().len()))
            .sum();
        let lifetime_ms = self.lifetime.map(Duration::as_millis);
        let value_len = tlv::element_len(types::NAME, name.canonical().len())
            + usize::from(self.can_be_prefix) * 2
            + usize::from(self.must_be_fresh) * 2
            + if hint_len > 0 { tlv::element_len(types::FORWARDING_HINT, hint_len) } else { 0 }
            + usize::from(self.nonce.is_some()) * 6
            + lifetime_ms.map_or(0, |ms| tlv::nni_element_len(types::INTEREST_LIFETIME, ms))
            + usize::from(self.hop_limit.is_some()) * 3
            + tail.len();
        let size = tlv::element_len(types::INTEREST, value_len);
        if size > MAX_PACKET_BYTES {
            return Err(EncodeError::TooLarge { size, limit: MAX_PACKET_BYTES });
        }
        let mut wire = Vec::with_capacity(size);
        tlv::write_header(&mut wire, types::INTEREST, value_len);
        tlv::write_element(&mut wire, types::NAME, name.canonical());
        if self.can_be_prefix {
            tlv::write_header(&mut wire, types::CAN_BE_PREFIX, 0);
        }
        if self.must_be_fresh {
            tlv::write_header(&mut wire, types::MUST_BE_FRESH, 0);
        }
        if hint_len > 0 {
            tlv::write_header(&mut wire, types::FORWARDING_HINT, hint_len);
            for name in &self.forwarding_hint {
                tlv::write_element(&mut wire, types::NAME, name.canonical());
            }
        }
        if let Some(Nonce(nonce)) = self.nonce {
            tlv::write_element(&mut wire, types::NONCE, &nonce.to_be_bytes());
        }
        if let Some(ms) = lifetime_ms {
            tlv::write_nni_element(&mut wire, types::INTEREST_LIFETIME, ms);
        }
        if let Some(hops) = self.hop_limit {
            tlv::write_element(&mut wire, types::HOP_LIMIT, &[hops]);
        }
        wire.extend_from_slice(tail);
        debug_assert_eq!(wire.len(), size);
        Ok(Interest::decode_ndn(Buffer::from(wire))?)
    }
}

/// The Interest in `view` with its Nonce set to `nonce`, everything else kept byte for byte.
pub(crate) fn with_nonce(view: InterestView<'_>, nonce: Nonce) -> Result<Buffer, DecodeError> {
    with_field(view, types::NONCE, &nonce.0.to_be_bytes())
}

/// The Interest in `view` with its HopLimit set to `hops`, everything else kept byte for byte.
pub(crate) fn with_hop_limit(view: InterestView<'_>, hops: u8) -> Result<Buffer, DecodeError> {
    with_field(view, types::HOP_LIMIT, &[hops])
}

/// Puts a field in its place, over the one that may be there.
fn with_field(view: InterestView<'_>, kind: u32, value: &[u8]) -> Result<Buffer, DecodeError> {
    let (mut reader, start) = outer_element(view.wire, types::INTEREST, "Interest")?;
    // It goes before the first element that the format puts after it.
    let mut before = start;
    let mut after = view.wire.len();
    while let Some(element) = reader.element()? {
        if element.kind == kind {
            after = element.end();
            break;
        }
        if rank(element.kind) > rank(kind) {
            after = element.start;
            break;
        }
        before = element.end();
    }
    let (head, tail) = (&view.wire[start..before], &view.wire[after..]);
    let value_len = head.len() + tlv::element_len(kind, value.len()) + tail.len();
    let mut wire = Vec::with_capacity(tlv::element_len(types::INTEREST, value_len));
    tlv::write_header(&mut wire, types::INTEREST, value_len);
    wire.extend_from_slice(head);
    tlv::write_element(&mut wire, kind, value);
    wire.extend_from_slice(tail);
    Ok(Buffer::from(wire))
}
