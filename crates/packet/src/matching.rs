//! Which Data answers which Interest, in both dialects.

use crate::ccnx::matching::matches_name;
use crate::ccnx::{ExcludeRef, InterestView};
use crate::data::Data;
use crate::interest::Interest;
use crate::name::{ComponentKind, WireName};

impl Interest {
    /// Whether `data` answers this Interest. Computes the Data's digest only where the answer depends on it.
    ///
    /// NDN packet format, section 3.2, and CCNx 0.8, "Interest". Freshness is no part of this: it asks
    /// whether a cache may be used, not whether the Data is the right one.
    pub fn matches(&self, data: &Data) -> bool {
        self.matches_with_digest(data, || data.implicit_digest())
    }

    /// The same for those who keep digests, which cost a pass over the whole packet: `digest` is called at
    /// most once.
    pub fn matches_with_digest(&self, data: &Data, digest: impl FnOnce() -> [u8; 32]) -> bool {
        let excludes = |exclude: ExcludeRef<'_>, component: &[u8]| exclude.excludes(component);
        self.matches_selecting(self.ccnx_selectors().as_ref(), data, digest, excludes)
    }

    /// The same for those who have what [`ccnx_selectors`](Self::ccnx_selectors) gives at hand, and perhaps
    /// the Exclude in a form that is quicker to ask: `excludes` is called at most once.
    pub fn matches_selecting<'a>(
        &'a self,
        selectors: Option<&InterestView<'a>>,
        data: &Data,
        digest: impl FnOnce() -> [u8; 32],
        excludes: impl FnOnce(ExcludeRef<'a>, &[u8]) -> bool,
    ) -> bool {
        match (self.wire_name(), data.wire_name()) {
            (WireName::Ndn(_), WireName::Ndn(_)) => self.matches_ndn(data, digest),
            (WireName::Ccnx(prefix), WireName::Ccnx(name)) => {
                matches_name(prefix, selectors, (name, || data.ccnx_publisher()), digest, excludes)
            }
            _ => false,
        }
    }

    fn matches_ndn(&self, data: &Data, digest: impl FnOnce() -> [u8; 32]) -> bool {
        let (wanted, name) = (self.name(), data.name());
        if self.component_count() == data.component_count() + 1 {
            return name.is_prefix_of(wanted)
                && wanted.last().is_some_and(|last| {
                    last.kind == ComponentKind::IMPLICIT_DIGEST && last.value == digest()
                });
        }
        if self.can_be_prefix() { wanted.is_prefix_of(name) } else { wanted == name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccnx;
    use crate::ndn::{DataBuilder, InterestBuilder};
    use crate::{Component, Name};

    fn data(uri: &str) -> Data {
        DataBuilder::new(uri.parse().unwrap()).build_with_digest().unwrap()
    }

    fn matches(interest: &str, can_be_prefix: bool, data: &Data) -> bool {
        InterestBuilder::new(interest.parse().unwrap())
            .can_be_prefix(can_be_prefix)
            .build()
            .unwrap()
            .matches(data)
    }

    #[test]
    fn names_match_exactly_unless_a_prefix_is_enough() {
        let data = data("/a/b");
        assert!(matches("/a/b", false, &data) && matches("/a/b", true, &data) && matches("/a", true, &data));
        assert!(
            !matches("/a", false, &data) && !matches("/a/c", true, &data) && !matches("/a/b/c", true, &data)
        );
    }

    #[test]
    fn a_digest_names_one_packet_and_no_other() {
        let data = data("/a");
        let full = |digest: [u8; 32]| {
            let digest = Component::new(ComponentKind::IMPLICIT_DIGEST, &digest);
            let name = "/a".parse::<Name>().unwrap().with(digest).unwrap();
            InterestBuilder::new(name).build().unwrap()
        };
        assert!(full(data.implicit_digest()).matches(&data));
        assert!(!full([0; 32]).matches(&data));
    }

    #[test]
    fn dialects_never_match_each_other() {
        let wire = ccnx::InterestFields::default().encode(&"/a".parse::<Name>().unwrap()).unwrap();
        assert!(!Interest::decode_ccnx(wire.into()).unwrap().matches(&data("/a")));
    }
}
