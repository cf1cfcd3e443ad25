//! Many packets from one, without decoding: they must be what decoding their bytes gives.

use cairn_packet::ndn::{DataBuilder, InterestBuilder};
use cairn_packet::{Component, Data, Dialect, Interest, InterestTemplate, Name, NameHasher, Nonce};
use proptest::prelude::*;

proptest! {
    #[test]
    fn an_interest_of_a_template_is_what_its_bytes_decode_to(
        prefix in "/[a-z]{1,5}(/[a-z]{1,5}){0,4}", first in any::<u32>(), second in any::<u32>(),
        nonces in any::<[u32; 2]>(), flags in any::<[bool; 2]>(), lifetime_ms in 0..100_000u64,
    ) {
        let name = |number: u32| prefix.parse::<Name>().unwrap().with(Component::generic(&number.to_be_bytes())).unwrap();
        let build = |number, nonce| {
            InterestBuilder::new(name(number))
                .can_be_prefix(flags[0])
                .must_be_fresh(flags[1])
                .nonce(nonce)
                .lifetime(cairn_packet::time::Duration::from_millis(lifetime_ms))
                .build()
                .unwrap()
        };
        let template = InterestTemplate::of(build(first, nonces[0])).unwrap();
        let made = template.with(&second.to_be_bytes(), Nonce(nonces[1])).unwrap();
        let expected = build(second, nonces[1]);
        prop_assert_eq!(made.wire(), expected.wire());
        prop_assert_eq!(made.nonce(), expected.nonce());
        prop_assert_eq!(made.name(), expected.name());
        let decoded = Interest::decode_ndn(made.wire().clone()).unwrap();
        prop_assert_eq!(decoded.lifetime(), made.lifetime());
        prop_assert!(template.with(&[1; 3], Nonce(1)).is_none());
    }

    #[test]
    fn a_renamed_data_is_what_its_bytes_decode_to(a in "/[a-z]{3}/[a-z]{4}", b in "/[a-z]{3}/[a-z]{4}", content in any::<Vec<u8>>()) {
        let names: [Name; 2] = [a.parse().unwrap(), b.parse().unwrap()];
        let data = DataBuilder::new(names[0].clone()).content(content.clone()).build_with_digest().unwrap();
        let renamed = data.renamed(names[1].as_ref()).unwrap();
        prop_assert_eq!(renamed.name(), names[1].as_ref());
        prop_assert_eq!(renamed.content(), &content[..]);
        let decoded = Data::decode_ndn(renamed.wire().clone()).unwrap();
        prop_assert_eq!(decoded.name(), names[1].as_ref());
        prop_assert_eq!(data.name(), names[0].as_ref());
        // As long, with another number of components; and longer.
        for other in ["/abc/d/ef", "/abcde/fghi"] {
            prop_assert!(data.renamed(other.parse::<Name>().unwrap().as_ref()).is_none());
        }
    }

    #[test]
    fn a_prefix_and_a_component_hash_like_the_whole_name(prefix in "(/[a-z]{1,3}){0,18}", last in any::<Vec<u8>>()) {
        let prefix: Name = if prefix.is_empty() { Name::root() } else { prefix.parse().unwrap() };
        let whole = prefix.with(Component::generic(&last)).unwrap();
        let hasher = NameHasher::new([3, 4]);
        let expected = hasher.hash(Dialect::Ndn, whole.components());
        let mut hashed = hasher.hash_prefix(Dialect::Ndn, prefix.components());
        hashed.with(Component::generic(b"another before"));
        let found = hashed.with(Component::generic(&last));
        // A copy over those of a longer name.
        let long = "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20".parse::<Name>().unwrap();
        let mut copy = hasher.hash(Dialect::Ccnx, long.components());
        copy.copy_known(found);
        for found in [found, &copy] {
            prop_assert_eq!(found.whole(), expected.whole());
            prop_assert_eq!(found.component_count(), expected.component_count());
            prop_assert_eq!(found.longest_known_prefix(), expected.longest_known_prefix());
            for count in 0..=whole.as_ref().component_count() {
                prop_assert_eq!(found.prefix(count), expected.prefix(count));
            }
        }
    }
}
