//! Interests for numbered names under a prefix, made fast.

use packet::ndn::{InterestBuilder, tlv};
use packet::time::Duration;
use packet::{
    Component, ComponentKind, HashedPrefix, Interest, Name, NameHasher, NameRef, Nonce, PrefixHashes,
};

/// Makes Interests of NDN for `prefix` + a sequence number. CCNx has no components for numbers; a
/// [`CheckedConsumer`](crate::CheckedConsumer) asks in either dialect. Each Interest has one buffer of its
/// own, and nothing else is allocated; what they have in common is encoded, decoded and hashed once.
#[derive(Clone, Debug)]
pub struct NumberedNames {
    prefix: Name,
    lifetime: Duration,
    /// An Interest whose number has as many bytes as the last one that was made.
    template: Option<Interest>,
    hashed: Option<HashedPrefix>,
}

impl NumberedNames {
    /// Interests under `prefix` with this lifetime, rounded down to milliseconds.
    pub fn new(prefix: Name, lifetime: Duration) -> Self {
        NumberedNames { prefix, lifetime, template: None, hashed: None }
    }

    /// The prefix.
    pub fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// The Interest for a number, and the hashes of its name; `None` if prefix and number do not fit into a
    /// packet. The hasher is always the same one.
    #[inline]
    pub fn interest(
        &mut self,
        hasher: &NameHasher,
        number: u64,
        nonce: u32,
    ) -> Option<(Interest, PrefixHashes)> {
        let bytes = number.to_be_bytes();
        let value = bytes.get(8 - tlv::nni_len(number)..)?;
        let renumbered = self.template.as_ref().and_then(|made| made.renumbered(value, Nonce(nonce)));
        let interest = match renumbered {
            Some(interest) => interest,
            None => self.build(value, nonce)?,
        };
        let prefix = &self.prefix;
        let hashed =
            self.hashed.get_or_insert_with(|| hasher.hash_prefix(interest.dialect(), prefix.components()));
        let hashes = hashed.with(Component::new(ComponentKind::SEQUENCE_NUMBER, value));
        Some((interest, hashes))
    }

    #[cold]
    fn build(&mut self, value: &[u8], nonce: u32) -> Option<Interest> {
        let component = Component::new(ComponentKind::SEQUENCE_NUMBER, value);
        let name = self.prefix.with(component).ok()?;
        let interest = InterestBuilder::new(name).nonce(nonce).lifetime(self.lifetime).build().ok()?;
        self.template = Some(interest.clone());
        Some(interest)
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

    #[test]
    fn the_fast_way_makes_what_the_builder_makes() {
        let hasher = NameHasher::new([1, 2]);
        let prefix: Name = "/video/a".parse().unwrap();
        for lifetime_ms in [0, 100, 4000, 70_000] {
            let lifetime = Duration::from_millis(lifetime_ms);
            let mut names = NumberedNames::new(prefix.clone(), lifetime);
            for number in [0, 1, 2, 255, 256, 300, 65_535, 65_536, 70_000, 1 << 32, u64::MAX, 5] {
                let (interest, hashes) = names.interest(&hasher, number, 7).unwrap();
                let name: Name = format!("/video/a/seq={number}").parse().unwrap();
                let built = InterestBuilder::new(name).nonce(7).lifetime(lifetime).build().unwrap();
                assert_eq!(interest.wire(), built.wire());
                assert_eq!(number_of(interest.name()), Some(number));
                assert_eq!(hashes.whole(), hasher.hash(built.dialect(), built.name().components()).whole());
            }
        }
        let long = Name::from_components([Component::generic(&[0; 9000])]).unwrap();
        assert!(NumberedNames::new(long, Duration::ZERO).interest(&hasher, 1, 1).is_none());
    }
}
