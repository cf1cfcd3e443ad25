//! Interests for numbered names under a prefix, made fast.

use packet::time::Duration;
use packet::{
    Component, Dialect, HashedPrefix, Interest, InterestTemplate, Name, NameHasher, NameRef, Nonce,
    PrefixHashes,
};

use crate::dialect::{NumberComponent, number_in};

/// Makes Interests for `prefix` + a number: in NDN a sequence number, in CCNx a segment's, which is the only
/// one that it has a component for. Each Interest of NDN has one buffer of its own, and nothing else is
/// allocated; what they have in common is encoded, decoded and hashed once.
#[derive(Clone, Debug)]
pub struct NumberedNames {
    prefix: Name,
    lifetime: Duration,
    /// An Interest whose number has as many bytes as the last one that was made.
    template: Option<InterestTemplate>,
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

    /// The Interest for a number, and the hashes of its name until the next is asked for; `None` if prefix
    /// and number do not fit into a packet. Dialect and hasher are always the same ones.
    #[inline]
    pub fn interest(
        &mut self,
        dialect: Dialect,
        hasher: &NameHasher,
        number: u64,
        nonce: u32,
    ) -> Option<(Interest, &PrefixHashes)> {
        let last = NumberComponent::new(dialect, number);
        let component = last.component();
        let made = self.template.as_ref().and_then(|template| template.with(component.value, Nonce(nonce)));
        let interest = match made {
            Some(interest) => interest,
            None => self.build(dialect, component, nonce)?,
        };
        Some((interest, self.hashes(dialect, hasher, component)))
    }

    #[inline]
    fn hashes(&mut self, dialect: Dialect, hasher: &NameHasher, last: Component<'_>) -> &PrefixHashes {
        let prefix = &self.prefix;
        self.hashed.get_or_insert_with(|| hasher.hash_prefix(dialect, prefix.components())).with(last)
    }

    #[cold]
    fn build(&mut self, dialect: Dialect, component: Component<'_>, nonce: u32) -> Option<Interest> {
        let name = self.prefix.with(component).ok()?;
        let interest = dialect.interest(name, nonce, self.lifetime).ok()?;
        self.template = InterestTemplate::of(interest.clone());
        Some(interest)
    }
}

/// The number at the end of a name made by [`NumberedNames`].
#[inline]
pub fn number_of(name: NameRef<'_>) -> Option<u64> {
    number_in(name.last()?)
}

#[cfg(test)]
mod tests {
    use packet::ndn::InterestBuilder;

    use super::*;

    #[test]
    fn the_fast_way_makes_what_the_builder_makes() {
        let hasher = NameHasher::new([1, 2]);
        let prefix: Name = "/video/a".parse().unwrap();
        for lifetime_ms in [0, 100, 4000, 70_000] {
            let lifetime = Duration::from_millis(lifetime_ms);
            let mut names = NumberedNames::new(prefix.clone(), lifetime);
            for number in [0, 1, 2, 255, 256, 300, 65_535, 65_536, 70_000, 1 << 32, u64::MAX, 5] {
                let (interest, hashes) = names.interest(Dialect::Ndn, &hasher, number, 7).unwrap();
                let name: Name = format!("/video/a/seq={number}").parse().unwrap();
                let built = InterestBuilder::new(name).nonce(7).lifetime(lifetime).build().unwrap();
                assert_eq!(interest.wire(), built.wire());
                assert_eq!(number_of(interest.name()), Some(number));
                assert_eq!(hashes.whole(), hasher.hash(built.dialect(), built.name().components()).whole());
            }
        }
        let long = Name::from_components([Component::generic(&[0; 9000])]).unwrap();
        for dialect in Dialect::ALL {
            let mut names = NumberedNames::new(long.clone(), Duration::ZERO);
            assert!(names.interest(dialect, &hasher, 1, 1).is_none(), "{dialect}");
        }
    }

    #[test]
    fn a_number_is_read_again_in_ccnx_and_its_name_hashed_as_by_whoever_receives_it() {
        let hasher = NameHasher::new([1, 2]);
        let mut names = NumberedNames::new("/video/a".parse().unwrap(), Duration::from_secs(4));
        for number in [0, 1, 255, 256, 70_000, u64::MAX, 5] {
            let (interest, hashes) = names.interest(Dialect::Ccnx, &hasher, number, 7).unwrap();
            assert_eq!(interest.dialect(), Dialect::Ccnx);
            assert_eq!(number_of(interest.name()), Some(number));
            let expected = hasher.hash(Dialect::Ccnx, interest.name().components());
            assert_eq!(hashes.whole(), expected.whole(), "{number}");
            assert_eq!(interest.lifetime(), Duration::from_secs(4));
        }
    }
}
