//! Interests for numbered names under a prefix, made fast.

use packet::ndn::tlv;
use packet::time::Duration;
use packet::{Buffer, ComponentKind, Interest, Name, NameHasher, NameRef, PrefixHashes};

/// Makes Interests for `prefix` + a sequence number. One buffer of its own for each Interest, and nothing else allocated.
#[derive(Clone, Debug)]
pub struct NumberedNames {
    prefix: Name,
    lifetime_ms: u64,
    scratch: Vec<u8>,
}

const INTEREST: u32 = 5;
const NAME: u32 = 7;
const NONCE: u32 = 10;
const LIFETIME: u32 = 12;

impl NumberedNames {
    /// Interests under `prefix` with this lifetime, rounded down to milliseconds.
    pub fn new(prefix: Name, lifetime: Duration) -> Self {
        NumberedNames { prefix, lifetime_ms: lifetime.as_millis(), scratch: Vec::with_capacity(128) }
    }

    /// The prefix.
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// The Interest for a number, and the hashes of its name; `None` if prefix and number do not fit into a packet.
    #[inline]
    pub fn interest(
        &mut self,
        hasher: &NameHasher,
        number: u64,
        nonce: u32,
    ) -> Option<(Interest, PrefixHashes)> {
        let prefix = self.prefix.canonical();
        let component = tlv::nni_element_len(ComponentKind::SEQUENCE_NUMBER.number().into(), number);
        let name_len = prefix.len() + component;
        let len = tlv::element_len(NAME, name_len) + 6 + tlv::nni_element_len(LIFETIME, self.lifetime_ms);
        let out = &mut self.scratch;
        out.clear();
        tlv::write_header(out, INTEREST, len);
        tlv::write_header(out, NAME, name_len);
        out.extend_from_slice(prefix);
        tlv::write_nni_element(out, ComponentKind::SEQUENCE_NUMBER.number().into(), number);
        tlv::write_element(out, NONCE, &nonce.to_be_bytes());
        tlv::write_nni_element(out, LIFETIME, self.lifetime_ms);
        let mut hashes = PrefixHashes::default();
        let interest = Interest::decode_ndn_hashed(Buffer::copy_from(out), hasher, &mut hashes).ok()?;
        Some((interest, hashes))
    }
}

/// The number at the end of a name made by [`NumberedNames`].
#[inline]
pub fn number_of(name: NameRef<'_>) -> Option<u64> {
    name.last().filter(|last| last.kind == ComponentKind::SEQUENCE_NUMBER)?.number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Dialect;
    use packet::ndn::InterestBuilder;

    #[test]
    fn the_fast_way_makes_what_the_builder_makes() {
        let hasher = NameHasher::new([1, 2]);
        let prefix: Name = "/video/a".parse().unwrap();
        for number in [0, 1, 255, 256, 65_535, 65_536, 1 << 32, u64::MAX] {
            for lifetime_ms in [0, 100, 4000, 70_000] {
                let lifetime = Duration::from_millis(lifetime_ms);
                let mut names = NumberedNames::new(prefix.clone(), lifetime);
                let (interest, hashes) = names.interest(&hasher, number, 7).unwrap();
                let name: Name = format!("/video/a/seq={number}").parse().unwrap();
                let built = InterestBuilder::new(name).nonce(7).lifetime(lifetime).build().unwrap();
                assert_eq!(interest.wire(), built.wire());
                assert_eq!(number_of(interest.name()), Some(number));
                assert_eq!(hashes.whole(), hasher.hash(Dialect::Ndn, built.name().components()).whole());
            }
        }
        let long = Name::from_components([packet::Component::generic(&[0; 9000])]).unwrap();
        assert!(NumberedNames::new(long, Duration::ZERO).interest(&hasher, 1, 1).is_none());
    }
}
